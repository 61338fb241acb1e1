"""The reader of datasets in any container, with the same columns for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.errors import ArgumentError
from pixelmill.operators.coords import coord_transform
from pixelmill.operators.crop import cast_to
from pixelmill.operators.declare import Strings, Tensor
from pixelmill.operators.readers import Order, reader
from pixelmill.operators.record_readers import feature_row
from pixelmill.operators.shapes import stack
from pixelmill.steps.sources import (
    Column,
    FeatureRow,
    Features,
    Read,
    Reader,
    ReadExample,
    ReadRecordio,
    Records,
    TableColumn,
    constant,
)
from pixelmill.tfrecord import FixedLenFeature, VarLenFeature, float32, int64, string
from pixelmill.types import FLOAT

if TYPE_CHECKING:
    from pixelmill.formats.dataset import Dataset, ExampleKeys

# Matrix from (top, left, bottom, right) to (left, top, right, bottom).
_TO_LTRB = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0]


@reader("readers.dataset", outputs=None, leading=("path",))
def dataset(
    *,
    order: Order,
    path: Strings,
    columns: Strings | None = None,
    format: str | None = None,
    split: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    balanced: bool = False,
) -> dict[str, Tensor]:
    """Read a dataset in any container that `pixelmill convert` writes; the container is recognized by its content.

    Returns a dictionary with a node for each column: `image` and `mask` (encoded, uint8, one axis; an empty mask if a
    sample has none), `label` (int64, one axis, as many as the sample has), `target` (the same as float32), `boxes`
    (float32, (n, 4): left, top, right, bottom as fractions of the size), `box_label` (int64, one axis) and `corners`
    (float32, (n, 4, 2): x and y of the corners of each box, which may be an oriented one, as fractions of the size).

    Args:
        path: A folder, a file, a pattern such as `train-*.tfrecord` or `{000..146}.tar`, or several files.
        columns: The columns to return; `image` and `label` if None.
        format: The container, as for `convert --from`; recognized by its content if None.
        split: The subset to read, such as `train`: the samples that belong to it, the folder of this name, or the files
            that begin with it.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        balanced: Whether to read as many samples of each class in every epoch. An epoch is about as long as without;
            samples of small classes come several times, those of large ones take turns over the epochs.
    """
    from pixelmill.formats.class_groups import group_by_class
    from pixelmill.formats.columns import COLUMNS, column_index  # on use: programs need one or two formats
    from pixelmill.formats.registry import open_dataset

    names = list(dict.fromkeys(columns or ("image", "label")))
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise ArgumentError(f"readers.dataset: columns must be some of {', '.join(COLUMNS)}, got {unknown[0]!r}")
    source = path[0] if len(path) == 1 else path
    found = open_dataset(source, format, split=split, root=root, allow_outside=allow_outside)
    classes = group_by_class(column_index(found, ["label"])) if balanced else None
    keys = found.example_keys()
    if keys is not None:
        indexed = [name for name in names if name == "corners"]  # which no feature holds as such
        return _examples(order.read(column_index(found, indexed), classes), names, keys, found)
    by_core = {"image"} if found.is_recordio else set()
    reader = order.read(column_index(found, [name for name in names if name not in by_core]), classes)
    return {name: _column(reader, name, found) for name in names}


@reader("readers.pack", outputs=None, leading=("path",))
def pack(*, order: Order, path: Strings, columns: Strings | None = None) -> dict[str, Tensor]:
    """Read packs, which `pixelmill convert --to pack` writes.

    Returns the columns of `readers.dataset`. Packed images are for `decoders.image` and the other decoders of this
    library; `open_dataset` returns the original files.

    Args:
        path: A folder, a file, a pattern such as `train-*.pack`, or several files.
        columns: The columns to return; `image` and `label` if None.
    """
    return dataset(order=order, path=path, columns=columns, format="pack")


def _column(reader: Reader, name: str, found: Dataset) -> Tensor:
    if name == "image" and found.is_recordio:
        return ReadRecordio(reader=reader, ranges=Records(reader)).pair()[0]
    if name in reader.index.parts:
        return Read(reader=reader, ranges=Records(reader, name)).value()
    return Column(reader=reader, table=TableColumn(reader, name)).value()


def _examples(reader: Reader, names: list[str], keys: ExampleKeys, found: Dataset) -> dict[str, Tensor]:
    """Read columns from the features of tf.train.Examples, with one step for all of them."""
    if "label" in names and keys.float_labels:
        raise ArgumentError(
            f"readers.dataset: the labels of {found.source} are floats; read them as the column 'target'"
        )
    columns = {name: _column(reader, name, found) for name in names if name in reader.index.columns}
    names = [name for name in names if name not in columns]
    rows = {row[0]: row for name in names for row in _rows(name, keys)}
    read = ReadExample(reader=reader, ranges=Records(reader), features=Features(tuple(rows.values())))
    features = dict(zip(rows, read.values(*[""] * len(rows)), strict=True))
    return {**{name: _from_features(name, keys, features) for name in names}, **columns}


def _rows(name: str, keys: ExampleKeys) -> list[FeatureRow]:
    """Return the features that a column is made of, as the core takes them."""
    if name == "image":
        return [feature_row(keys.image, FixedLenFeature((), string))]
    if name == "mask":
        return [feature_row(keys.mask, FixedLenFeature((), string, ""))]
    if name == "boxes":
        shape = (4,) if len(keys.box_sides) == 1 else ()
        return [feature_row(side, VarLenFeature(shape, float32)) for side in keys.box_sides]
    if name == "box_label":
        return [feature_row(keys.box_label, VarLenFeature(int64))]
    return [feature_row(keys.label, VarLenFeature(float32 if keys.float_labels else int64))]


def _from_features(name: str, keys: ExampleKeys, features: dict[str, Tensor]) -> Tensor:
    if name == "boxes":
        sides = [features[side] for side in keys.box_sides]
        if len(sides) == 1:
            found: Tensor = coord_transform(sides[0], M=constant(_TO_LTRB, "float64"), T=None, MT=None, dtype=FLOAT)
            return found
        return _stacked(sides)
    if name == "target":
        return cast_to(features[keys.label], FLOAT)
    return features[{"image": keys.image, "mask": keys.mask, "box_label": keys.box_label}.get(name, keys.label)]


def _stacked(sides: list[Tensor]) -> Tensor:
    joined: Tensor = stack(*sides, axis=1, axis_name=None)
    return joined
