"""Counts the instructions of training on aarch64, by a plugin of qemu, at the SIMD levels `neon` and `base`.

    make platforms ARGS=aarch64                  # builds the package for aarch64, once
    python benchmarks/arm_instructions.py --output benchmarks/results/arm_instructions.json
    python benchmarks/arm_instructions.py --functions 20     # where they are spent

A pipeline of one thread decodes random windows of JPEG files, resizes, mirrors and normalizes them. Start-up is
left out: two runs that differ only in the number of batches are subtracted. Counts, unlike times, hardly depend on the
machine; they say nothing about how long an instruction takes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from platforms_arm import command  # noqa: E402  # type: ignore[import-not-found,unused-ignore]

HOME = ROOT / "build" / "platforms" / "aarch64"
PLUGIN = HOME / "qemu_instructions.so"
EMULATOR = "qemu-aarch64"  # the static one has no plugins
FILES, FEW, MANY = 8, 1, 3

PROGRAM = """
import sys
from pathlib import Path
from pixelmill import Pipeline, _core, fn, types
files, batches = sorted(map(str, Path(sys.argv[1]).iterdir())), int(sys.argv[2])
pipe = Pipeline(batch_size=len(files), num_threads=1, device_id=None, seed=7, prefetch_queue_depth=1)
with pipe:
    encoded, labels = fn.readers.file(files=files, name="Reader")
    windows = fn.decoders.image_random_crop(encoded, random_area=[0.08, 1.0], seed=3)
    pipe.set_outputs(fn.crop_mirror_normalize(
        fn.resize(windows, size=[224, 224]), mirror=fn.random.coin_flip(seed=5), dtype=types.FLOAT,
        mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0],
    ))
pipe.build()
for _ in range(batches):
    pipe.run()
print("level:", _core.simd_level())
for line in Path("/proc/self/maps").read_text().splitlines():
    if "_core.cpython" in line:
        print("mapped:", line)
"""
Counts = Counter[str]  # instructions by function


def main() -> None:
    """Count, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    parser.add_argument("--functions", type=int, default=0, help="print so many functions of each level")
    options = parser.parse_args()
    if shutil.which(EMULATOR) is None:
        sys.exit("arm_instructions.py: apt install qemu-user")
    if not (HOME / "site").is_dir():
        sys.exit("arm_instructions.py: make platforms ARGS=aarch64")
    source = ROOT / "benchmarks" / "qemu_instructions.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(PLUGIN), str(source)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        _write_photos(Path(folder))
        images = FILES * (MANY - FEW)
        functions = {level: _of_an_image(level, folder, images) for level in ("neon", "base")}
    counts = {level: found.total() for level, found in functions.items()}
    ratio = counts["neon"] / counts["base"]
    found = {"images": images, "instructions of an image": counts, "neon / base": round(ratio, 3)}
    print(json.dumps(found, indent=1))
    _print_functions(functions, options.functions)
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n")


def _of_an_image(level: str, folder: str, images: int) -> Counts:
    counts = _count(level, folder, MANY)
    counts.subtract(_count(level, folder, FEW))
    return Counter({name: count // images for name, count in counts.items()})


def _print_functions(functions: dict[str, Counts], most: int) -> None:
    for level, counts in functions.items():
        for name, count in counts.most_common(most):
            print(f"{level} {count:>10,} {name[:140]}")


def _write_photos(folder: Path) -> None:
    """Write photo-like JPEG files of the sizes of ImageNet."""
    import pixelmill
    from pixelmill.create import create_images

    made = folder / "made"
    create_images(made, "i", 500, 375, FILES, "jpg", content="photo", seed=1, workers=1)
    for path in sorted(made.rglob("*.jpg")):
        assert pixelmill.imread(path).dtype == np.uint8
        path.rename(folder / path.name)
    shutil.rmtree(made)


def _count(level: str, folder: str, batches: int) -> Counts:
    with tempfile.TemporaryDirectory() as place:
        counts = Path(place) / "counts.txt"
        run = command(HOME, EMULATOR, "-plugin", f"{PLUGIN},out={counts}", "-d", "plugin")
        environment = os.environ | {"PIXELMILL_SIMD": level, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            [*run, "-c", PROGRAM, folder, str(batches)], env=environment, check=True, capture_output=True, text=True
        )
        lines = counts.read_text().splitlines()
    if f"level: {level}" not in done.stdout:
        sys.exit(f"arm_instructions.py: asked for {level}, got {done.stdout!r}")
    starts = [int(start, 16) for start in re.findall(r"mapped: (\w+)-", done.stdout)]
    return by_function(lines, min(starts), _symbols())


def _symbols() -> str:
    (module,) = (HOME / "site" / "pixelmill").glob("_core*.so")
    names = ["aarch64-linux-gnu-nm", "-C", "--numeric-sort", "--defined-only", str(module)]
    return subprocess.run(names, check=True, capture_output=True, text=True).stdout


def by_function(lines: list[str], start: int, symbols: str) -> Counts:
    """Sum counts by function: lines of an address and a count, where the core begins, and what nm prints of it."""
    named = [line.split(" ", 2) for line in symbols.splitlines()]
    code = [(int(address, 16), name) for address, kind, name in named if kind in "tTwW" and not name.startswith("$")]
    end = max(int(address, 16) for address, _, _ in named)
    found: Counts = Counter()
    for line in lines:
        address, count = line.split()
        offset = int(address, 16) - start
        at = bisect_right(code, (offset, "\uffff")) - 1
        found[code[at][1] if at >= 0 and offset <= end else "other libraries"] += int(count)
    return found


if __name__ == "__main__":
    main()
