"""Epochs whose length a program changed by setting `iterator._size`, as programs written for DALI do."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.sampling import LastBatchPolicy
from pixelmill.plugin.epochs import Epochs, EpochState


class ResizedEpochs(Epochs):
    """Epochs that end after a number of samples, wherever the reader is then; the next one continues there.

    With DROP the end of the reader's own epoch still ends it, because no batch may contain samples of two epochs.

    Args:
        own: The epochs as the reader or the arguments of the iterator define them.
        size: Samples of an epoch.
        together: How many pipelines the samples are counted over.
    """

    def __init__(self, own: Epochs, size: int, together: int) -> None:
        if size < 1:
            raise ArgumentError(f"_size must be at least 1, got {size}")
        super().__init__(own.pipes, own.policy)
        self._own: Epochs = own._own if isinstance(own, ResizedEpochs) else own
        self.size, self._together = size, together * own.batch_size
        drops = own.policy is LastBatchPolicy.DROP
        self.length = size // self._together if drops else -(-size // self._together)
        self.step = own.step
        self._check_end()

    @property
    def counter(self) -> int:
        """Samples returned since the epoch began."""
        return self.step * self._together

    def _check_end(self) -> None:
        drops = self.policy is LastBatchPolicy.DROP
        self.over = self.step >= self.length or (drops and self._own.over)

    def advance(self, lengths: list[int]) -> list[int]:
        if self._own.over:
            self._own.reset()
        sizes = self._own.advance(lengths)
        self.step += 1
        self._check_end()
        return sizes

    def reset(self) -> bool:
        incomplete = self._own.reset() if self._own.over else False
        self.step = 0
        self._check_end()
        return incomplete

    def state(self) -> EpochState:
        return {**self._own.state(), "resized": self.size, "resized_step": self.step}

    def load(self, state: EpochState) -> None:
        self._own.load(state)
        self.step = int(state.get("resized_step", 0))
        self._check_end()
