"""Files that are fetched as a whole come in parts, many at a time."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_s3 import LoopbackS3
from peers import needs
from remote_reads import round_trips

from pixelmill.storage import object_store, remote
from pixelmill.storage.local import FileStat
from pixelmill.storage.options import using

pytestmark = needs("obstore")

PART = 1000
CONTENT = os.urandom(10 * PART + 17)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remote, "_PART", PART)
    monkeypatch.setattr(remote, "_FIRST_PAUSE", 0.001)
    found = LoopbackS3()
    found.put("data/x.tar", CONTENT)
    with found.running(), using(found.options):
        yield found


def test_a_file_is_fetched_in_parts_that_wait_together(server: LoopbackS3) -> None:
    def fetch() -> None:
        local = Path(remote.fetch("s3://data/x.tar"))
        assert local.read_bytes() == CONTENT
        assert sorted(begin for _, begin, _ in server.log) == list(range(0, len(CONTENT), PART))
        local.unlink()

    assert round_trips(server, fetch, enough=2) == 2  # its size, and all parts


def test_each_part_is_tried_again(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_TRIES", 12)
    server.faults.errors, server.faults.truncated, server.faults.resets = 0.2, 0.1, 0.1
    assert Path(remote.fetch("s3://data/x.tar")).read_bytes() == CONTENT
    assert len(server.log) > 11


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART])
def test_a_small_file_is_one_request(size: int, server: LoopbackS3) -> None:
    server.put("data/small", CONTENT[:size])
    assert Path(remote.fetch("s3://data/small")).read_bytes() == CONTENT[:size]
    assert len(server.log) == 1


def test_a_file_that_changes_meanwhile_is_an_error(server: LoopbackS3) -> None:
    """Parts of two versions would make a file that never was."""
    found = remote.stat("s3://data/x.tar")
    server.put("data/x.tar", os.urandom(len(CONTENT)))
    with pytest.raises(OSError, match="has changed since it was looked at") as caught:
        remote.fetch("s3://data/x.tar", found)
    assert caught.value.filename == "s3://data/x.tar"
    assert not list((Path(os.environ["PIXELMILL_CACHE"])).rglob("*.tar"))


@pytest.mark.parametrize("version", ["", 'W/"1"'])
def test_a_file_without_a_strong_version_is_one_request(version: str, server: LoopbackS3) -> None:
    found = FileStat(len(CONTENT), 5, version)
    assert Path(remote.fetch("s3://data/x.tar", found)).read_bytes() == CONTENT
    assert len(server.log) == 1


def test_web_servers_need_not_know_ranges(server: LoopbackS3) -> None:
    address = f"{server.endpoint}/data/x.tar"
    with using({}):
        assert Path(remote.fetch(address)).read_bytes() == CONTENT
    assert len(server.log) == 1


def test_a_failure_sends_no_further_parts(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    def part(*_: object, offset: int, **__: object) -> None:
        sent.append(offset)
        raise PermissionError(13, "denied", "s3://data/x.tar")

    monkeypatch.setattr(object_store, "download_part", part)
    monkeypatch.setattr(remote, "_PARTS_AT_ONCE", 1)
    remote._parts_pool.cache_clear()
    server.put("data/long", os.urandom(500 * PART))
    with pytest.raises(PermissionError, match="denied"):
        remote.fetch("s3://data/long")
    remote._parts_pool.cache_clear()
    assert len(sent) < 500


def test_a_failure_waits_for_parts_that_are_on_their_way(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    """They write to the file that is removed then."""
    second, ended = threading.Event(), threading.Event()

    def part(*_: object, offset: int, **__: object) -> None:
        if offset == 0:
            second.wait(60)
            raise PermissionError(13, "denied", "s3://data/x.tar")
        second.set()
        time.sleep(0.1)
        ended.set()

    monkeypatch.setattr(object_store, "download_part", part)
    server.put("data/two", CONTENT[: 2 * PART])
    with pytest.raises(PermissionError, match="denied"):
        remote.fetch("s3://data/two")
    assert ended.is_set()


@pytest.mark.parametrize("large", [len(CONTENT), len(CONTENT) + 1])
def test_it_is_said_that_a_large_file_is_fetched(
    large: int, server: LoopbackS3, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(remote, "_LARGE", large)
    with caplog.at_level(logging.WARNING, "pixelmill"):
        remote.fetch("s3://data/x.tar")
        remote.fetch("s3://data/x.tar")
    expected = ["pixelmill: s3://data/x.tar (10.0 kB) is fetched into the cache as a whole"]
    assert [record.getMessage() for record in caplog.records] == (expected if large == len(CONTENT) else [])
