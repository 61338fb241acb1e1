"""`index`: the index files of record files that DALI's readers need."""

from __future__ import annotations

import os
from pathlib import Path

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, OutputExists
from pixelmill.formats.registry import get_format, open_dataset
from pixelmill.formats.sample import split_name
from pixelmill.options.declaration import takes
from pixelmill.options.inspect import IndexOptions
from pixelmill.options.running import Target
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
    data = [path for path in dataset.index.paths if not storage.is_remote(path)]
    targets = {path: _target(path, options.output) for path in data}
    for target in targets.values():
        if target.exists() and not options.overwrite:
            raise OutputExists(f"index: {target} exists; overwrite=True (--exists overwrite) replaces it")
    for path, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            write_index(path, temporary)
            replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    return [str(target) for target in targets.values()]


def _target(path: str, output: Target | None) -> Path:
    adjacent = Path(f"{split_name(path)[0]}.idx")
    return adjacent if output is None else Path(output) / adjacent.name
