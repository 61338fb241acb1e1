"""The plan of a job: everything that decides its bytes, as JSON whose hash names the job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import PIL

from pixelmill import __version__, _core
from pixelmill.errors import EngineError
from pixelmill.jobs.job import Job, plan_options

FORMAT = 1
_NAME_DIGITS = 12


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

    def text(self) -> bytes:
        """Return the plan as it is stored in the folder of an unfinished job."""
        content = {"job": self.hash, "sources": self.sources, "plan": self.content}
        return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"


def make_plan(job: Job, *, on_error: str) -> JobPlan:
    """Return the plan of a job."""
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
        "on_error": on_error,
        "shards": len(job.shards),
        "versions": {**versions(), **job.versions},
    }
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
