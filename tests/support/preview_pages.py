"""Pages of previews, read as a browser would: elements, the table of samples, and the images."""

from __future__ import annotations

import base64
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

from PIL import Image

VOID = {"meta", "img", "input", "br"}


class Page(HTMLParser):
    """All elements of a page with their attributes, the texts, and the data of the script."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.source = content.decode("utf-8")
        self.feed(self.source)
        self.close()
        (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', self.source, re.S)
        self.data: dict[str, Any] = json.loads(text)
        self.pieces = re.findall(r'<script type="text/plain" class="images">(.*?)</script>', self.source, re.S)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        return [found for name, found in self.elements if name == tag and attributes.items() <= found.items()]

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The rows of the table."""
        found: list[dict[str, Any]] = self.data["samples"]
        return found

    def image(self, place: list[int], kind: str) -> Image.Image:
        """Decode an image by its place."""
        piece, start, length = place
        text = self.pieces[piece][start : start + length]
        assert len(text) == length and re.fullmatch(r"[A-Za-z0-9+/=]+", text)
        found = Image.open(io.BytesIO(base64.b64decode(text)))
        assert found.format == kind.upper()
        return found
