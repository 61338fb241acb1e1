"""The graphs of whole programs for GPUs, and the script that writes what the DALI engine emits for them:

python tests/gpu_graphs.py

DALI must be of the version that tests use (pyproject.toml); no GPU is needed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from emitted import serialised, text
from gpu import gpu_test

from pixelmill.augmentation.program import Shape, recipe_graph
from pixelmill.create import create_images
from pixelmill.engine.placement import Placement
from pixelmill.ingest.squares import squares_graph
from pixelmill.recipe import load_recipe

GOLDEN = Path(__file__).parent / "golden" / "dali"
GPU = 0
# Recipes with what they are applied to: JPEG files, with masks in files or arrays, and with boxes.
RECIPES = {
    "tfdali": Shape(False, "", "jpeg"),
    "classification": Shape(False, "", "jpeg"),
    "detection": Shape(False, "", "jpeg", has_boxes=True),
    "segmentation": Shape(False, "file", "png"),
    "heavy": Shape(True, "array"),
}


def graphs(folder: Path) -> dict[str, Callable[[], Any]]:
    """Give all graphs by name; they read the pictures of a folder with class folders."""
    place = gpu_test.Place(GPU)
    found: dict[str, Callable[[], Any]] = {
        name: partial(program, place, folder) for name, program in gpu_test.PROGRAMS.items()
    }
    for name, shape in RECIPES.items():
        found[f"augment_{name}"] = partial(_recipe, name, shape)
    found["ingest"] = partial(squares_graph, 300, dtype="float16", order="CHW", where=Placement("dali", GPU))
    return found


def _recipe(name: str, shape: Shape) -> Any:
    options: Any = {"seed": 0, "quality": 90, "subsampling": "4:2:0", "where": Placement("dali", GPU)}
    return recipe_graph(load_recipe(name), shape, **options).outputs


def some_pictures(folder: str) -> Path:
    """Make the pictures that graphs with readers need to be built."""
    create_images(folder, "p_", 60, 40, 12, "jpg", content="photo", classes=3, workers=1)
    return Path(folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, build in graphs(some_pictures(folder)).items():
            (GOLDEN / f"{name}.txt").write_text(text(*serialised(build, gpu=True)))
            print(f"wrote {name}.txt")


if __name__ == "__main__":
    main()
