"""What jobs write to S3: parts, conditional requests, and nothing that a killed job leaves."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback_s3 import Faults, LoopbackS3
from remote_faults import KilledJob
from remote_reads import round_trips
from small_jobs import NumbersJob, tree

from pixelmill import augment, convert
from pixelmill.create import create_images
from pixelmill.errors import DataError, OutputError, OutputExists
from pixelmill.jobs import output, output_stream, run, run_job, upload_stream
from pixelmill.jobs.lock import Lease, Lock
from pixelmill.jobs.remote_storage import RemoteStorage
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.storage import remote_writes

JOB = NumbersJob()

# The output and locks, the lock, the output again, the plan. Of the shard: the lock, files, the lock, the sidecar. The
# sizes with the lock; the list of all shards with the lock; the manifest; what is removed.
ROUND_TRIPS = 4 + 4 + 1 + 1 + 1 + 1
# A conversion of records lists the folder, looks at the start of each file and reads the index files before.
CONVERSION = ROUND_TRIPS + 3


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
    # Before: the folder and its state, locks, both again, the lock and its rivals. For each shard: the lock and its
    # rivals, twice. At the end: two folders of the output, for the sizes; the lock and its rivals, with them and before
    # each file about the whole dataset; and the state, which is removed.
    lists, gets = 6 + 2 * shards + 6, 1 + 2 * shards + 3
    assert server.counts["LIST"] <= lists
    assert server.counts["GET"] <= gets
    assert server.counts.get("HEAD", 0) == 0


def test_a_new_job_waits_for_few_round_trips(server: LoopbackS3) -> None:
    job, places = NumbersJob(count=4, per_shard=4), iter(range(3))
    trips = round_trips(server, lambda: run_job(job, f"s3://data/new-{next(places)}", workers=1), enough=ROUND_TRIPS)
    assert trips == ROUND_TRIPS


@pytest.mark.parametrize("remembered", [0, 2, 1000])
def test_what_a_run_remembers_of_its_shards_does_not_matter(
    remembered: int, server: LoopbackS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_REMEMBERED_FILES", remembered)
    run_job(JOB, tmp_path / "expected", workers=1)
    run_job(JOB, "s3://data/out", workers=1)
    made = {key.removeprefix("data/out/"): data for key, data in server.objects.items() if "/out/" in key}
    found = {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
    assert found == {name: found for name, found in tree(tmp_path / "expected").items() if not name.endswith("/")}


def test_a_file_that_vanishes_is_noticed_at_the_end(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run remembers is compared with what the store lists."""
    end = run._end

    def lost(*arguments: Any, **options: Any) -> Any:
        del server.objects[next(key for key in server.objects if key.startswith("data/out/data-00001"))]
        return end(*arguments, **options)

    monkeypatch.setattr(run, "_end", lost)
    report = run_job(JOB, "s3://data/out", workers=1)
    assert not report.complete and report.done == len(JOB.shards) - 1
    assert "data/out/manifest.json" not in server.objects


def test_pieces_in_memory_go_in_parts_too(server: LoopbackS3) -> None:
    pieces = [memoryview(bytes([number]) * (1 << 20)) for number in range(18)]
    RemoteStorage("s3://data/out").adopt({"large": pieces, "small": pieces[:2], "empty": []})
    found = server.objects
    assert found["data/out/large"] == b"".join(pieces) and found["data/out/small"] == b"".join(pieces[:2])
    assert found["data/out/empty"] == b"" and server.counts["parts"] == 3


def test_pieces_in_memory_reach_other_stores() -> None:
    storage = RemoteStorage(f"memory://{os.urandom(8).hex()}/out")
    storage.adopt({"file": [memoryview(b"one"), memoryview(b" two")]})
    assert storage.read("file") == b"one two"


