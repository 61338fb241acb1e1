"""Zip archives at addresses are read in parts, as their central directories list the members."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served
from remote_reads import training_batches

from pixelmill import convert
from pixelmill.create import create_images
from pixelmill.errors import DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.zip import listed
from pixelmill.storage import announced_reads

COUNT = 12
NAMES = ("masks", "labels", "deflated", "streamed")  # archives: ours, of another program, written to a pipe


class Pipe(io.RawIOBase):
    """A stream that cannot go back, so that sizes follow the content of members."""

    def __init__(self) -> None:
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += bytes(data)
        return len(data)


def packed(folder: Path, stream: Any, method: int) -> None:
    with zipfile.ZipFile(stream, "w", method) as archive:
        for path in sorted(folder.rglob("*")):
            info = zipfile.ZipInfo.from_file(path, f"photos/{path.relative_to(folder).as_posix()}")
            info.extra, info.compress_type = b"UT\5\0\1\0\0\0\0", method  # as Info-ZIP writes it
            archive.writestr(info, b"" if path.is_dir() else path.read_bytes())


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    create_images(folder / "photos", "i", 500, 400, COUNT, "jpg", 5, content="shapes", masks=True, workers=1)
    create_images(folder / "classes", "i", 200, 160, COUNT, "jpg", 5, classes=3, workers=1)
    for name, source in (("masks", "photos"), ("labels", "classes")):
        convert(folder / source, folder / name, to="zip", samples_per_shard=COUNT, workers=1)
        (folder / name / "data.zip").rename(folder / f"{name}.zip")
    packed(folder / "classes", folder / "deflated.zip", zipfile.ZIP_DEFLATED)
    pipe = Pipe()
    packed(folder / "classes", pipe, zipfile.ZIP_STORED)
    (folder / "streamed.zip").write_bytes(pipe.content)
    return folder


@pytest.fixture(autouse=True, params=[1 << 20, 200], ids=["with tail", "apart"])
def tail(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes at the end that are read at once: with the directory or without it."""
    monkeypatch.setattr(listed, "_TAIL", request.param)
    monkeypatch.setattr(announced_reads, "_GAP", 512)
    size: int = request.param
    return size


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    with served(local) as found:
        yield found


def is_whole(server: LoopbackS3) -> bool:
    """Whether an archive was fetched as a whole."""
    return any(end - begin == len(server.objects[key]) for key, begin, end in server.log)


def same(found: Dataset, expected: Dataset) -> bool:
    return [vars(sample) for sample in found] == [vars(sample) for sample in expected]


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_those_of_a_local_archive(name: str, server: LoopbackS3, local: Path, tail: int) -> None:
    found, expected = open_dataset(f"s3://data/{name}.zip"), open_dataset(local / f"{name}.zip")
    assert (len(found), found.layout, found.classes) == (COUNT, expected.layout, expected.classes)
    outlines = [vars(found.outline(number)) for number in range(COUNT)]
    assert outlines == [vars(expected.outline(number)) for number in range(COUNT)]
    assert [found.has_mask(number) for number in range(COUNT)] == [name == "masks"] * COUNT
    if tail < 1000:
        assert not is_whole(server)  # these archives are smaller than the usual tail
    assert same(found, expected)
    for number in range(COUNT):
        assert found.size(number) >= expected.size(number)


def test_an_archive_is_opened_by_its_end(server: LoopbackS3, tail: int) -> None:
    """The first bytes say what kind of file it is; without the directory in the tail, three requests more."""
    open_dataset("s3://data/deflated.zip")
    assert len(server.log) == (2 if tail > 1000 else 5)


def test_an_empty_archive_has_no_samples(server: LoopbackS3) -> None:
    server.put("data/empty.zip", b"PK\5\6" + bytes(18))
    assert len(open_dataset("s3://data/empty.zip")) == 0


