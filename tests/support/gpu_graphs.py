"""The graphs of whole programs for GPUs, and the script that writes what the DALI engine emits for them:

PYTHONPATH=tests/gpu python tests/support/gpu_graphs.py

DALI must be of the version that tests use (pyproject.toml); no GPU is needed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gpu_test
from dali_graph_text import serialised, text
from locations import GOLDEN

from pixelmill.augmentation.graphs import SampleShape, recipe_graph
from pixelmill.create import create_images
from pixelmill.engine.placement import Placement
from pixelmill.ingest.crop_program import crop_graph
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import load_recipe

GRAPHS = GOLDEN / "dali"
GPU = 0
# Recipes with what they are applied to: JPEG files, with masks in files or arrays, and with boxes.
RECIPES = {
    "gentle": SampleShape(False, "", "jpeg"),
    "classification": SampleShape(False, "", "jpeg"),
    "detection": SampleShape(False, "", "jpeg", has_boxes=True),
    "segmentation": SampleShape(False, "file", "png"),
    "heavy": SampleShape(True, "array"),
}


def graphs(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return all graphs by name; they read the images of a folder with class folders."""
    place = gpu_test.Place(GPU)
    found: dict[str, Callable[[], Any]] = {
        name: partial(program, place, folder) for name, program in gpu_test.PROGRAMS.items()
    }
    for name, shape in RECIPES.items():
        found[f"augment_{name}"] = partial(_recipe, name, shape)
    found["ingest"] = partial(crop_graph, 300, dtype="float16", order="CHW", where=Placement("dali", GPU))
    return found


def _recipe(name: str, shape: SampleShape) -> Any:
    return recipe_graph(load_recipe(name), shape, VariantOptions(), where=Placement("dali", GPU)).outputs


def some_pictures(folder: str) -> Path:
    """Make the images that graphs with readers need to be built."""
    create_images(folder, "p_", 60, 40, 12, "jpg", content="photo", classes=3, workers=1)
    return Path(folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, build in graphs(some_pictures(folder)).items():
            (GRAPHS / f"{name}.txt").write_text(text(*serialised(build, gpu=True)))
            print(f"wrote {name}.txt")


if __name__ == "__main__":
    main()
