"""Transforms of recipes beside Albumentations, Kornia and bare OpenCV: 512 x 512 RGB bytes, one thread.

    python benchmarks/augmentation_transforms.py [--only NAME ...] [--json FILE]

What is compared is what a training program does: it applies a transform to one image after the other in its loader,
from decoded pixels in memory to new pixels in memory. Each contestant does so the way its users do.

- pixelmill runs a recipe of one step in a pipeline, 16 images in a batch. This column counts.
- Albumentations is called image by image, the transform alone without `A.Compose`, which would add to its cost.
- Kornia, where it has the transform, gets the batch as a tensor of floats; the conversion is not measured.
- OpenCV, where one call does the same, is called bare with ready parameters. It draws nothing and checks nothing.
- pixelmill is also called image by image through `ImageTransform`, for programs that keep their own loader. A run of it
  without a step is measured first, as is a batch without a step: the floor under each of our columns.

The 16 images differ, so the last image is in no contestant's cache, and all contestants take the same 16. Everything
runs in one thread; times are processor time of the process, all threads and the kernel's work included. Rounds are
interleaved: each round measures all contestants in turn, so that a disturbance meets all. The ratio of a row is the
median of the ratios of its rounds, and its spread the distance of the quartiles of these ratios, divided by the median.
A row whose spread is above 20 % is measured again, up to twice. `augmentation_cases.py` says which parameters each has.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from augmentation_cases import SIDE, TRANSFORMS, Pixels
from augmentation_kornia import batch_of
from machine import describe

from pixelmill import ImageTransform, fn
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe

BATCH, ROUNDS, SLOW_ROUNDS = 16, 9, 5
BLOCK_SECONDS = 0.02  # the least processor time of a block; shorter ones are repeated
MOST_SPREAD = 0.2
SLOW_SECONDS = 0.5  # blocks of 16 images that take longer have fewer rounds


def photos() -> list[Pixels]:
    """Return images with edges, gradients and noise."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[:SIDE, :SIDE]
    base = np.stack([127 + 90 * np.sin(x / 31 + k) * np.cos(y / (19 + 7 * k)) for k in range(3)], -1)
    noisy = (np.roll(base, 31 * n, axis=1) + rng.normal(0, 12, base.shape) for n in range(BATCH))
    return [np.clip(image, 0, 255).astype(np.uint8) for image in noisy]


IMAGES = photos()


class Ours:
    """A recipe of one step, or of none, in a pipeline and image by image."""

    def __init__(self, step: dict[str, Any]) -> None:
        self._pipeline = Pipeline(batch_size=BATCH, num_threads=1, device_id=None, seed=1, prefetch_queue_depth=1)
        with self._pipeline:
            image = fn.external_source(source=lambda: IMAGES, layout="HWC", no_copy=True)
            recipe = Recipe("one", steps=(step,)) if step else None
            self._pipeline.set_outputs(recipe.apply(image).image if recipe else fn.copy(image))
        (made,) = self._pipeline.run()
        height, width = np.asarray(made[0]).shape[:2]
        self._transform = ImageTransform(
            (height, width), train=True, augment=recipe or fn.copy, framework="numpy", dtype="uint8", layout="HWC"
        )

    def batch(self) -> None:
        """Transform all images in a batch."""
        self._pipeline.run()

    def single(self) -> None:
        """Transform all images one by one."""
        for image in IMAGES:
            self._transform(image)

    def close(self) -> None:
        """Stop the pipeline."""
        self._pipeline.close()


def processor_time(call: Callable[[], object], repeats: int) -> float:
    """Return the milliseconds of processor time per image of calls that take all images."""
    start = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - start) / repeats / BATCH * 1000


def each(call: Callable[[Pixels], object]) -> Callable[[], None]:
    """Return a function that calls `call` with each image."""

    def calls() -> None:
        for image in IMAGES:
            call(image)

    return calls


def measured(contestants: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the times of each contestant, one per round."""
    first = {name: processor_time(call, 1) * BATCH / 1000 for name, call in contestants.items()}
    repeats = {name: max(1, round(BLOCK_SECONDS / max(seconds, 1e-4))) for name, seconds in first.items()}
    judged = [seconds for name, seconds in first.items() if name != "kornia"]
    rounds = SLOW_ROUNDS if max(judged) > SLOW_SECONDS else ROUNDS
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, call in contestants.items():
            times[name].append(processor_time(call, repeats[name]))
    return times


def measure(name: str) -> dict[str, Any]:
    """Measure one transform."""
    step, make, bare = TRANSFORMS[name]
    ours = Ours(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = make()
    contestants: dict[str, Callable[[], object]] = {
        "pixelmill": ours.batch,
        "albumentations": each(lambda image: theirs(image=image)),
        "single": ours.single,
    }
    if bare is not None:
        contestants["opencv"] = each(bare)
    batch = batch_of(name, IMAGES)
    if batch is not None:
        contestants["kornia"] = batch
    times = measured(contestants)
    ours.close()
    ratios = [slow / fast for slow, fast in zip(times["albumentations"], times["pixelmill"], strict=True)]
    low, ratio, high = statistics.quantiles(ratios, n=4)
    medians = {who: statistics.median(values) for who, values in times.items()}
    return {
        "transform": name,
        **{f"{who}_ms": round(value, 4) for who, value in medians.items()},
        "ratio": round(ratio, 3),
        "spread": round((high - low) / ratio, 3),
        "single_ratio": round(medians["albumentations"] / medians["single"], 3),
    }


def floor() -> dict[str, float]:
    """Return the cost of runs without a step."""
    ours = Ours({})
    times = measured({"batch": ours.batch, "single": ours.single})
    ours.close()
    return {name: round(statistics.median(values), 4) for name, values in times.items()}


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of transforms")
    parser.add_argument("--json", type=Path, help="write the results here")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    facts, nothing, rows = describe(), floor(), []
    print(f"without a step: {nothing['batch']:.3f} ms in a batch, {nothing['single']:.3f} ms alone")
    others = f"{'single':>9}{'opencv':>9}{'kornia':>9}"
    print(f"{'transform':<22}{'batch ms':>10}{'albumentations':>16}{'ratio':>8}{'spread':>8}{others}")
    for name in given.only or TRANSFORMS:
        row = measure(name)
        for _ in range(2):
            if row["spread"] > MOST_SPREAD:
                row = measure(name)
        rows.append(row)
        bare, floats = (f"{row[key]:.3f}" if key in row else "" for key in ("opencv_ms", "kornia_ms"))
        print(
            f"{name:<22}{row['pixelmill_ms']:>10.3f}{row['albumentations_ms']:>16.3f}{row['ratio']:>8.2f}"
            f"{row['spread']:>8.0%}{row['single_ms']:>9.3f}{bare:>9}{floats:>9}",
            flush=True,
        )
    ratios = [row["ratio"] for row in rows]
    faster = sum(ratio > 1 for ratio in ratios) / len(ratios)
    print(f"faster than Albumentations: {faster:.0%} of {len(rows)}, median {statistics.median(ratios):.2f} x")
    if given.json:
        result = {"machine": facts, "without_a_step": nothing, "augmentation_transforms": rows}
        given.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
