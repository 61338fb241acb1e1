"""Where the values of a program come from: constants, the user's own data, and the items of readers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError
from pixelmill.formats.blocks import Blocks
from pixelmill.formats.class_groups import ClassGroups
from pixelmill.formats.index import Index
from pixelmill.steps.step import Expr, Input, Step, declared, family
from pixelmill.storage import StorageOptions
from pixelmill.types import DALIDataType

Array = npt.NDArray[np.generic]

# A feature of tf.train.Example: its name, the number of its list, whether its length is fixed, its shape, its default.
FeatureRow = tuple[str, int, bool, tuple[int, ...], bytes | None]


class BatchSource:
    """Something outside of a program that provides values for every batch."""


@dataclass(frozen=True, eq=False)
class Access:
    """How files at addresses are read.

    Attributes:
        options: The options of the stores, by the names of fsspec.
        cache_size: The most bytes that the cache on this machine may take; None for a fraction of the disk, 0 for none.
        read_ahead: The most bytes to read ahead.
    """

    options: StorageOptions = field(default_factory=dict)
    cache_size: int | None = None
    read_ahead: int = 256 << 20


@dataclass(frozen=True, eq=False)
class Reader:
    """A dataset and the order it is read in.

    Attributes:
        index: The dataset.
        shuffle: Whether every epoch has another order.
        num_shards: The number of shards that an epoch is divided into.
        shard_id: The shard that this process reads.
        stick_to_shard: Whether a process reads the same shard in every epoch.
        pad_last_batch: Whether short shards repeat their last sample.
        access: How files at addresses are read.
        blocks: The blocks that are shuffled instead of samples; None to shuffle samples.
        classes: The samples by class, to read all classes equally often; None to read each sample once.
        partner: Read another item in place of each one; which one depends on this number, the epoch and the item.
    """

    index: Index
    shuffle: bool
    num_shards: int
    shard_id: int
    stick_to_shard: bool
    pad_last_batch: bool
    access: Access = field(default_factory=Access)
    blocks: Blocks | None = None
    classes: ClassGroups | None = None
    partner: int | None = None
    _partners: dict[int, Reader] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.shard_id < self.num_shards:
            raise ArgumentError(
                f"shard_id must be from 0 to num_shards - 1, got shard_id={self.shard_id}, num_shards={self.num_shards}"
            )
        if self.num_shards > self.epoch_size:
            raise ArgumentError(
                f"num_shards: {self.epoch_size} samples cannot be divided into {self.num_shards} shards"
            )

    @property
    def epoch_size(self) -> int:
        """The number of samples of an epoch."""
        return len(self.index) if self.classes is None else len(self.classes)

    def partner_reader(self, seed: int) -> Reader:
        """Return the reader of other items in place of these; the same one for the same seed."""
        if seed not in self._partners:
            self._partners[seed] = replace(self, partner=seed, _partners={})
        return self._partners[seed]

    @property
    def meta(self) -> dict[str, int]:
        """What `Pipeline.reader_meta` returns for it."""
        length, shards = self.epoch_size, self.num_shards
        return {
            "epoch_size": length,
            "epoch_size_padded": -(-length // shards) * shards if self.pad_last_batch else length,
            "number_of_shards": shards,
            "shard_id": self.shard_id,
            "pad_last_batch": int(self.pad_last_batch),
            "stick_to_shard": int(self.stick_to_shard),
        }


@dataclass(frozen=True)
class Records:
    """The byte ranges of a reader's items: all of each, or a named part such as a member of a tar sample."""

    reader: Reader
    part: str | None = None


@dataclass(frozen=True)
class TableColumn:
    """A column of an index: data about the items of a reader besides their bytes, such as labels."""

    reader: Reader
    name: str


@dataclass(frozen=True)
class Features:
    """The features that are read from tf.train.Example messages."""

    rows: tuple[FeatureRow, ...]


@family
class ReaderStep(Step):
    """A step on the current item of a reader."""

    reader: Reader


@family
class RecordStep(ReaderStep):
    """A step on the bytes of the current item of a reader."""

    ranges: Records


@declared
class Constant(Step):
    """A value that is the same for every sample."""

    native: ClassVar[bool] = False

    array: np.ndarray


@declared
class ExternalInput(Step):
    """A value that comes from outside of the program with every batch."""

    native: ClassVar[bool] = False

    source: BatchSource
    output: int


@declared
class Read(RecordStep):
    """Read the bytes of an item.

    With `only_decoded`, nothing but decoders of images uses the bytes, so those of packed images may be read in part.
    """

    only_decoded: bool = False


@declared
class ReadNamed(Step):
    """Read the file whose name is given as bytes."""

    path: Input


@declared
class Column(ReaderStep):
    """Look up an item in a column of the index."""

    table: TableColumn


@declared
class SourceInfo(RecordStep):
    """Return where an item is stored."""

    root: str


@declared
class ReadExample(RecordStep):
    """Read and parse a tf.train.Example; there is an output for each feature."""

    output_counts: ClassVar[range] = range(1, 2**16)

    features: Features

    @property
    def outputs(self) -> int:
        """The number of features."""
        return len(self.features.rows)


@declared
class ReadRecordio(RecordStep):
    """Read a record of MXNet: the encoded image, and the label."""

    output_counts: ClassVar[range] = range(2, 3)


@declared
class NpyShape(RecordStep):
    """Read the shape of an array from the header of its file."""


@declared
class ReadNpy(RecordStep):
    """Read an array, or the part that a window needs; the second output is then the window's start in that part."""

    output_counts: ClassVar[range] = range(1, 3)

    start: Input | None = None
    extent: Input | None = None
    axes: tuple[int, ...]
    strict: bool

    @property
    def outputs(self) -> int:
        """One, or two with a window."""
        return 1 if self.start is None else 2


@declared
class DecodeNpy(Step):
    """Decode the bytes of an npy file."""

    encoded: Input


@declared
class ViewAs(Step):
    """Reinterpret bytes as elements of another type."""

    encoded: Input
    dtype: DALIDataType


@declared
class LabelImage(Step):
    """Paint the objects of a COCO image into an image of labels."""

    size: Input
    labels: Input
    polygons: Input
    vertices: Input
    runs: Input
    counts: Input


@declared
class CoordinatesOfVertices(Step):
    """Count coordinates where polygons (mask, first vertex, end vertex) count vertices."""

    polygons: Input


def reader_of(value: Expr) -> Reader | None:
    """Return the reader that a value comes from: that of the nearest step that reads; None if there is none."""
    todo = [value.step]
    for step in todo:  # it grows while it is walked: nearer steps come first
        if isinstance(step, ReaderStep):
            return step.reader
        todo += [given.step for given in step.inputs if given is not None]
    return None


def source_of(value: Expr) -> BatchSource:
    """Return the source of a value from outside of the program."""
    if not isinstance(value.step, ExternalInput):
        raise LookupError(f"{value.step.kind} is computed by the program and has no source")
    return value.step.source


def constant(value: npt.ArrayLike, dtype: npt.DTypeLike | None = None, layout: str = "") -> Expr:
    """Return a value that is the same for every sample."""
    return Constant(array=np.array(value, dtype, order="C")).value(layout)


def constant_array(value: Expr | None) -> Array | None:
    """Return the array of a constant; None for everything else."""
    return value.step.array if value is not None and isinstance(value.step, Constant) else None


def constant_numbers(value: Expr | None) -> list[float] | None:
    """Return the elements of a constant as a flat list; None for everything else."""
    array = constant_array(value)
    return None if array is None else list(array.ravel().tolist())
