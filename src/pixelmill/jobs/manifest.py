"""manifest.json and the sidecars of shards: what a finished dataset consists of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.jobs.job import ShardReport
from pixelmill.jobs.plan import JobPlan
from pixelmill.jobs.shard_files import FileRecord
from pixelmill.jobs.storage import Storage, check_name

NAME = "manifest.json"

Entry = dict[str, Any]


def shard_entry(
    number: int, *, report: ShardReport, files: Iterable[FileRecord], quarantine: Iterable[FileRecord]
) -> Entry:
    """Describe a finished shard, for its sidecar and for the manifest."""
    entry: Entry = {
        "number": number,
        "samples": report.samples,
        "files": [asdict(file) for file in files],
        "errors": [event_entry(event) for event in report.errors],
    }
    kept = [asdict(file) for file in quarantine]
    if kept:
        entry["quarantine"] = kept
    if report.details:
        entry["details"] = dict(report.details)
    return entry


def event_entry(event: Event) -> Entry:
    """Describe an event, without its unknown fields."""
    return {name: value for name, value in asdict(event).items() if value is not None}


def load_event(entry: Mapping[str, Any]) -> Event:
    """Rebuild an event."""
    return Event(**entry)


def entry_bytes(entry: Mapping[str, Any]) -> int:
    """Return the bytes of all files of a shard."""
    return sum(int(file["bytes"]) for file in entry["files"])


def manifest_text(
    plan: JobPlan, *, totals: Mapping[str, int], closing: Iterable[FileRecord], entries: Iterable[Entry]
) -> Iterator[bytes]:
    """Yield the manifest piece by piece, one line per shard, so that memory does not grow with the dataset."""
    head: Entry = {"job": plan.hash, **plan.content, **totals, "files": [asdict(file) for file in closing]}
    seed = plan.content["options"].get("seed")
    if seed is not None:
        head["seed"] = seed
    text = json.dumps(head, indent=1, sort_keys=True)
    yield text.removesuffix("\n}").encode() + b',\n "entries": [\n'
    separator = b""
    for entry in entries:
        yield separator + json.dumps(entry, sort_keys=True).encode()
        separator = b",\n"
    yield b"\n ]\n}\n"


def read_manifest(storage: Storage, *, strict: bool = False) -> Entry | None:
    """Return the manifest of a dataset, or None if there is none or another program wrote it.

    Args:
        storage: The dataset.
        strict: Raise DataError if the file is not valid JSON, instead of ignoring it.
    """
    data = storage.read(NAME)
    found = _object(data, ("job", "kind", "options", "entries"))
    if strict and data is not None and found is None:
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(f"manifest: damaged: {error}") from None
    return found


def listed_files(manifest: Entry) -> list[FileRecord]:
    """Return all files that a manifest lists. Raises DataError if it is damaged."""
    found: list[FileRecord] = []
    try:
        rows = [file for entry in manifest["entries"] for file in entry["files"]] + list(manifest.get("files", ()))
        for row in rows:
            name, size, sha256 = row["name"], row["bytes"], row["sha256"]
            if not (isinstance(name, str) and isinstance(size, int) and isinstance(sha256, str)):
                raise TypeError(f"a file has the entry {str(row)[:100]}")
            found.append(FileRecord(check_name(name), size, sha256))
    except (KeyError, TypeError, ArgumentError) as error:
        raise DataError(f"manifest: damaged: {error!r:.200}") from None
    return found


def read_entry(storage: Storage, name: str) -> Entry | None:
    """Return a sidecar, or None if it is missing or damaged."""
    return _object(storage.read(name), ("number", "samples", "files", "errors"))


def _object(data: bytes | None, keys: tuple[str, ...]) -> Entry | None:
    if data is None:
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and all(key in content for key in keys) else None
