"""Batches in memory that an actor and the trainer share, if both run on the same host.

The actor's engine writes batches into files in memory that have no name, and sends where they are: the number of its
process, of the open file, and the offset. The trainer opens them as `/proc/PROCESS/fd/DESCRIPTOR` and maps them. The
system frees such a file when the last process that has it open or mapped ends, however it ends.
"""

from __future__ import annotations

import math
import mmap
import os
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import accumulate, count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from pixelmill import _core
from pixelmill.engine.native import Data
from pixelmill.types import Array

_NAME = "pixelmill"  # the core gives its files the same name
_LEAST_BYTES = 64 << 10  # smaller values travel with the message
_MAPPED_FOR_EACH = 4  # mappings for each batch that may be kept
_ALIGNMENT = 64  # of a cache line, and of the widest vector registers


class Proof(NamedTuple):
    """What shows that a process runs on the same host: a secret in its memory.

    Attributes:
        process: The process.
        descriptor: A file in its memory that contains the token.
        token: Random bytes.
    """

    process: int
    descriptor: int
    token: bytes


class Piece(NamedTuple):
    """Where an array is in the memory of an actor.

    Attributes:
        descriptor: The open file of the actor.
        number: The number of the file, which no other file of the actor ever has.
        inode: The inode of the file: a descriptor may be closed and name another file.
        offset: The offset of the array in the file.
        dtype: Its type, as NumPy writes it.
        shape: Its shape.
    """

    descriptor: int
    number: int
    inode: int
    offset: int
    dtype: str
    shape: tuple[int, ...]


# An output on its way: the data, or where it is.
SentData: TypeAlias = Data | Piece | list[Piece | None]


def prove() -> Proof | None:
    """Return a proof for `is_here` of another process; None where there is no memory to share."""
    token = secrets.token_bytes(32)
    try:
        descriptor = os.memfd_create(_NAME, os.MFD_CLOEXEC)
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, token)
    except (AttributeError, OSError):  # not Linux; or not allowed
        return None
    return Proof(os.getpid(), descriptor, token)


def is_here(proof: Proof | None) -> bool:
    """Whether files in the memory of another process can be opened here: same host, same user, same process IDs."""
    if proof is None:
        return False
    try:
        descriptor = _opened(proof.process, proof.descriptor)
    except OSError:
        return False
    try:
        return os.read(descriptor, len(proof.token) + 1) == proof.token
    finally:
        os.close(descriptor)


def share(outputs: Sequence[Data], executor: _core.Executor) -> tuple[list[SentData], list[Array]]:
    """Return outputs as they are sent, and what must be kept until the receiver no longer needs them.

    What the engine has written to shared memory is not copied. Other large data is copied there; if there is no such
    memory, it is sent as it is.
    """
    held: list[Array] = []
    return [_shared(data, executor, held) for data in outputs], held


