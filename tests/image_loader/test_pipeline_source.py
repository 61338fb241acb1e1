"""The program that `pipeline_source` returns makes the same batches, bit for bit, with the same engine program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loader_datasets import TASKS, folder_of_classes, write_task
from loader_programs import flat, namespace_of

from pixelmill import ImageLoader, fn
from pixelmill.recipe import Recipe

CASES: list[tuple[str, dict[str, Any]]] = [
    *((task, {"train": train}) for task in TASKS for train in (True, False)),
    *(("classification", {"train": True, "augment": name}) for name in ("heavy", "rand_augment", "trivial_augment")),
    ("detection", {"train": True, "augment": "detection"}),
    ("segmentation", {"train": True, "augment": "segmentation"}),
    ("classification", {"dtype": "uint8", "layout": "NHWC"}),
    ("classification", {"dtype": "float16", "mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5)}),
    ("classification", {"dtype": "bfloat16"}),
    ("classification", {"train": True, "sampler": "balanced", "batch_size": 4, "drop_last": True}),
    ("classification", {"train": True, "rank": 1, "world_size": 2, "seed": 9}),
    ("classification", {"on_error": "skip", "max_errors": 3, "shuffle_mode": "blocks", "shuffle": True}),
]


@pytest.mark.parametrize(("task", "options"), CASES, ids=lambda value: str(value))
def test_program_makes_the_same_batches(tmp_path: Path, task: str, options: dict[str, Any]) -> None:
    source = write_task(tmp_path / "with 'quotes' and \\", task)
    given = {"size": (24, 32), "batch_size": 3, "num_threads": 2, "task": task, **options}
    loader = ImageLoader(source, **given)
    program = namespace_of(loader.pipeline_source())
    for _ in range(2):  # epochs
        expected = [flat(batch) for batch in loader]
        assert [flat(batch) for batch in program["batches"]()] == expected and expected


@pytest.mark.parametrize("framework", ["torch", "numpy"])
def test_engine_runs_the_same_program(tmp_path: Path, framework: str) -> None:
    """The loader costs nothing beyond its pipeline: the compiled steps are equal, one native call for each batch."""
    options: dict[str, Any] = {"framework": framework, "train": True}
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=32, batch_size=4, **options)
    program = namespace_of(loader.pipeline_source())
    plans = [pipe._ready().plan for pipe in (loader.pipeline, program["loader"].pipeline)]
    kinds = [[step.kind for segment in plan.segments for step in segment.steps] for plan in plans]
    assert len(plans[0].segments) == 1 and kinds[0] == kinds[1] and len(kinds[0]) > 3
    batch = next(iter(program["loader"]))
    images, labels = loader._plan.converted(batch)
    assert np.shares_memory(np.asarray(images), batch["images"])
    assert np.shares_memory(np.asarray(labels), batch["labels"])


def red(images: Any) -> Any:
    return fn.crop(images, crop=(40, 50)) * 0 + [200, 0, 0]


def test_functions_and_recipes_without_a_name_are_parameters_of_the_program(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d")
    loader = ImageLoader(source, size=16, train=True, augment=red)
    program = namespace_of(loader.pipeline_source())
    made = program["batches"](program["make_loader"](augment=red))
    assert [flat(batch) for batch in made] == [flat(batch) for batch in loader]
    recipe = Recipe("flips", steps=({"flip": {"horizontal": {"coin": 0.5}}},))
    loader = ImageLoader(source, size=16, train=True, augment=recipe)
    program = namespace_of(loader.pipeline_source())
    made = program["batches"](program["make_loader"](recipe=recipe))
    assert [flat(batch) for batch in made] == [flat(batch) for batch in loader]


def test_program_reads_like_one_that_people_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder_of_classes(Path("photos"))
    assert ImageLoader("photos", size=224, batch_size=64, train=True, num_threads=4).pipeline_source() == EXPECTED


EXPECTED = """import torch

from pixelmill import Loader, fn, pipeline_def, types


@pipeline_def(batch_size=64, num_threads=4, device_id=None, seed=0)
def training():
    columns = fn.readers.dataset(
        path="photos",
        columns=["image", "label"],
        name="Reader",
        random_shuffle=True,
    )
    images = fn.decoders.image(columns["image"])
    images = fn.random_resized_crop(images, size=[224, 224])
    mirror = fn.random.coin_flip(probability=0.5)
    images = fn.crop_mirror_normalize(
        images,
        mirror=mirror,
        mean=[123.675, 116.28, 103.53],
        std=[58.395, 57.12, 57.375],
        dtype=types.FLOAT,
        output_layout="CHW",
    )
    labels = columns["label"]
    return images, labels


loader = Loader(training(), ["images", "labels"])


def batches(loader=loader):
    for batch in loader:
        images = torch.from_numpy(batch["images"])
        targets = torch.from_numpy(batch["labels"].reshape(-1))
        yield images, targets
"""
