"""Sources for tests with worker processes; at the top level of a module, so that spawned workers can import them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

LENGTH = 10


def sample(info: Any) -> np.ndarray[Any, Any]:
    """Return where a sample is, and the worker that made it; the shape differs from sample to sample."""
    if info.idx_in_epoch >= LENGTH:
        raise StopIteration
    return np.full((info.idx_in_epoch % 3 + 1, 2), info.idx_in_epoch + 100 * info.epoch_idx, np.int32)


def pair(info: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if info.idx_in_epoch >= LENGTH:
        raise StopIteration
    return np.array([info.idx_in_epoch], np.int64), np.full((4, 5, 3), info.idx_in_batch, np.uint8)


def batch(index: int) -> list[np.ndarray[Any, Any]]:
    """Return a batch that is larger than what is sent over a socket. DALI takes lists only."""
    if index >= 5:
        raise StopIteration
    time.sleep(0.01 * (index % 2))
    return [np.full((300, 400), index, np.uint8) for _ in range(4)]


def dense_batch(index: int) -> np.ndarray[Any, Any]:
    return np.stack(batch(index))


def batch_of_info(info: Any) -> list[np.ndarray[Any, Any]]:
    return [np.array([info.iteration, info.epoch_idx, os.getpid()]) for _ in range(4)]


def process_of_sample(info: Any) -> np.ndarray[Any, Any]:
    time.sleep(0.01)
    return np.array([os.getpid()])


def generated() -> Iterator[list[np.ndarray[Any, Any]]]:
    for index in range(3):
        yield [np.full(2, index, np.float32)] * 4


def broken(info: Any) -> np.ndarray[Any, Any]:
    if info.idx_in_epoch == 5:
        raise LookupError("no sample 5")
    return np.array([info.idx_in_epoch])


def dying(info: Any) -> np.ndarray[Any, Any]:
    if info.idx_in_epoch == 5:
        os._exit(7)
    return np.array([info.idx_in_epoch])


def objects(info: Any) -> Any:
    return {"not": "an array"}


def numbers(info: Any) -> float:
    return 1.0


def without_argument() -> np.ndarray[Any, Any]:
    return np.zeros((4, 1))


class Multiplied:
    """A callable object with a state that workers get when they start."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def __call__(self, info: Any) -> np.ndarray[Any, Any]:
        return np.array([info.idx_in_epoch * self.factor])
