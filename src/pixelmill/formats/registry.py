"""All formats by name: recognising and opening a dataset, naming and opening the files of a shard."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import recognise, storage
from pixelmill.formats.dataset import Dataset, Output, ShardWriter

FORMATS = ("folder", "list", "tfrecord", "recordio", "npy", "webdataset")
FILE_FORMATS = ("folder", "list", "npy")  # one file for each sample

# The module below `adapters`, and what the names of its dataset and its writer begin with.
_ADAPTERS = {
    "folder": ("folder", "Folder"),
    "list": ("file_list", "List"),
    "tfrecord": ("tfrecord", "TFRecord"),
    "recordio": ("recordio", "RecordIO"),
    "npy": ("npy", "Npy"),
    "webdataset": ("webdataset", "WebDataset"),
}
_SHARD_FILES: dict[str, dict[str, str]] = {
    "folder": {"annotations": "annotations{}.jsonl"},
    "list": {"list": "list{}.txt", "annotations": "list{}.jsonl"},
    "tfrecord": {"records": "data{}.tfrecord", "index": "data{}.idx"},
    "recordio": {
        "records": "data{}.rec",
        "index": "data{}.idx",
        "list": "data{}.lst",
        "annotations": "data{}.jsonl",
    },
    "npy": {"list": "samples{}.csv"},
    "webdataset": {"records": "data{}.tar", "index": "data{}.idx"},
}
_MANIFEST = "manifest.json"
_MOST_PARTS = 16
_PART = re.compile(r"-\d+-of-\d+")


def open_dataset(
    source: str | os.PathLike[str] | Sequence[str],
    format: str | None = None,
    *,
    root: str | None = None,
    allow_outside: bool = False,
) -> Dataset:
    """Open a dataset and recognise its format by its content.

    Args:
        source: A folder, a file, a pattern such as `train-*.tfrecord`, an address for fsspec, or several files.
        format: One of `FORMATS`; DataError if the content is something else.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.

    Example:
        >>> dataset = open_dataset("photos")  # doctest: +SKIP
        >>> len(dataset), dataset.sample(0).labels  # doctest: +SKIP
        (300, (0,))
    """
    if format is not None and format not in FORMATS:
        raise ArgumentError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    shown, files = _files_of(source)
    if len(files) == 1 and storage.is_folder(files[0]):
        found, files = _in_folder(files[0], format)
    else:
        found = _of_files(files)
    if format is not None and found != format:
        raise DataError(f"{shown} is {_ARTICLE[found]}, not {_ARTICLE[format]}; leave the format out to read it")
    kind = _adapter(found, "Dataset")
    dataset: Dataset
    if found == "folder":
        dataset = kind(files[0])
    elif found in ("list", "npy"):
        dataset = kind(shown, lists=files, root=root, allow_outside=allow_outside)
    else:
        dataset = kind(shown, files=files)
    return dataset


def sniff(source: str | os.PathLike[str]) -> str:
    """Recognise the format of a dataset by its content."""
    _, files = _files_of(source)
    if len(files) == 1 and storage.is_folder(files[0]):
        return _in_folder(files[0], None)[0]
    return _of_files(files)


def shard_names(format: str, *, number: int = 0, count: int = 1) -> dict[str, str]:
    """Name the files of a shard that are not named by samples, by what they are for."""
    part = "" if count == 1 else f"-{number:05d}-of-{count:05d}"
    return {what: pattern.format(part) for what, pattern in _SHARD_FILES[format].items()}


def open_shard(
    format: str,
    open_file: Callable[[str], Output],
    *,
    number: int = 0,
    count: int = 1,
    names: Mapping[str, str] | None = None,
    **options: Any,
) -> ShardWriter:
    """Open a shard for writing.

    Args:
        format: One of `FORMATS`.
        open_file: Opens a file of the shard by its name for binary writing.
        number: The number of the shard.
        count: How many shards there are.
        names: The files of the shard by what they are for; those of `shard_names` when left out.
        **options: `classes` and `masks` for folders, `keys` for TFRecords.
    """
    if format not in FORMATS:
        raise ArgumentError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    kind = _adapter(format, "Writer")
    writer: ShardWriter = kind(open_file, names or shard_names(format, number=number, count=count), **options)
    return writer


def _adapter(format: str, what: str) -> Any:
    """Import the dataset or the writer of a format: a job uses one or two of them."""
    module, name = _ADAPTERS[format]
    return getattr(importlib.import_module(f"pixelmill.formats.adapters.{module}"), name + what)


_ARTICLE: Mapping[str, str] = {
    "folder": "a folder of images",
    "list": "a file list",
    "tfrecord": "TFRecord",
    "recordio": "RecordIO",
    "npy": "npy files with a CSV table",
    "webdataset": "a WebDataset tar",
}


def _files_of(source: str | os.PathLike[str] | Sequence[str]) -> tuple[str, list[str]]:
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        files = storage.matching(text)
        if not files:
            raise ArgumentError(f"{text} matches no file")
        return text, files
    files = [os.fspath(path) for path in source]
    if not files:
        raise ArgumentError("no file was named")
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else files[0], files


def _of_files(files: Sequence[str]) -> str:
    kinds = {path: recognise.file_format(path) for path in files}
    first = kinds[files[0]]
    for path, kind in kinds.items():
        if kind != first:
            raise DataError(f"{files[0]} is {_ARTICLE[first]} and {path} is {_ARTICLE[kind]}; open them one by one")
    return _list_kind(files[0]) if first == "list" else first


def _list_kind(path: str) -> str:
    from pixelmill.formats.adapters.file_list import read_list

    entries = read_list(path)
    return "npy" if entries and entries[0].path.lower().endswith(".npy") else "list"


def _in_folder(folder: str, format: str | None) -> tuple[str, list[str]]:
    """Find what makes a folder a dataset: record files, a list, or images."""
    folders, names = storage.list_folder(folder)
    if format == "folder":
        return "folder", [folder]
    lists = [name for name in names if recognise.is_list_name(name)]
    own = [name for name in lists if recognise.is_own_list_name(name)]
    records = {} if own and format is None else _records(folder, [name for name in names if name not in lists])
    if format in records:
        return format, records[format]
    if len(records) > 1 and format is None:
        raise DataError(f"{folder} holds {' and '.join(_ARTICLE[kind] for kind in sorted(records))}; name the files")
    if records:
        return next(iter(records.items()))
    tables = own or [name for name in lists if recognise.is_list(storage.join(folder, name))]
    if not tables:
        _check_single(folder, folders)
        return "folder", [folder]
    if len({_PART.sub("", name) for name in tables}) > 1:
        raise DataError(f"{folder} holds several lists: {', '.join(tables[:4])}; name the one to read")
    paths = [storage.join(folder, name) for name in tables]
    return _list_kind(paths[0]), paths


def _check_single(folder: str, folders: Sequence[str]) -> None:
    """Refuse a folder whose folders are datasets of their own, such as the parts of a split."""
    if len(folders) > _MOST_PARTS:
        return
    parts = [name for name in folders if _MANIFEST in storage.list_folder(storage.join(folder, name))[1]]
    if parts:
        raise DataError(f"{folder} holds several datasets: {', '.join(parts)}; name one of them")


def _records(folder: str, names: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        path = storage.join(folder, name)
        kind = None if recognise.is_beside(name) else recognise.record_format(path)
        if kind is not None:
            found.setdefault(kind, []).append(path)
    return found
