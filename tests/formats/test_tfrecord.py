"""TFRecord framing against TensorFlow, and against every small damage there is."""

from __future__ import annotations

import errno
import io
import resource
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError, OutputError
from pixelmill.formats import example, tfrecord
from pixelmill.formats.faults import RecordFault

PAYLOADS = (b"first record", bytes(range(40)), b"", b"the last of the records, a little longer than the others")


def file_of(payloads: tuple[bytes, ...]) -> bytes:
    return b"".join(map(tfrecord.frame, payloads))


def payloads_of(data: bytes, *, verify: bool) -> tuple[list[bytes], tuple[RecordFault, ...]]:
    """Scan, then read what the index has; records that fail then are faults as well."""
    scan = tfrecord.scan_bytes(data, verify=verify)
    read, failed = [], []
    for offset, length in zip(scan.index.offsets, scan.index.lengths, strict=True):
        try:
            read.append(tfrecord.payload(data[offset : offset + length]))
        except DataError as error:
            failed += error.events
    return read, (*scan.faults, *failed)


# Checksums


def test_checksum_of_known_vectors() -> None:
    # RFC 3720, B.4
    vectors = {
        bytes(32): 0x8A9136AA,
        b"\xff" * 32: 0x62A8AB43,
        bytes(range(32)): 0x46DD794E,
        bytes(range(31, -1, -1)): 0x113FDB5C,
        b"123456789": 0xE3069283,
        b"": 0,
    }
    for data, expected in vectors.items():
        assert _core.crc32c(data) == _core.crc32c_portable(data) == expected


@given(st.integers(0, 20_000), st.integers(0, 20_000), st.integers(0, 2**32 - 1))
def test_checksum_levels_agree_and_continue(length: int, cut: int, seed: int) -> None:
    data = np.random.default_rng(seed).bytes(length)
    whole = _core.crc32c(data)
    assert whole == _core.crc32c_portable(data)
    assert whole == _core.crc32c(data[cut:], _core.crc32c(data[:cut]))


# Framing


def test_frame_is_what_the_format_says() -> None:
    framed = tfrecord.frame(b"abc")
    assert framed[:8] == struct.pack("<Q", 3)
    for data, stored in ((framed[:8], framed[8:12]), (b"abc", framed[15:])):
        crc = _core.crc32c_portable(data)
        assert struct.unpack("<I", stored)[0] == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_writer_gives_places(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tfrecord.RecordWriter(stream) as writer:
        places = [writer.write(payload) for payload in PAYLOADS]
    assert stream.getvalue() == file_of(PAYLOADS)
    scan = tfrecord.scan_bytes(stream.getvalue())
    assert places == list(zip(scan.index.offsets, scan.index.lengths, strict=True))


@pytest.mark.parametrize("buffering", [-1, 0])
def test_writer_of_files_writes_what_the_one_of_streams_does(tmp_path: Path, buffering: int) -> None:
    rng = np.random.default_rng(0)
    payloads = [rng.bytes(size) for size in (5, 100_000, 3, 20_000, 16_384, 16_383, 0, 3_000_000)]
    pieces = [[data[i : i + 1000] for i in range(0, len(data), 1000)] for data in payloads]  # more than one call takes
    expected = file_of((*payloads, *payloads))
    with (tmp_path / "file").open("wb", buffering=buffering) as stream:
        with tfrecord.RecordWriter(stream) as writer:
            places = [writer.write(payload) for payload in [*payloads, *pieces]]
        assert stream.tell() == len(expected) == sum(places[-1])
    assert (tmp_path / "file").read_bytes() == expected


def test_full_disk_is_an_error() -> None:
    with Path("/dev/full").open("wb", buffering=0) as stream:
        writer = tfrecord.RecordWriter(stream)
        writer.write(bytes(100_000))
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
        with pytest.raises(OSError, match="No space left"):
            writer.write(bytes(2_000_000))


def test_stream_that_takes_a_part_at_a_time_gets_everything() -> None:
    class Slow(io.RawIOBase):
        got = b""

        def write(self, data: Any) -> int:
            self.got += bytes(data[:7000])
            return min(len(data), 7000)

    class Full(io.RawIOBase):
        def write(self, data: Any) -> int:
            return 0

    payload = np.random.default_rng(1).bytes(2_500_000)
    slow = Slow()
    with tfrecord.RecordWriter(slow) as writer:
        writer.write(payload)
    assert slow.got == tfrecord.frame(payload)
    writer = tfrecord.RecordWriter(Full())
    writer.write(b"abc")
    with pytest.raises(OutputError, match="takes no more bytes, 19 are left"):
        writer.flush()


def test_room_that_is_not_needed_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as stream:
        stream.write(b"in front")
        with tfrecord.RecordWriter(stream, position=8) as writer:
            assert writer.write(bytes(5_000_000)) == (8, 5_000_016)
    status = path.stat()
    assert status.st_size == 5_000_024
    assert status.st_blocks * 512 < 5_100_000
    assert path.read_bytes() == b"in front" + tfrecord.frame(bytes(5_000_000))


class Yielding(io.BytesIO):
    """Lets other threads run while it takes bytes, as files do."""

    def write(self, data: Any) -> int:
        time.sleep(0.001)
        return super().write(data)


@pytest.mark.parametrize("kind", [io.BytesIO, Yielding])
@pytest.mark.parametrize("step", [997, 99_991])
def test_threads_may_share_a_writer(kind: type[io.BytesIO], step: int) -> None:
    """Short records are written with the interpreter's lock held, long ones without it."""
    stream = kind()
    payloads = [bytes([number]) * (1 + step * (number % 20)) for number in range(200)]
    with tfrecord.RecordWriter(stream) as writer, ThreadPoolExecutor(4) as pool:
        places = list(pool.map(writer.write, payloads))
    data = stream.getvalue()
    assert len(data) == sum(length for _, length in places)
    for payload, (offset, length) in zip(payloads, places, strict=True):
        assert data[offset : offset + length] == tfrecord.frame(payload)


@given(st.lists(st.binary(max_size=50), max_size=6))
def test_pieces_are_one_payload(pieces: list[bytes]) -> None:
    stream = io.BytesIO()
    with tfrecord.RecordWriter(stream) as writer:
        writer.write(pieces)
    assert stream.getvalue() == tfrecord.frame(b"".join(pieces))


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("count", [0, 1, 5, 3000])
def test_file_is_scanned_as_memory_is(tmp_path: Path, verify: bool, count: int) -> None:
    rng = np.random.default_rng(count)
    payloads = tuple(rng.bytes(int(rng.integers(0, 9000))) for _ in range(count))
    data = file_of(payloads)
    path = tmp_path / "data"
    path.write_bytes(data)
    found = tfrecord.scan(str(path), verify=verify)
    other = tfrecord.scan_bytes(data, verify=verify)
    assert not found.faults and not other.faults
    assert found.index.offsets.tolist() == other.index.offsets.tolist()
    assert found.index.lengths.tolist() == other.index.lengths.tolist() == [len(p) + 16 for p in payloads]
    assert list(tfrecord.read_records(str(path))) == list(payloads)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ArgumentError, match=r"tfrecord: .*" + str(path)):
            tfrecord.scan(str(path))


