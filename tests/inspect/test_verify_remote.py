"""`verify` and `info` of data at addresses: listings instead of requests for sizes, and many files at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served
from remote_reads import round_trips, write_containers

import pixelmill
from pixelmill import convert
from pixelmill.errors import DataError
from pixelmill.formats.registry import open_dataset
from pixelmill.inspect import manifest_check

COUNT = 20
FORMATS = ("folder", "list", "csv", "npy", "coco", "yolo", "voc", "tfrecord", "parquet", "zip")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_containers(tmp_path_factory.mktemp("local"), FORMATS, count=COUNT)


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    with served(local) as found:
        yield found


@pytest.mark.parametrize("format", FORMATS)
def test_a_whole_dataset_is_whole(format: str, server: LoopbackS3, local: Path) -> None:
    found, expected = pixelmill.verify(f"s3://data/{format}"), pixelmill.verify(local / format)
    assert found.is_whole and found.problems == ()
    assert (found.samples, found.decoded, found.hashed) == (expected.samples, expected.decoded, expected.hashed)
    assert server.counts["HEAD"] <= 2
    files = sum(key.startswith(f"data/{format}/") for key in server.objects)
    assert server.counts["GET"] <= 2 * files + 12  # compared with the manifest, and decoded
    assert not list((Path(os.environ["PIXELMILL_CACHE"]) / "remote").glob("*"))


@pytest.mark.parametrize("format", FORMATS)
def test_conversions_and_descriptions_ask_no_file_for_its_size(format: str, server: LoopbackS3, tmp_path: Path) -> None:
    pixelmill.info(f"s3://data/{format}")
    assert server.counts["HEAD"] <= 2
    server.reset()
    convert(f"s3://data/{format}", tmp_path / "out", to="webdataset", workers=1)
    assert server.counts["HEAD"] == 0


def test_sizes_are_those_of_local_files(server: LoopbackS3, local: Path) -> None:
    for format in ("folder", "list", "csv", "coco", "yolo", "voc"):
        found, expected = open_dataset(f"s3://data/{format}"), open_dataset(local / format)
        assert [found.size(number) for number in range(COUNT)] == [expected.size(number) for number in range(COUNT)]


@pytest.mark.parametrize("format", ["folder", "list", "csv", "coco", "yolo", "voc"])
def test_files_of_known_size_are_read_as_ranges(format: str, server: LoopbackS3) -> None:
    """That costs half as much as a whole file."""
    found = open_dataset(f"s3://data/{format}")
    assert [part.size for part in found._parts(3)] == [0]
    assert found.remote_stats
    assert [part.size for part in found._parts(3)] == [found.size(3)]


def test_a_file_that_is_not_listed_has_no_size(server: LoopbackS3) -> None:
    (key,) = [key for key in server.objects if key.startswith("data/list/") and key.endswith("i3.jpg")]
    del server.objects[key]
    found = open_dataset("s3://data/list")
    (number,) = [n for n in range(COUNT) if found.locate(n)[0] == f"s3://{key}"]
    with pytest.raises(DataError, match=r"No such file or directory, named by") as caught:
        found.size(number)
    assert caught.value.events[0].kind == "io"
    assert found.size(number - 1) > 0


def test_files_are_compared_many_at_a_time(server: LoopbackS3) -> None:
    trips = round_trips(server, lambda: pixelmill.verify("s3://data/folder"), enough=16)
    assert trips <= 16  # 46 requests for data


@pytest.mark.parametrize("part", [100, 8 << 20])
def test_what_differs_from_the_manifest_is_named(
    part: int, server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_check, "_PART", part)
    keys = sorted(key for key in server.objects if key.startswith("data/folder/") and key.endswith(".jpg"))
    longer, changed, gone, empty = keys[2], keys[5], keys[7], keys[9]
    server.put(longer, server.objects[longer] + b"x")
    data = bytearray(server.objects[changed])
    data[-40] ^= 1
    server.put(changed, bytes(data))
    del server.objects[gone]
    server.put(empty, b"")
    found = pixelmill.verify("s3://data/folder", decode=False)
    kinds = {problem.path: problem.kind for problem in found.problems if problem.operator == "manifest"}
    expected = {longer: "corrupt", changed: "checksum", gone: "io", empty: "truncated"}
    assert kinds == {f"s3://{key}": kind for key, kind in expected.items()} | {"s3://data/folder": "missing"}


def test_a_file_that_cannot_be_read_is_a_problem_of_its_own(server: LoopbackS3) -> None:
    keys = sorted(key for key in server.objects if key.startswith("data/folder/") and key.endswith(".jpg"))
    server.faults.denied.add(keys[4])
    found = pixelmill.verify("s3://data/folder", decode=False)
    assert {problem.path for problem in found.problems} == {f"s3://{keys[4]}"}
    assert any("access denied" in problem.message for problem in found.problems)
