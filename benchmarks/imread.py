"""Measures reading image files into RGB arrays: `pixelmill.imread` next to the libraries commonly used for it.

    python benchmarks/imread.py [--small DIR] [--camera DIR] [--rounds 9] [--epochs 3] [--json FILE] [--page]

One thread: all libraries take turns in one process, file by file from the page cache to an array, for JPEG files and
for PNG files made from them by Pillow. CPU time covers all threads of the process. Loader: a torch DataLoader whose
workers read the small JPEG files and return shapes, each library in its own processes, in turns. Libraries that are not
installed are listed and skipped; the libturbojpeg of PyTurboJPEG is Debian's package libturbojpeg0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import data
import machine
import numpy as np
from image_readers import READERS, Read, available, install_line

ROOT = Path(__file__).resolve().parents[1]
WORKERS = (0, 2, 4)
CAMERA_PNGS = 2  # a camera image takes 20 MB as PNG
BEGIN, END = "<!-- figures: written by benchmarks/imread.py -->", "<!-- end of figures -->"


def png_files(files: list[str], folder: Path) -> list[str]:
    """Write the images as PNG with Pillow's default settings, without color profiles, which libpng warns about."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number, file in enumerate(files):
        made.append(str(folder / f"{number:03d}.png"))
        with Image.open(file) as image:
            Image.fromarray(np.asarray(image.convert("RGB"))).save(made[-1])
    return made


def differences(readers: dict[str, Read], files: list[str]) -> dict[str, float]:
    """Return the mean difference of each library's pixels from Pillow's, in levels, over a few files."""
    found = {}
    reference = READERS["Pillow"].make()
    for name, read in readers.items():
        apart = []
        for file in files[:4]:
            image, wanted = np.asarray(read(file)), reference(file)
            if image.dtype != np.uint8 or image.shape[2:] != (3,):
                raise SystemExit(f"{name} returns {image.dtype} {image.shape} for {file}: not an RGB array")
            same = image.shape == wanted.shape  # some apply the EXIF orientation
            apart.append(float(np.abs(image.astype(int) - wanted).mean()) if same else float("nan"))
        found[name] = round(float(np.nanmean(apart)), 3) if not np.all(np.isnan(apart)) else float("nan")
    return found


def measure(read: Read, files: list[str]) -> tuple[float, float]:
    """Read all files; return wall-clock and processor seconds per file."""
    used, clock = time.process_time(), time.perf_counter()
    for file in files:
        read(file)
    return (time.perf_counter() - clock) / len(files), (time.process_time() - used) / len(files)


def spread(values: list[float]) -> dict[str, float]:
    """Return the median, the quartiles and the best, in milliseconds."""
    low, high = np.percentile(values, [25, 75])
    figures = {"median": median(values), "quartile_1": low, "quartile_3": high, "best": min(values)}
    return {name: round(1000 * float(value), 4) for name, value in figures.items()}


def one_thread(readers: dict[str, Read], files: list[str], rounds: int) -> dict[str, Any]:
    """Measure all libraries in turns; the first round is not counted."""
    extension = Path(files[0]).suffix.lstrip(".").replace("jpeg", "jpg")
    chosen = {name: read for name, read in readers.items() if extension in READERS[name].formats}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in chosen}
    for number in range(rounds + 1):
        for name, read in chosen.items():
            figures = measure(read, files)
            if number > 0:
                measured[name].append(figures)
    away = differences(chosen, files)
    return {
        name: {
            "wall": spread([clock for clock, _ in found]),
            "cpu": spread([used for _, used in found]),
            "levels_from_pillow": away[name],
        }
        for name, found in measured.items()
    }


class Images:
    """A dataset for torch. The library is imported where it is used: not every one survives a fork."""

    def __init__(self, name: str, files: list[str]) -> None:
        self.name, self.files = name, files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> tuple[int, ...]:
        return tuple(_reader(self.name)(self.files[number]).shape)


@cache
def _reader(name: str) -> Read:
    return READERS[name].make()


def loader(name: str, workers: int, files: list[str], epochs: int) -> float:
    """Return the images per second of the best epoch; the first, in which workers start, is not counted."""
    import torch

    torch.set_num_threads(1)
    more: dict[str, Any] = {"persistent_workers": True, "multiprocessing_context": "fork"} if workers else {}
    more |= {"batch_size": 32, "num_workers": workers, "collate_fn": len}
    dataset: Any = Images(name, files)
    batches: Iterable[int] = torch.utils.data.DataLoader(dataset, **more)
    seconds = []
    for _ in range(epochs + 1):
        clock = time.perf_counter()
        assert sum(batches) == len(files)
        seconds.append(time.perf_counter() - clock)
    return len(files) / min(seconds[1:])


