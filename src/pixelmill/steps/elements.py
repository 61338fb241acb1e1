"""Work on elements: types, arithmetic, reductions, and values made from nothing."""

from __future__ import annotations

from typing import ClassVar

from pixelmill.steps.step import Input, Step, declared, family
from pixelmill.types import DALIDataType


@declared
class Cast(Step):
    """Change the type of elements, rounding and clamping them."""

    data: Input
    dtype: DALIDataType


@declared
class CastLike(Step):
    """Change the type of elements to that of another value."""

    data: Input
    like: Input


@declared
class Normalize(Step):
    """Subtract the mean of each channel, scale, and write another layout; `channel_fill` fills padding channels."""

    image: Input
    mirror: Input | None = None
    mean: Input | None = None
    std: Input | None = None
    scale: Input | None = None
    shift: Input | None = None
    channel_fill: Input | None = None
    layout: str
    out_layout: str
    dtype: DALIDataType
    pad_channels: bool
    name: str


@declared
class Arithmetic(Step):
    """Apply one arithmetic operation."""

    operands: tuple[Input, ...]
    operation: str


@declared
class Expression(Step):
    """Apply several arithmetic operations in one pass, in the notation of engine/fusion.py."""

    operands: tuple[Input, ...]
    code: str


@family
class ReductionStep(Step):
    """A reduction along axes: the named ones, all, or with `like` those that another value does not have."""

    data: Input
    axes: tuple[int, ...]
    all: bool
    like: bool
    keep_dims: bool
    name: str


@declared
class Reduce(ReductionStep):
    """Reduce axes to one number; `guide` is the mean if the reduction needs it, or the value that defines the axes."""

    guide: Input | None = None
    operation: str
    dtype: DALIDataType | None
    ddof: int


@declared
class InverseDeviation(ReductionStep):
    """Return scale / sqrt(variance + epsilon) along axes."""

    mean: Input
    ddof: int
    epsilon: float
    scale: float


@declared
class InverseOf(Step):
    """Return scale / sqrt(deviation^2 + epsilon)."""

    stddev: Input
    ddof: int
    epsilon: float
    scale: float


@declared
class Moments(ReductionStep):
    """Return the count, the mean and the sum of squared deviations along axes."""

    output_counts: ClassVar[range] = range(3, 4)


@declared
class Full(Step):
    """Fill a shape with a value; with `like`, the shape of another value, otherwise a vector of extents."""

    fill_value: Input
    shape: Input | None = None
    name: str
    dtype: DALIDataType | None
    like: bool
    names: int | None


@declared
class OneHot(Step):
    """Turn class numbers into one-hot rows; `single` is whether every sample of the batch is one number."""

    data: Input
    single: Input
    classes: int
    axis: int
    dtype: DALIDataType
    on_value: float
    off_value: float
    names: int | None


@declared
class LookUp(Step):
    """Replace integers by elements of a table; its last element is for all other integers."""

    data: Input
    table: Input
