"""Steps that see the whole batch. They are worked out in Python, between two native programs."""

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

Array = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.float64]

# All samples of one value: one array whose first axis is the batch where shapes agree, else a list of arrays.
Data = Array | list[Array]


class Who(Protocol):
    """The samples of a batch."""

    @property
    def epochs(self) -> Array: ...

    @property
    def numbers(self) -> Array: ...


@dataclass(frozen=True, eq=False)
class Barrier:
    """A step that sees the whole batch.

    Attributes:
        step: The step.
        key: Its random key, where it draws.
        guards: The conditions that the samples it is for fulfil.
    """

    step: BatchStep
    key: int | None = None
    guards: tuple[Guard, ...] = ()

    @property
    def inputs(self) -> tuple[Expr | None, ...]:
        """What it works on."""
        return self.step.own_inputs

    def cross(self, inputs: Sequence[Data | None], who: Who, places: Sequence[int] | None = None) -> list[Data]:
        """Return the outputs of the step for a batch.

        Args:
            inputs: What it works on.
            who: The samples.
            places: Those it has to be run for; the others get None. All when left out.
        """
        try:
            if places is not None and len(places) < len(who.numbers):
                return self._cross_some(inputs, who, places)
            return self._cross_all(inputs, who)
        except (ArgumentError, EngineError) as error:
            line = self.step.origin.line if self.step.origin is not None else None
            if line is None or "created at" in str(error):
                raise
            raise type(error)(f"{error}\n  created at {line}") from error

    def _cross_all(self, inputs: Sequence[Data | None], who: Who) -> list[Data]:
        match self.step:
            case Callback() as step:
                return _callback(step, inputs, len(who.numbers))
            case BatchExtents() as step:
                return [_batch_extents(step, _present(inputs[0]), inputs[1])]
            case BatchSingle():
                return [_batch_single(_present(inputs[0]))]
            case PermuteBatch():
                return [_permute_batch(_present(inputs[0]), _present(inputs[1]))]
            case BatchPermutation() as step:
                return [_batch_permutation(step, self.key or 0, who)]
            case BatchMoments() as step:
                return _batch_moments(step, *(_present(data) for data in inputs))
        raise EngineError(f"{self.step.kind} is no step that sees the whole batch")

    def _cross_some(self, inputs: Sequence[Data | None], who: Who, places: Sequence[int]) -> list[Data]:
        parts = [None if data is None else [data[place] for place in places] for data in inputs]
        chosen = _Some(who.epochs[list(places)], who.numbers[list(places)])
        made = self._cross_all(parts, chosen) if places else [[]] * self.step.outputs
        outputs: list[Data] = []
        for batch in made:
            whole: list[Array | None] = [None] * len(who.numbers)
            for place, value in zip(places, batch, strict=True):
                whole[place] = value
            outputs.append(cast("list[Array]", whole))  # those of other samples are never looked at
        return outputs


@dataclass(frozen=True)
class _Some:
    epochs: Array
    numbers: Array


def runs_on_subset(step: BatchStep) -> bool:
    """Whether a step can be run for those samples alone whose results are needed."""
    return isinstance(step, Callback) and not step.whole


def _callback(step: Callback, inputs: Sequence[Data | None], count: int) -> list[Data]:
    """Call the user's function for each sample, or once for the batch."""
    outputs = step.outputs
    given = [data for data in inputs if data is not None]
    if step.batch:
        returned = step.function(*(list(data) for data in given))
        batches = cast("Sequence[Sequence[Array]]", returned if outputs > 1 else (returned,))
        results = [[np.asarray(sample) for sample in batch] for batch in batches]
    else:
        rows = [step.function(*(data[place] for data in given)) for place in range(count)]
        tuples = [cast("Sequence[Array]", row if outputs > 1 else (row,)) for row in rows]
        results = [[np.asarray(row[index]) for row in tuples] for index in range(outputs)]
    for batch, layout in zip(results, step.layouts, strict=True):
        if len(batch) != count:
            raise ArgumentError(f"python_function: the function gave {len(batch)} samples for a batch of {count}")
        wrong = [sample.ndim for sample in batch if layout and sample.ndim != len(layout)]
        if wrong:
            raise ArgumentError(f"python_function: the layout {layout!r} does not fit an array of {wrong[0]} axes")
    return list(results)


def _batch_extents(step: BatchExtents, shapes: Data, given: Data | None) -> Data:
    if len({len(shape) for shape in shapes}) > 1:
        raise EngineError("pad: the samples of a batch have different numbers of axes")
    chosen = _padded_axes(list(step.axes), len(shapes[0]))
    largest = np.max([[shape[axis] for axis in chosen] for shape in shapes], axis=0)
    extents = []
    for place in range(len(shapes)):
        wanted = largest.astype(np.int64)
        if given is not None:
            asked = np.ravel(given[place])
            if asked.size not in (1, len(chosen)):
                raise ArgumentError(
                    f"pad: shape must be one extent, or one for each of {len(chosen)} axes, got {asked.tolist()}"
                )
            wanted = np.where(asked > 0, asked, wanted).astype(np.int64)
        extents.append(wanted)
    return extents


