"""Arguments of transforms: what torchvision accepts, checked with its types of errors."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from numbers import Real

from pixelmill.types import DALIInterpType

Size = int | Sequence[int]
Range = float | Sequence[float]


class InterpolationMode(enum.Enum):
    """Interpolation filters, with the names of torchvision."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_FILTERS = {
    InterpolationMode.NEAREST: DALIInterpType.INTERP_NN,
    InterpolationMode.BILINEAR: DALIInterpType.INTERP_LINEAR,
    InterpolationMode.BICUBIC: DALIInterpType.INTERP_CUBIC,
    InterpolationMode.LANCZOS: DALIInterpType.INTERP_LANCZOS3,
}
# The numbers of Pillow's filters.
_NUMBERS = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")


def interpolation_filter(interpolation: object) -> DALIInterpType:
    """Return the filter for an interpolation mode, also one of torchvision, or for a number of Pillow."""
    if isinstance(interpolation, int):
        if not 0 <= interpolation < len(_NUMBERS):
            raise ValueError(f"interpolation must be a mode or a number from 0 to 5, got {interpolation}")
        mode = InterpolationMode[_NUMBERS[interpolation]]
    else:
        name = str(getattr(interpolation, "name", None))
        if name not in InterpolationMode.__members__:
            raise ValueError(f"interpolation must be an InterpolationMode or a number of Pillow, got {interpolation!r}")
        mode = InterpolationMode[name]
    if mode not in _FILTERS:
        raise NotImplementedError(f"interpolation {mode.name} is not supported")
    return _FILTERS[mode]


def positive(name: str, value: Range) -> None:
    """Raise ValueError unless all numbers are positive."""
    if any(number <= 0 for number in (value if isinstance(value, Sequence) else [value])):
        raise ValueError(f"{name} must be positive, got {value}")


def not_negative(name: str, value: Range) -> None:
    """Raise ValueError if a number is negative."""
    if any(number < 0 for number in (value if isinstance(value, Sequence) else [value])):
        raise ValueError(f"{name} must not be negative, got {value}")


def probability(p: object) -> float:
    """Return a probability; raises ValueError for other values."""
    if not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ValueError(f"p must be a number from 0 to 1, got {p!r}")
    return float(p)


def height_and_width(size: Size) -> tuple[int, int]:
    """Return a size as height and width; one number is for both."""
    if not isinstance(size, (int, list, tuple)):
        raise TypeError(f"size must be an integer or a sequence of them, got {type(size)}")
    numbers = [size] if isinstance(size, int) else list(size)
    if len(numbers) not in (1, 2) or any(not isinstance(number, int) for number in numbers):
        raise ValueError(f"size must be one or two integers, got {size}")
    positive("size", numbers)
    return numbers[0], numbers[-1]


def sides(padding: Size) -> tuple[int, int, int, int]:
    """Return padding as left, top, right and bottom, from one number, two or four."""
    if not isinstance(padding, (int, list, tuple)):
        raise TypeError(f"padding must be an integer or a sequence of them, got {type(padding)}")
    numbers = [padding] if isinstance(padding, int) else list(padding)
    if any(not isinstance(number, int) for number in numbers):
        raise ValueError(f"padding must be integers, got {padding}")
    not_negative("padding", numbers)
    if len(numbers) not in (1, 2, 4):
        raise ValueError(f"padding must be one, two or four numbers, got {padding}")
    left, top, right, bottom = (numbers * (4 // len(numbers)))[:4]
    return left, top, right, bottom


def interval(name: str, value: Range, *, around: float | None = None) -> tuple[float, float]:
    """Return a range of numbers that are not negative; a single number is its half width around `around`."""
    if value is None:
        raise ValueError(f"{name} must not be None")
    not_negative(name, value)
    if isinstance(value, Real):
        center = around or 0.0
        return max(0.0, center - float(value)), center + float(value)
    low, high = ascending(name, value)
    return low, high


def ascending(name: str, value: object) -> tuple[float, float]:
    """Return a minimum and a maximum."""
    if not isinstance(value, (list, tuple)) or len(value) != 2 or any(not isinstance(end, Real) for end in value):
        raise TypeError(f"{name} must be a minimum and a maximum, got {value!r}")
    low, high = value
    if low > high:
        raise ValueError(f"{name} must be (minimum, maximum), got {value}")
    return float(low), float(high)
