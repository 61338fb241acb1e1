"""Feeds mutated files to the parsers written in Python: they may only raise DataError, within a time limit.

python scripts/fuzz_containers.py --executions 100000 --seed 1
"""

from __future__ import annotations

import argparse
import atexit
import hashlib
import io
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "formats"))

import coco_files
import numpy as np
import test_lmdb
import test_npy
import test_recordio
import test_webdataset
import test_zip
from dataset_cases import odd_samples

from pixelmill import _core
from pixelmill.errors import DataError
from pixelmill.formats import file_list, index_cache, npy, recordio, tfrecord, webdataset
from pixelmill.formats import zip as zip_archives
from pixelmill.formats.annotations import apply_row, decode_row, difference, encode_row
from pixelmill.formats.coco import Choice, open_annotations
from pixelmill.formats.example import encode
from pixelmill.formats.lmdb import LMDBDataset
from pixelmill.formats.pack import index_section
from pixelmill.formats.pack import scan as pack_scan
from pixelmill.formats.pack.frames import (
    FOOTER_BYTES,
    HEAD_BYTES,
    SAMPLE,
    Footer,
    Head,
    check_parts,
    crc,
    encode_header,
)
from pixelmill.formats.pack.table_builder import TableBuilder
from pixelmill.formats.sample import Sample
from pixelmill.inspect.manifest_check import check_manifest
from pixelmill.jobs.manifest import read_entry
from pixelmill.jobs.storage import open_storage

SCRATCH = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
STAMP = (200, 1)
WORDS = [b"\xff" * 4, b"\0" * 4, b"\x80" + bytes(7), test_recordio.MAGIC, b"ustar", b"99999999999", b"(", b"-1"]
WORDS += [b'"', b"[", b"]", b"{", b"}", b",", b"\n", b"\t", b"null", b"1e999", b"../", b"9" * 30]


def run_recordio(data: bytes) -> str:
    """Find and join records; every byte must belong to a record or to a fault."""
    scan = recordio.scan("a.rec", stream=io.BytesIO(data), verify=True)
    covered = sum(scan.index.lengths.tolist()) + sum(fault.length for fault in scan.faults)
    assert covered == len(data), "records and faults do not cover the file"
    for start, length in zip(scan.index.offsets.tolist(), scan.index.lengths.tolist(), strict=True):
        try:
            recordio.unpack(recordio.unframe(data[start : start + length]))
        except DataError:
            continue
    return "faults" if scan.faults else "clean"


def run_tar(data: bytes) -> str:
    """List samples; every member must be inside the file."""
    scan = webdataset.scan("a.tar", stream=io.BytesIO(data))
    assert all(member.offset + member.size <= len(data) for member in scan.members), "a member leaves the file"
    return "faults" if scan.faults else "clean"


def run_zip(data: bytes) -> str:
    """List and read members; each must be inside the file, and none may overlap another."""
    scan = zip_archives.scan("a.zip", stream=io.BytesIO(data))
    ends = [0, *(member.end for member in scan.members)]
    assert ends[-1] <= len(data), "a member leaves the file"
    assert all(end <= member.header for end, member in zip(ends, scan.members, strict=False)), "members overlap"
    read = 0
    for member in scan.members:
        try:
            content = zip_archives.unpacked(member, lambda offset, length: data[offset : offset + length])
            assert len(content) == member.size, "a member has another size than declared"
            read += 1
        except DataError:
            continue
    return f"{read} read" + (", faults" if scan.faults else "")


def run_lmdb(data: bytes) -> str:
    """Read all samples of a database in every way; each must be inside the file."""
    path = SCRATCH / "a.mdb"
    path.write_bytes(data)
    found = LMDBDataset("a.mdb", files=[str(path)])
    outcome = "read" if len(found) else "empty"
    for ranges in (found.index, found.byte_ranges("image"), found.byte_ranges("mask")):
        if ranges is not None:
            ends = ranges.offsets + ranges.lengths
            assert (ranges.offsets >= 0).all() and (ends >= ranges.offsets).all() and (ends <= len(data)).all()
    for number in range(len(found)):
        for read in (found.sample, found.description):
            try:
                read(number)
            except DataError:
                outcome = "samples refused"
    return outcome


def run_pack(data: bytes) -> str:
    """Read all samples of a pack; of every second input the checksums of heads and index are valid."""
    data = resealed(data) if sum(data) % 2 else data
    found = pack_scan.scan("a.pack", lambda offset, length: data[offset : offset + length], size=len(data))
    read = 0
    for number in range(len(found.table)):
        head, offset = found.table.head(number), int(found.table.columns["offset"][number])
        assert offset + head.size <= len(data), "a sample leaves the file"
        found.table.outline(number)
        try:
            parts = check_parts(head, data[offset + HEAD_BYTES : offset + head.size])
            pack_scan.features(parts["features"])
            read += 1
        except DataError:
            continue
    return f"{read} read" + (", faults" if found.faults else "")


