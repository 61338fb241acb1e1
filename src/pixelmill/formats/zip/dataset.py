"""Zip archives of class folders as a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import apply_row
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.folder.names import implied_sample
from pixelmill.formats.index import Index
from pixelmill.formats.record_files import check_sources
from pixelmill.formats.remote_records import scan_archives
from pixelmill.formats.sample import Sample
from pixelmill.formats.zip.archive import Archive
from pixelmill.formats.zip.frames import STORED
from pixelmill.formats.zip.listed import ListedMember, listed
from pixelmill.formats.zip.members import Member, unpacked
from pixelmill.formats.zip.scan import cached_scan
from pixelmill.storage.ranges import Range


class ZipDataset(Dataset):
    """The images of one or several archives, in archive order.

    Class folders are numbered as those of a folder, over all archives. Without its central directory an archive may
    lack classes; then no label follows from a folder, because the numbers could be wrong.

    Args:
        source: The dataset as the user named it.
        files: The archives.
    """

    format = "zip"
    values_apart = True

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="zip")
        self._open = storage.OpenFiles()
        scans, _ = scan_archives(self._names, listed=listed, scan=cached_scan)
        self._paths = [found.path for found in scans]
        for found in scans:
            wrong = [fault for fault in found.faults if fault.kind == "wrong_format" and not found.members]
            if wrong:
                raise DataError(str(wrong[0]), (wrong[0].event(0),))
        self.faults = tuple(fault for found in scans for fault in found.faults)
        self._archives = [Archive(found, partial(self._content, found.path)) for found in scans]
        self._items = [item for number, archive in enumerate(self._archives) for item in archive.items(number)]
        folders = {folder for archive in self._archives for folder in archive.folders}
        self._classes = tuple(sorted(folders, key=os.fsencode))
        numbered = self._classes if all(archive.complete for archive in self._archives) else ()
        self._labels = [archive.labels(numbered) for archive in self._archives]
        self.index = Index(
            self._paths,
            np.array([item.archive for item in self._items], np.int64),
            np.array([item.image.header for item in self._items], np.int64),
            np.array([item.image.end - item.image.header for item in self._items], np.int64),
            names=self._names,
        )

    def sample(self, number: int) -> Sample:
        item = self._items[number]
        path = self._paths[item.archive]
        try:
            image = self._content(path, item.image)
            mask = None if item.mask is None else self._content(path, item.mask)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        except DataError as error:
            raise self.error(number, error.events[0].kind, error.events[0].message) from None
        return self._described(number, image, mask)

    def _parts(self, number: int) -> Iterator[Range]:
        item = self._items[number]
        for member in (item.image, item.mask):
            if member is not None:
                yield Range(self._paths[item.archive], member.header, member.end - member.header)

    def outline(self, number: int) -> Sample:
        return self._described(number, b"", None)

    def has_mask(self, number: int) -> bool:
        return self._items[number].mask is not None

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        """Return stored members; None if any is packed or not looked at yet, or if masks are annotations."""
        members = [item.image if what == "image" else item.mask for item in self._items]
        if any(member and (member.method != STORED or isinstance(member, ListedMember)) for member in members):
            return None
        if what == "mask" and any("mask" in row for archive in self._archives for _, row in archive.rows.values()):
            return None
        places = [(0, 0) if member is None else (member.offset, member.size) for member in members]
        offsets, lengths = np.array(places, np.int64).reshape(-1, 2).T
        return replace(self.index, offsets=offsets.copy(), lengths=lengths.copy(), names=())

    def size(self, number: int) -> int:
        mask = self._items[number].mask
        return int(self.index.lengths[number]) + (0 if mask is None else mask.end - mask.header)

    @property
    def classes(self) -> tuple[str, ...]:
        listed = self._archives[0].listed
        return listed if len(self._archives) == 1 and listed else super().classes or self._classes

    @property
    def layout(self) -> str:
        text = "class folders" if self._classes else "flat"
        return text + (", images and masks" if any(archive.has_masks for archive in self._archives) else "")

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _content(self, path: str, member: Member) -> bytes:
        if isinstance(member, ListedMember):
            return member.content(self._ranges.view(path, member.header, member.end - member.header))
        return unpacked(member, partial(self._open.read, path))

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        item = self._items[number]
        implied = implied_sample(item.name, self._labels[item.archive], image=image, mask=mask)
        where, row = self._archives[item.archive].rows.get(item.name, ("", None))
        return implied if row is None else apply_row(row, implied=implied, where=where)
