"""Run a job: find out what is done, make the rest, and finish."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Protocol

from pixelmill.amounts import counted, size_text
from pixelmill.engine.devices import require_gpus, shown_alone
from pixelmill.engine.placement import INSTEAD
from pixelmill.errors import ArgumentError, DataError, OutputExists, PixelmillError
from pixelmill.jobs.commit import ShardTask, Site
from pixelmill.jobs.figures import Figures, figures, total
from pixelmill.jobs.job import Job
from pixelmill.jobs.local import LocalRunner
from pixelmill.jobs.lock import Lock
from pixelmill.jobs.manifest import Entry, load_event, make_plan
from pixelmill.jobs.output import JobOutput, Situation
from pixelmill.jobs.progress import OnSamples
from pixelmill.jobs.ray import RayRunner
from pixelmill.jobs.shard_files import too_many
from pixelmill.jobs.storage import open_storage
from pixelmill.log import log
from pixelmill.options.declaration import Help, takes
from pixelmill.options.running import Exists, OnProgress, Progress, RunJobOptions, Target
from pixelmill.storage import anchored, plain, working_folder

_FIRST = 16  # shards that are announced before the lock is taken; bytes limit how much of them is fetched


class RunShards(Protocol):
    """A runner: makes shards somewhere and yields the entry of each when it is committed."""

    def __call__(
        self, task: ShardTask, numbers: list[int], *, on_samples: OnSamples
    ) -> Generator[Entry, None, None]: ...


@dataclass(frozen=True)
class JobReport:
    """The result of a run.

    Attributes:
        output: Folder or URL of the dataset.
        job: Hash of the plan.
        complete: Whether all shards are done; False if other parts of a split job are missing.
        shards: Number of shards of the whole job.
        done: Shards that are finished.
        made: Shards made in this run.
        samples: Samples of all finished shards.
        bytes: Bytes of all finished shards; for a dry run, bytes to read.
        errors: Number of samples skipped in them.
        notes: Remarks about samples that were written, such as `decoder_warning`, and how many samples have them.
        manifest: Path of the manifest, if there is one.
        counts: What the shards have counted besides, such as the images that were packed.
        dry_run: Whether nothing was written, and `samples` are those that would be.
    """

    output: str
    job: str
    complete: bool
    shards: int
    made: int
    samples: int
    bytes: int
    errors: int
    notes: Mapping[str, int]
    manifest: str | None
    counts: Mapping[str, int] = field(default_factory=dict)
    done: int = 0
    dry_run: bool = False


@dataclass(frozen=True)
class RunJobArguments(RunJobOptions):
    """The arguments of `run_job`."""

    command: ClassVar[str] = "job"

    job: Annotated[Job, Help("What to write.")]
    output: Annotated[Target, Help("Folder, or URL of an object store.")]


@takes(RunJobArguments)
def run_job(given: RunJobArguments) -> JobReport:
    """Write a dataset shard by shard; after a kill at any moment, the same call with ``exists="resume"`` continues.

    Processes that make the parts of a split job may run at the same time; the last one writes the manifest.

    Returns:
        The state of the output.
    """
    job, part = given.job, _part(given)
    if not (given.durable or given.plain):
        raise ArgumentError("job: durable=False needs plain=True: a manifest lists what is on the disk")
    runner, workers = _runner(given)
    plan = make_plan(job, strict=given.strict)
    storage = open_storage(given.output)
    if os.path.isfile(storage.root):  # noqa: PTH113 - it may be an address
        raise ArgumentError(f"job: {storage.root} is a file; the output must be a folder")
    added = given.exists == "add" and not given.plain
    if added and not job.lists_files:
        raise ArgumentError("job: exists=add is for containers with many samples per file, such as tfrecord")
    # A job that is added continues itself; files of a plain job may lie beside others in any case.
    exists: Exists = "resume" if given.exists == "add" else given.exists
    output = JobOutput(storage, job=job, plan=plan, plain=given.plain, added=added)
    lock = Lock(storage, output.state, part=part)
    if workers == 1 and part is None and exists != "resume" and not given.dry_run:
        job.expect(range(min(plan.shards, _FIRST)))  # comes while the output is looked at and the lock is taken
    before = lock.looked(lambda: output.situation(exists, shared=part is not None))
    if given.dry_run:
        return _planned(output)
    log.info("job %s writes %s to %s", plan.name, counted(plan.shards, "shard"), storage.root)
    lock.acquire(at_once=before == "new")
    try:
        output.claim, output.run, output.removing = lock.claim, lock.name, lock.removed
        parts, folder = 1 if part is None else part[1], working_folder()
        aside = anchored(plain(os.fspath(given.quarantine or "")), folder)
        site = Site(
            output=storage.root,
            state=output.state,
            scratch=lock.name,
            quarantine=f"{storage.root}.quarantine" if given.quarantine is None else aside,
            on_error=given.on_error,
            max_errors=given.max_errors,
            threads=threads_of(workers, shards=-(-plan.shards // parts)) if given.runner == "local" else 1,
            durable=given.durable,
            strict=given.strict,
            lock=lock.claim.lock,
            owner=lock.claim.owner,
            folder=folder,
        )
        # Checked again: between the first look and the lock another process may have changed the output.
        situation = lock.claim.checked(storage, lambda: output.situation(exists, shared=part is not None))
        # What other runs of this part have left: they are dead, or have lost the lock.
        old = "" if part is None else f"{part[0]}-of-{part[1]}."
        kept = given.on_error == "quarantine"
        output.prepare(situation, scratch=old, hashed=given.verify_existing, kept=kept)
        return _run(output, ShardTask(job, site), situation=situation, runner=runner, part=part, given=given)
    finally:
        lock.release()


def _run(
    output: JobOutput,
    task: ShardTask,
    *,
    situation: Situation,
    runner: RunShards,
    part: tuple[int, int] | None,
    given: RunJobArguments,
) -> JobReport:
    plan = output.plan
    is_new = situation == "new" and part is None  # no other process can have made a shard
    if not is_new and output.is_finished():
        finished = output.finished_figures()
        _refuse_skipped(output, finished, given)
        output.remove_state()
        return _report(output, finished, done=plan.shards, made=0, complete=True)
    done = {} if is_new else output.done(hashed=given.verify_existing, kept=given.on_error == "quarantine")
    _refuse_skipped(output, total(done.values()), given)
    index, parts = part or (0, 1)
    numbers = [number for number in range(index, plan.shards, parts) if number not in done]
    if numbers and situation != "new":  # of a job that has just begun, no process can have left any
        output.abort_uploads(part)
    tally = _Tally(done, task, plan.shards, given.on_progress)
    try:
        # Closed here: no worker writes while what they left is removed, and no garbage collector waits for them.
        with closing(runner(task, numbers, on_samples=tally.advance)) as entries:
            for entry in entries:
                tally.add(entry)
                output.remember(entry)
    finally:
        prefix = f"{task.site.scratch}-"
        for name in output.scratch_names():
            if name.startswith(prefix):
                output.storage.remove_tree(f"{output.state}/tmp/{name}")
    return _end(output, part=part, made=len(numbers))


def _refuse_skipped(output: JobOutput, found: Figures, given: RunJobArguments) -> None:
    """Raise OutputExists if earlier runs have skipped samples and this one must not: the result would lack them."""
    if given.on_error == "fail" and found.errors:
        text = f"job: {output.storage.root} holds this job with {counted(found.errors, 'sample')} skipped"
        hint = "exists=resume with on_error=skip accepts that, exists=overwrite makes everything again"
        raise OutputExists(f"{text}; {hint}")


def _planned(output: JobOutput) -> JobReport:
    """Return what a run would write, for a dry run."""
    inputs = output.plan.content["inputs"]
    expected = Figures(output.samples or 0, int(inputs["bytes"]), 0)
    return replace(_report(output, expected, done=0, made=0, complete=False), dry_run=True)


def _end(output: JobOutput, *, part: tuple[int, int] | None, made: int) -> JobReport:
    """Finish the whole job if this run, or this part, was the last."""
    # Another part of a split job may have finished it, and removed all locks.
    done = output.done() if part is not None else output.claim.checked(output.storage, output.done)
    complete = len(done) == output.plan.shards
    if complete and part is None:
        output.finish(done, is_checked=True)
    elif complete:
        _finish_among_others(output, done)
    elif part is not None and output.is_finished():
        complete = True
    return _report(output, total(done.values()), done=len(done), made=made, complete=complete)


def _finish_among_others(output: JobOutput, done: dict[int, Figures]) -> None:
    """Finish a split job whose other parts may be doing the same at this moment."""
    with output.storage.alone(output.state):
        try:
            output.finish(done)
        except (PixelmillError, OSError):
            # Object stores have no lock for this: another part may have finished and removed what this one was reading.
            if not output.is_finished():
                raise
            output.remove_state()


def _report(output: JobOutput, found: Figures, *, done: int, made: int, complete: bool) -> JobReport:
    return JobReport(
        output=output.storage.root,
        job=output.plan.hash,
        complete=complete,
        shards=output.plan.shards,
        done=output.plan.shards if complete else done,
        made=made,
        samples=found.samples,
        bytes=found.bytes,
        errors=found.errors,
        notes=found.notes,
        manifest=output.storage.where(output.manifest) if complete and not output.plain else None,
        counts=found.counts,
    )


class _Tally:
    """Counts samples, for progress and for the limit of errors."""

    def __init__(
        self,
        done: dict[int, Figures],
        task: ShardTask,
        shards: int,
        on_progress: OnProgress | None,
    ) -> None:
        self._shards_done = len(done)
        self._shards = shards
        before = total(done.values())
        self._before, self._errors = before.samples, before.errors
        self._max_errors = task.site.max_errors
        self._expected = task.job.samples
        self._on_progress = on_progress
        self._samples = self._bytes = 0
        self._running_samples = self._running_bytes = 0

    def advance(self, samples: int, size: int) -> None:
        """Count samples of shards that are not finished."""
        self._running_samples += samples
        self._running_bytes += size
        self._report()

    def add(self, entry: Entry) -> None:
        """Count a finished shard."""
        found = figures(entry)
        self._shards_done += 1
        self._samples += found.samples
        self._bytes += found.bytes
        self._errors += found.errors
        size = size_text(found.bytes)
        log.info("shard %d: %s, %s, %d bad", entry["number"], counted(found.samples, "sample"), size, found.errors)
        for event in entry["errors"]:
            log.info("skipped: %s", load_event(event))
        self._report()
        if self._max_errors is not None and self._errors > self._max_errors:
            raise DataError(too_many(self._max_errors, entry["errors"]))

    def _report(self) -> None:
        if self._on_progress is not None:
            samples, size = max(self._samples, self._running_samples), max(self._bytes, self._running_bytes)
            progress = Progress(self._shards_done, self._shards, samples, size, self._before, self._expected)
            self._on_progress(progress)


def threads_of(workers: int | None, *, shards: int) -> int:
    """Return the processors for each worker; no more workers run than there are shards."""
    return max(1, processors() // max(1, min(workers or processors(), shards)))


def processors() -> int:
    """Return the number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def _runner(given: RunJobArguments) -> tuple[RunShards, int | None]:
    """Return the runner, and the number of its workers where that is known."""
    local = given.runner == "local"
    gpus = tuple(map(shown_alone, require_gpus("job", instead=INSTEAD))) if given.num_gpus and local else ()
    workers = given.workers
    if workers is None:
        workers = len(gpus) if gpus else 1 if (given.job.samples or 0) < given.job.few else None
    if local:
        return LocalRunner(workers or processors(), gpus), workers
    return RayRunner(address=given.address, num_gpus=given.num_gpus), workers


def _part(given: RunJobArguments) -> tuple[int, int] | None:
    index, count = given.shard_index, given.num_shards
    if index is None and count is None:
        return None
    if index is None or count is None or not 0 <= index < count:
        raise ArgumentError(f"job: shard_index must be from 0 to num_shards - 1, got {index} of {count}")
    if given.exists == "overwrite":
        raise ArgumentError("job: exists=overwrite cannot be used with shard_index or part: it would remove the others")
    return index, count
