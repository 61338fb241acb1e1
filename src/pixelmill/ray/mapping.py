"""Pipelines and recipes as maps over the blocks of Ray Data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pixelmill import fn, types
from pixelmill.engine.native import Data
from pixelmill.errors import ArgumentError, DataError
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.remote_program import RemoteProgram, describe
from pixelmill.recipe import Recipe, load_recipe
from pixelmill.types import Array

OnError = Literal["raise", "fill"]
Columns = dict[str, Array]


def map_pipeline(
    dataset: Any,
    pipeline: Pipeline,
    names: Sequence[str],
    *,
    keep: Sequence[str] = ("number", "key"),
    number: str = "number",
    epoch: int = 0,
    on_error: OnError = "raise",
    batch_size: int = 64,
    threads: int = 1,
    concurrency: int | tuple[int, int] = 1,
    **options: Any,
) -> Any:
    """Run a pipeline on the rows of a Ray Data dataset.

    The pipeline takes its inputs from `fn.external_source(name=...)` without a source: each gets the column of its
    name, bytes as uint8 arrays. What happens to a row depends on the seed of the pipeline, the epoch and the number of
    the row's sample, and neither on the blocks nor on the actors.

    Args:
        dataset: A `ray.data.Dataset`, for example of `read_dataset`.
        pipeline: The pipeline; it must have a seed, and no reader.
        names: A name for each output; the outputs are the columns of the result.
        keep: The columns of the input to keep.
        number: The column with the number of the sample.
        epoch: The epoch whose random numbers are drawn.
        on_error: `"raise"` ends the job at a bad sample; `"fill"` puts gray images in its place and adds a column
            `error` that says what is wrong, and is empty for good samples.
        batch_size: How many rows are processed together.
        threads: How many samples an actor processes at the same time; it takes as many CPUs.
        concurrency: The number of actors, or the least and the most.
        options: Passed to `Dataset.map_batches`.
    """
    if on_error not in ("raise", "fill"):
        raise ArgumentError(f"map_pipeline: on_error must be 'raise' or 'fill', got {on_error!r}")
    program = describe(pipeline)
    if pipeline.reader_meta():
        raise ArgumentError("map_pipeline: the pipeline has a reader; use external_source(name=...) for the columns")
    if not pipeline._seed_given:
        raise ArgumentError("map_pipeline: create the pipeline with a seed, so that all actors draw the same numbers")
    if len(set(names)) != pipeline.num_outputs or isinstance(names, str):
        raise ArgumentError(f"map_pipeline: expected {pipeline.num_outputs} distinct names, got {names!r}")
    taken = sorted({*names, "error"} & set(keep))
    if taken:
        raise ArgumentError(f"map_pipeline: {taken[0]!r} is both kept and made")
    return dataset.map_batches(
        _PipelineMap,
        fn_constructor_kwargs={
            "description": program.description,
            "seed": pipeline._seed,
            "threads": threads,
            "names": list(names),
            "keep": list(keep),
            "number": number,
            "epoch": epoch,
            "on_error": on_error,
        },
        batch_size=batch_size,
        batch_format="numpy",
        concurrency=concurrency,
        num_cpus=threads,
        **options,
    )


def map_recipe(
    dataset: Any,
    recipe: Recipe | str | os.PathLike[str],
    *,
    seed: int = 0,
    mask: bool = False,
    **arguments: Any,
) -> Any:
    """Apply a recipe to the encoded images of a Ray Data dataset; the results are arrays of pixels.

    Args:
        dataset: A `ray.data.Dataset` with the columns `number` and `image`, for example of `read_dataset`.
        recipe: A recipe, the name of a built-in one, or the path of its file.
        seed: The seed of the random numbers.
        mask: Whether the column `mask` holds encoded masks that are transformed with the images.
        arguments: Those of `map_pipeline`, without `names`.
    """
    found = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=seed)
    with pipeline:
        encoded: Any = fn.external_source(name="image")
        image: Any = fn.decoders.image(encoded)
        encoded_mask: Any = fn.external_source(name="mask") if mask else None
        gray: Any = fn.decoders.image(encoded_mask, output_type=types.GRAY) if mask else None
        scene = found.apply(image, gray, seed=seed)
        pipeline.set_outputs(scene.image, *([scene.mask] if mask else []))
    return map_pipeline(dataset, pipeline, ["image", "mask"] if mask else ["image"], **arguments)


class _PipelineMap:
    """The map of one actor."""

    def __init__(
        self,
        description: bytes,
        seed: int,
        threads: int,
        names: list[str],
        keep: list[str],
        number: str,
        epoch: int,
        on_error: OnError,
    ) -> None:
        self._program = RemoteProgram(description, seed=seed, threads=threads)
        self._names, self._keep, self._number = names, keep, number
        self._epoch = epoch
        self._fills = on_error == "fill"

    def __call__(self, rows: Columns) -> Columns:
        missing = [name for name in (self._number, *self._keep, *self._program.input_names) if name not in rows]
        if missing:
            raise DataError(f"map_pipeline: the rows have no column {missing[0]!r}; they have {', '.join(rows)}")
        numbers = np.asarray(rows[self._number]).astype(np.uint64)
        count = len(numbers)
        epochs, items = np.full(count, self._epoch, np.uint32), np.empty((count, 0), np.int64)
        inputs = [_input(rows[name]) for name in self._program.input_names]
        outputs, troubles = self._program.run(epochs, numbers, items, inputs, fill=self._fills)
        bad = {place: f"{kind}: {message}" for place, kind, message, _, fatal, _ in troubles if fatal}
        if bad and not self._fills:
            place = min(bad)
            raise DataError(f"map_pipeline: sample {numbers[place]}: {bad[place]}\n  on_error='fill' keeps such rows")
        made = {name: _column(data) for name, data in zip(self._names, outputs, strict=True)}
        kept = {name: rows[name] for name in self._keep}
        errors = {"error": np.array([bad.get(place, "") for place in range(count)], object)} if self._fills else {}
        return {**kept, **made, **errors}


def _input(column: Array) -> Data:
    """Return a column as a batch: bytes as uint8, and lists of arrays if rows differ in shape."""
    if column.dtype != object:
        return column
    return [np.frombuffer(row or b"", np.uint8) if row is None or isinstance(row, bytes) else row for row in column]


def _column(data: Data) -> Array:
    if isinstance(data, np.ndarray):
        return data
    column = np.empty(len(data), object)
    column[:] = data
    return column
