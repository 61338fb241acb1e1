"""Recognize the container of a dataset by its content; file names matter only for text and for damaged files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, unreadable
from pixelmill.formats.containers import all_formats, get_format
from pixelmill.formats.format import Choice, Format
from pixelmill.formats.sample import IMAGE_EXTENSIONS, image_type, split_name
from pixelmill.formats.splits import split_folders

_START = 1024
_MANIFEST = "manifest.json"
_MOST_PARTS = 16
# Files that accompany data: indexes, names, notes. Record files with such a name are found when they are named.
_COMPANIONS = ("idx", "lst", "jsonl", "json", "md", "txt", "csv", "log", "py", "yaml", "yml", "html")
_TEXT_ENDINGS = ("txt", "csv", "tsv", "jsonl", "ndjson")
_LIST_NAMES = re.compile(r"(list|files|filelist|file_list)(-\d+-of-\d+)?\.txt|.*\.(csv|tsv)", re.IGNORECASE)
_METADATA = ("metadata.csv", "metadata.jsonl")
_TABLE_START = 1 << 20
_PART = re.compile(r"-\d+-of-\d+")
_TEXT = re.compile(rb"[^\x00-\x08\x0e-\x1f]*\Z")


def paths_of(source: str | os.PathLike[str] | Sequence[str]) -> tuple[str, list[str]]:
    """Return what messages call a dataset, and the paths that its name or pattern stands for."""
    if isinstance(source, (str, os.PathLike)):
        text = storage.plain(os.fspath(source))
        files = storage.matching(text)
        if not files:
            hint = "; web servers cannot list files, so name them with a range such as {000..146}"
            raise ArgumentError(f"{text} matches no file{hint if storage.is_web(text) else ''}")
        return text, files
    files = [storage.plain(os.fspath(path)) for path in source]
    if not files:
        raise ArgumentError("no file was named")
    return f"{files[0]} and {len(files) - 1} more" if len(files) > 1 else files[0], files


def find(paths: Sequence[str], wanted: Format | None) -> tuple[Format, list[str]]:
    """Recognize a dataset and return its container and the files to open.

    Args:
        paths: A folder, or files.
        wanted: The container to prefer where a folder holds several; the result may still be another one.
    """
    if len(paths) == 1 and storage.is_folder(paths[0]):
        return _in_folder(paths[0], wanted)
    return _of_files(paths, wanted), list(paths)


def record_format(path: str, likely: Format | None = None) -> Format | None:
    """Return the container of a record file, or None for any other file; `likely` is compared first."""
    try:
        return _sniffed(storage.read_start(path, _START), likely)
    except OSError:
        return None


def file_format(path: str) -> Format:
    """Return the container of a single file: a record file, or a list."""
    try:
        start = storage.read_start(path, _START)
    except OSError as error:
        raise unreadable("dataset", path, error) from None
    found = _sniffed(start)
    if found is not None:
        return found
    from pixelmill.formats.foreign import kind_of  # on use: few files are of other libraries

    foreign = kind_of(path)
    if foreign is not None:
        raise DataError(f"{path} is {foreign}")
    kind = image_type(start)
    if kind is not None and _TEXT.match(start) is None:
        raise DataError(f"{path} is a single {kind} image; name its folder, or a list of files")
    for format in all_formats():
        if start and format.is_file is not None and format.is_file(path):
            return format
    if start and (_TEXT.match(start) or split_name(path)[1].lower() in _TEXT_ENDINGS):
        return _list_format(path)
    if start:  # damaged at its start: the scan names the place
        parts = [part.partition("-")[0] for part in path.rpartition("/")[2].lower().split(".")[1:]]
        for format in all_formats():
            if not set(parts).isdisjoint(format.endings):
                return format
    what = f"begins with {start[:8]!r}" if start else "is empty"
    known = ", ".join(format.title for format in all_formats() if format.sniff is not None)
    raise DataError(f"{path} {what}: it is neither {known} nor a list of files")


def _sniffed(start: bytes, likely: Format | None = None) -> Format | None:
    for format in chain((likely,) if likely else (), all_formats()):
        if format.sniff is not None and format.sniff(start):
            return format
    return None


def _of_files(files: Sequence[str], wanted: Format | None) -> Format:
    distinct = list(dict.fromkeys(files))
    # Other containers need not be imported: they take more memory than the index of many a dataset.
    if wanted is not None and wanted.sniff is not None and all(_begins_as(path, wanted.sniff) for path in distinct):
        return wanted
    found = storage.together(file_format, distinct, wait=any(map(storage.is_remote, distinct)))
    kinds = dict(zip(distinct, found, strict=True))
    first = kinds[files[0]]
    for path, kind in kinds.items():
        if kind.name != first.name:
            raise DataError(f"{files[0]} is {first.title} and {path} is {kind.title}; open them one by one")
    return first


def _begins_as(path: str, sniff: Callable[[bytes], bool]) -> bool:
    try:
        return sniff(storage.read_start(path, _START))
    except OSError:
        return False


def _list_format(path: str) -> Format:
    first = _first_path(path)
    for format in all_formats():
        if format.lists is not None and format.lists(path, first):
            return format
    return get_format("list")


def _first_path(path: str) -> str:
    """Return the first path in a list; empty if there is none, or if its column is not known yet."""
    # Modules of a container other than the one that is opened cost memory for as long as training runs.
    from pixelmill.formats.file_list.lines import read_list
    from pixelmill.formats.file_list.table import is_table
    from pixelmill.formats.file_list.table_entries import read_table

    if not is_table(path):
        return next((entry.path for entry in read_list(path).entries), "")
    text = storage.read_start(path, _TABLE_START).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = text[: text.rfind("\n") + 1] if len(text) >= _TABLE_START // 4 else text
    try:
        return next((entry.path for entry in read_table(lines, path, choice=Choice()).entries), "")
    except (DataError, ArgumentError):
        return ""


def _in_folder(folder: str, wanted: Format | None) -> tuple[Format, list[str]]:
    """Find what makes a folder a dataset: record files, a list, or images."""
    folders, names = storage.list_folder(folder)
    if wanted is not None and wanted.name == "folder":
        return wanted, [folder]
    lists = [name for name in names if _LIST_NAMES.fullmatch(name)]
    own = [name for name in lists if _is_own_list(name)]
    rest = [name for name in names if name not in lists]
    records = {} if own and wanted is None else _records(folder, folders, rest, wanted)
    if wanted is not None and wanted.name in records:
        return wanted, records[wanted.name]
    if len(records) > 1 and wanted is None:
        titles = " and ".join(get_format(kind).title for kind in sorted(records))
        raise DataError(f"{folder} holds {titles}; name the files")
    if records:
        name, files = next(iter(records.items()))
        return get_format(name), files
    annotated = None if own else _annotated(folder, folders, names, wanted)
    if annotated is not None:
        return annotated
    metadata = _metadata(folder, folders, names) if not own else []
    if metadata:
        return _list_format(metadata[0]), metadata
    tables = own or [name for name in lists if _is_list(storage.join(folder, name))]
    if not tables:
        _check_foreign(folder, names)
        _check_single(folder, folders)
        return get_format("folder"), [folder]
    stems = [split_name(name)[0] for name in tables]
    is_divided = bool(split_folders(stems)) and len({split_name(name)[1] for name in tables}) == 1
    if len({_PART.sub("", name) for name in tables}) > 1 and not is_divided:
        raise DataError(f"{folder} holds several lists: {', '.join(tables[:4])}; name the one to read")
    paths = [storage.join(folder, name) for name in tables]
    return _list_format(paths[0]), paths


def _annotated(
    folder: str, folders: Sequence[str], names: Sequence[str], wanted: Format | None
) -> tuple[Format, list[str]] | None:
    """Return the format of a folder of images with annotations of a known kind, and the files to open."""
    formats = [format for format in all_formats() if format.in_folder is not None]
    for format in sorted(formats, key=lambda format: format is not wanted):
        files = format.in_folder(folder, folders, names) if format.in_folder is not None else ()
        if files:
            return format, list(files)
    return None


def _is_own_list(name: str) -> bool:
    """Whether a list has the name that our writers use."""
    return any(format.storage == "list" and format.is_shard_name(name, "list") for format in all_formats())


def _metadata(folder: str, folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the metadata files of a Hugging Face image folder: in itself, or in the folders of its splits."""
    found = [storage.join(folder, name) for name in names if name in _METADATA]
    for part in split_folders(folders) if not found else ():
        inner = storage.join(folder, part)
        found += [storage.join(inner, name) for name in storage.list_folder(inner)[1] if name in _METADATA]
    return found


