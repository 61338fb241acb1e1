"""`convert`: any container to any other."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pixelmill import storage
from pixelmill.conversion.codebook import PackFigures, chosen_codebook, pack_figures
from pixelmill.conversion.encoding import encoding_of
from pixelmill.conversion.job import ConvertJob, size_of
from pixelmill.errors import ArgumentError
from pixelmill.formats.containers import get_format
from pixelmill.jobs.apart import check_apart
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.convert import ConvertArguments, ConvertOptions, split_pairs
from pixelmill.options.declaration import pick, takes, values_of
from pixelmill.options.running import Progress, QuarantineOption, RunOptions, source_paths
from pixelmill.storage.temporary_folders import temporary_folder

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
        errors: Number of samples skipped because they could not be used.
        notes: Remarks about samples that were written, such as `decoder_warning`, and how many samples have them.
        parts: The reports of the subsets by name; one named "" without a split. Empty for a dry run.
        plan: For each subset the number of samples and of shards.
        pack: For packs: how many images were packed, and why others were not. None for a dry run.
        remarks: What is to know about the dataset, such as files that are not read, in one line each.
    """

    source: str
    source_format: str
    output: str
    to: str
    samples: int
    shards: int
    bytes: int
    errors: int
    notes: Mapping[str, int]
    parts: Mapping[str, JobReport]
    plan: Mapping[str, tuple[int, int]]
    pack: PackFigures | None = None
    remarks: tuple[str, ...] = ()


@takes(ConvertArguments)
def convert(given: ConvertArguments) -> ConvertReport:
    """Write a dataset into another container.

    Images are copied byte for byte unless `resize`, `max_side`, `format` or `quality` ask for a new encoding. Labels,
    boxes, masks and names are kept.

    Returns:
        What was written.
    """
    target = os.fspath(given.output)
    check_apart("convert", source_paths(given.source), target, adding=given.exists == "add")
    with temporary_folder() as folder:
        whole = ConvertJob(options=_resolved(given), names_file=str(folder / "names.json"))
        whole = dataclasses.replace(whole, opened=whole.dataset)  # opened once for all subsets
        if given.to == "pack" and not given.dry_run:
            whole = dataclasses.replace(whole, codebook=chosen_codebook(whole))
        jobs = {"": whole}
        if given.split:
            jobs = {
                name: dataclasses.replace(whole, part=name, names_file=str(folder / f"names{number}.json"))
                for number, (name, _) in enumerate(split_pairs(given.split))
            }
        if given.on_start is not None:
            given.on_start(sum(len(job.order) for job in jobs.values()))
        reports = _run(jobs, target, given, workers=_workers(given, whole))
        return _report(whole, jobs, target, {} if given.dry_run else reports)


def _resolved(given: ConvertArguments) -> ConvertOptions:
    """Return the options as plans hold them: as plain values, without anything left open."""
    limits = {name: getattr(given, name) for name in ("samples_per_shard", "shard_size", "num_shards")}
    named = [name for name, value in limits.items() if value is not None]
    if len(named) > 1:
        raise ArgumentError(f"convert: {' and '.join(named)} exclude each other; use one of them")
    format = given.format
    if given.keys == "raw" and given.to == "tfrecord":
        if format not in (None, "npy"):
            raise ArgumentError(f"convert: raw keys hold pixels, so the format is npy, got {format!r}")
        format = "npy"
    return pick(
        ConvertOptions,
        given,
        source=source_paths(given.source),
        split=split_pairs(given.split),
        shard_size=given.shard_size if named else get_format(given.to).shard_bytes,
        resize=encoding_of(given).resize,
        format=format,
    )


def _workers(given: ConvertArguments, job: ConvertJob) -> int | None:
    places = (os.fspath(given.output), str(job.source))
    if any(place.startswith("memory://") for place in places):
        return 1  # other processes do not see this memory
    if given.workers is None and not job.encoding.is_needed and _bytes_of(job) < _SMALL:
        return 1  # starting processes would take longer than copying
    return given.workers


def _run(
    jobs: Mapping[str, ConvertJob], target: str, given: ConvertArguments, *, workers: int | None
) -> dict[str, JobReport]:
    arguments = values_of(RunOptions, given) | values_of(QuarantineOption, given)
    if given.part is not None:
        arguments |= {"shard_index": given.part[0], "num_shards": given.part[1]}
    reports: dict[str, JobReport] = {}
    for name, job in jobs.items():
        job.bounds  # noqa: B018 - an empty subset is refused before anything is written
        done = sum(report.samples for report in reports.values())
        size = sum(report.bytes for report in reports.values())

        def show(progress: Progress, done: int = done, size: int = size) -> None:
            if given.on_progress is not None:
                samples, written = progress.samples + done, progress.bytes + size
                given.on_progress(dataclasses.replace(progress, samples=samples, bytes=written))

        job.share_file_names()
        arguments["on_progress"] = show
        reports[name] = run_job(job, storage.join(target, name) if name else target, workers=workers, **arguments)
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
        notes=dict(sum((Counter(report.notes) for report in reports.values()), Counter())),
        parts=dict(reports),
        plan=planned,
        pack=pack_figures(report.counts for report in reports.values()) if reports and whole.to == "pack" else None,
        remarks=whole.dataset.remarks,
    )


def _bytes_of(job: ConvertJob) -> int:
    return sum(size_of(job.dataset, int(number)) for number in job.order)