# Damage


def hit_record(position: int) -> int:
    """Return the record that a byte of the whole file belongs to."""
    ends = np.cumsum([len(payload) + 16 for payload in PAYLOADS])
    return int(np.searchsorted(ends, position, side="right"))


def without(number: int) -> list[bytes]:
    return [payload for other, payload in enumerate(PAYLOADS) if other != number]


@pytest.mark.parametrize("verify", [False, True])
def test_every_byte_with_every_value_costs_its_record(verify: bool) -> None:
    data = file_of(PAYLOADS)
    for position in range(len(data)):
        expected = without(hit_record(position))
        for value in range(256):
            if value == data[position]:
                continue
            damaged = data[:position] + bytes([value]) + data[position + 1 :]
            read, faults = payloads_of(damaged, verify=verify)
            assert read == expected, (position, value)
            assert len(faults) == 1, (position, value)


@pytest.mark.parametrize("verify", [False, True])
def test_every_truncation_costs_the_cut_record_and_those_after_it(verify: bool) -> None:
    data = file_of(PAYLOADS)
    ends = [0, *np.cumsum([len(payload) + 16 for payload in PAYLOADS])]
    for length in range(len(data)):
        read, faults = payloads_of(data[:length], verify=verify)
        assert read == list(PAYLOADS[: hit_record(length)])
        assert [fault.kind for fault in faults] == ([] if length in ends else ["truncated"])


@pytest.mark.parametrize("verify", [False, True])
def test_every_inserted_byte_costs_at_most_its_record(verify: bool) -> None:
    """A byte between two records, or one that only moves an equal one to there, costs none; any other costs one."""
    data = file_of(PAYLOADS)
    ends = {0, *np.cumsum([len(payload) + 16 for payload in PAYLOADS])}
    for position in range(len(data) + 1):
        for value in range(256):
            damaged = data[:position] + bytes([value]) + data[position:]
            read, faults = payloads_of(damaged, verify=verify)
            # Inserting a byte beside its like is inserting it anywhere in that run of equal bytes.
            low, high = position, position
            while low > 0 and data[low - 1] == value:
                low -= 1
            while high < len(data) and data[high] == value:
                high += 1
            between = ends & set(range(low, high + 1))
            assert read == (list(PAYLOADS) if between else without(hit_record(position))), (position, value)
            assert len(faults) == 1


@pytest.mark.parametrize("verify", [False, True])
def test_every_deleted_byte_costs_its_record(verify: bool) -> None:
    data = file_of(PAYLOADS)
    for position in range(len(data)):
        read, faults = payloads_of(data[:position] + data[position + 1 :], verify=verify)
        assert read == without(hit_record(position)), position
        assert len(faults) == 1


# TensorFlow


