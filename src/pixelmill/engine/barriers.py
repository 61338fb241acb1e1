"""Steps that see the whole batch. They run in Python, between two native programs.

A native program handles one sample from start to end without waiting for others. A step that needs all samples of a
batch is therefore a barrier: the graph is cut into a program before it and a program after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.steps.batch import (
    BatchExtents,
    BatchMoments,
    BatchPermutation,
    BatchSingle,
    Callback,
    PermuteBatch,
)
from pixelmill.steps.step import BatchStep, Expr, Guard
from pixelmill.types import Array

Numbers = npt.NDArray[np.float64]

# All samples of one value: one array whose first axis is the batch if their shapes agree, else a list of arrays.
Data = Array | list[Array]


class SampleIds(Protocol):
    """The identity of each sample of a batch; random numbers follow from it."""

    @property
    def epochs(self) -> Array: ...

    @property
    def numbers(self) -> Array: ...


@dataclass(frozen=True, eq=False)
class Barrier:
    """A step that sees the whole batch.

    Attributes:
        step: The step.
        key: Its random key, if it draws random numbers.
        guards: The conditions that a sample must meet for the step to run for it.
    """

    step: BatchStep
    key: int | None = None
    guards: tuple[Guard, ...] = ()

    @property
    def inputs(self) -> tuple[Expr | None, ...]:
        """The inputs of the step."""
        return self.step.own_inputs

    def run(self, inputs: Sequence[Data | None], ids: SampleIds, places: Sequence[int] | None = None) -> list[Data]:
        """Return the outputs of the step for a batch.

        Args:
            inputs: The inputs of the step.
            ids: The identity of each sample.
            places: The samples to run the step for; the outputs of the others are None. All samples by default.
        """
        try:
            if places is not None and len(places) < len(ids.numbers):
                return self._run_for_some(inputs, ids, places)
            return self._run_for_all(inputs, ids)
        except (ArgumentError, EngineError) as error:
            line = self.step.origin.line if self.step.origin is not None else None
            if line is None or "created at" in str(error):
                raise
            raise type(error)(f"{error}\n  created at {line}") from error

    def _run_for_all(self, inputs: Sequence[Data | None], ids: SampleIds) -> list[Data]:
        match self.step:
            case Callback() as step:
                return _callback(step, inputs, len(ids.numbers))
            case BatchExtents() as step:
                return [_batch_extents(step, _present(inputs[0]), inputs[1])]
            case BatchSingle():
                return [_batch_single(_present(inputs[0]))]
            case PermuteBatch():
                return [_permute_batch(_present(inputs[0]), _present(inputs[1]))]
            case BatchPermutation() as step:
                return [_batch_permutation(step, self.key or 0, ids)]
            case BatchMoments() as step:
                return _batch_moments(step, *(_present(data) for data in inputs))
        raise EngineError(f"{self.step.kind} is not a step that sees the whole batch")

    def _run_for_some(self, inputs: Sequence[Data | None], ids: SampleIds, places: Sequence[int]) -> list[Data]:
        parts = [None if data is None else [data[place] for place in places] for data in inputs]
        subset = _Subset(ids.epochs[list(places)], ids.numbers[list(places)])
        results = self._run_for_all(parts, subset) if places else [[]] * self.step.outputs
        outputs: list[Data] = []
        for batch in results:
            whole: list[Array | None] = [None] * len(ids.numbers)
            for place, value in zip(places, batch, strict=True):
                whole[place] = value
            # The None of the other samples is never read: later steps have the same guards.
            outputs.append(cast("list[Array]", whole))
        return outputs


@dataclass(frozen=True)
class _Subset:
    epochs: Array
    numbers: Array


def runs_on_subset(step: BatchStep) -> bool:
    """Whether a step can run for only those samples whose results are needed."""
    return isinstance(step, Callback) and not step.whole


def _callback(step: Callback, inputs: Sequence[Data | None], count: int) -> list[Data]:
    """Call the user's function for each sample, or once for the batch."""
    outputs = step.outputs
    given = [data for data in inputs if data is not None]
    if step.batch:
        returned = step.function(*(list(data) for data in given))
        batches = cast("Sequence[Sequence[Array]]", returned if outputs > 1 else (returned,))
        _check_returned(batches, outputs)
        results = [[np.asarray(sample) for sample in batch] for batch in batches]
    else:
        rows = [step.function(*(data[place] for data in given)) for place in range(count)]
        tuples = [cast("Sequence[Array]", row if outputs > 1 else (row,)) for row in rows]
        for row in tuples:
            _check_returned(row, outputs)
        results = [[np.asarray(row[index]) for row in tuples] for index in range(outputs)]
    for batch, layout in zip(results, step.layouts, strict=True):
        if len(batch) != count:
            raise ArgumentError(f"python_function: the function returned {len(batch)} samples for a batch of {count}")
        wrong = [sample.ndim for sample in batch if layout and sample.ndim != len(layout)]
        if wrong:
            raise ArgumentError(
                f"python_function: the function returned an array with {wrong[0]} axes, but its layout is {layout!r}"
            )
    return list(results)


def _check_returned(values: object, outputs: int) -> None:
    found = len(values) if isinstance(values, (tuple, list)) else 1
    if found != outputs or (outputs == 1 and cast("Sequence[object]", values)[0] is None):
        got = "None" if outputs == 1 else f"{found} values" if found != 1 else type(values).__name__
        raise ArgumentError(f"python_function: the function must return {outputs} outputs, it returned {got}")


