"""Requests to actors and their short answers as bytes, which Ray passes on as they are.

Ray pickles every other argument on its own, which costs the trainer more time than all else that it does for a batch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pixelmill.pipeline.remote_program import SentTrouble
from pixelmill.ray.shared_memory import Piece, SentData
from pixelmill.types import Array

_MOST_BYTES = 64 << 10  # of arrays in an answer; larger ones belong into the object store, which does not copy them


class Request(NamedTuple):
    """A batch to run.

    Attributes:
        program: The name of its program, and the seed.
        fill: Whether samples that fail become gray images.
        ticket: Lends the batch to the trainer in shared memory, until the ticket comes back; None to send it.
        returned: Tickets that come back.
        epochs: The epoch of each sample.
        numbers: The number of each sample in its dataset.
        items: The item of every reader for each sample.
    """

    program: tuple[str, int]
    fill: bool
    ticket: int | None
    returned: list[int]
    epochs: npt.NDArray[np.uint32]
    numbers: npt.NDArray[np.uint64]
    items: npt.NDArray[np.int64]

    def packed(self) -> bytes:
        """Return the request as a message."""
        return _packed(self[:4], self[4:])

    @classmethod
    def unpacked(cls, message: bytes) -> Request:
        """Return the request of a message."""
        (program, *rest), arrays = _unpacked(message)
        return cls((program[0], program[1]), *rest, *arrays)


def pack_answer(outputs: Sequence[SentData], troubles: Sequence[SentTrouble]) -> bytes | None:
    """Return the result of a batch as a message; None if it contains so much data that it is better sent as it is."""
    arrays: list[Array] = []
    outline = [_told(data, arrays) for data in outputs]
    if sum(array.nbytes for array in arrays) > _MOST_BYTES:
        return None
    return _packed((outline, troubles), arrays)


def unpack_answer(message: bytes) -> tuple[list[SentData], list[SentTrouble]]:
    """Return outputs and problems of a message."""
    (outline, troubles), arrays = _unpacked(message)
    return [_found(told, arrays) for told in outline], [tuple(trouble) for trouble in troubles]


# Not functions inside of the others: a function that calls itself keeps what it refers to until garbage is collected,
# and the memory of a batch is needed for the next one.
def _told(data: SentData | Array | None, arrays: list[Array]) -> object:
    if data is None or isinstance(data, Piece):
        return data
    if isinstance(data, list):
        return {"list": [_told(item, arrays) for item in data]}
    arrays.append(data)
    return len(arrays) - 1


def _found(told: Any, arrays: list[Array]) -> Any:
    if isinstance(told, dict):
        return [_found(item, arrays) for item in told["list"]]
    if isinstance(told, int):
        return arrays[told]
    return None if told is None else Piece._make([*told[:-1], tuple(told[-1])])


def _packed(told: object, arrays: Sequence[Array]) -> bytes:
    head = json.dumps([told, [(array.dtype.str, array.shape) for array in arrays]]).encode()
    return b"".join([len(head).to_bytes(4, "little"), head, *(array.tobytes() for array in arrays)])


def _unpacked(message: bytes) -> tuple[Any, list[Array]]:
    at = 4 + int.from_bytes(message[:4], "little")
    told, shapes = json.loads(message[4:at])
    arrays: list[Array] = []
    for dtype, shape in shapes:
        array = np.frombuffer(message, dtype, math.prod(shape), at) if math.prod(shape) else np.empty(0, dtype)
        arrays.append(array.reshape(shape).copy())  # aligned, and writable
        at += array.nbytes
    return told, arrays
