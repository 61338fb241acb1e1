"""What each step of a recipe costs on the images of a dataset."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, Scene
from pixelmill.types import Array

_BATCH = 8


@dataclass(frozen=True)
class StepCost:
    """The cost of a step.

    Attributes:
        step: Its number and name; `decode` for what comes before all steps.
        milliseconds: Time per image on one thread that the recipe takes longer with it than without it. A step that is
            composed with others may make them cheaper: then it is negative.
        total: Time per image of the recipe up to this step.
    """

    step: str
    milliseconds: float
    total: float


def step_costs(recipe: Recipe, dataset: Dataset, *, images: int = 64, rounds: int = 3) -> list[StepCost]:
    """Measure the recipe up to each step on the first images of a dataset, on one thread.

    Args:
        recipe: A recipe of steps.
        dataset: The images.
        images: How many of them.
        rounds: Each measurement is the shortest of so many.
    """
    if recipe.function is not None:
        raise ArgumentError(f"recipe {recipe.name} is a function; only the steps of a list can be measured")
    files = _encoded(dataset, images)
    labels = np.zeros(len(files), np.int64)
    names = [next(iter(step)) if isinstance(step, dict) else str(step) for step in recipe.steps]
    totals = [_milliseconds(recipe, count, files, labels, rounds=rounds) for count in range(len(names) + 1)]
    costs = [StepCost("decode", totals[0], totals[0])]
    for place, name in enumerate(names):
        costs.append(StepCost(f"{place} {name}", totals[place + 1] - totals[place], totals[place + 1]))
    return costs


def _encoded(dataset: Dataset, images: int) -> list[Array]:
    files: list[Array] = []
    for number in range(len(dataset)):
        if len(files) == images:
            break
        try:
            files.append(np.frombuffer(dataset.sample(number).image, np.uint8))
        except DataError:
            continue
    if not files:
        raise ArgumentError("recipe bench: the dataset has no images that can be read")
    return files


def _itself(scene: Scene, seed: int) -> Scene:
    return scene


def _milliseconds(recipe: Recipe, steps: int, files: Sequence[Array], labels: Array, *, rounds: int) -> float:
    batches = [files[first : first + _BATCH] for first in range(0, len(files), _BATCH)]
    pipeline = Pipeline(batch_size=_BATCH, num_threads=1, device_id=None, seed=0, prefetch_queue_depth=1)
    turn = itertools.cycle(batches)
    with pipeline:
        image = fn.decoders.image(fn.external_source(source=lambda: list(next(turn))))
        if steps:
            part = Recipe(recipe.name, steps=recipe.steps[:steps])
            label = fn.constant(idata=int(labels[0])) if part.depends_on_class() else None
            whole = image
            boxes = fn.constant(fdata=[0.25, 0.25, 0.75, 0.75], shape=[1, 4])
            others = partial(_itself, Scene(whole, label=label, boxes=boxes))
            image = part.apply(image, label=label, boxes=boxes, others=others).image
        pipeline.set_outputs(image)
    pipeline.build()
    for _ in batches:
        pipeline.run()  # warms up
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in batches:
            pipeline.run()
        best = min(best, time.perf_counter() - start)
    pipeline.close()
    return best / len(files) * 1000
