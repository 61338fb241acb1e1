"""The bulk job of `create_images`: images by number, as files or as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, overload

from pixelmill.create.image_options import PictureOptions
from pixelmill.create.photo_folder import class_name
from pixelmill.create.rendering import CreatedImage, create_image, in_order, save_image
from pixelmill.formats import annotations as annotation_rows
from pixelmill.formats.folder.names import IMAGES, MASKS
from pixelmill.formats.registry import open_shard, shard_names
from pixelmill.formats.sample import Sample
from pixelmill.jobs.disk import explained
from pixelmill.jobs.job import Job, ShardPlan, ShardReport
from pixelmill.jobs.output_stream import OutputStream
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.options.create import FILES


@dataclass(frozen=True)
class CreateJob(Job):
    """Images 0 to count - 1.

    Attributes:
        name: The start of all file names.
        count: Number of images.
        per_shard: Images in a shard.
        container: One of `OUTPUT_CONTAINERS`.
        boxes: Whether to write the boxes of objects.
        pictures: The fields of `PictureOptions`; the plan has them under this name.
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
        """What the images look like."""
        return PictureOptions(**self.pictures)

    @property
    def samples(self) -> int:
        return self.count

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        return _Shards(self)

    def numbers(self, shard: int) -> range:
        """Return the numbers of the images of a shard."""
        return range(shard * self.per_shard, min((shard + 1) * self.per_shard, self.count))

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        if self.container == FILES:
            _write_files(self, number, files)
        else:
            _write_records(self, number, files)
        return ShardReport(len(self.numbers(number)))

    def file_names(self, shard: int) -> tuple[str, ...]:
        """Return the names of all files that a shard writes."""
        names = list(self.shard_names(shard).values())
        if self.container in (FILES, "npy"):
            for index in self.numbers(shard):
                names += [name for name in self.names_of(index) if name is not None]
        return tuple(names)

    def names_of(self, index: int) -> tuple[str, str | None]:
        """Return the names of the files of an image and of its mask."""
        stem, ending = self.stem(index), self.options.image_format
        if self.container == "npy":
            return f"{IMAGES}/{stem}.npy", f"{MASKS}/{stem}.npy" if self.options.masks else None
        if self.options.masks:
            return f"{IMAGES}/{stem}.{ending}", f"{MASKS}/{stem}.png"
        return f"{stem}.{ending}", None

    def stem(self, index: int) -> str:
        """Return the name of an image without extension, with its class folder if there are classes."""
        plain = f"{self.name}{index}"
        classes = self.options.classes
        return plain if classes == 1 else f"{class_name(index % classes, classes)}/{plain}"

    def shard_names(self, shard: int) -> dict[str, str]:
        """Return the names of the files of a shard that hold more than one image."""
        if self.container == FILES and not self.boxes:
            return {}
        format = "folder" if self.container == FILES else self.container
        return shard_names(format, number=shard, count=len(self.shards))

    def sample(self, image: CreatedImage) -> Sample:
        """Return an image as record writers take it."""
        classes = self.options.classes
        return Sample(
            self.stem(image.index),
            image.image,
            self.options.image_format,
            (image.label,),
            class_name=class_name(image.label, classes) if classes > 1 else None,
            boxes=image.boxes() if self.boxes else None,
            mask=image.mask,
        )


class _Shards(Sequence[ShardPlan]):
    """The shards of a job, computed on demand: memory does not grow with the number of images."""

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
    """Write image files; each thread draws, encodes and writes."""
    maker = job.options.maker()
    targets: dict[int, tuple[OutputStream | Path, OutputStream | None]] = {}

    def opened() -> Iterator[int]:
        for index in job.numbers(number):
            image, mask = job.names_of(index)
            stream = None if mask is None else files.open(mask)
            targets[index] = files.open(image) if files.durable else files.path(image), stream
            yield index

    def write(index: int) -> tuple[CreatedImage, int]:
        target, mask = targets.pop(index)
        if isinstance(target, Path):
            with explained(job.names_of(index)[0]):
                image, size = save_image(maker, index, target)
        else:
            image = create_image(maker, index)
            with target:
                size = target.write(image.image)
        if mask is not None and image.mask is not None:
            with mask:
                size += mask.write(image.mask)
        return image, size

    rows = []
    # Threads wait for the disk when files are durable, so more of them run than there are processors.
    threads = 2 * files.threads if files.durable else files.threads
    with in_order(write, opened(), threads=threads) as written:
        for image, size in written:
            files.progress(1, size)
            if job.boxes:
                row = annotation_rows.difference(Sample("", b"", boxes=image.boxes()), implied=Sample("", b""))
                path = f"{job.stem(image.index)}.{job.options.image_format}"
                rows.append(annotation_rows.encode_row({"path": path, **row}) + b"\n")
    if job.boxes:
        files.write(job.file_names(number)[0], b"".join(rows))


def _write_records(job: CreateJob, number: int, files: ShardFiles) -> None:
    maker = job.options.maker()
    with (
        open_shard(job.container, files.open, number=number, count=len(job.shards)) as writer,
        in_order(lambda i: create_image(maker, i), job.numbers(number), threads=files.threads) as images,
    ):
        for image in images:
            sample = job.sample(image)
            writer.add(sample, name=sample.key)
            files.progress(1, sample.size())
