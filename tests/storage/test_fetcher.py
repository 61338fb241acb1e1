"""Fetching ahead: order, merged requests, repetitions, and what is kept in the cache."""

from __future__ import annotations

import gc
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from loopback_s3 import Faults, LoopbackS3
from peers import needs

from pixelmill.storage import cache as cache_folders
from pixelmill.storage.fetch_work import Fetched, FetchSettings, FetchWork
from pixelmill.storage.fetcher import Fetcher
from pixelmill.storage.pacing import (
    FEWEST_REQUESTS,
    KNOWN_FROM,
    MOST_AT_ONCE,
    MOST_REQUESTS,
    START_AHEAD,
    START_REQUESTS,
    WIDENED_BY,
    Pace,
)
from pixelmill.storage.range_cache import RangeCache
from pixelmill.storage.ranges import WHOLE, Merging, Range, Waiting
from pixelmill.storage.requests import Patience

pytestmark = needs("fsspec")


CONTENT = bytes(range(256)) * 64
QUICK = FetchSettings(patience=Patience(first_pause=0.001, longest_pause=0.01, attempt=2.0))


@pytest.fixture(scope="module")
def store() -> Iterator[LoopbackS3]:
    server = LoopbackS3()
    for number in range(4):
        server.put(f"data/{number}", CONTENT)
    with server.running():
        yield server


