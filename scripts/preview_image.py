"""Draw the image of docs/preview.md: shapes, and their variants by a recipe."""

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
    """Create shapes in a temporary folder, and return a preview of them as a JPEG file."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        create_images(
            "shapes", "s_", 320, 240, COUNT, "png", 3, content="shapes", classes=4, masks=True, boxes=True, workers=1
        )
        report = pixelmill.preview("shapes", recipe="detection", samples="12,26,37", size=SIZE, seed=2)
    stream = io.BytesIO()
    Image.open(io.BytesIO(report.content)).save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return stream.getvalue()


def main() -> int:
    """Write the image."""
    TARGET.write_bytes(draw())
    print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
