"""Arithmetic-coded JPEG files of a few kilobytes that declare the largest image allowed."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from pixelmill import Pipeline, fn
from pixelmill.codecs import decode_image
from pixelmill.errors import DataError

SIDE = 11_584  # squared, just below the limit of 2**27 pixels
MOST = 96 << 20  # bytes; the coefficients of such an image take 768 MiB


PROGRESSIVE, SEQUENTIAL = 0xCA, 0xC9
CASES = {  # the kind of frame, and the headers of its scans
    "progressive": (PROGRESSIVE, [bytes([3, 1, 0, 2, 0, 3, 0, 0, 0, 0])]),
    "several scans": (SEQUENTIAL, [bytes([1, component, 0, 0, 63, 0]) for component in (1, 2, 3)]),
    "one scan": (SEQUENTIAL, [bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])]),
}


def jpeg(case: str, *, side: int = SIDE, fill: int = 3000) -> bytes:
    """Make the headers of an image and of its scans, with noise for data."""
    kind, scans = CASES[case]
    frame = bytes([8]) + side.to_bytes(2, "big") * 2 + bytes([3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    parts = [b"\xff\xd8", b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)]
    parts.append(bytes([0xFF, kind]) + (len(frame) + 2).to_bytes(2, "big") + frame)
    noise = np.random.default_rng(3).integers(0, 255, fill // len(scans), np.uint8).tobytes()
    for scan in scans:
        parts += [b"\xff\xda" + (len(scan) + 2).to_bytes(2, "big") + scan, noise]
    return b"".join(parts) + b"\xff\xd9"


@pytest.mark.parametrize("case", CASES)
def test_a_large_image_in_a_small_file_is_refused(case: str) -> None:
    data = jpeg(case)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        encoded = fn.external_source(source=lambda: [np.frombuffer(data, np.uint8)])
        pipeline.set_outputs(fn.decoders.image(encoded))
    with pytest.raises(DataError, match=f"{SIDE} x {SIDE} pixels in {len(data)} bytes") as caught:
        pipeline.run()
    pipeline.close()
    assert [event.kind for event in caught.value.events] == ["too_large"]


@pytest.mark.parametrize("case", CASES)
def test_it_takes_no_memory(case: str) -> None:
    program = """
import resource, sys
from pixelmill.codecs import decode_image
from pixelmill.errors import DataError
data = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(3):
    try:
        decode_image(data)
        raise SystemExit("decoded")
    except DataError:
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=jpeg(case),
        capture_output=True,
        check=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert int(done.stdout) < MOST


@pytest.mark.parametrize("case", CASES)
def test_smaller_images_and_larger_files_are_not_taken_for_bombs(case: str) -> None:
    """Noise is at most damaged; what is refused is the size alone."""
    for side, fill in ((2048, 3000), (4096, 40_000)):
        try:
            decode_image(jpeg(case, side=side, fill=fill))
        except DataError as error:
            assert [event.kind for event in error.events] != ["too_large"]