def test_a_failed_upload_ends_the_others_of_its_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of the shard is removed next, so no thread may still send it."""
    began, failed, ended = threading.Event(), threading.Event(), threading.Event()
    sent: list[str] = []

    def upload(content: object, path: str, *, size: int) -> None:
        sent.append(path)
        if path.endswith("bad"):
            assert began.wait(60)
            failed.set()
            raise OSError("no room")
        began.set()
        assert failed.wait(60)
        time.sleep(0.1)
        ended.set()

    monkeypatch.setattr(remote_writes, "upload", upload)
    monkeypatch.setattr("pixelmill.jobs.remote_storage._UPLOADS", 2)
    storage = RemoteStorage(f"memory://{os.urandom(8).hex()}/out")
    with pytest.raises(OSError, match="no room"):
        storage.adopt({name: [] for name in ("bad", "slow", *map(str, range(20)))})
    assert ended.is_set() and len(sent) < 22
    before = len(sent)
    time.sleep(0.05)
    assert len(sent) == before


def test_shards_share_the_threads_that_send_files(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[int] = set()
    monkeypatch.setattr(remote_writes, "upload", lambda *_, size: threads.add(threading.get_native_id()))
    monkeypatch.setattr("pixelmill.jobs.remote_storage._UPLOADS", 2)
    storage = RemoteStorage(f"memory://{os.urandom(8).hex()}/out")
    for shard in range(5):
        storage.adopt({f"{shard}-{number}": [] for number in range(8)})
    assert 1 <= len(threads) <= 2


def test_shards_use_the_memory_of_those_that_were_sent(
    server: LoopbackS3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(upload_stream, "_BLOCK", 64)
    taken: list[object] = []  # kept, so that no other has the address of one
    take = upload_stream.Blocks.take

    def noting(self: upload_stream.Blocks) -> memoryview:
        block = take(self)
        assert isinstance(block.obj, np.ndarray)
        taken.append(block.obj.base)
        return block

    monkeypatch.setattr(upload_stream.Blocks, "take", noting)
    monkeypatch.setattr(output_stream, "_LARGE", 1)
    run_job(NumbersJob(count=400, per_shard=10), "s3://data/blocks", workers=1)
    assert len(set(map(id, taken))) < len(taken)
    run_job(NumbersJob(count=400, per_shard=10), tmp_path / "expected", workers=1)
    files = [path for path in (tmp_path / "expected").rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert len(files) > 80
    for path in files:
        key = f"data/blocks/{path.relative_to(tmp_path / 'expected').as_posix()}"
        assert server.objects[key] == path.read_bytes()


def test_locks_are_listed_with_the_output(server: LoopbackS3) -> None:
    storage = RemoteStorage("s3://data/out")
    lock = Lock(storage, ".pixelmill")
    assert lock.looked(lambda: storage.names("")) == []
    server.reset()
    lock.acquire(at_once=True)
    assert server.counts == {"PUT": 1}
    lock.release()
    late, other = Lock(storage, ".pixelmill"), Lock(storage, ".pixelmill")
    late.looked(lambda: storage.names(""))
    other.acquire()
    with pytest.raises(OutputError, match="is writing to"):
        late.acquire(at_once=True)
    other.release()


@pytest.mark.parametrize("small", [-1, 1 << 20])
def test_a_run_that_lost_its_lock_while_it_closed_the_dataset_writes_no_manifest(
    small: int, server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_SMALL", small)

    monkeypatch.setattr(NumbersJob, "close", _closing(server))
    with pytest.raises(OutputError, match="taken over"):
        run_job(JOB, "s3://data/out", workers=1)
    assert "data/out/manifest.json" not in server.objects


def test_a_lock_that_is_lost_while_large_files_about_the_dataset_are_sent_is_noticed(
    server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_SMALL", -1)

    def lose(method: str, key: str) -> None:
        if method == "PUT" and key.endswith("/list.txt"):
            for name in [name for name in server.objects if "/locks/" in name]:
                del server.objects[name]

    server.watch = lose
    with pytest.raises(OutputError, match="taken over"):
        run_job(JOB, "s3://data/out", workers=1)
    assert "data/out/manifest.json" not in server.objects


def _closing(server: LoopbackS3) -> Any:
    """Return the `close` of a job during which its lock vanishes."""
    close = NumbersJob.close

    def closing(self: NumbersJob, *arguments: Any) -> None:
        for name in [name for name in server.objects if "/locks/" in name]:
            del server.objects[name]
        close(self, *arguments)

    return closing


@pytest.mark.parametrize("exists", ["error", "resume"])
def test_the_first_shard_is_fetched_while_the_lock_is_taken(exists: Any, server: LoopbackS3, tmp_path: Path) -> None:
    """Unless the job may be one that needs no first shard any more."""
    create_images(tmp_path / "photos", "i", 24, 16, 8, "jpg", classes=2, workers=1)
    server.put_folder("data", tmp_path)
    seen: list[tuple[str, str]] = []
    server.watch = lambda method, key: seen.append((method, key))
    server.latency = 0.05
    convert("s3://data/photos", "s3://data/out", to="tfrecord", workers=1, exists=exists)
    server.latency, server.watch = 0.0, None
    lock = next(at for at, (method, key) in enumerate(seen) if method == "PUT" and "/locks/" in key)
    images = [at for at, (method, key) in enumerate(seen) if method == "GET" and key.endswith(".jpg")]
    assert len(images) == 8
    assert (images[0] < lock) == (exists == "error")
    with pytest.raises(OutputExists):
        convert("s3://data/photos", "s3://data/out", to="tfrecord", workers=1)


def test_augment_reads_each_range_of_its_first_records_once(server: LoopbackS3, tmp_path: Path) -> None:
    """The first record names the features of all shards; it is fetched with the samples, before the lock is taken."""
    create_images(tmp_path / "photos", "i", 24, 16, 8, "jpg", classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "records", to="tfrecord", workers=1, samples_per_shard=2)
    server.put_folder("data", tmp_path)
    seen: list[tuple[str, str]] = []
    server.watch = lambda method, key: seen.append((method, key))
    server.latency = 0.05
    report = augment("s3://data/records", "s3://data/out", workers=1)
    server.latency, server.watch = 0.0, None
    assert report.samples == 8
    lock = seen.index(next(entry for entry in seen if entry[0] == "PUT" and "/locks/" in entry[1]))
    reads = [at for at, (method, key) in enumerate(seen) if method == "GET" and key.endswith(".tfrecord")]
    assert len(reads) == 4 + 4  # the starts of the four files when they are opened, and their records
    assert reads[-1] < lock
    assert server.counts.get("HEAD", 0) == 0


def test_the_list_of_classes_is_read_while_the_output_is_looked_at(server: LoopbackS3, tmp_path: Path) -> None:
    create_images(tmp_path / "photos", "i", 24, 16, 8, "jpg", classes=2, workers=1)
    convert(tmp_path / "photos", tmp_path / "records", to="tfrecord", workers=1)
    server.put_folder("data", tmp_path)
    places = iter(range(3))
    trips = round_trips(
        server,
        lambda: convert("s3://data/records", f"s3://data/new-{next(places)}", to="webdataset", workers=1),
        enough=CONVERSION,
    )
    assert trips == CONVERSION
    assert server.objects["data/new-0/classes.txt"] == (tmp_path / "records" / "classes.txt").read_bytes()


def test_a_shard_is_hashed_while_the_lock_is_looked_at(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Event()
    make_shard, finish = NumbersJob.make_shard, ShardFiles.finish

    def making(self: NumbersJob, *arguments: Any) -> Any:
        looked.clear()
        server.watch = lambda method, key: looked.set() if method == "GET" and "/locks/lock-" in key else None
        return make_shard(self, *arguments)

    def finishing(self: ShardFiles) -> Any:
        if self.number == 0:
            assert looked.wait(60)
        return finish(self)

    monkeypatch.setattr(NumbersJob, "make_shard", making)
    monkeypatch.setattr(ShardFiles, "finish", finishing)
    monkeypatch.setattr(run, "Lock", partial(Lock, lease=Lease(beat=3600)))
    assert run_job(NumbersJob(count=4, per_shard=4), "s3://data/out", workers=1).complete
