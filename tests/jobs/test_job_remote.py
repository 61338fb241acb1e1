"""Jobs that write to object stores: in memory, and a real S3 server on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3
from peers import peer
from small_jobs import NumbersJob, tree

from pixelmill import augment, convert, info, verify
from pixelmill.create import create_images
from pixelmill.errors import DataError, OutputError, OutputExists
from pixelmill.ingest import ingest
from pixelmill.jobs import job_status, run_job
from pixelmill.storage import remote

fsspec = peer("fsspec")

JOB = NumbersJob()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("expected") / "out"
    run_job(JOB, folder, workers=1)
    return {name: value for name, value in tree(folder).items() if not name.endswith("/")}


@pytest.fixture(scope="module", params=["memory", "s3"])
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "memory":
        yield "memory://bucket"
        fsspec.filesystem("memory").rm("/bucket", recursive=True)
        return
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address, port = server.get_host_and_port()
    system = fsspec.get_filesystem_class("s3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{address}:{port}")
        system.clear_instance_cache()  # they remember the servers of other tests
        system(use_listings_cache=False).mkdir("bucket")
        yield "s3://bucket"
    system.clear_instance_cache()
    server.stop()


@pytest.fixture
def place(store: str, request: pytest.FixtureRequest) -> str:
    """A prefix for one test."""
    return f"{store}/{request.node.originalname}"


def objects(place: str) -> dict[str, str]:
    system, prefix = fsspec.core.url_to_fs(place, use_listings_cache=False)
    return {
        str(name)[len(prefix) :].lstrip("/"): hashlib.sha256(system.cat_file(name)).hexdigest()
        for name in system.find(prefix)
    }


def test_store_holds_the_same_objects(place: str, expected: dict[str, str]) -> None:
    report = run_job(JOB, place, workers=1)
    assert report.complete
    assert objects(place) == expected
    with pytest.raises(OutputExists, match="finished output"):
        run_job(JOB, place, workers=1)
    assert run_job(JOB, place, workers=1, exists="resume").made == 0
    assert job_status(place)[0].complete


def test_unfinished_job_in_a_store_is_resumed(place: str, expected: dict[str, str]) -> None:
    bad = NumbersJob(bad=(25,))
    with pytest.raises(DataError, match="planted"):
        run_job(bad, place, workers=1)
    assert "manifest.json" not in objects(place)
    assert job_status(place)[0].missing == (2, 3)
    with pytest.raises(OutputExists, match="unfinished"):
        run_job(bad, place, workers=1)
    run_job(JOB, place, workers=1, exists="overwrite")
    assert objects(place) == expected
    for index in range(2):
        run_job(JOB, f"{place}-parts", workers=1, shard_index=index, num_shards=2)
    assert objects(f"{place}-parts") == expected


def test_upload_that_arrives_short_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = remote.stat
    monkeypatch.setattr(remote, "stat", lambda path: replace(whole(path), size=whole(path).size - ("/data-" in path)))
    with pytest.raises(OutputError, match=r"data-00000-of-00004: \d+ bytes were sent, \d+ arrived"):
        run_job(JOB, "memory://bucket/short", workers=1, exists="overwrite")


def test_sizes_come_from_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_images(tmp_path / "photos", "i", 24, 16, 12, "jpg", classes=2, workers=1)
    server = LoopbackS3()
    server.put_folder("data", tmp_path / "photos")
    with server.running():
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        convert("s3://data", tmp_path / "remote", to="tfrecord", workers=1)
    convert(tmp_path / "photos", tmp_path / "local", to="tfrecord", workers=1)
    assert server.counts["HEAD"] == 0
    assert server.counts["GET"] == len({key for key, _, _ in server.log}) == len(server.objects)
    made = (tmp_path / "remote" / "data.tfrecord").read_bytes()
    assert made == (tmp_path / "local" / "data.tfrecord").read_bytes()


def test_jobs_read_a_store_as_they_read_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes, one request for each file and no HEAD for any; records with an index come in few requests."""
    create_images(tmp_path / "photos", "i", 24, 16, 24, "jpg", classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "records", to="tfrecord", samples_per_shard=12, workers=1)
    server = LoopbackS3()
    server.put_folder("data", tmp_path)
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    crop = {"img_size": 8, "num_shards": 2, "unknown_classes": "append"}
    jobs: list[tuple[str, Callable[[str, Path], object]]] = [
        ("photos", lambda source, out: convert(source, out, to="webdataset", workers=1)),
        ("photos", lambda source, out: ingest(source, out, **crop)),
        ("records", lambda source, out: augment(source, out, recipe="classification", workers=1)),
        ("records", lambda source, out: convert(source, out, to="folder", shuffle=True, workers=1)),
    ]
    with server.running():
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        for number, (source, job) in enumerate(jobs):
            job(str(tmp_path / source), tmp_path / f"local{number}")
            server.reset()
            job(f"s3://data/{source}", tmp_path / f"remote{number}")
            local, found = tree(tmp_path / f"local{number}"), tree(tmp_path / f"remote{number}")
            assert {**local, "manifest.json": ""} == {**found, "manifest.json": ""}
            assert server.counts["HEAD"] <= (2 if source == "records" else 0)  # files whose layout was looked at
            data = [entry for entry in server.log if entry[0].endswith((".jpg", ".tfrecord"))]
            assert len(data) == len(set(data)) == 24 if source == "photos" else len(data) <= 8
        assert verify("s3://data/records").is_whole and info("s3://data/photos").samples == 24


def test_the_folder_of_records_is_listed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create_images(tmp_path / "photos", "i", 24, 16, 12, "jpg", classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "records", to="tfrecord", workers=1)
    server = LoopbackS3()
    server.put_folder("data", tmp_path / "records")
    with server.running():
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        convert("s3://data", tmp_path / "out", to="webdataset", workers=1)
    assert server.counts["LIST"] == 1
    assert (tmp_path / "out" / "classes.txt").read_bytes() == (tmp_path / "records" / "classes.txt").read_bytes()


def test_sizes_of_the_output_come_from_listings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is written with one request for each file, and checked with a listing for each class."""
    create_images(tmp_path / "photos", "i", 24, 16, 40, "jpg", classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "local", to="folder", samples_per_shard=10, workers=1)
    server = LoopbackS3()
    server.put("data/kept", b"")
    with server.running():
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        convert(tmp_path / "photos", "s3://data/out", to="folder", samples_per_shard=10, workers=2)
    assert server.counts["HEAD"] < 10
    made = {key.removeprefix("data/out/"): value for key, value in server.objects.items() if "/out/" in key}
    local = {name for name in tree(tmp_path / "local") if not name.endswith("/")}
    assert set(made) == local
    assert all((tmp_path / "local" / name).read_bytes() == made[name] for name in local - {"manifest.json"})
