"""Counts what a reader of the code has to follow: functions, modules and changes of module on two common paths.

`loader` decodes one JPEG of a folder into a batch through `Loader`; `augment` takes one TFRecord through
`pixelmill.augment`. Each path runs in its own process under `sys.setprofile`, so only Python code is counted. Most
calls build and compile the graph or open the output, once for any number of samples; the last two columns count only
what runs again for a second sample.

    python scripts/count_path.py                          # the package of this repository
    python scripts/count_path.py --source /work/before    # another checkout, for a comparison
    python scripts/count_path.py --path augment --list    # with the modules and their calls
"""

from __future__ import annotations

import argparse
import functools
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
    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
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
        self.functions[module, name] += 1
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


def prepare(folder: Path, count: int) -> None:
    """Create a folder of JPEG files, and a TFRecord file of them."""
    from pixelmill import convert
    from pixelmill.create import create_photo_folder

    create_photo_folder(folder / "photos", count, classes=1, seed=1)
    convert(folder / "photos", folder / "records", to="tfrecord", workers=1)


def load_batches(folder: Path, count: int) -> None:
    """Decode each JPEG into a batch of one."""
    from pixelmill import Loader, fn, pipeline_def

    @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
    def train() -> object:
        encoded, labels = fn.readers.file(file_root=str(folder / "photos"))
        images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
        return fn.crop_mirror_normalize(images, mirror=fn.random.coin_flip()), labels

    assert len(list(Loader(train(), ["images", "labels"]))) == count


def augment_records(folder: Path, count: int) -> None:
    """Write one variant of each record."""
    from pixelmill import augment

    with tempfile.TemporaryDirectory(dir=folder) as output:
        report = augment(str(folder / "records"), output, recipe="classification", workers=1, exists="overwrite")
    assert report.samples == count


def traced(path: str, count: int) -> Trace:
    """Run a path for this many samples, once before it is traced, so that imports do not count."""
    import pixelmill

    trace = Trace(str(Path(pixelmill.__file__).parent) + os.sep)
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name), count)
        run = functools.partial(load_batches if path == "loader" else augment_records, Path(name), count)
        run()
        trace.run(run)
    return trace


def measure(path: str) -> dict[str, object]:
    """Return the figures of a path for one sample, and of what runs again for a second one."""
    one, two = traced(path, 1), traced(path, 2)
    again = two.functions - one.functions
    return {
        "functions": len(one.functions),
        "modules": len(one.calls),
        "changes": one.changes,
        "sample_functions": len(again),
        "sample_modules": len({module for module, _ in again}),
        "calls": dict(one.calls.most_common()),
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
    print(
        f"{'path':<10}{'functions':>10}{'modules':>10}{'changes of module':>20}"
        f"{'per sample: functions':>24}{'modules':>10}"
    )
    for path in options.path or PATHS:
        # Each path has its own process: caches filled by another path would shorten it.
        command = [str(python if python.exists() else sys.executable), __file__, "--path", path]
        done = subprocess.run(command, env={**os.environ, _IN_CHILD: "1"}, stdout=subprocess.PIPE, check=True)
        found = json.loads(done.stdout)
        row = f"{path:<10}{found['functions']:>10}{found['modules']:>10}{found['changes']:>20}"
        print(f"{row}{found['sample_functions']:>24}{found['sample_modules']:>10}")
        for module, calls in found["calls"].items() if options.list else ():
            print(f"    {calls:>5} {module}")


if __name__ == "__main__":
    main()
