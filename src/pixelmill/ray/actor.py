"""What runs in an actor on a node of the cluster."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pixelmill.engine.native import Array, Data
from pixelmill.pipeline.remote_program import RemoteProgram, SentTrouble
from pixelmill.ray.connection import import_ray
from pixelmill.ray.shared_memory import Lender, Proof, SentData, prove, share

_MOST_PROGRAMS = 4  # training and validation, and those of another seed


class PipelineActor:
    """Runs batches of pipelines. It has no state but the pipelines it has built: any actor can run any batch.

    Args:
        threads: How many samples are processed at the same time.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._programs: OrderedDict[tuple[str, int], RemoteProgram] = OrderedDict()
        self._lender = Lender()
        self._lock = threading.Lock()

    def ready(self) -> Proof | None:
        """Tell the driver that the actor has started; return what shows whether it is on the same host."""
        return prove()

    def node(self) -> str:
        """Return the node it runs on."""
        return str(import_ray().get_runtime_context().get_node_id())

    def run(
        self,
        program: tuple[str, int],
        description: bytes | None,
        epochs: npt.NDArray[np.uint32],
        numbers: npt.NDArray[np.uint64],
        items: npt.NDArray[np.int64],
        inputs: Sequence[Data],
        fill: bool,
        ticket: int | None,
        returned: Sequence[int],
    ) -> tuple[Sequence[SentData], list[SentTrouble]] | None:
        """Run a batch; see `RemoteProgram.run`. Return None if the program is not known without its description.

        Args:
            program: The name of the program, and the seed.
            description: Its description; None if a batch of it was run here.
            epochs: The epoch of each sample.
            numbers: The number of each sample in its dataset.
            items: The item of every reader for each sample.
            inputs: The data of external sources.
            fill: Whether samples that fail become gray images.
            ticket: Lends the batch to the caller in shared memory, until the ticket comes back; None to send it.
            returned: Tickets that come back.
        """
        self._lender.take_back(returned)
        held: list[Array] = []
        try:
            built = self._built(program, description, shares=ticket is not None)
            if built is None or self._lender.is_unwanted(ticket):
                return None
            outputs, troubles = built.run(epochs, numbers, items, inputs, fill=fill)
            if ticket is None:
                return outputs, troubles
            sent, held = share(outputs, built.executor)
            return sent, troubles
        finally:
            if ticket is not None:
                self._lender.lend(ticket, held)

    def _built(self, program: tuple[str, int], description: bytes | None, *, shares: bool) -> RemoteProgram | None:
        """Return a program, built by the first of the threads that ask for it."""
        with self._lock:
            found = self._programs.pop(program, None)
            if found is None:
                if description is None:
                    return None
                found = RemoteProgram(description, seed=program[1], threads=self._threads, shares=shares)
            self._programs[program] = found
            # The oldest one is not closed: a batch of it may be running. Its threads end when it is freed.
            while len(self._programs) > _MOST_PROGRAMS:
                self._programs.popitem(last=False)
            return found