def _is_list(path: str) -> bool:
    """Whether a file that is named like a list is one: a table needs a column of paths."""
    from pixelmill.formats.file_list.table import is_table

    return not is_table(path) or bool(_first_path(path))


def _check_foreign(folder: str, names: Sequence[str]) -> None:
    from pixelmill.formats.foreign import folder_kind

    foreign = folder_kind(folder, names)
    if foreign is not None:
        raise DataError(f"{folder} is {foreign}")


def _check_single(folder: str, folders: Sequence[str]) -> None:
    """Refuse a folder whose folders are datasets of their own, such as the parts of a split."""
    if len(folders) > _MOST_PARTS:
        return
    paths = [storage.join(folder, name) for name in folders]
    inside = storage.together(storage.list_folder, paths, wait=storage.is_remote(folder))
    parts = [name for name, (_, files) in zip(folders, inside, strict=True) if _MANIFEST in files]
    if parts:
        raise DataError(f"{folder} holds several datasets: {', '.join(parts)}; name one of them")


def _records(folder: str, folders: Sequence[str], names: Sequence[str], wanted: Format | None) -> dict[str, list[str]]:
    """Return the record files of a folder by container."""
    found: dict[str, list[str]] = {}
    images = bool(folders) or any(split_name(name)[1].lower() in IMAGE_EXTENSIONS for name in names)
    names = [name for name in names if not is_companion(name)]
    paths = [storage.join(folder, name) for name in names]
    kinds = storage.together(partial(record_format, likely=wanted), paths, wait=storage.is_remote(folder))
    for name, path, kind in zip(names, paths, kinds, strict=True):
        if kind is None or (kind.yields_to_images and images and not kind.is_shard_name(name, "records")):
            continue
        found.setdefault(kind.name, []).append(path)
    return found


def is_companion(name: str) -> bool:
    """Whether a file accompanies data, judged by its name: an index, a table, a note or an image."""
    ending = split_name(name)[1].lower()
    return ending in _COMPANIONS or ending in IMAGE_EXTENSIONS
