"""`tfrecord2idx`: write the index of TFRecord files that DALI reads.

The command runs for some milliseconds, so it starts without anything that takes longer to import: NumPy and click too.
"""

from __future__ import annotations

import os
import sys

from pixelmill import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

HELP = """Usage: tfrecord2idx FILES...

  Write a line `offset size` for each record of TFRecord FILES.

  First come the TFRecord files, then as many index files to write; a single
  TFRecord file may be given alone, and its index is then NAME.idx.

  Example: tfrecord2idx train-0 train-1 train-0.idx train-1.idx

Options:
  -h, --help  Show this message and exit.
"""


def tfrecord2idx() -> None:
    """Do what the command line says; 3 is the status where a record is lost."""
    files = sys.argv[1:]
    if "--help" in files or "-h" in files:
        print(HELP, end="")
        return
    given = [*files, f"{files[0]}.idx"] if len(files) == 1 else files
    if not given or len(given) % 2:
        _stop(2, f"{len(given)} names cannot be pairs of a TFRecord file and an index file")
    half = len(given) // 2
    lost = 0
    for data, target in zip(given[:half], given[half:], strict=True):
        try:
            lost += _write_index(data, target)
        except OSError as error:
            _stop(1, f"{error.strerror}: {error.filename}")
    sys.exit(3 if lost else 0)


def _write_index(data: str, target: str) -> int:
    """Write the index of one file; give how many pieces of it are lost."""
    if os.path.exists(target) and os.path.exists(data) and os.path.samefile(target, data):  # noqa: PTH110, PTH121
        _stop(2, f"{target} is the data itself")
    text = _core.tfrecord_index(os.fsencode(data))
    if text is None:
        return _write_what_is_left(data, target)
    with open(target, "wb") as stream:  # noqa: PTH123 - pathlib takes as long to import as all of this to run
        stream.write(text)
    return 0


def _write_what_is_left(data: str, target: str) -> int:
    """Do the same for a file that is damaged, packed or not there, with all that can be said about it."""
    from pixelmill.errors import PixelmillError, printable
    from pixelmill.formats import tfrecord

    try:
        scan = tfrecord.scan(data)
    except PixelmillError as error:
        _stop(1, str(error))
    if scan.index.names:
        _stop(1, f"{data} is a gzip file, whose records have no place; unpack it first")
    for fault in scan.faults:
        print(printable(str(fault)), file=sys.stderr)
    tfrecord.write_index(target, scan.index)
    return len(scan.faults)


def _stop(status: int, message: str) -> NoReturn:
    from pixelmill.errors import printable

    print(f"Error: {printable(message)}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    tfrecord2idx()
