"""The documents of a job: its plan, the sidecars of its shards, and manifest.json.

The plan holds everything that decides the bytes of a job, as JSON whose hash names the job. A sidecar describes one
finished shard. The manifest repeats the plan and all sidecars when the job is complete.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import PIL

from pixelmill import __version__, _core
from pixelmill.errors import ArgumentError, DataError, EngineError, Event
from pixelmill.jobs.job import Job, ShardReport, plan_options
from pixelmill.jobs.output_stream import FileRecord
from pixelmill.jobs.storage import Storage, check_name

NAME = "manifest.json"
PLAN = "plan.json"
_ADDED = re.compile(r"manifest-[0-9a-f]{12}\.json")  # of jobs that were added to the output of others
FORMAT = 1
_NAME_DIGITS = 12

Entry = dict[str, Any]


@dataclass(frozen=True)
class JobPlan:
    """The plan of one job.

    Attributes:
        content: What the manifest repeats and the hash covers.
        hash: SHA-256 of the content, in hexadecimal.
        sources: Hash of the inputs with their modification times. It is kept while the job runs, so that resuming
            is refused if the inputs have changed, and is not part of the result.
    """

    content: Mapping[str, Any]
    hash: str
    sources: str

    @property
    def name(self) -> str:
        """The short name of the job."""
        return self.hash[:_NAME_DIGITS]

    @property
    def shards(self) -> int:
        """Number of shards."""
        return int(self.content["shards"])

    @property
    def added_manifest(self) -> str:
        """The name of the manifest if the job is added to the output of others."""
        return f"manifest-{self.name}.json"

    def text(self, files: Iterable[str] | None = None) -> bytes:
        """Return the plan as it is stored in the folder of an unfinished job.

        Args:
            files: The names of all files that the job writes, if other jobs may write to the same folder.
        """
        content: Entry = {"job": self.hash, "sources": self.sources, "plan": self.content}
        if files is not None:
            content["files"] = sorted(files)
        return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"


def make_plan(job: Job, *, strict: bool = False) -> JobPlan:
    """Return the plan of a job. What happens to bad samples is no part of it (docs/adr/0020)."""
    names, times = hashlib.sha256(), hashlib.sha256()
    count = size = 0
    for item in job.inputs:
        line = json.dumps([item.name, item.bytes])
        names.update(line.encode() + b"\n")
        times.update(f"{line} {item.modified}\n".encode())
        count += 1
        size += item.bytes
    content = {
        "format": FORMAT,
        "kind": job.kind,
        "options": plan_options(job),
        "inputs": {"files": count, "bytes": size, "sha256": names.hexdigest()},
        "shards": len(job.shards),
        "versions": {**versions(), **job.versions},
    }
    if strict:  # decides which samples are written; left out otherwise, so that the hashes of older plans stay
        content["strict"] = True
    try:
        text = json.dumps(content, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise EngineError(f"{job.kind}: options must be plain values: {error}") from error
    return JobPlan(json.loads(text), hashlib.sha256(text.encode()).hexdigest(), times.hexdigest())


def versions() -> dict[str, str]:
    """Return the versions of everything that decides bytes."""
    return {"pixelmill": __version__, "numpy": np.__version__, "pillow": PIL.__version__, **_core.codec_versions()}


def differences(old: Mapping[str, Any], new: Mapping[str, Any], *, limit: int = 6) -> str:
    """Describe in one line how two plans differ, for example ``options.quality: 90 there, 85 now``."""
    before, after = _flat(old), _flat(new)
    lines = [
        f"{name}: {before.get(name, 'nothing')} there, {after.get(name, 'nothing')} now"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    more = f"; and {len(lines) - limit} more" if len(lines) > limit else ""
    return "; ".join(lines[:limit]) + more


def _flat(content: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = json.dumps(value)
    return found


def shard_entry(
    number: int,
    *,
    report: ShardReport,
    files: Iterable[FileRecord],
    quarantine: Iterable[FileRecord],
    notes: Mapping[str, int] | None = None,
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
    if notes:
        entry["notes"] = dict(sorted(notes.items()))
    if report.details:
        entry["details"] = dict(report.details)
    if report.counts:
        entry["counts"] = dict(sorted(report.counts.items()))
    return entry


def event_entry(event: Event) -> Entry:
    """Describe an event, without its unknown fields."""
    return {name: value for name, value in asdict(event).items() if value is not None}


def load_event(entry: Mapping[str, Any]) -> Event:
    """Rebuild an event."""
    return Event(**entry)


def is_kept(entry: Mapping[str, Any]) -> bool:
    """Whether a shard has skipped no sample or kept the bytes; a run with quarantine makes others again."""
    return not entry["errors"] or bool(entry.get("quarantine"))


def entry_bytes(entry: Mapping[str, Any]) -> int:
    """Return the bytes of all files of a shard."""
    return sum(int(file["bytes"]) for file in entry["files"])


def manifest_text(
    plan: JobPlan, *, totals: Mapping[str, Any], closing: Iterable[FileRecord], entries: Iterable[Entry]
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


def manifest_names(storage: Storage) -> list[str]:
    """Return the names of the manifests of a dataset: one, or one for each job that was added to it."""
    return [name for name in storage.names("") if name == NAME or _ADDED.fullmatch(name)]


def read_manifest(storage: Storage, *, name: str = NAME, strict: bool = False) -> Entry | None:
    """Return the manifest of a dataset, or None if there is none or another program wrote it.

    Raises DataError if its entries have another form than ours.

    Args:
        storage: The dataset.
        name: The name of the manifest.
        strict: Raise DataError also if the file is not valid JSON, instead of ignoring it.
    """
    data = storage.read(name)
    found = _object(data, ("job", "kind", "options", "entries"))
    if found is not None:
        try:
            _check_manifest(found)
        except (KeyError, TypeError, ArgumentError) as error:
            where = f"{storage.where(name)}; restore it, or remove it if the dataset is to be made again"
            raise DataError(f"manifest: damaged: {error!r:.200} in {where}") from None
    elif strict and data is not None:
        try:
            json.loads(data)
        except (ValueError, RecursionError) as error:
            raise DataError(f"manifest: damaged: {error}") from None
    return found


def listed_files(manifest: Entry) -> list[FileRecord]:
    """Return all files that a manifest lists."""
    rows = [file for entry in manifest["entries"] for file in entry["files"]] + list(manifest.get("files", ()))
    return [FileRecord(row["name"], row["bytes"], row["sha256"]) for row in rows]


def read_entry(storage: Storage, name: str) -> Entry | None:
    """Return a sidecar, or None if it is missing or damaged."""
    entry = _object(storage.read(name), ("number", "samples", "files", "errors"))
    if entry is not None:
        try:
            _check_entry(entry)
        except (KeyError, TypeError, ArgumentError):
            return None
    return entry


def read_plan(storage: Storage, state: str) -> Entry | None:
    """Return the plan of an unfinished job (`job`, `sources`, `plan`), or None if it is missing or damaged."""
    found = _object(storage.read(f"{state}/{PLAN}"), ("job", "sources", "plan"))
    if found is None or not isinstance(found["job"], str) or not isinstance(found["plan"], dict):
        return None
    plan = found["plan"]
    return found if isinstance(plan.get("kind"), str) and _is_count(plan.get("shards")) else None


def _check_manifest(manifest: Entry) -> None:
    """Raise TypeError, KeyError or ArgumentError if a manifest has another form than ours."""
    if not (isinstance(manifest["job"], str) and isinstance(manifest["kind"], str)):
        raise TypeError("its job is not described as text")
    if not _is_count(manifest.get("shards")) or not isinstance(manifest["entries"], list):
        raise TypeError("it has no list of shards")
    for entry in manifest["entries"]:
        _check_entry(entry)
    _check_files(manifest.get("files", []))


def _check_entry(entry: Any) -> None:
    if not (isinstance(entry, dict) and _is_count(entry["number"]) and _is_count(entry["samples"])):
        raise TypeError(f"a shard has the entry {str(entry)[:100]}")
    if not (isinstance(entry["errors"], list) and all(isinstance(event, dict) for event in entry["errors"])):
        raise TypeError(f"the errors of shard {entry['number']} are not a list of events")
    notes = entry.get("notes", {})
    if not (isinstance(notes, dict) and all(map(_is_count, notes.values()))):
        raise TypeError(f"the notes of shard {entry['number']} are not counts")
    _check_files(entry["files"])


def _check_files(files: Any) -> None:
    if not isinstance(files, list):
        raise TypeError(f"files are not a list but {str(files)[:100]}")
    for row in files:
        name, size, sha256 = row["name"], row["bytes"], row["sha256"]
        if not (isinstance(name, str) and _is_count(size) and isinstance(sha256, str)):
            raise TypeError(f"a file has the entry {str(row)[:100]}")
        check_name(name)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _object(data: bytes | None, keys: tuple[str, ...]) -> Entry | None:
    if data is None:
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and all(key in content for key in keys) else None
