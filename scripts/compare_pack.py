"""Compare packed images with the JPEG files they were made from, on thousands of generated files.

    python scripts/compare_pack.py [--files 20000] [--seed 1]

Files have sides of 1 to 40 pixels, every sampling, quality and color space, restart markers, optimized and standard
tables, several scans, orientations, coefficients of any size, bytes after their end, and damage. A file that can be
packed has to come back byte for byte, and its pack has to have the pixels of our JPEG decoder and of libjpeg-turbo: as
a whole and in a window, at each scale, at both SIMD levels. Other files have to be refused with a reason. Exits at the
first difference.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image

from pixelmill import _core

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from jpeg_files import SAMPLINGS, Form, write_jpeg

LARGEST_SIDE = 40
SCALES = (1, 2, 4, 8)
COLORS = (("rgb", 3), ("bgr", 4), ("gray", 1))
LEVELS = ("base", _core.simd_level())
ORIENTATION = 0x112


def encoded(rng: np.random.Generator) -> bytes:
    """Return a file written by Pillow, with random options."""
    height, width = (int(side) for side in rng.integers(1, LARGEST_SIDE + 1, 2))
    mode = str(rng.choice(["RGB", "RGB", "RGB", "L", "CMYK"]))
    channels = len(mode)
    smooth = np.add.outer(np.arange(height) * 3, np.arange(width) * 2)[:, :, None] + np.arange(channels) * 40
    noise = rng.integers(0, int(rng.choice([1, 20, 256])), (height, width, channels))
    pixels = ((smooth + noise) % 256).astype(np.uint8)
    image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels, mode)
    options: dict[str, object] = {"quality": int(rng.integers(1, 101)), "optimize": bool(rng.integers(2))}
    options["progressive"] = bool(rng.integers(10) == 0)
    if mode == "RGB":
        options["subsampling"] = int(rng.integers(3))
        options["keep_rgb"] = bool(rng.integers(8) == 0)
    if rng.integers(3) == 0:
        options["restart_marker_blocks"] = int(rng.integers(1, 6))
    if rng.integers(4) == 0:
        exif = Image.Exif()
        exif[ORIENTATION] = int(rng.integers(0, 10))
        options["exif"] = exif
    if options.get("keep_rgb"):
        del options["subsampling"]
    stream = io.BytesIO()
    image.save(stream, "JPEG", **options)
    return stream.getvalue()


def composed(rng: np.random.Generator) -> bytes:
    """Return a file written coefficient by coefficient: rare samplings, color spaces, tables and values."""
    height, width = (int(side) for side in rng.integers(1, LARGEST_SIDE + 1, 2))
    space = str(rng.choice(["gray", "ycc", "adobe", "ids"]))
    sampling = SAMPLINGS[rng.integers(len(SAMPLINGS))] if space != "gray" else (1, 1)
    form = Form(height, width, space, sampling, int(rng.choice([1, 2, 16, 255, 300])), int(rng.integers(0, 4)))
    largest = int(rng.choice([1, 30, 1023, 2047, 2100]))
    density = rng.random()

    def block(_component: int, _number: int) -> np.ndarray:
        return rng.integers(-largest, largest + 1, 64) * (rng.random(64) < density)

    made: bytes = write_jpeg(form, block)
    return made


def damaged(file: bytes, rng: np.random.Generator) -> bytes:
    """Return a file that was cut, changed in a byte, or has more after its end."""
    kind = int(rng.integers(3))
    if kind == 0:
        return file[: int(rng.integers(1, len(file)))]
    if kind == 1:
        return file + rng.bytes(int(rng.integers(1, 40)))
    at = int(rng.integers(len(file)))
    return file[:at] + bytes([int(rng.integers(256))]) + file[at + 1 :]


def parts(height: int, width: int, rng: np.random.Generator) -> list[tuple[int, int, int, int]]:
    """Return the whole image and a window."""
    y, x = int(rng.integers(height)), int(rng.integers(width))
    return [(0, 0, height, width), (y, x, int(rng.integers(1, height - y + 1)), int(rng.integers(1, width - x + 1)))]


def compare(file: bytes, pack: bytes, rng: np.random.Generator) -> int:
    """Return the number of equal decodes; exit at the first difference."""
    if _core.restore_image(pack) != file:
        sys.exit("a pack restores other bytes")
    equal = 0
    extents = (int.from_bytes(pack[16:20], "little"), int.from_bytes(pack[12:16], "little"))
    for denominator in SCALES:
        height, width = (-(-extent // denominator) for extent in extents)
        for part in parts(height, width, rng):
            color = COLORS[rng.integers(len(COLORS))]
            wanted = _core.decode_jpeg(file, part, denominator, *color, by_library=True)
            for level in LEVELS:
                _core.force_simd_level(level)
                ours = _core.decode_jpeg(file, part, denominator, *color, by_library=False)
                unpacked = _core.decode_packed(pack, part, denominator, *color)
                if not (np.array_equal(unpacked, wanted) and np.array_equal(ours, wanted)):
                    sys.exit(f"different pixels: window {part}, scale 1/{denominator}, {color[0]}, {level}")
                equal += 1
    return equal


def main() -> None:
    """Compare and print what was compared, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    codebook = _core.PackCodebook(_core.default_pack_codebook())
    outcomes: Counter[str] = Counter()
    decodes = 0
    for number in range(options.files):
        rng = np.random.default_rng((options.seed, number))
        file = encoded(rng) if number % 2 == 0 else composed(rng)
        if number % 5 == 0:
            file = damaged(file, rng)
        made = _core.pack_image(file, codebook)
        outcomes["packed" if isinstance(made, bytes) else made.partition(":")[0]] += 1
        if isinstance(made, bytes):
            try:
                decodes += compare(file, made, rng)
            except BaseException:
                Path("build/compare_pack.jpg").write_bytes(file)
                print(f"file {number} of seed {options.seed} is in build/compare_pack.jpg", file=sys.stderr)
                raise
    print(json.dumps({"files": options.files, "decodes": decodes, "outcomes": dict(outcomes.most_common())}, indent=1))


if __name__ == "__main__":
    main()