def _padded_axes(axes: list[int], ndim: int) -> list[int]:
    """Count axes from the first; all when none are named."""
    wrong = [axis for axis in axes if not -ndim <= axis < ndim]
    if wrong:
        raise ArgumentError(f"pad: there is no axis {wrong[0]} among {ndim}")
    counted = [axis % ndim for axis in axes]
    if len(set(counted)) < len(counted):
        raise ArgumentError(f"pad: an axis is named twice in {axes}")
    return counted or list(range(ndim))


def _batch_single(shapes: Data) -> Data:
    return np.full(len(shapes), all(math.prod(shape.tolist()) == 1 for shape in shapes), np.uint8)


def _permute_batch(data: Data, given: Data) -> Data:
    count = len(data)
    indices = [int(index) for index in (given[0] if np.ndim(given[0]) == 1 else given)]
    if len(indices) != count:
        raise ArgumentError(f"permute_batch: {len(indices)} indices for a batch of {count} samples")
    wrong = [index for index in indices if not 0 <= index < count]
    if wrong:
        raise ArgumentError(f"permute_batch: there is no sample {wrong[0]} in a batch of {count}")
    return [data[index] for index in indices]


def _batch_permutation(step: BatchPermutation, key: int, who: Who) -> Data:
    """Draw a permutation of the places of the batch; it follows from the operator and the first sample."""
    count = len(who.numbers)
    draw = _Draws(key, int(who.epochs[0]), int(who.numbers[0]))
    moves = step.no_fixed_points and count > 1
    if step.allow_repetitions:
        places = [number % (count - moves) for number in draw.numbers(count)]
        return np.array([place + (moves and place >= own) for own, place in enumerate(places)], np.int32)
    places = list(range(count))
    while True:
        for last, number in zip(range(count - 1, 0, -1), draw.numbers(count - 1), strict=True):
            other = number % (last + 1)
            places[last], places[other] = places[other], places[last]
        # A third of all permutations has no fixed point, so that this ends soon.
        if not moves or all(place != own for own, place in enumerate(places)):
            return np.array(places, np.int32)


class _Draws:
    """Random numbers of one operator for one batch."""

    def __init__(self, key: int, epoch: int, sample: int) -> None:
        self._key = key % 2**64
        self._who = [epoch % 2**32, sample % 2**32, sample >> 32]
        self._taken = 0

    def numbers(self, count: int) -> list[int]:
        """Give as many numbers of 64 bits."""
        numbers = _core.philox_numbers(self._who, self._key, self._taken, count)
        self._taken += count
        return numbers


def _batch_moments(step: BatchMoments, counts: Data, means: Data, squares: Data) -> list[Data]:
    """Join counts, means and sums of squared distances of the samples to a mean and an inverse deviation for all."""
    if len({mean.shape for mean in means}) > 1:
        shapes = sorted({mean.shape for mean in means})
        raise ArgumentError(f"normalize: over a batch, extents of axes that are kept must agree, got {shapes[:4]}")
    number = sum(int(count) for count in counts)
    rows = [
        (int(n), cast("Numbers", mean), cast("Numbers", square))
        for n, mean, square in zip(counts, means, squares, strict=True)
    ]
    total = sum((n * mean for n, mean, _ in rows), np.zeros_like(rows[0][1]))
    centre = total / number if step.mean is None and number else np.full_like(total, step.mean or 0.0)
    apart = (square + n * (mean - centre) ** 2 for n, mean, square in rows)
    inverse = _inverse_deviation(sum(apart, np.zeros_like(total)), number, step)
    same: list[Data] = [[values.astype(np.float32)] * len(means) for values in (centre, inverse)]
    return same


def _inverse_deviation(squares: Numbers, number: int, step: BatchMoments) -> Numbers:
    """Return scale / sqrt(variance + epsilon), and 0 where that has no value."""
    degrees, epsilon, scale = number - step.ddof, step.epsilon, step.scale
    if degrees <= 0 and epsilon == 0:
        return np.zeros_like(squares)
    variance = (squares / degrees if degrees > 0 else np.zeros_like(squares)) + epsilon
    inverse: Numbers = np.divide(scale, np.sqrt(variance), out=np.zeros_like(squares), where=variance != 0)
    return inverse


def _present(data: Data | None) -> Data:
    if data is None:
        raise EngineError("a step that sees the whole batch misses an input")
    return data
