"""RecordIO: the bytes worked out by hand, damaged files, forged lengths."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc

import pytest
from file_damage import changed, cut, table, with_one_less, with_one_more
from hypothesis import given
from hypothesis import strategies as st
from locations import GOLDEN

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import recordio

MAGIC = bytes.fromhex("0a23d7ce")


def written(payloads):
    stream = io.BytesIO()
    with recordio.RecordWriter(stream) as writer:
        places = [writer.write(payload) for payload in payloads]
    return stream.getvalue(), places


def test_images_are_written_as_pack_makes_them():
    stream = io.BytesIO()
    images = [([1.0], b"abc"), ([1.0, 2.0], MAGIC + b"abcd" + MAGIC), ([3.0], MAGIC), ([4.0], bytes(3_000_001))]
    with recordio.RecordWriter(stream) as writer:
        places = [writer.write_image(labels, number, image) for number, (labels, image) in enumerate(images)]
    for number, ((labels, image), (begin, length)) in enumerate(zip(images, places, strict=True)):
        framed = stream.getvalue()[begin : begin + length]
        assert framed == recordio.frame(recordio.pack(labels, number, image))
        assert recordio.unframe(framed) == recordio.pack(labels, number, image)
    assert sum(places[-1]) == len(stream.getvalue())


def scanned(data):
    found = recordio.scan("a.rec", stream=io.BytesIO(data), verify=True)
    places = list(zip(found.index.offsets.tolist(), found.index.lengths.tolist(), strict=True))
    return places, found.faults


# Bytes worked out by hand from the description of the format


VECTORS = {
    "three bytes": (b"abc", "0a23d7ce 03000000 61626300"),
    "four bytes": (b"abcd", "0a23d7ce 04000000 61626364"),
    "nothing": (b"", "0a23d7ce 00000000"),
    # The magic word alone: a first part and a last part, both empty.
    "magic": (MAGIC, "0a23d7ce 00000020 0a23d7ce 00000060"),
    "magic inside": (b"1234" + MAGIC + b"5", "0a23d7ce 04000020 31323334 0a23d7ce 01000060 35000000"),
    "magic twice": (MAGIC * 2, "0a23d7ce 00000020 0a23d7ce 00000040 0a23d7ce 00000060"),
    "magic out of step": (b"1" + MAGIC, "0a23d7ce 05000000 310a23d7 ce000000"),
}


@pytest.mark.parametrize("case", VECTORS)
def test_frames_are_those_worked_out_by_hand(case):
    payload, expected = VECTORS[case]
    assert recordio.frame(payload).hex() == expected.replace(" ", "")
    assert recordio.unframe(recordio.frame(payload)) == payload


def test_image_records_are_those_worked_out_by_hand():
    one = "00000000 00004040 0700000000000000 0000000000000000 ffd8"
    assert recordio.pack([3.0], 7, b"\xff\xd8").hex() == one.replace(" ", "")
    two = "02000000 00000000 0700000000000000 0000000000000000 0000803f 000020c0 ffd8"
    assert recordio.pack([1.0, -2.5], 7, b"\xff\xd8").hex() == two.replace(" ", "")
    assert recordio.unpack(bytes.fromhex(two)) == (recordio.Header((1.0, -2.5), 7), b"\xff\xd8")


payloads = st.lists(
    st.lists(st.sampled_from([MAGIC, b"a", b"bcd", b"1234", MAGIC[:2], bytes(40)]), max_size=9).map(b"".join),
    max_size=6,
)


@given(payloads)
def test_what_is_written_is_read(records):
    data, places = written(records)
    assert scanned(data) == (places, ())
    assert [recordio.unframe(data[start : start + length]) for start, length in places] == records


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=5), st.integers(0, 2**64 - 1), st.binary())
def test_labels_and_numbers_are_kept(labels, identifier, image):
    header, found = recordio.unpack(recordio.pack(labels, identifier, image))
    assert (header.labels, header.identifier, found) == (tuple(labels), identifier, image)


def test_index_and_list_files(tmp_path):
    recordio.write_index(tmp_path / "a.idx", [(0, 0), (5, 40)])
    assert (tmp_path / "a.idx").read_text() == "0\t0\n5\t40\n"
    assert recordio.read_index(tmp_path / "a.idx") == [(0, 0), (5, 40)]
    entries = [recordio.ListEntry(0, (1.0,), "a b/c.jpg"), recordio.ListEntry(1, (1.0, 2.5), "é.jpg")]
    recordio.write_list(tmp_path / "a.lst", entries)
    assert (tmp_path / "a.lst").read_text("utf-8") == "0\t1.000000\ta b/c.jpg\n1\t1.000000\t2.500000\té.jpg\n"
    assert recordio.read_list(tmp_path / "a.lst") == entries
    for text in ("a\tb\tc\n", "1 2 c.jpg\n", "1\tx.jpg\n"):
        (tmp_path / "a.lst").write_text(text)
        with pytest.raises(DataError, match="line 1"):
            recordio.read_list(tmp_path / "a.lst")
    with pytest.raises(ArgumentError):
        recordio.list_text([recordio.ListEntry(0, (1.0,), "a\tb.jpg")])


def test_other_formats_are_recognised():
    for data, name in ((b"\x1f\x8b" + bytes(20), "gzip"), (bytes(257) + b"ustar" + bytes(250), "tar")):
        places, faults = scanned(data)
        assert places == []
        assert faults[0].kind == "wrong_format"
        assert name in faults[0].message


# Damage


SAMPLES = [
    ([3.0], b"first image"),
    ([1.0, 2.5], b"second, with two labels"),
    ([7.0], b"1234" + MAGIC + b"5678"),
    ([9.0], b"last"),
]


def read(data):
    places, faults = scanned(data)
    samples, complained = [], bool(faults)
    for start, length in places:
        try:
            samples.append(recordio.unpack(recordio.unframe(data[start : start + length])))
        except DataError:
            complained = True
    return samples, complained


def four_records():
    return written([recordio.pack(labels, n, image) for n, (labels, image) in enumerate(SAMPLES)])


def test_every_changed_byte_of_a_frame_is_found_and_costs_at_most_two_records():
    data, places = four_records()
    intact, _ = read(data)
    frames = [start + n for start, _ in places for n in range(8)]
    for damaged_place in frames:
        for flip in range(1, 256):
            damaged = bytearray(data)
            damaged[damaged_place] ^= flip
            samples, complained = read(bytes(damaged))
            right = [sample for sample in samples if sample in intact]
            assert complained or len(samples) == 4
            assert len(right) >= 2


def test_every_truncation_is_found():
    data, places = four_records()
    counts = table(read, data, (part for part in cut(data) if len(part) not in {start for start, _ in places}))
    assert set(counts) == {"found"}


def test_a_byte_too_many_or_too_few_is_found():
    data, _ = four_records()
    for damages in (with_one_more(data), with_one_less(data)):
        counts = table(read, data, damages)
        assert counts["silent"] == 0
        assert counts["found, wrong"] == 0


def test_changed_bytes_of_payloads_cannot_be_found():
    """There are no checksums; what the frames do not tell is not known. docs/formats.md has the whole table."""
    data, _ = four_records()
    counts = table(read, data, changed(data, [1, 128, 255]))
    assert counts["silent"] > 0
    assert counts["found"] > 0


LENGTHS = [0, 1, 5, 2**16, 2**29 - 1]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("flag", range(8))
def test_forged_lengths_cost_neither_time_nor_memory(flag, length):
    data, places = four_records()
    for start, _ in places:
        forged = bytearray(data)
        struct.pack_into("<I", forged, start + 4, flag << 29 | length)
        tracemalloc.start()
        begun = time.process_time()
        samples, complained = read(bytes(forged))
        seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert complained or bytes(forged) == data
        assert len(samples) >= 2
        assert seconds < 0.1
        assert peak < 2**20


def test_many_heads_that_lead_into_one_chain_take_linear_time():
    """Every head promises a long record of parts that never ends; the parts are walked once."""
    chain = MAGIC + struct.pack("<I", 2 << 29)
    count = 4000
    heads = b"".join(MAGIC + struct.pack("<I", 1 << 29 | 8 * (count - n - 1)) for n in range(count))
    begun = time.process_time()
    places, faults = scanned(heads + chain * count)
    assert time.process_time() - begun < 2
    assert places == []
    assert faults


# MXNet itself: golden/write_recordio.py made the files


OF_MXNET = [
    ((3.0,), b"first image"),
    ((1.0, 2.5, -4.0), b"image with three labels"),
    ((7.0,), b""),
    ((8.0,), b"1234" + MAGIC + b"5678"),
    ((9.0,), MAGIC * 3),
    ((2.0, 3.0), b"unaligned " + MAGIC + b" magic"),
    ((5.0,), bytes(range(256)) * 4),
]


def test_our_bytes_are_those_of_mxnet():
    data, places = written([recordio.pack(labels, n, image) for n, (labels, image) in enumerate(OF_MXNET)])
    assert data == (GOLDEN / "mxnet.rec").read_bytes()
    index = recordio.index_text((number, start) for number, (start, _) in enumerate(places))
    assert index == (GOLDEN / "mxnet.idx").read_bytes()


def test_records_of_mxnet_are_read():
    data = (GOLDEN / "mxnet.rec").read_bytes()
    found = recordio.scan(GOLDEN / "mxnet.rec")
    assert found.faults == ()
    spans = zip(found.index.offsets.tolist(), found.index.lengths.tolist(), strict=True)
    records = [recordio.unpack(recordio.unframe(data[start : start + length])) for start, length in spans]
    assert [(header.labels, image) for header, image in records] == OF_MXNET
    assert [header.identifier for header, _ in records] == list(range(7))
