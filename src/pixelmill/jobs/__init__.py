"""Bulk jobs: a dataset written shard by shard, on one machine or many, killed at any time and resumed."""

from pixelmill.jobs.job import InputFile, Job, Progress, ShardPlan, ShardReport
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.jobs.shard_files import ShardFiles
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
