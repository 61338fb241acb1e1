"""The bulk job behind `create_images`: pictures by number, as files or straight into records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, overload

from pixelmill.create.folder import class_name
from pixelmill.create.making import Picture, in_order, make_picture, save_picture
from pixelmill.create.options import PictureOptions
from pixelmill.formats import facts
from pixelmill.formats.adapters.folder import IMAGES, MASKS
from pixelmill.formats.registry import open_shard, shard_names
from pixelmill.formats.sample import Sample
from pixelmill.jobs import Job, ShardFiles, ShardPlan, ShardReport
from pixelmill.jobs.shard_files import OutputStream
from pixelmill.jobs.storage import explained

FILES = "files"
CONTAINERS = (FILES, "tfrecord", "recordio", "webdataset", "npy")


@dataclass(frozen=True)
class CreateJob(Job):
    """Pictures 0 to count - 1.

    Attributes:
        name: What the names of all pictures begin with.
        count: Number of pictures.
        per_shard: Pictures in a shard.
        container: One of `CONTAINERS`.
        boxes: Whether to write the rectangles of objects.
        pictures: The fields of `PictureOptions`.
    """

    kind: ClassVar[str] = "create"

    name: str
    count: int
    per_shard: int
    container: str
    boxes: bool
    pictures: Mapping[str, Any]

    @cached_property
    def options(self) -> PictureOptions:
        """What the pictures look like."""
        return PictureOptions(**self.pictures)

    @property
    def samples(self) -> int:
        return self.count

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        return _Shards(self)

    def numbers(self, shard: int) -> range:
        """Give the pictures of a shard."""
        return range(shard * self.per_shard, min((shard + 1) * self.per_shard, self.count))

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        if self.container == FILES:
            _write_files(self, number, files)
        else:
            _write_records(self, number, files)
        return ShardReport(len(self.numbers(number)))

    def file_names(self, shard: int) -> tuple[str, ...]:
        """Name all files that a shard writes."""
        names = list(self.shard_names(shard).values())
        if self.container in (FILES, "npy"):
            for index in self.numbers(shard):
                names += [name for name in self.names_of(index) if name is not None]
        return tuple(names)

    def names_of(self, index: int) -> tuple[str, str | None]:
        """Name the file of a picture and that of its mask."""
        stem, ending = self.stem(index), self.options.image_format
        if self.container == "npy":
            return f"{IMAGES}/{stem}.npy", f"{MASKS}/{stem}.npy" if self.options.masks else None
        if self.options.masks:
            return f"{IMAGES}/{stem}.{ending}", f"{MASKS}/{stem}.png"
        return f"{stem}.{ending}", None

    def stem(self, index: int) -> str:
        """Name a picture, without an ending; with its class folder where there are classes."""
        plain = f"{self.name}{index}"
        classes = self.options.classes
        return plain if classes == 1 else f"{class_name(index % classes, classes)}/{plain}"

    def shard_names(self, shard: int) -> dict[str, str]:
        """Name the files of a shard that are not named by pictures."""
        if self.container == FILES and not self.boxes:
            return {}
        format = "folder" if self.container == FILES else self.container
        return shard_names(format, number=shard, count=len(self.shards))

    def sample(self, picture: Picture) -> Sample:
        """Give a picture as record writers take it."""
        classes = self.options.classes
        return Sample(
            self.stem(picture.index),
            picture.image,
            self.options.image_format,
            (picture.label,),
            class_name=class_name(picture.label, classes) if classes > 1 else None,
            boxes=picture.boxes() if self.boxes else None,
            mask=picture.mask,
        )


class _Shards(Sequence[ShardPlan]):
    """The shards of a job, each named when it is asked for: memory does not grow with the number of pictures."""

    def __init__(self, job: CreateJob) -> None:
        self._job = job

    def __len__(self) -> int:
        return -(-self._job.count // self._job.per_shard)

    @overload
    def __getitem__(self, item: int) -> ShardPlan: ...
    @overload
    def __getitem__(self, item: slice) -> list[ShardPlan]: ...
    def __getitem__(self, item: int | slice) -> ShardPlan | list[ShardPlan]:
        if isinstance(item, slice):
            return [self[number] for number in range(*item.indices(len(self)))]
        if not -len(self) <= item < len(self):
            raise IndexError(item)
        number = item % len(self)
        return ShardPlan(number, self._job.file_names(number))

    def __iter__(self) -> Iterator[ShardPlan]:
        return (self[number] for number in range(len(self)))


def _write_files(job: CreateJob, number: int, files: ShardFiles) -> None:
    """Write picture files; each thread draws, encodes and writes by itself."""
    maker = job.options.maker()
    targets: dict[int, tuple[OutputStream | Path, OutputStream | None]] = {}

    def opened() -> Iterator[int]:
        for index in job.numbers(number):
            image, mask = job.names_of(index)
            stream = None if mask is None else files.open(mask)
            targets[index] = files.open(image) if files.durable else files.path(image), stream
            yield index

    def write(index: int) -> tuple[Picture, int]:
        image, mask = targets.pop(index)
        if isinstance(image, Path):
            with explained(job.names_of(index)[0]):
                picture, size = save_picture(maker, index, image)
        else:
            picture = make_picture(maker, index)
            with image:
                size = image.write(picture.image)
        if mask is not None and picture.mask is not None:
            with mask:
                size += mask.write(picture.mask)
        return picture, size

    rows = []
    # Files that must be on the disk keep threads waiting, so there are more of them than processors.
    threads = 2 * files.threads if files.durable else files.threads
    with in_order(write, opened(), threads=threads) as written:
        for picture, size in written:
            files.progress(1, size)
            if job.boxes:
                row = facts.difference(Sample("", b"", boxes=picture.boxes()), implied=Sample("", b""))
                path = f"{job.stem(picture.index)}.{job.options.image_format}"
                rows.append(facts.encode_row({"path": path, **row}) + b"\n")
    if job.boxes:
        files.write(job.file_names(number)[0], b"".join(rows))


def _write_records(job: CreateJob, number: int, files: ShardFiles) -> None:
    maker = job.options.maker()
    with (
        open_shard(job.container, files.open, number=number, count=len(job.shards)) as writer,
        in_order(lambda i: make_picture(maker, i), job.numbers(number), threads=files.threads) as pictures,
    ):
        for picture in pictures:
            sample = job.sample(picture)
            writer.add(sample, name=sample.key)
            files.progress(1, sample.size())
