"""The job behind `ingest`: each shard is a TFRecord file of pictures that are decoded, cropped and resized."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from pixelmill import fn, math, types
from pixelmill.engine.placement import Mode, placed, versions_of
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats import example, files, storage, tfrecord
from pixelmill.ingest.labels import ClassLabel, class_labels
from pixelmill.jobs import InputFile, Job, ShardFiles, ShardPlan, ShardReport
from pixelmill.loader import Loader
from pixelmill.permutation import fold, permute
from pixelmill.pipeline import Pipeline

DType = Literal["uint8", "float16", "float32"]
Order = Literal["HWC", "CHW"]

_DTYPES = {"uint8": types.UINT8, "float16": types.FLOAT16, "float32": types.FLOAT}
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
    def pictures(self) -> Sequence[Picture]:
        """The chosen pictures, in their order."""
        found = list_pictures(self.input_dir)
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
        pictures = self.pictures[first:end]
        stream = files.open(self.shards[number].files[0])
        writer = tfrecord.RecordWriter(stream)
        written = 0
        for place, (pixels, event) in enumerate(self._decoded(pictures, files.threads)):
            if event is not None:
                extension = Path(pictures[place].path).suffix
                event = replace(event, sample=first + place, operator=self.kind, line=None)
                files.reject(event, _raw(pictures[place].path), extension=extension)
                continue
            writer.write_example(self._features(pictures[place], pixels))
            written += 1
            files.progress(1, pixels.nbytes)
        writer.flush()
        stream.close()
        return ShardReport(written)

    def _decoded(self, pictures: Sequence[Picture], threads: int) -> Iterator[tuple[Any, Event | None]]:
        """Give the pixels of each picture, or what is wrong with it."""
        events: dict[int, Event] = {}

        def note(event: Event) -> Literal["fill"]:
            events[event.sample] = event
            return "fill"

        where = placed("ingest", self.mode)
        pipeline = Pipeline(
            _BATCH,
            threads,
            where.device_id,
            on_error=note,
            max_errors=len(pictures),
            engine=where.engine,
        )
        with pipeline:
            pipeline.set_outputs(*self._graph([picture.path for picture in pictures], where.decoder))
        place = 0
        for batch in Loader(pipeline, ["pixels", "place"]):
            for pixels, valid in zip(batch["pixels"], batch["valid"], strict=True):
                yield pixels, None if valid else events[place]
                place += 1

    def _graph(self, paths: list[str], decoder: str) -> tuple[Any, Any]:
        """Decode the largest square in the middle and resize it."""
        encoded, place = fn.readers.file(files=paths, labels=list(range(len(paths))))
        shape = fn.peek_image_shape(encoded)
        side = math.min(shape[0], shape[1])
        square = fn.decoders.image_crop(encoded, crop_h=side, crop_w=side, device=decoder)
        pixels = fn.resize(square, size=(self.img_size, self.img_size))
        if self.dtype != "uint8":
            pixels = fn.cast(pixels, dtype=_DTYPES[self.dtype])
        if self.order == "CHW":
            pixels = fn.transpose(pixels, perm=[2, 0, 1])
        return pixels.cpu(), place

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
        (dtype in _DTYPES, f"dtype must be one of {', '.join(_DTYPES)}, got {dtype!r}"),
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
    return IngestJob(
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


def _plain(label: ClassLabel) -> tuple[int, str]:
    return label.label, label.text


def _raw(path: str) -> bytes | None:
    try:
        return storage.read_file(path)
    except (OSError, DataError):
        return None


def _base(picture: Picture) -> str:
    return picture.path.rsplit("/", 1)[-1]
