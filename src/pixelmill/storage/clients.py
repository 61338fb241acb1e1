"""Reading ranges of files at addresses from an event loop, with many requests in flight.

obstore reads without Python: its threads do not hold the GIL, and a request costs about a quarter of the processor
time that fsspec's S3 takes. Addresses that obstore does not know are read by fsspec on a bounded number of threads.
"""

from __future__ import annotations

import asyncio
import errno
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pixelmill.storage import object_store
from pixelmill.storage.failures import TransientError, explained
from pixelmill.storage.options import StorageOptions, using
from pixelmill.storage.remote import forget_store, open_store

if TYPE_CHECKING:
    from obstore.store import ObjectStore

OBSTORE_CONNECTIONS = 256
FSSPEC_CONNECTIONS = 32
_POLL = 0.001  # seconds

Answer = asyncio.Future[Any]  # of an object with the buffer protocol


class Client:
    """Reads ranges for one fetcher, on its event loop.

    Args:
        options: The options of the stores.
    """

    def __init__(self, options: StorageOptions) -> None:
        self._options = options
        self._pool: ThreadPoolExecutor | None = None
        self._stores: dict[tuple[str, str], ObjectStore] = {}
        self._futures: weakref.WeakSet[Answer] = weakref.WeakSet()  # those that threads of obstore will set

    def connections(self, path: str) -> int:
        """Return how many requests to the store of an address may be in flight."""
        return OBSTORE_CONNECTIONS if self._located(path) else FSSPEC_CONNECTIONS

    def start(self, path: str, offset: int, length: int, *, size: int = 0) -> Answer:
        """Start to read a range of a file, or all of it if the length is negative; see `result`.

        A file whose size is known is read as a range, which costs half as much. The range ends a byte later than the
        file, so that a file that has grown is noticed.

        Raises:
            OSError: The store of the address cannot be opened.
        """
        try:
            place = self._located(path)
        except Exception as error:
            raise explained(error, path) from None
        loop = asyncio.get_running_loop()
        if place is None:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(FSSPEC_CONNECTIONS, thread_name_prefix="pixelmill-fsspec")
            return loop.run_in_executor(self._pool, self._read_now, path, offset, length)
        if length < 0 and size:
            return self._tracked(object_store.range_future(place, 0, size + 1))
        if length < 0:
            return loop.create_task(self._whole(place))
        if length == 0:
            empty: Answer = loop.create_future()
            empty.set_result(b"")
            return empty
        return self._tracked(object_store.range_future(place, offset, length))

    def result(self, answer: Answer, path: str, offset: int, length: int, *, size: int = 0) -> memoryview:
        """Return what an answer that has come holds.

        Raises:
            OSError: The range could not be read; a TransientError if trying again can help.
        """
        failure = answer.exception()  # `result` would raise it here, and its traceback would keep the answer alive
        if failure is not None:
            raise explained(failure, path)
        data = memoryview(answer.result())
        if length < 0 and data.nbytes > size > 0:
            raise OSError(errno.EIO, f"the file had {size} bytes when it was listed, and has more now", path)
        wanted = size or length if length < 0 else length
        if 0 <= wanted != data.nbytes:
            raise TransientError(f"{wanted} bytes were asked for at byte {offset}, {data.nbytes} came", path)
        return data

    def reopen(self, path: str) -> None:
        """Open the store of an address again with the next request: its credentials have expired."""
        self._stores.clear()
        object_store.forget_stores()
        with using(self._options):
            forget_store(path)

    def close(self) -> None:
        """Cancel all requests, and release the threads without waiting for them."""
        for future in list(self._futures):
            future.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def ended(self, *, timeout: float) -> None:
        """Wait until no thread of obstore will run Python for a request of this client.

        Such a thread sets the result of a future, and refers to the future until it has released the GIL for good. A
        thread that still wanted the GIL while the interpreter shuts down would be ended inside of Rust, which aborts
        the process; the result of a future may arrive before that, so waiting for results is not enough.
        """
        deadline = time.monotonic() + timeout
        while self._futures and time.monotonic() < deadline:
            object_store.release_references()
            await asyncio.sleep(_POLL)

    def _located(self, path: str) -> object_store.Place | None:
        """Return the place of an address; the store of a bucket is looked up once."""
        scheme, _, rest = path.partition("://")
        bucket, _, key = rest.partition("/")
        store = self._stores.get((scheme, bucket))
        if store is not None:
            return object_store.Place(store, key)
        place = object_store.locate(path, self._options)
        if place is not None and not scheme.startswith("http"):  # there, names are quoted
            self._stores[scheme, bucket] = place.store
        return place

    def _tracked(self, future: Answer) -> Answer:
        self._futures.add(future)
        return future

    async def _whole(self, place: object_store.Place) -> object:
        found = await self._tracked(object_store.whole_future(place))
        return await self._tracked(found.bytes_async())

    def _read_now(self, path: str, offset: int, length: int) -> bytes:
        with using(self._options):
            system, inner = open_store(path)
            data: bytes = system.cat_file(inner, start=offset, end=None if length < 0 else offset + length)
            return data
