"""What is read from a server: how many round trips it takes, and whether it was announced."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from loopback_s3 import LoopbackS3

from pixelmill import Pipeline, convert, fn
from pixelmill.create import create_images
from pixelmill.storage.range_reader import RangeReader
from pixelmill.storage.ranges import Range


def write_containers(folder: Path, formats: Iterable[str], *, count: int) -> Path:
    """Write the same images of three classes in containers of up to 8 samples, each in a folder of its name."""
    create_images(folder / "photos", "i", 60, 50, count, "jpg", 5, classes=3, workers=1)
    for format in formats:
        convert(folder / "photos", folder / format, to=format, samples_per_shard=8, workers=1)
    return folder


def round_trips(server: LoopbackS3, call: Callable[[], object], *, enough: int) -> int:
    """Return how many round trips a call waits for, one after another.

    The server counts too many if a busy machine sends its requests more slowly than answers come, so it gets more time
    unless there were few enough.
    """
    chains = []
    for latency in (0.05, 0.25, 1.0):
        server.latency = latency
        server.reset()
        call()
        server.latency = 0
        chains.append(server.chain)
        if chains[-1] <= enough:
            break
    return min(chains)


def note_announcements(monkeypatch: pytest.MonkeyPatch) -> list[Range]:
    """Return a list to which every range that is announced from now on is added."""
    found: list[Range] = []
    expect = RangeReader.expect

    def noting(self: RangeReader, items: Iterable[Range]) -> None:
        known = list(items)
        found.extend(known)
        expect(self, known)

    monkeypatch.setattr(RangeReader, "expect", noting)
    return found


def were_announced(log: Sequence[tuple[str, int, int]], announced: Iterable[Range]) -> bool:
    """Whether there were requests, and each ended where an announced range does: neighbors may come together."""
    known = {(item.path.removeprefix("s3://"), item.offset + item.length) for item in announced}
    return bool(log) and known.issuperset((key, end) for key, _, end in log)


def training_batches(path: str, columns: Sequence[str], options: dict[str, object]) -> list[list[tuple[object, ...]]]:
    """Return what four batches of five shuffled samples hold, with decoded images."""
    pipeline = Pipeline(batch_size=5, num_threads=2, device_id=None, seed=7, prefetch_queue_depth=1)
    with pipeline:
        data = fn.readers.dataset(path=path, columns=list(columns), random_shuffle=True, storage_options=options)
        image, *others = (data[name] for name in columns)
        pipeline.set_outputs(fn.decoders.image(image), *others)
    batches = [[np.asarray(value) for part in pipeline.run() for value in part] for _ in range(4)]
    pipeline.close()
    return [[(array.dtype, array.shape, array.tobytes()) for array in batch] for batch in batches]
