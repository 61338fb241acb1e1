"""The programs in examples/ run, with few images, and return what they promise."""

from __future__ import annotations

import importlib.util
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from locations import ROOT

EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: str) -> Any:
    """Run the main function of an example in this process, where the frameworks are loaded already."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main(list(arguments))


def test_page_names_all_and_they_are_short() -> None:
    programs = {path.name: len(path.read_text("utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text("utf-8"))) == set(programs)
    assert max(programs.values()) < 120


def test_pytorch_with_several_labels() -> None:
    losses = run("train_pytorch", "--images", "96", "--epochs", "3")
    assert len(losses) == 3 and losses[-1] < losses[0]


def test_a_folder_and_its_continuation(tmp_path: Path) -> None:
    few = ["--images", "120", "--folder", str(tmp_path)]
    whole = run("train_folder", *few, "--epochs", "2")
    assert len(whole) == 2 and all(0 <= found <= 1 for found in whole)
    assert run("train_folder", *few, "--epochs", "2", "--resume") == whole[1:]


def test_keras() -> None:
    history = run("train_keras", "--images", "128", "--epochs", "2")
    assert len(history["loss"]) == len(history["val_accuracy"]) == 2 and np.isfinite(history["loss"]).all()


def test_jax() -> None:
    losses = run("train_jax", "--images", "100", "--epochs", "2")
    assert len(losses) == 2 and losses[-1] < losses[0]


@pytest.mark.filterwarnings("ignore")  # Lightning's advice
def test_segmentation_with_lightning_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    few = ["--images", "40", "--output", str(tmp_path)]
    # Two batches of the sanity check come before the first epoch.
    assert len(run("segmentation_lightning", *few, "--epochs", "1")) == 2
    (checkpoint,) = tmp_path.rglob("*.ckpt")
    overlaps = run("segmentation_lightning", *few, "--epochs", "2", "--resume", str(checkpoint))
    assert len(overlaps) >= 1 and all(0 <= overlap <= 1 for overlap in overlaps)


def test_augmented_records_are_read_back() -> None:
    counted = run("augment_tfrecords", "--images", "20", "--variants", "2")
    assert counted["files"] == 1 and counted["images"] == 40 and counted["boxes"] >= 40
