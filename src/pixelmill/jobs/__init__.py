"""Bulk jobs: datasets written shard by shard, on one machine or many; a job killed at any time can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.jobs.job import InputFile, Job, ShardPlan, ShardReport
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.lazy_exports import lazy_exports
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.jobs.run import JobReport, run_job
    from pixelmill.jobs.status import JobStatus, job_status

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
# Worker processes only make shards; they start faster without what runs and inspects jobs.
__getattr__ = lazy_exports(
    __name__, {"JobReport": "run", "JobStatus": "status", "job_status": "status", "run_job": "run"}
)
