"""Make shards and put them in place: all files of a shard get their names, then its sidecar says that it is done."""

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
from pixelmill.jobs.shard_files import FileRecord, OnError, ShardFiles
from pixelmill.jobs.storage import Storage, open_storage, space_explained

OnSamples = Callable[[int, int], object]


@dataclass(frozen=True)
class Site:
    """Where and how shards are made, in plain values that travel to workers as JSON.

    Attributes:
        output: Folder or URL of the dataset.
        state: Name of the folder in it that holds sidecars and unfinished files.
        scratch: First part of the names of this run's folders for unfinished files.
        quarantine: Folder or URL for the bytes of samples that cannot be used.
        on_error: What to do with such samples.
        max_errors: How many of them one run may meet.
        threads: How many processors a shard may use.
        durable: Whether output survives a loss of power.
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
class ShardMaker:
    """A job at its site."""

    job: Job
    site: Site

    @cached_property
    def storage(self) -> Storage:
        """The output."""
        return open_storage(self.site.output)

    def describe(self) -> dict[str, Any]:
        """Describe the maker so that another process can rebuild it."""
        return {"job": dump_job(self.job), "site": asdict(self.site)}

    @classmethod
    def rebuild(cls, description: Mapping[str, Any]) -> ShardMaker:
        """Rebuild a maker that `describe` has described."""
        return cls(load_job(description["job"]), Site(**description["site"]))

    def make(self, number: int, *, on_samples: OnSamples | None = None) -> Entry:
        """Make a shard, commit its files and its sidecar, and give the latter's content."""
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
    """Give finished files their names and make the names durable."""
    for name, (path, _) in finished.items():
        storage.adopt(path, name)
    if durable:
        storage.sync(finished)
    return [record for _, record in finished.values()]


def write_through(storage: Storage, name: str, pieces: Iterable[bytes], *, scratch: str) -> None:
    """Write a file piece by piece, whole or not at all."""
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
    """Write an entry as sidecars hold it."""
    return json.dumps(entry, sort_keys=True).encode() + b"\n"
