"""Make shards and commit them.

The order is what makes a kill at any moment harmless. The files of a shard are written under hidden names and brought
to the disk, and with them the sidecar, which lists them. Then they are renamed, and the folders that hold the new names
are synced. The sidecar, which says that the shard is done, gets its name last: if it has it, everything that it lists
is there, even after a power loss. If it does not, the hidden one says which files a run that replaces the job removes.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pixelmill.jobs.disk import explained, space_explained, sync_folder, write_file
from pixelmill.jobs.job import Job, ShardReport, dump_job, load_job
from pixelmill.jobs.lock import Claim
from pixelmill.jobs.manifest import Entry, shard_entry
from pixelmill.jobs.output_stream import FileRecord, OutputStream
from pixelmill.jobs.progress import GatheredProgress, OnSamples
from pixelmill.jobs.shard_files import ShardFiles, bring_to_disk
from pixelmill.jobs.storage import Finished, Storage, open_storage, together
from pixelmill.jobs.upload_stream import Blocks
from pixelmill.options.running import OnError

INTENT = "shard-{:05d}.json"


@dataclass(frozen=True)
class Site:
    """Where and how shards are made, as plain values that travel to workers as JSON.

    Attributes:
        output: Folder or URL of the dataset.
        state: Name of the folder in it that holds sidecars and unfinished files.
        scratch: Prefix of the names of this run's folders for unfinished files.
        quarantine: Folder or URL for the bytes of bad samples.
        on_error: What to do with bad samples.
        max_errors: How many of them one run may meet.
        threads: How many processors a shard may use.
        durable: Whether output survives a power loss.
        strict: Whether every image is decoded, and decoder warnings are errors.
        lock: Name of the lock file of this run; see `Claim`.
        owner: Its content.
        folder: The working folder of the run, which relative paths of inputs start from; empty if there is none.
    """

    output: str
    state: str
    scratch: str
    quarantine: str
    on_error: OnError
    max_errors: int | None
    threads: int
    durable: bool = True
    strict: bool = False
    lock: str = ""
    owner: str = ""
    folder: str = ""

    @property
    def claim(self) -> Claim:
        """The right to write here."""
        return Claim(self.lock, self.owner)

    def sidecar(self, number: int) -> str:
        """Name the sidecar of a shard."""
        return f"{self.state}/{INTENT.format(number)}"


@dataclass
class WrittenShard:
    """A shard whose files are written and not committed.

    Attributes:
        number: Its number.
        files: Its files.
        scratch: The folder that holds them.
        report: What was written.
    """

    number: int
    files: ShardFiles
    scratch: Path
    report: ShardReport = field(default_factory=lambda: ShardReport(0))

    def discard(self) -> None:
        """Remove what was not committed."""
        self.files.abandon()
        self.files.release()
        shutil.rmtree(self.scratch, ignore_errors=True)


@dataclass(frozen=True)
class ShardTask:
    """The task of making shards of a job at a site; runners and workers call `make`."""

    job: Job
    site: Site

    @cached_property
    def storage(self) -> Storage:
        """The output."""
        return open_storage(self.site.output)

    @cached_property
    def _blocks(self) -> Blocks:
        """The memory of files on their way to a store."""
        return Blocks()

    def describe(self) -> dict[str, Any]:
        """Describe the task so that another process can rebuild it."""
        return {"job": dump_job(self.job), "site": asdict(self.site)}

    @classmethod
    def rebuild(cls, description: Mapping[str, Any]) -> ShardTask:
        """Rebuild a task that `describe` has described."""
        return cls(load_job(description["job"]), Site(**description["site"]))

    def make(self, number: int, *, on_samples: OnSamples | None = None) -> Entry:
        """Make a shard, commit its files and its sidecar, and return the content of the sidecar."""
        return self.commit(self.write(number, on_samples=on_samples))

    def write(self, number: int, *, on_samples: OnSamples | None = None, following: Sequence[int] = ()) -> WrittenShard:
        """Write the files of a shard in a scratch folder; `commit` must follow.

        Args:
            number: The number of the shard.
            on_samples: Called with the numbers of further samples and bytes, a few times a second.
            following: Shards that this process will write next, as far as they are known.
        """
        site = self.site
        if not self.storage.is_remote:  # to a store, `commit` goes on while the next shard is written, and looks twice
            site.claim.check(self.storage)
        progress = GatheredProgress(on_samples)
        scratch = self.storage.scratch(f"{site.state}/tmp/{site.scratch}-{os.urandom(8).hex()}")
        files = ShardFiles(
            self.storage,
            number=number,
            scratch=scratch,
            threads=site.threads,
            on_error=site.on_error,
            max_errors=site.max_errors,
            on_progress=progress.advance,
            durable=site.durable,
            strict=site.strict,
            following=following,
            blocks=self._blocks,
        )
        shard = WrittenShard(number, files, scratch)
        try:
            with self._checked(), space_explained(lambda: self.storage.where(files.latest)):
                shard.report = self.job.make_shard(number, files)
            progress.finish()
        except BaseException:
            shard.discard()
            raise
        return shard

    def commit(self, shard: WrittenShard) -> Entry:
        """Rename the files of a shard into place, then its sidecar; return the content of the sidecar."""
        site, files = self.site, shard.files
        try:
            with self._checked():
                report = replace(shard.report, errors=(*shard.report.errors, *files.errors))
                # In a store, looking for the lock takes as long as hashing the files.
                finished = together(self.storage, files.finish, lambda: site.claim.check(self.storage))
                kept, records = self._keep(files), [record for _, record in finished.values()]
                entry = shard_entry(shard.number, report=report, files=records, quarantine=kept, notes=files.notes)
                sidecar = write_intent(shard.scratch, entry, durable=not self.storage.is_remote)
                place(self.storage, finished, durable=site.durable)
                site.claim.check(self.storage)
                place(self.storage, {site.sidecar(shard.number): (sidecar, FileRecord("", 0, ""))})
        finally:
            shard.discard()
        return entry

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Explain an error of the system by the other run that has taken over, if there is one."""
        try:
            yield
        except OSError:
            self.site.claim.check(self.storage)
            raise

    def _keep(self, files: ShardFiles) -> list[FileRecord]:
        finished = files.quarantine_files()
        if not finished:
            return []
        aside = open_storage(self.site.quarantine)
        return place(aside, finished)


