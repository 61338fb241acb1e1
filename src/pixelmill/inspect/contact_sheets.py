"""Contact sheets: many images in one, for visual inspection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from pixelmill.errors import ArgumentError
from pixelmill.types import Array

Pixels = npt.NDArray[np.uint8]

_BACKGROUND, _CELL, _TEXT = (246, 246, 244), (232, 232, 229), (70, 70, 68)
_FONT_SIZE, _CAPTION_HEIGHT = 12, 20


@dataclass(frozen=True)
class _Grid:
    """Where things are on the sheet, in pixels."""

    columns: int
    rows: int
    cell_height: int
    cell_width: int
    caption: int
    group: int

    @property
    def gap(self) -> int:
        return max(min(self.cell_height, self.cell_width) // 16, 4)

    @property
    def margin(self) -> int:
        return 2 * self.gap

    def top(self, row: int) -> int:
        """Return the first line of a row of cells; there is more space between rows of different groups."""
        return self.margin + row * (self.cell_height + self.caption + self.gap) + (row // self.group) * 2 * self.gap

    def left(self, column: int) -> int:
        return self.margin + column * (self.cell_width + self.gap)

    @property
    def size(self) -> tuple[int, int]:
        width = self.left(self.columns - 1) + self.cell_width + self.margin
        height = self.top(self.rows - 1) + self.cell_height + self.caption + self.margin
        return width, height


def contact_sheet(
    images: Sequence[Array],
    *,
    columns: int = 8,
    labels: Sequence[str] | None = None,
    cell: tuple[int, int] = (160, 160),
    group: int | None = None,
    mean: Sequence[float] | float | None = None,
    std: Sequence[float] | float | None = None,
) -> Image.Image:
    """Draw images in a grid, each fitted into its cell, with captions.

    Args:
        images: Images, row by row: uint8 of shape (height, width), (height, width, channels) with 1, 3 or 4
            channels; or floating-point, then also (channels, height, width), if ``mean`` and ``std`` are set.
        columns: Cells in a row.
        labels: One caption for each image.
        cell: Height and width of a cell. Images keep their aspect ratio and are never cropped.
        group: Rows that belong together; there is more space between groups.
        mean: What was subtracted from the pixels, one number or one for each channel.
        std: What the pixels were divided by, one number or one for each channel.

    Returns:
        The sheet, an RGB image.
    """
    if not len(images):
        raise ArgumentError("contact_sheet: images is empty, a sheet needs at least one image")
    if columns < 1 or min(cell) < 1 or (group is not None and group < 1):
        raise ArgumentError(f"contact_sheet: columns, cell and group must be positive, got {columns}, {cell}, {group}")
    if labels is not None and len(labels) != len(images):
        raise ArgumentError(f"contact_sheet: {len(images)} images need as many labels, got {len(labels)}")
    rows = -(-len(images) // columns)
    grid = _Grid(
        columns=min(columns, len(images)),
        rows=rows,
        cell_height=cell[0],
        cell_width=cell[1],
        caption=0 if labels is None else _CAPTION_HEIGHT,
        group=group or rows,
    )
    sheet = Image.new("RGB", grid.size, _BACKGROUND)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        _paste(sheet, Image.fromarray(_displayable(image, mean, std)), grid, row, column)
        if labels is not None:
            _write_caption(sheet, labels[number], grid, row, column)
    return sheet


def _displayable(image: Array, mean: Sequence[float] | float | None, std: Sequence[float] | float | None) -> Pixels:
    """Turn an image into uint8 (height, width) or (height, width, 3 or 4)."""
    pixels = np.asarray(image)
    shape, dtype = pixels.shape, pixels.dtype
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if np.issubdtype(dtype, np.floating):
        if mean is None or std is None:
            raise ArgumentError(f"contact_sheet: an image of type {dtype} needs mean and std to be shown")
        if pixels.ndim == 3 and pixels.shape[0] in (1, 3, 4) and pixels.shape[2] not in (1, 3, 4):
            pixels = pixels.transpose(1, 2, 0)
        restored = pixels * np.asarray(std, np.float32) + np.asarray(mean, np.float32)
        pixels = np.clip(np.rint(restored), 0, 255).astype(np.uint8)
    elif dtype != np.uint8:
        raise ArgumentError(f"contact_sheet: images must be uint8 or floating-point, got {dtype}")
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or 0 in pixels.shape:
        raise ArgumentError(f"contact_sheet: an image has height, width and 1, 3 or 4 channels, got shape {shape}")
    return np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def _paste(sheet: Image.Image, image: Image.Image, grid: _Grid, row: int, column: int) -> None:
    top, left = grid.top(row), grid.left(column)
    scale = min(grid.cell_height / image.height, grid.cell_width / image.width)
    size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
    # Enlarged pixels stay visible as squares: a sheet of tiny images shows what is in them.
    fitted = image.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.NEAREST)
    cell = Image.new("RGB", (grid.cell_width, grid.cell_height), _CELL)
    place = (grid.cell_width - size[0]) // 2, (grid.cell_height - size[1]) // 2
    cell.paste(fitted, place, fitted if fitted.mode == "RGBA" else None)
    sheet.paste(cell, (left, top))


def _write_caption(sheet: Image.Image, text: str, grid: _Grid, row: int, column: int) -> None:
    font, draw = ImageFont.load_default(_FONT_SIZE), ImageDraw.Draw(sheet)
    shown = text
    while len(shown) > 1 and draw.textlength(shown, font) > grid.cell_width:
        shown = shown.removesuffix("…")[:-1] + "…"
    middle = grid.left(column) + grid.cell_width / 2
    baseline = grid.top(row) + grid.cell_height + _CAPTION_HEIGHT / 2
    draw.text((middle, baseline), shown, fill=_TEXT, font=font, anchor="mm")
