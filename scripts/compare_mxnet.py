"""Compares RecordIO files of pixelmill and of mxnet 1.9.1, in both directions, byte by byte.

mxnet is retired and needs an old NumPy, so it runs in its own environment:

    python3 -m venv build/mxnet && build/mxnet/bin/pip install mxnet==1.9.1 numpy==1.23.5
    python scripts/compare_mxnet.py build/mxnet/bin/python
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill.formats import recordio
from pixelmill.formats.recordio.frames import MAGIC_BYTES

# Runs in the other environment: writes its own files from the payloads, and prints what it reads from ours.
THEIRS = """
import json, sys
import numpy
numpy.bool = bool  # mxnet uses a name that NumPy has dropped
from mxnet import recordio

folder = sys.argv[1]
rows = json.load(open(f"{folder}/rows.json"))
writer = recordio.MXIndexedRecordIO(f"{folder}/theirs.idx", f"{folder}/theirs.rec", "w")
for number, row in enumerate(rows):
    label = row["labels"][0] if len(row["labels"]) == 1 else row["labels"]
    header = recordio.IRHeader(0, label, row["id"], 0)
    writer.write_idx(number, recordio.pack(header, bytes.fromhex(row["image"])))
writer.close()
reader = recordio.MXIndexedRecordIO(f"{folder}/ours.idx", f"{folder}/ours.rec", "r")
found = []
for number in range(len(rows)):
    header, image = recordio.unpack(reader.read_idx(number))
    labels = [float(value) for value in numpy.atleast_1d(header.label)]
    found.append({"labels": labels, "id": int(header.id), "image": image.hex()})
plain = recordio.MXRecordIO(f"{folder}/ours.rec", "r")
count = 0
while plain.read() is not None:
    count += 1
json.dump({"rows": found, "count": count}, open(f"{folder}/found.json", "w"))
"""


def main() -> None:
    """Write files, run mxnet, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="the interpreter of the environment with mxnet")
    parser.add_argument("--records", type=int, default=2000)
    options = parser.parse_args()
    rows = list(map(row, range(options.records)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows.json").write_text(json.dumps(rows))
        write(folder / "ours.rec", rows)
        subprocess.run([options.python, "-W", "ignore", "-c", THEIRS, name], check=True)
        found = json.loads((folder / "found.json").read_text())
        assert found["rows"] == rows, "mxnet reads something else than was written"
        assert found["count"] == len(rows), "mxnet finds another number of records without the index"
        for ending in ("rec", "idx"):
            ours, theirs = (folder / f"{who}.{ending}" for who in ("ours", "theirs"))
            assert ours.read_bytes() == theirs.read_bytes(), f"the .{ending} files differ"
        assert read(folder / "theirs.rec") == rows, "we read something else than mxnet wrote"
        size = (folder / "ours.rec").stat().st_size
    print(f"{len(rows)} records, {size} bytes: the files are equal, and each side reads the other's")


def row(number: int) -> dict[str, Any]:
    """Return a record: lengths around multiples of four, often with the magic number inside."""
    rng = np.random.default_rng(number)
    pieces = [rng.bytes(int(rng.integers(0, 40))) for _ in range(int(rng.integers(1, 6)))]
    image = (MAGIC_BYTES if number % 3 else b"").join(pieces)
    labels = rng.integers(-1000, 1000, 1 if number % 2 else int(rng.integers(2, 6))).astype(float).tolist()
    return {"labels": labels, "id": number * 7, "image": image.hex()}


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the records and their index."""
    entries = []
    with path.open("wb") as stream, recordio.RecordWriter(stream) as writer:
        for number, each in enumerate(rows):
            begin, _ = writer.write_image(each["labels"], each["id"], bytes.fromhex(each["image"]))
            entries.append((number, begin))
    recordio.write_index(path.with_suffix(".idx"), entries)


def read(path: Path) -> list[dict[str, Any]]:
    """Return all records of a file, found by their headers."""
    scan, data = recordio.scan(path, verify=True), path.read_bytes()
    assert not scan.faults
    rows = []
    for begin, length in zip(scan.index.offsets.tolist(), scan.index.lengths.tolist(), strict=True):
        header, image = recordio.unpack(recordio.unframe(data[begin : begin + length]))
        rows.append({"labels": list(header.labels), "id": header.identifier, "image": image.hex()})
    return rows


if __name__ == "__main__":
    main()
