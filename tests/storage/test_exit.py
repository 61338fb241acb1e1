"""Processes that end while requests are in flight."""

from __future__ import annotations

from peers import needs
from remote_faults import exits

pytestmark = needs("obstore")


def test_a_process_ends_while_obstore_reads() -> None:
    assert exits(6) == {(0, ""): 6}