def _batch_extents(step: BatchExtents, shapes: Data, given: Data | None) -> Data:
    if len({len(shape) for shape in shapes}) > 1:
        raise EngineError("pad: the samples of a batch have different numbers of axes")
    axes = _padded_axes(list(step.axes), len(shapes[0]))
    largest = np.max([[shape[axis] for axis in axes] for shape in shapes], axis=0)
    extents = []
    for place in range(len(shapes)):
        wanted = largest.astype(np.int64)
        if given is not None:
            requested = np.ravel(given[place])
            if requested.size not in (1, len(axes)):
                raise ArgumentError(
                    f"pad: shape must be one number, or one for each of {len(axes)} axes, got {requested.tolist()}"
                )
            wanted = np.where(requested > 0, requested, wanted).astype(np.int64)
        extents.append(wanted)
    return extents


def _padded_axes(axes: list[int], ndim: int) -> list[int]:
    """Return non-negative axes; all of them if none are named."""
    wrong = [axis for axis in axes if not -ndim <= axis < ndim]
    if wrong:
        raise ArgumentError(f"pad: axes must be {-ndim} to {ndim - 1} for samples with {ndim} axes, got {wrong[0]}")
    positive = [axis % ndim for axis in axes]
    if len(set(positive)) < len(positive):
        raise ArgumentError(f"pad: axes must not repeat, got {axes}")
    return positive or list(range(ndim))


def _batch_single(shapes: Data) -> Data:
    return np.full(len(shapes), all(math.prod(shape.tolist()) == 1 for shape in shapes), np.uint8)


def _permute_batch(data: Data, given: Data) -> Data:
    count = len(data)
    indices = [int(index) for index in (given[0] if np.ndim(given[0]) == 1 else given)]
    if len(indices) != count:
        raise ArgumentError(f"permute_batch: expected {count} indices for a batch of {count}, got {len(indices)}")
    wrong = [index for index in indices if not 0 <= index < count]
    if wrong:
        raise ArgumentError(f"permute_batch: indices must be 0 to {count - 1} for a batch of {count}, got {wrong[0]}")
    return [data[index] for index in indices]


def _batch_permutation(step: BatchPermutation, key: int, ids: SampleIds) -> Data:
    """Draw a permutation of the places of the batch; it depends only on the operator and the first sample."""
    count = len(ids.numbers)
    draw = _Draws(key, int(ids.epochs[0]), int(ids.numbers[0]))
    moves = step.no_fixed_points and count > 1
    if step.allow_repetitions:
        # Without fixed points, draw among the other count - 1 places and step over the own one.
        places = [number % (count - moves) for number in draw.numbers(count)]
        return np.array([place + (moves and place >= own) for own, place in enumerate(places)], np.int32)
    places = list(range(count))
    while True:
        for last, number in zip(range(count - 1, 0, -1), draw.numbers(count - 1), strict=True):
            other = number % (last + 1)
            places[last], places[other] = places[other], places[last]
        # Rejection keeps the draw uniform. About 1/e of all permutations have no fixed point: three tries on average.
        if not moves or all(place != own for own, place in enumerate(places)):
            return np.array(places, np.int32)


class _Draws:
    """Random numbers of one operator for one batch."""

    def __init__(self, key: int, epoch: int, sample: int) -> None:
        self._key = key % 2**64
        self._counter = [epoch % 2**32, sample % 2**32, sample >> 32]
        self._drawn = 0

    def numbers(self, count: int) -> list[int]:
        """Return the next `count` random numbers of 64 bits."""
        numbers = _core.philox_numbers(self._counter, self._key, self._drawn, count)
        self._drawn += count
        return numbers


def _batch_moments(step: BatchMoments, counts: Data, means: Data, squares: Data) -> list[Data]:
    """Combine the counts, means and sums of squared deviations of samples to a mean and 1 / deviation of the batch.

    Sums of squares around the sample means are shifted to the batch mean (Chan et al.), because adding plain sums of
    squares would cancel when the mean is large compared with the deviation.
    """
    if len({mean.shape for mean in means}) > 1:
        shapes = sorted({mean.shape for mean in means})
        raise ArgumentError(
            f"normalize: with batch=True, samples must agree in the extents that are not reduced, got {shapes[:4]}"
        )
    number = sum(int(count) for count in counts)
    rows = [
        (int(n), cast("Numbers", mean), cast("Numbers", square))
        for n, mean, square in zip(counts, means, squares, strict=True)
    ]
    total = sum((n * mean for n, mean, _ in rows), np.zeros_like(rows[0][1]))
    center = total / number if step.mean is None and number else np.full_like(total, step.mean or 0.0)
    deviations = (square + n * (mean - center) ** 2 for n, mean, square in rows)
    inverse = _inverse_deviation(sum(deviations, np.zeros_like(total)), number, step)
    same: list[Data] = [[values.astype(np.float32)] * len(means) for values in (center, inverse)]
    return same


def _inverse_deviation(squares: Numbers, number: int, step: BatchMoments) -> Numbers:
    """Return scale / sqrt(variance + epsilon), or 0 where the variance is undefined or zero."""
    degrees, epsilon, scale = number - step.ddof, step.epsilon, step.scale
    if degrees <= 0 and epsilon == 0:
        return np.zeros_like(squares)
    variance = (squares / degrees if degrees > 0 else np.zeros_like(squares)) + epsilon
    inverse: Numbers = np.divide(scale, np.sqrt(variance), out=np.zeros_like(squares), where=variance != 0)
    return inverse


def _present(data: Data | None) -> Data:
    if data is None:
        raise EngineError("a required input of a step that sees the whole batch is missing")
    return data
