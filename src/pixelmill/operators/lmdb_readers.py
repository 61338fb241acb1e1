"""Readers of Caffe's and Caffe2's LMDB databases."""

from __future__ import annotations

from typing import Annotated, Literal

from pixelmill.errors import ArgumentError, DataError
from pixelmill.operators.declare import Range, Strings, Tensor
from pixelmill.operators.readers import LOCAL_ONLY, Order, reader
from pixelmill.operators.shapes import reshaped
from pixelmill.steps.sources import Column, Read, Reader, Records, TableColumn


@reader("readers.caffe", outputs=None, without=("shuffle_after_epoch", *LOCAL_ONLY), aliases=("CaffeReader",))
def caffe(
    *, order: Order, path: Strings, image_available: bool = True, label_available: bool = True
) -> tuple[Tensor, ...] | Tensor:
    """Read images and labels from LMDB databases of Caffe.

    Returns the bytes of each image (uint8, one axis; height, width and channels if it is not encoded) and its label
    (int32, shape (1,)). The databases are read without a library of LMDB.

    Args:
        path: The folders of the databases.
        image_available: Whether to return images.
        label_available: Whether to return labels.
    """
    from pixelmill.formats.caffe import open_records, parse_datum

    if not image_available and not label_available:
        raise ArgumentError("readers.caffe: image_available and label_available cannot both be False")
    source = order.read(open_records(path, parse_datum, columns=["label"]))
    outputs = [_image(source)] if image_available else []
    outputs += _columns(source, ["label"] if label_available else [], alone=not image_available)
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


@reader("readers.caffe2", outputs=None, without=("shuffle_after_epoch", *LOCAL_ONLY), aliases=("Caffe2Reader",))
def caffe2(
    *,
    order: Order,
    path: Strings,
    image_available: bool = True,
    label_type: Literal[0, 1, 2, 3, 4] = 0,
    num_labels: Annotated[int, Range(1)] = 1,
    additional_inputs: Annotated[int, Range(0)] = 0,
    bbox: bool = False,
) -> tuple[Tensor, ...] | Tensor:
    """Read images, labels and other tensors from LMDB databases of Caffe2.

    Returns the image, the label, the additional tensors and the boxes, as far as there are any. Images are as in
    `readers.caffe`; all other tensors have one axis and are of type int32 or float.

    Args:
        path: The folders of the databases.
        image_available: Whether the first tensor of a record is an image.
        label_type: What the label is: 0 for a class, 1 for the indices of several labels, 2 for a vector of floats, 3
            for indices with weights, 4 for none. Indices become a vector of `num_labels` elements.
        num_labels: The number of labels.
        additional_inputs: The number of tensors after the label.
        bbox: Whether the last tensor is bounding boxes.
    """
    from pixelmill.formats.caffe import TensorsParser, open_records

    columns = [] if label_type == 4 else ["label"]
    columns += [f"additional {number}" for number in range(additional_inputs)] + (["bbox"] if bbox else [])
    if not image_available and not columns:
        raise ArgumentError("readers.caffe2: there is nothing to read: no image, no label, no other tensor")
    parse = TensorsParser(image_available, label_type, num_labels, additional_inputs + bbox)
    source = order.read(open_records(path, parse, columns=columns))
    outputs = [_image(source)] if image_available else []
    outputs += _columns(source, columns, alone=not image_available)
    return tuple(outputs) if len(outputs) > 1 else outputs[0]


def _image(source: Reader) -> Tensor:
    encoded = Read(reader=source, ranges=Records(source, "image")).value()
    if "shape" not in source.index.columns:
        return encoded
    shape = _column(source, "shape")
    return reshaped("readers.caffe", encoded, None, shape=shape, rel_shape=None, src_dims=None, layout=None)


def _columns(source: Reader, names: list[str], *, alone: bool) -> list[Tensor]:
    """Return columns. If they are `alone`, nothing reads the records later, so damaged ones must be reported now."""
    if alone and source.index.lost:
        item, (_, message) = next(iter(source.index.lost.items()))
        raise DataError(f"lmdb: {source.index.locate(item)[0]}: {message}")
    return [_column(source, name) for name in names]


def _column(source: Reader, name: str) -> Tensor:
    return Column(reader=source, table=TableColumn(source, name)).value()
