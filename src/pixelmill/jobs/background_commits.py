"""Commits that go on while the next shards are written.

A commit to a store is a few requests, each of which waits for the one before. On this machine it waits for the disk,
which is busy then in any case, so shards are committed one after another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from pixelmill.jobs.commit import ShardTask, WrittenShard
from pixelmill.jobs.manifest import Entry

# A commit waits for some eight round trips, so shards that are written faster than that are committed many at a time.
# What is being committed is in memory or in scratch folders; large shards, which take longer to send, are few.
AT_ONCE = 16
_LARGE_AT_ONCE = 4
_BYTES = 256 << 20  # of shards that are not large


class BackgroundCommits:
    """Commits the shards of one process, in the background if the output is in a store.

    Args:
        task: What the shards belong to.
    """

    def __init__(self, task: ShardTask) -> None:
        self._task = task
        self._running: deque[tuple[int, Future[Entry]]] = deque()  # with the bytes of the shard
        self._pool = ThreadPoolExecutor(AT_ONCE, "pixelmill-commit") if task.storage.is_remote else None

    def __enter__(self) -> BackgroundCommits:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()  # what is being committed is: a resumed job needs not make it again

    def add(self, shard: WrittenShard, *, done: Callable[[Future[Entry]], object] | None = None) -> Iterator[Entry]:
        """Commit a shard; yield the entries of shards that have been committed, this one or earlier ones.

        Args:
            shard: The shard.
            done: Called as soon as the commit has ended, perhaps by another thread.
        """
        future: Future[Entry] = Future()
        size = 0
        if self._pool is not None:
            size = shard.files.size
            future = self._pool.submit(copy_context().run, self._task.commit, shard)
        if done is not None:
            future.add_done_callback(done)
        if self._pool is None:
            future.set_result(self._task.commit(shard))
        self._running.append((size, future))
        while self._running and (self._are_many() or self._running[0][1].done()):
            yield self._running.popleft()[1].result()

    def rest(self) -> Iterator[Entry]:
        """Wait for all commits, and yield their entries."""
        while self._running:
            yield self._running.popleft()[1].result()

    def _are_many(self) -> bool:
        """Whether one of them must have ended before the next shard is written."""
        count = len(self._running)
        return count > AT_ONCE or (count > _LARGE_AT_ONCE and sum(size for size, _ in self._running) > _BYTES)
