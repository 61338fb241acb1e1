"""What a bulk job is: options, the shards they lead to, and how one shard is made."""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pixelmill.errors import ArgumentError, EngineError, Event

if TYPE_CHECKING:
    from pixelmill.jobs.shard_files import ShardFiles


@dataclass(frozen=True)
class ShardPlan:
    """One unit of work.

    Attributes:
        number: Its place, from 0.
        files: Names of all files it may write, relative to the output folder, with `/` between folders.
    """

    number: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class ShardReport:
    """What became of a shard.

    Attributes:
        samples: Number of samples written.
        errors: Samples left out, beside those that `ShardFiles.reject` was told about.
        details: Anything else that `close` or a reader of the manifest needs; must be valid JSON.
    """

    samples: int
    errors: tuple[Event, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class InputFile:
    """A file that the job reads.

    Attributes:
        name: A name that does not depend on where the dataset lies.
        bytes: Its size.
        modified: Time of its last change in nanoseconds. A resumed job is refused when it has moved on.
    """

    name: str
    bytes: int
    modified: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a job has come.

    Attributes:
        shards_done: Shards that are written.
        shards: All shards.
        samples: Samples written in this run, those of unfinished shards included.
        bytes: Bytes written in this run, likewise.
        samples_before: Samples of shards that earlier runs had finished.
        expected: Samples of the whole job, where that is known.
    """

    shards_done: int
    shards: int
    samples: int
    bytes: int
    samples_before: int
    expected: int | None = None


class Job(ABC):
    """A bulk job. Subclasses are frozen dataclasses whose fields are its options.

    A shard must be a pure function of the options, the inputs and its number: it is made again after a kill, perhaps on
    another machine, and must then have the same bytes. Fields that change how but not what is written (such as a number
    of threads, or the path of the inputs) carry ``field(metadata={"plan": False})``. Fields hold None, booleans,
    numbers, strings, tuples or dictionaries of these, since workers get them as JSON.

    Attributes:
        kind: What the manifest calls the job.
    """

    kind: ClassVar[str]

    @property
    def few(self) -> int:
        """Below so many samples one process does it, unless somebody asks for workers: starting them takes longer."""
        return 0

    @property
    @abstractmethod
    def shards(self) -> Sequence[ShardPlan]:
        """All shards, in order of their numbers."""

    @abstractmethod
    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write all files of one shard through ``files``."""

    @property
    def samples(self) -> int | None:
        """Number of samples that the whole job expects to write, where it is known."""
        return None

    @property
    def inputs(self) -> Iterable[InputFile]:
        """Everything that the job reads."""
        return ()

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of what decides about the bytes, beside pixelmill and its codecs."""
        return {}

    @property
    def closing_files(self) -> tuple[str, ...]:
        """Names of files about the whole dataset, which `close` writes when all shards are there."""
        return ()

    def close(self, files: ShardFiles, shards: Iterable[Mapping[str, Any]]) -> None:  # noqa: B027 - may be left out
        """Write ``closing_files``. ``shards`` are the entries of the manifest, in order."""


def job_fields(job: Job, *, plan: bool) -> dict[str, Any]:
    """Give the options of a job by name: all of them, or those that decide about its bytes (``plan``)."""
    if not is_dataclass(job):
        raise EngineError(f"{type(job).__name__}: a job must be a frozen dataclass")
    return {
        item.name: getattr(job, item.name)
        for item in fields(job)
        if item.init and (not plan or item.metadata.get("plan", True))
    }


def dump_job(job: Job) -> dict[str, Any]:
    """Describe a job so that another process can rebuild it."""
    options = job_fields(job, plan=False)
    description = {"module": type(job).__module__, "name": type(job).__qualname__, "options": options}
    try:
        text = json.dumps(description, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise EngineError(f"{type(job).__name__}: options must be plain values: {error}") from error
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def load_job(description: Mapping[str, Any]) -> Job:
    """Rebuild a job that `dump_job` has described."""
    if description["module"] == "__main__":
        message = f"{description['name']} is defined in the main program, where worker processes cannot import it; "
        raise ArgumentError(message + "move it into a module, or use workers=1")
    found: Any = importlib.import_module(description["module"])
    for part in description["name"].split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Job)):
        raise EngineError(f"{description['module']}.{description['name']} is not a job")
    return found(**{name: _frozen(value) for name, value in description["options"].items()})


def _frozen(value: Any) -> Any:
    """Turn the lists of JSON back into the tuples that options hold."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {name: _frozen(item) for name, item in value.items()}
    return value
