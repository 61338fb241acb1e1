"""What the script of a page gets: a table of samples as JSON, and their images in pieces of base64 text."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelmill.inspect.image_measures import Measures
from pixelmill.inspect.overlays import Color, color_of
from pixelmill.inspect.preview_grid import PreviewGrid, caption
from pixelmill.inspect.thumbnails import Thumbnail

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

_CHUNK = 1 << 20  # letters of a piece, about: the page unpacks one when the first of its images comes into view
_MOST_BOXES = 300  # that are drawn in one image


@dataclass
class ImageStore:
    """Collects images as base64 text in pieces of bounded length."""

    pieces: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _length: int = 0

    def add(self, data: bytes) -> list[Json]:
        """Add an image and return where it is: piece, first letter, number of letters."""
        text = base64.b64encode(data).decode("ascii")
        if self._length and self._length + len(text) > _CHUNK:
            self.close()
        place: list[Json] = [len(self.pieces), self._length, len(text)]
        self._open.append(text)
        self._length += len(text)
        return place

    def close(self) -> None:
        """Finish the open piece."""
        if self._open:
            self.pieces.append("".join(self._open))
        self._open, self._length = [], 0


class _Table:
    """Distinct texts, each with a number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def texts(self) -> list[Json]:
        return list(self.numbers)


def page_data(grid: PreviewGrid) -> tuple[str, list[str]]:
    """Return the JSON text of a page, which holds no `<`, and the pieces with the images."""
    store, classes, splits = ImageStore(), _Table(), _Table()
    boxes = _BoxTable(grid)
    originals = [group[0] for group in grid.groups]
    has_splits = all(cell.split for cell in originals if cell.number >= 0)
    samples: list[Json] = []
    for group, duplicate in zip(grid.groups, grid.duplicates, strict=True):
        first = group[0]
        samples.append(
            {
                **_sample(first),
                "class": classes.number(first.label),
                "split": splits.number(first.split if has_splits else ""),
                "duplicate": duplicate,
                "cells": [_cell(cell, boxes.rows, store) for cell in group],
            }
        )
    store.close()
    height, width = grid.cell
    document: Json = {
        "title": grid.title,
        "details": list(grid.details),
        "size": grid.size,
        "ratio": round(width / height, 4),
        "groupLength": grid.group_length,
        "labels": grid.labels,
        "classes": classes.texts(),
        "splits": splits.texts(),
        "boxNames": boxes.names.texts(),
        "boxColors": list(boxes.colors),
        "legend": [[[_hex(color), text] for color, text in entries] for entries in grid.legend()],
        "samples": samples,
    }
    # ASCII without `<` cannot end the script element, whatever the names are.
    return json.dumps(document, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"), store.pieces


class _BoxTable:
    """Boxes as rows of numbers; names and colors are in tables."""

    def __init__(self, grid: PreviewGrid) -> None:
        self._grid = grid
        self.names = _Table()
        self.colors: dict[str, None] = {}

    def rows(self, cell: Thumbnail) -> list[Json]:
        """Return left, top, right and bottom in thousandths of a percent, name and color of each box.

        x and y of the four corners of oriented boxes follow.
        """
        if cell.boxes is None:
            return []
        found: list[Json] = []
        names = self._grid.box_names(cell)
        corners = cell.boxes.corners().clip(-1, 2) if cell.boxes.oriented else np.empty((0, 4, 2))
        for place, sides in enumerate(cell.boxes.ltrb[:_MOST_BOXES].clip(0, 1).tolist()):
            number = 0 if cell.boxes.labels is None else int(cell.boxes.labels[place])
            color = _hex(color_of(number))
            self.colors.setdefault(color)
            where: list[Json] = [round(side * 1e5) for side in sides]
            turned: list[Json] = [round(side * 1e5) for side in corners[place : place + 1].reshape(-1).tolist()]
            found.append([*where, self.names.number(names[place]), list(self.colors).index(color), *turned])
        return found


def _sample(cell: Thumbnail) -> dict[str, Json]:
    height, width = cell.size or (0, 0)
    return {
        "number": cell.number,
        "key": cell.key,
        "height": height,
        "width": width,
        "bytes": cell.bytes,
        "boxes": 0 if cell.boxes is None else len(cell.boxes),
        "mask": [number for number in cell.mask_classes if number],
        "measures": None if cell.measures is None else _measures(cell.measures),
        "problem": None if cell.problem is None else [cell.problem.kind, cell.problem.message],
    }


def _measures(measures: Measures) -> list[Json]:
    """Return brightness, contrast, sharpness, whether it is gray, three means and three mean squares."""
    rounded: Sequence[float] = (measures.brightness, measures.contrast, measures.sharpness)
    moments = [round(value, 2) for value in (*measures.means, *measures.squares)]
    return [*(round(value, 2) for value in rounded), int(measures.is_gray), *moments]


def _cell(cell: Thumbnail, rows: Callable[[Thumbnail], list[Json]], store: ImageStore) -> dict[str, Json]:
    text = caption(cell)
    shown: dict[str, Json] = {
        "first": text.first,
        "extent": text.extent,
        "second": f"{text.number} {text.name}".strip(),
    }
    if cell.problem is not None:
        shown["problem"] = [cell.problem.kind, cell.problem.message]
    if cell.note:
        shown["note"] = cell.note
    packed = cell.packed
    if packed is None:
        return shown
    shown |= {"height": packed.height, "width": packed.width, "kind": packed.kind, "image": store.add(packed.data)}
    if packed.mask is not None:
        shown["mask"] = store.add(packed.mask)
    boxes = rows(cell)
    if boxes:
        shown["boxes"] = boxes
    return shown


def _hex(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def data_elements(text: str, pieces: Sequence[str]) -> Iterator[str]:
    """Yield the elements that hold the data; browsers neither run nor show them."""
    yield f'<script type="application/json" id="data">{text}</script>'
    for piece in pieces:
        yield f'<script type="text/plain" class="images">{piece}</script>'