def test_a_directory_may_have_another_order(server: LoopbackS3, tmp_path: Path) -> None:
    path = tmp_path / "turned.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(5):
            archive.writestr(f"cat/{number}.jpg", bytes([number]) * 100)
        archive.filelist.reverse()
    server.put("data/turned.zip", path.read_bytes())
    found = open_dataset("s3://data/turned.zip")
    found.expect(range(5))
    assert [sample.image[0] for sample in found] == [0, 1, 2, 3, 4]
    found.expect(range(5))
    assert same(found, open_dataset(path))
    assert not (tmp_path / "cache" / "remote").exists()  # where archives are fetched to


def test_what_lies_between_members_is_not_read(server: LoopbackS3) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("cat/1.jpg", b"one")
        stream.write(bytes(1 << 20))
        archive.start_dir = stream.tell()
        archive.writestr("cat/2.jpg", b"two")
    server.put("data/gap.zip", stream.getvalue())
    found = open_dataset("s3://data/gap.zip")
    server.reset()
    assert found.sample(0).image == b"one"
    assert sum(end - begin for _, begin, end in server.log) < 200_000


@pytest.mark.parametrize("name", NAMES)
def test_announced_samples_are_read_once_and_together(name: str, server: LoopbackS3, local: Path) -> None:
    found = open_dataset(f"s3://data/{name}.zip")
    server.reset()
    found.expect(range(COUNT))
    assert same(found, open_dataset(local / f"{name}.zip"))
    assert len(server.log) == 1
    assert sum(end - begin for _, begin, end in server.log) <= (local / f"{name}.zip").stat().st_size


@pytest.mark.parametrize("name", NAMES)
def test_conversions_give_the_same_bytes(name: str, server: LoopbackS3, local: Path, tmp_path: Path, tail: int) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for source, target in ((str(local / f"{name}.zip"), here), (f"s3://data/{name}.zip", there)):
        convert(source, target, to="tfrecord", samples_per_shard=5, workers=1)
    assert tail > 1000 or not is_whole(server)
    written = [path.relative_to(here) for path in here.rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert len(written) >= 6
    for path in written:
        assert (there / path).read_bytes() == (here / path).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_training_reads_the_same_images(name: str, server: LoopbackS3, local: Path, tail: int) -> None:
    found = [
        training_batches(path, ["image", "label", "mask"], server.options)
        for path in (f"s3://data/{name}.zip", str(local / f"{name}.zip"))
    ]
    assert found[0] == found[1]
    assert tail > 1000 or not is_whole(server)
    assert len(server.log) < 12  # many members by one request


def test_labels_need_no_image(server: LoopbackS3, tail: int) -> None:
    found = open_dataset("s3://data/deflated.zip")
    if tail < 1000:
        server.reset()
        assert {found.description(number).labels for number in range(COUNT)} == {(0,), (1,), (2,)}
        assert not server.log


def changed(place: Callable[[bytes], int], new: bytes) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        begin = place(data)
        return data[:begin] + new + data[begin + len(new) :]

    return change


def first(data: bytes) -> int:
    """Return where the second member begins."""
    return data.index(b"PK\3\4", 4)


# Kind and words of the error of the member that was changed.
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str, str]] = {
    "no header": (changed(first, b"xx"), "corrupt", "no local header"),
    "other name": (changed(lambda data: first(data) + 30, b"zz"), "corrupt", "local header of .* differ"),
    "encrypted": (changed(lambda data: first(data) + 6, b"\1"), "corrupt", "local header of .* differ"),
    "other method": (changed(lambda data: first(data) + 8, b"\x08"), "corrupt", "local header of .* differ"),
    "longer name": (changed(lambda data: first(data) + 26, b"\xff\xff"), "corrupt", "no local header"),
    "longer extra field": (changed(lambda data: first(data) + 28, b"\x40"), "checksum|truncated", "CRC-32|only"),
    "other content": (changed(lambda data: first(data) + 300, b"zz"), "checksum", "CRC-32"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_member_is_an_error_of_its_sample(damage: str, server: LoopbackS3, local: Path) -> None:
    change, kind, message = DAMAGES[damage]
    whole = server.objects["data/labels.zip"]
    server.put("data/labels.zip", change(whole))
    found, expected = open_dataset("s3://data/labels.zip"), open_dataset(local / "labels.zip")
    bad = []
    for number in range(COUNT):
        try:
            assert vars(found.sample(number)) == vars(expected.sample(number))
        except DataError as error:
            bad.append((number, error))
    assert [number for number, _ in bad] == [1]
    (event,) = bad[0][1].events
    assert event.kind in kind.split("|")
    assert any(word in event.message for word in message.replace(".*", "\0").split("\0")[0].split("|"))
    assert event.path == "s3://data/labels.zip"


def entry_of(data: bytes, number: int) -> int:
    place = -1
    for _ in range(number + 1):
        place = data.index(b"PK\1\2", place + 1)
    return place


DIRECTORIES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-50],
    "moved": lambda data: b"#!" + data,
    "fewer entries": changed(lambda data: len(data) - 14, b"\1\0\1\0"),
    "damaged entry": changed(lambda data: entry_of(data, 3), b"xx"),
    "encrypted": changed(lambda data: entry_of(data, 3) + 8, b"\1"),
    "same place": changed(lambda data: entry_of(data, 3) + 42, b"\0\0\0\0"),
    "outside": changed(lambda data: entry_of(data, 3) + 42, b"\xff\xff\xff\x7e"),
    "same name": lambda data: data.replace(b"/i3.jpg", b"/i0.jpg"),
    "unsafe name": lambda data: data.replace(b"class_000/i3.jpg", b"../ss_000/i3.jpg"),
}


