"""Readers of files at addresses: the same samples in the same order as from this machine, in few requests."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_s3 import Faults, LoopbackS3
from remote_datasets import BATCH, COUNT, READERS, content, make, pipeline, upload

from pixelmill import Pipeline, fn
from pixelmill.engine import fetching
from pixelmill.errors import ArgumentError, DataError
from pixelmill.storage import object_store
from pixelmill.storage.fetch_work import FetchSettings
from pixelmill.storage.requests import Patience

EPOCH = COUNT // BATCH
QUICK = FetchSettings(patience=Patience(first_pause=0.001, longest_pause=0.01, deadline=30.0, attempt=2.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("remote")
    make(folder)
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[LoopbackS3]:
    server = LoopbackS3()
    server.put_folder("data", folder)
    with server.running():
        yield server


@pytest.fixture
def server(store: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> LoopbackS3:
    """The server without faults and counts, and a fetcher that does not wait long."""
    store.faults = Faults()
    store.reset()
    monkeypatch.setattr(fetching, "FetchSettings", lambda **given: FetchSettings(**{**vars(QUICK), **given}))
    return store


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AWS_PROFILE", raising=False)


def remote(kind: str, server: LoopbackS3, **options: Any) -> Any:
    options.setdefault("cache_size", 0)
    return pipeline(kind, "s3://data", storage_options=server.options, **options)


@pytest.fixture(scope="module")
def expected(folder: Path) -> dict[str, list[str]]:
    """Two shuffled epochs of each reader, from this machine."""
    return {kind: content(pipeline(kind, str(folder), random_shuffle=True), 2 * EPOCH) for kind in READERS}


@pytest.mark.parametrize("kind", READERS)
def test_memory_gives_what_this_machine_gives(kind: str, folder: Path, expected: dict[str, list[str]]) -> None:
    assert content(pipeline(kind, upload(folder), random_shuffle=True), 2 * EPOCH) == expected[kind]


@pytest.mark.parametrize("kind", READERS)
def test_s3_gives_what_this_machine_gives(kind: str, server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    assert content(remote(kind, server, random_shuffle=True, depth=2), 2 * EPOCH) == expected[kind]


def test_fsspec_reads_where_obstore_is_missing(
    server: LoopbackS3, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "locate", lambda *_: None)
    assert content(remote("file", server, random_shuffle=True), 2 * EPOCH) == expected["file"]


def test_http_and_file_addresses(server: LoopbackS3, folder: Path, expected: dict[str, list[str]]) -> None:
    for base in (f"{server.endpoint}/data", f"file://{folder}"):
        assert content(pipeline("tfrecord", base, random_shuffle=True), 2 * EPOCH) == expected["tfrecord"], base


def test_a_folder_costs_one_request_for_each_file(server: LoopbackS3) -> None:
    content(remote("file", server, random_shuffle=True), EPOCH)
    assert server.counts == {"LIST": 4, "GET": COUNT}  # the root and three class folders
    assert len({key for key, _, _ in server.log}) == COUNT


def test_records_in_file_order_are_merged(server: LoopbackS3) -> None:
    content(remote("tfrecord", server), EPOCH)
    data = [entry for entry in server.log if entry[0].endswith(".tfrecord")]
    assert len(data) == 3  # one for each of the files, which are small
    assert server.counts["HEAD"] == 0


@pytest.mark.parametrize("kind", ["file", "tfrecord", "webdataset", "mxnet", "numpy"])
def test_faults_lose_and_repeat_nothing(kind: str, server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    pipe = remote(kind, server, random_shuffle=True)
    pipe.build()
    server.faults = Faults(errors=0.3, resets=0.2, truncated=0.2, seed=3)
    assert content(pipe, 2 * EPOCH) == expected[kind]
    assert not pipe.errors.counts


def test_faults_lose_and_repeat_nothing_of_blocks(server: LoopbackS3, folder: Path) -> None:
    options: dict[str, Any] = {"random_shuffle": True, "shuffle_mode": "blocks", "shuffle_window": 2}
    wanted = content(pipeline("webdataset", str(folder), **options), 2 * EPOCH)
    pipe = remote("webdataset", server, **options)
    pipe.build()
    server.faults = Faults(errors=0.3, resets=0.2, truncated=0.2, hangs=0.05, seed=5)
    assert content(pipe, 2 * EPOCH) == wanted
    assert not pipe.errors.counts


def test_a_shard_that_vanishes_is_named_sample_by_sample(server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    pipe = remote("tfrecord", server, random_shuffle=True, on_error="fill")
    assert content(pipe, 1) == expected["tfrecord"][:BATCH]
    gone = "data/tfrecord/data-00001-of-00003.tfrecord"
    server.faults = Faults(gone={gone})
    pipe = remote("tfrecord", server, random_shuffle=True, on_error="fill")
    found = content(pipe, EPOCH)
    bad = [one != other for one, other in zip(found, expected["tfrecord"], strict=False)]
    assert sum(bad) == 10 == len({event.sample for event in pipe.errors.events})  # the samples of the shard
    assert {(event.kind, event.path) for event in pipe.errors.events} == {("io", f"s3://{gone}")}


@pytest.mark.parametrize("kept", ["environment", "profile"])
def test_credentials_that_expire_are_read_again(
    kept: str, server: LoopbackS3, expected: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run continues with what something else wrote to the environment, or to a profile, which fsspec reads."""
    profile = tmp_path / "credentials"

    def renew(key: str) -> None:
        if kept == "environment":
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        else:
            profile.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = x\n")
            monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profile))

    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    renew("old")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    pipe = pipeline("file", "s3://data", random_shuffle=True, cache_size=0)
    first = content(pipe, 1)
    server.faults = Faults(expired={"old"})
    renew("new")
    assert first + content(pipe, 2 * EPOCH - 1) == expected["file"]
    assert server.counts["expired"] > 0 and not pipe.errors.counts


