"""What every dataset offers, whatever container it lies in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self

from pixelmill.errors import DataError, Event
from pixelmill.formats import storage
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.index import Index
from pixelmill.formats.sample import Sample

_SCHEMA_SAMPLES = 16
_PIECE = 1 << 24


@dataclass(frozen=True)
class Schema:
    """What the samples of a dataset hold, as the first ones of them show.

    Attributes:
        format: The container.
        layout: How the container is used, such as the keys of a TFRecord.
        fields: What there is, with its type in words.
    """

    format: str
    layout: str
    fields: Mapping[str, str] = field(default_factory=dict)


class Dataset(ABC):
    """Samples by number.

    Attributes:
        format: The name of the container.
        source: Where the dataset lies, as it was given.
        index: The byte range of each sample, or the image file of each.
        faults: Pieces of the container that cannot be read; they are no samples.
    """

    format: ClassVar[str]
    source: str
    index: Index
    faults: tuple[RecordFault, ...] = ()

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Sample]:
        return (self.sample(number) for number in range(len(self)))

    @abstractmethod
    def sample(self, number: int) -> Sample:
        """Read a sample and check it; DataError with its event if it cannot be used."""

    def outline(self, number: int) -> Sample:
        """Give a sample without its image and mask, where that is cheaper."""
        return self.sample(number)

    @abstractmethod
    def size(self, number: int) -> int:
        """Count the bytes that a sample takes in the container."""

    def has_mask(self, number: int) -> bool:
        """Tell whether a sample has a mask, where `outline` leaves it out."""
        del number
        return False

    def raw(self, number: int) -> bytes | None:
        """Give the bytes of a sample as they lie in the container, unchecked; None if they cannot be read."""
        path, offset = self.place(number)
        try:
            if offset is None:
                return storage.read_file(path)
            return storage.read_range(path, offset, int(self.index.lengths[number]))
        except (OSError, DataError):
            return None

    def lost_bytes(self, fault: RecordFault) -> Iterator[bytes]:
        """Give a piece of the container that is no sample, bit by bit: it may be as large as the file."""
        places = dict(zip(self.index.names, self.index.paths, strict=False))
        path = places.get(fault.path, fault.path)
        behind = fault.offset + fault.length
        for offset in range(fault.offset, behind, _PIECE):
            try:
                yield storage.read_range(path, offset, min(_PIECE, behind - offset))
            except OSError:
                return

    @property
    @abstractmethod
    def layout(self) -> str:
        """How the container is used."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes by their labels, where the container lists them."""
        return ()

    @property
    def files(self) -> tuple[str, ...]:
        """All files that the samples are read from."""
        return tuple(self.index.paths)

    @property
    def schema(self) -> Schema:
        """What the first samples hold."""
        return Schema(self.format, self.layout, _fields(self))

    def locate(self, number: int) -> tuple[str, int | None]:
        """Give the file of a sample and the byte where it starts, None for a whole file."""
        return self.index.locate(number)

    def place(self, number: int) -> tuple[str, int | None]:
        """Do the same for reading: a copy in the cache has another path than what was named."""
        file = int(self.index.files[number]) if len(self.index.files) else number
        return self.index.paths[file], int(self.index.offsets[number]) if len(self.index.offsets) else None

    def event(self, number: int, kind: str, message: str) -> Event:
        """Describe what is wrong with a sample."""
        path, offset = self.locate(number)
        return Event(kind, message, sample=number, epoch=0, path=path, offset=offset, operator=self.format)

    def error(self, number: int, kind: str, message: str) -> DataError:
        """Make the error for a sample that cannot be used."""
        event = self.event(number, kind, message)
        return DataError(str(event), (event,))


class Output(Protocol):
    """A file being written from its beginning to its end."""

    def write(self, data: bytes, /) -> int:
        """Append bytes."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class ShardWriter(ABC):
    """Writes samples into the files of one shard.

    Args:
        open_file: Opens a file of the shard by its name for binary writing.
        names: The files of the shard, by what they are for; see `shard_names`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        self._open_file = open_file
        self._names = names
        self.samples = 0

    @abstractmethod
    def add(self, sample: Sample, *, name: str | None = None) -> None:
        """Write a sample.

        Args:
            sample: What to write.
            name: The name it gets in the container, without extension. The caller sees to it that no other sample
                has it; without, the key is used, and checked within this shard.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what comes last and close the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()


def _fields(dataset: Dataset) -> dict[str, str]:
    found: dict[str, str] = {}
    for number in range(min(len(dataset), _SCHEMA_SAMPLES)):
        try:
            sample = dataset.sample(number)
        except DataError:
            continue
        for name, text in _described(sample).items():
            found.setdefault(name, text)
    return found


def _described(sample: Sample) -> dict[str, str]:
    fields: dict[str, Any] = {"image": f"{sample.extension.lower() or 'unknown'} bytes", "key": "text"}
    if sample.labels:
        kind = "int" if all(isinstance(label, int) for label in sample.labels) else "float"
        fields["labels"] = kind if len(sample.labels) == 1 else f"{kind} x {len(sample.labels)}"
    if sample.class_name is not None:
        fields["class_name"] = "text"
    if sample.boxes is not None:
        fields["boxes"] = "left, top, right, bottom and label of each"
    if sample.mask is not None:
        fields["mask"] = "encoded image"
    for name, feature in sorted(sample.extra.items()):
        fields[name] = f"{feature.kind} x {len(feature.values)}"
    return fields
