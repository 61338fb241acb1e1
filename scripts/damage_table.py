"""Prints how much damage to small files is found, with and without a manifest, for docs/formats.md.

Every byte of a file below 1 KB is changed to all 255 other values, in larger files to 16 others unless `--all` is set.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "formats"))

import test_lmdb
import test_npy
import test_recordio
import test_tfrecord
import test_webdataset
import test_zip
from file_damage import Read, changed, cut, table, with_blocks_swapped, with_one_less, with_one_more

from pixelmill.inspect.manifest_check import check_manifest

# Each single bit, and some values that change several bits.
FEW = [1, 2, 4, 8, 16, 32, 64, 128, 3, 7, 15, 31, 85, 127, 170, 255]


SCRATCH = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


def read_tfrecord(data: bytes) -> tuple[list[Any], bool]:
    """Return the payloads, and whether a fault was reported."""
    payloads, faults = test_tfrecord.payloads_of(data, verify=True)
    return payloads, bool(faults)


FILES: dict[str, tuple[bytes, Read]] = {
    "TFRecord, 4 records": (test_tfrecord.file_of(test_tfrecord.PAYLOADS), read_tfrecord),
    "RecordIO, 4 records": (test_recordio.four_records()[0], test_recordio.read),
    "tar, 4 samples of 2 files": (test_webdataset.written(test_webdataset.FOUR), test_webdataset.read),
    "npy, 6 numbers": (test_npy.saved(test_npy.ARRAY), test_npy.read),
    "zip, 3 members": (test_zip.SMALL, test_zip.read),
    "LMDB, 3 records": (test_lmdb.small(), test_lmdb.reader(Path(SCRATCH.name))),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all byte values in larger files too; slow")
    everything = parser.parse_args().all
    outcomes = ("found", "harmless", "found, a wrong sample returned", "silent", "silent with a manifest")
    print(f"| file | damage | cases | {' | '.join(outcomes)} |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (data, read) in FILES.items():
        flips = range(1, 256) if everything or len(data) < 1000 else FEW
        few = flips if len(data) < 1000 else FEW  # a manifest compares hashes, so the kind of damage does not matter
        with tempfile.TemporaryDirectory(dir=SCRATCH.name) as folder:
            guarded = with_manifest(Path(folder), data)
            for kind, damages in kinds(data, flips).items():
                counts = table(read, data, damages)
                print(
                    row(f"{name}, {len(data)} bytes", kind, counts, table(guarded, data, kinds(data, few)[kind])),
                    flush=True,
                )


def kinds(data: bytes, flips: Sequence[int]) -> dict[str, Iterator[bytes]]:
    """Return every kind of damage."""
    return {
        "a byte changed": changed(data, flips),
        "cut": cut(data),
        "a byte too many": with_one_more(data),
        "a byte too few": with_one_less(data),
        "two blocks of 16 bytes swapped": with_blocks_swapped(data),
    }


def with_manifest(folder: Path, data: bytes) -> Read:
    """Return a reader that only compares a file with its manifest."""
    file = {"name": "data", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    entry = {"number": 0, "samples": 1, "files": [file], "errors": []}
    manifest = {"job": "", "kind": "convert", "options": {}, "entries": [entry]}
    (folder / "manifest.json").write_text(json.dumps(manifest))

    def read(damaged: bytes) -> tuple[list[Any], bool]:
        (folder / "data").write_bytes(damaged)
        found = check_manifest(str(folder))
        assert found.hashed == 1
        return [damaged], bool(found.problems)

    return read


def row(name: str, kind: str, counts: Counter[str], guarded: Counter[str]) -> str:
    """Return a line of the table. An unchanged file must not be reported, with or without a manifest."""
    total = counts.total()
    fractions = [f"{100 * counts[key] / total:.2f} %" for key in ("found", "harmless", "found, wrong", "silent")]
    fractions.append(f"{guarded['silent']:,} of {guarded.total():,}")
    return f"| {name} | {kind} | {total:,} | {' | '.join(fractions)} |"


if __name__ == "__main__":
    main()
