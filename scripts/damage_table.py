"""Prints how much damage to small files is found, for docs/formats.md.

Every byte of a file below 1 KB is changed into all 255 others, of a larger one into 16 others unless `--all` is given.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import test_npy
import test_recordio
import test_webdataset
from damage import Read, changed, cut, table, with_one_less, with_one_more

# Each bit alone, and some that change several.
FEW = [1, 2, 4, 8, 16, 32, 64, 128, 3, 7, 15, 31, 85, 127, 170, 255]
FILES: dict[str, tuple[bytes, Read]] = {
    "RecordIO, 4 records": (test_recordio.four_records()[0], test_recordio.read),
    "tar, 4 samples of 2 files": (test_webdataset.written(test_webdataset.FOUR), test_webdataset.read),
    "npy, 6 numbers": (test_npy.saved(test_npy.ARRAY), test_npy.read),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all values of bytes in larger files too; takes long")
    everything = parser.parse_args().all
    print("| file | damage | cases | found | harmless | found, a wrong sample given | silent |")
    print("|---|---|---|---|---|---|---|")
    for name, (data, read) in FILES.items():
        flips = range(1, 256) if everything or len(data) < 1000 else FEW
        kinds = {"a byte changed": changed(data, flips), "cut": cut(data)}
        kinds |= {"a byte too many": with_one_more(data), "a byte too few": with_one_less(data)}
        for kind, damages in kinds.items():
            print(row(f"{name}, {len(data)} bytes", kind, table(read, data, damages)), flush=True)


def row(name: str, kind: str, counts: Counter[str]) -> str:
    """Give a line of the table."""
    total = counts.total()
    shares = [f"{100 * counts[key] / total:.2f} %" for key in ("found", "harmless", "found, wrong", "silent")]
    return f"| {name} | {kind} | {total:,} | {' | '.join(shares)} |"


if __name__ == "__main__":
    main()
