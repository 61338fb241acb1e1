"""`index`: the index files of record files that DALI's readers need."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, OutputExists
from pixelmill.formats.registry import get_format, open_dataset
from pixelmill.formats.sample import split_name
from pixelmill.options.declaration import takes
from pixelmill.options.inspect import IndexOptions
from pixelmill.options.running import Target
from pixelmill.storage import remote_writes
from pixelmill.storage.system import replace


@takes(IndexOptions)
def index(options: IndexOptions) -> list[str]:
    """Write the index file of each record file: `.idx`, as DALI's tfrecord, mxnet and webdataset readers expect it.

    Returns:
        The files written.
    """
    dataset = open_dataset(options.source)
    write_index = get_format(dataset.format).write_index
    if write_index is None:
        raise ArgumentError(f"index: {dataset.source} is a {dataset.format} dataset, which needs no index file")
    if dataset.faults:
        more = f", and {len(dataset.faults) - 1} more" if len(dataset.faults) > 1 else ""
        raise DataError(f"index: {dataset.faults[0]}{more}; `verify` lists them", (dataset.faults[0].event(0),))
    names = list(dataset.index.names or dataset.index.paths)
    targets = [_target(name, options.output) for name in names]
    if not options.overwrite:
        for target in filter(_exists, targets):
            raise OutputExists(f"index: {target} exists; overwrite=True (--exists overwrite) replaces it")
    for path, target in zip(storage.local_paths(names), targets, strict=True):
        if storage.is_remote(target):
            with TemporaryDirectory(prefix="pixelmill-") as folder:
                temporary = Path(folder) / "index"
                write_index(path, temporary)
                remote_writes.write(target, temporary.read_bytes())
        else:
            _write(partial(write_index, path), Path(target))
    return targets


def _write(write_index: Callable[[Path], object], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        write_index(temporary)
        replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _target(name: str, output: Target | None) -> str:
    adjacent = f"{split_name(name)[0]}.idx"
    if output is None and storage.is_web(name):
        raise ArgumentError(
            f"index: {name} is on a web server, which cannot be written to; pass a folder for the index files"
        )
    return adjacent if output is None else storage.join(storage.plain(os.fspath(output)), adjacent.rpartition("/")[2])


def _exists(target: str) -> bool:
    try:
        storage.stat(target)
    except FileNotFoundError:
        return False
    return True