def loaders(names: list[str], files: list[str], options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Run every library with every number of workers in its own process, in turns."""
    found: dict[str, dict[int, list[float]]] = {name: {workers: [] for workers in WORKERS} for name in names}
    for _ in range(options.loader_rounds):
        for workers in WORKERS:
            for name in names:
                command = [sys.executable, __file__, "--loader", name, str(workers), "--epochs", str(options.epochs)]
                job = json.dumps(files)
                done = subprocess.run(command, input=job, capture_output=True, text=True, check=True)
                found[name][workers].append(float(done.stdout))
    return {
        name: {
            str(workers): {"median": round(median(rates), 1), "rates": [round(rate, 1) for rate in rates]}
            for workers, rates in by_workers.items()
        }
        for name, by_workers in found.items()
    }


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--camera", type=Path, help="folder of JPEG files of some MB; created if omitted")
    parser.add_argument("--rounds", type=int, default=9, help="turns of each library in one thread")
    parser.add_argument("--loader-rounds", type=int, default=3, help="turns of each library in a loader; 0 for none")
    parser.add_argument("--epochs", type=int, default=3, help="epochs of a loader in a turn")
    parser.add_argument("--files", type=int, help="only the first files of each folder")
    parser.add_argument("--peers", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "imread.json")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/codecs.md as well")
    parser.add_argument("--loader", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure, print and save the results."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")  # of frameworks, such as tuning advice
    options = parsed()
    if options.loader:
        name, workers = options.loader
        print(loader(name, int(workers), json.load(sys.stdin), options.epochs))
        return
    readers, missing = available(options.peers)
    for name, why in missing.items():
        print(f"left out: {name}: {why}")
    if missing:
        print(f"  {install_line()}")
    result: dict[str, Any] = {"machine": machine.describe(), "left_out": missing}
    result["options"] = {name: getattr(options, name) for name in ("rounds", "loader_rounds", "epochs")}
    result["versions"] = {name: READERS[name].version for name in readers}
    result["one_thread"], result["loader"] = {}, {}
    for kind in ("small", "camera"):
        files = data.load("small" if kind == "small" else "camera", getattr(options, kind), ROOT / "build")
        jpegs = files.files[: options.files]
        result.setdefault("data", {})[kind] = files.describe() | {"files": len(jpegs)}
        result["one_thread"][f"{kind} JPEG"] = one_thread(readers, jpegs, options.rounds)
        some = jpegs if kind == "small" else jpegs[:CAMERA_PNGS]
        pngs = png_files(some, ROOT / "build" / "bench-data" / f"{kind}-png")
        result["one_thread"][f"{kind} PNG"] = one_thread(readers, pngs, options.rounds)
        if kind == "small" and options.loader_rounds > 0:
            many = jpegs * (-(-1024 // len(jpegs)) if options.files is None else 1)
            result["loader"] = loaders(list(readers), many, options)
    result["machine"]["load_after"] = machine.load()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(table(result))
    if options.page:
        write_page(result, ROOT / "docs" / "codecs.md")


def table(result: dict[str, Any]) -> str:
    """Return the figures as the tables of the page."""
    sets = result["one_thread"]
    lines = [f"| CPU ms an image, one thread | {' | '.join(sets)} |", "|---|" + "---|" * len(sets)]
    for name, version in result["versions"].items():
        cells = [f"{found[name]['cpu']['median']:.2f}" if name in found else "" for found in sets.values()]
        lines.append(f"| {name} ({version}) | {' | '.join(cells)} |")
    if result["loader"]:
        head = " | ".join(f"{workers} workers" for workers in WORKERS)
        lines += ["", f"| images/s in a torch DataLoader | {head} |", "|---|" + "---|" * len(WORKERS)]
        for name, by_workers in result["loader"].items():
            rates = [f"{found['median']:.0f}" for found in by_workers.values()]
            lines.append(f"| {name} | {' | '.join(rates)} |")
    options, facts, (small, camera) = result["options"], result["machine"], result["data"].values()
    how = f"Medians of {options['rounds']} rounds in turns; {small['files']} small files of {small['mean_megapixels']} "
    how += f"megapixels, {camera['files']} of {camera['mean_megapixels']}; load {facts['load_before']} before, "
    how += f"{facts['load_after']} after; {facts['processor']}, {facts['date'][:10]}."
    return "\n".join([*lines, "", how])


def write_page(result: dict[str, Any], page: Path) -> None:
    """Replace the text between the markers."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    text = page.read_text("utf-8")
    page.write_text(pattern.sub(lambda _: f"{BEGIN}\n\n{table(result)}\n\n{END}", text), "utf-8")


if __name__ == "__main__":
    main()