def test_tensorflow_reads_ours_and_we_read_its(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    payloads = [*PAYLOADS, "ünicode".encode(), bytes(100_000_000)]
    ours, theirs, packed = (str(tmp_path / name) for name in ("ours", "theirs", "packed"))
    with Path(ours).open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for payload in payloads:
            writer.write(payload)
    with tf.io.TFRecordWriter(theirs) as other, tf.io.TFRecordWriter(packed, "GZIP") as zipped:
        for payload in payloads:
            other.write(payload)
            if len(payload) < 1000:
                zipped.write(payload)
    assert Path(ours).read_bytes() == Path(theirs).read_bytes()
    assert [record.numpy() for record in tf.data.TFRecordDataset(ours)] == payloads
    assert list(tfrecord.read_records(theirs)) == payloads
    assert list(tfrecord.read_records(packed)) == payloads[:-1]


# Lengths that lie

FORGED = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, *range(2**64 - 17, 2**64)]


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("record", range(4))
def test_forged_lengths_are_found_at_once(tmp_path: Path, record: int, verify: bool) -> None:
    """The checksum of the length is right, the length is not."""
    data = file_of(PAYLOADS)
    begin = sum(len(payload) + 16 for payload in PAYLOADS[:record])
    left = len(data) - begin
    path = tmp_path / "forged"
    for length in {*FORGED, left - 17, left - 16, left - 15, left - 1, left, left + 1} - {len(PAYLOADS[record])}:
        head, _ = _core.tfrecord_frame(length, 0)
        path.write_bytes(data[:begin] + head + data[begin + 12 :])
        before, start = peak_memory(), time.process_time()
        scan = tfrecord.scan(str(path), verify=verify)
        read, faults = payloads_of(path.read_bytes(), verify=verify)
        assert time.process_time() - start < 0.1
        assert peak_memory() - before < 16 << 20
        # A length that leads exactly to the end of the file is believed: all that it covers is lost, and named.
        assert read == (list(PAYLOADS[:record]) if length == left - 16 else without(record)), length
        assert len(faults) == 1 and (scan.faults or not verify)


def test_many_lying_heads_cost_bounded_time() -> None:
    """Each head announces everything after it; the payloads are looked at a bounded number of times."""
    size = 1 << 20
    heads = [_core.tfrecord_frame(size - 12 * number - 17, 0)[0] for number in range(size // 12 - 2)]
    data = b"".join(heads).ljust(size, b"\0")
    start = time.process_time()
    scan = tfrecord.scan_bytes(data, verify=True)
    assert time.process_time() - start < 2
    assert not len(scan.index)
    assert "too much is damaged" in scan.faults[-1].message
    assert sum(fault.length for fault in scan.faults) == size


def test_a_limit_is_a_limit() -> None:
    scan = tfrecord.scan_bytes(file_of(PAYLOADS), record_bytes=40)
    assert [fault.kind for fault in scan.faults] == ["too_large"]
    assert len(scan.index) == 3


# The index file


def test_index_is_the_one_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(file_of(PAYLOADS))
    index = tfrecord.scan(str(path)).index
    tfrecord.write_index(f"{path}.idx", index)
    assert Path(f"{path}.idx").read_text() == "0 28\n28 56\n84 16\n100 72\n"
    again = tfrecord.read_index(f"{path}.idx", data=str(path))
    assert again.offsets.tolist() == index.offsets.tolist() and again.lengths.tolist() == index.lengths.tolist()


@pytest.mark.parametrize("sizes", [(0, 1, 100), ((1 << 20) - 80, (1 << 20) + 1, 0, 3_000_007, 5)])
def test_wrapped_files_are_what_the_writer_writes(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    expected, wrapped = tmp_path / "expected", tmp_path / "wrapped"
    files = [(tmp_path / f"{number}.jpg", rng.bytes(size)) for number, size in enumerate(sizes)]
    for path, data in files:
        path.write_bytes(data)
    with expected.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for number, (_, data) in enumerate(files):
            label = example.int64_feature(number)
            writer.write_example({"image/encoded": example.bytes_feature(data), "image/class/label": label})
    items = [(bytes(path), number, number) for number, (path, _) in enumerate(files)]
    with wrapped.open("wb") as stream:
        offsets, size, failed, error = _core.wrap_files("tfrecord", stream.fileno(), items)
    assert (size, failed, error) == (sum(sizes), -1, 0)
    assert wrapped.read_bytes() == expected.read_bytes()
    assert offsets == tfrecord.scan(str(wrapped)).index.offsets.tolist()
    assert wrapped.stat().st_blocks * 512 < wrapped.stat().st_size + (1 << 17)
    files[1][0].unlink()
    with wrapped.open("wb") as stream:
        assert _core.wrap_files("tfrecord", stream.fileno(), items)[2:] == (1, errno.ENOENT)
    with Path("/dev/full").open("wb") as stream:
        assert _core.wrap_files("tfrecord", stream.fileno(), items[:1])[2:] == (-2, errno.ENOSPC)
