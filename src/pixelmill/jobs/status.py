"""The status of the jobs in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pixelmill.errors import ArgumentError, DataError
from pixelmill.jobs.lock import LOCKS
from pixelmill.jobs.manifest import Entry, entry_bytes, manifest_names, read_entry, read_manifest, read_plan
from pixelmill.jobs.sharing import STATE
from pixelmill.jobs.storage import Storage, open_storage


@dataclass(frozen=True)
class JobStatus:
    """The state of a job.

    Attributes:
        output: Folder or URL of the dataset.
        job: Hash of the plan.
        kind: The kind of job.
        complete: Whether it is finished.
        shards: Number of all shards.
        done: Number of finished shards.
        missing: Numbers of the shards that are not done.
        samples: Samples of the finished shards.
        bytes: Bytes of the finished shards.
        errors: Samples skipped in them, as the manifest lists them.
        owners: Process and host of each lock. A process that was killed is still listed.
    """

    output: str
    job: str
    kind: str
    complete: bool
    shards: int
    done: int
    missing: tuple[int, ...]
    samples: int
    bytes: int
    errors: tuple[dict[str, Any], ...]
    owners: tuple[str, ...]


def job_status(output: str | os.PathLike[str]) -> list[JobStatus]:
    """Return the status of all jobs in a folder: finished ones, and unfinished ones."""
    storage = open_storage(output)
    manifests = [read_manifest(storage, name=name) for name in manifest_names(storage)]
    found = [_status(storage, item, item["entries"], complete=True, owners=()) for item in manifests if item]
    found += unfinished_jobs(storage)
    if not found:
        raise ArgumentError(f"job: {storage.root} contains no job: there is no manifest and no folder {STATE}")
    return found


def unfinished_jobs(storage: Storage) -> list[JobStatus]:
    """Return the status of the jobs in a folder that have not finished."""
    found = [status for name in storage.names("") if name.startswith(STATE) if (status := _unfinished(storage, name))]
    if not found:
        return []
    finished = set(_finished_jobs(storage))
    return [status for status in found if status.job not in finished]


def _finished_jobs(storage: Storage) -> Iterator[str]:
    for name in manifest_names(storage):
        try:
            finished = read_manifest(storage, name=name)
        except DataError:  # reported where the manifest is used
            continue
        if finished is not None:
            yield str(finished["job"])


def _unfinished(storage: Storage, state: str) -> JobStatus | None:
    plan = read_plan(storage, state)
    if plan is None:
        return None
    names = storage.names(state)
    entries = [read_entry(storage, f"{state}/{name}") for name in names if name.startswith("shard-")]
    owners = [_owner(storage, f"{state}/{LOCKS}/{name}") for name in storage.names(f"{state}/{LOCKS}")]
    content = {**plan["plan"], "job": plan["job"]}
    return _status(storage, content, [entry for entry in entries if entry], complete=False, owners=tuple(owners))


def _status(
    storage: Storage, content: Entry, entries: list[Entry], *, complete: bool, owners: tuple[str, ...]
) -> JobStatus:
    shards = int(content["shards"])
    there = {int(entry["number"]) for entry in entries}
    return JobStatus(
        output=storage.root,
        job=content["job"],
        kind=content["kind"],
        complete=complete,
        shards=shards,
        done=len(there),
        missing=tuple(number for number in range(shards) if number not in there),
        samples=sum(int(entry["samples"]) for entry in entries),
        bytes=sum(entry_bytes(entry) for entry in entries),
        errors=tuple(event for entry in entries for event in entry["errors"]),
        owners=owners,
    )


def _owner(storage: Storage, name: str) -> str:
    try:
        owner = json.loads(storage.read(name) or b"{}")
        return f"process {owner['pid']} on {owner['host']}"
    except (ValueError, KeyError, TypeError):
        return storage.where(name)
