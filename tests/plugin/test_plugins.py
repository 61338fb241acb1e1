"""All frameworks get the same pixels, and what docs/plugins.md shows runs and says what it says."""

from __future__ import annotations

import hashlib
import json
import re
import runpy
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from locations import ROOT

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import lightning.pytorch  # noqa: F401

from pixelmill import Loader, Pipeline, fn, pipeline_def
from pixelmill.create import create_photo_folder
from pixelmill.plugin import jax, pytorch
from pixelmill.plugin import tf as tf_plugin
from pixelmill.plugin.lightning import PipelineDataModule

NAMES = ["images", "labels"]
STEPS = 6


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    create_photo_folder(folder, 24, size_mean=(60, 70), classes=3)
    return folder


@pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=7)
def train(folder: Path) -> Any:
    encoded, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=32)
    mirror = fn.random.coin_flip(probability=0.5)
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=[124, 116, 104], std=[58, 57, 57]), labels


def in_numpy(pipe: Pipeline) -> Iterator[Any]:
    loader = Loader(pipe, NAMES)
    while True:
        yield from loader


def in_torch(pipe: Pipeline) -> Iterator[Any]:
    batches = pytorch.DALIGenericIterator(pipe, NAMES, reader_name="Reader", auto_reset=True)
    while True:
        yield from (batch for (batch,) in batches)


def in_jax(pipe: Pipeline) -> Iterator[Any]:
    batches = jax.DALIGenericIterator(pipe, NAMES, reader_name="Reader", auto_reset=True)
    while True:
        yield from batches


def in_tensorflow(pipe: Pipeline) -> Iterator[Any]:
    made = tf_plugin.DALIDataset(pipe, (tf.float32, tf.int32), batch_size=8, num_threads=3)
    yield from (dict(zip(NAMES, batch, strict=True)) for batch in made)


def in_tensorflow_by_epochs(pipe: Pipeline) -> Iterator[Any]:
    made = tf_plugin.from_loader(Loader(pipe, NAMES))
    while True:
        yield from made


def in_lightning(pipe: Pipeline) -> Iterator[Any]:
    batches = PipelineDataModule(pipe, names=NAMES).train_dataloader()
    while True:
        yield from batches


def digest(batches: Iterator[Any]) -> list[str]:
    found = []
    for batch in islice(batches, STEPS):
        arrays = [np.asarray(batch[name]) for name in NAMES]
        described = b"".join(f"{array.dtype}{array.shape}".encode() + array.tobytes() for array in arrays)
        found.append(hashlib.sha256(described).hexdigest())
    return found


def test_all_frameworks_get_the_same_pixels(photos: Path) -> None:
    """Two epochs of three steps."""
    wanted = digest(in_numpy(train(photos)))
    assert len(set(wanted)) == STEPS
    for framework in (in_torch, in_jax, in_tensorflow, in_tensorflow_by_epochs, in_lightning):
        assert digest(framework(train(photos))) == wanted, framework.__name__


@pytest.mark.filterwarnings("ignore")  # Lightning's advice
def test_page_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", (ROOT / "docs" / "plugins.md").read_text("utf-8"), re.M | re.S)
    script = tmp_path / "page.py"
    script.write_text("".join(code for kind, code in blocks if kind == "python"), "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == "".join(output for kind, output in blocks if kind == "text")


@pytest.mark.filterwarnings("ignore")
def test_costs_are_measured(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    target = tmp_path / "costs.json"
    options = ["--small", photos, "--rounds", "1", "--steps", "2", "--json", target]
    monkeypatch.setattr(sys, "argv", ["plugins.py", *map(str, options)])
    runpy.run_path(str(ROOT / "benchmarks" / "plugins.py"), run_name="__main__")
    found = json.loads(target.read_text("utf-8"))["plugins"]
    assert list(found["train"]) == list(found["numbers"]) and len(found["train"]) == 6
    assert all(one["batch_milliseconds"] > 0 for one in found["train"].values())
    assert all(f"| {name} | " in capsys.readouterr().out for name in list(found["train"])[-1:])
