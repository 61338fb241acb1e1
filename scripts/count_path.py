"""Counts what a reader of the code has to follow: functions, modules and changes of module on two common paths.

`loader` decodes one JPEG of a folder into a batch through `Loader`; `augment` takes one TFRecord through
`pixelmill.augment`. Each path runs once in this process under `sys.setprofile`, so only Python code is counted.

    python scripts/count_path.py                          # the package of this repository
    python scripts/count_path.py --source /work/before    # another checkout, for a comparison
    python scripts/count_path.py --path augment --list    # with the modules and their calls
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("loader", "augment")
_IN_CHILD = "PIXELMILL_COUNT_PATH"


@dataclass
class Trace:
    """The calls of one run, in order."""

    package: str
    functions: set[tuple[str, str]] = field(default_factory=set)
    calls: Counter[str] = field(default_factory=Counter)
    changes: int = 0
    _last: str = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call of a function of the package; `sys.setprofile` calls this."""
        if event != "call" or not frame.f_code.co_filename.startswith(self.package):
            return
        module = frame.f_code.co_filename.removeprefix(self.package)
        name = frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name
        if name == "<module>":  # an import is not a step of the path
            return
        self.functions.add((module, name))
        self.calls[module] += 1
        self.changes += module != self._last
        self._last = module

    def run(self, path: Callable[[], object]) -> None:
        """Run a path under this trace, in this thread and in those it starts."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            path()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


def prepare(folder: Path) -> None:
    """Create a folder with one JPEG, and a TFRecord of it."""
    from pixelmill import convert
    from pixelmill.create import create_photo_folder

    create_photo_folder(folder / "photos", 1, classes=1, seed=1)
    convert(folder / "photos", folder / "records", to="tfrecord", workers=1)


def load_batch(folder: Path) -> None:
    """Decode the JPEG into a batch of one."""
    from pixelmill import Loader, fn, pipeline_def

    @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
    def train() -> object:
        encoded, labels = fn.readers.file(file_root=str(folder / "photos"))
        images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip()), labels

    assert len(list(Loader(train(), ["images", "labels"]))) == 1


def augment_record(folder: Path, output: Path) -> None:
    """Write one variant of the record."""
    from pixelmill import augment

    report = augment(str(folder / "records"), output, recipe="classification", workers=1)
    assert report.samples == 1


def measure(path: str) -> dict[str, object]:
    """Run a path twice, the second time under a trace, so that imports do not count."""
    import pixelmill

    package = str(Path(pixelmill.__file__).parent) + os.sep
    trace = Trace(package)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for number, run in enumerate((lambda work: work(), trace.run)):
            output = folder / f"out{number}"
            run(lambda: load_batch(folder) if path == "loader" else augment_record(folder, output))  # noqa: B023
    return {
        "functions": len(trace.functions),
        "modules": len(trace.calls),
        "changes": trace.changes,
        "calls": dict(trace.calls.most_common()),
    }


def main() -> None:
    """Print a row for each path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=ROOT, help="the checkout to count in")
    parser.add_argument("--path", choices=PATHS, action="append", help="count this path only")
    parser.add_argument("--list", action="store_true", help="list the modules with their calls")
    options = parser.parse_args()
    if os.environ.get(_IN_CHILD):
        print(json.dumps(measure(options.path[0])))
        return
    python = options.source / ".venv" / "bin" / "python"
    print(f"{'path':<10}{'functions':>10}{'modules':>10}{'changes of module':>20}")
    for path in options.path or PATHS:
        # Each path has its own process: caches filled by another path would shorten it.
        command = [str(python if python.exists() else sys.executable), __file__, "--path", path]
        done = subprocess.run(command, env={**os.environ, _IN_CHILD: "1"}, stdout=subprocess.PIPE, check=True)
        found = json.loads(done.stdout)
        print(f"{path:<10}{found['functions']:>10}{found['modules']:>10}{found['changes']:>20}")
        for module, calls in found["calls"].items() if options.list else ():
            print(f"    {calls:>5} {module}")


if __name__ == "__main__":
    main()
