"""Measures training from packs next to pixelmill and DALI on the JPEG files, and the conversion.

    python benchmarks/pack.py [WORKLOAD ...] [--small DIR --camera DIR] [--rounds 5] [--json FILE]

`train` is also measured with FFCV and LitData on files of their own where they are installed; FFCV needs OpenCV's and
libturbojpeg's headers: apt-get install libopencv-dev libturbojpeg0-dev pkg-config, then pip install ffcv litdata.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Literal

import contest
import data
import machine
import summary
from workloads import WORKLOADS, FileKind

from pixelmill import convert
from pixelmill.benchmark.contestants import Record
from pixelmill.benchmark.workload import Source

ROOT = Path(__file__).resolve().parents[1]

# At least: medians of the ratios of the rounds.
TARGETS: dict[str, dict[str, float]] = {
    "train": {"speed_vs_jpeg": 2.5, "speed_vs_dali": 8},
    "val": {"speed_vs_jpeg": 2},
    "rand_augment": {"speed_vs_jpeg": 1.6},
    "camera_train": {"speed_vs_jpeg": 5, "speed_vs_dali": 18},
    "camera_resize": {"speed_vs_jpeg": 5},
}
STORES = ("ffcv", "litdata")  # peers with containers of their own
MOST_BYTES = 1.12  # of those of the JPEG files, with a trained codebook
LEAST_MEGABYTES = 60.0  # of JPEG files that a processor converts in a second
EQUAL_BATCHES: dict[FileKind, int] = {"small": 500, "camera": 50}  # after which memory is compared
CONVERTED_BYTES = 100e6  # at least, so that the start of a job does not count


def main() -> None:
    """Convert, measure in turns, print and save the results."""
    options = _options()
    build = ROOT / "build"
    plan = contest.Plan(options.threads, options.rounds, options.seconds, options.starts, build)
    result: dict[str, Any] = {
        "machine": machine.describe(),
        "options": {"threads": plan.threads, "rounds": plan.rounds, "seconds": plan.seconds},
        "conversion": {},
        "pack": {},
    }
    packs: dict[FileKind, str] = {}
    for name in options.workloads:
        workload = WORKLOADS[name]
        kind = workload.file_kind
        files = data.load(kind, getattr(options, kind), build)
        if kind not in packs:
            packs[kind], result["conversion"][kind] = converted(files, build / "bench-data" / f"pack-{kind}")
            print(json.dumps({kind: result["conversion"][kind]}, indent=1))
        jpeg = Source(files.files, repeats=files.repeats)
        pack = Source([packs[kind]], "pack", repeats=files.repeats)
        tasks = [
            *contest.tasks("pixelmill", workload, jpeg, plan)[:1],
            *contest.tasks("pack", workload, pack, plan),
            *contest.tasks("dali", workload, jpeg, plan),
        ]
        if name == "train":
            tasks += [task for peer in STORES for task in contest.tasks(peer, workload, jpeg, plan)]
            result["sizes"] = stored_sizes(files)
        records = contest.run_tasks(workload, tasks, plan, print)
        for problem in summary.disagreements(records, random=workload.random):
            print(f"not the same work: {problem}")
        ours, theirs = contest.peaks_of_memory([tasks[1], tasks[0]], EQUAL_BATCHES[kind], plan)
        result["pack"][name] = {
            "title": workload.title,
            "data": files.describe(),
            **compared(name, records, memory=ours / theirs),
        }
        print(json.dumps({name: result["pack"][name]["figures"]}, indent=1))
    result["machine"]["load_after"] = machine.load()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(TARGETS)}; all if none")
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--camera", type=Path, help="folder of JPEG files of some MB; created if omitted")
    parser.add_argument("--threads", type=int, default=2, help="threads of each contestant, and its cores")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, help="for each contestant in each round; 4, and 8 with camera files")
    parser.add_argument("--starts", type=int, default=1, help="process starts for the time of the first batch")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "pack.json")
    options = parser.parse_args()
    unknown = sorted(set(options.workloads) - set(TARGETS))
    if unknown:
        parser.error(f"there is no workload {unknown[0]!r}; there are: {', '.join(TARGETS)}")
    options.workloads = options.workloads or list(TARGETS)
    return options


def converted(files: data.Dataset, folder: Path) -> tuple[str, dict[str, Any]]:
    """Write a pack of the files with each kind of codebook, in one process; return the trained one and figures."""
    figures: dict[str, Any] = {}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    figures["default"] = conversion(files.files, folder / "default", "default")
    figures["trained"] = conversion(files.files, folder / "trained", "trained")
    repeats = math.ceil(CONVERTED_BYTES / sum(Path(name).stat().st_size for name in files.files))
    figures["repeated"] = conversion(files.files * repeats, folder / "repeated", "default")
    shutil.rmtree(folder / "repeated")
    figures["met"] = {
        "bytes": figures["trained"]["image_bytes_ratio"] <= MOST_BYTES,
        "speed": figures["repeated"]["megabytes_per_cpu_second"] >= LEAST_MEGABYTES,
    }
    return str(folder / "trained" / "data.pack"), figures


def conversion(files: list[str], folder: Path, codebook: Literal["trained", "default"]) -> dict[str, Any]:
    """Write a pack in this process; return what it took."""
    listed = folder.with_suffix(".txt")
    listed.write_text("".join(f"{name}\t{number}\n" for number, name in enumerate(files)), "utf-8")
    shared: dict[str, Any] = {"root": "/", "allow_outside": True, "workers": 1, "num_shards": 1}
    began, cpu = time.perf_counter(), time.process_time()
    report = convert(listed, folder, to="pack", codebook=codebook, **shared)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
    assert report.pack is not None
    before = report.pack.bytes_before
    return {
        "packed": report.pack.packed,
        "kept": dict(report.pack.kept),
        "image_bytes_ratio": round(report.pack.bytes_after / before, 4),
        "file_bytes_ratio": round(report.bytes / before, 4),
        "megabytes_per_second": round(before / seconds / 1e6, 1),
        "megabytes_per_cpu_second": round(before / cpu_seconds / 1e6, 1),
    }


def stored_sizes(files: data.Dataset) -> dict[str, float]:
    """Return the bytes that containers of installed peers take for the images, as fractions of the JPEG files."""
    from extra_peers import ffcv, litdata

    before = sum(Path(name).stat().st_size for name in files.files)
    sizes: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[], int]] = {
            "FFCV, raw pixels": lambda: ffcv.write(files.files, Path(folder, "raw.beton"), ffcv.RAW),
            "FFCV, JPEG of quality 90": lambda: ffcv.write(files.files, Path(folder, "jpeg.beton"), ffcv.JPEG),
            "LitData": lambda: litdata.write(files.files, Path(folder, "litdata")),
        }
        for name, write in ways.items():
            try:
                sizes[name] = round(write() / before, 3)
            except ImportError as missing:
                print(f"{name} is left out: {missing}")
    return sizes


def compared(name: str, records: list[Record], *, memory: float) -> dict[str, Any]:
    """Compare packs with both others, round by round; `memory` is a comparison after the same number of batches."""
    pack, jpeg, dali = (summary.chosen(records, peer) for peer in ("pack", "pixelmill", "dali"))
    assert pack is not None
    figures = {"memory_vs_jpeg_after_equal_batches": round(memory, 4)}
    for other, record in (("jpeg", jpeg), ("dali", dali)):
        if record is not None:
            ratios = [ours / theirs for ours, theirs in zip(pack.rates, record.rates, strict=True)]
            figures[f"speed_vs_{other}"] = round(median(ratios), 3)
            figures[f"memory_vs_{other}"] = round(pack.peak_memory / record.peak_memory, 3)
    wanted = TARGETS[name].items()
    met = {target: figures[target] >= limit for target, limit in wanted if target in figures}
    met["memory"] = memory <= 1
    return {"contestants": summary.contestants(records), "figures": figures, "met": met}


if __name__ == "__main__":
    main()
