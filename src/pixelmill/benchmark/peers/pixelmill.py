"""pixelmill as it is by default; with camera files also without decoding at a lower resolution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pixelmill
from pixelmill.benchmark.peers import graphs
from pixelmill.benchmark.workload import Batch, Kind, PeerTask, Source

DEFAULT, EXACT = "", "full-resolution decode"
GRAPHS: dict[Kind, graphs.Graph] = {
    "train": graphs.train,
    "val": graphs.val,
    "resize": graphs.resize,
    "read": graphs.read,
    "rand_augment": graphs.rand_augment,
}


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to do a kind of work; the first one counts."""
    del kind, source
    return DEFAULT, EXACT


def batches(job: PeerTask) -> Batches:
    """Make batches."""
    return Batches(job)


class Batches(Iterator[Batch]):
    """Batches of a pipeline, and what the pipeline knows about them.

    Args:
        job: What to do.
    """

    def __init__(self, job: PeerTask) -> None:
        on_gpu = job.device == "gpu"
        self.pipe = graphs.pipeline(
            pixelmill,
            GRAPHS[job.kind],
            job,
            decode_scaling=job.variant != EXACT,
            on_error="skip",
            max_errors=1 << 62,
            engine=job.engine,
            **({"device_id": 0} if on_gpu else {}),
        )
        self._segments = self.pipe._ready().plan.segments if job.watch else []
        for segment in self._segments:
            segment.program.watch()

    def __next__(self) -> Batch:
        return graphs.batch_of(self.pipe.run())

    def watched(self) -> dict[str, int]:
        """Return the nanoseconds of each kind of step so far."""
        spent: Counter[str] = Counter()
        for segment in self._segments:
            kinds = [*(step.kind for step in segment.steps), "outputs"]
            for kind, nanoseconds in zip(kinds, segment.program.watched(), strict=True):
                spent[kind] += nanoseconds
        return dict(spent)
