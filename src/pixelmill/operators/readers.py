"""Readers: the arguments they share, and the reader of files."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pixelmill.errors import ArgumentError
from pixelmill.formats import file_index as files
from pixelmill.formats.blocks import divide
from pixelmill.formats.class_groups import ClassGroups
from pixelmill.formats.index import Index
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Anything, Body, Ints, Lowered, Range, Strings, Tensor, operator
from pixelmill.steps.sources import Access, Column, Read, Reader, Records, TableColumn
from pixelmill.storage import using

# The fields of `Order` that readers of local files alone do not take.
LOCAL_ONLY = ("shuffle_mode", "shuffle_window", "storage_options", "cache_size", "read_ahead_bytes")

# Buffer sizes and I/O modes, which an index of byte ranges does not need.
LOADER_HINTS = (
    "initial_fill",
    "prefetch_queue_depth",
    "read_ahead",
    "lazy_init",
    "skip_cached_images",
    "dont_use_mmap",
    "tensor_init_bytes",
    "use_o_direct",
    "shuffle_after_epoch_seed",
)


@dataclass(frozen=True)
class Order:
    """The arguments that all readers share: the order of samples, and which of them this pipeline reads.

    Attributes:
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
    """

    random_shuffle: bool = False
    shuffle_after_epoch: bool = False
    num_shards: int = 1
    shard_id: int = 0
    stick_to_shard: bool = False
    pad_last_batch: bool = False
    shuffle_mode: Literal["global", "blocks"] = "global"
    shuffle_window: Annotated[int, Range(1)] = 16
    storage_options: Anything = None
    cache_size: Annotated[int, Range(0)] | None = None
    read_ahead_bytes: Annotated[int, Range(1)] = 256 << 20

    def read(self, index: Index, classes: ClassGroups | None = None) -> Reader:
        """Return the reader of an index; raises ArgumentError for arguments that contradict each other.

        Args:
            index: The index.
            classes: Its items by class, to read all classes equally often.
        """
        if classes is not None and self.shuffle_mode == "blocks":
            raise ArgumentError("balanced cannot be combined with shuffle_mode='blocks'")
        if self.shuffle_after_epoch and (self.random_shuffle or self.stick_to_shard):
            other = "random_shuffle" if self.random_shuffle else "stick_to_shard"
            raise ArgumentError(f"shuffle_after_epoch cannot be combined with {other}")
        return Reader(
            index,
            shuffle=self.random_shuffle or self.shuffle_after_epoch,
            num_shards=self.num_shards,
            shard_id=self.shard_id,
            stick_to_shard=self.stick_to_shard or self.shuffle_after_epoch,
            pad_last_batch=self.pad_last_batch,
            access=Access(dict(self.storage_options or {}), self.cache_size, self.read_ahead_bytes),
            blocks=divide(index, window=self.shuffle_window) if self.shuffle_mode == "blocks" else None,
            classes=classes,
        )

    def preferring_after_epoch(self) -> Order:
        """Return the order for readers that ignore `random_shuffle` if `shuffle_after_epoch` is set."""
        return replace(self, random_shuffle=self.random_shuffle and not self.shuffle_after_epoch)

    def shuffling_alike(self) -> Order:
        """Return the order for readers that treat `shuffle_after_epoch` as a synonym of `random_shuffle`."""
        return replace(self, random_shuffle=self.random_shuffle or self.shuffle_after_epoch, shuffle_after_epoch=False)


class _Options(TypedDict, total=False):
    outputs: int | None
    renamed: Mapping[str, str]
    aliases: Sequence[str]
    class_name: str
    leading: Sequence[str]


def reader(
    name: str, *, ignored: Sequence[str] = (), without: Sequence[str] = (), **options: Unpack[_Options]
) -> Callable[[Body], Body]:
    """Declare a reader. Its body receives the arguments that all readers share as one argument `order`.

    Args:
        name: Its name below `fn`.
        ignored: Arguments that are accepted without effect, in addition to those of all readers.
        without: Fields of `Order` that this reader does not take, as in DALI.
        **options: Further arguments of `operator`.
    """

    def declare(body: Body) -> Body:
        ignore = (*LOADER_HINTS, *ignored)
        operator(name, dali=BEFORE, ignored=ignore, **options)(_with_shared_arguments(body, without))
        return body

    return declare


def _with_shared_arguments(body: Callable[..., Lowered], without: Sequence[str]) -> Callable[..., Lowered]:
    """Replace the argument `order` by the fields of `Order`, in the signature and in the docstring.

    Operators are declared by signature and docstring, so both are extended here. A body may document a shared argument
    itself if the argument has another meaning there.
    """

    taken = [field for field in fields(Order) if field.name not in without]

    @functools.wraps(body)
    def lowered(**arguments: Any) -> Lowered:
        order = Order(**{field.name: arguments.pop(field.name) for field in taken})
        options = order.storage_options
        if options is not None and not isinstance(options, Mapping):
            raise ArgumentError(f"storage_options must be a dictionary, got {options!r}")
        with using(options):
            return body(order=order, **arguments)

    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.signature(body)
    own = [parameter for name, parameter in signature.parameters.items() if name != "order"]
    shared = [inspect.Parameter(field.name, kind, default=field.default) for field in taken]
    text, meanings = inspect.getdoc(body) or "", (inspect.getdoc(Order) or "").partition("Attributes:\n")[2]
    named = [(line.split(":")[0].strip(), line) for line in meanings.splitlines()]
    lines, is_taken = [], True
    for name, line in named:
        if not line.startswith("     "):  # the next argument, not the rest of one
            is_taken = name not in without and f"\n    {name}: " not in text
        lines += [line] if is_taken else []
    lowered.__doc__ = "\n".join([text, *lines])
    hints = typing.get_type_hints(Order, include_extras=True)
    types = {field.name: hints[field.name] for field in taken}
    lowered.__annotations__ = {name: hint for name, hint in body.__annotations__.items() if name != "order"} | types
    lowered.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return lowered


@reader("readers.file", outputs=2, aliases=("FileReader",))
def file(
    *,
    order: Order,
    file_root: str | None = None,
    file_list: str | None = None,
    files: Strings | None = None,
    labels: Ints | None = None,
    file_filters: Strings | None = None,
    dir_filters: Strings | None = None,
    case_sensitive_filter: bool = False,
) -> tuple[Tensor, Tensor]:
    """Read whole files and their labels.

    Returns the bytes of each file (uint8, one axis) and its label (int32, shape (1,)).

    Args:
        file_root: A folder of class folders; with `file_list` or `files`, the folder that their paths are relative to.
        file_list: A text file with a path and a label on each line.
        files: The paths of the files.
        labels: One label per entry of `files`; the indices of the files if None.
        file_filters: Glob patterns of the file names to read below `file_root`; those of images if None.
        dir_filters: Glob patterns of the folder names to read below `file_root`.
        case_sensitive_filter: Whether the patterns are case-sensitive.
    """
    given = [name for name, value in {"file_list": file_list, "files": files}.items() if value is not None]
    if len(given) > 1 or not (given or file_root):
        raise ArgumentError("readers.file needs file_root, or one of file_list and files")
    if labels is not None and files is None:
        raise ArgumentError("labels can only be given together with files")
    if (file_filters or dir_filters) and given:
        raise ArgumentError(
            f"file_filters and dir_filters select files below file_root; they have no effect on {given[0]}"
        )
    index = _open(file_root, file_list, files, labels, file_filters, dir_filters, case_sensitive_filter)
    reader = order.read(index)
    label = Column(reader=reader, table=TableColumn(reader, "label"))
    return Read(reader=reader, ranges=Records(reader)).value(), label.value()


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
