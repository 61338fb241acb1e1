"""Write created.json: hashes of what `create` draws, which must be the same on every machine and in every version.

    .venv/bin/python tests/golden/write_created.py

Only a change that is meant to alter created images, and is in CHANGELOG.md, may change this file.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from pixelmill.create import PictureOptions, draw

PATH = Path(__file__).with_name("created.json")
COUNT = 16  # images of each kind, so that every scene, outline and texture occurs
SIZES = ((96, 128), (33, 7))
CONTENTS = ("noise", "photo", "shapes", "gradient")


def digest(content: str, height: int, width: int, index: int) -> str:
    """Return the start of the hash of the pixels and annotations of an image."""
    hashed = hashlib.sha256()
    for part in draw(PictureOptions(height, width, content=content, seed=5, classes=20), index):
        array = np.ascontiguousarray(part)
        hashed.update(f"{array.dtype.str} {array.shape}".encode())
        hashed.update(array.tobytes())
    return hashed.hexdigest()[:16]


def digests(content: str) -> list[str]:
    """Return the hashes of all images of a kind."""
    return [digest(content, *size, index) for size in SIZES for index in range(COUNT)]


if __name__ == "__main__":
    PATH.write_text(json.dumps({content: digests(content) for content in CONTENTS}, indent=1) + "\n", "utf-8")
