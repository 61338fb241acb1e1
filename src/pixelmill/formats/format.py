"""What a container declares about itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pixelmill.formats.dataset import Dataset, ShardWriter
    from pixelmill.formats.sample import Sample

# Where the samples of a dataset lie: files below a folder, files that a list names, or inside record files.
Storage = Literal["folder", "list", "records"]
ONE_SHARD = 1 << 60  # bytes: other programs expect the annotations of a dataset in one file


@dataclass(frozen=True)
class Choice:
    """The columns of a table that the user named.

    Attributes:
        path: The column of paths; found by its name if None.
        label: The column of labels; found by its name if None.
    """

    path: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class Source:
    """What a dataset is opened from.

    Attributes:
        shown: The dataset as the user named it, for messages.
        files: The folder, the lists, or the record files.
        root: For lists: the folder that paths are relative to; the folder of the list if None.
        allow_outside: For lists: permit paths that lead out of the root.
        columns: For tables: the columns that the user named.
    """

    shown: str
    files: Sequence[str]
    root: str | None = None
    allow_outside: bool = False
    columns: Choice = field(default_factory=Choice)


@dataclass(frozen=True)
class Fields:
    """Where a container keeps each part of a sample: the row of the container in docs/formats.md."""

    image: str
    name: str
    labels: str
    class_name: str
    mask: str
    rest: str


@dataclass(frozen=True)
class Format:
    """A container: how it is recognized, opened, written and documented.

    Attributes:
        name: The name in `convert --to` and in `Dataset.format`.
        title: What messages call a dataset of this format, such as `a WebDataset tar`.
        storage: Where samples lie; `"folder"` and `"list"` keep each sample in a file of its own.
        open: Opens a dataset.
        fields: The row of the table in docs/formats.md.
        writer: Opens a shard for writing, called as `writer(open_file, names, **options)`; None if read-only.
        shard_files: The files of a shard that are not named after samples: purpose and name. `{}` in a name stands
            for the number of the shard.
        sniff: Whether the first bytes of a file (up to 1024) are those of this container; None for `"folder"` and for
            lists, which are text.
        endings: Endings of file names that identify a file whose first bytes are damaged.
        lists: For lists: whether a list belongs to this format, judged by its path and by the first path in it.
        in_folder: For datasets of many files: returns the files that make a folder one of this format, called with the
            folder and the names of the folders and files in it; nothing if it is not one.
        is_file: Whether a text file is the annotations of such a dataset.
        preferred_name: The preferred name of the file of a sample in such a dataset, without extension.
        yields_to_images: Whether a folder that holds images or folders is a folder of images even if files of this
            container lie in it. Files named like `shard_files` count in any case.
        write_index: Writes the `.idx` file that DALI's reader needs for a record file; None if there is no such file.
        shard_bytes: The size of shards unless another is requested.
    """

    name: str
    title: str
    storage: Storage
    open: Callable[[Source], Dataset]
    fields: Fields
    writer: Callable[..., ShardWriter] | None = None
    shard_files: Mapping[str, str] = field(default_factory=dict)
    sniff: Callable[[bytes], bool] | None = None
    endings: tuple[str, ...] = ()
    lists: Callable[[str, str], bool] | None = None
    in_folder: Callable[[str, Sequence[str], Sequence[str]], Sequence[str]] | None = None
    is_file: Callable[[str], bool] | None = None
    preferred_name: Callable[[Sample], str] | None = None
    yields_to_images: bool = False
    write_index: Callable[[str, Path], None] | None = None
    shard_bytes: int = 256_000_000

    def shard_names(self, *, number: int = 0, count: int = 1) -> dict[str, str]:
        """Return the file names of a shard by purpose."""
        part = "" if count == 1 else f"-{number:05d}-of-{count:05d}"
        return {purpose: pattern.format(part) for purpose, pattern in self.shard_files.items()}

    def is_shard_name(self, name: str, purpose: str) -> bool:
        """Whether our writer would give a file this name."""
        pattern = re.escape(self.shard_files[purpose]).replace(re.escape("{}"), r"(-\d+-of-\d+)?")
        return re.fullmatch(pattern, name) is not None
