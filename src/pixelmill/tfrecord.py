"""Feature descriptions for `readers.tfrecord`, with DALI's names."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from pixelmill.errors import ArgumentError


class FeatureType(enum.Enum):
    """The type of the values of a feature."""

    int64 = 0
    string = 1
    float32 = 2


int64, string, float32 = FeatureType.int64, FeatureType.string, FeatureType.float32


@dataclass(frozen=True)
class FixedLenFeature:
    """A feature with a fixed number of values, given by its shape.

    Attributes:
        shape: The shape of the value; empty for a scalar.
        dtype: `int64`, `float32` or `string`.
        default_value: The value for records without this feature.
    """

    shape: Sequence[int]
    dtype: FeatureType
    default_value: object = None


class VarLenFeature:
    """A feature with any number of values.

    Attributes:
        partial_shape: The extents after the first one, which follows from the number of values.
        dtype: `int64`, `float32` or `string`.
        default_value: The value for records without this feature.
    """

    def __init__(self, *given: object) -> None:
        if given and not isinstance(given[0], FeatureType):
            self.partial_shape, *given_rest = tuple(cast("Iterable[int]", given[0])), *given[1:]
        else:
            self.partial_shape, given_rest = (), list(given)
        if not given_rest or not isinstance(given_rest[0], FeatureType) or len(given_rest) > 2:
            raise ArgumentError(f"VarLenFeature: expected (partial_shape,) type, default; got {given!r}")
        self.dtype: FeatureType = given_rest[0]
        self.default_value: object = given_rest[1] if len(given_rest) == 2 else None

    def __repr__(self) -> str:
        return f"VarLenFeature({self.partial_shape}, {self.dtype.name}, {self.default_value!r})"


__all__ = ["FeatureType", "FixedLenFeature", "VarLenFeature", "float32", "int64", "string"]
