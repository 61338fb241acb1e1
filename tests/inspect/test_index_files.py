"""Index files of data at addresses are written beside the data, or into a folder."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served
from remote_reads import write_containers

import pixelmill
from pixelmill.errors import ArgumentError, OutputExists
from pixelmill.formats.registry import open_dataset
from pixelmill.storage.options import using

FORMATS = {"tfrecord": "tfrecord", "recordio": "rec", "webdataset": "tar"}
NAMES = [f"data-{number:05d}-of-00003" for number in range(3)]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_containers(tmp_path_factory.mktemp("local"), FORMATS, count=20)


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    """The datasets without index files."""
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    with served(local) as found:
        for key in [key for key in found.objects if key.endswith(".idx")]:
            del found.objects[key]
        yield found


@pytest.mark.parametrize("format", FORMATS)
def test_they_are_beside_the_data(format: str, server: LoopbackS3, local: Path) -> None:
    targets = [f"s3://data/{format}/{name}.idx" for name in NAMES]
    assert pixelmill.index(f"s3://data/{format}") == targets
    for name in NAMES:
        assert server.objects[f"data/{format}/{name}.idx"] == (local / format / f"{name}.idx").read_bytes()
    server.reset()
    assert len(open_dataset(f"s3://data/{format}")) == 20
    records = [(key, begin, end) for key, begin, end in server.log if key.endswith(FORMATS[format])]
    assert all(end - begin < len(server.objects[key]) for key, begin, end in records)


@pytest.mark.parametrize("format", FORMATS)
def test_existing_ones_are_kept_unless_they_shall_be_replaced(format: str, server: LoopbackS3, local: Path) -> None:
    key = f"data/{format}/{NAMES[1]}.idx"
    server.put(key, b"old")
    with pytest.raises(OutputExists, match=NAMES[1]):
        pixelmill.index(f"s3://data/{format}")
    assert server.objects[key] == b"old" and f"data/{format}/{NAMES[0]}.idx" not in server.objects
    for _ in range(2):  # the second time, the files are opened by their index files
        assert len(pixelmill.index(f"s3://data/{format}", overwrite=True)) == 3
        assert server.objects[key] == (local / format / f"{NAMES[1]}.idx").read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_gets_them_under_the_names_of_the_data(
    format: str, server: LoopbackS3, local: Path, tmp_path: Path
) -> None:
    assert pixelmill.index(f"s3://data/{format}", output=tmp_path / "idx") == [f"{tmp_path}/idx/{n}.idx" for n in NAMES]
    pixelmill.index(local / format, output="s3://data/other")
    for name in NAMES:
        expected = (local / format / f"{name}.idx").read_bytes()
        assert (tmp_path / "idx" / f"{name}.idx").read_bytes() == expected
        assert server.objects[f"data/other/{name}.idx"] == expected


def test_a_web_server_takes_none(server: LoopbackS3, tmp_path: Path) -> None:
    address = f"{server.endpoint}/data/tfrecord/{NAMES[0]}.tfrecord"
    with using({}), pytest.raises(ArgumentError, match="a web server, which cannot be written to; pass a folder"):
        pixelmill.index(address)
    with using({}):
        assert pixelmill.index(address, output=tmp_path) == [f"{tmp_path}/{NAMES[0]}.idx"]


def test_a_gzip_file_has_none(local: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord.gz"
    path.write_bytes(gzip.compress((local / "tfrecord" / f"{NAMES[0]}.tfrecord").read_bytes()))
    with pytest.raises(ArgumentError, match=r"x\.tfrecord\.gz is a gzip file, .*; unpack it first"):
        pixelmill.index(path)
    assert not list(tmp_path.glob("*.idx"))