@pytest.fixture
def server(store: LoopbackS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoopbackS3:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    store.faults = Faults()
    store.reset()
    return store


@pytest.fixture
def fetcher(server: LoopbackS3) -> Iterator[Fetcher]:
    made = Fetcher(server.options, settings=QUICK)
    yield made
    made.close()


def piece(file: int, offset: int, length: int, version: str = "v1") -> Range:
    return Range(f"s3://data/{file}", offset, length, version)


def content(fetched: list[Fetched]) -> list[object]:
    return [bytes(item) if isinstance(item, memoryview) else item for item in fetched]


def test_ranges_come_in_the_order_they_were_asked_for(fetcher: Fetcher) -> None:
    wanted = [piece(1, 300, 10), None, piece(0, 5, 3), piece(2, 0, WHOLE), piece(0, 5, 3), piece(3, 7, 0)]
    found = content(fetcher.take(wanted, expected=False).result(30))
    assert found == [CONTENT[300:310], None, CONTENT[5:8], CONTENT, CONTENT[5:8], b""]


def test_what_was_announced_is_fetched_once(fetcher: Fetcher, server: LoopbackS3) -> None:
    batches = [[piece(file, 1000 * part, 100) for file in range(4)] for part in range(3)]
    for batch in batches:
        fetcher.plan(batch)
        fetcher.expect(batch)
    assert fetcher.ahead == 3 * 4 * 100
    for batch in batches:
        assert content(fetcher.take(batch, expected=True).result(30)) == [
            CONTENT[item.offset : item.offset + 100] for item in batch
        ]
    assert fetcher.ahead == 0
    assert server.counts["GET"] == 12
    assert content(fetcher.take(batches[0], expected=False).result(30))[0] == CONTENT[:100]
    assert server.counts["GET"] == 16  # nothing is kept after it was taken


def test_neighbors_are_one_request(fetcher: Fetcher, server: LoopbackS3) -> None:
    items = [piece(0, start, 90) for start in range(0, 9000, 100)]
    fetcher.expect(items)
    found = content(fetcher.take(items, expected=True).result(30))
    assert found == [CONTENT[item.offset : item.offset + 90] for item in items]
    assert server.log == [("data/0", 0, 8990)]


def test_what_was_withdrawn_is_not_kept(fetcher: Fetcher, server: LoopbackS3) -> None:
    items = [piece(0, 0, 10), piece(1, 0, 10)]
    fetcher.expect(items)
    fetcher.take(items[:1], expected=True).result(30)
    fetcher.drop(items[1:])
    fetcher.take(items[1:], expected=False).result(30)
    fetcher.expect(items)
    fetcher.forget()
    assert content(fetcher.take(items, expected=False).result(30)) == [CONTENT[:10]] * 2


def test_errors_that_stay_are_faults_of_their_range(fetcher: Fetcher, server: LoopbackS3) -> None:
    server.faults = Faults(denied={"data/1"}, gone={"data/2"})
    found = content(fetcher.take([piece(file, 0, 4) for file in range(3)], expected=False).result(30))
    assert found[0] == CONTENT[:4]
    assert isinstance(found[1], tuple) and found[1][0] == "io" and "access denied" in found[1][1]
    assert found[2] == ("io", "No such file or directory")
    server.faults = Faults()
    assert content(fetcher.take([piece(1, 0, 4)], expected=False).result(30)) == [CONTENT[:4]]  # it is tried again


def test_failed_requests_are_not_waited_for(server: LoopbackS3) -> None:
    """A traceback that refers to an answer would keep it until the garbage collector runs, and closing would wait."""
    server.faults = Faults(denied={"data/1"})
    fetcher = Fetcher(server.options, settings=QUICK)
    gc.collect()
    gc.disable()
    try:
        (found,) = fetcher.take([piece(1, 0, 4)], expected=False).result(30)
        fetcher.close()
        assert isinstance(found, tuple) and not fetcher._work._client._futures
    finally:
        gc.enable()


def test_closing_cancels_who_waits(server: LoopbackS3) -> None:
    server.faults = Faults(hangs=1.0)
    fetcher = Fetcher(server.options, settings=QUICK)
    waiting = fetcher.take([piece(0, 0, 4)], expected=False)
    fetcher.close()
    assert waiting.cancelled()
    assert fetcher.take([piece(0, 0, 4)], expected=False).cancelled()


def test_merging_stops_at_its_limits() -> None:
    waiting = Waiting(Merging(free_gap=10, max_gap=100, waste=0.1, max_bytes=1000))
    near, far, big = piece(0, 0, 500), piece(0, 540, 100), piece(0, 700, 400)
    for number, item in enumerate((near, far, big, piece(1, 0, 5), piece(0, 500, 5, "v2"))):
        waiting.add(item, number)
    assert waiting.take(near) == [near, far]  # 40 bytes between are below a tenth; with `big` it would be 1100 bytes
    assert waiting.take(big) == [big]
    assert waiting.take(piece(0, 500, 5, "v2")) == [piece(0, 500, 5, "v2")]  # another version of the file
    waiting.add(near, 0)
    waiting.add(far, 1)
    assert waiting.take(far) == [far]  # 40 bytes are too much for 100
    next_to_it = piece(0, 500, 5)
    waiting.add(next_to_it, 1000)
    assert waiting.take(near) == [near]  # its neighbor is needed much later
    waiting.add(near, 999)
    assert waiting.take(near) == [near, next_to_it]
    waiting.add(near, 0)
    waiting.discard(near)
    assert waiting.take(near) == [near]  # not known any more, and alone


def test_the_pace_follows_the_store() -> None:
    pace = Pace(1 << 30)
    pace.stalled()
    assert (pace.ahead, pace.limit) == (START_AHEAD, START_REQUESTS)  # before the first answer, every batch waits
    pace.finished(0.1)
    assert pace.limit == START_REQUESTS  # enough until a batch has to wait
    pace.stalled()
    assert pace.ahead == 2 * START_AHEAD
    assert START_REQUESTS < pace.limit < 2 * START_REQUESTS
    for _ in range(100):
        pace.finished(0.1)
        pace.stalled()
    assert pace.limit == MOST_REQUESTS
    pace.allow(32)
    assert pace.limit == 32
    for _ in range(200):
        pace.throttled()
    assert pace.limit == FEWEST_REQUESTS
    slow = Pace(1 << 30)
    for seconds in [0.01] * KNOWN_FROM + [5.0] * 100:
        slow.finished(seconds)
    slow.stalled()
    assert slow.limit == START_REQUESTS  # requests that become slower do not become more
    assert slow.patience() == 20.0


def test_more_requests_are_allowed_until_the_first_answer() -> None:
    pace = Pace(1 << 30)
    assert pace.widened() and pace.limit == START_REQUESTS + WIDENED_BY
    pace.finished(0.1)
    assert not pace.widened() and pace.limit == START_REQUESTS + WIDENED_BY  # as many as fit into one answer's time
    slow = Pace(1 << 30)
    assert sum(slow.widened() for _ in range(1000)) < 1000 and slow.limit == MOST_REQUESTS
    busy = Pace(1 << 30)
    busy.throttled()
    assert not busy.widened() and busy.limit < START_REQUESTS
    few = Pace(1 << 30)
    few.allow(32)
    assert not few.widened() and few.limit == 32


def test_the_first_batch_is_sent_at_once() -> None:
    pace = Pace(1 << 30)
    pace.begin(100)
    assert pace.limit == 100
    pace.begin(120)  # the second one, which is started before the first has come
    assert pace.limit == 100
    large, small = Pace(1 << 30), Pace(1 << 30)
    large.begin(1000)
    small.begin(10)
    assert (large.limit, small.limit) == (MOST_AT_ONCE, START_REQUESTS)
    few = Pace(1 << 30)
    few.allow(32)
    few.begin(100)
    assert few.limit == 32


def test_requests_follow_while_no_answer_has_come(server: LoopbackS3) -> None:
    server.faults = Faults(hangs=1.0)
    fetcher = Fetcher(server.options, settings=replace(QUICK, merging=Merging(max_bytes=1)))
    fetcher.expect([piece(number % 4, number // 4, 1) for number in range(2 * MOST_REQUESTS)])
    many = START_REQUESTS + 3 * WIDENED_BY
    for _ in range(20_000):
        if len(set(server.log)) >= many:
            break
        time.sleep(0.001)
    assert len(set(server.log)) >= many
    fetcher.close()


def test_taking_the_first_batch_sends_all_of_it(fetcher: Fetcher) -> None:
    items = [piece(number % 4, number // 4, 1) for number in range(MOST_AT_ONCE)]
    fetcher.expect(items)
    fetcher.take(items, expected=True).result(30)
    assert fetcher._work.pace.limit >= MOST_AT_ONCE


def test_hedging_is_limited() -> None:
    pace = Pace(1 << 30)
    for _ in range(1000):
        pace.started()
    assert sum(pace.may_hedge() for _ in range(1000)) == 52


def test_the_cache_is_private_and_checked(server: LoopbackS3, tmp_path: Path) -> None:
    cache = RangeCache("s3://data", size=1 << 20)
    item = piece(0, 10, 5)
    cache.write(item, memoryview(b"hello"))
    cache.write(piece(1, 0, 3, ""), memoryview(b"old"))  # without a version, nothing would tell that it is old
    assert cache.holds(item) and cache.read(item) == b"hello"
    assert not cache.holds(piece(1, 0, 3, "")) and not cache.holds(piece(0, 10, 5, "v2"))
    folders = [path for path in (tmp_path / "cache").rglob("*") if path.is_dir()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in folders] == [0o700] * 2
    (kept,) = (path for path in folders[-1].iterdir() if not path.name.startswith("."))
    kept.write_bytes(b"jello" + kept.read_bytes()[5:])
    assert cache.read(item) is None and not kept.exists()


def test_what_came_is_kept_although_the_fetcher_is_closed(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = threading.Event()
    close, write = FetchWork.close, RangeCache.write
    monkeypatch.setattr(FetchWork, "close", lambda work: (close(work), closed.set()))
    monkeypatch.setattr(RangeCache, "write", lambda *arguments: closed.wait(60) and write(*arguments))
    cache = RangeCache("s3://data", size=1 << 20)
    fetcher = Fetcher(server.options, settings=QUICK, cache=cache)
    for number in range(20):  # more than there are threads that write
        server.put(f"data/more-{number}", CONTENT)
    items = [Range(f"s3://data/more-{number}", 0, 100, "v1") for number in range(20)]
    assert content(fetcher.take(items, expected=False).result(30)) == [CONTENT[:100]] * 20
    fetcher.close()
    assert [cache.read(item) for item in items] == [CONTENT[:100]] * 20


def test_a_closed_fetcher_sends_nothing_more(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    """A range of the cache turns out to be damaged after the end."""
    closed = threading.Event()
    close = FetchWork.close
    monkeypatch.setattr(FetchWork, "close", lambda work: (close(work), closed.set()))
    monkeypatch.setattr(RangeCache, "read", lambda *arguments: closed.wait(60) and None)
    cache = RangeCache("s3://data", size=1 << 20)
    cache.write(piece(0, 0, 4), memoryview(b"kept"))
    fetcher = Fetcher(server.options, settings=QUICK, cache=cache)
    taken = fetcher.take([piece(0, 0, 4)], expected=False)
    fetcher.close()
    assert taken.cancelled() and not fetcher._work._requests and not server.log


def test_the_cache_keeps_to_its_size_and_removes_other_datasets(server: LoopbackS3) -> None:
    other = RangeCache("s3://other", size=5000)
    other.write(piece(0, 0, 2000), memoryview(bytes(2000)))
    assert not RangeCache("s3://data", size=1000)._has_room(10)  # the other one is in use
    folder = other._folder
    os.close(cache_folders._held.pop(folder))  # as at the end of a process
    cache = RangeCache("s3://data", size=5000)
    for number in range(6):
        cache.write(piece(number, 0, 1000), memoryview(bytes(1000)))
    assert [cache.holds(piece(number, 0, 1000)) for number in range(6)] == [True] * 4 + [False] * 2
    assert not folder.exists()


READ = """
import sys
from pixelmill.storage.fetch_work import FetchSettings
from pixelmill.storage.fetcher import Fetcher
from pixelmill.storage.range_cache import RangeCache
from pixelmill.storage.ranges import Range
options = {"key": "t", "secret": "t", "endpoint_url": sys.argv[1], "client_kwargs": {"region_name": "us-east-1"}}
fetcher = Fetcher(options, settings=FetchSettings(), cache=RangeCache("s3://data", size=1 << 24))
items = [Range(f"s3://data/{file}", 100 * part, 100, "v1") for part in range(40) for file in range(4)]
found = fetcher.take(items, expected=False).result(60)
print(sum(len(item) for item in found))
"""


def test_processes_fetch_each_range_once(server: LoopbackS3) -> None:
    command = [sys.executable, "-c", READ, server.endpoint]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=120)[0] for process in running] == ["16000\n"] * 3
    assert server.sent == 16000
