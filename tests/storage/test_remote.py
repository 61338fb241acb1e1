"""Datasets at addresses: fsspec's memory, and an S3 server on this machine."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dataset_cases import odd_samples, plain_samples, write
from peers import peer

import pixelmill
from pixelmill.errors import DataError
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Sample
from pixelmill.storage import remote

fsspec = peer("fsspec")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Serve S3 on loopback and give the address of a bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            patch.setenv(name, value)
        fsspec.filesystem("s3").mkdir("pictures")
        yield "s3://pictures"
    server.stop()


def by_name(samples: Any) -> list[Sample]:
    return sorted(samples, key=lambda sample: (sample.name, sample.labels))


@pytest.mark.parametrize("format", FORMATS)
def test_memory_there_and_back(format: str, tmp_path: Path) -> None:
    address = f"memory://{uuid.uuid4().hex}/data"
    samples = odd_samples()
    write(tmp_path / "x", "tfrecord", samples)
    pixelmill.convert(tmp_path / "x", address, to=format, samples_per_shard=20)
    dataset = open_dataset(address)
    assert dataset.format == format
    assert by_name(dataset) == by_name(samples)
    pixelmill.convert(address, tmp_path / "back", to="tfrecord")
    assert by_name(open_dataset(tmp_path / "back")) == by_name(samples)


@pytest.mark.parametrize("format", ["tfrecord", "folder"])
def test_s3_there_and_back(format: str, s3: str, tmp_path: Path) -> None:
    address = f"{s3}/{uuid.uuid4().hex}"
    samples = plain_samples(6)
    write(tmp_path / "x", "recordio", samples)
    pixelmill.convert(tmp_path / "x", address, to=format, samples_per_shard=4, workers=1)
    dataset = open_dataset(address)
    assert (dataset.format, by_name(dataset)) == (format, by_name(samples))
    assert pixelmill.verify(address).is_whole
    if format == "tfrecord":
        assert len(open_dataset(f"{address}/data-*.tfrecord")) == 6
        assert dataset.locate(0)[0] == f"{address}/data-00000-of-00002.tfrecord"  # not the copy in the cache


def test_a_changed_object_is_fetched_again(tmp_path: Path) -> None:
    address = f"memory://{uuid.uuid4().hex}/x.rec"
    for count in (3, 5):
        data = (write(tmp_path / str(count), "recordio", plain_samples(count)) / "data.rec").read_bytes()
        fsspec.filesystem("memory").pipe_file(address, data)
        assert len(open_dataset(address)) == count


def test_faults_that_pass_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"memory://{uuid.uuid4().hex}/x"
    fsspec.filesystem("memory").pipe_file(address, b"content")
    failures = [OSError(5, "weak line")] * 3
    kind = type(fsspec.filesystem("memory"))
    real = kind.cat_file

    def shaky(self: Any, *arguments: Any, **options: Any) -> Any:
        if failures:
            raise failures.pop()
        return real(self, *arguments, **options)

    monkeypatch.setattr(kind, "cat_file", shaky)
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    assert remote.read(address, 3, 100) == b"tent"
    failures += [OSError(5, "weak line")] * 4
    with pytest.raises(OSError, match="after 4 tries"):
        remote.read(address, 0, 7)


def test_a_short_download_is_no_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    address = f"memory://{uuid.uuid4().hex}/x.tar"
    fsspec.filesystem("memory").pipe_file(address, b"0123456789")
    kind = type(fsspec.filesystem("memory"))
    monkeypatch.setattr(kind, "get_file", lambda self, source, target: Path(target).write_bytes(b"01234"))
    with pytest.raises(DataError, match="has 10 bytes, 5 came"):
        remote.fetch(address)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.name != ".in-use"]


def test_a_list_at_an_address_stays_below_its_folder() -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    files = fsspec.filesystem("memory")
    files.pipe_file(f"{folder}/list.txt", b"../secret.jpg 1\n")
    with pytest.raises(DataError, match=r"list.txt:1: '\.\./secret.jpg' leads out"):
        open_dataset(folder)


def test_errors_of_other_packages_name_the_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As where there are no credentials: the kinds of such errors are known to the package of the store alone."""

    class NoCredentialsError(Exception):
        pass

    def refuse(*_: object, **__: object) -> None:
        raise NoCredentialsError("nobody knows you")

    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0)
    for name in ("isdir", "info", "ls", "glob", "cat_file", "pipe_file"):
        monkeypatch.setattr(type(fsspec.filesystem("memory")), name, refuse)
    address = f"memory://{uuid.uuid4().hex}/data"
    with pytest.raises(
        OSError, match=r"NoCredentialsError: nobody knows you; are the address and the credentials"
    ) as read:
        open_dataset(address)
    write(tmp_path / "x", "tfrecord", plain_samples())
    with pytest.raises(OSError, match="NoCredentialsError") as written:
        pixelmill.convert(tmp_path / "x", address, to="tfrecord")
    assert read.value.filename == written.value.filename == address


