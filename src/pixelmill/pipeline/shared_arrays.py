"""Results of worker processes: nested lists of arrays, sent over a socket or in shared memory."""

from __future__ import annotations

import mmap
import os
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle

import numpy as np
import numpy.typing as npt

from pixelmill.tensors import TensorListCPU

# From this size on, writing to shared memory is faster than writing to a socket and reading from it.
SHARED_BYTES = 256 << 10
_ALIGNMENT = 64  # of a cache line, and of the widest vector registers

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Failure:
    """An exception in a worker: the text of its traceback."""

    traceback: str


@dataclass(frozen=True)
class Stopped:
    """The source raised StopIteration."""


@dataclass(frozen=True)
class _Piece:
    """Where an array is in the data of its message."""

    dtype: str
    shape: tuple[int, ...]
    offset: int


def send(link: Connection, task: int, result: list[object] | Failure | Stopped) -> None:
    """Send the result of a request."""
    arrays: list[Array] = []
    plan: object = result
    if isinstance(result, list):
        try:
            plan = _taken_apart(result, arrays)
        except TypeError as error:
            plan, arrays = Failure(f"TypeError: {error}"), []
    size = _end(arrays)
    link.send((task, plan, size))
    if not size:
        return
    if not _is_shared(size):
        data = bytearray(size)
        _write(arrays, data)
        link.send_bytes(data)
        return
    descriptor = os.memfd_create("pixelmill")
    try:
        os.ftruncate(descriptor, size)
        with mmap.mmap(descriptor, size) as memory:
            _write(arrays, memory)
        send_handle(link, descriptor, os.getppid())
    finally:
        os.close(descriptor)


def receive(link: Connection) -> tuple[int, list[object] | Failure | Stopped]:
    """Receive what `send` sent: the number of the request, and its result. Arrays share the memory of the message."""
    task, plan, size = link.recv()
    data: bytes | bytearray | mmap.mmap = b""
    if size:
        data = _received_memory(link, size) if _is_shared(size) else bytearray(link.recv_bytes())
    return task, _put_together(plan, data) if isinstance(plan, list) else plan


def _received_memory(link: Connection, size: int) -> mmap.mmap:
    descriptor = recv_handle(link)
    try:
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


def _is_shared(size: int) -> bool:
    return size >= SHARED_BYTES and hasattr(os, "memfd_create")


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _end(arrays: list[Array]) -> int:
    return sum(_aligned(array.nbytes) for array in arrays)


def _taken_apart(value: object, arrays: list[Array]) -> object:
    """Replace arrays by their places; numbers stay, because the pipeline refuses them with a clear message."""
    if isinstance(value, (list, tuple)):
        return [_taken_apart(item, arrays) for item in value]
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        array: Array = np.frombuffer(value, np.uint8)
    elif isinstance(value, TensorListCPU):
        return [_taken_apart(value.at(index), arrays) for index in range(len(value))]
    else:
        array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(f"a source must return arrays of numbers, got {type(value).__name__}")
    piece = _Piece(array.dtype.str, array.shape, _end(arrays))
    arrays.append(array)
    return piece


def _write(arrays: list[Array], data: bytearray | mmap.mmap) -> None:
    offset = 0
    for array in arrays:
        np.copyto(np.ndarray(array.shape, array.dtype, data, offset), array)
        offset += _aligned(array.nbytes)


def _put_together(plan: list[object], data: bytes | bytearray | mmap.mmap) -> list[object]:
    return [
        _put_together(item, data)
        if isinstance(item, list)
        else _array(item, data)
        if isinstance(item, _Piece)
        else item
        for item in plan
    ]


def _array(piece: _Piece, data: bytes | bytearray | mmap.mmap) -> Array:
    if not int(np.prod(piece.shape)):
        return np.empty(piece.shape, piece.dtype)
    return np.ndarray(piece.shape, piece.dtype, data, piece.offset)
