"""The values of databases as samples: Caffe's Datums, encoded images, and tf.train.Examples."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import example, npy
from pixelmill.formats.annotations import apply_row, decode_row
from pixelmill.formats.lmdb.datum import Datum, checked_shape
from pixelmill.formats.lmdb.fields import MessageError
from pixelmill.formats.lmdb.keys import name_of
from pixelmill.formats.sample import Sample, image_type
from pixelmill.formats.tfrecord.keys import convention_of, to_sample

Kind = Literal["image", "datum", "example"]

IMAGE_START = 64  # bytes that identify an image
_PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def kind_of(value: bytes) -> Kind | str:
    """Return what a value is; if it is not read, a sentence that says what it is instead."""
    if image_type(value[:IMAGE_START]) is not None:
        return "image"
    if _parsed(value) is not None:
        return "datum"
    if value.startswith(_PICKLES):
        return "a pickle, which could run code when loaded"
    try:
        if convention_of(example.decode(value)) is not None:
            return "example"
    except DataError:
        pass
    if b"\x91" <= value[:1] <= b"\x9f":
        return "msgpack data, as tensorpack writes it"
    if value[:1] == b"\n":
        return "a message without an image, or a Caffe2 record, which fn.readers.caffe2 reads"
    return f"neither an image, a Caffe Datum nor a tf.train.Example; it begins with {value[:8]!r}"


def sample_of(key: bytes, value: bytes) -> Sample:
    """Return the sample of a value; DataError if it is damaged, or not of a kind that is read."""
    if image_type(value[:IMAGE_START]) is not None:
        name, extension = name_of(key, value)
        return Sample(name, value, extension)
    if value[:1] == b"\n":  # an Example begins with its features, field 1 of type bytes; no Datum has such a field
        return _of_example(key, value)
    memory = memoryview(value)
    try:
        datum = Datum.parse(memory, 0, len(value))
    except (MessageError, IndexError) as error:
        raise DataError(f"{kind_of(value)} ({error})") from None
    if not datum.known:
        raise DataError(kind_of(value))
    if not datum.is_intact(key, memory):
        raise DataError("the checksum does not match")
    return described(key, datum, memory, image=_image(datum, value))


def described(key: bytes, datum: Datum, memory: memoryview, *, image: bytes) -> Sample:
    """Return the sample of a Datum whose image has been read, or is left out."""
    name, extension = name_of(key, image)
    mask = None if datum.mask is None else bytes(memory[slice(*datum.mask)])
    implied = Sample(name, image, extension, () if datum.label is None else (datum.label,), mask=mask)
    if datum.row is None:
        return implied
    where = f"the record {key[:60]!r}"
    return apply_row(decode_row(bytes(memory[slice(*datum.row)]), where=where), implied=implied, where=where)


def _parsed(value: bytes) -> Datum | None:
    try:
        datum = Datum.parse(memoryview(value), 0, len(value))
    except (MessageError, IndexError):
        return None
    return datum if datum.known else None


def _image(datum: Datum, value: bytes) -> bytes:
    data = value[datum.start : datum.start + datum.length]
    if datum.floats:
        raise DataError("its pixels are floats, which are not read")
    if datum.is_encoded:
        return data
    try:
        shape = checked_shape(datum.extents, datum.length)
    except MessageError as error:
        raise DataError(str(error)) from None
    return npy.encode(np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(shape).transpose(1, 2, 0)))


def _of_example(key: bytes, value: bytes) -> Sample:
    features = example.decode(value)
    keys = convention_of(features)
    if keys is None:
        raise DataError(kind_of(value))
    return to_sample(features, keys, fallback_key=lambda: name_of(key, b"")[0])
