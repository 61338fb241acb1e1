"""Bring what was made in main memory to the GPU where the graph asks for it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from pixelmill.engine.dali import versions

_INPUT = "data"


class Upload:
    """A pipeline of DALI that does nothing but copy, on the GPU of the graph.

    It is for outputs that are wanted there, but that DALI does not make: what runs natively behind it, and batches that
    it gave up.

    Args:
        batch_size: The most samples in a batch.
        device_id: The GPU; with None the batch is DALI's, but stays in main memory.
    """

    def __init__(self, *, batch_size: int, device_id: int | None) -> None:
        self._batch_size = batch_size
        self._device_id = device_id
        self._alone = threading.Lock()  # batches are filled in one thread and taken from DALI in another
        # DALI takes nothing but one type and number of axes from an input.
        self._pipes: dict[tuple[str, int, str], Any] = {}

    def __call__(self, data: Any, layout: str) -> Any:
        """Copy a batch; gives DALI's list of tensors."""
        kind = str(data[0].dtype), np.ndim(data[0]), layout
        with self._alone:
            pipe = self._pipes[kind] = self._pipes.get(kind) or self._pipe()
            pipe.feed_input(_INPUT, data, layout=layout or None)
            (batch,) = pipe.run()
        return batch

    def _pipe(self) -> Any:
        pipe = versions.new_pipeline(batch_size=self._batch_size, threads=1, device_id=self._device_id)
        with versions.quiet(), pipe:
            node = versions.dali().fn.external_source(name=_INPUT)
            pipe.set_outputs(node if self._device_id is None else node.gpu())
            pipe.build()
        return pipe
