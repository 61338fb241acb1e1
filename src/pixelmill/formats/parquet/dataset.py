"""Parquet and Arrow files with encoded images as a dataset."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import apply_row, decode_row
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.file_list.table import COLUMNS
from pixelmill.formats.index import Index
from pixelmill.formats.parquet.files import TableFile, is_image_type, names_of, open_table, pyarrow
from pixelmill.formats.parquet.remote import Piece
from pixelmill.formats.record_files import check_sources, stem
from pixelmill.formats.sample import Label, Sample, image_type, parse_label, split_name
from pixelmill.formats.splits import split_in
from pixelmill.storage.ranges import Range

OWN = "pixelmill"  # our column: a row of annotations
_IMAGES = ("image", "img", "jpg", "png", "picture", "pixel_values", "bytes")
_MASKS = ("mask", "segmentation", "label_mask", "annotation")


class _LastGroup(threading.local):
    """The group of rows that a thread has read last, with its file and its number."""

    group: tuple[tuple[int, int], Any] | None = None

    def __reduce__(self) -> tuple[type[_LastGroup], tuple[()]]:
        """Drop the rows: another process reads its own."""
        return _LastGroup, ()


class ParquetDataset(Dataset):
    """The rows of one or several files, with an image in one of their columns.

    Args:
        source: The dataset as the user named it.
        files: The files.
        image_column: The column of images; found by its name and type if None.
        label_column: The column of labels; found by its name if None.
    """

    format = "parquet"
    values_apart = True

    def __init__(
        self,
        source: str,
        *,
        files: Sequence[str],
        image_column: str | None = None,
        label_column: str | None = None,
    ) -> None:
        self.source = source
        self._names = check_sources(files, format="parquet")
        self._files = storage.together(open_table, self._names, wait=any(map(storage.is_remote, self._names)))
        first = self._files[0]
        for file in self._files[1:]:
            if list(file.columns) != list(first.columns):
                raise DataError(f"parquet: {first.path} and {file.path} have different columns; open them one by one")
        self._image, self._mask = self._image_columns(first, image_column)
        self._label = self._label_column(first, label_column)
        taken = {self._image, self._mask, self._label, OWN}
        self._others = [name for name in first.columns if name not in taken]
        self._describing = [name for name in (self._label, OWN) if name and name in first.columns]
        self._all = [name for name in (self._image, self._mask, *self._others) if name] + self._describing
        self._classes = names_of(first.features, self._label or "") or self._text_classes()
        self._numbers = {name: number for number, name in enumerate(self._classes)}
        self._groups, self.index = _index(self._files)
        self._kept, self._kept_described = _LastGroup(), _LastGroup()
        if self._others:
            self.remarks = (f"the columns {', '.join(self._others[:8])} are kept as features of samples",)

    def sample(self, number: int) -> Sample:
        row = self._row(number, self._all, self._kept)
        image, path = _content(row[self._image])
        if image is None:
            raise self.error(number, "not_an_image", f"the column {self._image!r} holds no bytes")
        return self._described(number, row, image, path)

    def description(self, number: int) -> Sample:
        return self._described(number, self._row(number, self._describing, self._kept_described), b"", None)

    def _described(self, number: int, row: Mapping[str, Any], image: bytes, path: str | None) -> Sample:
        file, place = int(self.index.files[number]), self._place(number)
        unnamed = (f"{stem(self._names[file])}-{place:08d}", image_type(image) or "bin")
        key, extension = split_name(path) if path else unnamed
        mask, _ = _content(row.get(self._mask)) if self._mask is not None else (None, None)
        labels = self._labels(number, row.get(self._label or ""))
        extra = {
            f"column/{name}": bytes_feature(_bytes(row[name])) for name in self._others if row.get(name) is not None
        }
        implied = Sample(
            key,
            image,
            extension,
            labels,
            self._class_name(labels),
            mask=mask,
            extra=Example(extra),
            split=split_in(stem(self._names[file]).partition("-")[0]),
        )
        own = row.get(OWN)
        if not isinstance(own, str) or not own:
            return implied
        where = f"row {place} of {self._names[file]}"
        return apply_row(decode_row(own, where=where), implied=implied, where=where)

    def _class_name(self, labels: Sequence[Label]) -> str | None:
        label = labels[0] if len(labels) == 1 else -1
        return self._classes[label] if isinstance(label, int) and 0 <= label < len(self._classes) else None

    def expect(self, numbers: Iterable[int]) -> None:
        self._announce_groups(numbers, self._all, self._kept)

    def expect_outlines(self, numbers: Iterable[int]) -> None:
        self._announce_groups(numbers, self._all, self._kept)

    def expect_descriptions(self, numbers: Iterable[int]) -> None:
        self._announce_groups(numbers, self._describing, self._kept_described)

    def _announce_groups(self, numbers: Iterable[int], columns: Sequence[str], kept: _LastGroup) -> None:
        """Announce the groups of rows, each once for all rows that are read from it one after another."""
        if all(file.remote is None for file in self._files):
            return
        groups = (key for key, _ in groupby(tuple(self._groups[number, :2].tolist()) for number in numbers))
        last = kept.group[0] if kept.group else None
        self._ranges.expect(
            part
            for place, (file, group) in enumerate(groups)
            for part in self._parts_of(file, group, columns)
            if place or (file, group) != last  # the group that was read last is still there
        )

    def _parts_of(self, file: int, group: int, columns: Sequence[str]) -> Sequence[Range]:
        remote = self._files[file].remote
        return remote.parts(group, columns) if remote is not None else ()

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    def raw(self, number: int) -> bytes | None:
        try:
            return _content(self._row(number, self._all, self._kept)[self._image])[0]
        except DataError:
            return None

    @property
    def classes(self) -> tuple[str, ...]:
        return self._classes or super().classes

    @property
    def layout(self) -> str:
        return f"images in the column {self._image}"

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _place(self, number: int) -> int:
        """Return the number of a row within its file."""
        file = int(self.index.files[number])
        return number - int(np.searchsorted(self.index.files, file))

    def _row(self, number: int, columns: Sequence[str], last: _LastGroup) -> dict[str, Any]:
        """Return the values of a row; its group is read once, if rows are read in order."""
        file, group, within = self._groups[number].tolist()
        kept = last.group
        if kept is None or kept[0] != (file, group):
            try:
                pieces = self._pieces(file, group, columns)
            except OSError as error:
                raise self.error(number, "io", error.strerror or str(error)) from None
            try:
                kept = ((file, group), self._table(file, group, columns, pieces))
            except (pyarrow(self.source).ArrowException, OSError) as error:
                raise self.error(number, "corrupt", str(error).partition("\n")[0]) from None
            last.group = kept
        try:
            (row,) = kept[1].slice(within, 1).to_pylist()
        except (pyarrow(self.source).ArrowException, ValueError) as error:  # text that is not UTF-8
            raise self.error(number, "corrupt", str(error).partition("\n")[0]) from None
        found: dict[str, Any] = row
        return found

    def _pieces(self, file: int, group: int, columns: Sequence[str]) -> list[Piece]:
        """Fetch what some columns of a group of rows need from a file at an address."""
        parts = self._parts_of(file, group, columns)
        return [(part.offset, self._ranges.view(part.path, part.offset, part.length)) for part in parts]

    def _table(self, file: int, group: int, columns: Sequence[str], pieces: list[Piece]) -> Any:
        """Read some columns of a group of rows."""
        opened = self._files[file]
        if opened.remote is None:
            return opened.reader(group, columns)
        return opened.remote.table(group, columns, pieces)

    def _image_columns(self, file: TableFile, wanted: str | None) -> tuple[str, str | None]:
        possible = [name for name, kind in file.columns.items() if is_image_type(pyarrow(file.path), kind)]
        if wanted is not None:
            if wanted not in possible:
                raise DataError(f"parquet: {file.path} has no column {wanted!r} of bytes; it has {_listed(possible)}")
            return wanted, None
        named = [name for name in _IMAGES if name in possible]
        if not possible:
            listed = _listed(list(file.columns))
            raise DataError(f"parquet: {file.path} has no column of encoded images; its columns are {listed}")
        image = (named or possible)[0]
        return image, next((name for name in _MASKS if name in possible and name != image), None)

    def _label_column(self, file: TableFile, wanted: str | None) -> str | None:
        if wanted is not None and wanted not in file.columns:
            raise DataError(f"parquet: {file.path} has no column {wanted!r}; it has {_listed(list(file.columns))}")
        known = (*COLUMNS["labels"], *COLUMNS["class"])
        return wanted or next((name for name in known if name in file.columns), None)

    def _text_classes(self) -> tuple[str, ...]:
        """Return the names of classes if the column of labels holds text."""
        if self._label is None:
            return ()
        kind, types = self._files[0].columns[self._label], pyarrow(self.source).types
        if not (types.is_string(kind) or types.is_large_string(kind)):
            return ()
        found: set[str] = set()
        places = [(number, group) for number, file in enumerate(self._files) for group in range(len(file.groups))]
        self._ranges.expect(part for place in places for part in self._parts_of(*place, [self._label]))
        for place in places:
            pieces = self._pieces(*place, [self._label])
            values = self._table(*place, [self._label], pieces).column(self._label)
            found.update(value for value in values.unique().to_pylist() if value)
        return tuple(sorted(found))

    def _labels(self, number: int, value: Any) -> tuple[Label, ...]:
        values = value if isinstance(value, list) else [] if value is None or value == "" else [value]
        try:
            return tuple(
                self._numbers[item] if isinstance(item, str) and self._numbers else _label(item) for item in values
            )
        except (KeyError, ValueError, TypeError):
            raise self.error(number, "corrupt", f"{str(value)[:60]!r} is not a label") from None


def _label(value: Any) -> Label:
    return parse_label(str(int(value) if isinstance(value, bool) else value))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) or "none"


def _content(value: Any) -> tuple[bytes | None, str | None]:
    """Return the bytes and the path of a cell: bytes, or a struct of both."""
    if isinstance(value, dict):
        data, path = value.get("bytes"), value.get("path")
        return data if isinstance(data, bytes) and data else None, path if isinstance(path, str) else None
    return (value if isinstance(value, bytes) and value else None), None


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


def _index(files: Sequence[TableFile]) -> tuple[Any, Index]:
    """Return file, group and row within it of each row, and the index; a row counts as its part of its group."""
    places, offsets, lengths = [], [], []
    for number, file in enumerate(files):
        for group, rows in enumerate(file.groups):
            places += [(number, group, row) for row in range(rows)]
            offsets += [file.places[group]] * rows
            lengths += [file.sizes[group] // max(rows, 1)] * rows
    found = np.array(places, np.int64).reshape(-1, 3)
    names = [file.path for file in files]
    return found, Index(names, found[:, 0].copy(), np.array(offsets, np.int64), np.array(lengths, np.int64))
