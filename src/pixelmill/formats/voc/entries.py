"""The annotation of an image in Pascal VOC: from XML to a sample, and back. Boxes are pixels as they are written."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.image_header import to_fractions, to_pixels
from pixelmill.formats.object_rows import UNUSABLE
from pixelmill.formats.sample import Boxes, Json, Sample, split_name
from pixelmill.formats.voc.xml_file import is_tag, read_xml, write_xml

ROOT = "annotation"
REST = "voc/annotation"  # the feature of what describes the whole image
_SIDES = ("xmin", "ymin", "xmax", "ymax")
_OWN = ("object", "size", "filename", "path")
_LARGEST_SIDE = 65535


def read_annotation(data: bytes, *, where: str) -> dict[str, Any]:
    """Parse an annotation. Raises DataError that names the file."""
    try:
        found = read_xml(data, root=ROOT)
    except DataError as error:
        raise DataError(f"voc: {where}: {error}") from None
    objects = found.get("object", [])
    if not isinstance(objects, list) or not all(isinstance(entry, dict) for entry in objects):
        raise DataError(f"voc: {where}: an object is empty")
    return found


def object_names(annotation: dict[str, Any]) -> list[str]:
    """Return the class of each object."""
    return [str(entry.get("name", "")) for entry in annotation.get("object", [])]


def to_sample(annotation: dict[str, Any], name: str, labels: dict[str, int], *, where: str) -> Sample:
    """Return the sample of an image without its bytes. Raises DataError if an object cannot be used."""
    objects: list[dict[str, Any]] = annotation.get("object", [])
    try:
        boxes = _boxes(objects, annotation.get("size"), labels) if objects else Boxes.none()
    except UNUSABLE as error:
        raise DataError(f"voc: {where} cannot be used: {error}") from None
    rest = {tag: value for tag, value in annotation.items() if tag not in _OWN}
    extra = {REST: bytes_feature(json.dumps(rest, sort_keys=True, separators=(",", ":")))} if rest else {}
    key, extension = split_name(name)
    return Sample(key, b"", extension, boxes=boxes, extra=Example(extra))


def _boxes(objects: list[dict[str, Any]], size: Any, labels: dict[str, int]) -> Boxes:
    width, height = (float(size[side]) for side in ("width", "height")) if isinstance(size, dict) else (0.0, 0.0)
    if not (0 < width <= _LARGEST_SIDE and 0 < height <= _LARGEST_SIDE):
        raise ValueError(f"its sides must be from 1 to {_LARGEST_SIDE}, got {height:g} x {width:g}")
    ltrb = np.array([[float(entry["bndbox"][side]) for side in _SIDES] for entry in objects], np.float64)
    if not np.isfinite(ltrb).all() or (ltrb[:, 2:] < ltrb[:, :2]).any():
        raise ValueError("a box has a size that is negative or no finite number")
    names = tuple(str(entry.get("name", "")) for entry in objects)
    return Boxes(
        to_fractions(ltrb, np.array([width, height] * 2)),
        np.array([labels[name] for name in names], np.int64),
        names,
        attributes=_attributes(objects),
    )


def _attributes(objects: list[dict[str, Any]]) -> dict[str, tuple[Json, ...]]:
    found: dict[str, list[Json]] = {}
    for place, entry in enumerate(objects):
        for tag, value in entry.items():
            if tag not in ("name", "bndbox"):
                found.setdefault(tag, [None] * len(objects))[place] = value
    return {tag: tuple(values) for tag, values in found.items()}


def to_annotation(sample: Sample, name: str, size: tuple[int, int] | None, classes: dict[int, str]) -> str:
    """Return the XML of a sample.

    Args:
        sample: The sample.
        name: The file name of its image.
        size: Height and width of its image; None if they are unknown, and then there are no objects.
        classes: The name of each label.
    """
    height, width = size or (0, 0)
    rest = sample.extra.get(REST)
    about: dict[str, Any] = {"filename": name, "size": {"width": width, "height": height, "depth": 3}}
    if rest is not None and rest.kind == "bytes" and len(rest) == 1:
        content = json.loads(rest.values[0])
        about |= {tag: value for tag, value in content.items() if tag not in _OWN} if isinstance(content, dict) else {}
    boxes = sample.boxes
    if boxes is not None and len(boxes) and size is not None:
        about["object"] = [_object(boxes, place, size, classes) for place in range(len(boxes))]
    return write_xml(ROOT, about)


def _object(boxes: Boxes, place: int, size: tuple[int, int], classes: dict[int, str]) -> dict[str, Any]:
    label = 0 if boxes.labels is None else int(boxes.labels[place])
    known = {name: values[place] for name, values in boxes.attributes.items() if is_tag(name)}
    sides = to_pixels(boxes.ltrb[place], np.array([size[1], size[0]] * 2)).tolist()
    numbers = [int(side) if side == int(side) else side for side in sides]
    entry = {"name": classes[label], "bndbox": dict(zip(_SIDES, numbers, strict=True))}
    return entry | {name: value for name, value in known.items() if value is not None and name not in entry}
