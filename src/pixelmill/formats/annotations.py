"""Annotations: what a container has no place for, as one JSON object (a row) for each sample that needs one.

A row holds only what differs from what the container itself says, so a plain classification dataset has none.

    {"path": "cat/0001.jpg", "key": "photos/1", "labels": [3, 5], "class": "cat",
     "boxes": [[0.1, 0.2, 0.5, 0.6]], "box_labels": [7], "objects": {"names": ["dog"], "attributes": {"id": [12]}},
     "split": "train", "extra": {"image/year": {"int64": [2019]}}}
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.example import Feature, bytes_feature, float_feature, int64_feature
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.object_rows import UNUSABLE, objects_from_json, objects_to_json, text
from pixelmill.formats.sample import Boxes, Sample

Row = dict[str, Any]  # a JSON object; every value is checked when it is used

MAX_ROW_BYTES = 1 << 28
_MAX_FILE_BYTES = 1 << 33
_NUMBERS = (int, float)
_TEXTS = (("key", "key"), ("extension", "extension"), ("class", "class_name"), ("split", "split"))


def difference(sample: Sample, *, implied: Sample, mask: bool = False) -> Row:
    """Return the row of a sample: what it says beyond `implied`.

    Args:
        sample: The sample.
        implied: The sample as the container describes it without a row; image and mask are not compared.
        mask: Whether to put the mask into the row.
    """
    row: Row = {}
    for name, key in _TEXTS:
        if getattr(sample, key) != getattr(implied, key):
            row[name] = getattr(sample, key)
    if sample.labels != implied.labels:
        row["labels"] = list(sample.labels)
    if _is_unnamed(sample.boxes, implied.boxes):
        row["box_names"] = None
    elif _is_oriented(sample.boxes, implied.boxes):
        row["oriented"] = True
    elif sample.boxes != implied.boxes:
        row["boxes"] = None if sample.boxes is None else sample.boxes.ltrb.astype(float).tolist()
        labels = np.empty(0) if sample.boxes is None else sample.boxes.labels
        if labels is not None:
            row["box_labels"] = labels.tolist()
        objects = None if sample.boxes is None else objects_to_json(sample.boxes)
        if objects:
            row["objects"] = objects
    if sample.extra:
        row["extra"] = {name: feature_to_json(feature) for name, feature in sorted(sample.extra.items())}
    if mask and sample.mask is not None:
        row["mask"] = base64.b64encode(sample.mask).decode("ascii")
    return row


def _is_unnamed(boxes: Boxes | None, implied: Boxes | None) -> bool:
    """Whether boxes differ in nothing but the names of their classes, which they do not have."""
    if boxes is None or implied is None or boxes.names is not None or implied.names is None or not len(boxes):
        return False
    return boxes == dataclasses.replace(implied, names=None)


def _is_oriented(boxes: Boxes | None, implied: Boxes | None) -> bool:
    """Whether boxes differ in nothing but that their outlines are oriented boxes."""
    if boxes is None or implied is None or not boxes.oriented or implied.oriented:
        return False
    return dataclasses.replace(boxes, oriented=False) == implied


def encode_row(row: Mapping[str, object]) -> bytes:
    """Encode a row as one line of ASCII JSON; names that are not UTF-8 are escaped."""
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode("ascii")


def decode_row(line: bytes | str, *, where: str) -> Row:
    """Decode a row; `where` names file and line in the error."""
    if len(line) > MAX_ROW_BYTES:
        raise DataError(f"annotations: {where} has {len(line)} bytes, more than {MAX_ROW_BYTES}")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"annotations: {where} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise DataError(f"annotations: {where} is not a JSON object but {type(row).__name__}")
    return row


def read_rows(path: str) -> tuple[list[tuple[str, Row]], list[RecordFault]]:
    """Return the rows of a `.jsonl` file, each with its place (`file:line`) for messages, and its damaged lines."""
    rows: list[tuple[str, Row]] = []
    faults: list[RecordFault] = []
    offset = 0
    for number, line in enumerate(storage.read_file(path, limit=_MAX_FILE_BYTES).split(b"\n"), start=1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                rows.append((where, decode_row(line, where=where)))
            except DataError as error:
                faults.append(RecordFault(path, number - 1, offset, len(line), "corrupt", str(error)))
        offset += len(line) + 1
    return rows, faults


def apply_row(row: Mapping[str, Any], *, implied: Sample, where: str) -> Sample:
    """Return the sample that the container and its row describe together; `where` names the row in errors."""
    changes: dict[str, Any] = {}
    try:
        for name, key in _TEXTS:
            if name in row:
                is_none = row[name] is None and key in ("class_name", "split")
                changes[key] = None if is_none else text(row[name])
        if "labels" in row:
            changes["labels"] = tuple(_number(label) for label in row["labels"])
        if "boxes" in row:
            boxes = _boxes(row["boxes"], row.get("box_labels"))
            objects = row.get("objects")
            changes["boxes"] = boxes if boxes is None or objects is None else objects_from_json(objects, boxes)
        elif row.get("box_names", "") is None and implied.boxes is not None:
            changes["boxes"] = dataclasses.replace(implied.boxes, names=None)
        elif row.get("oriented") is True and implied.boxes is not None:
            changes["boxes"] = dataclasses.replace(implied.boxes, oriented=True)
        if "extra" in row:
            changes["extra"] = {text(name): _feature_from_json(value) for name, value in row["extra"].items()}
        if row.get("mask") is not None and implied.mask is None:
            changes["mask"] = base64.b64decode(text(row["mask"]), validate=True)
        return dataclasses.replace(implied, **changes) if changes else implied
    except (*UNUSABLE, binascii.Error) as error:
        raise DataError(f"annotations: {where} cannot be used: {error}") from None


def _number(value: object) -> int | float:
    if not isinstance(value, _NUMBERS):
        raise TypeError(f"number expected, got {value!r:.60}")
    return value


def _boxes(ltrb: Any, labels: Any) -> Boxes | None:
    if ltrb is None:
        return None
    rows = [[float(_number(value)) for value in row] for row in ltrb]
    if any(len(row) != 4 for row in rows):
        raise ValueError("a box has four numbers: left, top, right, bottom")
    if labels is None and not rows:
        labels = []  # tables have no way to tell an empty list from none
    numbers = None if labels is None else np.array([int(_number(label)) for label in labels], np.int64)
    return Boxes(np.array(rows, np.float32).reshape(-1, 4), numbers)


def feature_to_json(feature: Feature) -> dict[str, list[Any]]:
    """Return a feature as JSON: its kind and its values; bytes become base64."""
    if feature.kind == "bytes":
        return {"bytes": [base64.b64encode(value).decode("ascii") for value in feature.values]}
    if feature.kind == "float":
        # Bit patterns keep NaN and infinity, which JSON has no numbers for.
        values = np.asarray(feature.values, np.float32)
        if np.isfinite(values).all():
            return {"float": values.astype(float).tolist()}
        return {"float_bits": values.view(np.uint32).tolist()}
    return {feature.kind or "none": [int(value) for value in feature.values]}


def _feature_from_json(value: Mapping[str, Any]) -> Feature:
    ((kind, values),) = value.items()
    if kind == "bytes":
        return bytes_feature(*(base64.b64decode(text(item), validate=True) for item in values))
    if kind == "float":
        return float_feature([float(_number(item)) for item in values])
    if kind == "float_bits":
        return float_feature(np.array([int(item) for item in values], np.uint32).view(np.float32))
    if kind == "int64":
        return int64_feature(np.array([int(item) for item in values], np.int64))
    if kind == "none":
        return Feature(None, [])
    raise ValueError(f"a feature is bytes, float or int64, not {kind!r}")
