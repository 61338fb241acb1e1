"""The job of `ingest`: each shard is a TFRecord file of images that are decoded, cropped and resized."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from pixelmill import storage
from pixelmill.amounts import counted
from pixelmill.engine.native import Pending, Trouble
from pixelmill.engine.placement import placement_for, versions_of
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats import example, tfrecord
from pixelmill.formats import file_index as files
from pixelmill.ingest.crop_program import CropProgram
from pixelmill.ingest.labels import class_labels
from pixelmill.jobs.job import HOW, LOCAL, InputFile, Job, ShardPlan, ShardReport, declared
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.log import log
from pixelmill.options.declaration import pick
from pixelmill.options.ingest import DType, IngestArguments, RecordOptions
from pixelmill.pipeline.permutation import fold, permute
from pixelmill.storage.announced_reads import whole_file
from pixelmill.storage.range_reader import RangeReader
from pixelmill.types import Array

_BATCH = 16
_CHANNELS = 3
_RECORD_OVERHEAD = 400  # approximate size of feature names, labels and framing


@dataclass(frozen=True)
class SourceImage:
    """One image to ingest."""

    path: str
    folder: str


@dataclass(frozen=True)
class IngestJob(Job):
    """Class folders to TFRecords of raw pixels.

    Attributes:
        options: What the records look like.
        classes: Label and text of each class folder.
        input_dir: The folder that is read.
        listed: All images of the folder, if this process has already listed them.
    """

    kind: ClassVar[str] = "ingest"
    few = 1000

    options: RecordOptions = field(metadata=declared(RecordOptions))
    classes: dict[str, tuple[int, str]]
    input_dir: str = field(metadata=HOW)
    listed: tuple[SourceImage, ...] | None = field(default=None, repr=False, compare=False, metadata=LOCAL)

    @cached_property
    def images(self) -> Sequence[SourceImage]:
        """The chosen images, in their order."""
        listed = list_images(self.input_dir) if self.listed is None else self.listed
        found = [image for image in listed if image.folder in self.classes]
        order = permute(np.arange(len(found)), len(found), fold(self.options.seed))
        return [found[number] for number in order[: self.options.num_images].tolist()]

    @property
    def versions(self) -> Mapping[str, str]:
        return versions_of(self.options.mode)

    @property
    def samples(self) -> int:
        return self.options.num_images

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        name, count = self.options.name, self.options.num_shards
        return [ShardPlan(number, (f"{name}-{number:05d}-of-{count:05d}",)) for number in range(count)]

    @property
    def inputs(self) -> Iterator[InputFile]:
        stats = storage.stats([image.path for image in self.images])
        for image, status in zip(self.images, stats, strict=True):
            name = f"{image.folder}/{_base(image)}"
            if isinstance(status, OSError):  # reported when it is read
                yield InputFile(name, 0)
            else:
                yield InputFile(name, status.size, status.modified)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        stream = files.open(self.shards[number].files[0])
        writer = tfrecord.RecordWriter(stream)
        written = 0
        for place, pixels, notes in self._made(self._places(number), files):
            if isinstance(pixels, Event):
                path = self.images[place].path
                files.reject(pixels, _raw(path), extension=Path(path).suffix)
                continue
            writer.write_example(self._features(self.images[place], pixels))
            written += 1
            files.note(notes)
            files.progress(1, pixels.nbytes)
        writer.flush()
        stream.close()
        return ShardReport(written)

    def _places(self, number: int) -> range:
        """Return the images of a shard."""
        return range(*(self.options.num_images * edge // self.options.num_shards for edge in (number, number + 1)))

    def _made(self, places: range, files: ShardFiles) -> Iterator[tuple[int, Array | Event, Collection[str]]]:
        """Yield the pixels of each image, or what is wrong with it, and notes; several batches are in progress."""
        program, refused = self._program(files.threads), files.refused_notes
        most = 2 + -(-2 * files.threads // _BATCH)  # two images for each thread, besides those read and written
        waiting: deque[tuple[dict[int, bytes | Event], Pending | None]] = deque()
        if storage.is_remote(self.input_dir):
            coming = itertools.chain(places, *map(self._places, files.following))
            self._reader.expect(whole_file(self.images[place].path) for place in coming)
        for begin in range(places.start, places.stop, program.batch_size):
            end = min(begin + program.batch_size, places.stop)
            read = {place: self._read(place) for place in range(begin, end)}
            waiting.append((read, program.submit(_whole(read))))
            if len(waiting) == most:
                yield from self._taken(program, *waiting.popleft(), refused=refused)
        while waiting:
            yield from self._taken(program, *waiting.popleft(), refused=refused)

    def _read(self, place: int) -> bytes | Event:
        try:
            return self._reader.read_file(self.images[place].path)
        except OSError as error:
            return self._event(place, "io", error.strerror or str(error))
        except DataError as error:
            return self._event(place, "too_large", str(error))

    def _taken(
        self,
        program: CropProgram,
        read: dict[int, bytes | Event],
        pending: Pending | None,
        *,
        refused: Collection[str],
    ) -> Iterator[tuple[int, Array | Event, Collection[str]]]:
        results = iter(program.take(pending, _whole(read), refused=refused))
        for place, data in read.items():
            if isinstance(data, Event):
                yield place, data, ()
                continue
            result, notes = next(results)
            if isinstance(result, Trouble):
                yield place, self._event(place, result.kind, result.message), ()
            else:
                yield place, result, notes

    def _event(self, place: int, kind: str, message: str) -> Event:
        return Event(kind, message, sample=place, epoch=0, path=self.images[place].path, operator=self.kind)

    def _program(self, threads: int) -> CropProgram:
        """Return the program, compiled once for all shards that this process makes."""
        if threads not in self._programs:
            where = placement_for(self.kind, self.options.mode)
            self._programs[threads] = CropProgram(
                self.options.img_size,
                dtype=self.options.dtype,
                order=self.options.order or "HWC",
                resize=self.options.resize,
                threads=threads,
                batch_size=where.batch_size(_BATCH),
                where=where,
            )
        return self._programs[threads]

    @cached_property
    def _reader(self) -> RangeReader:
        return RangeReader()

    @cached_property
    def _programs(self) -> dict[int, CropProgram]:
        return {}

    def _features(self, image: SourceImage, pixels: Array) -> dict[str, example.Feature]:
        """Return the features of a record."""
        raw = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8).data  # not copied
        own = {
            "image/filename": example.bytes_feature(os.fsencode(_base(image))),
            "image/encoded": example.Feature("bytes", [raw]),
        }
        return self._common[image.folder] | own

    @cached_property
    def _common(self) -> dict[str, dict[str, example.Feature]]:
        """The features that all images of a class share, by folder."""
        shared = {
            "image/height": example.int64_feature(self.options.img_size),
            "image/width": example.int64_feature(self.options.img_size),
            "image/colorspace": example.bytes_feature("RGB"),
            "image/channels": example.int64_feature(_CHANNELS),
            "image/format": example.bytes_feature("tensor"),
        }
        if self.options.order is not None:
            shared["image/order"] = example.bytes_feature(self.options.order)
        if self.options.dtype != "uint8":
            shared["image/dtype"] = example.bytes_feature(self.options.dtype)
        return {
            folder: {
                **shared,
                "image/class/label": example.int64_feature(label),
                "image/class/synset": example.bytes_feature(os.fsencode(folder)),
                "image/class/text": example.bytes_feature(text),
            }
            for folder, (label, text) in self.classes.items()
        }


def list_images(input_dir: str) -> list[SourceImage]:
    """Return the images of all class folders, sorted."""
    if not storage.list_folder(input_dir)[0]:
        text = "has no sub-folders with images; there must be one for each class"
        raise ArgumentError(f"ingest: {input_dir} {text} (`pixelmill convert` takes images without classes)")
    index = files.from_root(input_dir)
    return [SourceImage(path, path.rsplit("/", 2)[-2]) for path in index.paths]


def expected_bytes(num_images: int, *, img_size: int, dtype: DType) -> int:
    """Return the approximate size of a dataset."""
    return num_images * (img_size * img_size * _CHANNELS * np.dtype(dtype).itemsize + _RECORD_OVERHEAD)


def make_job(options: IngestArguments) -> IngestJob:
    """Check the arguments of `ingest` and find the images and their labels."""
    root = os.fspath(options.input_dir)
    rules = (
        (
            options.num_images == -1 or options.num_images >= 1,
            f"num_images must be at least 1, or -1 for all, got {options.num_images}",
        ),
        (
            options.name and not set(options.name) & set("/\0"),
            f"name must be the start of a file name, got {options.name!r}",
        ),
        (storage.is_folder(root), f"input_dir must be a folder with a folder for each class, got {root}"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"ingest: {message}")
    found = list_images(root)
    labels = None if options.labels is None else os.fspath(options.labels)
    folders = sorted({image.folder for image in found})
    classes = class_labels(folders, file=labels, unknown=options.unknown_classes)
    found = [image for image in found if image.folder in classes]
    if options.num_images > len(found):
        log.warning(f"ingest: num_images is {options.num_images}; {root} has {len(found)} images, all are taken")
    count = len(found) if options.num_images == -1 else min(options.num_images, len(found))
    if options.num_shards > count:
        text = f"{counted(count, 'image')} cannot be divided into {counted(options.num_shards, 'shard')}"
        raise ArgumentError(f"ingest: {text}; set num_shards to {count} or less")
    return IngestJob(
        options=pick(RecordOptions, options, num_images=count),
        classes={folder: (label.label, label.text) for folder, label in classes.items()},
        input_dir=root if storage.is_remote(root) else str(Path(root).absolute()),
        listed=tuple(found) if storage.is_remote(root) or Path(root).is_absolute() else None,
    )


def _whole(read: Mapping[int, bytes | Event]) -> list[bytes]:
    return [data for data in read.values() if isinstance(data, bytes)]


def _raw(path: str) -> bytes | None:
    try:
        return storage.read_file(path)
    except (OSError, DataError):
        return None


def _base(image: SourceImage) -> str:
    return image.path.rsplit("/", 1)[-1]
