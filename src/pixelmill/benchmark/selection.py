"""Chooses the samples of a dataset to measure, and finds out what they are."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pixelmill import storage
from pixelmill.amounts import counted
from pixelmill.benchmark.workload import Container, Content, Source
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import npy
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import FILE_FORMATS, get_format, open_dataset
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Sample, image_type
from pixelmill.inspect.index_files import index as write_indexes

MOST_BYTES = 512 << 20  # of the samples that are measured; more would not fit into every page cache
LEAST_EPOCH = 4096  # samples of an epoch; the beginning of one costs some contestants time
_LOOKED_AT = 16  # records that are taken apart to see what they hold
_HEAD = 1 << 10  # bytes that identify the type of a file

Range = tuple[str, int, int]  # path, first byte, bytes


@dataclass(frozen=True)
class Selection:
    """What is measured.

    Attributes:
        name: The dataset, as it was named.
        format: Its container.
        samples: How many it has.
        source: What contestants read.
        ranges: Where the bytes of the samples lie, in random order.
        kinds: Number of examined samples of each kind.
        readable: Whether the images can be decoded and resized; else only reading can be measured.
        notes: What was excluded, and why.
    """

    name: str
    format: str
    samples: int
    source: Source
    ranges: Sequence[Range]
    kinds: Mapping[str, int]
    readable: bool = True
    notes: list[str] = field(default_factory=list)

    def without(self, bad: set[str]) -> Selection:
        """Return the selection without these files; records stay, as readers cannot skip single ones."""
        if self.source.container not in ("files", "npy"):
            return self
        files = [path for path in self.source.files if path not in bad]
        return replace(self, source=replace(self.source, files=files, repeats=_repeats(len(files))))


def select(source: str | os.PathLike[str] | Sequence[str], *, samples: int) -> Selection:
    """Open a dataset and choose samples of it: evenly spread files, or the first record files.

    Args:
        source: The dataset.
        samples: The most samples to choose.
    """
    named = [os.fspath(source)] if isinstance(source, (str, os.PathLike)) else source
    for name in named:
        storage.refuse_remote(name, "bench")
    dataset = open_dataset(source)
    if not len(dataset):
        raise DataError(f"bench: {dataset.source} has no samples")
    if dataset.format in FILE_FORMATS:
        return _files(dataset, samples)
    format = get_format(dataset.format)
    if format.write_index is None and dataset.format != "pack":  # a container that DALI has no reader for
        raise ArgumentError(
            f"bench: {dataset.source} is {format.title}, which the other libraries do not read. Convert it first: "
            f"pixelmill convert {dataset.source} FOLDER --to tfrecord"
        )
    return _records(dataset, samples)


def _files(dataset: Dataset, most: int) -> Selection:
    count = min(most, len(dataset))
    numbers = [len(dataset) * place // count for place in range(count)]
    ranges = _fitting([(dataset.index.paths[number], 0, _size(dataset.index.paths[number])) for number in numbers])
    heads = {path: _head(path) for path, _, _ in ranges}
    kinds = Counter(_kind(head) for head in heads.values())
    arrays = kinds["npy"] > len(heads) / 2
    chosen = [entry for entry in ranges if (_kind(heads[entry[0]]) == "npy") == arrays]
    notes = []
    if len(chosen) < len(ranges):
        what = "image" if arrays else "npy file"
        count = len(ranges) - len(chosen)
        notes.append(f"excluded: {counted(count, what)}, in another format than the rest")
    files = [path for path, _, _ in chosen]
    found = Source(files, repeats=_repeats(len(files)))
    readable = True
    if arrays:
        found, readable = _array_source(found, [heads[path] for path in files])
    elif kinds["jpg"] + kinds["unknown"] < len(files):  # unknown ones are bad, and are reported later
        found = replace(found, content="image")
    random.Random(0).shuffle(chosen)
    return Selection(dataset.source, dataset.format, len(dataset), found, chosen, dict(kinds), readable, notes)


def _array_source(source: Source, heads: Sequence[bytes]) -> tuple[Source, bool]:
    """Return a description of npy files, and whether all of them are images."""
    headers = []
    for head in heads:
        with suppress(DataError):  # bad samples are reported later
            headers.append(npy.read_header(head))
    if not headers:
        return replace(source, container="npy"), False
    first = headers[0]
    if all(len(header.shape) == 1 and header.dtype == "uint8" for header in headers):
        return replace(source, container="npy", content="image"), True  # the bytes of encoded images
    shape = list(first.shape)
    same = all(header.dtype == first.dtype and header.shape[2:] == first.shape[2:] for header in headers)
    readable = same and _is_image(shape) and first.dtype.name in ("uint8", "float32")
    return replace(source, container="npy", content="array", shape=shape, dtype=first.dtype.name), readable


def _is_image(shape: Sequence[int]) -> bool:
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))


def _records(dataset: Dataset, most: int) -> Selection:
    index, size = dataset.index, 0
    numbers: list[int] = []
    for number in range(len(dataset)):
        if len(numbers) == most or (numbers and size + int(index.lengths[number]) > MOST_BYTES):
            break
        numbers.append(number)
        size += int(index.lengths[number])
    used = dict.fromkeys(int(index.files[number]) for number in numbers)
    files = [index.paths[file] for file in used]
    ranges = [
        (index.paths[int(index.files[number])], int(index.offsets[number]), int(index.lengths[number]))
        for number in numbers
    ]
    looked = [numbers[len(numbers) * place // _LOOKED_AT] for place in range(_LOOKED_AT)]
    found = [sample for number in dict.fromkeys(looked) if (sample := _sample(dataset, number)) is not None]
    names: dict[str, Container] = {
        "tfrecord": "tfrecord",
        "recordio": "recordio",
        "webdataset": "webdataset",
        "pack": "pack",
    }
    repeats = 1 if dataset.format == "recordio" else _repeats(len(numbers))  # DALI takes one index only
    source, readable = _record_source(Source(files, names[dataset.format], repeats=repeats), found, dataset.layout)
    random.Random(0).shuffle(ranges)
    kinds = Counter(_kind(sample.image) for sample in found)
    if "npy" in kinds and dataset.format == "tfrecord":
        kinds["raw pixels"] = kinds.pop("npy")
    return Selection(dataset.source, dataset.format, len(dataset), source, ranges, dict(kinds), readable)


def _record_source(source: Source, samples: Sequence[Sample], layout: str) -> tuple[Source, bool]:
    """Return a description of records, and whether all of them are images."""
    kinds = {image_type(sample.image) for sample in samples}
    endings = dict.fromkeys(sample.extension for sample in samples if sample.extension.lower() in IMAGE_EXTENSIONS)
    content: Content = "jpeg" if kinds == {"jpg"} else "image"
    source = replace(source, content=content, extensions=";".join(endings) or "jpg;jpeg;png")
    if source.container == "tfrecord":
        source = replace(source, feature="image" if layout.startswith("tfds") else "image/encoded")
    if "npy" not in kinds:
        return source, bool(samples)
    headers = [npy.read_header(sample.image) for sample in samples if image_type(sample.image) == "npy"]
    same = len(headers) == len(samples) and len({(header.shape, header.dtype) for header in headers}) == 1
    first = headers[0]
    readable = same and source.container == "tfrecord" and first.dtype == "uint8" and len(first.shape) == 3
    readable = readable and _is_image(first.shape)
    return replace(source, content="tensor", shape=list(first.shape), dtype=first.dtype.name), readable


def with_indexes(selection: Selection, folder: Path) -> tuple[Selection, str | None]:
    """Write DALI's index of each record file; also return why that failed."""
    files = selection.source.files
    try:
        indexes = [write_indexes([path], output=folder / str(place))[0] for place, path in enumerate(files)]
        if selection.source.container == "recordio":
            indexes = [_joint_index(files, indexes, folder / "all.idx")]
    except (DataError, OSError) as error:
        return selection, str(error).partition("\n")[0]
    return replace(selection, source=replace(selection.source, indexes=indexes)), None


