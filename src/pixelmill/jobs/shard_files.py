"""The files of one shard while they are being written, under names that no reader looks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pixelmill.amounts import counted
from pixelmill.errors import DECODER_WARNING, MISSING_PIXELS, ArgumentError, DataError, Event
from pixelmill.jobs.disk import explained
from pixelmill.jobs.output_stream import FileRecord, OutputStream, hash_file
from pixelmill.jobs.storage import Finished, Storage, check_name
from pixelmill.jobs.upload_stream import Blocks, Memory, UploadStream
from pixelmill.options.running import OnError
from pixelmill.storage import system

CONTINUE = (
    "exists=resume with on_error=skip continues without such samples and lists them; "
    "on_error=quarantine keeps their bytes, too"
)
_FEW_FILES = 8
_SYNC_THREADS = 32


class ShardFiles:
    """The output streams of a shard, and a record of the samples that it could not use.

    Attributes:
        number: The number of the shard.
        threads: How many processors the shard may use.
        durable: Whether files are hashed and brought to the disk before they are renamed.
        strict: Whether every image is decoded, and decoder warnings are errors.
        following: Shards that this process will write next, as far as they are known: their input can be read ahead.
        errors: The samples rejected so far.
        notes: Remarks about samples that are written all the same, and how many samples have them.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        number: int,
        scratch: Path,
        threads: int = 1,
        on_error: OnError = "fail",
        max_errors: int | None = None,
        on_progress: Callable[[int, int], object] | None = None,
        durable: bool = True,
        strict: bool = False,
        following: Sequence[int] = (),
        blocks: Blocks | None = None,
    ) -> None:
        self.strict = strict
        self.following = following
        self.notes: Counter[str] = Counter()
        self.number = number
        self.durable = durable
        self.threads = threads
        self.errors: list[Event] = []
        self.quarantined: dict[str, OutputStream] = {}
        self._storage = storage
        self._scratch = scratch
        self._streams: dict[str, OutputStream | Path] = {}
        self._memory = Memory(blocks)
        self._on_error = on_error
        self._max_errors = max_errors
        self._on_progress = on_progress

    def open(self, name: str) -> OutputStream:
        """Open the file that will get this name, relative to the output folder, for writing from start to end."""
        path = self._reserve(name)
        where = self._storage.where(name)
        if self._storage.is_remote:
            stream: OutputStream = UploadStream(path, shown=where, durable=self.durable, memory=self._memory)
        else:
            stream = OutputStream(path, shown=where, durable=self.durable)
        self._streams[name] = stream
        return stream

    def path(self, name: str) -> Path:
        """Return a path for writers that need one instead of a stream. The file must exist when the shard ends."""
        path = self._reserve(name)
        self._streams[name] = path
        return path

    def write(self, name: str, data: bytes | bytearray | memoryview) -> None:
        """Write a whole file."""
        with self.open(name) as stream:
            stream.write(data)

    def reject(self, event: Event, raw: bytes | Iterable[bytes] | None = None, *, extension: str = "bin") -> None:
        """Skip a sample according to the policy of the job: stop, continue, or keep its bytes and continue.

        Args:
            event: What is wrong with the sample.
            raw: Its bytes, or pieces of them; None if they cannot be read.
            extension: The extension of the file that keeps them.
        """
        if self._on_error == "fail":
            raise DataError(f"{event}\n  {CONTINUE}", (event,))
        if self._on_error == "quarantine" and raw is not None:
            name = f"shard-{self.number:05d}-{len(self.errors):06d}.{extension.lstrip('.') or 'bin'}"
            stream = OutputStream(self._scratch / f"quarantine-{len(self.errors)}", shown=name)
            with stream:
                stream.writelines([raw] if isinstance(raw, bytes) else raw)
            self.quarantined[name] = stream
            event = replace(event, message=f"{event.message} [kept as {name}]")
        self.errors.append(event)
        if self._max_errors is not None and len(self.errors) > self._max_errors:
            raise DataError(too_many(self._max_errors, self.errors), tuple(self.errors))

    @property
    def refused_notes(self) -> tuple[str, ...]:
        """The notes of the decoder that make a sample a bad one."""
        return (MISSING_PIXELS, DECODER_WARNING) if self.strict else (MISSING_PIXELS,)

    def note(self, kinds: Iterable[str]) -> None:
        """Count the notes about a sample."""
        self.notes.update(set(kinds))

    def progress(self, samples: int, size: int = 0) -> None:
        """Report that more samples, with this many bytes, are done."""
        if self._on_progress is not None:
            self._on_progress(samples, size)

    def finish(self) -> dict[str, tuple[Finished, FileRecord]]:
        """Bring every file to the disk, unless it goes to a store; return where it is and its record."""
        finished: dict[str, tuple[Finished, FileRecord]] = {}
        for number, (name, stream) in enumerate(self._streams.items()):
            path = self._scratch / str(number)
            if isinstance(stream, OutputStream):
                stream.close()
                finished[name] = stream.content, stream.record(name)
            elif not self.durable:
                with explained(self._storage.where(name)):
                    finished[name] = path, FileRecord(name, path.stat().st_size, "")
            else:
                finished[name] = path, hash_file(path, name, shown=self._storage.where(name))
        if self.durable and not self._storage.is_remote:
            paths = {self._storage.where(name): path for name, (path, _) in finished.items() if isinstance(path, Path)}
            bring_to_disk(paths)
        return finished

    def quarantine_files(self) -> dict[str, tuple[Finished, FileRecord]]:
        """Return the same for the bytes of rejected samples."""
        bring_to_disk({name: stream.path for name, stream in self.quarantined.items()})
        return {name: (stream.path, stream.record(name)) for name, stream in self.quarantined.items()}

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(
            stream.tell() if isinstance(stream, OutputStream) else stream.stat().st_size
            for stream in self._streams.values()
        )

    @property
    def latest(self) -> str:
        """The name of the file that was opened last."""
        return next(reversed(self._streams), f"shard {self.number}")

    def abandon(self) -> None:
        """Close all files; the caller removes them."""
        for stream in self._streams.values():
            if isinstance(stream, OutputStream):
                stream.abandon()

    def release(self) -> None:
        """Let other shards use the memory of the files, which must not be used any more."""
        for stream in self._streams.values():
            if isinstance(stream, UploadStream):
                stream.release()

    def _reserve(self, name: str) -> Path:
        if check_name(name) in self._streams:
            raise ArgumentError(f"job: shard {self.number} opens {name} twice")
        return self._scratch / str(len(self._streams))


def bring_to_disk(paths: Mapping[str, Path]) -> None:
    """Wait until files are on the disk; `paths` has them by the names to show in messages.

    A disk writes many waiting files in one go, so many small files are synced from many threads.
    """
    if len(paths) <= _FEW_FILES:
        for shown, path in paths.items():
            _bring_to_disk(shown, path)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_SYNC_THREADS) as pool:
        for _ in pool.map(_bring_to_disk, paths.keys(), paths.values()):
            pass


def _bring_to_disk(shown: str, path: Path) -> None:
    with explained(shown):
        system.sync_file(path)


def too_many(limit: int, errors: list[Event] | tuple[Event, ...] | list[dict[str, Any]]) -> str:
    """Return the message for a job with more bad samples than allowed."""
    last = errors[-1] if errors else ""
    shown = last.get("message", "") if isinstance(last, dict) else str(last)
    text = f"job: more than {counted(limit, 'sample')} cannot be used (max_errors={limit}); the last: {shown}"
    return f"{text}\n  exists=resume with max_errors={10 * max(limit, 1)} continues, if so many are expected"
