"""What worker threads take: the memory that the largest sample needs at once, and of packed images their headers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from encoded_images import encode

import pixelmill as pm
from pixelmill import _core, fn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/status")

MEGABYTE = 1 << 20


def status(field):
    """Return a number of this process: the peak of its resident memory is VmHWM, what it has mapped is VmData."""
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) << 10


def archive(path, images):
    """Write packed images into a tar file."""
    book = _core.PackCodebook(_core.default_pack_codebook())
    with tarfile.open(path, "w") as out:
        for number, pixels in enumerate(images):
            data = _core.pack_image(bytes(encode(pixels, "JPEG", quality=95)), book)
            header = tarfile.TarInfo(f"{number}.jpg")
            header.size = len(data)
            out.addfile(header, BytesIO(data))


def read(path, graph):
    """Return the pipeline of a graph that reads the images one after the other in one thread."""

    @pm.pipeline_def(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    def pipeline():
        return graph(fn.readers.webdataset(paths=[str(path)], ext=["jpg"]))

    made = pipeline()
    made.build()
    return made


def growths(pipe, count, field="VmData"):
    """Return by how much a number of this process grows with each batch."""
    found = []
    for _ in range(count):
        before = status(field)
        pipe.run()
        found.append(status(field) - before)
    return found


def noise(height, width):
    return np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)


def test_of_a_large_packed_image_the_header_alone_takes_memory(tmp_path):
    path = tmp_path / "images.tar"
    archive(path, [noise(200, 200), noise(200, 200), noise(200, 200), noise(3000, 3000)])
    assert path.stat().st_size > 12 * MEGABYTE
    pipe = read(path, lambda encoded: fn.decoders.image_crop(encoded, crop=(64, 64)))
    assert growths(pipe, 4)[-1] < 4 * MEGABYTE


def test_decodes_of_a_sample_use_the_same_memory(tmp_path):
    """Each of these needs some 200 kB besides its pixels, which are 38 kB."""
    path = tmp_path / "images.tar"
    archive(path, [noise(800, 1600)] * 3)

    def graph(encoded, count):
        windows = [fn.decoders.image_crop(encoded, crop=(8, 1600), crop_pos_y=number / 40) for number in range(count)]
        return fn.reductions.mean(fn.cat(*windows, axis=0))

    few, many = (sum(growths(read(path, partial(graph, count=count)), 3)) for count in (2, 40))
    assert many - few < 5 * MEGABYTE


PROGRAM = """
import sys
import pixelmill as pm
from pixelmill import fn
from test_decoding_memory import growths

@pm.pipeline_def(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
def pipeline():
    return fn.reductions.mean(fn.decoders.image(fn.readers.file(files=sys.argv[1:])[0]))

made = pipeline()
made.build()
print(sum(growths(made, 3, "VmHWM")))
"""


def test_memory_that_a_block_of_an_arena_wastes_is_given_back(tmp_path):
    """The third image, of 48 MB, does not fit into the block of the first two, of 39 MB, which is all resident."""
    files = []
    for number, side in enumerate((3600, 3600, 4000)):
        files.append(str(tmp_path / f"{number}.jpg"))
        Path(files[-1]).write_bytes(bytes(encode(np.full((side, side, 3), 90, np.uint8), "JPEG")))
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *files],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 70 * MEGABYTE
