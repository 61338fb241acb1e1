"""Ends with requests in flight: run by the tests of what happens to a process that exits while obstore reads.

    exit_program.py ENDPOINT [careless]

The shutdown of the interpreter takes a while here, in which a thread of obstore that wants the GIL would abort the
process. With `careless`, the program does not wait for those threads, to show that it would, in some runs.
"""

from __future__ import annotations

import sys
import time

from pixelmill.storage.clients import Client
from pixelmill.storage.fetch_work import FetchSettings
from pixelmill.storage.fetcher import Fetcher
from pixelmill.storage.ranges import Range
from pixelmill.storage.requests import Request


class LongEnd:
    """Makes the shutdown of the interpreter take a while, in which other threads can ask for the GIL."""

    def __init__(self) -> None:
        self._sleep = time.sleep

    def __del__(self) -> None:
        self._sleep(0.2)


async def not_at_all(client: Client, *, timeout: float) -> None:
    """Return at once."""


def main(endpoint: str, *, is_careless: bool) -> None:
    """Read a few ranges, and end while others are on their way."""
    if is_careless:
        Client.ended = not_at_all  # type: ignore[method-assign,assignment]
        Client.close = lambda self: None  # type: ignore[method-assign]
        Request.cancel = lambda self: None  # type: ignore[method-assign]
    sys.setswitchinterval(1e-6)
    options = {"key": "t", "secret": "t", "endpoint_url": endpoint, "client_kwargs": {"region_name": "us-east-1"}}
    fetcher = Fetcher(options, settings=FetchSettings())
    items = [Range(f"s3://data/{file}", 64 * part, 32, "v1") for part in range(60) for file in range(4)]
    fetcher.expect([items[place * 7 % len(items)] for place in range(len(items))])
    fetcher.take(items[:4], expected=False).result(60)


if __name__ == "__main__":
    long_end = LongEnd()
    main(sys.argv[1], is_careless="careless" in sys.argv)
