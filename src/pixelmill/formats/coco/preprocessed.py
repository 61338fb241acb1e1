"""COCO annotations in the binary files that DALI saves and loads instead of the JSON file.

Each file is a count (uint32) followed by that many numbers, little-endian. `offsets` and `counts` hold the first box
and the number of boxes of each image; `polygon_offset` and `polygons_count`, `vertices_offset` and `vertices_count`,
`masks_offset` and `mask_count` (all int64) do the same for polygons, vertices and run lengths. File names are lines.
"""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, unreadable
from pixelmill.formats.coco.annotations_file import ANNOTATION_BYTES, LARGEST_SIDE, check_name
from pixelmill.formats.index import Array, Index, Ragged

_ROWS = {"polygon_data": 3, "vertices": 2}  # files that count rows: elements per row


@dataclass(frozen=True)
class Parts:
    """What is saved in addition to boxes and labels.

    Attributes:
        polygons: Polygons and their vertices.
        pixels: Everything that label images are drawn from.
        ids: The ids of the images.
    """

    polygons: bool = False
    pixels: bool = False
    ids: bool = False


def save(folder: str, index: Index, *, parts: Parts, ratio: bool) -> None:
    """Save the columns of an index of annotations.

    Args:
        folder: The folder to write to; it is created if missing.
        index: The result of `open_annotations`.
        parts: What to save in addition to boxes and labels.
        ratio: Save vertices as fractions of the image size, unless label images are drawn from them.
    """
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, data in _files(index, parts, ratio=ratio).items():
            (target / f"{name}.dat").write_bytes(data)
    except OSError as error:
        raise ArgumentError(f"save_preprocessed_annotations_dir: {error.strerror}: {folder}") from None


def _files(index: Index, parts: Parts, *, ratio: bool) -> dict[str, bytes]:
    columns: dict[str, Any] = dict(index.columns)
    names = (path.removeprefix(index.root) for path in index.paths)
    files = {"filenames": "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")}
    files |= _spans("offsets", "counts", columns["boxes"], np.int32)
    files["boxes"] = _vector(columns["boxes"].rows.reshape(-1), np.float32)
    files["labels"] = _vector(columns["labels"].rows, np.int32)
    if parts.polygons or parts.pixels:
        vertices = columns["shares" if ratio and not parts.pixels else "vertices"]
        files |= _spans("polygon_offset", "polygons_count", columns["polygons"], np.int64)
        files |= _spans("vertices_offset", "vertices_count", vertices, np.int64)
        files["polygon_data"] = _vector(columns["polygons"].rows, np.int32)
        files["vertices"] = _vector(vertices.rows, np.float32)
    if parts.pixels:
        runs = columns["runs"]
        files |= _spans("masks_offset", "mask_count", runs, np.int64)
        files["masks_rles"] = _runs(columns, len(index))
        files["masks_rles_idx"] = _vector(runs.rows[:, 0], np.int32)
        files["heights"], files["widths"] = (_vector(columns["size"][:, axis], np.int32) for axis in (0, 1))
    if parts.ids:
        files["original_ids"] = _vector(columns["image_id"][:, 0], np.int32)
    return files


def _vector(values: Array, dtype: Any) -> bytes:
    return len(values).to_bytes(4, "little") + values.astype(np.dtype(dtype).newbyteorder("<")).tobytes()


def _spans(offsets: str, counts: str, column: Ragged, dtype: Any) -> dict[str, bytes]:
    return {offsets: _vector(column.starts[:-1], dtype), counts: _vector(np.diff(column.starts), dtype)}


def _runs(columns: dict[str, Any], images: int) -> bytes:
    pieces = [len(columns["runs"].rows).to_bytes(4, "little")]
    for image in range(images):
        height, width = columns["size"][image].tolist()
        counts = columns["counts"][image]
        for _, first, end in columns["runs"][image].tolist():
            pieces.append(np.array([height, width, end - first], "<i8").tobytes())
            pieces.append(counts[first:end].astype("<u4").tobytes())
    return b"".join(pieces)


def open_preprocessed(folder: str, *, root: str, parts: Parts) -> Index:
    """Index the images of a folder of such files.

    Args:
        folder: The folder of the files.
        root: The folder of the images.
        parts: What is needed in addition to boxes and labels.
    """
    names = _read(folder, "filenames").decode("utf-8", "surrogateescape").splitlines()
    for number, name in enumerate(names):
        check_name(name, f"image {number} of {folder}")
    if not names:
        raise DataError(f"coco: {folder} has no image")
    boxes = _numbers(folder, "boxes", np.float32)
    labels = _numbers(folder, "labels", np.int32)
    starts = _starts(folder, "offsets", "counts", np.int32, images=len(names), rows=len(labels))
    if len(boxes) != 4 * len(labels):
        raise _damaged(folder, "boxes", f"{len(boxes)} numbers for {len(labels)} labels")
    columns: dict[str, Array | Ragged] = {
        "boxes": Ragged(boxes.reshape(-1, 4), starts),
        "labels": Ragged(labels, starts),
    }
    if parts.polygons or parts.pixels:
        columns |= _polygons(folder, len(names), np.diff(starts))
    if parts.pixels:
        columns |= _masks(folder, len(names), np.diff(starts))
    if parts.ids:
        columns["image_id"] = _per_image(folder, "original_ids", len(names)).reshape(-1, 1)
    return Index([storage.join(root, name) for name in names], columns=columns, root=os.path.join(root, ""))


