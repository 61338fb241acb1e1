"""Compare our JPEG decoder and encoder with libjpeg-turbo on all JPEG files of some folders, bit by bit.

Run it as `python scripts/compare_jpeg.py FOLDER...`. Every file is decoded as a whole and in random windows, at each
scale and in each color, then re-encoded at a random quality in each subsampling, all at both SIMD levels. For random
files, use `sh scripts/fuzz.sh jpeg` and `sh scripts/fuzz.sh encode`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from pixelmill import _core, image_info

COLORS = (("rgb", 3), ("bgr", 4), ("gray", 1))
LEVELS = ("base", _core.simd_level())


def stored_size(data: bytes) -> tuple[int, int]:
    """Return height and width before the orientation is applied."""
    info = image_info(data)
    return (info.width, info.height) if info.orientation >= 5 else (info.height, info.width)


def compare_decoders(path: Path, windows: int, rng: np.random.Generator) -> int:
    """Return the number of equal decodes; exit at the first difference."""
    data = path.read_bytes()
    extents = stored_size(data)
    equal = 0
    for denominator in (1, 2, 4, 8):
        height, width = (-(-extent // denominator) for extent in extents)
        parts = [(0, 0, height, width)]
        for _ in range(windows):
            y, x = int(rng.integers(height)), int(rng.integers(width))
            parts.append((y, x, int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1))))
        for part in parts:
            color = COLORS[rng.integers(len(COLORS))]
            wanted = _core.decode_jpeg(data, part, denominator, *color, by_library=True)
            for level in LEVELS:
                _core.force_simd_level(level)
                got = _core.decode_jpeg(data, part, denominator, *color, by_library=False)
                if not np.array_equal(got, wanted):
                    sys.exit(f"{path}: different pixels: window {part}, scale 1/{denominator}, {color[0]}, {level}")
                equal += 1
    return equal


def compare_encoders(path: Path, rng: np.random.Generator) -> int:
    """Return the number of equal files; exit at the first difference."""
    data = path.read_bytes()
    pixels = _core.decode_jpeg(data, (0, 0, *stored_size(data)), 1, "rgb", 3, by_library=True)
    equal = 0
    gray = np.ascontiguousarray(pixels[..., :1])
    for image, subsampling in ((pixels, "4:4:4"), (pixels, "4:2:2"), (pixels, "4:2:0"), (gray, "4:4:4")):
        quality = int(rng.integers(1, 101))
        wanted = _core.encode_jpeg_by_libjpeg(image, quality, subsampling)
        for level in LEVELS:
            _core.force_simd_level(level)
            if _core.encode_jpeg(image, quality, subsampling) != wanted:
                sys.exit(
                    f"{path}: different bytes: quality {quality}, {subsampling}, {image.shape[2]} channels, {level}"
                )
            equal += 1
    return equal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--windows", type=int, default=5, help="of each file at each scale")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    paths = sorted(path for folder in options.folders for path in folder.rglob("*.jp*g"))
    if not paths:
        sys.exit("no JPEG files in these folders")
    counts: Counter[str] = Counter()
    for path in paths:
        counts["files without libjpeg"] += _core.own_jpeg_decodes(path.read_bytes())
        counts["decodes"] += compare_decoders(path, options.windows, rng)
        counts["encodes"] += compare_encoders(path, rng)
    print(f"{len(paths)} files, all equal: {dict(counts)}")


if __name__ == "__main__":
    main()
