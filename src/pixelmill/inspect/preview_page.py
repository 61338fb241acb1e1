"""A preview as one self-contained HTML file: images and scripts are embedded, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from pathlib import Path

from pixelmill.inspect.page_data import data_elements, page_data
from pixelmill.inspect.preview_grid import PreviewGrid

_FOLDER = Path(__file__).with_name("page")
# In the order in which they use each other.
_SCRIPTS = ("samples.js", "cells.js", "grid.js", "detail.js", "statistics.js", "controls.js")


def write_page(grid: PreviewGrid) -> bytes:
    """Return the HTML file of a preview. All text of the dataset is escaped, and only our script may run."""
    style = _asset("page.css")
    script = "".join(['"use strict";\n(() => {\n', *map(_asset, _SCRIPTS), "})();\n"])
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
        "<body>",
        *_head(grid),
        _asset("body.html"),
        *data_elements(*page_data(grid)),
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def _head(grid: PreviewGrid) -> Iterator[str]:
    yield f'<header class="title"><h1>{escape(grid.title)}</h1>'
    for line in grid.details:
        yield f"<p>{escape(line)}</p>"
    yield "</header>"


def _asset(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")
