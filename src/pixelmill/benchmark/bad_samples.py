"""Finds bad samples before anything is measured, by reading all of them once as training would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pixelmill.benchmark.peers.pixelmill import Batches
from pixelmill.benchmark.workload import Kind, PeerTask, Source
from pixelmill.errors import DataError, Event

_BATCH = 32


@dataclass(frozen=True)
class BadSamples:
    """The samples that cannot be used.

    Attributes:
        files: The files they are in.
        events: What is wrong with each of them.
    """

    files: frozenset[str]
    events: tuple[Event, ...]


def find_bad_samples(
    source: Source, kind: Kind, *, most: int, threads: int, on_batch: Callable[[float], object] = lambda _: None
) -> BadSamples:
    """Read, decode and resize every sample once.

    Args:
        source: The samples.
        kind: `read` if they are not images; anything else decodes them.
        most: Upper limit of samples to read.
        threads: Number of samples to process at the same time.
        on_batch: Called with the fraction that is done.
    """
    plain: Kind = "read" if kind == "read" else "resize"
    job = PeerTask("pixelmill", "", plain, replace(source, repeats=1, indexes=[]), _BATCH, threads, seed=0, size=32)
    batches = Batches(job)
    count = -(-min(batches.pipe.reader_meta("Reader")["epoch_size"], most) // _BATCH)
    found: dict[tuple[str | None, int | None], Event] = {}
    for place in range(count):
        try:
            next(batches)
        except DataError as error:  # so many are bad that none could be replaced by another sample
            found |= {(event.path, event.offset): event for event in error.events}
        on_batch((place + 1) / count)
    found |= {(event.path, event.offset): event for event in _fatal(batches)}
    batches.pipe.close()
    events = tuple(replace(event, line=None) for event in found.values())
    return BadSamples(frozenset(event.path for event in events if event.path), events)


def _fatal(batches: Batches) -> Iterator[Event]:
    return (event for event in batches.pipe.errors.events if event.fatal)