@pytest.mark.parametrize("name", DIRECTORIES)
def test_an_archive_with_a_damaged_directory_is_fetched_and_read_as_a_local_one(
    name: str, server: LoopbackS3, tmp_path: Path
) -> None:
    data = DIRECTORIES[name](server.objects["data/deflated.zip"])
    assert data != server.objects["data/deflated.zip"]
    server.put("data/deflated.zip", data)
    (tmp_path / "deflated.zip").write_bytes(data)

    def read(path: Any) -> tuple[list[Any], list[str]]:
        found = open_dataset(path, "zip")
        return [vars(sample) for sample in found], [fault.message for fault in found.faults]

    samples, faults = read(tmp_path / "deflated.zip")
    assert (samples, faults) == read("s3://data/deflated.zip")
    assert is_whole(server)
    assert faults


def test_random_damage_gives_the_right_sample_or_an_error(server: LoopbackS3, local: Path) -> None:
    rng = np.random.default_rng(3)
    whole = server.objects["data/labels.zip"]
    expected = {sample.key: vars(sample) for sample in open_dataset(local / "labels.zip")}
    errors = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        for place in rng.integers(whole.index(b"PK\1\2"), len(whole), rng.integers(0, 3)):
            damaged[place] = rng.integers(256)
        server.put("data/labels.zip", bytes(damaged))
        try:
            found = open_dataset("s3://data/labels.zip", "zip")
        except DataError:
            errors += 1
            continue
        for number in range(len(found)):
            try:
                sample = found.sample(number)
            except DataError:
                errors += 1
                continue
            if sample.key in expected:
                assert sample.image == expected[sample.key]["image"]
    assert 10 < errors < 60 * COUNT


def test_an_archive_that_vanishes_is_one_error_for_a_sample(server: LoopbackS3) -> None:
    found = open_dataset("s3://data/labels.zip")
    server.faults.gone.add("data/labels.zip")
    with pytest.raises(DataError, match=r"labels\.zip") as caught:
        found.sample(2)
    assert (caught.value.events[0].kind, caught.value.events[0].sample) == ("io", 2)
