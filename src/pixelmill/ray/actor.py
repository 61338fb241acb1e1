"""What runs in an actor on a node of the cluster."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pixelmill.engine.native import Data
from pixelmill.pipeline.remote_program import RemoteProgram, SentTrouble
from pixelmill.ray.connection import import_ray

_MOST_PROGRAMS = 4  # training and validation, and those of another seed


class PipelineActor:
    """Runs batches of pipelines. It has no state but the pipelines it has built: any actor can run any batch.

    Args:
        threads: How many samples are processed at the same time.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._programs: OrderedDict[tuple[str, int], RemoteProgram] = OrderedDict()
        self._lock = threading.Lock()

    def ready(self) -> bool:
        """Return True, which tells the driver that the actor has started."""
        return True

    def node(self) -> str:
        """Return the node it runs on."""
        return str(import_ray().get_runtime_context().get_node_id())

    def run(
        self,
        program: tuple[str, int],
        description: bytes,
        epochs: npt.NDArray[np.uint32],
        numbers: npt.NDArray[np.uint64],
        items: npt.NDArray[np.int64],
        inputs: Sequence[Data],
        fill: bool,
    ) -> tuple[list[Data], list[SentTrouble]]:
        """Run a batch; see `RemoteProgram.run`.

        Args:
            program: The name of the program, and the seed.
            description: Its description.
            epochs: The epoch of each sample.
            numbers: The number of each sample in its dataset.
            items: The item of every reader for each sample.
            inputs: The data of external sources.
            fill: Whether samples that fail become gray images.
        """
        return self._built(program, description).run(epochs, numbers, items, inputs, fill=fill)

    def _built(self, program: tuple[str, int], description: bytes) -> RemoteProgram:
        """Return a program, built by the first of the threads that ask for it."""
        with self._lock:
            found = self._programs.pop(program, None)
            if found is None:
                found = RemoteProgram(description, seed=program[1], threads=self._threads)
            self._programs[program] = found
            # The oldest one is not closed: a batch of it may be running. Its threads end when it is freed.
            while len(self._programs) > _MOST_PROGRAMS:
                self._programs.popitem(last=False)
            return found
