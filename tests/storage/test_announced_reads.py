"""Reads that were announced: what has arrived is kept if it is announced again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback_s3 import LoopbackS3

from pixelmill.storage.announced_reads import AnnouncedReads, whole_file
from pixelmill.storage.options import using

PATHS = [f"s3://data/{number}" for number in range(6)]


@pytest.fixture
def server() -> Iterator[LoopbackS3]:
    found = LoopbackS3()
    for number in range(6):
        found.put(f"data/{number}", b"%d" % number)
    with found.running(), using(found.options):
        yield found


def taken(reads: AnnouncedReads, paths: list[str]) -> list[bytes | None]:
    return [reads.take(path, 0, -1) for path in paths]


def test_what_is_announced_again_is_fetched_once(server: LoopbackS3) -> None:
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS[:4]))
    assert taken(reads, PATHS[:2]) == [b"0", b"1"]
    reads.begin(map(whole_file, PATHS[2:]))
    assert taken(reads, PATHS[2:]) == [b"2", b"3", b"4", b"5"]
    assert sorted(key for key, _, _ in server.log) == [f"data/{number}" for number in range(6)]


def test_other_reads_replace_those_announced_before(server: LoopbackS3) -> None:
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS[:4]))
    reads.begin(map(whole_file, [PATHS[4], PATHS[0]]))
    assert taken(reads, [PATHS[4], PATHS[0]]) == [b"4", b"0"]
    assert reads.take(PATHS[1], 0, -1) is None
