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

AT_ONCE = 4  # shards that are committed at a time; one more is in memory or a scratch folder while it is written


class BackgroundCommits:
    """Commits the shards of one process, in the background if the output is in a store.

    Args:
        task: What the shards belong to.
    """

    def __init__(self, task: ShardTask) -> None:
        self._task = task
        self._running: deque[Future[Entry]] = deque()
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
        if self._pool is not None:
            future = self._pool.submit(copy_context().run, self._task.commit, shard)
        if done is not None:
            future.add_done_callback(done)
        if self._pool is None:
            future.set_result(self._task.commit(shard))
        self._running.append(future)
        while self._running and (len(self._running) > AT_ONCE or self._running[0].done()):
            yield self._running.popleft().result()

    def rest(self) -> Iterator[Entry]:
        """Wait for all commits, and yield their entries."""
        while self._running:
            yield self._running.popleft().result()
