"""`convert`: any container to any other."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pixelmill.conversion.encoding import Encoding
from pixelmill.conversion.job import ConvertJob, size_of
from pixelmill.errors import ArgumentError
from pixelmill.formats import storage
from pixelmill.formats.registry import FORMATS
from pixelmill.jobs import Progress

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport

SHARD_BYTES = 256 * 1000 * 1000
_SMALL = 64 * 1000 * 1000


@dataclass(frozen=True)
class ConvertReport:
    """What a conversion has written, or would write.

    Attributes:
        source: The dataset that was read.
        source_format: Its container.
        output: Where the new one is.
        to: Its container.
        samples: Number of samples written.
        shards: Number of shards.
        bytes: Bytes written; for a dry run, bytes to read.
        errors: Samples that could not be used and were left out.
        parts: The reports of a split by their names; one named "" without a split. Empty for a dry run.
        plan: For each part the number of samples and of shards.
    """

    source: str
    source_format: str
    output: str
    to: str
    samples: int
    shards: int
    bytes: int
    errors: int
    parts: Mapping[str, JobReport]
    plan: Mapping[str, tuple[int, int]]


def convert(
    source: str | os.PathLike[str] | Sequence[str],
    output: str | os.PathLike[str],
    *,
    to: str,
    source_format: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    limit: int | None = None,
    shuffle: bool = False,
    seed: int = 0,
    split: Mapping[str, float] | Sequence[tuple[str, float]] = (),
    samples_per_shard: int | None = None,
    shard_size: int | None = None,
    num_shards: int | None = None,
    resize: int | tuple[int, int] | None = None,
    max_side: int | None = None,
    format: str | None = None,
    quality: int | None = None,
    keys: Literal["inception", "tfds", "raw"] = "inception",
    dry_run: bool = False,
    exists: Literal["error", "resume", "overwrite"] = "error",
    on_error: Literal["fail", "skip", "quarantine"] = "fail",
    workers: int | None = None,
    part: tuple[int, int] | None = None,
    on_start: Callable[[int], object] | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    **job_options: Any,
) -> ConvertReport:
    """Write a dataset into another container. Images stay byte for byte unless a new encoding is asked for.

    Args:
        source: The dataset: a folder, a file, a pattern, an address for fsspec, or several files.
        output: Folder or address to write to.
        to: `folder`, `list`, `tfrecord`, `recordio`, `npy` or `webdataset`.
        source_format: What the source is; recognised by its content without.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        limit: Write the first samples only, of the shuffled order if there is one.
        shuffle: Write the samples in a random order.
        seed: Another seed, another order and another split.
        split: Names and shares, such as `{"train": 0.9, "valid": 0.1}`: each part is drawn at random and becomes a
            dataset of its own in a folder of that name.
        samples_per_shard: Samples of a shard.
        shard_size: Bytes of a shard; 256 MB where nothing else is said.
        num_shards: Number of shards.
        resize: Height and width; a single number is the length of the shorter side.
        max_side: Shrink larger images until their longer side has this length.
        format: `jpeg`, `png`, `webp`, `bmp` or `npy` (pixels).
        quality: Of JPEG and WebP, 1 to 100.
        keys: The keys of a TFRecord; raw ones hold pixels, so images are decoded.
        dry_run: Say what would be written, and write nothing.
        exists: Output that is there: refuse it, go on with it, or replace it.
        on_error: Bad samples: stop, leave out, or leave out and keep their bytes aside.
        workers: Processes; as many as there are processors when left out.
        part: `(i, n)`: make only every n-th shard, beginning with shard i; other processes make the rest.
        on_start: Called with the number of samples before the first is written.
        on_progress: Called now and then with the progress made.
        **job_options: Passed to `run_job`.

    Returns:
        What was written.
    """
    _check(to=to, limit=limit, samples_per_shard=samples_per_shard, shard_size=shard_size, num_shards=num_shards)
    shares = tuple(split.items() if isinstance(split, Mapping) else split)
    sizes = None if resize is None else (resize,) if isinstance(resize, int) else tuple(resize)
    if keys == "raw" and to == "tfrecord":
        if format not in (None, "npy"):
            raise ArgumentError(f"convert: raw keys hold pixels, so the format is npy, got {format!r}")
        format = "npy"
    Encoding(sizes, max_side, format, quality)
    whole = ConvertJob(
        source=os.fspath(source) if isinstance(source, (str, os.PathLike)) else tuple(map(os.fspath, source)),
        to=to,
        source_format=source_format,
        root=root,
        allow_outside=allow_outside,
        limit=limit,
        shuffle=shuffle,
        seed=seed,
        split=shares,
        samples_per_shard=samples_per_shard,
        shard_bytes=shard_size or (SHARD_BYTES if samples_per_shard is None and num_shards is None else None),
        shard_count=num_shards,
        resize=sizes,
        max_side=max_side,
        format=format,
        quality=quality,
        keys=keys,
    )
    target = os.fspath(output)
    if any(text.startswith("memory://") for text in (target, str(whole.source))):
        workers = 1  # other processes do not see this memory
    if workers is None and not whole.encoding.is_needed and _bytes_of(whole) < _SMALL:
        workers = 1  # starting processes would take longer than the copying
    jobs = {name: _part_of(whole, name) for name, _ in shares} or {"": whole}
    run = {"exists": exists, "on_error": on_error, "workers": workers, **job_options}
    if part is not None:
        run |= {"shard_index": part[0], "num_shards": part[1]}
    if on_start is not None:
        on_start(sum(len(job.order) for job in jobs.values()))
    reports = {} if dry_run else _run(jobs, target, run, on_progress)
    return _report(whole, jobs, target, reports)


def _check(*, to: str, limit: int | None, **shards: int | None) -> None:
    if to not in FORMATS:
        raise ArgumentError(f"convert: to must be one of {', '.join(FORMATS)}, got {to!r}")
    for name, value in {"limit": limit, **shards}.items():
        if value is not None and value < 1:
            raise ArgumentError(f"convert: {name} must be at least 1, got {value}")
    given = [name for name, value in shards.items() if value is not None]
    if len(given) > 1:
        raise ArgumentError(f"convert: {' and '.join(given)} exclude each other; give one of them")


def _part_of(whole: ConvertJob, name: str) -> ConvertJob:
    part = dataclasses.replace(whole, part=name)
    part.__dict__["dataset"] = whole.dataset  # opened once for all parts
    return part


def _run(
    jobs: Mapping[str, ConvertJob],
    target: str,
    run: Mapping[str, Any],
    on_progress: Callable[[Progress], object] | None,
) -> dict[str, JobReport]:
    import tempfile

    from pixelmill.jobs import run_job

    reports: dict[str, JobReport] = {}
    for name, job in jobs.items():
        job.bounds  # noqa: B018 - an empty part is refused before anything is written
        done = sum(report.samples for report in reports.values())
        size = sum(report.bytes for report in reports.values())

        def show(progress: Progress, done: int = done, size: int = size) -> None:
            if on_progress is not None:
                on_progress(dataclasses.replace(progress, samples=progress.samples + done, bytes=progress.bytes + size))

        with tempfile.TemporaryDirectory(prefix="pixelmill-") as folder:
            found = job.survey
            if found is not None:
                path = Path(folder) / "survey.json"
                found.save(path)
                surveyed = dataclasses.replace(job, survey_file=str(path))
                surveyed.__dict__.update({key: job.__dict__[key] for key in ("dataset", "survey", "order", "bounds")})
                job = surveyed
            reports[name] = run_job(job, storage.join(target, name) if name else target, on_progress=show, **run)
    return reports


def _report(
    whole: ConvertJob, jobs: Mapping[str, ConvertJob], target: str, reports: Mapping[str, JobReport]
) -> ConvertReport:
    planned = {name: (len(job.order), len(job.bounds)) for name, job in jobs.items()}
    to_read = sum(_bytes_of(job) for job in jobs.values()) if not reports else 0
    return ConvertReport(
        source=whole.dataset.source,
        source_format=whole.dataset.format,
        output=target,
        to=whole.to,
        samples=sum(r.samples for r in reports.values()) if reports else sum(n for n, _ in planned.values()),
        shards=sum(count for _, count in planned.values()),
        bytes=sum(report.bytes for report in reports.values()) or to_read,
        errors=sum(report.errors for report in reports.values()),
        parts=dict(reports),
        plan=planned,
    )


def _bytes_of(job: ConvertJob) -> int:
    return sum(size_of(job.dataset, int(number)) for number in job.order)
