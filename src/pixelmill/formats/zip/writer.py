"""The writer of zip datasets: a folder of images, written into an archive."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.folder.names import wished_name
from pixelmill.formats.folder.writer import FolderWriter
from pixelmill.formats.sample import Sample, file_ending
from pixelmill.formats.zip.archive import is_hidden
from pixelmill.formats.zip.archive_writer import ArchiveWriter
from pixelmill.storage.file_names import UniqueNames, is_plain

ANNOTATIONS = "annotations.jsonl"


class ZipWriter(ShardWriter):
    """Writes an archive that unpacks to a folder dataset.

    A shard does not know the classes of the others, so labels are annotations. Whether images and masks are in
    `images/` and `masks/` depends on the first sample: masks of later samples are annotations if it has none.

    Args:
        open_file: Opens a file of the shard.
        names: The file `records`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        self._archive = ArchiveWriter(self._stack.enter_context(open_file(names["records"])))
        self._unique = UniqueNames()
        self._folder: FolderWriter | None = None
        self._masks = False

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        if self._folder is None:
            self._masks = sample.mask is not None
            self._folder = self._folder_writer()
        ending = "" if self._masks else file_ending(sample)
        preferred = name or wished_name(sample)
        unique = self._unique.take(preferred, number=self.samples, ending=ending, is_allowed=_is_allowed)
        self._folder.add(sample, name=unique)
        self.samples += 1

    def close(self) -> None:
        (self._folder or self._folder_writer()).close()
        self._archive.close()
        self._stack.close()

    def _folder_writer(self) -> FolderWriter:
        return FolderWriter(self._open_member, {"annotations": ANNOTATIONS}, masks=self._masks)

    def _open_member(self, name: str) -> Output:
        return _MemberStream(self._archive, name)


class _MemberStream(io.BytesIO):
    """A member of an archive: it is written when the stream is closed, since its size comes first."""

    def __init__(self, archive: ArchiveWriter, name: str) -> None:
        super().__init__()
        self._archive = archive
        self._name = name

    def close(self) -> None:
        if not self.closed:
            self._archive.write(self._name, self.getvalue())
        super().close()


def _is_allowed(name: str) -> bool:
    """Whether a name can be that of a member: plain, UTF-8, and not one that readers skip as hidden."""
    return is_plain(name) and name.isprintable() and not is_hidden(name)
