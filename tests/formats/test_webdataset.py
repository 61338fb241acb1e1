"""Tar archives and WebDataset samples: other programs, damaged archives, forged sizes."""

from __future__ import annotations

import io
import tarfile
import time
import tracemalloc

import pytest
from file_damage import changed, cut, table, with_one_less, with_one_more
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import webdataset

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def written(members):
    stream = io.BytesIO()
    writer = webdataset.TarWriter(stream)
    for name, data in members:
        writer.write(name, data)
    writer.close()
    return stream.getvalue()


def by_tarfile(members, form, **fields):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in fields.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def scanned(data):
    return webdataset.scan("a.tar", stream=io.BytesIO(data))


def contents(data):
    return [(member.name, data[member.offset : member.offset + member.size]) for member in scanned(data).members]


names = st.text("abcé/", min_size=1, max_size=180).map(lambda text: "x" + text.strip("/") + "y.jpg")
members = st.lists(st.tuples(names, st.binary(max_size=1200)), max_size=5, unique_by=lambda member: member[0])


@given(members)
def test_python_reads_what_we_write(files):
    with tarfile.open(fileobj=io.BytesIO(written(files))) as archive:
        assert [(info.name, archive.extractfile(info).read()) for info in archive] == files  # type: ignore[union-attr]


@given(members)
def test_we_read_what_we_write(files):
    data = written(files)
    assert contents(data) == files
    assert scanned(data).faults == ()


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=30)
@given(files=members)
def test_we_read_what_python_writes(form, files):
    if form == tarfile.USTAR_FORMAT:
        files = [(name[-90:], data) for name, data in files if name.isascii()]
    data = by_tarfile(files, form)
    assert contents(data) == files
    assert scanned(data).faults == ()


def test_bytes_depend_on_names_and_contents_alone():
    with tarfile.open(fileobj=io.BytesIO(written([("a.jpg", b"x")]))) as archive:
        info = archive.next()
    assert info is not None
    assert (info.mtime, info.uid, info.gid, info.uname, info.gname, info.mode) == (0, 0, 0, "", "", 0o644)


def test_sizes_in_pax_headers_and_binary_numbers_are_read():
    files = [("a.jpg", b"x" * 700), ("a.cls", b"1")]
    pax = by_tarfile(files, tarfile.PAX_FORMAT, pax_headers={"comment": "é"})
    assert contents(pax) == files
    data = bytearray(written(files))
    data[124:136] = b"\x80" + (700).to_bytes(11, "big")
    assert contents(_signed(data, 0)) == files


def _signed(data, header):
    block = bytes(data[header : header + 148]) + b" " * 8 + bytes(data[header + 156 : header + 512])
    return bytes(data[: header + 148]) + b"%06o\0 " % sum(block) + bytes(data[header + 156 :])


def test_links_devices_and_folders_are_passed_over():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("../../etc/x.jpg")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        info = tarfile.TarInfo("a.jpg")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    assert contents(stream.getvalue()) == [("a.jpg", b"x")]


def test_sparse_members_are_refused_and_the_rest_is_read():
    data = bytearray(written([(f"{name}.jpg", b"x") for name in "abcd"]))
    data[1024 + 156] = ord("S")
    found = scanned(_signed(data, 1024))
    assert [sample.key for sample in found.samples] == ["a", "c", "d"]
    assert "sparse" in found.faults[0].message


def test_samples_are_grouped_by_the_first_dot_of_the_last_part():
    files = [
        "a.b/one.jpg",
        "a.b/one.seg.png",
        "one.jpg",
        ".hidden.jpg",
        "a/.hidden",
        "two",
        "one.cls",
        "x.jpg",
        "x.jpg",
    ]
    found = scanned(written([(name, b"") for name in files]))
    assert [(s.key, s.extensions()) for s in found.samples] == [
        ("a.b/one", ("jpg", "seg.png")),
        ("one", ("jpg", "cls")),
        ("x", ("jpg", "jpg")),
    ]
    assert [fault.kind for fault in found.faults] == ["corrupt"]
    assert "twice" in found.faults[0].message


# The webdataset package


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_webdataset_package_reads_our_archives(tmp_path):
    wds = pytest.importorskip("webdataset")
    files = [(f"dir/{n:03}.{end}", f"{n} {end}".encode()) for n in range(5) for end in ("jpg", "seg.png", "cls")]
    (tmp_path / "a.tar").write_bytes(written(files))
    samples = list(wds.WebDataset(str(tmp_path / "a.tar"), shardshuffle=False))
    assert [s["__key__"] for s in samples] == [f"dir/{n:03}" for n in range(5)]
    assert [s["seg.png"] for s in samples] == [f"{n} seg.png".encode() for n in range(5)]