def test_unknown_addresses_are_named() -> None:
    with pytest.raises(DataError, match="nonsense"):
        open_dataset("nonsense://x/y")


@pytest.mark.parametrize("format", ["tfrecord", "recordio"])
def test_a_few_records_are_read_by_their_ranges(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"memory://{uuid.uuid4().hex}/data"
    write(tmp_path / "x", "tfrecord", plain_samples(40))
    pixelmill.convert(tmp_path / "x", address, to=format)
    fetched: list[str] = []
    read: list[int] = []
    fetch, read_some = remote.fetch, remote.read
    monkeypatch.setattr(remote, "fetch", lambda path: fetched.append(path) or fetch(path))
    monkeypatch.setattr(remote, "read", lambda path, at, n, **more: read.append(n) or read_some(path, at, n, **more))
    dataset = open_dataset(address)
    name = dataset.files[0]
    records = sum(dataset.index.lengths.tolist())
    assert [dataset.sample(number).key for number in (3, 30)] == ["ant/0003", "ant/0030"]
    assert name not in fetched and sum(read) < records / 2
    assert by_name(dataset) == by_name(open_dataset(tmp_path / "x"))
    assert name not in fetched  # who wants all of them announces them
    assert len([dataset.sample(number) for number in range(len(dataset))]) == 40
    assert fetched.count(name) == 1  # most of it was wanted, and none of it announced


@pytest.mark.parametrize("format", ["tfrecord", "recordio"])
@pytest.mark.parametrize("text", [b"", b"0 10", b"1 2 3", b"words", b"0 16\n16 99999999999999999999\n", b"0 1\n7 2\n"])
def test_an_index_that_does_not_cover_the_file_is_not_used(format: str, text: bytes, tmp_path: Path) -> None:
    address = f"memory://{uuid.uuid4().hex}/data"
    write(tmp_path / "x", "tfrecord", plain_samples(4))
    pixelmill.convert(tmp_path / "x", address, to=format)
    fsspec.filesystem("memory").pipe_file(f"{address.removeprefix('memory://')}/data.idx", text)
    assert by_name(open_dataset(address)) == by_name(open_dataset(tmp_path / "x"))


def test_damage_is_found_by_ranges_too(tmp_path: Path) -> None:
    address = f"memory://{uuid.uuid4().hex}/data"
    write(tmp_path / "x", "tfrecord", plain_samples(40))
    pixelmill.convert(tmp_path / "x", address, to="tfrecord")
    files = fsspec.filesystem("memory")
    name = f"{address.removeprefix('memory://')}/data.tfrecord"
    data = bytearray(files.cat_file(name))
    dataset = open_dataset(address)
    data[int(dataset.index.offsets[5]) + 30] ^= 1
    files.pipe_file(name, bytes(data))
    with pytest.raises(DataError, match="checksum"):
        dataset.sample(5)
    assert dataset.sample(6).key == "ant/0006"
