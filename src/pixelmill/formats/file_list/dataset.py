"""Image files that a list names.

Annotations of a text list are in a `.jsonl` file of the same name beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import Row, apply_row, read_rows
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.file_index import whole_files
from pixelmill.formats.file_list.lines import Entry, read_list
from pixelmill.formats.index import Index
from pixelmill.formats.sample import Sample, split_name
from pixelmill.storage.announced_reads import whole_file
from pixelmill.storage.file_names import is_plain, resolve_below
from pixelmill.storage.ranges import Range


class ListDataset(Dataset):
    """The files that a list names, in its order.

    Args:
        source: The dataset as the user named it.
        lists: The lists to read; `source` if None.
        root: The folder that paths are relative to; the folder of each list if None.
        allow_outside: Whether paths may lead out of the root.
    """

    format: ClassVar[str] = "list"

    def __init__(
        self,
        source: str,
        *,
        lists: Sequence[str] | None = None,
        root: str | None = None,
        allow_outside: bool = False,
    ) -> None:
        self.source = source
        self._lists = [source] if lists is None else list(lists)
        self._allow_outside = allow_outside
        self._entries: list[Entry] = []
        self._roots: list[str] = []
        self._unusable: dict[int, str] = {}  # lines that name no sample, and why
        paths: list[str] = []
        for path in self._lists:
            base = root if root is not None else path.rpartition("/")[0] or "."
            entries = self._annotated(path)
            self._entries += entries
            self._roots += [base] * len(entries)
            for entry in entries:
                paths.append(self._path(entry, root=base, list_path=path, number=len(paths)))
        if not paths:
            raise DataError(f"file list: {source} lists no file")
        if len(self._unusable) == len(paths):
            raise DataError(f"file list: {next(iter(self._unusable.values()))}")
        self.index = Index(paths)

    def sample(self, number: int) -> Sample:
        self._check_line(number)
        entry, root = self._entries[number], self._roots[number]
        try:
            path = self._resolve(entry.path, root, entry.where)
            image = self._ranges.read_file(path)
            mask = self._ranges.read_file(self._resolve(entry.mask, root, entry.where)) if entry.mask else None
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}, named by {entry.where}") from None
        if not image:
            raise self.error(number, "not_an_image", "the file is empty")
        return self._described(number, image, mask)

    def _parts(self, number: int) -> Iterator[Range]:
        if number not in self._unusable:
            yield whole_file(self.index.paths[number])
            mask = self._entries[number].mask
            if mask:
                yield whole_file(storage.join(self._roots[number], mask))

    def outline(self, number: int) -> Sample:
        self._check_line(number)
        return self._described(number, b"", None)

    def has_mask(self, number: int) -> bool:
        return self._entries[number].mask is not None

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        """Return whole files; a path that leads out of the root is lost, also if a link leads it there."""
        if what == "mask" and any("mask" in entry.row for entry in self._entries):
            return None  # masks that are annotations
        paths: list[str | None] = []
        lost: dict[int, tuple[str, str]] = {}
        for number, (entry, root) in enumerate(zip(self._entries, self._roots, strict=True)):
            name = entry.path if what == "image" else entry.mask
            if number in self._unusable:
                paths.append(None)
                lost[number] = ("corrupt", self._unusable[number])
                continue
            try:
                paths.append(self._resolve(name, root, entry.where) if name else None)
            except DataError as error:
                paths.append(None)
                lost[number] = ("io", str(error))
        found = Index([path or "" for path in paths]) if what == "image" else whole_files(paths)
        return replace(found, lost={**found.lost, **lost})

    def raw(self, number: int) -> bytes | None:
        """Return the file of a sample; None for a line that names none."""
        return None if number in self._unusable else super().raw(number)

    def size(self, number: int) -> int:
        self._check_line(number)
        try:
            path = self.index.paths[number]
            found = self._remote_stats[number] if storage.is_remote(path) else storage.stat(path)
            if isinstance(found, OSError):
                raise found
            return found.size
        except OSError as error:
            where = self._entries[number].where
            raise self.error(number, "io", f"{error.strerror or error}, named by {where}") from None

    @cached_property
    def _remote_stats(self) -> list[storage.FileStat | OSError]:
        """What listings say of the images, so that none of them is asked for its size."""
        return list(storage.stats(self.index.paths))

    @property
    def layout(self) -> str:
        return "CSV table" if self._lists[0].lower().endswith(".csv") else "paths and labels"

    @property
    def files(self) -> tuple[str, ...]:
        masks = [storage.join(self._roots[at], entry.mask) for at, entry in enumerate(self._entries) if entry.mask]
        return (*self._lists, *self.index.paths, *masks)

    def _described(self, number: int, image: bytes, mask: bytes | None) -> Sample:
        entry = self._entries[number]
        key, extension = split_name(entry.path)
        implied = Sample(key, image, extension, entry.labels, mask=mask)
        return apply_row(entry.row, implied=implied, where=entry.where) if entry.row else implied

    def _annotated(self, path: str) -> list[Entry]:
        entries = read_list(path)
        beside = f"{split_name(path)[0]}.jsonl"
        folder, _, name = beside.rpartition("/")
        if path.lower().endswith(".csv") or name not in storage.list_folder(folder or ".")[1]:
            return entries
        found, faults = read_rows(beside)
        self.faults += tuple(faults)
        rows = {str(row.get("path")): (where, row) for where, row in found}
        return [_with_row(entry, *rows[entry.path]) if entry.path in rows else entry for entry in entries]

    def _path(self, entry: Entry, *, root: str, list_path: str, number: int) -> str:
        """Return the path of an image; that of the list for a line that cannot be used."""
        fault = entry.fault
        if fault is None:
            try:
                return self._resolve(entry.path, root, entry.where, quick=True)
            except DataError as error:
                fault = str(error).removeprefix("file list: ")
        self._unusable[number] = fault
        return list_path

    def _check_line(self, number: int) -> None:
        if number in self._unusable:
            raise self.error(number, "corrupt", self._unusable[number])

    def _resolve(self, name: str, root: str, where: str, *, quick: bool = False) -> str:
        """Return the path of a file. The quick way does not follow links, which `sample` does before it reads."""
        if quick and is_plain(name):
            return storage.join(root, name)
        return resolve_below(name, root=root, allow_outside=self._allow_outside, where=f"file list: {where}")


def _with_row(entry: Entry, where: str, row: Row) -> Entry:
    mask = row.pop("mask_file", None)
    if mask is not None and not isinstance(mask, str):
        fault = f"{where}: mask_file is not a name: {mask!r:.60}"
        return replace(entry, fault=entry.fault or fault)
    return Entry(entry.path, entry.labels, where, mask, row, entry.fault)
