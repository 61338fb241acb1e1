"""What is known about objects besides boxes and labels, as one JSON object: the entry `objects` of a row.

    {"names": ["person", "dog"], "polygons": [[[0.1, 0.2, 0.3, 0.2, 0.2, 0.4]], []],
     "masks": [null, {"size": [480, 640], "counts": [5, 3, 307192]}],
     "keypoints": [[[0.1, 0.2, 2]], []], "attributes": {"iscrowd": [0, 1]}}

`"oriented": true` says that the polygon of each object is an oriented box.

The features of TFRecords and packs hold the same JSON under the key `pixelmill/objects`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pixelmill.errors import DataError, PixelmillError
from pixelmill.formats.example import Example, Feature, bytes_feature
from pixelmill.formats.index import Array
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Keypoints, Polygons, RunMask

OBJECTS, SPLIT = "pixelmill/objects", "pixelmill/split"
# What a row that comes from a stranger may raise when it is read.
UNUSABLE = (TypeError, ValueError, AttributeError, KeyError, OverflowError, PixelmillError)
_PARTS = frozenset(("names", "polygons", "masks", "keypoints", "attributes", "oriented"))


def objects_to_json(boxes: Boxes) -> dict[str, Any]:
    """Return what boxes hold besides their sides and labels; empty if there is nothing."""
    found: dict[str, Any] = {}
    if boxes.names is not None:
        found["names"] = list(boxes.names)
    if boxes.polygons is not None:
        rings = boxes.polygons.by_object(len(boxes))
        found["polygons"] = [[_decimals(ring.reshape(-1)) for ring in own] for own in rings]
    if boxes.masks is not None:
        found["masks"] = [mask and _mask_to_json(mask) for mask in boxes.masks]
    if boxes.keypoints is not None:
        found["keypoints"] = [[_keypoint(row) for row in own] for own in boxes.keypoints.by_object()]
    if boxes.attributes:
        found["attributes"] = {name: list(values) for name, values in sorted(boxes.attributes.items())}
    if boxes.oriented:
        found["oriented"] = True
    return found


def objects_from_json(value: object, boxes: Boxes) -> Boxes:
    """Return boxes with what the JSON says about them.

    Raises one of `UNUSABLE` if it cannot be used.
    """
    if not isinstance(value, dict):
        raise TypeError(f"objects must be a JSON object, got {value!r:.60}")
    unknown = value.keys() - _PARTS
    if unknown:
        raise ValueError(f"objects has the unknown entry {min(unknown)!r:.60}")
    parts: dict[str, Any] = {}
    if "names" in value:
        parts["names"] = tuple(text(name) for name in value["names"])
    if "polygons" in value:
        parts["polygons"] = Polygons.of([[_ring(ring) for ring in own] for own in value["polygons"]])
        if len(value["polygons"]) > len(boxes):
            raise ValueError(f"{len(value['polygons'])} objects have polygons, {len(boxes)} have boxes")
    if "masks" in value:
        parts["masks"] = tuple(None if mask is None else _mask_from_json(mask) for mask in value["masks"])
    if "keypoints" in value:
        rows = [np.array([[float(x) for x in row] for row in own]).reshape(-1, 3) for own in value["keypoints"]]
        parts["keypoints"] = Keypoints.of(rows)
    if "attributes" in value:
        parts["attributes"] = {text(name): tuple(values) for name, values in value["attributes"].items()}
    if "oriented" in value:
        parts["oriented"] = value["oriented"] is True
    return replace(boxes, **parts)


def own_features(sample: Sample, *, names: bool = True) -> Example:
    """Return the features for objects and split of a sample, if it has them.

    Args:
        sample: The sample.
        names: Whether the names of classes belong to them.
    """
    features = Example()
    objects = {} if sample.boxes is None else objects_to_json(sample.boxes)
    if not names:
        objects.pop("names", None)
    if objects:
        features[OBJECTS] = bytes_feature(json.dumps(objects, separators=(",", ":"), allow_nan=False))
    if sample.split is not None:
        features[SPLIT] = bytes_feature(os.fsencode(sample.split))
    return features


def read_own_features(features: Mapping[str, Feature], boxes: Boxes | None) -> tuple[Boxes | None, str | None]:
    """Return the boxes with what our own features say about them, and the split. Raises DataError."""
    objects, split = features.get(OBJECTS), features.get(SPLIT)
    if objects is None and split is None:
        return boxes, None
    try:
        if objects is not None:
            content = json.loads(_single(objects))
            boxes = objects_from_json(content, Boxes(np.empty((0, 4))) if boxes is None else boxes)
        return boxes, None if split is None else os.fsdecode(_single(split))
    except (*UNUSABLE, RecursionError) as error:
        raise DataError(f"feature {OBJECTS!r} cannot be used: {error}") from None


def with_features(sample: Sample, features: Example) -> Sample:
    """Return a sample with these features: our own become boxes and split, the others `extra`. Raises DataError."""
    boxes, split = read_own_features(features, sample.boxes)
    features.pop(OBJECTS, None)
    features.pop(SPLIT, None)
    return replace(sample, boxes=boxes, split=split, extra=features)


def _single(feature: Feature) -> bytes:
    if feature.kind != "bytes" or len(feature) != 1:
        raise ValueError(f"it must be one value of bytes, got {len(feature)} of {feature.kind}")
    value: bytes = feature.values[0]
    return value


def _decimals(values: Array) -> list[float]:
    """Return float32 numbers with as many digits as it takes to read the same ones again."""
    return [float(f"{value:.9g}") for value in values.tolist()]


def _keypoint(row: Array) -> list[float]:
    return [*_decimals(row[:2]), int(row[2])]


def text(value: object) -> str:
    """Return a value of a row that must be text; raises TypeError or ValueError."""
    if not isinstance(value, str):
        raise TypeError(f"text expected, got {value!r:.60}")
    os.fsencode(value)  # JSON can spell halves of characters, which are no text: a ValueError
    return value


def _ring(values: list[float]) -> Array:
    return np.array([float(value) for value in values], np.float32).reshape(-1, 2)


def _mask_to_json(mask: RunMask) -> dict[str, list[int]]:
    return {"size": [mask.height, mask.width], "counts": mask.counts.tolist()}


def _mask_from_json(value: Mapping[str, Any]) -> RunMask:
    height, width = (int(side) for side in value["size"])
    return RunMask(height, width, np.array([int(count) for count in value["counts"]], np.int64))
