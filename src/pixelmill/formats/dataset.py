"""The interface of datasets and of writers, the same for all containers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import ClassVar, Literal, Protocol, Self

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.index import Index, Ragged
from pixelmill.formats.object_rows import objects_to_json
from pixelmill.formats.sample import Sample
from pixelmill.storage.announced_reads import whole_file
from pixelmill.storage.range_reader import RangeReader
from pixelmill.storage.ranges import Range

BytesColumn = Literal["image", "mask"]

_SCHEMA_SAMPLES = 16
_FIRST_AHEAD = 16  # samples that are announced first
_PIECE = 1 << 24
_CLASS_BYTES = 1 << 24
_KNOWN_PARTS = 1 << 14  # samples whose parts are kept, a few megabytes
CLASSES = "classes.txt"  # the names of classes by label, one on each line


@dataclass(frozen=True)
class ExampleKeys:
    """The features of tf.train.Examples that hold the columns of a dataset; see `columns`.

    Attributes:
        image: The encoded image.
        label: The labels.
        float_labels: Whether labels are floats instead of integers.
        box_sides: Left, top, right and bottom of boxes; or one feature with top, left, bottom, right of each.
        box_label: The classes of boxes.
        mask: The encoded mask.
    """

    image: str
    label: str
    float_labels: bool
    box_sides: tuple[str, ...]
    box_label: str
    mask: str


@dataclass(frozen=True)
class Schema:
    """What the first samples of a dataset hold.

    Attributes:
        format: The container.
        layout: How the container is used, such as the keys of a TFRecord.
        fields: The fields of samples, with their types in words.
    """

    format: str
    layout: str
    fields: Mapping[str, str] = field(default_factory=dict)


class Dataset(ABC):
    """Samples by number.

    Attributes:
        format: The name of the container.
        source: The dataset as the user named it.
        index: The byte range of each sample, or the image file of each.
        faults: Pieces of the container that cannot be read; they do not count as samples.
        remarks: A line for everything that was found with the dataset and that samples do not show: annotations of
            other kinds, columns, files that are left out; and for what folders were taken for.
        is_recordio: Whether samples are RecordIO records, which the core reads itself.
        values_apart: Whether labels and boxes of record files can be read without images: they are in the index, at the
            beginnings of records, or in members of their own.
        part: Which part of a larger dataset this is, for caches; empty for all of it.
    """

    format: ClassVar[str]
    is_recordio: bool = False
    values_apart: bool = False
    source: str
    index: Index
    faults: tuple[RecordFault, ...] = ()
    remarks: tuple[str, ...] = ()
    part: str = ""

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[Sample]:
        return map(self.sample, ahead(range(len(self)), self.expect))

    @abstractmethod
    def sample(self, number: int) -> Sample:
        """Read a sample and check it; raises DataError with an event if it cannot be used."""

    def expect(self, numbers: Iterable[int]) -> None:
        """Announce the samples that will be read, in this order: those at addresses are fetched ahead.

        What was announced before and not read is withdrawn.
        """
        self._announce(numbers, self._known_parts)

    def expect_outlines(self, numbers: Iterable[int]) -> None:
        """Announce the samples whose outlines will be read, like `expect`."""
        self._announce(numbers, self._outline_parts)

    def expect_descriptions(self, numbers: Iterable[int]) -> None:
        """Announce the samples whose descriptions will be read, like `expect`."""
        self._announce(numbers, self._description_parts)

    def _announce(self, numbers: Iterable[int], parts: Callable[[int], Iterable[Range]]) -> None:
        if any(map(storage.is_remote, self.index.paths[:1])):
            self._ranges.expect(item for number in numbers for item in parts(number))

    def _known_parts(self, number: int) -> tuple[Range, ...]:
        """Return what `_parts` yields. An announcement begins with what is left of the one before, so it is kept."""
        known = self._parts_by_number
        if number not in known:
            if len(known) >= _KNOWN_PARTS:
                known.clear()
            known[number] = tuple(self._parts(number))
        return known[number]

    @cached_property
    def _parts_by_number(self) -> dict[int, tuple[Range, ...]]:
        return {}

    @cached_property
    def remote_stats(self) -> Mapping[str, storage.FileStat | OSError]:
        """What listings say of `files`, so that none of them is asked for its size; nothing for files of this machine.

        Read inside of `keeping_listings`, after the dataset was opened there, it needs no further request.
        """
        if not any(map(storage.is_remote, self.index.paths[:1])):
            return {}
        return dict(zip(self.files, storage.stats(self.files), strict=True))

    def _file_size(self, path: str) -> int:
        """Return the size of one of the files; raises OSError."""
        found = self.remote_stats.get(path)
        if isinstance(found, OSError):
            raise found
        return (found or storage.stat(path, base=self.index.base)).size

    def _whole_file(self, path: str) -> Range:
        """Return the range of one of the files, with its size if that is known."""
        known = vars(self).get("remote_stats")  # not worth a listing that nothing else needs
        return whole_file(path, known and known.get(path))

    @cached_property
    def _ranges(self) -> RangeReader:
        """Reads what is announced, and anything else."""
        # A container may have to be read before there is an index: then it is just being opened.
        return RangeReader(self.index.base if "index" in vars(self) else None)

    def _parts(self, number: int) -> Iterator[Range]:
        """Yield what `sample` reads, in this order."""
        path, offset = self.place(number)
        yield self._whole_file(path) if offset is None else Range(path, offset, int(self.index.lengths[number]))

    def _outline_parts(self, number: int) -> Iterable[Range]:
        """Return what `outline` reads from files of samples, in this order."""
        return self._known_parts(number) if type(self).outline is Dataset.outline else ()

    def _description_parts(self, number: int) -> Iterable[Range]:
        """Return what `description` reads from files of samples, in this order."""
        return self._outline_parts(number) if type(self).description is Dataset.description else ()

    def outline(self, number: int) -> Sample:
        """Return a sample, without its image and mask if that is cheaper."""
        return self.sample(number)

    def description(self, number: int) -> Sample:
        """Return labels and boxes of a sample, without reading image and mask if possible."""
        return self.outline(number)

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        """Return where the encoded image or mask of each sample lies; None if they do not lie anywhere as they are.

        Samples without a mask have an empty range. The index may have `lost` samples.
        """
        del what
        return None

    def values(self, name: str) -> Ragged | None:
        """Return a column of labels or boxes for all samples; None if samples have to be asked one by one.

        Args:
            name: One of `columns.VALUES`.
        """
        del name
        return None

    def example_keys(self) -> ExampleKeys | None:
        """Return the features that hold the columns, if samples are tf.train.Examples that the core can read."""
        return None

    @abstractmethod
    def size(self, number: int) -> int:
        """Return the number of bytes that a sample takes in the container."""

    def has_mask(self, number: int) -> bool:
        """Whether a sample has a mask that `outline` leaves out."""
        del number
        return False

    def split_of(self, number: int) -> str | None:
        """Return the subset that a sample belongs to, without reading its image if possible."""
        return self.outline(number).split

    def raw(self, number: int) -> bytes | None:
        """Return the bytes of a sample as they lie in the container, unchecked; None if they cannot be read."""
        path, offset = self.place(number)
        try:
            if offset is None:
                return storage.read_file(path, base=self.index.base)
            return storage.read_range(path, offset, int(self.index.lengths[number]), base=self.index.base)
        except (OSError, DataError):
            return None

    def lost_bytes(self, fault: RecordFault) -> Iterator[bytes]:
        """Yield the bytes of a damaged piece of the container in pieces: it may be as large as the file."""
        places = dict(zip(self.index.names, self.index.paths, strict=False))
        path = places.get(fault.path, fault.path)
        end = fault.offset + fault.length
        for offset in range(fault.offset, end, _PIECE):
            try:
                yield storage.read_range(path, offset, min(_PIECE, end - offset), base=self.index.base)
            except OSError:
                return

    @property
    @abstractmethod
    def layout(self) -> str:
        """How the container is used."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes by label, if the container or `classes.txt` beside its files lists them."""
        return self._listed_beside

    @cached_property
    def _listed_beside(self) -> tuple[str, ...]:
        folder = self.files[0].rpartition("/")[0] or "." if self.files else "."
        folder = storage.anchored(folder, self.index.base)
        try:
            path = storage.join(folder, CLASSES)
            if not storage.has_file(path):
                return ()
            text = storage.read_file(path, limit=_CLASS_BYTES)
        except (OSError, DataError, ArgumentError):
            return ()
        return tuple(text.decode("utf-8", "surrogateescape").split("\n")[:-1])

    @property
    def files(self) -> tuple[str, ...]:
        """All files that the samples are read from."""
        return tuple(self.index.paths)

    @property
    def schema(self) -> Schema:
        """What the first samples hold."""
        return Schema(self.format, self.layout, _fields(self))

    def locate(self, number: int) -> tuple[str, int | None]:
        """Return the file of a sample and its first byte, None for a whole file; for messages."""
        return self.index.locate(number)

    def place(self, number: int) -> tuple[str, int | None]:
        """Return the same for reading: a copy in the cache has another path than the one the user named."""
        file = int(self.index.files[number]) if len(self.index.files) else number
        return self.index.paths[file], int(self.index.offsets[number]) if len(self.index.offsets) else None

    def event(self, number: int, kind: str, message: str) -> Event:
        """Return an event that says what is wrong with a sample."""
        path, offset = self.locate(number)
        return Event(kind, message, sample=number, epoch=0, path=path, offset=offset, operator=self.format)

    def error(self, number: int, kind: str, message: str) -> DataError:
        """Return the error for a sample that cannot be used."""
        event = self.event(number, kind, message)
        return DataError(str(event), (event,))


