"""Write small images of every kind the decode gate knows into a folder, as seeds for the fuzzer.

Run it as `python fuzz/seeds.py FOLDER`.
"""

import struct
import sys
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

WIDTH, HEIGHT = 37, 29


def sample_image(mode: str = "RGB") -> Image.Image:
    """Return a smooth image with some detail, so that all coefficients are in use."""
    rgb = Image.new("RGB", (WIDTH, HEIGHT))
    rgb.putdata([(x * 6, y * 8, (x * y * 13) % 256) for y in range(HEIGHT) for x in range(WIDTH)])
    return rgb.convert(mode)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags.tobytes()


def jpegs() -> Iterator[tuple[str, bytes]]:
    for sampling in ("4:4:4", "4:2:2", "4:2:0"):
        for progressive in (False, True):
            for restart in (0, 1):
                options = {"subsampling": sampling, "progressive": progressive, "restart_marker_rows": restart}
                name = f"rgb-{sampling.replace(':', '')}-{progressive:d}{restart}.jpg"
                yield name, encoded(sample_image(), "JPEG", **options)
    for mode in ("L", "CMYK"):
        for progressive in (False, True):
            yield f"{mode}-{progressive:d}.jpg", encoded(sample_image(mode), "JPEG", progressive=progressive)
    for orientation in (0, 2, 6, 7):
        yield f"exif-{orientation}.jpg", encoded(sample_image(), "JPEG", exif=exif(orientation))
    # Sampling factors Pillow does not write, put into the frame header: the entropy data then means something else.
    base = encoded(sample_image(), "JPEG", subsampling="4:4:4")
    for name, factors in (("440", 0x12), ("411", 0x41), ("410", 0x42)):
        at = base.index(b"\xff\xc0") + 11
        yield f"rgb-{name}.jpg", base[:at] + bytes([factors]) + base[at + 1 :]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(depth: int, color_type: int, channels: int, *extra: bytes) -> bytes:
    row = (WIDTH * channels * depth + 7) // 8
    data = b"".join(bytes([y % 5]) + bytes((x * 7 + y) % 256 for x in range(row)) for y in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color_type, 0, 0, 0)
    chunks = [chunk(b"IHDR", header), *extra, chunk(b"IDAT", zlib.compress(data)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def pngs() -> Iterator[tuple[str, bytes]]:
    kinds = [(0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (1, 2, 4, 8)), (4, 2, (8, 16)), (6, 4, (8, 16))]
    for color_type, channels, depths in kinds:
        for depth in depths:
            palette = [chunk(b"PLTE", bytes(range(3 * 2**depth % 256)) or bytes(768))] if color_type == 3 else []
            yield f"type{color_type}-{depth}.png", raw_png(depth, color_type, channels, *palette)
    yield "trns.png", raw_png(8, 2, 3, chunk(b"tRNS", bytes(6)))
    yield "text.png", raw_png(8, 2, 3, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(10000))))
    yield "exif.png", encoded(sample_image(), "PNG", exif=exif(6))
    yield "palette.png", encoded(sample_image("P"), "PNG")


def others() -> Iterator[tuple[str, bytes]]:
    for kind in ("BMP", "GIF", "TIFF", "WEBP", "PPM", "JPEG2000"):
        try:
            yield f"other.{kind.lower()}", encoded(sample_image(), kind)
        except (OSError, KeyError):
            print(f"this Pillow does not write {kind}", file=sys.stderr)
    yield "exif.webp", encoded(sample_image(), "WEBP", exif=exif(8))


def avifs() -> Iterator[tuple[str, bytes]]:
    """Only their headers are ours; those of HEIC have the same boxes."""
    for mode in ("RGB", "RGBA"):
        data = encoded(sample_image(mode), "AVIF", exif=exif(6))
        yield f"{mode}.avif", data
        yield f"{mode}.heic", data.replace(b"avif", b"heic", 1)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for source in (jpegs(), pngs(), others(), avifs()):
        for name, data in source:
            (folder / name).write_bytes(data)
    print(f"{len(list(folder.iterdir()))} seeds in {folder}")


if __name__ == "__main__":
    main()
