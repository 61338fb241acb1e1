"""JPEG files written coefficient by coefficient, and the comparison of our decoder with libjpeg-turbo's."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from pixelmill import _core

BEST = "best"  # with all instructions of this machine
SAMPLINGS = [(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (4, 2), (2, 4), (1, 4)]  # of the first component; others have 1
LARGEST = 32767  # a category of 15 bits, the largest that a Huffman symbol can name


@dataclass(frozen=True)
class Form:
    """What the headers of a file say.

    Attributes:
        height: In pixels.
        width: In pixels.
        space: "gray", "ycc", or "adobe" and "ids", which are RGB by the Adobe marker and by the component ids.
        sampling: The horizontal and vertical factors of the first component.
        step: Every entry of the quantization table; above 255 the table has 16 bits.
        restart: MCUs between two restart markers, 0 for none.
    """

    height: int
    width: int
    space: str = "ycc"
    sampling: tuple[int, int] = (1, 1)
    step: int = 1
    restart: int = 0

    def factors(self):
        """Return the factors of each component."""
        return [self.sampling] if self.space == "gray" else [self.sampling, (1, 1), (1, 1)]

    def mcus(self):
        """Return the rows and columns of MCUs. The blocks of a single component are MCUs of their own."""
        h, v = (1, 1) if self.space == "gray" else self.sampling
        return -(-self.height // (8 * v)), -(-self.width // (8 * h))


def segment(marker, payload):
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def headers(form):
    """Write everything before the scan. All codes have the same length: 5 bits for DC symbols, 9 for AC symbols."""
    count = len(form.factors())
    ids = b"RGB" if form.space == "ids" else bytes([1, 2, 3])
    wide = form.step > 255
    quant = bytes([wide << 4]) + struct.pack(">64H" if wide else ">64B", *[form.step] * 64)
    frame = struct.pack(">BHHB", 8, form.height, form.width, count)
    frame += b"".join(bytes([ids[i], h << 4 | v, 0]) for i, (h, v) in enumerate(form.factors()))
    dc = bytes([0x00, *(16 * (length == 5) for length in range(1, 17)), *range(16)])
    # 256 codes of 9 bits do not fit into a byte's count: one of them has 10.
    ac = bytes([0x10, *({9: 255, 10: 1}.get(length, 0) for length in range(1, 17)), *range(256)])
    scan = bytes([count, *(byte for i in range(count) for byte in (ids[i], 0)), 0, 63, 0])
    adobe = segment(0xEE, b"Adobe" + struct.pack(">HHHB", 100, 0, 0, 0)) if form.space == "adobe" else b""
    restart = segment(0xDD, struct.pack(">H", form.restart)) if form.restart else b""
    tables = segment(0xDB, quant) + segment(0xC0, frame) + segment(0xC4, dc) + segment(0xC4, ac)
    return b"\xff\xd8" + adobe + tables + restart + segment(0xDA, scan)


def value_bits(value):
    """Write a value as the standard does: negative ones as the complement of their amount."""
    size = abs(value).bit_length()
    return f"{value + (value < 0) * ((1 << size) - 1):0{size}b}" if size else ""


def block_bits(block, before):
    """Write 64 coefficients in zigzag order, the first as its difference from `before`."""
    difference = int(block[0]) - before
    bits = [f"{abs(difference).bit_length():05b}", value_bits(difference)]
    run = 0
    for value in map(int, block[1 : 1 + np.flatnonzero(np.append(1, block[1:])).max()]):
        if value == 0:
            run += 1
            continue
        bits += [ac_code(0xF0)] * (run // 16)
        bits += [ac_code(run % 16 << 4 | abs(value).bit_length()), value_bits(value)]
        run = 0
    ended = block[63] != 0
    return "".join(bits) + ("" if ended else ac_code(0))


def ac_code(symbol):
    return f"{symbol:09b}" if symbol < 255 else f"{255 << 1:010b}"


def packed(bits):
    """Fill the last byte with ones, and write a zero after each byte of ones."""
    bits += "1" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\x00")


def write_jpeg(form, coefficient):
    """Write a file; `coefficient(component, number)` returns the 64 of a block, in zigzag order."""
    rows, columns = form.mcus()
    numbers, before = [0, 0, 0], [0, 0, 0]
    file, bits = headers(form), []
    for mcu in range(rows * columns):
        if form.restart and mcu and mcu % form.restart == 0:
            file += packed("".join(bits)) + bytes([0xFF, 0xD0 + (mcu // form.restart - 1) % 8])
            bits, before = [], [0, 0, 0]
        for component, (h, v) in enumerate(form.factors()):
            for _ in range(1 if form.space == "gray" else h * v):
                block = coefficient(component, numbers[component])
                bits.append(block_bits(block, before[component]))
                before[component] = int(block[0])
                numbers[component] += 1
    return file + packed("".join(bits)) + b"\xff\xd9"


def outcome(file, *arguments, by_library):
    """Decode directly: pixels, or the text of the fault."""
    try:
        return _core.decode_jpeg(bytes(file), *arguments, by_library=by_library)  # type: ignore[misc]
    except RuntimeError as fault:
        return str(fault)


def check_against_libjpeg(file, *arguments):
    """Demand what libjpeg-turbo makes of a file, pixels, faults and warnings, at each SIMD level."""
    part, denominator = arguments[:2]
    warnings = [_core.jpeg_warnings(bytes(file), part, denominator, by_library=library) for library in (False, True)]
    assert warnings[0] == warnings[1]
    wanted = outcome(file, *arguments, by_library=True)
    try:
        for level in ("base", "avx2"):
            _core.force_simd_level(level)
            got = outcome(file, *arguments, by_library=False)
            if isinstance(wanted, str):
                assert got == wanted
            else:
                np.testing.assert_array_equal(got, wanted)
    finally:
        _core.force_simd_level(BEST)
