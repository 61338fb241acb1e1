"""Processes that end while requests are in flight."""

from __future__ import annotations

from remote_faults import exits


def test_a_process_ends_while_obstore_reads() -> None:
    assert exits(6) == {(0, ""): 6}
