"""What jobs share that read one dataset and write another."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pixelmill.errors import DataError
from pixelmill.formats import storage
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.sample import split_name
from pixelmill.jobs import InputFile, Job, ShardFiles

if TYPE_CHECKING:
    from pixelmill.conversion.survey import Survey

HOW: dict[str, Any] = {"plan": False}  # metadata of fields that do not change what is written


class DatasetJob(Job):
    """A job from a dataset to a container. Subclasses have the fields `source` and `to`."""

    source: str | tuple[str, ...]
    to: str

    @property
    @abstractmethod
    def dataset(self) -> Dataset:
        """The dataset that is read."""

    @property
    @abstractmethod
    def survey(self) -> Survey | None:
        """The names of all files, for containers with a file for each sample."""

    @property
    def inputs(self) -> Iterable[InputFile]:
        """All files of the dataset; one that is missing counts as empty and is met again when it is read."""
        base = self.source if isinstance(self.source, str) else ""
        for path in self.dataset.files:
            try:
                found = storage.stat(path)
            except OSError:
                found = storage.FileStat(0, 0)
            yield InputFile(path.removeprefix(base).lstrip("/"), found.size, found.modified)

    @property
    def closing_files(self) -> tuple[str, ...]:
        """The list of classes of a folder."""
        if self.to != "folder" or not self.survey or not self.survey.classes:
            return ()
        from pixelmill.formats.folder.names import CLASSES

        return (CLASSES,)

    def close(self, files: ShardFiles, shards: Iterable[Any]) -> None:
        """Write the list of classes."""
        del shards
        for name in self.closing_files:
            lines = "".join(f"{text}\n" for text in self.survey.classes) if self.survey else ""
            files.write(name, lines.encode("utf-8", "surrogateescape"))

    def reject_faults(self, files: ShardFiles) -> None:
        """Tell about the pieces of the container that are no samples; the first shard does."""
        for fault in self.dataset.faults:
            event = fault.event(fault.record)
            message = f"{event.message} (record {fault.record}, {fault.length} bytes are lost)"
            files.reject(replace(event, message=message), self.dataset.lost_bytes(fault))

    def reject(self, files: ShardFiles, number: int, error: DataError) -> None:
        """Leave out a sample; where bytes are kept aside, they are those of its record or of its file."""
        first = error.events[0] if error.events else None
        kind, message = (first.kind, first.message) if first is not None else ("corrupt", str(error))
        path, offset = self.dataset.locate(number)
        extension = split_name(path)[1] if offset is None else "bin"
        files.reject(self.dataset.event(number, kind, message), self.dataset.raw(number), extension=extension)

    def writer_options(self, keys: str) -> dict[str, Any]:
        """Give the options of the writer of a shard; `keys` are those of TFRecords."""
        if self.to == "folder" and self.survey is not None:
            return {"classes": self.survey.classes, "masks": self.survey.masks}
        return {"keys": keys} if self.to == "tfrecord" else {}
