"""Reads that were announced: what has arrived is kept if it is announced again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback_s3 import LoopbackS3

from pixelmill.storage import announced_reads
from pixelmill.storage.announced_reads import AnnouncedReads, whole_file
from pixelmill.storage.local import FileStat
from pixelmill.storage.options import using

PATHS = [f"s3://data/{number}" for number in range(6)]


@pytest.fixture
def server() -> Iterator[LoopbackS3]:
    found = LoopbackS3()
    for number in range(6):
        found.put(f"data/{number}", b"%d" % number)
    with found.running(), using(found.options):
        yield found


def taken(reads: AnnouncedReads, paths: list[str]) -> list[memoryview | None]:
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


def test_the_beginning_of_what_was_announced_changes_nothing(server: LoopbackS3) -> None:
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS))
    for number in range(6):
        reads.begin(map(whole_file, PATHS[number : number + 2]))
        assert reads.take(PATHS[number], 0, -1) == b"%d" % number
    assert len(server.log) == 6


def test_nothing_replaces_everything(server: LoopbackS3) -> None:
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS))
    assert reads.take(PATHS[0], 0, -1) == b"0"
    reads.begin(())
    assert reads.take(PATHS[1], 0, -1) is None


def test_a_file_of_known_size_is_one_request_that_notices_growth(server: LoopbackS3) -> None:
    server.put("data/1", b"x" * 99)  # 1 byte when it was listed
    server.put("data/2", b"")
    reads = AnnouncedReads()
    sizes = [FileStat(1, 0), FileStat(1, 0), FileStat(0, 0), FileStat(1, 0)]
    reads.begin(map(whole_file, PATHS[:4], sizes))
    assert reads.take(PATHS[0], 0, -1) == b"0"
    with pytest.raises(OSError, match="had 1 bytes when it was listed, and has more now"):
        reads.take(PATHS[1], 0, -1)
    assert taken(reads, PATHS[2:4]) == [b"", b"3"]
    ranges = {key: (offset, length) for key, offset, length in server.log}
    assert ranges["data/0"] == (0, 1)
    assert len(server.log) == 4


def test_much_is_read_ahead_from_the_beginning(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection is slow, so requests for few bytes would make the first shards wait."""
    monkeypatch.setattr(announced_reads, "_AHEAD", 100 << 20)
    coming = iter(whole_file(PATHS[number % 6], FileStat(1 << 20, 0)) for number in range(300))
    reads = AnnouncedReads()
    reads.begin(coming)
    assert len(list(coming)) == 200


def test_the_next_group_is_handed_over_while_one_is_used(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_reads, "_AT_ONCE", 2)
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS))
    assert reads.take(PATHS[0], 0, -1) == b"0"
    ((group, coming),) = reads._asked
    assert [item.path for item in group] == PATHS[2:4]
    assert coming.result(timeout=60) == [b"2", b"3"]  # nothing has to be taken for it
    assert taken(reads, PATHS[1:]) == [b"1", b"2", b"3", b"4", b"5"]
    assert len(server.log) == 6


def test_groups_have_a_limit_of_bytes(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_reads, "_BYTES_AT_ONCE", 2)
    reads = AnnouncedReads()
    reads.begin(whole_file(path, FileStat(1, 0)) for path in PATHS)
    assert reads.take(PATHS[0], 0, -1) == b"0"
    assert [[item.path for item in group] for group, _ in reads._asked] == [PATHS[2:4]]


def test_announcements_change_while_a_group_is_being_handed_over(
    server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announced_reads, "_AT_ONCE", 2)
    reads = AnnouncedReads()
    reads.begin(map(whole_file, PATHS))
    assert reads.take(PATHS[0], 0, -1) == b"0"
    reads.begin(map(whole_file, PATHS[1:]))  # what is left
    assert taken(reads, PATHS[1:3]) == [b"1", b"2"]
    assert reads.take(PATHS[5], 0, -1) == b"5"  # past one that has been handed over and one that has not
    assert len(server.log) == 6
    reads.begin(map(whole_file, PATHS[:4]))
    assert reads.take(PATHS[0], 0, -1) == b"0"
    reads._asked[0][1].result(timeout=60)  # else a request may be cut off, which the server takes for a leak
    reads.begin(map(whole_file, [PATHS[4], PATHS[0]]))  # others
    assert taken(reads, [PATHS[4], PATHS[0]]) == [b"4", b"0"]
    assert reads.take(PATHS[2], 0, -1) is None
