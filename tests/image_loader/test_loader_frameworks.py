"""Batches as arrays of each framework."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loader_datasets import TASKS, folder_of_classes, write_task
from test_pipeline_source import flat, namespace_of

from pixelmill import ImageLoader, MissingDependency


@pytest.mark.parametrize("framework", ["tf", "jax"])
@pytest.mark.parametrize("task", TASKS)
def test_same_numbers_in_every_framework(tmp_path: Path, framework: Any, task: Any) -> None:
    source = write_task(tmp_path / "d", task)
    given: dict[str, Any] = {"size": 16, "batch_size": 3, "train": True, "task": task}
    loader = ImageLoader(source, framework=framework, **given)
    expected = list(ImageLoader(source, framework="numpy", **given))
    found = list(loader)
    module = {"tf": "tensorflow", "jax": "jax"}[framework]
    assert type(found[0][0]).__module__.startswith(module) and found[0][0].shape == (3, 16, 16, 3)
    for (images, targets), (own_images, own_targets) in zip(found, expected, strict=True):
        assert np.array_equal(np.asarray(images), own_images)
        if task == "detection":
            for target, own in zip(targets, own_targets, strict=True):
                assert all(np.array_equal(np.asarray(target[name]), own[name]) for name in own)
        else:
            assert np.array_equal(np.asarray(targets), np.asarray(own_targets))
    program = namespace_of(loader.pipeline_source())
    loader.set_epoch(0)
    assert [flat(batch) for batch in program["batches"]()] == [flat(batch) for batch in loader]


@pytest.mark.parametrize("framework", ["tf", "jax"])
def test_bfloat16(tmp_path: Path, framework: Any) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=16, dtype="bfloat16", framework=framework)
    images, _ = next(iter(loader))
    assert "bfloat16" in str(images.dtype)


def test_a_framework_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency) as caught:
        ImageLoader(folder_of_classes(tmp_path / "d"))
    assert str(caught.value) == (
        "torch is not installed; it comes with: pip install 'pixelmill[torch]', or pass framework='numpy'"
    )
    assert ImageLoader(tmp_path / "d", framework="numpy").task == "classification"
