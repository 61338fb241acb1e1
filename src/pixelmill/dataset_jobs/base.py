"""The base of jobs that read one dataset and write another."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pixelmill import storage
from pixelmill.dataset_jobs.file_names import FileNames, is_divided
from pixelmill.errors import DataError
from pixelmill.formats.dataset import CLASSES, Dataset
from pixelmill.formats.registry import FILE_FORMATS
from pixelmill.formats.sample import split_name
from pixelmill.jobs.job import HOW, LOCAL, InputFile, Job
from pixelmill.jobs.shard_files import ShardFiles

OBJECT_FORMATS = ("coco", "yolo", "voc")  # containers whose files name the classes of objects


@dataclass(frozen=True, kw_only=True)
class DatasetJob(Job):
    """A job from a dataset to a container.

    Attributes:
        opened: The dataset, if this process has already opened it.
        names_file: Where `share_file_names` keeps the names of all files for worker processes.
    """

    opened: Dataset | None = field(default=None, repr=False, compare=False, metadata=LOCAL)
    names_file: str | None = field(default=None, metadata=HOW)

    @property
    @abstractmethod
    def source(self) -> str | tuple[str, ...]:
        """What is read."""

    @property
    @abstractmethod
    def to(self) -> str:
        """The container to write."""

    @abstractmethod
    def open(self) -> Dataset:
        """Open the dataset that is read."""

    @abstractmethod
    def find_file_names(self) -> FileNames:
        """Choose a name for the file of each sample."""

    @cached_property
    def dataset(self) -> Dataset:
        """The dataset that is read."""
        if self.opened is not None:
            return self.opened
        with storage.keeping_listings():
            opened = self.open()
            if opened.remote_stats:  # while its folders are known, and beside what comes next
                threading.Thread(target=copy_context().run, args=(_find_classes, opened)).start()
        return opened

    @cached_property
    def file_names(self) -> FileNames | None:
        """The names of all files, for containers with one file per sample."""
        if self.to not in FILE_FORMATS:
            return None
        # A worker on another machine does not see the file, and computes the same names again.
        if self.names_file is not None and Path(self.names_file).exists():
            return FileNames.load(self.names_file)
        return self.find_file_names()

    def share_file_names(self) -> None:
        """Save the names, so that worker processes need not look at all samples again."""
        if self.names_file is not None and self.file_names is not None:
            self.file_names.save(Path(self.names_file))

    @property
    def inputs(self) -> Iterable[InputFile]:
        """All files of the dataset; a missing one counts as empty, and is reported when it is read."""
        base = self.source if isinstance(self.source, str) else ""
        files, known = self.dataset.files, self.dataset.remote_stats
        stats = map(known.__getitem__, files) if known else storage.stats(files)
        for path, stat in zip(files, stats, strict=True):
            found = storage.FileStat(0, 0) if isinstance(stat, OSError) else stat
            yield InputFile(path.removeprefix(base).lstrip("/"), found.size, found.modified)

    @property
    def lists_files(self) -> bool:
        """Whether the plan of the shards names every file; not for containers with one file per sample."""
        return self.to not in FILE_FORMATS

    @property
    def closing_files(self) -> tuple[str, ...]:
        """The list of classes, for containers that do not hold it themselves."""
        return (CLASSES,) if self._class_list() else ()

    def _class_list(self) -> tuple[str, ...]:
        """Return the classes by label: those of a folder, or of the dataset that is read."""
        if self.to == "folder":
            return self.file_names.classes if self.file_names else ()
        return () if self.to in OBJECT_FORMATS else tuple(self.dataset.classes)

    def close(self, files: ShardFiles, shards: Iterable[Mapping[str, Any]]) -> None:
        """Write the list of classes."""
        del shards
        for name in self.closing_files:
            lines = "".join(f"{text}\n" for text in self._class_list())
            files.write(name, lines.encode("utf-8", "surrogateescape"))

    def reject_faults(self, files: ShardFiles) -> None:
        """Report the damaged pieces of the container that hold no sample; the first shard calls this."""
        for fault in self.dataset.faults:
            event = fault.event(fault.record)
            message = f"{event.message} (record {fault.record}, {fault.length} bytes are lost)"
            files.reject(replace(event, message=message), self.dataset.lost_bytes(fault))

    def reject(self, files: ShardFiles, number: int, error: DataError | UnicodeError) -> None:
        """Skip a sample; the bytes that quarantine keeps are those of its record or its file."""
        first = error.events[0] if isinstance(error, DataError) and error.events else None
        kind, message = (first.kind, first.message) if first is not None else ("corrupt", str(error))
        path, offset = self.dataset.locate(number)
        extension = split_name(path)[1] if offset is None else "bin"
        files.reject(self.dataset.event(number, kind, message), self.dataset.raw(number), extension=extension)

    def writer_options(self, keys: str) -> dict[str, Any]:
        """Return the options of the writer of a shard; `keys` are the feature names of TFRecords."""
        if self.to == "folder" and self.file_names is not None:
            found = self.file_names
            return {"classes": found.classes, "masks": found.masks, "divided": is_divided(found.splits)}
        if self.to in OBJECT_FORMATS and self.file_names is not None:
            found = self.file_names
            shapes = {name: getattr(found, name) for name in ("splits", "keypoints", "polygons", "oriented")}
            return {"classes": found.objects or None, **(shapes if self.to == "yolo" else {})}
        if self.to == "parquet":
            return {"classes": self.dataset.classes or None}
        return {"keys": keys} if self.to == "tfrecord" else {}


def _find_classes(dataset: Dataset) -> None:
    """Look up the classes of a dataset, which remembers them; whoever asks for them meets the errors."""
    with suppress(Exception):
        _ = dataset.classes
