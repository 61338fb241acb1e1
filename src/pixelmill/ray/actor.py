"""What runs in an actor on a node of the cluster."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from pixelmill.engine.native import Array, Data
from pixelmill.pipeline.remote_program import RemoteProgram, SentTrouble
from pixelmill.ray.connection import import_ray
from pixelmill.ray.messages import Request, pack_answer
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
        """Return what the driver needs to check whether both are on one host. A reply means that the actor runs."""
        return prove()

    def node(self) -> str:
        """Return the node it runs on."""
        return str(import_ray().get_runtime_context().get_node_id())

    def run(
        self, message: bytes, inputs: Sequence[Data] = (), description: bytes | None = None
    ) -> bytes | tuple[Sequence[SentData], list[SentTrouble]] | None:
        """Run a batch; see `RemoteProgram.run`. Return None if the program is not known without its description.

        Args:
            message: A `Request`.
            inputs: The data of external sources.
            description: The description of the program, unless a batch of it was run here.
        """
        request = Request.unpacked(message)
        self._lender.take_back(request.returned)
        held: list[Array] = []
        try:
            built = self._built(request.program, description, shares=request.ticket is not None)
            if built is None or self._lender.is_unwanted(request.ticket):
                return None
            outputs, troubles = built.run(request.epochs, request.numbers, request.items, inputs, fill=request.fill)
            sent: Sequence[SentData] = outputs
            if request.ticket is not None:
                sent, held = share(outputs, built.executor)
            return pack_answer(sent, troubles) or (sent, troubles)
        finally:
            if request.ticket is not None:
                self._lender.lend(request.ticket, held)

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
