"""Make shards and commit them.

The order is what makes a kill at any moment harmless. The files of a shard are written under hidden names and brought
to the disk. Then they are renamed, and the folders that hold the new names are synced. The sidecar, which says that the
shard is done, is written last: if it exists, so does everything that it lists, even after a power loss.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pixelmill.jobs.job import Job, dump_job, load_job
from pixelmill.jobs.manifest import Entry, shard_entry
from pixelmill.jobs.shard_files import FileRecord, ShardFiles
from pixelmill.jobs.storage import Storage, open_storage, space_explained
from pixelmill.options.running import OnError

OnSamples = Callable[[int, int], object]


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
    """

    output: str
    state: str
    scratch: str
    quarantine: str
    on_error: OnError
    max_errors: int | None
    threads: int
    durable: bool = True

    def sidecar(self, number: int) -> str:
        """Name the sidecar of a shard."""
        return f"{self.state}/shard-{number:05d}.json"


@dataclass(frozen=True)
class ShardTask:
    """The task of making shards of a job at a site; runners and workers call `make`."""

    job: Job
    site: Site

    @cached_property
    def storage(self) -> Storage:
        """The output."""
        return open_storage(self.site.output)

    def describe(self) -> dict[str, Any]:
        """Describe the task so that another process can rebuild it."""
        return {"job": dump_job(self.job), "site": asdict(self.site)}

    @classmethod
    def rebuild(cls, description: Mapping[str, Any]) -> ShardTask:
        """Rebuild a task that `describe` has described."""
        return cls(load_job(description["job"]), Site(**description["site"]))

    def make(self, number: int, *, on_samples: OnSamples | None = None) -> Entry:
        """Make a shard, commit its files and its sidecar, and return the content of the sidecar."""
        site = self.site
        scratch = self.storage.scratch(f"{site.state}/tmp/{site.scratch}-{os.urandom(8).hex()}")
        files = ShardFiles(
            self.storage,
            number=number,
            scratch=scratch,
            threads=site.threads,
            on_error=site.on_error,
            max_errors=site.max_errors,
            on_progress=on_samples,
            durable=site.durable,
        )
        try:
            with space_explained(lambda: self.storage.where(files.latest)):
                report = self.job.make_shard(number, files)
            report = replace(report, errors=(*report.errors, *files.errors))
            kept = self._keep(files)
            placed = place(self.storage, files.finish(), durable=site.durable)
        finally:
            files.abandon()
            shutil.rmtree(scratch, ignore_errors=True)
        entry = shard_entry(number, report=report, files=placed, quarantine=kept)
        self.storage.write(site.sidecar(number), json_line(entry))
        return entry

    def _keep(self, files: ShardFiles) -> list[FileRecord]:
        finished = files.quarantine_files()
        if not finished:
            return []
        aside = open_storage(self.site.quarantine)
        return place(aside, finished)


def place(
    storage: Storage, finished: Mapping[str, tuple[Path, FileRecord]], *, durable: bool = True
) -> list[FileRecord]:
    """Rename finished files to their final names, and make the names durable."""
    for name, (path, _) in finished.items():
        storage.adopt(path, name)
    if durable:
        # Before the sidecar: after a power loss it must not list a file whose name never reached the disk.
        storage.sync(finished)
    return [record for _, record in finished.values()]


def write_through(storage: Storage, name: str, pieces: Iterable[bytes], *, scratch: str) -> None:
    """Write a file piece by piece; it appears only when it is complete."""
    folder = storage.scratch(scratch)
    files = ShardFiles(storage, number=-1, scratch=folder)
    try:
        with files.open(name) as stream:
            for piece in pieces:
                stream.write(piece)
        place(storage, files.finish())
    finally:
        files.abandon()
        shutil.rmtree(folder, ignore_errors=True)


def json_line(entry: Mapping[str, Any]) -> bytes:
    """Return an entry as the content of a sidecar."""
    return json.dumps(entry, sort_keys=True).encode() + b"\n"