def place(
    storage: Storage, finished: Mapping[str, tuple[Finished, FileRecord]], *, durable: bool = True
) -> list[FileRecord]:
    """Rename finished files to their final names, and make the names durable."""
    storage.adopt({name: path for name, (path, _) in finished.items()})
    if durable:
        # Before the sidecar: after a power loss it must not list a file whose name never reached the disk.
        storage.sync(finished)
    return [record for _, record in finished.values()]


def write_intent(scratch: Path, entry: Entry, *, durable: bool = True) -> Path:
    """Write a sidecar in a scratch folder, before the files that it lists get their names.

    After a kill or a power loss it says which files are there without a sidecar. A run that takes over removes the
    scratch folder, so that this one cannot commit any more. The scratch folder of a store is on this machine, where no
    other run looks for it, and need not be durable.
    """
    path = scratch / INTENT.format(entry["number"])
    with explained(str(path)):
        if not durable:
            path.write_bytes(json_line(entry))
            return path
        write_file(path, json_line(entry))
        sync_folder(scratch)
    return path


def write_through(storage: Storage, name: str, pieces: Iterable[bytes], *, scratch: Path) -> None:
    """Write a file piece by piece in a scratch folder; it gets its name only when it is complete."""
    path = scratch / PurePosixPath(name).name
    with OutputStream(path, shown=storage.where(name)) as stream:
        stream.writelines(pieces)
    if not storage.is_remote:
        bring_to_disk({storage.where(name): path})
    place(storage, {name: (path, stream.record(name))})


@contextmanager
def scratch_folder(storage: Storage, name: str) -> Iterator[Path]:
    """Create a folder for files that are being written, and remove it afterwards."""
    folder = storage.scratch(name)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def json_line(entry: Mapping[str, Any]) -> bytes:
    """Return an entry as the content of a sidecar."""
    return json.dumps(entry, sort_keys=True).encode() + b"\n"