def _polygons(folder: str, images: int, objects: Array) -> dict[str, Array | Ragged]:
    rows, vertices = _numbers(folder, "polygon_data", np.int32), _numbers(folder, "vertices", np.float32)
    starts = _starts(folder, "polygon_offset", "polygons_count", np.int64, images=images, rows=len(rows))
    vertex_starts = _starts(folder, "vertices_offset", "vertices_count", np.int64, images=images, rows=len(vertices))
    owner = np.repeat(np.arange(images), np.diff(starts))
    mask, first, end = rows.T.astype(np.int64)
    fits = (mask >= 0) & (mask < objects[owner]) & (first >= 0) & (first <= end)
    if not (fits & (end <= np.diff(vertex_starts)[owner])).all():
        raise _damaged(folder, "polygon_data", "a polygon refers to a vertex or a mask that does not exist")
    if not np.isfinite(vertices).all():
        raise _damaged(folder, "vertices", "a number that is not finite")
    return {"polygons": Ragged(rows, starts), "vertices": Ragged(vertices, vertex_starts)}


def _masks(folder: str, images: int, objects: Array) -> dict[str, Array | Ragged]:
    sizes = np.stack([_per_image(folder, name, images) for name in ("heights", "widths")], axis=1)
    if sizes.min() < 1 or sizes.max() > LARGEST_SIDE:
        raise _damaged(folder, "heights", f"a side that is not from 1 to {LARGEST_SIDE}")
    masks = _numbers(folder, "masks_rles_idx", np.int32)
    starts = _starts(folder, "masks_offset", "mask_count", np.int64, images=images, rows=len(masks))
    owner = np.repeat(np.arange(images), np.diff(starts))
    if ((masks < 0) | (masks >= objects[owner])).any():
        raise _damaged(folder, "masks_rles_idx", "a mask refers to an object that does not exist")
    counts = list(_run_lengths(folder, sizes[owner]))
    lengths = np.array([len(each) for each in counts], np.int64)
    per_image = np.bincount(owner, lengths, images).astype(np.int64)
    count_starts = np.concatenate([[0], np.cumsum(per_image)]).astype(np.int64)
    ends = np.cumsum(lengths) - count_starts[owner]
    runs = np.stack([masks, ends - lengths, ends], axis=1).astype(np.int32)
    flat = np.concatenate([np.empty(0, np.int64), *counts])
    return {"size": sizes, "runs": Ragged(runs, starts), "counts": Ragged(flat, count_starts)}


def _run_lengths(folder: str, sizes: Array) -> Iterable[Array]:
    """Yield the run lengths of each mask; they must cover its image."""
    name = "masks_rles"
    data = _read(folder, name)
    if len(data) < 4 or int.from_bytes(data[:4], "little") != len(sizes):
        raise _damaged(folder, name, f"it does not hold {len(sizes)} masks")
    at = 4
    for size in sizes.astype(np.int64).tolist():
        head = data[at : at + 24]
        height, width, count = np.frombuffer(head, "<i8").tolist() if len(head) == 24 else (0, 0, -1)
        if [height, width] != size or not 0 <= count <= (len(data) - at - 24) // 4:
            raise _damaged(folder, name, f"no mask of {size[0]} x {size[1]} at byte {at}")
        runs = np.frombuffer(data, "<u4", count, at + 24).astype(np.int64)
        if runs.sum() != height * width:
            raise _damaged(folder, name, f"runs of {runs.sum()} pixels at byte {at}, for {height} x {width}")
        at += 24 + 4 * count
        yield runs
    if at != len(data):
        raise _damaged(folder, name, f"{len(data) - at} bytes too many")


def _starts(folder: str, offsets: str, counts: str, dtype: Any, *, images: int, rows: int) -> Array:
    """Return the first row of each image, and the end of the last; the images' rows must follow each other."""
    begins = _per_image(folder, offsets, images, dtype).astype(np.int64)
    lengths = _per_image(folder, counts, images, dtype).astype(np.int64)
    if lengths.min() < 0 or lengths.max() > rows:
        raise _damaged(folder, counts, "a count that is not possible")
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    if not np.array_equal(starts[:-1], begins) or starts[-1] != rows:
        raise _damaged(folder, offsets, f"the rows of the images do not add up to {rows}")
    return starts


def _per_image(folder: str, name: str, images: int, dtype: Any = np.int32) -> Array:
    values = _numbers(folder, name, dtype)
    if len(values) != images:
        raise _damaged(folder, name, f"{len(values)} numbers for {images} images")
    return values


def _numbers(folder: str, name: str, dtype: Any) -> Array:
    data, width = _read(folder, name), _ROWS.get(name, 1)
    little = np.dtype(dtype).newbyteorder("<")
    count = int.from_bytes(data[:4], "little")
    if len(data) < 4 or len(data) != 4 + count * width * little.itemsize:
        raise _damaged(folder, name, f"{len(data)} bytes, and its count is {count}")
    values = np.frombuffer(data, little, count * width, 4).astype(dtype)
    return values.reshape(-1, width) if name in _ROWS else values


def _read(folder: str, name: str) -> bytes:
    path = storage.join(folder, f"{name}.dat")
    try:
        return storage.read_file(path, limit=ANNOTATION_BYTES)
    except OSError as error:
        hint = "; save the files again with the outputs that you need"
        raise unreadable("preprocessed_annotations", path, error, hint=hint) from None


def _damaged(folder: str, name: str, what: str) -> DataError:
    return DataError(f"coco: {os.path.join(folder, name)}.dat is damaged: {what}; save the files again")
