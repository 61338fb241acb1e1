"""A preview as one image."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from pixelmill.inspect.fonts import drawable, font_for
from pixelmill.inspect.overlays import Color, draw_boxes, mask_overlay
from pixelmill.inspect.preview_grid import PreviewGrid, caption
from pixelmill.inspect.thumbnails import Thumbnail

_PAPER, _CELL, _INK, _FAINT = (250, 250, 248), (234, 234, 231), (28, 28, 26), (104, 104, 100)
_BAD_CELL, _BAD_INK = (252, 226, 222), (156, 24, 16)
_LIGHT_SQUARE, _DARK_SQUARE, _SQUARE = (255, 255, 255), (214, 214, 214), 8
_MOST_LEGEND_LINES = 4
_NARROWEST = 420  # a sheet of one small image still has room for its title


@dataclass(frozen=True)
class _Place:
    """A cell on the sheet: its cell, its row and column, and how many columns it takes."""

    cell: Thumbnail
    row: int
    column: int
    span: int


@dataclass(frozen=True)
class _Layout:
    """Lengths of a sheet, in pixels."""

    grid: PreviewGrid
    head: int
    columns: int

    @property
    def font(self) -> int:
        return min(max(self.grid.size // 16, 11), 20)

    @property
    def line(self) -> int:
        return self.font * 4 // 3

    @property
    def gap(self) -> int:
        return max(self.grid.size // 16, 8)

    @property
    def caption(self) -> int:
        return 2 * self.line + 4 if self.grid.labels else 0

    def left(self, column: int) -> int:
        """Return the first pixel of a column; neighboring groups have a wider gap."""
        length = self.grid.group_length
        between = (column // length) * self.gap if length > 1 and self.columns >= 2 * length else 0
        return 2 * self.gap + column * (self.grid.cell[1] + self.gap) + between

    def top(self, row: int) -> int:
        return 2 * self.gap + self.head + row * (self.grid.cell[0] + self.caption + self.gap)

    def width(self, column: int, span: int) -> int:
        return self.left(column + span - 1) - self.left(column) + self.grid.cell[1]

    @property
    def sheet_width(self) -> int:
        cells = self.left(self.columns - 1) + self.grid.cell[1] + 2 * self.gap
        if not self.grid.labels:
            return cells
        lengths = [_length(self.grid.title, self.font * 4 // 3), *(_length(s, self.font) for s in self.grid.details)]
        return max(cells, min(max(lengths) + 4 * self.gap, _NARROWEST))


def draw_sheet(grid: PreviewGrid) -> Image.Image:
    """Draw a preview as one RGB image."""
    places = list(_places(grid))
    rows = max(place.row for place in places) + 1
    columns = max(place.column + place.span for place in places)
    layout = _Layout(grid, 0, columns)
    text_width = layout.sheet_width - 4 * layout.gap
    title = _wrapped(grid.title, layout.font * 4 // 3, text_width) if grid.labels else []
    details = [line for text in grid.details for line in _wrapped(text, layout.font, text_width) if grid.labels]
    head = len(title) * layout.line * 4 // 3 + len(details) * layout.line + layout.gap if grid.labels else 0
    layout = _Layout(grid, head, columns)
    legend = list(_legend_lines(grid, layout, text_width)) if grid.labels else []
    height = layout.top(rows) + layout.gap + len(legend) * (layout.line + 4)
    sheet = Image.new("RGB", (layout.sheet_width, height), _PAPER)
    _write_head(sheet, title, details, layout)
    for place in places:
        _draw_cell(sheet, place, layout)
    for number, line in enumerate(legend):
        _write_legend(sheet, line, layout.top(rows) + number * (layout.line + 4), layout)
    return sheet


def encode_sheet(grid: PreviewGrid) -> bytes:
    """Return the PNG file of a preview; the same preview always has the same bytes."""
    stream = io.BytesIO()
    draw_sheet(grid).save(stream, "PNG")
    return stream.getvalue()


def _places(grid: PreviewGrid) -> Iterator[_Place]:
    """Place groups next to each other if several fit in a row; one longer than a row continues in the next."""
    length, columns = grid.group_length, grid.columns
    per_row = max(columns // length, 1)
    rows = -(-length // columns)
    for number, group in enumerate(grid.groups):
        row, first = number // per_row * rows, number % per_row * length
        for place, cell in enumerate(group):
            down, across = divmod(place, columns) if length > columns else (0, place)
            is_last = place == len(group) - 1
            # What is wrong takes the room of the variants that are not there.
            room = min(columns - across, length - place) if is_last and cell.image is None else 1
            yield _Place(cell, row + down, first + across, max(room, 1))


def _draw_cell(sheet: Image.Image, place: _Place, layout: _Layout) -> None:
    cell, height = place.cell, layout.grid.cell[0]
    left, top, width = layout.left(place.column), layout.top(place.row), layout.width(place.column, place.span)
    draw = ImageDraw.Draw(sheet)
    if cell.image is None:
        draw.rectangle((left, top, left + width - 1, top + height - 1), fill=_BAD_CELL)
        _write_problem(draw, cell, (left, top, width, height), layout)
    else:
        draw.rectangle((left, top, left + width - 1, top + height - 1), fill=_CELL)
        image = marked(cell, layout.grid, font_size=max(layout.font - 2, 10))
        sheet.paste(image, (left + (width - image.width) // 2, top + (height - image.height) // 2))
        if cell.problem is not None:
            draw.rectangle((left, top, left + width - 1, top + height - 1), outline=_BAD_INK, width=3)
    if layout.grid.labels:
        _write_caption(draw, place, layout)


def marked(cell: Thumbnail, grid: PreviewGrid, *, font_size: int) -> Image.Image:
    """Fit an image into its cell and draw its mask and boxes."""
    if cell.image is None:
        raise ValueError("there is no image to mark")
    scale = min(grid.size / cell.image.width, grid.size / cell.image.height)
    size = max(round(cell.image.width * scale), 1), max(round(cell.image.height * scale), 1)
    # Enlarged pixels stay visible as squares.
    image = cell.image.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.NEAREST)
    if image.mode == "RGBA":
        ground = _squares(size)
        ground.paste(image, (0, 0), image)
        image = ground
    if cell.mask is not None:
        overlay = Image.fromarray(mask_overlay(cell.mask)).resize(size, Image.Resampling.NEAREST)
        image.paste(overlay, (0, 0), overlay)
    if cell.boxes is not None and len(cell.boxes):
        draw_boxes(image, cell.boxes, grid.box_names(cell) if grid.labels else None, font_size=font_size)
    return image


def _squares(size: tuple[int, int]) -> Image.Image:
    """Draw the checkerboard behind transparent images."""
    ground = Image.new("RGB", size, _LIGHT_SQUARE)
    draw = ImageDraw.Draw(ground)
    for y in range(0, size[1], _SQUARE):
        for x in range(y // _SQUARE % 2 * _SQUARE, size[0], 2 * _SQUARE):
            draw.rectangle((x, y, x + _SQUARE - 1, y + _SQUARE - 1), fill=_DARK_SQUARE)
    return ground


def _write_problem(draw: ImageDraw.ImageDraw, cell: Thumbnail, box: tuple[int, int, int, int], layout: _Layout) -> None:
    left, top, width, height = box
    inset = layout.gap // 2
    if cell.problem is None:
        return
    lines = [cell.problem.kind, *_wrapped(cell.problem.message, layout.font, width - 2 * inset)]
    most = max((height - 2 * inset) // layout.line, 1)
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(f"{lines[most - 1]}…", layout.font, width - 2 * inset)]
    for number, line in enumerate(lines):
        place = left + inset, top + inset + number * layout.line
        draw.text(place, line, fill=_BAD_INK if number == 0 else _INK, font=font_for(line, layout.font))


def _write_caption(draw: ImageDraw.ImageDraw, place: _Place, layout: _Layout) -> None:
    left, width = layout.left(place.column), layout.width(place.column, place.span)
    middle = layout.top(place.row) + layout.grid.cell[0] + 3 + layout.line / 2
    text, small = caption(place.cell), layout.font - 1
    room = width
    length = draw.textlength(text.extent, font_for(text.extent, small))
    if text.extent and length < width * 0.55:
        draw.text((left + width, middle), text.extent, fill=_FAINT, font=font_for(text.extent, small), anchor="rm")
        room = width - int(length) - 6
    first = _cut(text.first, layout.font, room)
    draw.text((left, middle), first, fill=_INK, font=font_for(first, layout.font), anchor="lm")
    middle += layout.line
    problem = place.cell.problem
    if problem is not None and place.cell.image is not None:
        shown = _cut(f"{problem.kind}: {problem.message}", small, width)
        draw.text((left, middle), shown, fill=_BAD_INK, font=font_for(shown, small), anchor="lm")
        return
    draw.text((left, middle), text.number, fill=_FAINT, font=font_for(text.number, small), anchor="lm")
    before = int(draw.textlength(text.number, font_for(text.number, small))) + (6 if text.number else 0)
    name = _cut(text.name, small, width - before, keep_end=True)
    draw.text((left + before, middle), name, fill=_FAINT, font=font_for(name, small), anchor="lm")


def _write_head(sheet: Image.Image, title: Sequence[str], details: Sequence[str], layout: _Layout) -> None:
    draw, top = ImageDraw.Draw(sheet), 2 * layout.gap
    size = layout.font * 4 // 3
    for line in title:
        draw.text((2 * layout.gap, top), line, fill=_INK, font=font_for(line, size))
        top += layout.line * 4 // 3
    for line in details:
        draw.text((2 * layout.gap, top), line, fill=_FAINT, font=font_for(line, layout.font))
        top += layout.line


def _legend_lines(grid: PreviewGrid, layout: _Layout, width: int) -> Iterator[list[tuple[Color | None, str, int]]]:
    """Break the legend into lines of swatches with their texts; each has its place from the left."""
    measure = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    for what, entries in zip(("boxes", "masks"), grid.legend(), strict=True):
        if not entries:
            continue
        indent = int(measure.textlength("masks", font_for("", layout.font))) + layout.font
        line: list[tuple[Color | None, str, int]] = [(None, what, 0)]
        lines, at = 1, indent
        for number, (color, text) in enumerate(entries):
            shown = _cut(text, layout.font, width // 3)
            length = int(measure.textlength(shown, font_for(shown, layout.font))) + 2 * layout.font
            is_last = lines == _MOST_LEGEND_LINES
            if at + length > width - (4 * layout.font if is_last else 0):
                if is_last:
                    line.append((None, f"+{len(entries) - number}", at))
                    break
                yield line
                line, lines, at = [], lines + 1, indent
            line.append((color, shown, at))
            at += length + layout.font // 2
        yield line


def _write_legend(sheet: Image.Image, line: list[tuple[Color | None, str, int]], top: int, layout: _Layout) -> None:
    draw, size = ImageDraw.Draw(sheet), layout.font
    for color, text, at in line:
        left = 2 * layout.gap + at
        if color is not None:
            draw.rectangle((left, top, left + size - 1, top + size - 1), fill=color)
            left += size + size // 3
        draw.text((left, top + size / 2), text, fill=_INK, font=font_for(text, size), anchor="lm")


def _length(text: str, size: int) -> int:
    text = drawable(text)
    return math.ceil(ImageDraw.Draw(Image.new("RGB", (1, 1))).textlength(text, font_for(text, size)))


def _cut(text: str, size: int, width: int, *, keep_end: bool = False) -> str:
    """Shorten a text to a width, at its end or, as names of files differ there, at its beginning."""
    text = drawable(text)
    font = font_for(text, size)
    draw = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    if draw.textlength(text, font) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        kept = (low + high + 1) // 2
        shown = "…" + text[len(text) - kept :] if keep_end else text[:kept] + "…"
        low, high = (kept, high) if draw.textlength(shown, font) <= width else (low, kept - 1)
    return ("…" + text[len(text) - low :] if keep_end else text[:low].rstrip() + "…") if low else ""


def _wrapped(text: str, size: int, width: int) -> list[str]:
    """Break a text into lines, at blanks where possible."""
    text = drawable(text)
    font = font_for(text, size)
    draw = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if draw.textlength(longer, font) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        while draw.textlength(word, font) > width and len(word) > 1:
            fitting = max(len(_cut(word, size, width)) - 1, 1)
            lines.append(word[:fitting])
            word = word[fitting:]
        line = word
    return [*lines, line] if line else lines