def resealed(data: bytes) -> bytes:
    """Return a pack with the checksums that its heads, index and footer should have."""
    made = bytearray(data)
    place = data.find(SAMPLE)
    while 0 <= place <= len(data) - HEAD_BYTES:
        end = place + HEAD_BYTES
        made[end - 4 : end] = crc(bytes(made[place : end - 4])).to_bytes(4, "little")
        place = data.find(SAMPLE, end)
    footer = made[-FOOTER_BYTES:]
    begin, samples = (int.from_bytes(footer[at : at + 8], "little") for at in (16, 32))
    index = bytes(made[begin:-FOOTER_BYTES]) if begin < len(data) else b""
    return bytes(made[:-FOOTER_BYTES]) + Footer(crc(index), begin, len(index), samples, len(data)).encode()


def small_pack() -> bytes:
    """Return a pack without a codebook, which would be the longest part of it."""
    builder, samples = TableBuilder({}), odd_samples()
    made = encode_header({})
    for number, sample in enumerate([*samples[3:7], samples[9]]):
        sample = Sample(**{**vars(sample), "image": sample.image[:40]})
        row = encode_row(difference(sample, implied=Sample("", b"", "")))
        parts = (sample.image, sample.mask or b"", row, encode(sample.extra))
        image, *lengths = map(len, parts)
        image_crc, *checksums = map(crc, parts)
        head = Head._make([image, image, 0, *lengths, image_crc, image_crc, *checksums])
        builder.add(sample, head, offset=len(made))
        made += (head.encode(number) + b"".join(parts)).ljust(head.size, b"\0")
    index = index_section.encode(builder.finish())
    size = len(made) + len(index) + FOOTER_BYTES
    return made + index + Footer(crc(index), len(made), len(index), 5, size).encode()


def run_npy(data: bytes) -> str:
    """Decode an array."""
    return f"array of {npy.decode(data).dtype.kind}"


def run_coco(data: bytes) -> str:
    """Read annotations."""
    path = SCRATCH / "a.json"
    path.write_bytes(data)
    return "images" if len(open_annotations(str(path), root=".", choice=Choice())) else "nothing"


def run_index(data: bytes) -> str:
    """Read index and list files of all kinds."""
    path, size = SCRATCH / "a.idx", (SCRATCH / "a.data").stat().st_size
    path.write_bytes(data)
    read = 0

    def of_tfrecords(path: Path) -> None:
        index = tfrecord.read_index(str(path), data=str(SCRATCH / "a.data"))
        ends = index.offsets + index.lengths
        assert not len(ends) or (index.offsets.min() >= 0 and ends.max() <= size), "a record leaves the file"

    for parse in (recordio.read_index, recordio.read_list, webdataset.read_index, of_tfrecords):
        try:
            parse(path)
            read += 1
        except DataError:
            continue
    return f"{read} accept it"


def run_list(data: bytes) -> str:
    """Read a list as text and as a table, and the annotations in its rows."""
    accepted = 0
    for name in ("a.txt", "a.csv", "a.tsv", "a.jsonl"):
        path = SCRATCH / name
        path.write_bytes(data)
        try:
            for entry in file_list.read_list(str(path)).entries:
                apply_row(entry.row, implied=Sample("a", b"", "jpg", entry.labels), where=entry.where)
            accepted += 1
        except DataError:
            continue
    return f"{accepted} accept it"


def run_rows(data: bytes) -> str:
    """Read lines of annotations."""
    for line in data.split(b"\n"):
        apply_row(decode_row(line, where="a"), implied=Sample("a", b"", "jpg", ()), where="a")
    return "rows"


def run_cache(data: bytes) -> str:
    """Read a cached index; every second input has a valid checksum."""
    if sum(data) % 2 and len(data) > 4:
        data = data[:-4] + _core.crc32c(data[:-4]).to_bytes(4, "little")
    Path(f"{SCRATCH}/a.data{index_cache.ENDING}").write_bytes(data)
    return "nothing" if index_cache.load(f"{SCRATCH}/a.data", "tfrecord", stamp=STAMP) is None else "arrays"


def run_manifest(data: bytes) -> str:
    """Compare files with a manifest, and read it as a sidecar; files outside the folder must not be opened."""
    (SCRATCH / "dataset" / "manifest.json").write_bytes(data)
    (SCRATCH / "dataset" / "shard.json").write_bytes(data)
    read_entry(open_storage(SCRATCH / "dataset"), "shard.json")
    found = check_manifest(str(SCRATCH / "dataset"))
    return "no manifest" if found.manifest is None else "problems" if found.problems else "whole"


