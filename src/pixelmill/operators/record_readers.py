"""The reader of TFRecord files, whose records are messages with named features."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.operators.declare import Anything, Strings, Tensor
from pixelmill.operators.readers import Order, reader
from pixelmill.steps.sources import FeatureRow, Features, ReadExample, Records
from pixelmill.tfrecord import FeatureType, FixedLenFeature, VarLenFeature

# The protobuf field numbers of the lists in a tf.train.Feature, and the types of their values.
LISTS = {FeatureType.string: (1, np.uint8), FeatureType.float32: (2, np.float32), FeatureType.int64: (3, np.int64)}


@reader(
    "readers.tfrecord",
    outputs=None,
    aliases=("TFRecordReader",),
    class_name="TFRecord",
    leading=("path", "index_path", "features"),
)
def tfrecord(
    *,
    order: Order,
    path: Strings,
    index_path: Strings | None = None,
    features: Anything,
) -> dict[str, Tensor]:
    """Read features of the tf.train.Examples in TFRecord files; both checksums of each record are verified.

    Returns a dictionary with one node per feature: bytes (uint8, one axis) for a string, float32 or int64 otherwise.
    Records without the feature yield its default value, or an empty list for a `VarLenFeature`.

    Args:
        path: The TFRecord files; gzip files are unpacked into the cache folder first.
        index_path: One index file per TFRecord file, as `tfrecord2idx` writes it; if None, the files are scanned.
        features: A dictionary from feature names to `pixelmill.tfrecord.FixedLenFeature` or `VarLenFeature`.
        shuffle_after_epoch: Synonym of `random_shuffle`.
    """
    from pixelmill.formats.tfrecord.index import open_files

    if not isinstance(features, Mapping) or not features:
        raise ArgumentError(f"features must be a dictionary of names and features, got {features!r}")
    rows = tuple(feature_row(name, feature) for name, feature in features.items())
    reader = order.shuffling_alike().read(open_files(path, index_path))
    read = ReadExample(reader=reader, ranges=Records(reader), features=Features(rows))
    values = read.values(*[""] * len(rows))
    return dict(zip(features, values, strict=True))


def feature_row(name: str, feature: object) -> FeatureRow:
    """Return a feature as the core takes it: name, list, whether its shape is fixed, shape, default."""
    if not isinstance(feature, (FixedLenFeature, VarLenFeature)):
        raise ArgumentTypeError(f"features: {name!r} must be a FixedLenFeature or a VarLenFeature, got {feature!r}")
    fixed = isinstance(feature, FixedLenFeature)
    given = feature.shape if isinstance(feature, FixedLenFeature) else feature.partial_shape
    shape = [int(extent) for extent in ([given] if isinstance(given, int) else given)]
    if any(extent < 0 for extent in shape):
        raise ArgumentError(f"features: {name!r} has the shape {tuple(shape)}; its extents must not be negative")
    number, dtype = LISTS[feature.dtype]
    if feature.dtype is FeatureType.string and int(np.prod(shape)) != 1:
        raise ArgumentError(f"features: {name!r} is a string, whose shape is (), got {tuple(shape)}")
    return name, number, fixed, tuple(shape), _default(name, feature, shape, dtype)


def _default(
    name: str, feature: FixedLenFeature | VarLenFeature, shape: list[int], dtype: npt.DTypeLike
) -> bytes | None:
    value = feature.default_value
    if value is None:
        return None
    if feature.dtype is FeatureType.string:
        if not isinstance(value, (str, bytes)):
            raise ArgumentError(f"features: the default of {name!r} must be a string, got {value!r}")
        return value.encode() if isinstance(value, str) else value
    try:
        array = np.asarray(value, dtype)
        whole = np.broadcast_to(array if array.size != 1 else array.reshape(()), shape)
        return np.ascontiguousarray(whole).tobytes() if isinstance(feature, FixedLenFeature) else array.tobytes()
    except (ValueError, TypeError, OverflowError):
        raise ArgumentError(f"features: the default of {name!r} does not fit: {value!r}") from None
