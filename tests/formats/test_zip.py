"""Zip archives: read beside Python's zipfile and Info-ZIP, written for them, and checked against hostile ones."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, mask_of, odd_samples, plain_samples, write
from file_damage import changed, cut, table, with_one_less, with_one_more
from hypothesis import given
from hypothesis import strategies as st

from pixelmill import convert, index, info, verify
from pixelmill.benchmark.selection import select
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import scan_cache, zip
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Sample
from pixelmill.formats.zip import checks
from pixelmill.formats.zip.scan import cached_scan

SCAN = sys.modules["pixelmill.formats.zip.scan"]  # `zip.scan` is the function
FILES = {"cat/1.jpg": b"\xff\xd8\xff one", "cat/2.jpg": b"", "dög/3.png": b"three" * 40, "x.txt": b"text"}


def written(files: dict[str, bytes] = FILES, *, position: int = 0) -> bytes:
    stream = io.BytesIO()
    writer = zip.ArchiveWriter(stream, position=position)
    for name, data in files.items():
        writer.write(name, data)
    writer.close()
    return stream.getvalue()


def by_zipfile(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.comment = comment
    return stream.getvalue()


def scanned(data: bytes) -> zip.ZipScan:
    return zip.scan("x.zip", stream=io.BytesIO(data))


def contents(data: bytes, found: zip.ZipScan) -> dict[str, bytes]:
    return {m.name: zip.unpacked(m, lambda offset, length: data[offset : offset + length]) for m in found.members}


def read(data: bytes) -> tuple[list[Any], bool]:
    """Return the members that can be read, and whether anything was wrong."""
    found = scanned(data)
    members, complained = [], bool(found.faults)
    for member in found.members:
        try:
            members.append((member.name, zip.unpacked(member, lambda offset, n: data[offset : offset + n])))
        except DataError:
            complained = True
    return members, complained


# Written


def test_zipfile_reads_what_we_write() -> None:
    with zipfile.ZipFile(io.BytesIO(written())) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        for found in archive.infolist():
            assert found.date_time == (1980, 1, 1, 0, 0, 0)
            assert (found.compress_type, found.external_attr >> 16) == (zipfile.ZIP_STORED, 0o100644)


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_unzip_reads_what_we_write(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(written())
    subprocess.run(["unzip", "-q", "x.zip", "-d", "out"], cwd=tmp_path, check=True)
    assert {name: (tmp_path / "out" / name).read_bytes() for name in FILES} == FILES


def test_the_bytes_of_a_small_archive() -> None:
    """Worked out by hand from APPNOTE.TXT; the CRC-32 of "1" is 0x83DCEFB7."""
    header = "504b0304 1400 0008 0000 0000 2100 b7efdc83 01000000 01000000 0100 0000 61 31"
    entry = "504b0102 1403 1400 0008 0000 0000 2100 b7efdc83 01000000 01000000 0100 0000 0000 0000 0000"
    entry += "0000a481 00000000 61"
    end = "504b0506 0000 0000 0100 0100 2f000000 20000000 0000"
    assert written({"a": b"1"}) == bytes.fromhex(header + entry + end)


def test_bytes_depend_on_samples_alone(tmp_path: Path) -> None:
    one, two = (write(tmp_path / name, "zip", odd_samples()) / "data.zip" for name in ("1", "2"))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("masks", [False, True])
def test_an_archive_unpacks_to_the_same_folder_dataset(tmp_path: Path, masks: bool) -> None:
    samples = [sample for sample in odd_samples() if masks or sample.mask is None]
    samples.sort(key=lambda sample: sample.mask is None)  # the first sample decides about the layout
    archive = write(tmp_path / "x", "zip", samples) / "data.zip"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "out")
    expected = {sample.key + sample.extension: sample for sample in open_dataset(archive)}
    assert {sample.key + sample.extension: sample for sample in open_dataset(tmp_path / "out", "folder")} == expected


def test_many_members_and_far_offsets_need_zip64(tmp_path: Path) -> None:
    many = written({f"{number}.jpg": b"" for number in range(0x10000)})
    found = scanned(many)
    assert len(found.members) == len(zipfile.ZipFile(io.BytesIO(many)).namelist()) == 0x10000
    assert not found.faults
    path = tmp_path / "far.zip"
    with path.open("wb") as stream:
        stream.seek(5 << 30)  # a hole that is never read
        writer = zip.ArchiveWriter(stream, position=5 << 30)
        for name, data in FILES.items():
            writer.write(name, data)
        writer.close()
    found = zip.scan(path)
    assert not found.faults and [member.header >= 5 << 30 for member in found.members] == [True] * 4
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None and set(archive.namelist()) == set(FILES)


# Read


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"PK\5\6 a comment that looks like an end" + bytes(30)])
def test_what_zipfile_writes_is_read(method: int, comment: bytes) -> None:
    data = by_zipfile(FILES, method=method, comment=comment)
    found = scanned(data)
    assert not found.faults and contents(data, found) == FILES


def test_sizes_after_the_content_are_read() -> None:
    """A writer that cannot seek puts zeros into the local header."""

    class OneWay(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

    stream = OneWay()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    data = stream.getvalue()
    found = scanned(data)
    assert not found.faults and contents(data, found) == FILES
    lost = scanned(data[:-22])  # only the directory knows how long members are
    assert lost.faults and not lost.members


def test_zip64_headers_of_others_are_read() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, archive.open("a/1.jpg", "w", force_zip64=True) as member:
        member.write(b"content")
    found = scanned(stream.getvalue())
    assert not found.faults and contents(stream.getvalue(), found) == {"a/1.jpg": b"content"}


@pytest.mark.skipif(shutil.which("zip") is None, reason="zip is not installed")
def test_a_packed_folder_is_the_folder(tmp_path: Path) -> None:
    """Folders that number classes, hidden files, empty folders, files of macOS; with and without a folder around."""
    folder = write(tmp_path / "photos", "folder", plain_samples(9), classes=("ant", "bee", "cat"))
    for name in ("bee/.hidden.jpg", "bee/notes.txt", ".DS_Store"):
        (folder / name).write_bytes(b"x")
    (folder / "aaa empty").mkdir()
    expected = [(sample.name, sample.labels, sample.image) for sample in open_dataset(folder)]
    subprocess.run(["zip", "-qr", "around.zip", "photos"], cwd=tmp_path, check=True)
    subprocess.run(["zip", "-qr", "../inside.zip", "."], cwd=folder, check=True)
    with zipfile.ZipFile(tmp_path / "around.zip", "a") as archive:
        archive.writestr("__MACOSX/photos/._0001.jpg", b"x")
    for name in ("around.zip", "inside.zip"):
        dataset = open_dataset(tmp_path / name)
        assert dataset.classes == ("aaa empty", "ant", "bee", "cat") and not dataset.faults
        assert sorted((sample.name, sample.labels, sample.image) for sample in dataset) == sorted(expected)


def test_masks_beside_images(tmp_path: Path) -> None:
    files = {"images/a/1.jpg": encoded("jpeg", seed=1), "images/a/2.jpg": encoded("jpeg", seed=2)}
    files["masks/a/1.png"] = mask_of(1)
    (tmp_path / "x.zip").write_bytes(by_zipfile(files))
    dataset = open_dataset(tmp_path / "x.zip")
    assert [(s.key, s.labels, s.mask) for s in dataset] == [("a/1", (0,), mask_of(1)), ("a/2", (0,), None)]
    assert [dataset.has_mask(0), dataset.has_mask(1)] == [True, False]
    assert dataset.layout == "class folders, images and masks"


def test_classes_of_several_archives_are_numbered_together(tmp_path: Path) -> None:
    image = encoded("jpeg", seed=1)
    (tmp_path / "1.zip").write_bytes(by_zipfile({"b/1.jpg": image}))
    (tmp_path / "2.zip").write_bytes(by_zipfile({"a/1.jpg": image, "c/1.jpg": image}))
    assert [sample.labels for sample in open_dataset(tmp_path)] == [(1,), (0,), (2,)]


def test_a_zip_beside_images_does_not_count(tmp_path: Path) -> None:
    """A folder of images that was downloaded as an archive and unpacked is still a folder of images."""
    write(tmp_path, "folder", plain_samples(3))
    (tmp_path / "photos.zip").write_bytes(by_zipfile({"a/1.jpg": encoded("jpeg", seed=1)}))
    assert open_dataset(tmp_path).format == "folder"
    assert open_dataset(tmp_path / "photos.zip").format == "zip"
    (tmp_path / "photos.zip").rename(tmp_path / "data.zip")  # what `convert` writes
    assert open_dataset(tmp_path).format == "zip"


def test_shards_and_commands(tmp_path: Path) -> None:
    source = write(tmp_path / "photos", "folder", plain_samples(7), classes=("ant", "bee", "cat"))
    report = convert(source, tmp_path / "out", to="zip", samples_per_shard=3)
    names = sorted(path.name for path in (tmp_path / "out").glob("*.zip"))
    assert names == [f"data-{number:05d}-of-00003.zip" for number in range(3)] and report.samples == 7
    assert info(tmp_path / "out").format == "zip"
    assert verify(tmp_path / "out").is_whole
    with pytest.raises(ArgumentError, match="needs no index file"):
        index(tmp_path / "out")
    convert(tmp_path / "out", tmp_path / "back", to="folder")
    assert list(open_dataset(tmp_path / "back")) == list(open_dataset(source))


# Hostile


def patched(data: bytes, *changes: tuple[int, bytes]) -> bytes:
    changed = bytearray(data)
    for place, value in changes:
        changed[place : place + len(value)] = value
    return bytes(changed)


def places(data: bytes) -> tuple[int, int]:
    """Return where the first local header and its entry in the directory begin."""
    return data.index(b"PK\3\4"), data.index(b"PK\1\2")


def both(local: int, entry: int, value: bytes) -> Callable[[bytes], bytes]:
    """Change a field of the first member in its header and in the directory."""

    def change(data: bytes) -> bytes:
        header, listed = places(data)
        return patched(data, (header + local, value), (listed + entry, value))

    return change


def one(entry: int, value: bytes) -> Callable[[bytes], bytes]:
    """Change a field of the first member in the directory alone."""
    return lambda data: patched(data, (places(data)[1] + entry, value))


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "encrypted": (both(6, 8, b"\1\x08"), "unsupported", "is encrypted"),
    "method": (both(8, 10, b"\x5d\0"), "unsupported", "method 93"),
    "name": (both(30, 46, b"../1"), "corrupt", "cannot be a file below a folder"),
    "absolute": (both(30, 46, b"/etc"), "corrupt", "cannot be a file below a folder"),
    "zero byte": (both(30, 46, b"ca\0/"), "corrupt", "cannot be a file below a folder"),
    "other name": (one(46, b"dog"), "corrupt", "differ"),
    "other size": (one(24, b"\1\0\0\0"), "corrupt", "differ"),
    "other method": (one(10, b"\x08\0"), "corrupt", "differ"),
    "lost header": (one(42, b"\1\0\0\0"), "corrupt", "no local header"),
    "far header": (one(42, b"\xfe\xff\xff\xff"), "corrupt", "no local header"),
    "stored otherwise": (both(22, 24, b"\1\0\0\0"), "corrupt", "is stored with"),
    "long": (both(18, 20, b"\0\0\0\x70\0\0\0\x70"), "truncated", "reaches past"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_member_is_refused_and_the_others_are_read(case: str) -> None:
    change, kind, message = HOSTILE[case]
    data = written()
    found = scanned(change(data))
    assert [(fault.kind, message in fault.message) for fault in found.faults] == [(kind, True)]
    assert [member.name for member in found.members] == [*FILES][1:] and found.complete


def test_bombs_are_refused_before_they_are_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    data = by_zipfile({"a/1.jpg": bytes(5 << 20), "a/2.jpg": b"x"})
    assert not scanned(data).faults
    monkeypatch.setattr(checks, "ALLOWANCE", 1 << 20)
    found = scanned(data)
    assert [(fault.kind, "bomb" in fault.message) for fault in found.faults] == [("too_large", True)]
    monkeypatch.setattr(checks, "LARGEST_MEMBER", 1 << 20)
    assert "the limit is" in scanned(data).faults[0].message


def test_a_member_that_unpacks_to_more_than_it_declares_is_damaged() -> None:
    data = by_zipfile({"a/1.jpg": bytes(5 << 20)})
    data = both(22, 24, struct.pack("<L", 1000))(data)
    (member,) = scanned(data).members
    with pytest.raises(DataError, match="does not unpack to the declared 1000 bytes"):
        zip.unpacked(member, lambda offset, length: data[offset : offset + length])


@pytest.mark.parametrize("declared", [0, 1000])
def test_a_member_that_lies_about_its_size_is_not_unpacked_whole(declared: int) -> None:
    data = both(22, 24, struct.pack("<L", declared))(by_zipfile({"a/1.jpg": bytes(50 << 20)}))
    (member,) = scanned(data).members
    tracemalloc.start()
    with pytest.raises(DataError, match="does not unpack"):
        zip.unpacked(member, lambda offset, length: data[offset : offset + length])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_members_that_share_bytes_are_refused() -> None:
    """All entries of the directory point to one member, as in bombs that quote the same content again and again."""
    data = written({"a/1.jpg": b"x" * 50, "a/2.jpg": b"x" * 50})
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data = patched(data, (second + 42, bytes(4)), (second + 46, b"a/1.jpg"))
    found = scanned(data)
    assert len(found.members) == 1 and "overlaps" in found.faults[0].message


def test_of_equal_names_the_first_counts() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("a/1.jpg", b"first")
            archive.writestr("a/1.jpg", b"second")
    found = scanned(stream.getvalue())
    assert contents(stream.getvalue(), found) == {"a/1.jpg": b"first"}
    assert "occurs twice" in found.faults[0].message


@pytest.mark.parametrize(("place", "value"), [(4, b"\1\0"), (6, b"\1\0"), (8, b"\3\0")])
def test_archives_in_several_files_are_not_read_by_their_directory(place: int, value: bytes) -> None:
    data = written()
    found = scanned(patched(data, (data.index(b"PK\5\6") + place, value)))
    assert found.faults[-1].kind == "unsupported" and not found.complete


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-1],
        lambda data: b"x" + data,
        lambda data: data + b"x",
        lambda data: patched(data, (data.index(b"PK\5\6") + 16, b"\0\0\0\0")),
        lambda data: patched(data, (data.index(b"PK\1\2"), b"XX")),
    ],
    ids=["cut", "before", "after", "moved", "overwritten"],
)
def test_without_a_directory_members_are_found_by_their_headers(change: Callable[[bytes], bytes]) -> None:
    data = change(written())
    found = scanned(data)
    assert found.faults and not found.complete
    assert contents(data, found) == FILES


def test_labels_are_not_guessed_without_a_directory(tmp_path: Path) -> None:
    """The class folders that are left need not be all."""
    path = write(tmp_path / "x", "zip", [Sample("b/1", encoded("jpeg", seed=1), "jpg", (5,), "b")]) / "data.zip"
    assert open_dataset(path).sample(0).labels == (5,)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"annotations") - 30])
    sample = open_dataset(path).sample(0)
    assert (sample.labels, sample.class_name) == ((), "b")


def test_an_entry_too_few_is_named() -> None:
    data = written()
    end = data.index(b"PK\5\6")
    found = scanned(patched(data, (end + 8, b"\5\0\5\0")))
    assert "declares 5 entries and has 4" in found.faults[0].message and len(found.members) == 4


# Damage


SMALL = written({"a/1.jpg": b"\xff\xd8\xff one", "a/2.jpg": b"two", "b/3.jpg": b"three three"})


def test_every_changed_byte_is_found_or_harmless() -> None:
    """Times, versions and attributes are harmless; everything else has a second copy or a checksum."""
    counts = table(read, SMALL, changed(SMALL, [1, 2, 4, 8, 16, 32, 64, 128]))
    assert set(counts) == {"found", "harmless"} and counts["found"] > counts["harmless"]


def test_every_cut_is_found() -> None:
    assert set(table(read, SMALL, cut(SMALL))) == {"found"}


@pytest.mark.parametrize("damages", [with_one_more, with_one_less])
def test_bytes_too_many_or_too_few_are_found(damages: Callable[[bytes], Any]) -> None:
    counts = table(read, SMALL, damages(SMALL))
    # One byte more can be harmless: a 1 in the length of the comment makes the last byte a comment.
    assert set(counts) <= {"found", "harmless"} and counts["harmless"] == (damages is with_one_more)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_raise_nothing_but_our_errors(data: bytes, keep: int) -> None:
    for mixed in (data, SMALL[:keep] + data, data + SMALL[keep:]):
        read(mixed)


def test_a_damaged_image_is_one_bad_sample(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "zip", plain_samples(3)) / "data.zip"
    data = path.read_bytes()
    path.write_bytes(patched(data, (data.index(plain_samples(3)[1].image) + 40, b"\0\0\0")))
    dataset = open_dataset(path)
    with pytest.raises(DataError, match=r"bee/0001.jpg: the CRC-32 of the content does not match") as caught:
        dataset.sample(1)
    (event,) = caught.value.events
    assert (event.kind, event.path, event.offset) == ("checksum", str(path), dataset.index.offsets[1])
    assert dataset.sample(2).key == "cat/0002"
    (problem,) = verify(path, decode=False).problems
    assert problem.kind == "checksum"


# The cache of scans


def test_a_cached_scan_is_equal_and_never_that_of_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(scan_cache, "CACHED_FROM", 0)
    path = tmp_path / "x.zip"
    path.write_bytes(by_zipfile({**FILES, "empty/": b""}))
    first = cached_scan(str(path))
    assert first == zip.scan(str(path)) and first.folders == ("empty/",)
    with monkeypatch.context() as patch:
        patch.setattr(SCAN, "_Scanner", None)
        assert cached_scan(str(path)) == first
    path.write_bytes(by_zipfile({"other/1.jpg": b"x"}))
    assert [member.name for member in cached_scan(str(path)).members] == ["other/1.jpg"]
    path.write_bytes(SMALL[:-30])
    assert cached_scan(str(path)).faults and cached_scan(str(path)).faults


def test_a_large_member_is_not_written() -> None:
    writer = zip.ArchiveWriter(io.BytesIO())
    with pytest.raises(ArgumentError, match="the limit is"):
        writer.write("a", np.zeros((1 << 30) + 1, np.uint8).data)


def test_bench_asks_for_a_container_that_others_read(tmp_path: Path) -> None:
    write(tmp_path / "x", "zip", plain_samples(3))
    with pytest.raises(ArgumentError, match="is a zip archive, which the other libraries do not read"):
        select(tmp_path / "x", samples=3)