def seeds() -> dict[str, tuple[Callable[[bytes], str], list[bytes]]]:
    """Return intact files to start from, for each parser."""
    coco_files.write(SCRATCH)
    (SCRATCH / "a.data").write_bytes(bytes(200))
    (SCRATCH / "dataset").mkdir(exist_ok=True)
    (SCRATCH / "dataset" / "a").write_bytes(b"abc")
    file = {"name": "a", "bytes": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}
    entry = {"number": 0, "samples": 1, "files": [file], "errors": []}
    manifest = {"job": "1f", "kind": "convert", "options": {"seed": 1}, "entries": [entry], "files": [], **entry}
    extra = {"a": {"float": [1.5]}, "b": {"bytes": ["YWJj"]}, "c": {"int64": [7]}, "d": {"float_bits": [1]}}
    row = {"key": "k", "class": "c", "labels": [1, 2.5], "boxes": [[0, 0, 0.5, 1]], "box_labels": [3], "extra": extra}
    table = b'path,label,class,boxes,box_labels,extra\na.jpg,1 2,cat,"[[0,0,1,1]]",3,"{""a"":{""int64"":[1]}}"\n'
    cached = {"offsets": np.arange(3, dtype=np.int64), "lengths": np.arange(3, dtype=np.int64)}
    tars = [test_webdataset.written(test_webdataset.FOUR[:4])]
    tars += [
        test_webdataset.by_tarfile([("é" * 60 + ".jpg", b"x" * 600)], form) for form in test_webdataset.FORMATS[1:]
    ]
    index = webdataset.index_text(test_webdataset.scanned(tars[0]).samples)
    return {
        "recordio": (run_recordio, [test_recordio.four_records()[0]]),
        "tar": (run_tar, [data[:6144] for data in tars]),
        "zip": (run_zip, [test_zip.SMALL, test_zip.by_zipfile(test_zip.FILES)]),
        "lmdb": (run_lmdb, [test_lmdb.small()]),
        "pack": (run_pack, [small_pack()]),
        "npy": (run_npy, [test_npy.saved(test_npy.ARRAY), test_npy.saved(test_npy.ARRAY.astype(">f8"))]),
        "coco": (run_coco, [(SCRATCH / "a.json").read_bytes()]),
        "index": (run_index, [b"0\t0\n1\t48\n", b"0\t1.000000\ta.jpg\n", index, b"0 48\n48 100\n148 52\n"]),
        "list": (run_list, [b"a b.jpg 1 2\nc.jpg\t3\t4.5\n", table, b"path,label_0,mask\nb.png,1,m.png\n"]),
        "rows": (run_rows, [json.dumps(row).encode(), json.dumps(row).encode() + b'\n{"mask": "YWJj"}']),
        "cache": (run_cache, [index_cache.encoded("tfrecord", cached, STAMP)]),
        "manifest": (run_manifest, [json.dumps(manifest).encode(), json.dumps(manifest, indent=1).encode()]),
    }


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Change, insert, delete, repeat or truncate a few pieces."""
    made = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(made) + 1)
        kind = rng.randrange(6)
        if kind == 0 and place < len(made):
            made[place] ^= 1 << rng.randrange(8)
        elif kind == 1 and place < len(made):
            made[place] = rng.randrange(256)
        elif kind == 2:
            made[place : place + rng.choice((0, 4))] = rng.choice(WORDS)
        elif kind == 3:
            del made[place : place + rng.choice((1, 4, 64, 512))]
        elif kind == 4:
            other = rng.randrange(len(made) + 1)
            made[place:place] = made[other : other + rng.choice((1, 8, 512))]
        else:
            del made[place:]
    return bytes(made)


def main() -> None:
    """Run all parsers in turn and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=100_000, help="for each parser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parser", action="append", choices=sorted(seeds()), help="only these")
    options = parser.parse_args()
    for name, (run, whole) in seeds().items():
        if options.parser and name not in options.parser:
            continue
        rng = random.Random(options.seed)
        outcomes: Counter[str] = Counter()
        slowest = 0.0
        begun = time.perf_counter()
        for _ in range(options.executions):
            data = mutated(rng, rng.choice(whole))
            start = time.perf_counter()
            try:
                outcomes[run(data)] += 1
            except DataError:
                outcomes["refused"] += 1
            except BaseException:
                Path(f"crash-{name}").write_bytes(data)
                raise
            slowest = max(slowest, time.perf_counter() - start)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        figures = {"parser": name, "executions": options.executions, "seed": options.seed}
        figures |= {"seconds": round(time.perf_counter() - begun, 1), "slowest_ms": round(1000 * slowest, 1)}
        print(json.dumps({**figures, "max_rss_mb": memory, **dict(sorted(outcomes.items()))}), flush=True)


if __name__ == "__main__":
    main()
