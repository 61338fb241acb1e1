"""The entries of COCO annotation files: from the JSON of an image and its objects to a sample, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.annotations import apply_row
from pixelmill.formats.coco.annotations_file import LARGEST_SIDE, decompressed
from pixelmill.formats.example import Example, Feature, bytes_feature, int64_feature
from pixelmill.formats.image_header import to_fractions, to_pixels
from pixelmill.formats.index import Array
from pixelmill.formats.object_rows import UNUSABLE
from pixelmill.formats.sample import Boxes, Json, Sample, split_name
from pixelmill.formats.shapes import Keypoints, Polygons, RunMask

Entry = dict[str, Any]  # an object of the file; every value is checked when it is used

OWN = "pixelmill"  # our entry: the row of an image, and of an object the names of what we added to it
ID, REST, CAPTIONS = "coco/id", "coco/image", "coco/captions"  # features
_SHAPE = "segmentation"
_KNOWN = ("bbox", _SHAPE, "keypoints", "category_id", "image_id", OWN)
_IMAGE = ("id", "file_name", "width", "height", OWN)


@dataclass(frozen=True)
class Categories:
    """The classes of an annotation file by their ids, in the order of ids.

    Attributes:
        names: The name of each id.
    """

    names: Mapping[int, str]

    @cached_property
    def labels(self) -> dict[int, int]:
        """The label of each id: its place."""
        return {number: place for place, number in enumerate(self.names)}

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The names by label."""
        return tuple(self.names.values())

    @cached_property
    def is_named(self) -> bool:
        """Whether the classes have names other than their labels."""
        return any(name != str(label) for label, name in enumerate(self.names.values()))

    @cached_property
    def is_counted(self) -> bool:
        """Whether ids are 1, 2, …, so that labels say as much."""
        return list(self.names) == list(range(1, len(self.names) + 1))


def to_sample(image: Entry, objects: Sequence[Entry], categories: Categories) -> Sample:
    """Return the sample of an image without its bytes. Raises DataError if an entry cannot be used."""
    name = str(image["file_name"])
    where = f"image {image.get('id')!r:.40} ({name[:80]})"
    try:
        boxed = [entry for entry in objects if "bbox" in entry or "category_id" in entry]
        boxes = _boxes(boxed, _size(image), categories) if boxed else None
        captions = [str(entry["caption"]) for entry in objects if "caption" in entry and "bbox" not in entry]
        extra = Example(_extra(image, captions))
    except UNUSABLE as error:
        raise DataError(f"{where} cannot be used: {error}") from None
    if boxes is None and not captions:
        boxes = Boxes.none()
    implied = Sample(*_named(name), boxes=boxes, extra=extra)
    row = image.get(OWN)
    return apply_row(row, implied=implied, where=where) if isinstance(row, dict) else implied


def _named(name: str) -> tuple[str, bytes, str]:
    key, extension = split_name(name)
    return key, b"", extension


def _size(image: Entry) -> tuple[int, int]:
    height, width = (int(image.get(side) or 0) for side in ("height", "width"))
    if not (0 < height <= LARGEST_SIDE and 0 < width <= LARGEST_SIDE):
        raise ValueError(f"its sides must be from 1 to {LARGEST_SIDE}, got {height} x {width}")
    return height, width


def _extra(image: Entry, captions: Sequence[str]) -> dict[str, Feature]:
    found: dict[str, Feature] = {}
    if isinstance(image.get("id"), int) and OWN not in image:
        found[ID] = int64_feature(image["id"])
    rest = {name: value for name, value in image.items() if name not in _IMAGE}
    if rest:
        found[REST] = bytes_feature(json.dumps(rest, sort_keys=True, separators=(",", ":")))
    if captions:
        found[CAPTIONS] = bytes_feature(*captions)
    return found


def _boxes(entries: Sequence[Entry], size: tuple[int, int], categories: Categories) -> Boxes:
    height, width = size
    xywh = np.array([_four(entry.get("bbox")) for entry in entries], np.float64).reshape(-1, 4)
    if not np.isfinite(xywh).all() or (xywh[:, 2:] < 0).any():
        raise ValueError("a box has a size that is negative or no finite number")
    ltrb = np.concatenate([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]], axis=1)
    labels = [_label(entry, categories) for entry in entries]
    shapes = [entry.get(_SHAPE) for entry in entries]
    masks = tuple(_mask(shape, size) if isinstance(shape, dict) else None for shape in shapes)
    has_polygons = any(isinstance(e.get(_SHAPE), list) and _SHAPE not in e.get(OWN, ()) for e in entries)
    return Boxes(
        to_fractions(ltrb, np.array([width, height] * 2)),
        np.array(labels, np.int64),
        tuple(categories.classes[label] for label in labels) if categories.is_named else None,
        Polygons.of([_rings(shape, size) for shape in shapes]) if has_polygons else None,
        masks if any(masks) else None,
        _keypoints(entries, size),
        _attributes(entries, categories),
    )


def _four(values: object) -> list[float]:
    if not isinstance(values, list) or len(values) != 4:
        raise ValueError(f"a box must be four numbers, got {str(values)[:60]}")
    return [float(value) for value in values]


def _label(entry: Entry, categories: Categories) -> int:
    category = entry.get("category_id")
    if not isinstance(category, int) or category not in categories.labels:
        raise ValueError(f"an object has the category {str(category)[:40]}, which the file does not list")
    return categories.labels[category]