def _joint_index(files: Sequence[str], indexes: Sequence[str], target: Path) -> str:
    """Write the single index that DALI takes for several RecordIO files, as if they were concatenated."""
    before = 0
    lines: list[str] = []
    for path, index in zip(files, indexes, strict=True):
        for line in Path(index).read_text("ascii").splitlines():
            offset = int(line.split()[1])
            lines.append(f"{len(lines)}\t{before + offset}\n")
        before += _size(path)
    target.write_text("".join(lines), "ascii")
    return str(target)


def _fitting(ranges: Sequence[Range]) -> list[Range]:
    """Leave out evenly what would be too many bytes."""
    total = sum(size for _, _, size in ranges)
    if total <= MOST_BYTES:
        return list(ranges)
    count = max(len(ranges) * MOST_BYTES // total, 1)
    return [ranges[len(ranges) * place // count] for place in range(count)]


def _size(path: str) -> int:
    try:
        return storage.stat(path).size
    except OSError:
        return 0


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(_HEAD)
    except OSError:
        return b""


def _kind(head: bytes) -> str:
    return image_type(head) or "unknown"


def _sample(dataset: Dataset, number: int) -> Sample | None:
    try:
        return dataset.sample(number)
    except DataError:
        return None  # bad samples are reported later


def _repeats(count: int) -> int:
    return -(-LEAST_EPOCH // max(count, 1))
