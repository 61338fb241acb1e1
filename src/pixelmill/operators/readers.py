"""Readers: where samples come from, and in which order."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.formats import files
from pixelmill.formats.index import Index
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Ints, Strings, Tensor, operator
from pixelmill.steps.sources import Column, Read, Reader, Records, TableColumn

# Sizes of buffers and ways to read that the byte-range index has no use for.
LOADER_HINTS = (
    "initial_fill",
    "prefetch_queue_depth",
    "read_ahead",
    "lazy_init",
    "skip_cached_images",
    "dont_use_mmap",
    "tensor_init_bytes",
    "use_o_direct",
)


def make_reader(
    index: Index,
    *,
    random_shuffle: bool,
    shuffle_after_epoch: bool,
    num_shards: int,
    shard_id: int,
    stick_to_shard: bool,
    pad_last_batch: bool,
) -> Reader:
    """Check the arguments that all readers share."""
    if shuffle_after_epoch and (random_shuffle or stick_to_shard):
        other = "random_shuffle" if random_shuffle else "stick_to_shard"
        raise ArgumentError(f"shuffle_after_epoch cannot be combined with {other}")
    return Reader(
        index,
        shuffle=random_shuffle or shuffle_after_epoch,
        num_shards=num_shards,
        shard_id=shard_id,
        stick_to_shard=stick_to_shard or shuffle_after_epoch,
        pad_last_batch=pad_last_batch,
    )


@operator(
    "readers.file", outputs=2, ignored=(*LOADER_HINTS, "shuffle_after_epoch_seed"), aliases=("FileReader",), dali=BEFORE
)
def file(
    *,
    file_root: str | None = None,
    file_list: str | None = None,
    files: Strings | None = None,
    labels: Ints | None = None,
    file_filters: Strings | None = None,
    dir_filters: Strings | None = None,
    case_sensitive_filter: bool = False,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
) -> tuple[Tensor, Tensor]:
    """Read whole files and their labels.

    Gives the bytes of each file (uint8, one axis) and its label (int32, shape (1,)).

    Args:
        file_root: A folder of class folders; with `file_list` or `files`, what their paths are relative to.
        file_list: A text file with a path and a label on each line.
        files: The paths themselves.
        labels: One label for each of `files`; their numbers when left out.
        file_filters: Patterns of file names to take from `file_root`; those of images when left out.
        dir_filters: Patterns of folder names to take from `file_root`.
        case_sensitive_filter: Whether the patterns tell capital letters from small ones.
        random_shuffle: Walk in a new random order in each epoch.
        shuffle_after_epoch: The same; every instance then stays with its shard.
        num_shards: Into how many parts the dataset is divided.
        shard_id: The part to begin with.
        stick_to_shard: Stay with this part instead of moving to the next after each epoch.
        pad_last_batch: Repeat the last sample until the last batch is full, and all shards are equally long.
    """
    given = [name for name, value in {"file_list": file_list, "files": files}.items() if value is not None]
    if len(given) > 1 or not (given or file_root):
        raise ArgumentError("readers.file needs file_root, or one of file_list and files")
    if labels is not None and files is None:
        raise ArgumentError("labels: only together with files")
    if (file_filters or dir_filters) and given:
        raise ArgumentError(f"file_filters and dir_filters choose below file_root; they do nothing with {given[0]}")
    reader = make_reader(
        _open(file_root, file_list, files, labels, file_filters, dir_filters, case_sensitive_filter),
        random_shuffle=random_shuffle,
        shuffle_after_epoch=shuffle_after_epoch,
        num_shards=num_shards,
        shard_id=shard_id,
        stick_to_shard=stick_to_shard,
        pad_last_batch=pad_last_batch,
    )
    return Read(reader=reader, ranges=Records(reader)).value(), Column(
        reader=reader, table=TableColumn(reader, "label")
    ).value()


def _open(
    root: str | None,
    file_list: str | None,
    names: list[str] | None,
    labels: list[int] | None,
    file_filters: list[str] | None,
    dir_filters: list[str] | None,
    case_sensitive: bool,
) -> Index:
    if names is not None:
        return files.from_files(names, labels=labels, root=root)
    if file_list is not None:
        return files.from_list(file_list, root=root)
    return files.from_root(
        root or ".",
        filters=file_filters or files.IMAGE_FILTERS,
        folder_filters=dir_filters or ("*",),
        case_sensitive=case_sensitive,
    )