def ahead(numbers: Sequence[int], expect: Callable[[Sequence[int]], None]) -> Iterator[int]:
    """Yield the numbers of samples, and announce them to a dataset in growing numbers: few if few are taken."""
    window, following = _FIRST_AHEAD, 0
    for place, number in enumerate(numbers):
        if place == following:
            expect(numbers[place : place + window])
            following, window = place + window // 2, 2 * window
        yield number


class Output(Protocol):
    """A file being written from its beginning to its end; its first bytes may be written once more at the end."""

    def write(self, data: bytes, /) -> int:
        """Append bytes."""

    def seek(self, offset: int, /) -> int:
        """Go back to the beginning."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class ShardWriter(ABC):
    """Writes samples into the files of one shard.

    Args:
        open_file: Opens a file of the shard by its name for binary writing.
        names: The files of the shard by purpose; see `shard_names`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        self._open_file = open_file
        self._names = names
        self.samples = 0

    @abstractmethod
    def add(self, sample: Sample, *, name: str | None = None) -> None:
        """Write a sample.

        Args:
            sample: The sample.
            name: Its name in the container, without extension; the caller guarantees that it is unique in the
                dataset. If None, the key is used and made unique within this shard.
        """

    @property
    def counts(self) -> Mapping[str, int]:
        """What the writer has counted besides samples, for the report of the job."""
        return {}

    @abstractmethod
    def close(self) -> None:
        """Write the rest and close the files."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()


def _fields(dataset: Dataset) -> dict[str, str]:
    found: dict[str, str] = {}
    first = range(min(len(dataset), _SCHEMA_SAMPLES))
    dataset.expect(first)
    for number in first:
        try:
            sample = dataset.sample(number)
        except DataError:
            continue
        for name, text in _described(sample).items():
            found.setdefault(name, text)
    return found


def _described(sample: Sample) -> dict[str, str]:
    fields = {"image": f"{sample.extension.lower() or 'unknown'} bytes", "key": "text"}
    if sample.labels:
        kind = "int" if all(isinstance(label, int) for label in sample.labels) else "float"
        fields["labels"] = kind if len(sample.labels) == 1 else f"{kind} x {len(sample.labels)}"
    if sample.class_name is not None:
        fields["class_name"] = "text"
    if sample.boxes is not None:
        fields["boxes"] = "left, top, right, bottom and label of each"
        fields |= {name: "of each box" for name in objects_to_json(sample.boxes) if name != "attributes"}
        fields |= dict.fromkeys(sample.boxes.attributes, "attribute of each box")
    if sample.split is not None:
        fields["split"] = "text"
    if sample.mask is not None:
        fields["mask"] = "encoded image"
    for name, feature in sorted(sample.extra.items()):
        fields[name] = f"{feature.kind} x {len(feature.values)}"
    return fields