def _shared(data: Data, executor: _core.Executor, held: list[Array]) -> SentData:
    arrays = [data] if isinstance(data, np.ndarray) else [array for array in data if array is not None]
    sizes = [-(-array.nbytes // _ALIGNMENT) * _ALIGNMENT for array in arrays]
    if sum(sizes) < _LEAST_BYTES:
        return data
    if isinstance(data, np.ndarray) and data.flags.c_contiguous:
        found = executor.shared_file(data)
        if found is not None:
            held.append(data)
            return _piece(data, *found)
    block: Array = executor.shared_block(sum(sizes))
    found = executor.shared_file(block)
    if found is None:
        return data
    held.append(block)
    descriptor, number, start = found
    pieces = []
    for array, offset in zip(arrays, accumulate(sizes, initial=0), strict=False):
        np.copyto(np.ndarray(array.shape, array.dtype, block.data, offset), array)
        pieces.append(_piece(array, descriptor, number, start + offset))
    if isinstance(data, np.ndarray):
        return pieces[0]
    rest = iter(pieces)
    listed: list[Piece | None] = [None if array is None else next(rest) for array in data]
    return listed


def _piece(array: Array, descriptor: int, number: int, offset: int) -> Piece:
    return Piece(descriptor, number, os.fstat(descriptor).st_ino, offset, array.dtype.str, array.shape)


class Lender:
    """The batches of an actor that the trainer still uses, whose memory must not be used for others.

    Every batch has a ticket of the trainer, which comes back when nothing there refers to the batch any more. The
    ticket of an abandoned batch may come back before the batch runs.
    """

    def __init__(self) -> None:
        self._lent: dict[int, list[Array]] = {}
        self._unwanted: set[int] = set()
        self._lock = threading.Lock()

    def lend(self, ticket: int, held: list[Array]) -> None:
        """Keep arrays until their ticket comes back. Every ticket is lent something, or an empty list."""
        with self._lock:
            if ticket in self._unwanted:
                self._unwanted.remove(ticket)
            else:
                self._lent[ticket] = held

    def is_unwanted(self, ticket: int | None) -> bool:
        """Whether a ticket has come back already."""
        return ticket in self._unwanted

    def take_back(self, tickets: Iterable[int]) -> None:
        """Free the memory of batches."""
        with self._lock:
            for ticket in tickets:
                if self._lent.pop(ticket, None) is None:
                    self._unwanted.add(ticket)


class Ticket:
    """Lives as long as something refers to a batch of an actor; then its actor gets it back."""

    def __init__(self, actor: int, process: int, number: int, returned: SimpleQueue[tuple[int, int]]) -> None:
        self.actor, self.process, self.number = actor, process, number
        self._returned = returned

    def __del__(self) -> None:
        self._returned.put((self.actor, self.number))  # reentrant: the garbage collector may call this at any line


class Loans:
    """The batches in the memory of actors that this process uses.

    Args:
        most: How many batches that were taken may stay in shared memory. A program that keeps more gets copies, so
            that the memory of the actors is bounded.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers = count()
        self._came_back: SimpleQueue[tuple[int, int]] = SimpleQueue()
        self._to_return: dict[int, list[int]] = {}
        self._kept: set[int] = set()
        self._mappings: OrderedDict[tuple[int, int], mmap.mmap] = OrderedDict()

    def ticket(self, actor: int, process: int) -> Ticket:
        """Return the ticket of a new batch of an actor, which runs in a process of this host."""
        self._to_return.setdefault(actor, [])
        return Ticket(actor, process, next(self._numbers), self._came_back)

    def returned(self, actor: int) -> list[int]:
        """Return the tickets that an actor gets back, once."""
        self._sort()
        found, self._to_return[actor] = self._to_return.get(actor, []), []
        return found

    def forget(self, actor: int) -> None:
        """Forget an actor that is lost. What is mapped of its memory stays as long as arrays refer to it."""
        self._to_return.pop(actor, None)
        for key in [key for key in self._mappings if key[0] == actor]:
            del self._mappings[key]

    def mapping(self, actor: int, process: int, piece: Piece) -> mmap.mmap:
        """Return the memory that contains an array.

        Mapping takes longer than everything else that the trainer does for a batch, so mappings are used again, as the
        actor uses the memory again. Those that were not used for the longest time are dropped.
        """
        key = actor, piece.number
        if key not in self._mappings:
            self._mappings[key] = _map(process, piece)
            while len(self._mappings) > _MAPPED_FOR_EACH * self._most:
                self._mappings.popitem(last=False)
        self._mappings.move_to_end(key)
        return self._mappings[key]

    def may_keep(self, ticket: Ticket) -> bool:
        """Whether a batch that is taken now may stay in shared memory."""
        self._sort()
        if len(self._kept) >= self._most:
            return False
        self._kept.add(ticket.number)
        return True

    def _sort(self) -> None:
        while True:
            try:
                actor, number = self._came_back.get_nowait()
            except Empty:
                return
            self._kept.discard(number)
            if actor in self._to_return:
                self._to_return[actor].append(number)


class _Lent(np.ndarray[Any, np.dtype[np.uint8]]):
    """Memory of an actor for one batch. Arrays of the batch refer to it, and it refers to the ticket."""

    ticket: Ticket


def receive(sent: Sequence[SentData], ticket: Ticket, loans: Loans) -> list[Data]:
    """Return outputs whose large arrays are in the memory of an actor; they can be written to.

    Args:
        sent: What `share` returned there.
        ticket: The ticket of the batch.
        loans: What made the ticket.

    Raises:
        OSError: The memory cannot be mapped: the actor has ended, or there are too many open files.
    """
    lent: dict[int, _Lent] = {}

    def received(data: SentData) -> Data:
        if isinstance(data, Piece):
            return mapped(data)
        if isinstance(data, list):
            return cast("Data", [mapped(item) if isinstance(item, Piece) else item for item in data])
        return data

    def mapped(piece: Piece) -> Array:
        if not math.prod(piece.shape):
            return np.empty(piece.shape, piece.dtype)
        if piece.number not in lent:
            memory = loans.mapping(ticket.actor, ticket.process, piece)
            lent[piece.number] = _Lent(len(memory), np.uint8, memory)
            lent[piece.number].ticket = ticket
        return np.ndarray(piece.shape, piece.dtype, lent[piece.number].data, piece.offset)

    return [received(data) for data in sent]


def _map(process: int, piece: Piece) -> mmap.mmap:
    descriptor = _opened(process, piece.descriptor)
    try:
        if os.fstat(descriptor).st_ino != piece.inode:
            raise FileNotFoundError(f"descriptor {piece.descriptor} of process {process} is another file")
        return mmap.mmap(descriptor, 0, mmap.MAP_SHARED | mmap.MAP_POPULATE)
    finally:
        os.close(descriptor)


def _opened(process: int, descriptor: int) -> int:
    """Open a file in the memory of another process.

    On another host, a process of the same number may have anything open there: reading from a pipe would wait, or take
    what is meant for others. So the name is looked at first.
    """
    path = Path(f"/proc/{process}/fd/{descriptor}")
    if not str(path.readlink()).startswith(f"/memfd:{_NAME}"):
        raise FileNotFoundError(f"{path} is another file")
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
