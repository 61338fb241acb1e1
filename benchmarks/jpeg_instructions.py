"""Instructions for JPEG files and for single operators, of two builds of pixelmill beside each other.

    python benchmarks/jpeg_instructions.py --before OTHER/.venv/bin/python --small DIR --camera DIR --json FILE

valgrind's callgrind counts them, so the figures do not depend on what else the machine does. Every case runs a pipeline
of one thread with one batch and with three; half of the difference is the cost of a batch without start and end. Files
of each sampling are made from the photographs by cjpeg (Debian's libjpeg-turbo-progs). The other build needs the
packages of this one. `--operators` counts operators on decoded images instead of JPEG files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import machine
from jpeg_instructions_program import OPERATORS
from PIL import Image

PROGRAM = Path(__file__).with_name("jpeg_instructions_program.py")
SAMPLINGS = {"4:4:4": "1x1", "4:2:2": "2x1", "4:2:0": "2x2", "4:4:0": "1x2", "4:1:1": "4x1"}
# So that Python can say where counting begins: callgrind's macros are no functions.
SWITCHES = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(void) { CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION; }
"""


def transcode(path: Path, target: Path, sampling: str) -> None:
    """Write a file with another sampling, at quality 90."""
    with Image.open(path) as image:
        pixels = image.convert("L" if sampling == "gray" else "RGB")
    ppm = target.with_suffix(".ppm")
    pixels.save(ppm)
    factors = ["-sample", SAMPLINGS[sampling]] if sampling in SAMPLINGS else []
    subprocess.run(["cjpeg", "-quality", "90", *factors, "-outfile", str(target), str(ppm)], check=True)
    ppm.unlink()


def cases(small: list[Path], camera: list[Path], folder: Path) -> list[dict[str, Any]]:
    """Name what is measured: photographs as they are, and in each sampling."""
    sets = {"small": small, "camera": camera}
    for sampling in [*SAMPLINGS, "gray"]:
        made = [folder / f"{sampling.replace(':', '')}-{path.name}" for path in small]
        for path, target in zip(small, made, strict=True):
            transcode(path, target, sampling)
        sets[f"small, {sampling}"] = made
    works = [(name, work) for name in sets for work in ("full", "windows")] + [
        ("small", "encode"),
        ("camera", "encode"),
    ]
    return [{"work": work, "files": name, "paths": [str(path) for path in sets[name]]} for name, work in works]


def count(python: str, job: list[dict[str, Any]], switches: Path) -> list[float]:
    """Return the instructions of a build for an image of each case."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "counts"
        watch = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
        command = [*watch, python, str(PROGRAM), str(switches)]
        done = subprocess.run(command, input=json.dumps(job), capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{PROGRAM.name} failed under valgrind:\n{done.stderr[-4000:]}")
        totals = [total(Path(f"{output}.{number}")) for number in range(1, 2 * len(job) + 1)]
    pairs = zip(totals[::2], totals[1::2], job, strict=True)
    return [(three - one) / 2 / len(case["paths"]) for one, three, case in pairs]


def total(path: Path) -> int:
    """Return the instructions of all threads in a dump."""
    return sum(
        int(line.split()[1]) for line in path.read_text("utf-8", "replace").splitlines() if line[:7] == "totals:"
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the Python of the other build")
    parser.add_argument("--small", type=Path, required=True, help="folder of JPEG files of some 100 kB")
    parser.add_argument("--camera", type=Path, required=True, help="folder of JPEG files of some MB")
    parser.add_argument("--files", type=int, default=8, help="how many small ones")
    parser.add_argument("--camera-files", type=int, default=8)
    parser.add_argument("--operators", action="store_true", help="count operators on the small ones instead")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    """Count, print a table, and write the results."""
    options = parsed()
    small = sorted(options.small.glob("*.jp*g"))[: options.files]
    camera = sorted(options.camera.glob("*.jp*g"))[: options.camera_files]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, switches = folder / "switches.c", folder / "switches.so"
        source.write_text(SWITCHES)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(switches), str(source)], check=True)
        if options.operators:
            paths = [str(path) for path in small]
            job: list[dict[str, Any]] = [
                {"work": name, "files": "small, decoded", "paths": paths} for name in OPERATORS
            ]
        else:
            job = cases(small, camera, folder)
        before, after = (count(python, job, switches) for python in (options.before, sys.executable))
    rows = [
        {"work": case["work"], "files": case["files"], "before": round(old), "after": round(new), "ratio": new / old}
        for case, old, new in zip(job, before, after, strict=True)
    ]
    print("| work | files | before | after | ratio |\n|---|---|---|---|---|")
    for row in rows:
        millions = [f"{row[name] / 1e6:.2f}" for name in ("before", "after")]
        print(f"| {row['work']} | {row['files']} | {' | '.join(millions)} | {row['ratio']:.2f} |")
    if options.json:
        result = {**machine.describe(), "files": len(small), "camera_files": len(camera), "rows": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
