"""A preview as one HTML file that needs nothing else: pictures are inside, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from html import escape
from pathlib import Path

from PIL import Image

from pixelmill.inspect.board import Board, caption
from pixelmill.inspect.looks import Look
from pixelmill.inspect.marks import Colour, by_area, colour_of, ink_on, mask_overlay, place_tags

_QUALITY = 85
_LETTER, _TAG_HEIGHT = 7, 15  # about how large names of boxes are, in pixels; see page.css
_TINY = 128 * 128  # so few pixels are kept as they are: as PNG


def write_page(board: Board) -> bytes:
    """Give the HTML file of a preview. All text of the dataset is escaped, and no script but ours may run."""
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
        f"<title>{escape(board.title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        f'<body style="--size:{board.size}px">',
        *_head(board),
        *_toggles(board),
        *_cells(board),
        *_legend(board),
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def _head(board: Board) -> Iterator[str]:
    yield f"<header><h1>{escape(board.title)}</h1>"
    for line in board.details:
        yield f"<p>{escape(line)}</p>"
    yield "</header>"


def _toggles(board: Board) -> Iterator[str]:
    """Offer to hide boxes and masks, where there are any; style sheets alone do it."""
    for what, entries in zip(("boxes", "masks"), board.legend(), strict=True):
        if entries:
            yield f'<input type="checkbox" id="show-{what}" checked><label for="show-{what}">{what}</label>'


def _cells(board: Board) -> Iterator[str]:
    several, ratio = board.group_length > 1, board.cell[1] / board.cell[0]
    yield f'<main class="{"rows" if several else "grid"}" style="--columns:{board.columns};--cell-ratio:{ratio:.5f}">'
    number = 0
    for group in board.groups:
        if several:
            yield f'<section aria-label="sample {group[0].number}">'
        for place, look in enumerate(group):
            yield from _cell(look, board, number, place)
            number += 1
        if several:
            yield "</section>"
    yield "</main>"


def _cell(look: Look, board: Board, number: int, place: int) -> Iterator[str]:
    text = caption(look)
    name = f"{text.first} {text.number}".strip()
    kinds = ["bad"] if look.problem is not None else []
    if look.picture is None and board.group_length > 1:
        kinds.append("wide")  # what is wrong takes the room of the variants that are not there
    yield f'<figure id="p{number}" class="{" ".join(kinds)}" style="--place:{place + 1}">'
    yield '<div class="frame">'
    if look.picture is not None:
        yield from _picture(look, board, name)
        yield f'<a class="open" href="#p{number}" aria-label="enlarge {escape(name)}"></a>'
    yield from _problem(look)
    yield "</div>"
    if board.labels:
        yield f'<figcaption><b>{escape(text.first)}</b><span class="extent">{escape(text.extent)}</span>'
        yield f'<span class="name">{escape(f"{text.number} {text.name}".strip())}</span></figcaption>'
    yield '<a class="close" href="#-" aria-label="close">&times;</a>'
    yield "</figure>"


def _picture(look: Look, board: Board, name: str) -> Iterator[str]:
    picture = look.picture
    if picture is None:
        return
    few = " few" if picture.width * picture.height <= _TINY else ""
    yield f'<div class="picture{few}" style="--ratio:{picture.width / picture.height:.5f}">'
    yield f'<img src="{_data(picture)}" width="{picture.width}" height="{picture.height}" alt="{escape(name)}">'
    if look.mask is not None and look.mask.any():
        yield f'<img class="mask" src="{_png(Image.fromarray(mask_overlay(look.mask)))}" alt="">'
    yield from _boxes(look, board)
    yield "</div>"


def _boxes(look: Look, board: Board) -> Iterator[str]:
    """Draw boxes as empty elements with a border; their names stand where they fit if the page is as wide as usual."""
    if look.boxes is None or look.picture is None:
        return
    names = board.box_names(look)
    scale = board.size / max(look.picture.size)
    within = round(look.picture.width * scale), round(look.picture.height * scale)
    widths = [_LETTER * len(name) + 6 for name in names]
    tags = {tag.box: tag for tag in place_tags(look.boxes, widths, _TAG_HEIGHT, within)} if board.labels else {}
    for number in by_area(look.boxes):
        left, top, right, bottom = (100 * side for side in look.boxes.ltrb[number].clip(0, 1).tolist())
        place = f"left:{left:.3f}%;top:{top:.3f}%;width:{right - left:.3f}%;height:{bottom - top:.3f}%"
        colour, tag = colour_of(int(look.boxes.labels[number])), tags.get(number)
        style = f"{place};--box:{_hex(colour)};--tag:{_hex(ink_on(colour))}"
        where = "" if tag is None else f"{tag.side} end" if tag.at_end else tag.side
        name = "" if tag is None else f'<b class="{where}">{escape(names[number])}</b>'
        yield f'<span class="box" style="{style}">{name}</span>'


def _problem(look: Look) -> Iterator[str]:
    if look.problem is not None:
        yield f'<p class="problem"><b>{escape(look.problem.kind)}</b> {escape(look.problem.message)}</p>'


def _legend(board: Board) -> Iterator[str]:
    kinds = list(zip(("boxes", "masks"), board.legend(), strict=True))
    if not board.labels or not any(entries for _, entries in kinds):
        return
    yield "<footer>"
    for what, entries in kinds:
        if entries:
            swatches = "".join(
                f'<li><i style="background:{_hex(colour)}"></i>{escape(text)}</li>' for colour, text in entries
            )
            yield f"<h2>{what}</h2><ul>{swatches}</ul>"
    yield "</footer>"


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _data(picture: Image.Image) -> str:
    if picture.mode == "RGBA" or picture.width * picture.height <= _TINY:
        return _png(picture)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _png(picture: Image.Image) -> str:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}"
