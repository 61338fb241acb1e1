"""Copy outputs that were computed in main memory to the GPU if the graph requests them there."""

from __future__ import annotations

import threading

import numpy as np

from pixelmill.engine.barriers import Data
from pixelmill.engine.dali import versions
from pixelmill.engine.dali.versions import DaliPipeline
from pixelmill.tensors import DaliBatch

_INPUT = "data"


class Upload:
    """DALI pipelines that only copy, on the GPU of the graph.

    They are for outputs that are requested on the GPU but not computed by DALI: the stage after DALI, and batches that
    DALI failed on.

    Args:
        batch_size: The largest number of samples in a batch.
        device_id: The GPU; with None, batches become DALI's but stay in main memory.
    """

    def __init__(self, *, batch_size: int, device_id: int | None) -> None:
        self._batch_size = batch_size
        self._device_id = device_id
        self._lock = threading.Lock()  # called by the thread that takes batches and by the user's, for filled batches
        # An input of DALI accepts one dtype and number of axes only, so there is a pipeline for each.
        self._pipes: dict[tuple[str, int, str], DaliPipeline] = {}

    def __call__(self, data: Data, layout: str) -> DaliBatch:
        """Copy a batch; return DALI's list of tensors."""
        kind = str(data[0].dtype), np.ndim(data[0]), layout
        with self._lock:
            pipe = self._pipes[kind] = self._pipes.get(kind) or self._pipe()
            pipe.feed_input(_INPUT, data, layout=layout or None)
            (batch,) = pipe.run()
        return batch

    def _pipe(self) -> DaliPipeline:
        pipe = versions.new_pipeline(batch_size=self._batch_size, threads=1, device_id=self._device_id)
        with versions.quiet(), pipe:
            node = versions.dali().fn.external_source(name=_INPUT)
            pipe.set_outputs(node if self._device_id is None else node.gpu())
            pipe.build()
        return pipe