def _rings(shape: object, size: tuple[int, int]) -> list[Array]:
    if not isinstance(shape, list):
        return []
    sides = np.array([size[1], size[0]])
    return [to_fractions(np.array(ring, np.float64).reshape(-1, 2), sides) for ring in shape]


def _mask(shape: Entry, size: tuple[int, int]) -> RunMask:
    if shape.get("size") != list(size):
        raise ValueError(f"a mask has the size {str(shape.get('size'))[:40]}, its image has {list(size)}")
    counts = shape.get("counts")
    runs = decompressed(counts, "an object") if isinstance(counts, str) else counts
    if not isinstance(runs, list) or not all(isinstance(run, int) for run in runs):
        raise ValueError("a mask has no run lengths")
    return RunMask(size[0], size[1], np.array(runs, np.int64))


def _keypoints(entries: Sequence[Entry], size: tuple[int, int]) -> Keypoints | None:
    if not any("keypoints" in entry for entry in entries):
        return None
    scale = np.array([size[1], size[0], 1])
    return Keypoints.of([np.array(e.get("keypoints") or [], np.float64).reshape(-1, 3) / scale for e in entries])


def _attributes(entries: Sequence[Entry], categories: Categories) -> dict[str, tuple[Json, ...]]:
    found: dict[str, list[Json]] = {}
    for place, entry in enumerate(entries):
        added = entry.get(OWN, ())
        for name, value in entry.items():
            is_counted = name == "num_keypoints" and value == _labeled(entry.get("keypoints"))
            if (name in _KNOWN and (name != "category_id" or categories.is_counted)) or name in added or is_counted:
                continue
            found.setdefault(name, [None] * len(entries))[place] = value
    return {name: tuple(values) for name, values in found.items()}


def _labeled(keypoints: object) -> int:
    return sum(1 for value in keypoints[2::3] if value) if isinstance(keypoints, list) else 0


def to_entries(
    sample: Sample, *, size: tuple[int, int] | None, number: int, first: int, ids: Mapping[int, int]
) -> tuple[Entry, list[Entry]]:
    """Return the entries of an image and of its objects.

    Args:
        sample: The sample.
        size: Height and width of its image; None if they are unknown, and then objects have no entries.
        number: The id of the image.
        first: The id of its first object that has none of its own.
        ids: The category of each label.
    """
    height, width = size or (0, 0)
    image: Entry = {"id": number, "file_name": sample.name, "width": width, "height": height}
    rest = sample.extra.get(REST)
    if rest is not None and rest.kind == "bytes" and len(rest) == 1:
        image |= {name: value for name, value in json.loads(rest.values[0]).items() if name not in image}
    objects: list[Entry] = []
    if sample.boxes is not None and size is not None:
        for place in range(len(sample.boxes)):
            objects.append(_object(sample.boxes, place, size, image=number, number=first + place, ids=ids))
    captions = sample.extra.get(CAPTIONS)
    for place, caption in enumerate(captions.values if captions is not None and captions.kind == "bytes" else ()):
        entry = {"id": first + len(objects) + place, "image_id": number, "caption": caption.decode("utf-8", "replace")}
        objects.append(entry)
    return image, objects


def _object(
    boxes: Boxes, place: int, size: tuple[int, int], *, image: int, number: int, ids: Mapping[int, int]
) -> Entry:
    height, width = size
    left, top, right, bottom = to_pixels(boxes.ltrb[place], np.array([width, height] * 2)).tolist()
    entry: Entry = {name: values[place] for name, values in boxes.attributes.items() if values[place] is not None}
    label = 0 if boxes.labels is None else int(boxes.labels[place])
    bbox = [left, top, *(_span(low, high) for low, high in ((left, right), (top, bottom)))]
    entry |= {"image_id": image, "category_id": entry.get("category_id", ids[label]), "bbox": bbox}
    added: Entry = {"id": number, "area": bbox[2] * bbox[3], "iscrowd": 0}
    mask = boxes.masks[place] if boxes.masks is not None else None
    if mask is not None:
        entry[_SHAPE] = {"size": [mask.height, mask.width], "counts": mask.counts.tolist()}
    elif boxes.polygons is not None:
        rows = boxes.polygons.rings
        rings = [boxes.polygons.points[first:end] for owner, first, end in rows.tolist() if owner == place]
        entry[_SHAPE] = [to_pixels(r, np.array([width, height])).reshape(-1).tolist() for r in rings]
    else:
        added[_SHAPE] = []
    if boxes.keypoints is not None:
        own = boxes.keypoints.visibility[place] >= 0
        points = to_pixels(boxes.keypoints.points[place][own], np.array([width, height]))
        rows = np.concatenate([points, boxes.keypoints.visibility[place][own][:, None]], axis=1)
        entry["keypoints"] = rows.reshape(-1).tolist()
        entry.setdefault("num_keypoints", int((boxes.keypoints.visibility[place] > 0).sum()))
    missing = {name: value for name, value in added.items() if name not in entry}
    return {**missing, **entry, **({OWN: sorted(missing)} if missing else {})}


def _span(low: float, high: float) -> float:
    """Return the length from one coordinate to another without the noise of binary fractions, if that is the same."""
    length = round(high - low, 5)
    return length if low + length == high else high - low
