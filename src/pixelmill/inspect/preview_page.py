"""A preview as one self-contained HTML file: images are embedded, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from html import escape
from pathlib import Path

from PIL import Image

from pixelmill.inspect.overlays import Color, box_color, by_area, ink_on, mask_overlay, place_tags
from pixelmill.inspect.preview_grid import PreviewGrid, caption
from pixelmill.inspect.thumbnails import Thumbnail

_QUALITY = 85
_LETTER, _TAG_HEIGHT = 7, 15  # about how large names of boxes are, in pixels; see page.css
_TINY = 128 * 128  # so few pixels are kept as they are: as PNG


def write_page(grid: PreviewGrid) -> bytes:
    """Return the HTML file of a preview. All text of the dataset is escaped, and only our script may run."""
    style, script = (Path(__file__).with_name(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(grid.title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        f'<body style="--size:{grid.size}px">',
        *_head(grid),
        *_toggles(grid),
        *_cells(grid),
        *_legend(grid),
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def _head(grid: PreviewGrid) -> Iterator[str]:
    yield f"<header><h1>{escape(grid.title)}</h1>"
    for line in grid.details:
        yield f"<p>{escape(line)}</p>"
    yield "</header>"


def _toggles(grid: PreviewGrid) -> Iterator[str]:
    """Offer to hide boxes and masks, where there are any; style sheets alone do it."""
    for what, entries in zip(("boxes", "masks"), grid.legend(), strict=True):
        if entries:
            yield f'<input type="checkbox" id="show-{what}" checked><label for="show-{what}">{what}</label>'


def _cells(grid: PreviewGrid) -> Iterator[str]:
    several, ratio = grid.group_length > 1, grid.cell[1] / grid.cell[0]
    yield f'<main class="{"rows" if several else "grid"}" style="--columns:{grid.columns};--cell-ratio:{ratio:.5f}">'
    number = 0
    for group in grid.groups:
        if several:
            yield f'<section aria-label="sample {group[0].number}">'
        for place, cell in enumerate(group):
            yield from _cell(cell, grid, number, place)
            number += 1
        if several:
            yield "</section>"
    yield "</main>"


def _cell(cell: Thumbnail, grid: PreviewGrid, number: int, place: int) -> Iterator[str]:
    text = caption(cell)
    name = f"{text.first} {text.number}".strip()
    kinds = ["bad"] if cell.problem is not None else []
    if cell.image is None and grid.group_length > 1:
        kinds.append("wide")  # what is wrong takes the room of the variants that are not there
    yield f'<figure id="p{number}" class="{" ".join(kinds)}" style="--place:{place + 1}">'
    yield '<div class="frame">'
    if cell.image is not None:
        yield from _image(cell, grid, name)
        yield f'<a class="open" href="#p{number}" aria-label="enlarge {escape(name)}"></a>'
    yield from _problem(cell)
    yield "</div>"
    if grid.labels:
        yield f'<figcaption><b>{escape(text.first)}</b><span class="extent">{escape(text.extent)}</span>'
        yield f'<span class="name">{escape(f"{text.number} {text.name}".strip())}</span></figcaption>'
    yield '<a class="close" href="#-" aria-label="close">&times;</a>'
    yield "</figure>"


def _image(cell: Thumbnail, grid: PreviewGrid, name: str) -> Iterator[str]:
    image = cell.image
    if image is None:
        return
    few = " few" if image.width * image.height <= _TINY else ""
    yield f'<div class="picture{few}" style="--ratio:{image.width / image.height:.5f}">'
    yield f'<img src="{_data(image)}" width="{image.width}" height="{image.height}" alt="{escape(name)}">'
    if cell.mask is not None and cell.mask.any():
        yield f'<img class="mask" src="{_png(Image.fromarray(mask_overlay(cell.mask)))}" alt="">'
    yield from _boxes(cell, grid)
    yield "</div>"


def _boxes(cell: Thumbnail, grid: PreviewGrid) -> Iterator[str]:
    """Draw boxes as empty elements with a border; their names are where they fit at the usual page width."""
    if cell.boxes is None or cell.image is None:
        return
    names = grid.box_names(cell)
    scale = grid.size / max(cell.image.size)
    within = round(cell.image.width * scale), round(cell.image.height * scale)
    widths = [_LETTER * len(name) + 6 for name in names]
    tags = {tag.box: tag for tag in place_tags(cell.boxes, widths, _TAG_HEIGHT, within)} if grid.labels else {}
    for number in by_area(cell.boxes):
        left, top, right, bottom = (100 * side for side in cell.boxes.ltrb[number].clip(0, 1).tolist())
        place = f"left:{left:.3f}%;top:{top:.3f}%;width:{right - left:.3f}%;height:{bottom - top:.3f}%"
        color, tag = box_color(cell.boxes, number), tags.get(number)
        style = f"{place};--box:{_hex(color)};--tag:{_hex(ink_on(color))}"
        where = "" if tag is None else f"{tag.side} end" if tag.at_end else tag.side
        name = "" if tag is None else f'<b class="{where}">{escape(names[number])}</b>'
        yield f'<span class="box" style="{style}">{name}</span>'


def _problem(cell: Thumbnail) -> Iterator[str]:
    if cell.problem is not None:
        yield f'<p class="problem"><b>{escape(cell.problem.kind)}</b> {escape(cell.problem.message)}</p>'


def _legend(grid: PreviewGrid) -> Iterator[str]:
    kinds = list(zip(("boxes", "masks"), grid.legend(), strict=True))
    if not grid.labels or not any(entries for _, entries in kinds):
        return
    yield "<footer>"
    for what, entries in kinds:
        if entries:
            swatches = "".join(
                f'<li><i style="background:{_hex(color)}"></i>{escape(text)}</li>' for color, text in entries
            )
            yield f"<h2>{what}</h2><ul>{swatches}</ul>"
    yield "</footer>"


def _hex(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


def _data(image: Image.Image) -> str:
    if image.mode == "RGBA" or image.width * image.height <= _TINY:
        return _png(image)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _png(image: Image.Image) -> str:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
