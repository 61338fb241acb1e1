"""The report of `bench`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from statistics import median

from pixelmill.benchmark.environment import Machine
from pixelmill.benchmark.report_page import page

_BUSY = 0.75  # fraction of the processors above which they are the limit
SCHEMA = 1  # increases when a field changes its meaning or is removed, not when one is added


@dataclass(frozen=True)
class Storage:
    """How fast the bytes of samples came.

    Attributes:
        cache: `cold` from the device, `warm` from memory.
        samples_per_second: Samples, or files where each sample is one.
        bytes_per_second: Bytes.
        samples: How many were read.
        seconds: How long that took.
    """

    cache: str
    samples_per_second: float
    bytes_per_second: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class Stage:
    """What a part of the work costs.

    Attributes:
        name: The part.
        about: What belongs to it.
        milliseconds: Of one processor, for a sample.
        share: Fraction of all stages.
    """

    name: str
    about: str
    milliseconds: float
    share: float


@dataclass(frozen=True)
class Scaling:
    """The speed with a number of threads.

    Attributes:
        threads: Threads, and as many processors.
        images_per_second: The median of the rounds.
        rounds: Images a second in each round.
    """

    threads: int
    images_per_second: float
    rounds: tuple[float, ...]


@dataclass(frozen=True)
class Speed:
    """What a contestant did, pixelmill or a peer.

    Attributes:
        name: `pixelmill`, or the name of the peer.
        title: Its name for people.
        variant: The way it did the work, the fastest it has.
        version: Its version.
        images_per_second: The median of the rounds.
        rounds: Images a second in each round.
        spread: Fastest less slowest round, as a fraction of the median.
        ratio: How many times as fast pixelmill was: the median over the rounds; None for itself.
        cpu_milliseconds: Processor time for an image.
        peak_memory: Bytes.
        first_batch_seconds: From the start of the process to its first batch.
    """

    name: str
    title: str
    variant: str
    version: str
    images_per_second: float
    rounds: tuple[float, ...]
    spread: float
    ratio: float | None
    cpu_milliseconds: float
    peak_memory: int
    first_batch_seconds: float


@dataclass(frozen=True)
class Absent:
    """A peer that was not measured.

    Attributes:
        name: Its name on the command line.
        title: Its name for people.
        reason: Why.
        install: The command that installs it, where it is missing.
    """

    name: str
    title: str
    reason: str
    install: str | None = None


@dataclass(frozen=True)
class Measured:
    """The samples that were measured.

    Attributes:
        name: The dataset.
        format: Its container.
        samples: How many it has.
        measured: How many of them were used.
        mean_bytes: Of a sample.
        kinds: Number of examined samples of each kind.
        bad: Samples that cannot be used.
        bad_samples: What is wrong with the first of them.
    """

    name: str
    format: str
    samples: int
    measured: int
    mean_bytes: float
    kinds: Mapping[str, int]
    bad: int = 0
    bad_samples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Work:
    """What was done.

    Attributes:
        workload: `train`, `val`, `resize` or `read`.
        title: A sentence about it.
        batch_size: Samples in a batch.
        size: Height and width of what comes out.
        threads: Threads or processes, and processors, of each contestant.
        seconds: Time of a contestant in a round.
        rounds: How many rounds there were.
        mode: `cpu`, `gpu`, or `dali` for DALI's CPU operators.
    """

    workload: str
    title: str
    batch_size: int
    size: int
    threads: int
    seconds: float
    rounds: int
    mode: str


@dataclass(frozen=True)
class BenchReport:
    """What `bench` has found out.

    Attributes:
        dataset: The samples.
        work: What was done to them.
        machine: Where, and with which versions.
        storage: How fast their bytes came.
        stages: What each part of the work costs; empty where it was not measured.
        scaling: The speed by threads.
        contestants: pixelmill first, then the peers.
        absent: Peers that were not measured.
        verdict: What limits the speed, in a sentence.
        notes: What else there is to know.
        complete: False if it was interrupted.
        schema: The version of these fields.
    """

    dataset: Measured
    work: Work
    machine: Machine
    storage: tuple[Storage, ...] = ()
    stages: tuple[Stage, ...] = ()
    scaling: tuple[Scaling, ...] = ()
    contestants: tuple[Speed, ...] = ()
    absent: tuple[Absent, ...] = ()
    verdict: str = ""
    notes: tuple[str, ...] = ()
    complete: bool = True
    schema: int = field(default=SCHEMA)

    @property
    def images_per_second(self) -> float | None:
        """The speed of pixelmill; None if it was not measured."""
        return self.contestants[0].images_per_second if self.contestants else None

    def as_dict(self) -> dict[str, object]:
        """Return everything as JSON values."""
        return asdict(self)

    def html(self) -> str:
        """Return a self-contained page: no script, no other file."""
        return page(self)


def verdict(report: BenchReport) -> str:
    """Return a sentence about what limits the speed."""
    speed = report.images_per_second
    if speed is None:
        return ""
    fed = report.storage[0] if report.storage else None
    feeding = "" if fed is None else f"; {_source(fed)} could feed {fed.samples_per_second:,.0f} images/s"
    if fed is not None and fed.cache == "cold" and fed.samples_per_second < speed:
        return (
            f"Storage limits the first epoch: the device delivers {fed.samples_per_second:,.0f} images/s, "
            f"{fed.bytes_per_second / 1e6:,.0f} MB/s, and pixelmill can work on {speed:,.0f}. What the memory of this "
            "machine keeps is read faster from then on."
        )
    return f"{_costliest(report)}{_threads(report)}{feeding}."


def _source(storage: Storage) -> str:
    return "storage" if storage.cache == "cold" else "the page cache"


def _costliest(report: BenchReport) -> str:
    if not report.stages:
        return f"pixelmill delivers {report.images_per_second or 0:,.0f} images/s"
    stage = max(report.stages, key=lambda stage: stage.share)
    name = {"read": "Reading", "decode": "Decoding", "resize": "Resizing", "augment": "Augmenting", "batch": "Batching"}
    return f"{name[stage.name]} takes {stage.share:.0%} of the processor time"


def _threads(report: BenchReport) -> str:
    threads, cores = report.work.threads, report.machine["cores"]
    own = report.contestants[0]
    used = own.cpu_milliseconds * own.images_per_second / 1000
    if used < _BUSY * min(threads, cores):
        return f": only {used:.1f} of {threads} processors worked for it, other programs or waiting took the rest"
    one = next((point.images_per_second for point in report.scaling if point.threads == 1), None)
    if one is None or threads == 1:
        return ": more threads would help" if threads < cores else ": the one processor is the limit"
    gain = (report.images_per_second or 0) / one
    if gain < 0.6 * threads:
        return f": {threads} threads are only {gain:.1f} times as fast as one, so threads are not what is missing"
    if threads < cores:
        return f": more threads would help, {threads} of {cores} processors are used"
    return f": the {threads} processors are the limit, {threads} threads are {gain:.1f} times as fast as one"


def spread(rounds: tuple[float, ...]) -> float:
    """Return fastest minus slowest, as a fraction of the median."""
    return round((max(rounds) - min(rounds)) / median(rounds), 4)
