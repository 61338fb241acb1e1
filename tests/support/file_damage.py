"""Damages small files in every simple way there is: for tests and for the table in docs/formats.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Read = Callable[[bytes], tuple[list[Any], bool]]


def changed(data: bytes, flips: Sequence[int] = range(1, 256)) -> Iterator[bytes]:
    """Yield the file with each byte changed into others."""
    for place, byte in enumerate(data):
        for flip in flips:
            yield data[:place] + bytes([byte ^ flip]) + data[place + 1 :]


def cut(data: bytes) -> Iterator[bytes]:
    """Return every beginning of the file."""
    return (data[:length] for length in range(len(data)))


def with_one_more(data: bytes, values: Sequence[int] = (0, 1, 255)) -> Iterator[bytes]:
    """Yield the file with one byte too many, in each place."""
    for place in range(len(data) + 1):
        for value in values:
            yield data[:place] + bytes([value]) + data[place:]


def with_one_less(data: bytes) -> Iterator[bytes]:
    """Return the file with one byte missing, in each place."""
    return (data[:place] + data[place + 1 :] for place in range(len(data)))


def with_blocks_swapped(data: bytes, size: int = 16) -> Iterator[bytes]:
    """Yield the file with each pair of different blocks in each other's place."""
    starts = range(0, len(data) - size + 1, size)
    for number, first in enumerate(starts):
        for second in starts[number + 1 :]:
            one, other = data[first : first + size], data[second : second + size]
            if one != other:
                yield data[:first] + other + data[first + size : second] + one + data[second + size :]


def outcome(read: Read, data: bytes, intact: list[Any]) -> str:
    """Say what a reader makes of a damaged file.

    `found` means that the reader complained and gave nothing that was not written; `harmless`, that all is as it was
    written; `found, wrong` that it complained and gave a wrong sample all the same; `silent` that it gave a wrong
    sample, or fewer, and said nothing.
    """
    samples, complained = read(data)
    right = all(sample in intact for sample in samples)
    if complained:
        return "found" if right else "found, wrong"
    return "harmless" if samples == intact else "silent"


def table(read: Read, data: bytes, damages: Iterator[bytes]) -> Counter[str]:
    """Count the outcomes."""
    intact, complained = read(data)
    assert not complained
    return Counter(outcome(read, damaged, intact) for damaged in damages)
