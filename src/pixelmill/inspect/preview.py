"""`preview`: look at a dataset, or at what a recipe does to it."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import PurePosixPath
from typing import Any, Literal

from pixelmill.errors import ArgumentError, DataError, Event, OutputExists
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.inspect.preview_page import write_page
from pixelmill.inspect.preview_sheet import encode_sheet
from pixelmill.inspect.sampling import ONLY
from pixelmill.inspect.thumbnails import Thumbnail
from pixelmill.inspect.viewing import OnSample, View
from pixelmill.jobs.storage import open_storage

_SIZES = range(32, 2049)
_ENLARGED, _LARGEST = 3, 1024  # pictures of a page are so many times as large as their cells, up to this
_LARGE_PAGE = 20_000_000
_ENDINGS = {".png": "png", ".html": "html", ".htm": "html"}


@dataclass(frozen=True)
class Cell:
    """What a preview shows at one place.

    Attributes:
        number: The sample; -1 for a piece of the container that is none.
        variant: 0 for the sample as it is, else which of its variants.
        key: The name of the sample.
        label: Its class or labels in words.
        height: Of the picture; 0 where it could not be decoded.
        width: The same.
        boxes: Number of boxes.
        mask_classes: The numbers that occur in its mask.
        problem: What is wrong with it.
    """

    number: int
    variant: int
    key: str
    label: str
    height: int
    width: int
    boxes: int
    mask_classes: tuple[int, ...]
    problem: Event | None


@dataclass(frozen=True)
class PreviewReport:
    """A preview; in a notebook it shows itself.

    Attributes:
        source: The dataset.
        format: Its container.
        samples: Number of its samples.
        output: The file that was written; None if none was asked for, or nothing was to be seen.
        kind: `png` or `html`.
        content: The bytes of the file.
        cells: What is shown, row by row.
        damaged: Samples shown, or pieces of the container, that something is wrong with.
        warnings: What else is worth knowing.
    """

    source: str
    format: str
    samples: int
    output: str | None
    kind: str
    content: bytes = field(repr=False)
    cells: tuple[Cell, ...] = field(repr=False)
    damaged: int
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Give everything but the picture, as plain values."""
        values = {name: value for name, value in vars(self).items() if name not in ("content", "cells")}
        return {**values, "bytes": len(self.content), "cells": [asdict(cell) for cell in self.cells]}

    def save(self, path: str | os.PathLike[str], *, exists: Literal["error", "overwrite"] = "error") -> None:
        """Write the picture or the page to a file, or to an address."""
        target = os.fspath(path)
        _check_free(target, exists)
        _write(target, self.content)

    def _repr_html_(self) -> str:
        if self.kind == "html":
            page = escape(self.content.decode("utf-8"))
            return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'
        picture = base64.b64encode(self.content).decode()
        return f'<img src="data:image/png;base64,{picture}" alt="{escape(self.source)}" style="max-width:100%">'


