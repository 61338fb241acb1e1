"""`tfrecord2idx`: write the index of TFRecord files that DALI reads."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(name="tfrecord2idx", epilog="Example: tfrecord2idx train-0 train-1 train-0.idx train-1.idx")
@click.argument("files", nargs=-1, required=True)
def tfrecord2idx(files: tuple[str, ...]) -> None:
    """Write a line `offset size` for each record of TFRecord FILES.

    First come the TFRecord files, then as many index files to write; a single TFRecord file may be given alone, and its
    index is then NAME.idx.
    """
    from pixelmill.errors import PixelmillError
    from pixelmill.formats import tfrecord

    given = (*files, f"{files[0]}.idx") if len(files) == 1 else files
    if len(given) % 2:
        raise click.UsageError(f"{len(given)} names cannot be pairs of a TFRecord file and an index file")
    half = len(given) // 2
    lost = 0
    try:
        for data, target in zip(given[:half], given[half:], strict=True):
            if Path(target).exists() and Path(target).samefile(data):
                raise click.UsageError(f"{target} is the data itself")
            scan = tfrecord.scan(data)
            if scan.index.names:
                raise click.ClickException(f"{data} is a gzip file, whose records have no place; unpack it first")
            for fault in scan.faults:
                print(fault, file=sys.stderr)
            lost += len(scan.faults)
            tfrecord.write_index(target, scan.index)
    except (PixelmillError, OSError) as error:
        raise click.ClickException(str(error)) from None
    sys.exit(3 if lost else 0)


if __name__ == "__main__":
    tfrecord2idx()