def test_we_read_archives_of_the_webdataset_package(tmp_path):
    wds = pytest.importorskip("webdataset")
    with wds.TarWriter(str(tmp_path / "a.tar")) as sink:
        for n in range(5):
            sink.write({"__key__": f"dir.v2/{n}", "jpg": b"image%d" % n, "cls": n, "json": {"n": n}})
    found = webdataset.scan(tmp_path / "a.tar")
    data = (tmp_path / "a.tar").read_bytes()
    assert found.faults == ()
    assert [sample.key for sample in found.samples] == [f"dir.v2/{n}" for n in range(5)]
    images = [sample.member("jpg") for sample in found.samples]
    assert [data[m.offset : m.offset + m.size] for m in images] == [b"image%d" % n for n in range(5)]  # type: ignore[union-attr]


# Index files


def test_index_files_are_read_back(tmp_path):
    found = scanned(written([("a.jpg", b"1"), ("a.cls", b"22"), ("b.jpg", b"")]))
    assert webdataset.index_text(found.samples) == b"v1.2 2\njpg 512 1 a.jpg cls 1536 2 a.cls\njpg 2560 0 b.jpg\n"
    webdataset.write_index(tmp_path / "a.idx", found.samples)
    assert webdataset.read_index(tmp_path / "a.idx") == found.samples
    (tmp_path / "a.idx").write_text("v1.1 1\njpg 512 1 cls 1536 2\n")
    (sample,) = webdataset.read_index(tmp_path / "a.idx")
    assert [(m.offset, m.size) for m in sample.members] == [(512, 1), (1536, 2)]
    assert sample.extensions()[1] == "cls"


@pytest.mark.parametrize(
    "text",
    ["", "v1.3 1\n", "v1.2 2\njpg 512 1 a.jpg\n", "v1.2 1\njpg 512 1\n", "v1.2 1\njpg -512 1 a\n", "v1.2 x\n"],
    ids=repr,
)
def test_wrong_index_files_are_refused(tmp_path, text):
    (tmp_path / "a.idx").write_text(text)
    with pytest.raises(DataError, match=r"a\.idx"):
        webdataset.read_index(tmp_path / "a.idx")


def test_names_that_an_index_cannot_hold_are_refused():
    with pytest.raises(ArgumentError, match="a b"):
        webdataset.index_text(scanned(written([("a b.jpg", b"")])).samples)


# Damage


FOUR = [(f"{n}.{end}", f"{end} of {n}".encode()) for n in range(4) for end in ("jpg", "cls")]


def read(data):
    found = scanned(data)
    samples = []
    for sample in found.samples:
        samples.append((sample.key, tuple((m.name, data[m.offset : m.offset + m.size]) for m in sample.members)))
    return samples, bool(found.faults)


def test_every_truncation_is_found_and_no_part_of_a_sample_is_given():
    data = written(FOUR)
    counts = table(read, data, (data[:length] for length in range(0, len(data), 7)))
    assert set(counts) == {"found"}
    assert set(table(read, data, (data[:-n] for n in range(1, 600)))) == {"found"}
    assert sum(1 for _ in cut(data)) == len(data)


def test_every_changed_byte_of_a_header_is_found():
    data = written(FOUR)
    header = data[:512]
    intact, _ = read(data)
    for damaged in changed(header, [1, 2, 4, 8, 16, 32, 64, 128]):
        samples, complained = read(damaged + data[512:])
        assert complained or samples == intact
        assert all(sample in intact for sample in samples)
        assert len(samples) >= 3


def test_a_byte_too_many_or_too_few_costs_at_most_two_samples():
    data = written(FOUR)
    intact, _ = read(data)
    places = range(0, len(data) - 1024, 61)
    for place in places:
        for damaged in (data[:place] + b"\1" + data[place:], data[:place] + data[place + 1 :]):
            samples, complained = read(damaged)
            assert complained
            assert all(sample in intact for sample in samples)
            assert len(samples) >= 2
    ends = [*list(with_one_more(data[-1030:], [0]))[:5], *list(with_one_less(data[-1030:]))[:5]]
    assert all(read(data[:-1030] + end)[1] for end in ends)


def test_bytes_after_the_end_are_reported():
    data = written(FOUR)
    (fault,) = scanned(data + written(FOUR)).faults
    assert (fault.kind, fault.offset) == ("corrupt", len(data))


SIZES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["0", "L", "x", "g"])
def test_forged_sizes_cost_neither_time_nor_memory(size, kind):
    data = bytearray(written(FOUR))
    data[156] = ord(kind)
    data[124:136] = b"\x80" + size.to_bytes(11, "big")
    forged = _signed(data, 0)
    tracemalloc.start()
    begun = time.process_time()
    samples, complained = read(forged)
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert complained or size < 2
    assert len(samples) >= 2 or kind != "0"
    assert seconds < 0.1
    assert peak < 2**20


@pytest.mark.parametrize(
    "record", [b"30 size=99999999999999999999\n", b"12 size=-1\n", b"9 size=\n", b"99999 path=x\n", b"size=1\n", b"3 x"]
)
def test_forged_pax_records_are_refused(record):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, kind, content in (("pax", b"x", record), ("a.jpg", b"0", b"data"), ("b.jpg", b"0", b"data")):
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content)
            archive.addfile(info, io.BytesIO(content))
    found = scanned(stream.getvalue())
    assert found.faults[0].kind in ("corrupt", "truncated")
    assert "b" in [sample.key for sample in found.samples]
