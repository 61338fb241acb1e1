"""Options that jobs share: how they run, and what they read."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from pixelmill.formats.containers import FORMATS
from pixelmill.options.declaration import FOLDER, PYTHON_ONLY, UNPLANNED, Choices, Cli, Help, Parsed, Range
from pixelmill.options.values import parse_part

Source = str | os.PathLike[str] | Sequence[str]
Target = str | os.PathLike[str]
Exists = Literal["error", "resume", "overwrite", "add"]
OnError = Literal["fail", "skip", "quarantine"]
Runner = Literal["local", "ray"]
Mode = Literal["cpu", "gpu", "dali", "auto"]

MAX_ERRORS = 100


def source_paths(source: Source) -> str | tuple[str, ...]:
    """Return a source as plain text, as jobs and workers take it."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else tuple(map(os.fspath, source))


Container = Choices(FORMATS)
Seed = Annotated[int, Range(0), Help("Seed of all random numbers.")]


@dataclass(frozen=True)
class Progress:
    """How far a job has come.

    Attributes:
        shards_done: Shards that are written.
        shards: All shards.
        samples: Samples written in this run, including those of unfinished shards.
        bytes: Bytes written in this run, likewise.
        samples_before: Samples of shards that earlier runs finished.
        expected: Samples of the whole job, if that is known.
    """

    shards_done: int
    shards: int
    samples: int
    bytes: int
    samples_before: int
    expected: int | None = None


OnProgress = Callable[[Progress], object]


@dataclass(frozen=True, kw_only=True)
class WorkersOption:
    """How many processes work."""

    workers: Annotated[
        int | None,
        Range(1),
        UNPLANNED,
        Help(
            "Number of processes. 1 works in this process; so does a small job unless a number is given.",
            default="number of processors, or of GPUs if they are needed",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ExistsOption:
    """What happens to output that exists."""

    exists: Annotated[
        Exists,
        UNPLANNED,
        Help(
            "Existing output: refuse it, resume it if the same job produced it, replace it, or add the files of this "
            "job to those of others (and resume this job)."
        ),
    ] = "error"
    verify_existing: Annotated[
        bool,
        UNPLANNED,
        Help(
            "With resume: read all finished shards and compare their hashes; those that differ are made again. "
            "Otherwise sizes are compared, and the hash of the last shard."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ErrorOptions:
    """What happens to samples that cannot be used."""

    on_error: Annotated[
        OnError,
        UNPLANNED,
        Help("Bad samples: stop, skip and list them, or skip them and keep their bytes."),
    ] = "fail"
    max_errors: Annotated[int | None, Range(0), UNPLANNED, Help("Stop if more samples than this are bad.")] = MAX_ERRORS
    strict: Annotated[
        bool,
        UNPLANNED,
        Help(
            "Decode every image, also one that is only copied, and treat decoder warnings as errors. Images with "
            "missing pixels are bad samples wherever they are decoded."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class RunnerOptions:
    """Where shards are made."""

    runner: Annotated[Runner, UNPLANNED, Help("Processes of this machine, or Ray tasks.")] = "local"
    address: Annotated[
        str | None,
        UNPLANNED,
        Help("Address of the Ray cluster.", default="the running one, or a new one on this machine"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ProgressOption:
    """Who hears about progress."""

    on_progress: Annotated[
        OnProgress | None, PYTHON_ONLY, UNPLANNED, Help("Called from time to time with the `Progress` made.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class PartOption:
    """Which part of a job is made here, as one value."""

    part: Annotated[
        tuple[int, int] | None,
        Parsed(parse_part, "I/N"),
        UNPLANNED,
        Help("Make only part I of N, from 0/N to N-1/N; run the other parts elsewhere."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """Which part of a job is made here, as two values."""

    shard_index: Annotated[
        int | None,
        PYTHON_ONLY,
        UNPLANNED,
        Help("Make only every `num_shards`-th shard, starting with this one; run the other indices elsewhere."),
    ] = None
    num_shards: Annotated[int | None, PYTHON_ONLY, UNPLANNED, Help("Number of parts that the work is split into.")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class DryRunOption:
    """Whether anything is written."""

    dry_run: Annotated[bool, UNPLANNED, Help("Check everything and report what would be written; write nothing.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(DryRunOption, ProgressOption, RunnerOptions, ErrorOptions, ExistsOption):
    """How a bulk job runs. None of this changes what is written, but for the samples that are bad."""


@dataclass(frozen=True, kw_only=True)
class QuarantineOption:
    """Where the bytes of bad samples go."""

    quarantine: Annotated[
        Target | None,
        PYTHON_ONLY,
        UNPLANNED,
        Help("Folder for the bytes of bad samples.", default="`OUTPUT.quarantine`"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunJobOptions(QuarantineOption, SplitOptions, RunOptions, WorkersOption):
    """The arguments of `run_job` after the job and its output."""

    plain: Annotated[
        bool, PYTHON_ONLY, UNPLANNED, Help("Leave only the files of the dataset in the folder, without a manifest.")
    ] = False
    durable: Annotated[
        bool,
        PYTHON_ONLY,
        UNPLANNED,
        Help(
            "Hash files, and wait until they are on the disk before they get their names. False is for plain output "
            "that can be made again: it survives a kill but not a power loss, and is faster."
        ),
    ] = True
    num_gpus: Annotated[
        float,
        PYTHON_ONLY,
        UNPLANNED,
        Help("GPUs that a worker needs: each local process sees one GPU, and a Ray task gets this many."),
    ] = 0


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """How the paths of file lists are read."""

    root: Annotated[str | None, FOLDER, UNPLANNED, Help("File lists: folder that relative paths start from.")] = None
    allow_outside: Annotated[bool, UNPLANNED, Help("File lists: permit paths outside of the root.")] = False
    path_column: Annotated[
        str | None, UNPLANNED, Cli(metavar="NAME"), Help("Tables: the column of paths.", default="found by its name")
    ] = None
    label_column: Annotated[
        str | None, UNPLANNED, Cli(metavar="NAME"), Help("Tables: the column of labels.", default="found by its name")
    ] = None


def list_options(given: ListOptions) -> dict[str, Any]:
    """Return the options of lists as `open_dataset` takes them."""
    return {field.name: getattr(given, field.name) for field in fields(ListOptions)}
