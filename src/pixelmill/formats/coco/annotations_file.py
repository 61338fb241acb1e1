"""The annotation file of a COCO dataset: boxes, labels and masks of all images in one JSON file."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, unreadable
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.storage.file_names import is_below

LARGEST_SIDE = 65535
ANNOTATION_BYTES = 1 << 32  # the annotations of COCO itself have half a gigabyte


@dataclass(frozen=True)
class Choice:
    """Which objects to read, and how to describe them.

    Attributes:
        ltrb: Boxes as left, top, right, bottom instead of left, top, width, height.
        ratio: Coordinates as fractions of the image size.
        size_threshold: Skip objects that are narrower or lower than this, in pixels.
        include_iscrowd: Whether to read groups of objects.
        skip_empty: Whether to skip images without objects.
        avoid_class_remapping: Labels as in the file, instead of 1, 2, … in the order of its categories.
        images: File names of the images to read, in this order; None for all images by id.
    """

    ltrb: bool = False
    ratio: bool = False
    size_threshold: float = 0.1
    include_iscrowd: bool = True
    skip_empty: bool = False
    avoid_class_remapping: bool = False
    images: Sequence[str] | None = None


@dataclass
class _Image:
    number: int
    name: str
    height: int
    width: int
    boxes: list[Array] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    polygons: list[tuple[int, int, int]] = field(default_factory=list)
    vertices: list[Array] = field(default_factory=list)
    vertex_count: int = 0
    runs: list[tuple[int, int, int]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)


def open_annotations(path: str, *, root: str, choice: Choice) -> Index:
    """Index the images of an annotation file, with their annotations as columns.

    The columns are boxes, labels, polygons (mask, first vertex, end vertex), vertices, runs (mask, first count, end
    count), counts (run lengths down the columns of an image), size (height, width) and image_id.
    """
    content = _loaded(path)
    images = {image.number: image for image in _images(content, path)}
    _add_objects(images, content, path, choice)
    chosen = _chosen(list(images.values()), path, choice)
    paths = [storage.join(root, image.name) for image in chosen]
    return Index(paths, columns=_columns(chosen, choice), root=os.path.join(root, ""))


def _loaded(path: str) -> dict[str, list[Any]]:
    try:
        content = json.loads(storage.read_file(path, limit=ANNOTATION_BYTES))
    except OSError as error:
        raise unreadable("annotations_file", path, error) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"coco: {path} is not a JSON file: {error}") from None
    if not isinstance(content, dict):
        raise DataError(f"coco: {path} must hold an object with images, categories and annotations")
    for key in ("images", "categories", "annotations"):
        rows = content.setdefault(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"coco: {key!r} of {path} must be a list of objects")
    return content


def _field(row: dict[str, Any], key: str, kinds: tuple[type, ...], where: str) -> Any:
    value = row.get(key)
    fits = isinstance(value, kinds) and not isinstance(value, bool)
    if not fits or (isinstance(value, (int, float)) and not abs(value) < 2**31):
        raise DataError(f"coco: {where} has no valid {key!r}, got {str(value)[:60]}")
    return value


def _images(content: dict[str, list[Any]], path: str) -> Iterator[_Image]:
    for place, row in enumerate(content["images"]):
        where = f"image {place} of {path}"
        height, width = (int(_field(row, key, (int, float), where)) for key in ("height", "width"))
        if not (0 < height <= LARGEST_SIDE and 0 < width <= LARGEST_SIDE):
            raise DataError(f"coco: {where} must have sides from 1 to {LARGEST_SIDE}, got {height, width}")
        name = _field(row, "file_name", (str,), where)
        check_name(name, where)
        yield _Image(_field(row, "id", (int,), where), name, height, width)


def check_name(name: str, where: str) -> None:
    """Raise DataError for the name of an image that leads out of the folder of the images."""
    if not is_below(name):
        raise DataError(f"coco: {where} is named {name[:80]!r}, which is not below file_root")


def _add_objects(images: dict[int, _Image], content: dict[str, list[Any]], path: str, choice: Choice) -> None:
    numbers = [_field(row, "id", (int,), f"category {n} of {path}") for n, row in enumerate(content["categories"])]
    labels = {number: number if choice.avoid_class_remapping else n for n, number in enumerate(numbers, start=1)}
    for place, row in enumerate(content["annotations"]):
        where = f"annotation {place} of {path}"
        image = images.get(_field(row, "image_id", (int,), where))
        if image is None or (row.get("iscrowd") and not choice.include_iscrowd):
            continue
        box = _numbers(row.get("bbox"), f"the box of {where}")
        if len(box) != 4:
            raise DataError(f"coco: the box of {where} must be four numbers, got {len(box)}")
        if min(box[2:]) < np.float32(choice.size_threshold):
            continue
        category = _field(row, "category_id", (int,), where)
        if category not in labels and not choice.avoid_class_remapping:
            raise DataError(f"coco: {where} is of category {category}, which the file does not list")
        _add_mask(image, row.get("segmentation"), where)
        image.boxes.append(box)
        image.labels.append(labels.get(category, category))


def _add_mask(image: _Image, segmentation: Any, where: str) -> None:
    mask = len(image.boxes)
    if isinstance(segmentation, dict):
        counts = _counts(segmentation, image, where)
        image.runs.append((mask, len(image.counts), len(image.counts) + len(counts)))
        image.counts += counts
        return
    if segmentation is not None and not isinstance(segmentation, list):
        raise DataError(f"coco: the mask of {where} is neither polygons nor runs, got {str(segmentation)[:60]}")
    for polygon in segmentation or ():
        vertices = _numbers(polygon, f"a polygon of {where}")
        if len(vertices) % 2:
            raise DataError(f"coco: a polygon of {where} has {len(vertices)} numbers, which are not pairs of x and y")
        end = image.vertex_count + len(vertices) // 2
        image.polygons.append((mask, image.vertex_count, end))
        image.vertices.append(vertices.reshape(-1, 2))
        image.vertex_count = end


def _numbers(values: Any, what: str) -> Array:
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, np.float64).astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array(np.nan, np.float32)
    if not isinstance(values, list) or numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise DataError(f"coco: {what} is not a list of numbers, got {str(values)[:60]}")
    return numbers


def _counts(segmentation: dict[str, Any], image: _Image, where: str) -> list[int]:
    """Return run lengths of zeros and ones in turn; they must cover the image."""
    counts, size = segmentation.get("counts"), segmentation.get("size")
    if size != [image.height, image.width]:
        raise DataError(
            f"coco: the mask of {where} has the size {str(size)[:40]}, its image has {image.height, image.width}"
        )
    if isinstance(counts, str):
        counts = decompressed(counts, where)
    if not isinstance(counts, list) or not all(isinstance(n, int) and n >= 0 for n in counts):
        raise DataError(f"coco: the mask of {where} has no run lengths, got {str(counts)[:60]}")
    if sum(counts) != image.height * image.width:
        raise DataError(f"coco: the runs of {where} have {sum(counts)} pixels, its image {image.height * image.width}")
    return counts


def decompressed(text: str, where: str) -> list[int]:
    """Decode run lengths from text: groups of 5 bits from `0` on; later ones are differences to the last but one."""
    counts: list[int] = []
    value = shift = 0
    for letter in text:
        group = ord(letter) - 48
        if not 0 <= group < 64 or shift > 60:
            raise DataError(f"coco: the compressed mask of {where} holds {letter!r}")
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value = shift = 0
    return counts


def _chosen(images: list[_Image], path: str, choice: Choice) -> list[_Image]:
    if choice.images is None:
        found = sorted(images, key=lambda image: image.number)
    else:
        named = {image.name: image for image in images}
        unknown = [name for name in choice.images if name not in named]
        if unknown:
            raise ArgumentError(f"images: {unknown[0]!r} is not an image of {path}")
        found = [named[name] for name in choice.images]
    found = [image for image in found if image.labels or not choice.skip_empty]
    if not found:
        raise DataError(f"coco: {path} has no image" + (" with objects" if choice.skip_empty else ""))
    return found


def _columns(images: list[_Image], choice: Choice) -> dict[str, Array | Ragged]:
    vertices = [np.concatenate([np.empty((0, 2), np.float32), *image.vertices]) for image in images]
    return {
        "boxes": Ragged.of([_boxes(image, choice) for image in images], dtype=np.float32, row_shape=(4,)),
        "labels": Ragged.of([np.array(image.labels, np.int32) for image in images], dtype=np.int32),
        "polygons": Ragged.of([np.array(i.polygons, np.int32) for i in images], dtype=np.int32, row_shape=(3,)),
        "vertices": Ragged.of(vertices, dtype=np.float32, row_shape=(2,)),
        "shares": Ragged.of(
            [v / np.array([i.width, i.height], np.float32) for v, i in zip(vertices, images, strict=True)],
            dtype=np.float32,
            row_shape=(2,),
        ),
        "runs": Ragged.of([np.array(i.runs, np.int32) for i in images], dtype=np.int32, row_shape=(3,)),
        "counts": Ragged.of([np.array(i.counts, np.int64) for i in images], dtype=np.int64),
        "size": np.array([[i.height, i.width] for i in images], np.int32),
        "image_id": np.array([[i.number] for i in images], np.int32),
    }


def _boxes(image: _Image, choice: Choice) -> Array:
    boxes: Array = np.array(image.boxes, np.float32).reshape(-1, 4)
    if choice.ltrb:
        boxes[:, 2:] += boxes[:, :2]
    return boxes / np.array([image.width, image.height] * 2, np.float32) if choice.ratio else boxes
