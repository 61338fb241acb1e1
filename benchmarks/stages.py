"""Shows where the time of an image goes: instructions by valgrind, processor time by perf.

python benchmarks/stages.py [WORKLOAD ...] [--small DIR --camera DIR] [--json FILE]

Both need symbols, so pixelmill is compiled once more, into build/symbols, with the same optimization.
"""

from __future__ import annotations

import os
import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import callgrind
import data
import machine
from rich.console import Console
from rich.table import Table
from workloads import AFTER_DECODING, WORKLOADS, Workload

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = "pixelmill::Batch::run("  # the work for one image
STEP = re.compile(r"pixelmill::\(anonymous namespace\)::(\w+)::run\(pixelmill::Context&")
BEFORE = ("Read", "Decode")  # all other steps count as work after decoding
SHOWN_FUNCTIONS = 10
# Images to time for each kind of files, and the library of a sample of perf by a part of its path.
TIMED_IMAGES = {"small": 2000, "camera": 120}
PLACES = {"libjpeg": "libjpeg-turbo", "_core": "pixelmill", "[kernel": "kernel", "libc.so": "C library"}


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 140)
    core = options.core or _build()
    result: dict[str, Any] = {"machine": machine.describe(), "stages": {}}
    for name in options.workloads or ["train", "val"]:
        workload = WORKLOADS[name]
        files = data.load(workload.file_kind, getattr(options, workload.file_kind), ROOT / "build")
        stages = {"data": files.describe(), **_instructions(workload, files.files, core)}
        stages["time"] = _time(workload, files.files, core)
        result["stages"][name] = stages
        show(console, name, stages)
    target = options.json or _default_target(result)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    console.print(f"results: {target}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", choices=[*WORKLOADS, []])
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--camera", type=Path, help="folder of JPEG files of some MB; created if omitted")
    parser.add_argument("--core", type=Path, help="a compiled module with symbols, instead of a new one")
    parser.add_argument("--json", type=Path, help="where to write; a new file in benchmarks/results if omitted")
    return parser.parse_args()


def _build() -> Path:
    """Compile with symbols. The kernels are optimized as always: CMakeLists.txt sets the flags for every build type."""
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    folder = ROOT / "build" / "symbols"
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DSKBUILD=1", "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}"]
    print(f"compiling with symbols in {folder}")
    for command in (configure, ["cmake", "--build", str(folder), "--target", "_core", "--parallel", str(os.cpu_count() or 1)]):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("_core*.so"))


def _program(workload: Workload, files: list[str], core: Path, batches: int) -> list[str]:
    program = str(Path(__file__).with_name("stage_workload.py"))
    return [sys.executable, program, str(core.resolve()), workload.kind, str(batches), *files]


def _instructions(workload: Workload, files: list[str], core: Path) -> dict[str, Any]:
    """Count instructions by step of the program and by function."""
    if shutil.which("valgrind") is None:
        raise SystemExit("stages.py needs valgrind (apt-get install valgrind)")
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "profile"
        watch = ["valgrind", *callgrind.OPTIONS, "--collect-atstart=no", f"--toggle-collect={SAMPLE}*"]
        command = [*watch, f"--callgrind-out-file={output}", *_program(workload, files, core, batches=1)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"stage_workload.py failed under valgrind:\n{done.stderr[-4000:]}")
        profile = callgrind.read(output)
    images = sum(count for name, count in profile.calls.items() if name.startswith(SAMPLE))
    total = sum(cost for name, cost in profile.total.items() if name.startswith(SAMPLE))
    steps: Counter[str] = Counter()
    for name, cost in profile.total.items():
        if found := STEP.match(name):
            steps[found[1]] += cost
    steps["everything else"] = total - steps.total()
    after = total - sum(steps[name] for name in BEFORE)
    return {
        "images": images,
        "instructions_per_image": {name: round(cost / images) for name, cost in steps.most_common()},
        "after_decoding": round(after / steps["Decode"], 4),
        "functions": {
            name: round(cost / images)
            for name, cost in profile.own.most_common()
            if name.startswith("pixelmill::") and cost > 0
        },
    }


def _time(workload: Workload, files: list[str], core: Path) -> dict[str, float] | None:
    """Sample the working thread without the distortion of valgrind; return nothing if perf does not run."""
    if shutil.which("perf") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "samples")
        batches = -(-TIMED_IMAGES[workload.file_kind] // len(files))
        record = ["perf", "record", "--quiet", "-F", "1999", "-e", "cpu-clock", "-o", output]
        done = subprocess.run([*record, *_program(workload, files, core, batches)], capture_output=True)
        if done.returncode:
            return None
        script = ["perf", "script", "-i", output, "-F", "tid,ip,dso"]
        text = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    threads: dict[str, list[str]] = {}
    for line in text.splitlines():
        thread, _, module = line.split(maxsplit=2)
        name = module.strip("()").rpartition("/")[2]
        place = next((place for prefix, place in PLACES.items() if name.startswith(prefix)), "other")
        threads.setdefault(thread, []).append(place)
    worker = max(threads.values(), key=lambda places: places.count("libjpeg-turbo"))
    steady = worker[len(worker) // 4 :]  # before that, memory is touched for the first time
    return {place: round(count / len(steady), 4) for place, count in Counter(steady).most_common()}


def _default_target(result: dict[str, Any]) -> Path:
    sources = {stages["data"]["source"] for stages in result["stages"].values()}
    moment = result["machine"]["date"][:16].replace(":", "")
    return ROOT / "benchmarks" / "results" / f"{moment}-stages-{'-'.join(sorted(sources))}.json"


def show(console: Console, workload: str, stages: dict[str, Any]) -> None:
    """Print the stages of a workload."""
    per_image: dict[str, int] = stages["instructions_per_image"]
    table = Table(
        "step", "instructions/image", "of decoding", title=f"{workload}: instructions, {stages['images']} images"
    )
    for step, count in per_image.items():
        table.add_row(step, f"{count:,}", f"{count / per_image['Decode']:.1%}")
    console.print(table)
    met = "[green]met[/]" if stages["after_decoding"] < AFTER_DECODING else "[red]not met[/]"
    console.print(f"  {met} all but reading and decoding: {stages['after_decoding']:.1%} of decoding (below 20 %)")
    for function, count in list(stages["functions"].items())[:SHOWN_FUNCTIONS]:
        console.print(
            f"  {count:>10,}  {function.replace('(anonymous namespace)::', '').partition('(')[0]}", highlight=False
        )
    if stages["time"]:
        fractions = ", ".join(f"{place} {fraction:.1%}" for place, fraction in stages["time"].items())
        console.print(f"  processor time of the working thread: {fractions}")


if __name__ == "__main__":
    main()
