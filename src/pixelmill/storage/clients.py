"""Reading ranges of files at addresses from an event loop, with many requests in flight.

obstore reads without Python: its threads do not hold the GIL, and a request costs about a quarter of the processor
time that fsspec's S3 takes. Addresses that obstore does not know are read by fsspec on a bounded number of threads.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from pixelmill.storage import object_store
from pixelmill.storage.failures import TransientError, explained
from pixelmill.storage.options import StorageOptions, using
from pixelmill.storage.remote import open_store

OBSTORE_CONNECTIONS = 256
FSSPEC_CONNECTIONS = 32


class Client:
    """Reads ranges for one fetcher.

    Args:
        options: The options of the stores.
    """

    def __init__(self, options: StorageOptions) -> None:
        self._options = options
        self._pool: ThreadPoolExecutor | None = None
        self._requests: set[asyncio.Task[memoryview]] = set()

    def connections(self, path: str) -> int:
        """Return how many requests to the store of an address may be in flight."""
        return OBSTORE_CONNECTIONS if object_store.locate(path, self._options) else FSSPEC_CONNECTIONS

    async def read(self, path: str, offset: int, length: int) -> memoryview:
        """Read a range of a file, or all of it if the length is negative.

        Raises:
            OSError: The range could not be read; a TransientError if trying again can help.
        """
        try:
            place = object_store.locate(path, self._options)
            if place is None:
                data = await self._from_fsspec(path, offset, length)
            else:
                data = await self._from_obstore(place, offset, length)
        except Exception as error:
            raise explained(error, path) from None
        if 0 <= length != data.nbytes:
            raise TransientError(f"{length} bytes were asked for at byte {offset}, {data.nbytes} came", path)
        return data

    async def _from_obstore(self, place: object_store.Place, offset: int, length: int) -> memoryview:
        # A request is never canceled: obstore would call Python some time later, perhaps after the end of Python.
        request = asyncio.get_running_loop().create_task(_read(place, offset, length))
        self._requests.add(request)
        request.add_done_callback(self._ended)
        return await asyncio.shield(request)

    def _ended(self, request: asyncio.Task[memoryview]) -> None:
        self._requests.discard(request)
        if not request.cancelled():
            request.exception()  # who asked may be gone, and asyncio would log an error that was never looked at

    async def ended(self, *, timeout: float) -> None:
        """Wait for the requests that are in flight."""
        if self._requests:
            await asyncio.wait(self._requests, timeout=timeout)

    async def _from_fsspec(self, path: str, offset: int, length: int) -> memoryview:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(FSSPEC_CONNECTIONS, thread_name_prefix="pixelmill-fsspec")
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._read_now, path, offset, length)

    def _read_now(self, path: str, offset: int, length: int) -> memoryview:
        with using(self._options):
            system, inner = open_store(path)
            return memoryview(system.cat_file(inner, start=offset, end=None if length < 0 else offset + length))

    def close(self) -> None:
        """Release the threads without waiting for them."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


async def _read(place: object_store.Place, offset: int, length: int) -> memoryview:
    import obstore

    if length < 0:
        return memoryview(await (await obstore.get_async(place.store, place.key)).bytes_async())
    if length == 0:
        return memoryview(b"")
    return memoryview(await obstore.get_range_async(place.store, place.key, start=offset, length=length))
