"""Parquet and Arrow files through pyarrow: their schema, and rows by number."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pixelmill import storage
from pixelmill.errors import DataError, MissingDependency
from pixelmill.formats.parquet.remote import RemoteGroups, SparseFile

PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_MOST_COLUMNS = 10_000


def pyarrow(path: str) -> Any:
    """Import pyarrow; raises MissingDependency that names the extra."""
    try:
        import pyarrow as module
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency(f"{path} is a Parquet or Arrow file, and pyarrow", "parquet") from None
    return module


@dataclass(frozen=True)
class TableFile:
    """A file of rows.

    Attributes:
        path: The file as the user named it.
        groups: The number of rows of each group; a group is read at once.
        places: The first byte of each group, as far as it is known.
        sizes: The bytes of each group.
        columns: The type of each column.
        features: What Hugging Face datasets say about columns, by name.
        reader: Reads a group: `reader(group, columns)` returns a table.
        remote: Reads groups of a file at an address instead.
        base: The folder that a relative path starts from.
    """

    path: str
    groups: tuple[int, ...]
    places: tuple[int, ...]
    sizes: tuple[int, ...]
    columns: Mapping[str, Any]
    features: Mapping[str, Any] = field(default_factory=dict)
    reader: Any = None
    remote: RemoteGroups | None = None
    base: str = ""

    def __reduce__(self) -> tuple[Callable[[str, str], TableFile], tuple[str, str]]:
        """Drop the open file: another process opens its own."""
        return open_table, (self.path, self.base)


def open_table(path: str, base: str = "") -> TableFile:
    """Open a file. Raises DataError if it is damaged.

    Of a Parquet file at an address, only the description at its end is read; an Arrow file is fetched.

    Args:
        path: The file.
        base: The folder that a relative path starts from; the working folder of this moment if empty.
    """
    module = pyarrow(path)
    try:
        found = _remote(module, path) if storage.is_remote(path) else None
        if found is not None:
            return found
        is_parquet = storage.read_start(path, 6, base=base).startswith(PARQUET)
        local = storage.local_path(storage.anchored(path, base))
        opened = _parquet(module, path, local) if is_parquet else _arrow(module, path, local)
        return replace(opened, base=base or storage.working_folder())
    except (module.ArrowException, OSError, ValueError, TypeError) as error:
        first = str(error).partition("\n")[0]
        raise DataError(f"parquet: {path} cannot be read: {first}") from None


def _parquet(module: Any, path: str, local: str) -> TableFile:
    file = module.parquet.ParquetFile(local, page_checksum_verification=True)
    return _table(path, file, reader=lambda group, columns: file.read_row_group(group, columns=list(columns)))


def _remote(module: Any, path: str) -> TableFile | None:
    """Open a file at an address; return None for an Arrow file."""
    size = storage.stat(path).size
    source = SparseFile(path, size)
    if not source.read_end().endswith(PARQUET) and not storage.read_start(path, 6).startswith(PARQUET):
        return None
    file = module.parquet.ParquetFile(source)
    return _table(path, file, remote=RemoteGroups(module, path, size, file.metadata))


def _table(path: str, file: Any, **how: Any) -> TableFile:
    about = file.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    if about.num_columns > _MOST_COLUMNS:
        raise DataError(f"parquet: {path} has {about.num_columns} columns, more than {_MOST_COLUMNS}")
    return TableFile(
        path,
        tuple(group.num_rows for group in groups),
        tuple(group.column(0).data_page_offset for group in groups),
        tuple(group.total_byte_size for group in groups),
        dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True)),
        _features(file.schema_arrow.metadata),
        **how,
    )


def _arrow(module: Any, path: str, local: str) -> TableFile:
    source = module.memory_map(local)
    try:
        file = module.ipc.open_file(source)
        batches = [file.get_batch(number) for number in range(file.num_record_batches)]
    except module.ArrowInvalid:
        source.seek(0)
        file = module.ipc.open_stream(source)
        batches = list(file)
    return TableFile(
        path,
        tuple(batch.num_rows for batch in batches),
        (0,) * len(batches),
        tuple(batch.nbytes for batch in batches),
        dict(zip(file.schema.names, file.schema.types, strict=True)),
        _features(file.schema.metadata),
        reader=lambda group, columns: batches[group].select(list(columns)),
    )


def _features(metadata: Mapping[bytes, bytes] | None) -> dict[str, Any]:
    """Return what Hugging Face datasets write about columns into the schema."""
    try:
        found = json.loads((metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_image_type(module: Any, kind: Any) -> bool:
    """Whether a column can hold encoded images: bytes, or a struct with a field `bytes`."""
    if module.types.is_struct(kind):
        return any(
            kind.field(n).name == "bytes" and is_bytes(module, kind.field(n).type) for n in range(kind.num_fields)
        )
    return is_bytes(module, kind)


def is_bytes(module: Any, kind: Any) -> bool:
    """Whether a column holds bytes."""
    return bool(module.types.is_binary(kind) or module.types.is_large_binary(kind))


def names_of(features: Mapping[str, Any], column: str) -> tuple[str, ...]:
    """Return the names of the classes of a column of labels."""
    about = features.get(column)
    names = about.get("names") if isinstance(about, dict) else None
    is_list = isinstance(names, Sequence) and not isinstance(names, str)
    return tuple(str(name) for name in names) if is_list and names is not None else ()
