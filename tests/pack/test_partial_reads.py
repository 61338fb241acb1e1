"""Windows of packed images in record files: the same pixels, and only the bytes that they need are read."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest
from encoded_images import color, encode

import pixelmill as pm
from pixelmill import _core, fn

SAMPLES, HEIGHT, WIDTH = 6, 512, 400


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Write the same images twice: as JPEG files and packed."""
    folder = tmp_path_factory.mktemp("archives")
    book = _core.PackCodebook(_core.default_pack_codebook())
    files = [bytes(encode(color(i, HEIGHT, WIDTH), "JPEG", quality=92)) for i in range(SAMPLES)]
    paths = {}
    for name, members in (("jpeg", files), ("packed", [_core.pack_image(file, book) for file in files])):
        paths[name] = folder / f"{name}.tar"
        write_archive(paths[name], members)
    return paths


def write_archive(path, members):
    """Write images into a tar file, without labels."""
    with tarfile.open(path, "w") as archive:
        for number, data in enumerate(members):
            header = tarfile.TarInfo(f"{number}.jpg")
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))


def batches(path, graph, *, optimize=True, epochs=2):
    """Run a graph; return the samples, and the bytes read for each of them after the first batch."""

    @pm.pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=3, prefetch_queue_depth=1)
    def pipeline():
        return graph(fn.readers.webdataset(paths=[str(path)], ext=["jpg"]))

    made = pipeline(optimize=optimize)
    made.build()
    found = [np.asarray(sample) for sample in made.run()[0]]
    before, count = _core.bytes_read(), 0
    for _ in range(epochs * SAMPLES // 2):
        found += [np.asarray(sample) for sample in made.run()[0]]
        count += 2
    return found, (_core.bytes_read() - before) / count


def rows(encoded, position):
    """Decode 64 rows."""
    return fn.decoders.image_crop(encoded, crop=(64, WIDTH), crop_pos_y=position)


GRAPHS = {
    "whole": (lambda encoded: fn.decoders.image(encoded), 1.0),
    "rows": (lambda encoded: rows(encoded, 0.3), 0.4),
    "gray": (lambda encoded: fn.decoders.image(encoded, output_type=pm.types.GRAY), 0.95),
    "scaled": (lambda encoded: fn.resize(fn.decoders.image(encoded), size=(64, 64)), 1.0),
    "crop": (lambda encoded: fn.decoders.image_random_crop(encoded, seed=7, random_area=(0.1, 0.2)), 0.75),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_pixels_are_those_of_the_files(archives, name):
    graph, most = GRAPHS[name]
    wanted, _ = batches(archives["jpeg"], graph)
    got, read = batches(archives["packed"], graph)
    for ours, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert read < most * archives["packed"].stat().st_size / SAMPLES


LARGE_SAMPLES, LARGE_HEIGHT, LARGE_WIDTH = 3, 1400, 1100


def test_images_that_are_read_in_several_groups(tmp_path):
    """Noise of more than 1 MB a file: bands are read as they are unpacked, whichever sections are needed."""
    paths = {"jpeg": tmp_path / "jpeg.tar", "packed": tmp_path / "packed.tar"}
    book = _core.PackCodebook(_core.default_pack_codebook())
    pixels = np.random.default_rng(5).integers(0, 256, (LARGE_SAMPLES, LARGE_HEIGHT, LARGE_WIDTH, 3), np.uint8)
    files = [bytes(encode(image, "JPEG", quality=90)) for image in pixels]
    for name, members in (("jpeg", files), ("packed", [_core.pack_image(file, book) for file in files])):
        write_archive(paths[name], members)
    assert min(map(len, files)) > 8 * (128 << 10)
    graphs = {
        "whole": (lambda encoded: fn.decoders.image(encoded), 1.0),
        "gray": (lambda encoded: fn.decoders.image(encoded, output_type=pm.types.GRAY), 0.95),
        "rows": (
            lambda encoded: fn.decoders.image_crop(encoded, crop=(LARGE_HEIGHT // 2, LARGE_WIDTH), crop_pos_y=0.6),
            0.6,
        ),
        "eighth": (lambda encoded: fn.resize(fn.decoders.image(encoded), size=(64, 64)), 0.5),
    }
    for graph, most in graphs.values():
        wanted, _ = batches(paths["jpeg"], graph)
        got, read = batches(paths["packed"], graph)
        for ours, theirs in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert read < most * paths["packed"].stat().st_size / LARGE_SAMPLES


@pytest.mark.parametrize("at_once", [1, 20_000, 60_000, 1 << 20])
def test_bands_are_read_together_while_there_is_room_for_them(at_once):
    """A band that is larger than what is read at once is read alone."""
    book = _core.PackCodebook(_core.default_pack_codebook())
    pixels = np.random.default_rng(6).integers(0, 256, (640, 320, 3), np.uint8)
    packed = _core.pack_image(bytes(encode(pixels, "JPEG", quality=90)), book)
    part = (0, 0, 640, 320)
    bands = [sum(length for _, _, length in group) for group in groups_of(packed, part, 1)]
    groups = groups_of(packed, part, at_once)
    sizes = [sum(length for _, _, length in group) for group in groups]
    assert sum(sizes) == sum(bands) and len(bands) > 10
    expected: list[int] = []
    for band in bands:
        if expected and expected[-1] + band <= at_once:
            expected[-1] += band
        else:
            expected.append(band)
    assert sizes == expected
    room = max(at_once, *bands)
    assert all(place + length <= room for group in groups for place, _, length in group)


def groups_of(packed, part, at_once):
    """Return the reads of each group of bands, which begins where the memory for it does."""
    groups: list[list[tuple[int, int, int]]] = []
    for read in _core.packed_reads(packed, part, at_once=at_once):
        if read[0] == 0:
            groups.append([])
        groups[-1].append(read)
    return groups


def test_two_decodes_of_one_image(archives):
    """The second one reads what it needs itself."""

    def graph(encoded):
        return fn.cat(rows(encoded, 0.0), rows(encoded, 0.9), axis=0)

    wanted, _ = batches(archives["jpeg"], graph)
    got, read = batches(archives["packed"], graph)
    for ours, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert read < 0.6 * archives["packed"].stat().st_size / SAMPLES


def test_images_that_leave_the_program_are_whole(archives):
    """Alone, and beside a decode of them."""
    for optimize in (True, False):
        got, read = batches(archives["packed"], lambda encoded: encoded, optimize=optimize)
        assert read >= sum(sample.size for sample in got[2:]) / len(got[2:])
        restored = [_core.restore_image(sample.tobytes()) for sample in got]
        wanted, _ = batches(archives["jpeg"], lambda encoded: encoded)
        assert restored == [sample.tobytes() for sample in wanted]


def test_damage_outside_of_the_window_is_not_met(archives, tmp_path):
    data = bytearray(archives["packed"].read_bytes())
    start = data.index(b"\x89PMI")
    length = int(data[124:135], 8)
    data[start + length - 40] ^= 1  # in the bytes around the scan
    damaged = tmp_path / "damaged.tar"
    damaged.write_bytes(data)
    graph, _ = GRAPHS["rows"]
    for ours, theirs in zip(batches(damaged, graph)[0], batches(archives["packed"], graph)[0], strict=True):
        np.testing.assert_array_equal(ours, theirs)
