"""Draw the picture of docs/preview.md: shapes, and what a recipe makes of them."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from PIL import Image

import pixelmill
from pixelmill.create import create_images

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "preview.jpg"
COUNT, SIZE, QUALITY = 40, 160, 80


def draw() -> bytes:
    """Make shapes in a folder of their own, and a preview of them; gives a JPEG file."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        options = {"content": "shapes", "classes": 4, "masks": True, "boxes": True, "seed": 3, "workers": 1}
        create_images("shapes", "s_", 320, 240, COUNT, "png", **options)
        report = pixelmill.preview("shapes", recipe="detection", samples="12,26,37", size=SIZE, seed=2)
    stream = io.BytesIO()
    Image.open(io.BytesIO(report.content)).save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return stream.getvalue()


def main() -> int:
    """Write the picture."""
    TARGET.write_bytes(draw())
    print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