def test_credentials_that_stay_expired_are_named(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    patience = replace(QUICK.patience, deadline=0.1)
    monkeypatch.setattr(fetching, "FetchSettings", lambda **given: FetchSettings(**given, patience=patience))
    pipe = remote("file", server)
    pipe.build()
    server.faults = Faults(expired={"test"})
    with pytest.raises(DataError, match=r"the credentials have expired; renew those in the environment"):
        pipe.run()


def test_connections_that_hang_are_asked_again(server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    pipe = remote("file", server, random_shuffle=True)
    pipe.build()
    server.faults = Faults(hangs=0.2, seed=2)
    assert content(pipe, 2 * EPOCH) == expected["file"]


def test_a_file_that_vanishes_is_a_bad_sample(server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    pipe = remote("file", server, random_shuffle=True, on_error="fill")
    pipe.build()
    server.faults = Faults(gone={"data/photos/class_001/i1.jpg"})
    found = content(pipe, EPOCH)
    (event,) = pipe.errors.events
    assert (event.kind, event.path) == ("io", "s3://data/photos/class_001/i1.jpg")
    assert "No such file" in event.message
    assert sum(one != other for one, other in zip(found, expected["file"], strict=False)) == 1
    with pytest.raises(DataError, match=r"io: No such file or directory .*s3://data/photos/class_001/i1.jpg"):
        content(remote("file", server), EPOCH)


def test_what_cannot_be_read_until_the_deadline_is_named(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    patience = replace(QUICK.patience, deadline=0.05)
    monkeypatch.setattr(fetching, "FetchSettings", lambda **given: FetchSettings(**given, patience=patience))
    pipe = remote("file", server)
    pipe.build()
    server.faults = Faults(errors=1.0)
    with pytest.raises(DataError, match=r"io: status 503 SlowDown \(after \d+ tries in 0.05 s\)"):
        pipe.run()


@pytest.mark.parametrize("mode", ["global", "blocks"])
def test_an_epoch_is_resumed_with_another_number_of_ranks(mode: str, server: LoopbackS3, folder: Path) -> None:
    def ranks(count: int, base: str) -> list[Any]:
        options = {"storage_options": server.options, "cache_size": 0} if base.startswith("s3") else {}
        shared = {"random_shuffle": True, "pad_last_batch": True, "shuffle_mode": mode, "shuffle_window": 2}
        return [
            pipeline("tfrecord", base, batch_size=4, num_shards=count, shard_id=rank, **shared, **options)
            for rank in range(count)
        ]

    seen = {}
    for base in (str(folder), "s3://data"):
        first = ranks(2, base)
        before = [content(pipe, 1) for pipe in first]
        state = first[0].state_dict()
        after = []
        for pipe in ranks(4, base):
            pipe.load_state_dict(state)
            after.append(content(pipe, 1))
        seen[base] = (before, after)
        assert len({sample for rank in (*before, *after) for sample in rank}) == COUNT
    assert seen[str(folder)] == seen["s3://data"]


def test_blocks_cover_an_epoch_in_one_request_for_each(server: LoopbackS3) -> None:
    for kind, ending in (("tfrecord", ".tfrecord"), ("webdataset", ".tar")):
        server.reset()
        pipe = remote(kind, server, random_shuffle=True, shuffle_mode="blocks", shuffle_window=2)
        assert len(set(content(pipe, EPOCH))) == COUNT
        assert len([entry for entry in server.log if entry[0].endswith(ending)]) == 3


@pytest.mark.parametrize(
    ("batch_size", "options", "started"),
    [
        (BATCH, {"cache_size": 0}, 0),  # a batch is a third of the epoch
        (1, {"cache_size": 0}, 1),
        (BATCH, {"cache_size": 1 << 24}, 1),  # it is there already
        (1, {"cache_size": 0, "shuffle_mode": "blocks"}, 0),
    ],
)
def test_little_is_fetched_of_an_epoch_that_may_never_be_wanted(
    batch_size: int, options: dict[str, Any], started: int, server: LoopbackS3
) -> None:
    pipe = remote("tfrecord", server, random_shuffle=True, batch_size=batch_size, depth=2, **options)
    first = content(pipe, COUNT // batch_size)
    assert len(pipe._ready().queue) == started
    second = content(pipe, COUNT // batch_size)
    assert first != second and sorted(first) == sorted(second)
    pipe.close()


def test_more_is_announced_before_half_of_it_was_taken(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = remote("tfrecord", server)
    schedule = pipe._ready()
    assert schedule._ahead is not None
    source = schedule._ahead.source
    most = source.fetcher.most_ahead
    monkeypatch.setattr(source.fetcher, "_ahead", 3 * most // 4)
    assert not source.is_low and source.wants_more
    monkeypatch.setattr(source.fetcher, "_ahead", 3 * most // 4 - 1)
    assert source.is_low
    pipe.close()


def test_a_warm_cache_asks_for_no_data(server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    for kind in ("file", "tfrecord"):
        cold = remote(kind, server, random_shuffle=True, cache_size=1 << 24)
        assert content(cold, 2 * EPOCH) == expected[kind]
        cold.close()  # returns when all that came is in the cache
        server.reset()
        assert content(remote(kind, server, random_shuffle=True, cache_size=1 << 24), 2 * EPOCH) == expected[kind]
        data = [key for key, _, _ in server.log if not key.endswith(".idx")]
        assert data == []


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("nonsense://x/y", r"not an address that fsspec knows.*s3://, gs://"),
        ("s3://nobucket/x", r"there is no bucket 'nobucket'; check its name"),
        ("s3://secret/x", r"access denied; check the credentials"),
    ],
)
def test_addresses_that_cannot_be_opened(base: str, message: str, server: LoopbackS3) -> None:
    server.faults = Faults(denied={"secret"})
    with pytest.raises((ArgumentError, DataError), match=message):
        pipeline("file", base, storage_options=server.options if base.startswith("s3") else None).build()


def test_options_must_be_a_dictionary() -> None:
    with pytest.raises(ArgumentError, match="storage_options must be a dictionary, got 5"):
        pipeline("file", "s3://data", storage_options=5)


def test_a_forked_process_reads_too(server: LoopbackS3, expected: dict[str, list[str]]) -> None:
    """In a fork, obstore would wait forever for threads that only its parent has."""
    pipe = remote("file", server, random_shuffle=True)
    assert content(pipe, 1) == expected["file"][:BATCH]
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=lambda: results.put(content(pipe, 1)))
    child.start()
    assert results.get(timeout=60) == expected["file"][BATCH : 2 * BATCH]
    child.join()
    assert content(pipe, 1) == expected["file"][BATCH : 2 * BATCH]


def test_credentials_are_not_saved_with_a_graph(server: LoopbackS3) -> None:
    saved = remote("file", server).serialize()
    assert b"endpoint_url" not in saved and b"storage_options" not in saved and b"file_root" in saved


def test_readers_with_different_options_are_refused(server: LoopbackS3) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1)
    with pipe:
        one = fn.readers.file(file_root="s3://data/photos", storage_options=server.options)[0]
        other = fn.readers.file(file_root="s3://data/photos", storage_options={**server.options, "anon": False})[0]
        pipe.set_outputs(one, other)
    with pytest.raises(ArgumentError, match="storage_options must be the same for all readers"):
        pipe.build()
