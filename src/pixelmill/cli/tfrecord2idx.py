"""`tfrecord2idx`: write the index of TFRecord files that DALI reads.

The command runs for a few milliseconds, so it imports nothing that would take longer, such as NumPy or click.
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

  Name the TFRecord files first, then as many index files to write. The index
  of a single TFRecord file may be omitted; it is then NAME.idx.

  Example: tfrecord2idx train-0 train-1 train-0.idx train-1.idx

Options:
  -h, --help  Show this message and exit.
"""


def tfrecord2idx() -> None:
    """Run the command. The exit code is 3 if a record is lost."""
    files = sys.argv[1:]
    if "--help" in files or "-h" in files:
        print(HELP, end="")
        return
    names = [*files, f"{files[0]}.idx"] if len(files) == 1 else files
    if not names or len(names) % 2:
        _stop(2, f"{len(names)} names cannot be pairs of a TFRecord file and an index file")
    half = len(names) // 2
    lost = 0
    for data, target in zip(names[:half], names[half:], strict=True):
        try:
            lost += _write_index(data, target)
        except OSError as error:
            _stop(1, f"{error.strerror}: {error.filename}")
    sys.exit(3 if lost else 0)


def _write_index(data: str, target: str) -> int:
    """Write the index of one file and return the number of faults in it."""
    if os.path.exists(target) and os.path.exists(data) and os.path.samefile(target, data):  # noqa: PTH110, PTH121
        _stop(2, f"{target} is the data itself")
    text = _core.tfrecord_index(os.fsencode(data))
    if text is None:
        return _write_readable(data, target)
    with open(target, "wb") as stream:  # noqa: PTH123 - pathlib takes as long to import as all of this to run
        stream.write(text)
    return 0


def _write_readable(data: str, target: str) -> int:
    """Write the index of the readable records of a damaged file. Explain why a file cannot be read at all."""
    # Imported here because intact files do not need them, and they take longer than the whole command.
    from pixelmill.errors import PixelmillError, printable
    from pixelmill.formats import tfrecord

    try:
        scan = tfrecord.scan(data)
    except PixelmillError as error:
        _stop(1, str(error))
    if scan.index.names:
        _stop(1, f"{data} is a gzip file, whose records have no byte offset; unpack it first")
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