def preview(
    source: str | os.PathLike[str] | Sequence[str],
    output: str | os.PathLike[str] | None = None,
    *,
    recipe: str | None = None,
    variants: int = 3,
    seed: int = 0,
    count: int | None = None,
    samples: str | Sequence[int] | None = None,
    class_name: str | None = None,
    only: Literal["boxes", "masks"] | None = None,
    errors: bool = False,
    columns: int | None = None,
    size: int = 224,
    labels: bool = True,
    format: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    exists: Literal["error", "overwrite"] = "error",
    on_sample: OnSample | None = None,
) -> PreviewReport:
    """Draw samples of a dataset with their labels, boxes and masks, and beside each what a recipe makes of it.

    Variants are those that `augment` writes with the same recipe and seed. Samples that cannot be read get a cell that
    says why.

    Args:
        source: A dataset in any container.
        output: A `.png` or `.html` file, or nothing to have it in memory only.
        recipe: One of ours by name, a YAML file, or a function as `file.py:name`.
        variants: How many of each sample, with a recipe.
        seed: What the choice of samples, and all draws of the recipe, follow from.
        count: How many samples, from all parts and classes of the dataset; 16, or 6 with a recipe.
        samples: The numbers of samples, or a text such as `3,7,100-120`, in place of a sampling.
        class_name: Choose samples of this class, or with a box of it, by name or number.
        only: Choose samples with boxes, or with masks, and draw only these.
        errors: Read everything, and choose samples that are damaged.
        columns: Cells in a row.
        size: Height and width of a cell, in pixels.
        labels: Write captions and names.
        format: What the dataset is; recognised by its content without.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        exists: What to do with an output that is there.
        on_sample: Called with the number of samples done and of all, for progress bars.

    Example:
        >>> preview("photos", "cell.html", recipe="tfdali", seed=7).damaged  # doctest: +SKIP
        0
    """
    view = View(recipe, variants, seed, count, samples, class_name, only, errors, columns, size, labels)
    _check(view)
    target = None if output is None else os.fspath(output)
    kind = "png" if target is None else _kind(target)
    if target is not None:
        _check_free(target, exists)
    dataset = open_dataset(source, format, root=root, allow_outside=allow_outside)
    side = size if kind == "png" else min(size * _ENLARGED, _LARGEST)
    grid = view.grid(dataset, side=side, on_sample=on_sample)
    if not grid.groups and not errors:
        raise DataError(f"preview: {dataset.source} has no samples; there is nothing to show")
    content = b""
    if grid.groups:
        content = encode_sheet(grid) if kind == "png" else write_page(grid)
    written = target if grid.groups else None
    if written is not None:
        _write(written, content)
    return PreviewReport(
        source=dataset.source,
        format=dataset.format,
        samples=len(dataset),
        output=written,
        kind=kind,
        content=content,
        cells=tuple(_cell(cell) for cell in grid.cells()),
        damaged=grid.damaged,
        warnings=_warnings(content, dataset, view),
    )


def _check(view: View) -> None:
    """Refuse arguments that cannot be meant."""
    rules = (
        (view.variants >= 1, f"variants must be at least 1, got {view.variants}"),
        (view.seed >= 0, f"seed must not be negative, got {view.seed}"),
        (view.count is None or view.count >= 1, f"count must be at least 1, got {view.count}"),
        (view.columns is None or view.columns >= 1, f"columns must be at least 1, got {view.columns}"),
        (view.size in _SIZES, f"size must be from {_SIZES[0]} to {_SIZES[-1]}, got {view.size}"),
        (view.only is None or view.only in ONLY, f"only must be one of {', '.join(ONLY)}, got {view.only!r}"),
        (view.samples is None or len(view.samples) > 0, "samples names none"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"preview: {message}")
    is_filtered = view.class_name is not None or view.only is not None
    if view.errors + (view.samples is not None) + is_filtered > 1:
        raise ArgumentError("preview: samples, errors, or class_name and only: choose samples in one of these ways")
    if view.samples is not None and view.count is not None:
        raise ArgumentError("preview: samples names the samples, so count has nothing to say; leave one of them out")


def _kind(path: str) -> str:
    ending = PurePosixPath(path).suffix.lower()
    if ending not in _ENDINGS:
        raise ArgumentError(f"preview: output must end in {', '.join(_ENDINGS)}, got {path}")
    return _ENDINGS[ending]


def _check_free(path: str, exists: str) -> None:
    if exists not in ("error", "overwrite"):
        raise ArgumentError(f"preview: exists must be error or overwrite, got {exists!r}")
    folder, name = _parted(path)
    if exists == "error" and open_storage(folder).size(name) is not None:
        raise OutputExists(f"preview: {path} exists; exists=overwrite replaces it")


def _write(path: str, content: bytes) -> None:
    folder, name = _parted(path)
    open_storage(folder).write(name, content)


def _parted(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder or ("/" if path.startswith("/") else "."), name


def _cell(cell: Thumbnail) -> Cell:
    height, width = cell.size or (0, 0)
    boxes = len(cell.boxes) if cell.boxes is not None else 0
    return Cell(cell.number, cell.variant, cell.key, cell.label, height, width, boxes, cell.mask_classes, cell.problem)


def _warnings(content: bytes, dataset: Dataset, view: View) -> tuple[str, ...]:
    found = []
    if len(content) > _LARGE_PAGE:
        found.append(f"the preview has {len(content) / 1e6:.0f} MB; fewer samples or a smaller size make it smaller")
    hidden = len(dataset.faults) - view.shown_faults
    if hidden > 0:
        pieces = "piece" if hidden == 1 else "pieces"
        found.append(f"{hidden} more {pieces} of the container cannot be read; `verify` lists them")
    return tuple(found)
