"""Bulk jobs: a dataset written shard by shard, on one machine or many, killed at any time and resumed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pixelmill.jobs.job import InputFile, Job, Progress, ShardPlan, ShardReport
from pixelmill.jobs.shard_files import ShardFiles

if TYPE_CHECKING:
    from pixelmill.jobs.run import JobReport, run_job
    from pixelmill.jobs.status import JobStatus, job_status

# What runs jobs and looks at them, imported when it is asked for: workers only make shards, and start sooner so.
_LATER = {"JobReport": "run", "JobStatus": "status", "job_status": "status", "run_job": "run"}

__all__ = [
    "InputFile",
    "Job",
    "JobReport",
    "JobStatus",
    "Progress",
    "ShardFiles",
    "ShardPlan",
    "ShardReport",
    "job_status",
    "run_job",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
