"""Opening a dataset of any container, and writing the shards of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

from pixelmill.errors import ArgumentError, DataError, suggestion
from pixelmill.formats import recognize
from pixelmill.formats.containers import FORMATS, get_format
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.format import Choice, Format, Source
from pixelmill.storage import keeping_listings

__all__ = ["FILE_FORMATS", "FORMATS", "get_format", "open_dataset", "open_shard", "shard_names", "sniff"]


class _FileFormats(Container[str]):
    """The containers that keep each sample in a file of its own, so that every sample needs a file name."""

    def __contains__(self, name: object) -> bool:
        return name in FORMATS and get_format(str(name)).storage != "records"


FILE_FORMATS = _FileFormats()


def open_dataset(
    source: str | os.PathLike[str] | Sequence[str],
    format: str | None = None,
    *,
    split: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    path_column: str | None = None,
    label_column: str | None = None,
) -> Dataset:
    """Open a dataset and recognize its container by its content.

    Args:
        source: A folder, a file, a pattern such as `train-*.tfrecord` or `{000..146}.tar`, an address for fsspec, or
            several files.
        format: One of `FORMATS`; raises DataError if the content is something else.
        split: The subset to open, such as `train`; see `selection.open_split`.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        path_column: For tables: the column of paths; found by its name if None.
        label_column: For tables: the column of labels; found by its name if None.

    Example:
        >>> dataset = open_dataset("photos")  # doctest: +SKIP
        >>> len(dataset), dataset.sample(0).labels  # doctest: +SKIP
        (300, (0,))
    """
    wanted = None if format is None else _known(format)
    if split is not None:
        whole = partial(
            open_dataset,
            format=format,
            root=root,
            allow_outside=allow_outside,
            path_column=path_column,
            label_column=label_column,
        )
        from pixelmill.formats.selection import open_split  # on use: most programs read all of a dataset

        return open_split(whole, source, split)
    with keeping_listings():
        shown, paths = recognize.paths_of(source)
        found, files = recognize.find(paths, wanted)
        if wanted is not None and found.name != wanted.name:
            raise DataError(f"{shown} is {found.title}, not {wanted.title}; omit the format to read it")
        return found.open(Source(shown, files, root, allow_outside, Choice(path_column, label_column)))


def sniff(source: str | os.PathLike[str]) -> str:
    """Recognize the container of a dataset by its content and return its name."""
    _, paths = recognize.paths_of(source)
    return recognize.find(paths, None)[0].name


def shard_names(format: str, *, number: int = 0, count: int = 1) -> dict[str, str]:
    """Return the files of a shard that are not named after samples, by purpose."""
    return get_format(format).shard_names(number=number, count=count)


def open_shard(
    format: str,
    open_file: Callable[[str], Output],
    *,
    number: int = 0,
    count: int = 1,
    names: Mapping[str, str] | None = None,
    **options: object,
) -> ShardWriter:
    """Open a shard for writing.

    Args:
        format: The name of a container that can be written.
        open_file: Opens a file of the shard by its name for binary writing.
        number: The number of the shard.
        count: How many shards there are.
        names: The files of the shard by purpose; those of `shard_names` if None.
        **options: `classes` and `masks` for folders, `keys` for TFRecords.
    """
    writer = _known(format).writer
    if writer is None:
        raise ArgumentError(f"format: {format} can be read but not written")
    return writer(open_file, names or shard_names(format, number=number, count=count), **options)


def _known(name: str) -> Format:
    if name not in FORMATS:
        hint = suggestion(name, FORMATS)
        raise ArgumentError(f"format must be one of {', '.join(FORMATS)}, got {name!r}{hint}")
    return get_format(name)
