"""`preview`: an image or a page with samples of a dataset, or with what a recipe does to them."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import PurePosixPath

from pixelmill.errors import ArgumentError, DataError, Event, OutputExists
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.inspect.grid_builder import PageView, View
from pixelmill.inspect.preview_grid import PreviewGrid
from pixelmill.inspect.preview_page import write_page
from pixelmill.inspect.preview_sheet import encode_sheet
from pixelmill.jobs.storage import open_storage
from pixelmill.options.declaration import pick, takes
from pixelmill.options.inspect import Overwrite, PreviewOptions
from pixelmill.options.running import list_options

_LARGE_PAGE = 200_000_000
_ENDINGS = {".png": "png", ".html": "html", ".htm": "html"}


@dataclass(frozen=True)
class Cell:
    """What a preview shows at one place.

    Attributes:
        number: Number of the sample; -1 for a damaged piece of the container.
        variant: 0 for the original sample, else the number of the variant.
        key: The name of the sample.
        label: Its class name or labels as text.
        height: Height of the image; 0 if it could not be decoded.
        width: Width, likewise.
        boxes: Number of boxes.
        mask_classes: The numbers that occur in its mask.
        problem: What is wrong with it.
        bytes: Size of the encoded image.
        split: `train`, `valid` or `test`, if its path says so.
        brightness: Mean brightness, 0 to 255; None if it was not measured, which only pages do.
        duplicate: The number of the samples that look alike, from 1; 0 if it looks like no other. Only pages compare.
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
    bytes: int = 0
    split: str = ""
    brightness: float | None = None
    duplicate: int = 0


@dataclass(frozen=True)
class PreviewReport:
    """A preview; a notebook displays it.

    Attributes:
        source: The dataset.
        format: Its container.
        samples: Number of its samples.
        output: The file that was written; None if none was asked for, or there was nothing to show.
        kind: `png` or `html`.
        content: The bytes of the file.
        cells: What is shown, row by row.
        damaged: Number of damaged samples, or pieces of the container, that are shown.
        warnings: Further remarks.
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

    def as_dict(self) -> dict[str, object]:
        """Return everything but the image, as plain values."""
        values = {name: value for name, value in vars(self).items() if name not in ("content", "cells")}
        return {**values, "bytes": len(self.content), "cells": [asdict(cell) for cell in self.cells]}

    def save(self, path: str | os.PathLike[str], *, exists: Overwrite = "error") -> None:
        """Write the image or the page to a file or URL."""
        target = os.fspath(path)
        _check_free(target, exists)
        _write(target, self.content)

    def _repr_html_(self) -> str:
        if self.kind == "html":
            page = escape(self.content.decode("utf-8"))
            return f'<iframe srcdoc="{page}" style="width:100%;height:80vh;border:0"></iframe>'
        encoded = base64.b64encode(self.content).decode()
        return f'<img src="data:image/png;base64,{encoded}" alt="{escape(self.source)}" style="max-width:100%">'


@takes(PreviewOptions)
def preview(options: PreviewOptions) -> PreviewReport:
    """Draw samples of a dataset with their labels, boxes and masks, and next to each what a recipe makes of it.

    Variants are those that `augment` writes with the same recipe and seed. Samples that cannot be read get a cell that
    says why.

    Example:
        >>> preview("photos", "look.html", recipe="tfdali", seed=7).damaged  # doctest: +SKIP
        0

    Returns:
        The preview.
    """
    target = None if options.output is None else os.fspath(options.output)
    kind = "png" if target is None else _kind(target)
    view = pick(PageView if kind == "html" else View, options)
    _check(view)
    if target is not None:
        _check_free(target, options.exists)
    dataset = open_dataset(options.source, options.format, **list_options(options))
    grid = view.grid(dataset, on_sample=options.on_sample)
    if not grid.groups and not view.errors:
        raise DataError(f"preview: {dataset.source} has no samples; there is nothing to show")
    content = b"" if not grid.groups else encode_sheet(grid) if kind == "png" else write_page(grid)
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
        cells=tuple(_cells(grid)),
        damaged=grid.damaged,
        warnings=_warnings(content, dataset, view),
    )


def _check(view: View) -> None:
    """Raise ArgumentError for options that contradict each other."""
    if view.samples is not None and not len(view.samples):
        raise ArgumentError("preview: samples is empty")
    is_filtered = view.class_name is not None or view.only is not None
    if view.errors + (view.samples is not None) + is_filtered > 1:
        raise ArgumentError("preview: samples, errors, or class_name and only: choose samples in one of these ways")
    if view.samples is not None and view.count is not None:
        raise ArgumentError("preview: samples names the samples, so count has no effect; leave one of them out")


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


def _cells(grid: PreviewGrid) -> Iterator[Cell]:
    for group, duplicate in zip(grid.groups, grid.duplicates, strict=True):
        for cell in group:
            height, width = cell.size or (0, 0)
            yield Cell(
                number=cell.number,
                variant=cell.variant,
                key=cell.key,
                label=cell.label,
                height=height,
                width=width,
                boxes=0 if cell.boxes is None else len(cell.boxes),
                mask_classes=cell.mask_classes,
                problem=cell.problem,
                bytes=cell.bytes,
                split=cell.split,
                brightness=None if cell.measures is None else round(cell.measures.brightness, 2),
                duplicate=duplicate if cell.variant == 0 else 0,
            )


def _warnings(content: bytes, dataset: Dataset, view: View) -> tuple[str, ...]:
    found = []
    if len(content) > _LARGE_PAGE:
        found.append(f"the preview has {len(content) / 1e6:.0f} MB; fewer samples or a smaller size make it smaller")
    hidden = len(dataset.faults) - view.shown_faults(dataset)
    if hidden > 0:
        pieces = "piece" if hidden == 1 else "pieces"
        found.append(f"{hidden} more {pieces} of the container cannot be read; `verify` lists them")
    return tuple(found)
