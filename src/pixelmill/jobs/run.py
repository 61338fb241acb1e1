"""Run a job: find out what is done, have the rest made, and finish."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Literal, Protocol

from pixelmill.engine.devices import require_gpus, shown_alone
from pixelmill.engine.placement import INSTEAD
from pixelmill.errors import ArgumentError, DataError, PixelmillError
from pixelmill.jobs.commit import OnSamples, ShardMaker, Site
from pixelmill.jobs.folder import Exists, JobFolder, check_exists, figures
from pixelmill.jobs.job import Job, Progress
from pixelmill.jobs.lock import Lock
from pixelmill.jobs.manifest import NAME, Entry
from pixelmill.jobs.plan import make_plan
from pixelmill.jobs.shard_files import OnError, too_many
from pixelmill.jobs.storage import open_storage

Runner = Literal["local", "ray"]
DEFAULT_MAX_ERRORS = 100


class Makes(Protocol):
    """A runner: makes shards somewhere and yields the entry of each when it is committed."""

    def __call__(
        self, maker: ShardMaker, numbers: list[int], *, on_samples: OnSamples
    ) -> Generator[Entry, None, None]: ...


@dataclass(frozen=True)
class JobReport:
    """What a run has achieved.

    Attributes:
        output: Folder or URL of the dataset.
        job: Hash of the plan.
        complete: Whether all shards are there; False if other parts of a split job are still to come.
        shards: Number of shards of the whole job.
        made: Shards made in this run.
        samples: Samples of all finished shards.
        bytes: Bytes of all finished shards.
        errors: Number of samples left out of them.
        manifest: Where the manifest is, if there is one.
    """

    output: str
    job: str
    complete: bool
    shards: int
    made: int
    samples: int
    bytes: int
    errors: int
    manifest: str | None


def run_job(
    job: Job,
    output: str | os.PathLike[str],
    *,
    runner: Runner = "local",
    workers: int | None = None,
    exists: Exists = "error",
    on_error: OnError = "fail",
    max_errors: int | None = DEFAULT_MAX_ERRORS,
    shard_index: int | None = None,
    num_shards: int | None = None,
    plain: bool = False,
    durable: bool = True,
    quarantine: str | os.PathLike[str] | None = None,
    address: str | None = None,
    num_gpus: float = 0,
    on_progress: Callable[[Progress], object] | None = None,
) -> JobReport:
    """Write a dataset shard by shard; after a kill at any moment, the same call with ``exists="resume"`` goes on.

    Args:
        job: What to write.
        output: Folder, or URL of an object store.
        runner: ``local`` for processes of this machine, ``ray`` for Ray tasks.
        workers: Number of local processes; as many as there are processors when left out, or GPUs where they are
            needed, or 1 for a small job that can use threads instead. 1 works in this process.
        exists: What to do with output that is there: refuse (``error``), go on with an unfinished job (``resume``), or
            replace it (``overwrite``).
        on_error: What to do with samples that cannot be used: ``fail``, ``skip``, or
            ``quarantine`` to keep their bytes.
        max_errors: Stop when more samples than this cannot be used; None for no limit.
        shard_index: Make only every ``num_shards``-th shard, beginning with this one. Processes with all the other
            indices make the rest, at the same time or later; the last one writes the manifest.
        num_shards: In how many parts the work is split; only with ``shard_index``.
        plain: Leave the dataset's files alone in the folder, without a manifest.
        durable: Hash files and bring them to the disk before they get their names. False is for plain output that can
            be made again: it survives a kill, but not a loss of power, and is quicker.
        quarantine: Folder for the bytes of samples that cannot be used; ``OUTPUT.quarantine`` when left out.
        address: The Ray cluster to use; a cluster on this machine is started when left out and none is running.
        num_gpus: GPUs that a worker needs: each local process sees one of them, and a Ray task gets so many.
        on_progress: Called now and then with the progress made.

    Returns:
        What is there now.
    """
    check_exists(exists)
    if not (durable or plain):
        raise ArgumentError("job: durable=False needs plain=True: a manifest lists what is on the disk")
    part = _part(shard_index, num_shards, exists)
    gpus = tuple(map(shown_alone, require_gpus("job", instead=INSTEAD))) if num_gpus and runner == "local" else ()
    if workers is None:
        workers = len(gpus) if gpus else 1 if (job.samples or 0) < job.few else None
    makes = _runner(runner, workers=workers, gpus=gpus, address=address, num_gpus=num_gpus)
    plan = make_plan(job, on_error=_checked_policy(on_error))
    storage = open_storage(output)
    folder = JobFolder(storage, job=job, plan=plan, plain=plain)
    folder.situation(exists, shared=part is not None)
    lock = Lock(storage, folder.state, part=part)
    lock.acquire()
    try:
        scratch = "all" if part is None else f"part-{part[0]}-of-{part[1]}"
        site = Site(
            output=storage.root,
            state=folder.state,
            scratch=scratch,
            quarantine=os.fspath(quarantine) if quarantine is not None else f"{storage.root}.quarantine",
            on_error=on_error,
            max_errors=max_errors,
            threads=threads_of(workers, shards=-(-plan.shards // (part or (0, 1))[1])) if runner == "local" else 1,
            durable=durable,
        )
        # Looked at again now that nobody else can change it.
        situation = folder.situation(exists, shared=part is not None)
        folder.prepare(situation, scratch="" if part is None else scratch)
        return _run(folder, ShardMaker(job, site), makes=makes, part=part, on_progress=on_progress)
    finally:
        lock.release()


def _run(
    folder: JobFolder,
    maker: ShardMaker,
    *,
    makes: Makes,
    part: tuple[int, int] | None,
    on_progress: Callable[[Progress], object] | None,
) -> JobReport:
    plan = folder.plan
    if folder.is_finished():
        folder.remove_state()
        return _finished_report(folder)
    done = folder.done()
    index, parts = part or (0, 1)
    numbers = [number for number in range(index, plan.shards, parts) if number not in done]
    tally = _Tally(done, maker, plan.shards, on_progress)
    try:
        # Closed here: no worker writes while what they left is removed, and no garbage collector waits for them.
        with closing(makes(maker, numbers, on_samples=tally.advance)) as entries:
            for entry in entries:
                tally.add(entry)
    finally:
        prefix = maker.site.scratch
        for name in folder.storage.names(f"{folder.state}/tmp"):
            if name.startswith(prefix):
                folder.storage.remove_tree(f"{folder.state}/tmp/{name}")
    return _end(folder, part=part, made=len(numbers))


def _end(folder: JobFolder, *, part: tuple[int, int] | None, made: int) -> JobReport:
    """Finish the whole job if this run, or this part of it, was the last."""
    done = folder.done()
    complete = len(done) == folder.plan.shards
    if complete and part is None:
        folder.finish()
    elif complete:
        _finish_among_others(folder)
    elif part is not None and folder.is_finished():
        complete = True
    return _report(folder, done=done, made=made, complete=complete)


def _finish_among_others(folder: JobFolder) -> None:
    """Finish a split job whose other parts may be doing the same in this moment."""
    with folder.storage.alone(folder.state):
        try:
            folder.finish()
        except (PixelmillError, OSError):
            # Where processes cannot keep each other out, another may have finished and removed what we were reading.
            if not folder.is_finished():
                raise
            folder.remove_state()


def _report(folder: JobFolder, *, done: dict[int, tuple[int, int, int]], made: int, complete: bool) -> JobReport:
    return JobReport(
        output=folder.storage.root,
        job=folder.plan.hash,
        complete=complete,
        shards=folder.plan.shards,
        made=made,
        samples=sum(samples for samples, _, _ in done.values()),
        bytes=sum(size for _, size, _ in done.values()),
        errors=sum(errors for _, _, errors in done.values()),
        manifest=folder.storage.where(NAME) if complete and not folder.plain else None,
    )


class _Tally:
    """Counts, for progress and for the limit of errors."""

    def __init__(
        self,
        done: dict[int, tuple[int, int, int]],
        maker: ShardMaker,
        shards: int,
        on_progress: Callable[[Progress], object] | None,
    ) -> None:
        self._shards_done = len(done)
        self._shards = shards
        self._before = sum(samples for samples, _, _ in done.values())
        self._errors = sum(errors for _, _, errors in done.values())
        self._max_errors = maker.site.max_errors
        self._expected = maker.job.samples
        self._on_progress = on_progress
        self._samples = self._bytes = 0
        self._running_samples = self._running_bytes = 0

    def advance(self, samples: int, size: int) -> None:
        """Count samples of shards that are not finished."""
        self._running_samples += samples
        self._running_bytes += size
        self._tell()

    def add(self, entry: Entry) -> None:
        """Count a finished shard."""
        samples, size, errors = figures(entry)
        self._shards_done += 1
        self._samples += samples
        self._bytes += size
        self._errors += errors
        self._tell()
        if self._max_errors is not None and self._errors > self._max_errors:
            raise DataError(too_many(self._max_errors, entry["errors"]))

    def _tell(self) -> None:
        if self._on_progress is not None:
            samples, size = max(self._samples, self._running_samples), max(self._bytes, self._running_bytes)
            told = Progress(self._shards_done, self._shards, samples, size, self._before, self._expected)
            self._on_progress(told)


def threads_of(workers: int | None, *, shards: int) -> int:
    """Share the processors out among workers; there are no more of these than shards."""
    return max(1, processors() // max(1, min(workers or processors(), shards)))


def processors() -> int:
    """Count the processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def _runner(runner: str, *, workers: int | None, gpus: tuple[str, ...], address: str | None, num_gpus: float) -> Makes:
    if workers is not None and workers < 1:
        raise ArgumentError(f"job: workers must be at least 1, got {workers}")
    if runner == "local":
        from pixelmill.jobs.local import LocalRunner

        return LocalRunner(workers or processors(), gpus)
    if runner == "ray":
        from pixelmill.jobs.ray import RayRunner

        return RayRunner(address=address, num_gpus=num_gpus)
    raise ArgumentError(f"job: runner must be local or ray, got {runner!r}")


def _part(index: int | None, count: int | None, exists: Exists) -> tuple[int, int] | None:
    if index is None and count is None:
        return None
    if index is None or count is None or not 0 <= index < count:
        raise ArgumentError(f"job: shard_index must be from 0 to num_shards - 1, got {index} of {count}")
    if exists == "overwrite":
        raise ArgumentError("job: exists=overwrite does not go with shard_index: one part would remove the others")
    return index, count


def _checked_policy(on_error: str) -> str:
    if on_error not in ("fail", "skip", "quarantine"):
        raise ArgumentError(f"job: on_error must be fail, skip or quarantine, got {on_error!r}")
    return on_error


def _finished_report(folder: JobFolder) -> JobReport:
    from pixelmill.jobs.manifest import read_manifest

    entries: Iterable[Entry] = (read_manifest(folder.storage) or {"entries": []})["entries"]
    done = {int(entry["number"]): figures(entry) for entry in entries}
    return _report(folder, done=done, made=0, complete=True)
