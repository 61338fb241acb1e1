"""Previews as pages: nothing but one file, no text that becomes markup, images and marks inside."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, write
from PIL import Image

import pixelmill
from pixelmill.formats import npy
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.inspect import preview
from pixelmill.inspect.overlays import color_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style><script>alert(2)</script>",
    "&lt;b&gt; ]]> --> <!--",
    "\u202egnp.exe\0\r\n",
]
VOID = {"meta", "img", "input", "br"}


class Page(HTMLParser):
    """All elements of a page with their attributes, and the text."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.source = content.decode("utf-8")
        self.feed(self.source)
        self.close()

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


def page_of(source: Any, tmp_path: Path, **options: Any) -> Page:
    report = pixelmill.preview(source, tmp_path / "look.html", exists="overwrite", **options)
    return Page(report.content)


def picture(uri: str | None) -> Image.Image:
    kind, data = re.fullmatch(r"data:image/(png|jpeg);base64,([A-Za-z0-9+/=]+)", uri or "").groups()  # type: ignore[union-attr]
    found = Image.open(io.BytesIO(base64.b64decode(data)))
    assert found.format == kind.upper()
    return found


@pytest.mark.parametrize("recipe", [None, "tfdali"])
def test_text_of_the_dataset_stays_text(recipe: str | None, tmp_path: Path) -> None:
    image = encoded("jpeg", seed=1, size=(60, 80))
    boxes = Boxes([[0.1, 0.1, 0.9, 0.9]], [1])
    samples = [Sample(text, image, "jpg", class_name=text, boxes=boxes, extra=_texts(text)) for text in HOSTILE] + [
        Sample(text, f"<html>{text}".encode(), "jpg", class_name=text) for text in HOSTILE
    ]
    hostile = tmp_path / "<script>alert(3)<"
    page = page_of(write(hostile, "tfrecord", samples), tmp_path, recipe=recipe, count=20)
    assert [tag for tag, _ in page.elements].count("script") == 1 and not page.open
    assert page.source.count("<!--") == page.source.count("<script>alert") == 0
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert all((attributes.get(name) or "#").startswith(("#", "data:image/")) for name in ("src", "href"))
    assert {tag for tag, _ in page.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "p", "main", "section", "figure"),
        *("div", "img", "a", "span", "b", "i", "figcaption", "footer", "ul", "li", "input", "label", "script"),
    }
    for text in HOSTILE[:5]:
        assert any(text in shown for shown in page.texts), text
    assert "?gnp.exe???" in page.texts


def _texts(text: str) -> Example:
    return Example({"image/object/class/text": bytes_feature(text.encode())})


def test_nothing_is_fetched_and_only_our_script_may_run(tmp_path: Path) -> None:
    page = page_of(write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1), "jpg")]), tmp_path)
    script = re.search(r"<script>(.*?)</script>", page.source, re.S)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"] == (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    assert not re.search(r"https?:|url\(|@import|//[a-z]", page.source.replace("addEventListener", ""))
    assert page.all("html", lang="en") and page.all("meta", name="viewport")
    assert "prefers-color-scheme: dark" in page.source


def test_images_masks_and_boxes_are_inside(tmp_path: Path) -> None:
    pixels = np.tile(np.array([200, 30, 20], np.uint8), (300, 600, 1))
    mask = np.zeros((300, 600), np.uint8)
    mask[100:200, 100:200] = 4
    boxes = Boxes([[0.25, 0.5, 0.75, 1.5]], [9])
    sample = Sample("a", npy.encode(pixels), "npy", (3,), "cow", boxes=boxes, mask=npy.encode(mask))
    source = write(tmp_path / "x", "tfrecord", [sample])
    page = page_of(source, tmp_path, size=150)
    image, overlay = (picture(found["src"]) for found in page.all("img"))
    assert image.size == overlay.size == (450, 225)  # three times the size of a cell
    assert np.abs(np.asarray(image).astype(int) - [200, 30, 20]).max() <= 3
    shown = np.asarray(overlay)
    assert (shown[80:140, 80:140, :3] == color_of(4)).all() and (shown[..., 3] > 0).sum() == 75 * 75
    (box,) = page.all("span", **{"class": "box"})
    assert "left:25.000%;top:50.000%;width:50.000%;height:50.000%" in (box["style"] or "")
    assert "#{:02x}{:02x}{:02x}".format(*color_of(9)) in (box["style"] or "")
    assert {"cow", "#0 a", "300 x 600", "9", "4"} <= set(page.texts)
    assert [found["id"] for found in page.all("input", type="checkbox")] == ["show-boxes", "show-masks"]
    bare = page_of(source, tmp_path, labels=False)
    assert not bare.all("figcaption") and not bare.all("b") and not bare.all("footer")


def test_cells_can_be_reached_by_keyboard(tmp_path: Path) -> None:
    samples = [Sample(f"s{i}", encoded("jpeg", seed=i, size=(60, 80)), "jpg") for i in range(3)]
    page = page_of(write(tmp_path / "x", "tfrecord", [*samples, Sample("bad", b"x", "jpg")]), tmp_path)
    ids = [found["id"] for found in page.all("figure")]
    assert len(set(ids)) == 4
    assert [found["href"] for found in page.all("a", **{"class": "open"})] == [f"#{name}" for name in ids[:3]]
    assert all(found["aria-label"] for found in page.all("a"))
    assert all(found["alt"] is not None for found in page.all("img"))
    assert "not_an_image" in page.texts


def test_tiny_and_transparent_images_are_kept_as_they_are(tmp_path: Path) -> None:
    tiny = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    clear = np.random.default_rng(1).integers(0, 256, (200, 200, 4), np.uint8)
    samples = [Sample("tiny", npy.encode(tiny), "npy"), Sample("clear", npy.encode(clear), "npy")]
    page = page_of(write(tmp_path / "x", "tfrecord", samples), tmp_path)
    for found, pixels in zip(page.all("img"), (tiny, clear), strict=True):
        assert (np.asarray(picture(found["src"])) == pixels).all()


def test_large_pages_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1, size=(400, 400)), "jpg")])
    assert not pixelmill.preview(source, tmp_path / "a.html").warnings
    monkeypatch.setattr(preview, "_LARGE_PAGE", 10_000)
    (warning,) = pixelmill.preview(source, tmp_path / "b.html").warnings
    assert "MB; fewer samples or a smaller size" in warning


def test_count_bounds_the_size(tmp_path: Path) -> None:
    samples = [Sample(f"s{i}", encoded("jpeg", seed=i, size=(900, 900)), "jpg") for i in range(4)]
    content = pixelmill.preview(write(tmp_path / "x", "tfrecord", samples), tmp_path / "a.html").content
    assert len(content) < 4 * 672 * 672 * 1.6  # noise, the worst there is, at quality 85
