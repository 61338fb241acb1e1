"""tf.train.Example, the message in most TFRecords: a map from names to lists of bytes, floats or integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError, Event

Kind = Literal["bytes", "float", "int64"]

KINDS: tuple[Kind | None, ...] = (None, "bytes", "float", "int64")  # by protobuf field number of the list


@dataclass(eq=False, slots=True)  # not frozen: several are created per record, and frozen ones take twice as long
class Feature:
    """The values of one name.

    Attributes:
        kind: Their type; None for a feature that holds no list at all.
        values: A list of bytes, or an array of float32 or int64.
        unknown: Protobuf fields of the message that the format does not define, kept verbatim.
        list_unknown: The same for its list.
    """

    kind: Kind | None
    values: Any
    unknown: bytes = b""
    list_unknown: bytes = b""

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Feature) or self.kind != other.kind or len(self) != len(other):
            return False
        same = self.values == other.values if self.kind in ("bytes", None) else _bits(self) == _bits(other)
        return same and (self.unknown, self.list_unknown) == (other.unknown, other.list_unknown)

    def __hash__(self) -> int:
        return hash((self.kind, len(self)))


class Example(dict[str, Feature]):
    """Features by name, and unknown protobuf fields.

    Attributes:
        unknown: Protobuf fields of the message that the format does not define, kept verbatim.
        features_unknown: The same for the inner message that holds the features.
    """

    unknown: bytes = b""
    features_unknown: bytes = b""

    @classmethod
    def of(cls, features: Mapping[str, Feature]) -> Example:
        """Return a copy of features, with the unknown fields if there are any."""
        copy = cls(features)
        if isinstance(features, Example):
            copy.unknown, copy.features_unknown = features.unknown, features.features_unknown
        return copy


def bytes_feature(*values: bytes | str) -> Feature:
    """Return a feature of bytes; text is encoded as UTF-8."""
    if len(values) == 1 and type(values[0]) is bytes:
        return Feature("bytes", [values[0]])
    return Feature("bytes", [value.encode() if isinstance(value, str) else bytes(value) for value in values])


def float_feature(values: float | Iterable[float] | np.ndarray[Any, Any]) -> Feature:
    """Return a feature of floats, from one or from many."""
    return Feature("float", _numbers(values, np.float32))


def int64_feature(values: int | Iterable[int] | np.ndarray[Any, Any]) -> Feature:
    """Return a feature of integers, from one or from many."""
    return Feature("int64", np.array([values], np.int64) if type(values) is int else _numbers(values, np.int64))


def _numbers(values: Any, dtype: Any) -> Any:
    array = np.asarray(values if np.ndim(values) or np.isscalar(values) else list(values))
    if dtype is np.int64 and array.size and array.dtype.kind not in "iub":
        raise ArgumentError(f"int64_feature: values must be integers, got {array.dtype}")
    return np.ascontiguousarray(array, dtype).reshape(-1)


def decode(payload: bytes | memoryview) -> Example:
    """Decode an Example. Lists may be packed or not; of duplicate names the last one counts.

    Raises:
        DataError: The bytes are not an Example, or it has more than 65,536 features.
    """
    features, unknown, features_unknown = _core.decode_example(payload)
    if features is None:
        raise _not_read(str(unknown), str(features_unknown))
    example = Example()
    for name, kind, values, own, in_list in features:
        try:
            key = name.decode()
        except UnicodeDecodeError:
            raise _not_read("corrupt", f"the name {name[:100]!r} is not UTF-8") from None
        example[key] = Feature(KINDS[kind], values, own, in_list)
    example.unknown, example.features_unknown = unknown, features_unknown
    return example


def _not_read(kind: str, message: str) -> DataError:
    return DataError(f"example: {message}", (Event(kind, f"example: {message}", sample=0, epoch=0),))


def encode(features: Mapping[str, Feature]) -> bytes:
    """Encode an Example with sorted names, so that equal features produce equal bytes."""
    try:
        return _core.encode_example(*parts(features))
    except TypeError as error:
        raise not_written(error) from None


def parts(features: Mapping[str, Feature]) -> tuple[dict[str, Feature], bytes, bytes]:
    """Return what an Example is encoded from: its features and the unknown fields."""
    if isinstance(features, Example):
        return features, features.unknown, features.features_unknown
    return features if type(features) is dict else dict(features), b"", b""


def not_written(error: Exception) -> ArgumentError:
    """Return the error for a feature that cannot be encoded."""
    return ArgumentError(f"example: {error}; create features with bytes_feature, float_feature and int64_feature")


def _bits(feature: Feature) -> bytes:
    little = "<f4" if feature.kind == "float" else "<i8"
    return np.ascontiguousarray(feature.values, little).tobytes()
