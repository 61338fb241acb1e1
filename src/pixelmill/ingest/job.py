"""The job behind `ingest`: each shard is a TFRecord file of pictures that are decoded, cropped and resized."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pixelmill.engine.native import Pending, Trouble
from pixelmill.engine.placement import Mode, placed, versions_of
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats import example, files, storage, tfrecord
from pixelmill.ingest.labels import ClassLabel, class_labels
from pixelmill.ingest.squares import DTYPES, DType, Order, Squares
from pixelmill.jobs import InputFile, Job, ShardFiles, ShardPlan, ShardReport
from pixelmill.permutation import fold, permute

Array = np.ndarray[Any, Any]

_BATCH = 16
_CHANNELS = 3
_RECORD_OVERHEAD = 400  # names of the features, labels and the frame, about


@dataclass(frozen=True)
class Picture:
    """One picture to ingest."""

    path: str
    folder: str


@dataclass(frozen=True)
class IngestJob(Job):
    """Folders of classes to TFRecords of raw pixels. The arguments are those of `ingest`."""

    kind: ClassVar[str] = "ingest"
    few = 1000

    num_images: int
    num_shards: int
    img_size: int
    seed: int
    dtype: DType
    order: Order | None
    name: str
    classes: dict[str, tuple[int, str]]
    input_dir: str = field(metadata={"plan": False})
    mode: Mode = "cpu"

    @cached_property
    def found(self) -> list[Picture]:
        """All pictures that there are."""
        return list_pictures(self.input_dir)

    @cached_property
    def pictures(self) -> Sequence[Picture]:
        """The chosen pictures, in their order."""
        found = self.found
        order = permute(np.arange(len(found)), len(found), fold(self.seed))
        return [found[number] for number in order[: self.num_images].tolist()]

    @property
    def versions(self) -> Mapping[str, str]:
        return versions_of(self.mode)

    @property
    def samples(self) -> int:
        return self.num_images

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        return [
            ShardPlan(number, (f"{self.name}-{number:05d}-of-{self.num_shards:05d}",))
            for number in range(self.num_shards)
        ]

    @property
    def inputs(self) -> Iterator[InputFile]:
        for picture in self.pictures:
            name = f"{picture.folder}/{_base(picture)}"
            try:
                status = os.stat(picture.path)  # noqa: PTH116 - a Path for each of a million files takes its time
            except OSError:  # met again when it is read
                yield InputFile(name, 0)
                continue
            yield InputFile(name, status.st_size, status.st_mtime_ns)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        first, end = (self.num_images * edge // self.num_shards for edge in (number, number + 1))
        stream = files.open(self.shards[number].files[0])
        writer = tfrecord.RecordWriter(stream)
        written = 0
        for place, pixels in self._made(range(first, end), files.threads):
            if isinstance(pixels, Event):
                path = self.pictures[place].path
                files.reject(pixels, _raw(path), extension=Path(path).suffix)
                continue
            writer.write_example(self._features(self.pictures[place], pixels))
            written += 1
            files.progress(1, pixels.nbytes)
        writer.flush()
        stream.close()
        return ShardReport(written)

    def _made(self, places: range, threads: int) -> Iterator[tuple[int, Array | Event]]:
        """Give the pixels of each picture, or what is wrong with it; several batches are under way at a time."""
        squares = self._squares(threads)
        most = 2 + -(-2 * threads // _BATCH)  # two pictures for each thread, beside those that come and go
        waiting: deque[tuple[dict[int, bytes | Event], Pending | None]] = deque()
        for begin in range(places.start, places.stop, squares.batch_size):
            end = min(begin + squares.batch_size, places.stop)
            read = {place: self._read(place) for place in range(begin, end)}
            waiting.append((read, squares.submit(_whole(read))))
            if len(waiting) == most:
                yield from self._taken(squares, *waiting.popleft())
        while waiting:
            yield from self._taken(squares, *waiting.popleft())

    def _read(self, place: int) -> bytes | Event:
        try:
            return storage.read_file(self.pictures[place].path)
        except OSError as error:
            return self._event(place, "io", error.strerror or str(error))
        except DataError as error:
            return self._event(place, "too_large", str(error))

    def _taken(
        self, squares: Squares, read: dict[int, bytes | Event], pending: Pending | None
    ) -> Iterator[tuple[int, Array | Event]]:
        results = iter(squares.take(pending, _whole(read)))
        for place, data in read.items():
            if isinstance(data, Event):
                yield place, data
                continue
            result = next(results)
            yield place, self._event(place, result.kind, result.message) if isinstance(result, Trouble) else result

    def _event(self, place: int, kind: str, message: str) -> Event:
        return Event(kind, message, sample=place, epoch=0, path=self.pictures[place].path, operator=self.kind)

    def _squares(self, threads: int) -> Squares:
        """Compile the program, once for all shards that are made here."""
        if threads not in self._programs:
            where = placed(self.kind, self.mode)
            self._programs[threads] = Squares(
                self.img_size,
                dtype=self.dtype,
                order=self.order or "HWC",
                threads=threads,
                batch_size=where.batch_size(_BATCH),
                where=where,
            )
        return self._programs[threads]

    @cached_property
    def _programs(self) -> dict[int, Squares]:
        return {}

    def _features(self, picture: Picture, pixels: Any) -> dict[str, example.Feature]:
        """Give the features of a record."""
        raw = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8).data  # not copied
        own = {
            "image/filename": example.bytes_feature(os.fsencode(_base(picture))),
            "image/encoded": example.Feature("bytes", [raw]),
        }
        return self._common[picture.folder] | own

    @cached_property
    def _common(self) -> dict[str, dict[str, example.Feature]]:
        """The features that all pictures of a class share, by folder."""
        shared = {
            "image/height": example.int64_feature(self.img_size),
            "image/width": example.int64_feature(self.img_size),
            "image/colorspace": example.bytes_feature("RGB"),
            "image/channels": example.int64_feature(_CHANNELS),
            "image/format": example.bytes_feature("tensor"),
        }
        if self.order is not None:
            shared["image/order"] = example.bytes_feature(self.order)
        if self.dtype != "uint8":
            shared["image/dtype"] = example.bytes_feature(self.dtype)
        return {
            folder: {
                **shared,
                "image/class/label": example.int64_feature(label),
                "image/class/synset": example.bytes_feature(os.fsencode(folder)),
                "image/class/text": example.bytes_feature(text),
            }
            for folder, (label, text) in self.classes.items()
        }


def list_pictures(input_dir: str) -> list[Picture]:
    """List the pictures in all class folders, sorted."""
    index = files.from_root(input_dir)
    return [Picture(path, path.rsplit("/", 2)[-2]) for path in index.paths]


def expected_bytes(num_images: int, *, img_size: int, dtype: DType) -> int:
    """Say about how many bytes a dataset of this size has."""
    return num_images * (img_size * img_size * _CHANNELS * np.dtype(dtype).itemsize + _RECORD_OVERHEAD)


def make_job(
    input_dir: str,
    *,
    num_images: int,
    num_shards: int,
    img_size: int,
    labels: str | None,
    seed: int,
    dtype: DType,
    order: Order | None,
    name: str,
    mode: Mode,
) -> IngestJob:
    """Check the arguments and find out what there is to do."""
    rules = (
        (img_size >= 1, f"img_size must be at least 1, got {img_size}"),
        (num_shards >= 1, f"num_shards must be at least 1, got {num_shards}"),
        (num_images == -1 or num_images >= 1, f"num_images must be at least 1, or -1 for all, got {num_images}"),
        (dtype in DTYPES, f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}"),
        (order in (None, "HWC", "CHW"), f"order must be HWC or CHW, got {order!r}"),
        (name and not set(name) & set("/\0"), f"name must be the beginning of a file name, got {name!r}"),
        (Path(input_dir).is_dir(), f"input_dir must be a folder with a folder for each class, got {input_dir}"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"ingest: {message}")
    found = list_pictures(input_dir)
    count = len(found) if num_images == -1 else num_images
    if count > len(found):
        raise ArgumentError(f"ingest: num_images is {num_images}, and {input_dir} has {len(found)} images")
    if num_shards > count:
        raise ArgumentError(f"ingest: {num_shards} shards cannot share {count} images")
    classes = class_labels(sorted({picture.folder for picture in found}), file=labels)
    job = IngestJob(
        num_images=count,
        num_shards=num_shards,
        img_size=img_size,
        seed=seed,
        dtype=dtype,
        order=order,
        name=name,
        classes={folder: _plain(label) for folder, label in classes.items()},
        input_dir=str(Path(input_dir).absolute()),
        mode=mode,
    )
    if Path(input_dir).is_absolute():
        job.__dict__["found"] = found  # listed once
    return job


def _plain(label: ClassLabel) -> tuple[int, str]:
    return label.label, label.text


def _whole(read: Mapping[int, bytes | Event]) -> list[bytes]:
    return [data for data in read.values() if isinstance(data, bytes)]


def _raw(path: str) -> bytes | None:
    try:
        return storage.read_file(path)
    except (OSError, DataError):
        return None


def _base(picture: Picture) -> str:
    return picture.path.rsplit("/", 1)[-1]
