"""What jobs write to S3: parts, conditional requests, and nothing that a killed job leaves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_s3 import Faults, LoopbackS3
from remote_faults import KilledJob
from small_jobs import NumbersJob, tree

from pixelmill.errors import DataError, OutputError
from pixelmill.jobs import run_job
from pixelmill.jobs.remote_storage import RemoteStorage
from pixelmill.storage import remote_writes

JOB = NumbersJob()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    found = LoopbackS3()
    found.put("data/kept", b"of another program")
    with found.running():
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.endpoint)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
        (tmp_path / "scratch").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
        yield found


def test_a_lock_is_created_by_one_request(server: LoopbackS3) -> None:
    storage = RemoteStorage("s3://data/out")
    assert storage.create("lock", b"first")
    assert server.counts == {"PUT": 1}
    assert not storage.create("lock", b"second")
    assert storage.read("lock") == b"first"


def test_a_lock_in_memory_is_created_once() -> None:
    storage = RemoteStorage(f"memory://{os.urandom(8).hex()}/out")
    assert storage.create("lock", b"first")
    assert not storage.create("lock", b"second")
    assert storage.read("lock") == b"first"


def test_a_store_without_conditional_requests_is_asked_before(
    server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(path: str, data: bytes) -> bool:
        raise NotImplementedError

    monkeypatch.setattr(remote_writes, "_created", unknown)
    storage = RemoteStorage("s3://data/out")
    assert storage.create("lock", b"first")
    assert not storage.create("lock", b"second")


def test_large_files_go_in_parts(server: LoopbackS3, tmp_path: Path) -> None:
    large = bytes(range(256)) * (70 << 10)
    (tmp_path / "large").write_bytes(large)
    (tmp_path / "small").write_bytes(b"small")
    RemoteStorage("s3://data/out").adopt({"large": tmp_path / "large", "a/small": tmp_path / "small"})
    assert server.objects["data/out/large"] == large and server.objects["data/out/a/small"] == b"small"
    assert (server.counts["parts"], server.counts["PUT"], server.uploads) == (3, 1, {})
    assert not (tmp_path / "large").exists()


def test_open_uploads_and_scratch_of_killed_jobs_are_removed(server: LoopbackS3, tmp_path: Path) -> None:
    run_job(JOB, tmp_path / "expected", workers=1)
    with pytest.raises(DataError):
        run_job(NumbersJob(bad=(25,)), "s3://data/out", workers=1)
    server.uploads = {
        "1": ("data/out/data-00001-of-00004", {1: b"x"}),
        "2": ("data/elsewhere/data-00001-of-00004", {}),
    }
    abandoned = tmp_path / "scratch" / "pixelmill-job-killed"
    abandoned.mkdir()
    (abandoned / ".in-use").touch()
    run_job(JOB, "s3://data/out", workers=1, exists="overwrite")
    assert list(server.uploads) == ["2"]
    assert list((tmp_path / "scratch").iterdir()) == []
    made = {key.removeprefix("data/out/") for key in server.objects if key.startswith("data/out/")}
    assert made == {name for name in tree(tmp_path / "expected") if not name.endswith("/")}


def test_a_part_of_a_job_aborts_its_own_uploads_alone(server: LoopbackS3) -> None:
    run_job(JOB, "s3://data/out", workers=1, shard_index=0, num_shards=2)
    names = {str(number): (f"data/out/data-0000{number}-of-00004", {}) for number in range(4)}
    server.uploads = {**names}
    run_job(JOB, "s3://data/out", workers=1, shard_index=1, num_shards=2)
    assert sorted(server.uploads) == ["0", "2"]


def test_scratch_folders_in_use_stay(server: LoopbackS3) -> None:
    one, other = RemoteStorage("s3://data/a"), RemoteStorage("s3://data/b")
    first, second = one.scratch("x"), other.scratch("x")
    assert sorted((first.parent).iterdir()) == sorted((first, second))
    assert [path.name for path in first.iterdir()] == [".in-use"]


def test_denied_output_says_so(server: LoopbackS3) -> None:
    server.faults = Faults(denied={"data"})
    with pytest.raises((OutputError, PermissionError), match="access denied; check the credentials"):
        run_job(JOB, "s3://data/out", workers=1)


def test_a_killed_job_from_s3_to_s3_leaves_nothing(tmp_path: Path) -> None:
    job = KilledJob(tmp_path)
    made, requests = job.expected()
    assert sum(name.endswith(".tfrecord") for name in made) == 3 and "manifest.json" in made
    for at in (requests // 2, requests * 3 // 4):
        assert job.killed(at) == []


def test_a_new_job_asks_a_store_few_questions(server: LoopbackS3) -> None:
    """Requests that wait for one another are the cost of a small job: they are counted."""
    run_job(JOB, "s3://data/new", workers=1)
    shards = len(JOB.shards)
    # Before: the folder, its locks, the folder again, its plan, the lock and its rivals.
    # For each shard: the lock and its rivals, twice. At the end: sidecars, for the sizes, for the closing file and for
    # the manifest; the folders of the output and of the state; the manifest; the lock and its rivals, twice; the state
    # again, and the lock.
    lists, gets = 4 + 2 * shards + 6, 2 + 2 * shards + 3 * shards + 4
    assert server.counts["LIST"] <= lists
    assert server.counts["GET"] <= gets
    assert server.counts.get("HEAD", 0) == 0
