"""Files on their way to a store, in memory while there is room."""

from __future__ import annotations

import hashlib
import os
import weakref
from collections import deque
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pixelmill.jobs.output_stream import FileRecord, OutputStream
from pixelmill.jobs.storage import Finished

_IN_MEMORY = 64 << 20  # bytes of a shard
_BLOCK = 8 << 20  # the largest one
_GROWTH = 3  # a block has this many times the bytes before it, so that small files take little memory


class Blocks:
    """Blocks of 8 MB that the files of a job use one after the other; its threads share them.

    The system clears fresh memory page by page, which takes longer than all else that happens to the bytes of a
    conversion, and Python waits for it.
    """

    def __init__(self) -> None:
        self._free: deque[npt.NDArray[np.uint8]] = deque()

    def take(self) -> memoryview:
        """Return a block that nothing else refers to; what it holds is arbitrary.

        When the last view of it is gone, the next file may have it.
        """
        try:
            block = self._free.pop()
        except IndexError:
            block = np.empty(_BLOCK, np.uint8)
        lent = block[:]
        weakref.finalize(lent, self._free.append, block).atexit = False
        return lent.data


class Memory:
    """How many bytes the files of one shard may have in memory, and the blocks that hold them.

    Args:
        blocks: Those of the job.
    """

    def __init__(self, blocks: Blocks | None = None) -> None:
        self.blocks = Blocks() if blocks is None else blocks
        self._left = _IN_MEMORY

    def take(self, size: int) -> bool:
        """Whether this many bytes more may be kept."""
        if size > self._left:
            return False
        self._left -= size
        return True

    def give_back(self, size: int) -> None:
        """Take back what was taken."""
        self._left += size


class UploadStream(OutputStream):
    """A file for a store: in memory as long as there is room, else in the scratch folder.

    A file that is written in one piece is kept as that piece. Further pieces are gathered in blocks: whatever hashes
    and sends a file in the background needs the interpreter's lock for each piece, and waits for it.

    Args:
        path: The file in the scratch folder, which exists if there is no room.
        shown: The name for messages.
        durable: Whether to hash it.
        memory: What the files of the shard share.
    """

    def __init__(self, path: Path, *, shown: str, durable: bool, memory: Memory) -> None:
        self._memory = memory
        self._kept: list[memoryview] | None = []
        self._free = memoryview(b"")  # the rest of the last block
        super().__init__(path, shown=shown, durable=durable)

    def _begin(self) -> None:
        """Do nothing: the file may never be needed."""

    @property
    def content(self) -> Finished:
        return self.path if self._kept is None else self._kept

    def release(self) -> None:
        """Let other files use the memory; the content is gone."""
        if self._kept is not None:
            self._kept.clear()  # whoever else has the list has no views of the blocks either
        self._free = memoryview(b"")

    def record(self, name: str) -> FileRecord:
        if self._kept is not None and self._durable:  # here and not while it grows: this runs beside the next shard
            digest = hashlib.sha256()
            for piece in self._kept:
                digest.update(piece)
            return FileRecord(name, self._written, digest.hexdigest())
        return super().record(name)

    def _put(self, data: memoryview, *, owned: bool) -> None:
        if self._kept is None:
            super()._put(data, owned=owned)
        elif self._memory.take(self._beyond_end(data)):
            self._keep(self._kept, data, owned=owned)
        else:
            kept, self._kept = self._kept, None
            self._leave_memory(kept)
            super()._put(data, owned=owned)

    def _keep(self, kept: list[memoryview], data: memoryview, *, owned: bool) -> None:
        end = self._position + len(data)
        if self._position < self._written:  # a beginning that is written again
            whole = bytearray(b"".join(kept))
            whole[self._position : end] = data
            kept[:], self._free = [memoryview(whole)], memoryview(b"")
        elif not kept and (owned or _stays(data)):
            kept.append(data)
        else:
            self._gather(kept, data)
        self._position = end
        self._written = max(self._written, end)

    def _gather(self, kept: list[memoryview], data: memoryview) -> None:
        """Copy a piece behind what is in the last block, and into new ones."""
        while data:
            if not self._free:
                size = max(_GROWTH * self._written, len(data))
                self._free = np.empty(size, np.uint8).data if size < _BLOCK // 2 else self._memory.blocks.take()
                kept.append(self._free[:0])
            count = min(len(data), len(self._free))
            self._free[:count] = data[:count]
            kept[-1] = memoryview(kept[-1].obj)[: len(kept[-1]) + count]
            self._free, data = self._free[count:], data[count:]

    def _leave_memory(self, kept: list[memoryview]) -> None:
        place = self._position
        self._memory.give_back(self._written)
        self._free = memoryview(b"")
        self._written = self._position = 0
        super()._begin()
        for piece in kept:
            super()._put(piece, owned=True)
        if place != self._position:  # in the middle of a beginning that is written again
            self._position = os.lseek(self._descriptor, place, os.SEEK_SET)


def _stays(data: memoryview) -> bool:
    """Whether bytes can neither change nor keep many others in memory."""
    return isinstance(data.obj, bytes) and 2 * len(data) >= len(data.obj)
