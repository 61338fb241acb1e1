"""What a bulk job is: its options, the shards that follow from them, and how one shard is made."""

from __future__ import annotations

import importlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pixelmill.errors import ArgumentError, EngineError, Event
from pixelmill.options.declaration import plan_values

if TYPE_CHECKING:
    from pixelmill.jobs.shard_files import ShardFiles

HOW = {"plan": False}  # metadata of fields that do not change what is written
LOCAL = {"plan": False, "travels": False}  # and of those that only this process has, such as an open dataset


@dataclass(frozen=True)
class ShardPlan:
    """One unit of work.

    Attributes:
        number: Its position, from 0.
        files: Names of all files it may write, relative to the output folder, separated by `/`.
    """

    number: int
    files: tuple[str, ...]


@dataclass(frozen=True)
class ShardReport:
    """The result of making a shard.

    Attributes:
        samples: Number of samples written.
        errors: Skipped samples, in addition to those passed to `ShardFiles.reject`.
        details: Anything else that `close` or a reader of the manifest needs, as JSON values.
        counts: Numbers that the report of the job adds up over all shards.
    """

    samples: int
    errors: tuple[Event, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class InputFile:
    """A file that the job reads.

    Attributes:
        name: A name that does not depend on the location of the dataset.
        bytes: Its size.
        modified: Modification time in nanoseconds. Resuming is refused if it has changed.
    """

    name: str
    bytes: int
    modified: int = 0


class Job(ABC):
    """A bulk job. Subclasses are frozen dataclasses whose fields are its options.

    A shard must be a pure function of the options, the inputs and its number: after a kill it is made again, perhaps on
    another machine, and must have the same bytes. Fields that change how but not what is written (such as a number
    of threads, or the path of the inputs) carry ``field(metadata={"plan": False})``. Fields hold None, booleans,
    numbers, strings, or tuples and dictionaries of these, since workers get them as JSON. A field of options that
    `pixelmill.options` declares carries ``field(metadata=declared(TheOptions))``; the plan has its values by name.

    Attributes:
        kind: What the manifest calls the job.
    """

    kind: ClassVar[str]

    @property
    def few(self) -> int:
        """Below this number of samples one process does the work by default: starting workers would take longer."""
        return 0

    @property
    def lists_files(self) -> bool:
        """Whether `shards` and `closing_files` name every file that the job writes."""
        return True

    @property
    @abstractmethod
    def shards(self) -> Sequence[ShardPlan]:
        """All shards, in order of their numbers."""

    @abstractmethod
    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        """Write all files of one shard through ``files``."""

    @property
    def samples(self) -> int | None:
        """Number of samples that the whole job expects to write, if known."""
        return None

    @property
    def inputs(self) -> Iterable[InputFile]:
        """All files that the job reads."""
        return ()

    def expect(self, numbers: Sequence[int]) -> None:  # noqa: B027 - may be left out
        """Begin to fetch what these shards read; `make_shard` of the first of them follows."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Versions of other software that decides the bytes, in addition to pixelmill and its codecs."""
        return {}

    @property
    def closing_files(self) -> tuple[str, ...]:
        """Names of files about the whole dataset, which `close` writes when all shards are done."""
        return ()

    def close(self, files: ShardFiles, shards: Iterable[Mapping[str, Any]]) -> None:  # noqa: B027 - may be left out
        """Write ``closing_files``. ``shards`` are the entries of the manifest, in order."""


def declared(options: type) -> dict[str, Any]:
    """Return the metadata of a field that holds an object of this options class."""
    return {"declared": options}


def plan_options(job: Job) -> dict[str, Any]:
    """Return the options that decide the bytes of a job, by name."""
    found: dict[str, Any] = {}
    for item in _fields_of(job):
        value = getattr(job, item.name)
        if "declared" in item.metadata:
            found |= plan_values(value)
        elif item.metadata.get("plan", True):
            found[item.name] = value
    return found


def dump_job(job: Job) -> dict[str, Any]:
    """Describe a job so that another process can rebuild it."""
    options = {
        item.name: asdict(getattr(job, item.name)) if "declared" in item.metadata else getattr(job, item.name)
        for item in _fields_of(job)
        if item.metadata.get("travels", True)
    }
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
    values = {name: _frozen(value) for name, value in description["options"].items()}
    known: tuple[Field[Any], ...] = fields(found) if is_dataclass(found) else ()
    nested = {item.name: item.metadata["declared"] for item in known if "declared" in item.metadata}
    return found(**{name: nested[name](**value) if name in nested else value for name, value in values.items()})


def _fields_of(job: Job) -> tuple[Field[Any], ...]:
    if not is_dataclass(job):
        raise EngineError(f"{type(job).__name__}: a job must be a frozen dataclass")
    return tuple(item for item in fields(job) if item.init)


def _frozen(value: Any) -> Any:
    """Turn the lists of JSON back into the tuples that options hold."""
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {name: _frozen(item) for name, item in value.items()}
    return value
