"""Write docs/gallery: one PNG per operator that shows its effect on a sample image, and the page that lists them."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gallery_chart import HEIGHT, WIDTH, chart
from gallery_examples import EXAMPLES, EXTRAS
from gallery_marks import MARKED
from PIL import Image, ImageDraw, ImageFont

from pixelmill.operators.declare import public_operators

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "gallery"

GAP, CAPTION, FONT_SIZE = 8, 20, 11
MOST_BYTES = 75_000  # of an image in all its colors; only noise needs more
BACKGROUND, EMPTY, TEXT = (255, 255, 255), (236, 236, 234), (70, 70, 68)


def panel(array: np.ndarray[Any, Any]) -> Image.Image:
    """Place an image on a panel, scaled down if it does not fit."""
    image = Image.fromarray(displayable(array))
    scale = min(WIDTH / image.width, HEIGHT / image.height, 1)
    if scale < 1:
        size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
        image = image.resize(size, Image.Resampling.LANCZOS)
    laid = Image.new("RGB", (WIDTH, HEIGHT), EMPTY)
    laid.paste(image, ((WIDTH - image.width) // 2, (HEIGHT - image.height) // 2))
    return laid


def displayable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Convert an image to uint8; floats are stretched from their minimum to their maximum."""
    pixels = np.asarray(array)
    if pixels.shape[0] in (1, 3) and pixels.shape[-1] not in (1, 3):
        pixels = pixels.transpose(1, 2, 0)
    if pixels.dtype != np.uint8:
        low, high = float(pixels.min()), float(pixels.max())
        pixels = ((pixels.astype(np.float64) - low) * (255 / max(high - low, 1e-9))).astype(np.uint8)
    return np.ascontiguousarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)


def side_by_side(images: list[np.ndarray[Any, Any]], caption: str) -> bytes:
    """Place images next to each other above a caption; return the PNG file as bytes."""
    width = len(images) * WIDTH + (len(images) - 1) * GAP
    sheet = Image.new("RGB", (width, HEIGHT + CAPTION), BACKGROUND)
    for place, array in enumerate(images):
        sheet.paste(panel(array), (place * (WIDTH + GAP), 0))
    font, draw = ImageFont.load_default(FONT_SIZE), ImageDraw.Draw(sheet)
    if draw.textlength(caption, font) > width:
        raise ValueError(f"the caption does not fit below the images: {caption}")
    draw.text((width / 2, HEIGHT + CAPTION / 2 + 1), caption, fill=TEXT, font=font, anchor="mm")
    stored = _png(sheet)
    if len(stored) > MOST_BYTES:
        stored = _png(sheet.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    return stored


def _png(image: Image.Image) -> bytes:
    stored = io.BytesIO()
    image.save(stored, "PNG", optimize=True)
    return stored.getvalue()


@dataclass(frozen=True)
class Entry:
    """One image of the gallery."""

    name: str
    caption: str
    summary: str
    make: Callable[[], list[np.ndarray[Any, Any]]]

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.png"


def entries() -> list[Entry]:
    """Return all entries, operators first."""
    before = chart()
    operators = public_operators()
    shown = []
    for name, example in sorted(EXAMPLES.items()):
        caption = f"fn.{name}({', '.join(filter(None, ['images', example.text]))})"
        shown.append(Entry(name, caption, operators[name].summary, lambda e=example: [before, e.make(before)]))
    for name, marked in MARKED.items():
        caption = f"fn.{name}({marked.text})" + (f", {marked.times} times" if marked.times > 1 else "")
        shown.append(Entry(name, caption, operators[name].summary, lambda m=marked: m.make(before)))
    shown.sort(key=lambda entry: entry.name)
    for name, extra in EXTRAS.items():
        shown.append(Entry(name, extra.text, extra.summary, lambda e=extra: e.make(before)))
    return shown


def page() -> str:
    """Return the page that shows all images."""
    lines = [
        "# Gallery",
        "",
        "The effect of every operator that produces images, boxes, points, masks or matrices: before on the left,",
        "after on the right. Matrices are shown with `warp_affine`, random choices with several samples.",
        "`make docs` writes this page (scripts/gallery.py); [operators.md](../operators.md) lists all arguments.",
        "",
        "| operator | | what it does |",
        "|---|---|---|",
    ]
    for entry in entries():
        lines.append(f"| `{entry.name}` | ![{entry.caption}]({entry.file}) | {entry.summary} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators to draw; by default all of them, and the page")
    names = parser.parse_args().names
    TARGET.mkdir(parents=True, exist_ok=True)
    chosen = [entry for entry in entries() if not names or entry.name in names]
    for entry in chosen:
        (TARGET / entry.file).write_bytes(side_by_side(entry.make(), entry.caption))
    if not names:
        for old in set(TARGET.glob("*.png")) - {TARGET / entry.file for entry in chosen}:
            old.unlink()
        (TARGET / "README.md").write_text(page(), "utf-8")
    print(f"wrote {len(chosen)} images to {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
