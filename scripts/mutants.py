"""Change the sources in one place at a time, and see whether a test fails: `make mutants`.

    python scripts/mutants.py --count 60 --seed 1                  a sample of src/ and native/
    python scripts/mutants.py --only src/pixelmill/formats         of one folder or file
    python scripts/mutants.py --only native/ --count 15
    python scripts/mutants.py --list --count 20                    show the changes, run nothing
    python scripts/mutants.py --named                              the changes that scripts/mutants_named.py lists

Everything happens in copies of the tree under build/mutants, each with an environment of its own; the sources of the
checkout are only read. A mutant is killed if one of the test files that are chosen for it fails (and passes without
it) or takes longer than the limit. Survivors are printed with their diff: they are equivalent, or a test is missing.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

from mutants_named import NAMED
from mutants_sources import Mutant, all_mutants
from mutants_tests import tests_for

ROOT = Path(__file__).resolve().parents[1]
MOST_JOBS = 2
MOST_FILES = 1000
KILLED = ("killed", "timeout", "crashed")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        name: File and line.
        kind: What sort of change it is.
        state: killed, timeout, crashed (the interpreter ended), survived, broken (it cannot be built), or unclear (the
            test that failed, or took too long, does so without the mutant too).
        by: What noticed it.
        diff: The change.
    """

    name: str
    kind: str
    state: str
    by: str
    diff: str


class Workshop:
    """A copy of the tree with an environment of its own, in which sources may be changed."""

    def __init__(self, folder: Path, limit: float) -> None:
        folder = folder.resolve()
        self.tree = folder / "tree"
        self._limit = limit
        self._python = folder / "venv" / "bin" / "python"
        self._copy()
        if not self._python.exists():
            venv.create(folder / "venv")
            (packages,) = (folder / "venv").glob("lib/python*/site-packages")
            outer = [path for path in sys.path if path.endswith("-packages")]
            (packages / "outer.pth").write_text("".join(f"{path}\n" for path in outer), "utf-8")
        launcher = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
        self._environment = {**os.environ, **launcher, "CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1"}
        self._environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a stale .pyc must not stand for a mutated source
        self._environment |= {"CMAKE_BUILD_PARALLEL_LEVEL": "1"}
        install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", "."]
        self._run(install, limit=1800, check=True)
        (self._build,) = (self.tree / "build").iterdir()

    def _copy(self) -> None:
        """Copy what git knows, as it is in the checkout now; files that have gone are removed from the copy."""
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        names = {name for name in listed.decode().split("\0") if name and (ROOT / name).exists()}
        for path in list(self.tree.rglob("*")):
            name = path.relative_to(self.tree).as_posix()
            if path.is_file() and name not in names and not name.startswith("build/"):
                path.unlink()
        for name in names:
            target, data = self.tree / name, (ROOT / name).read_bytes()
            if not target.exists() or target.read_bytes() != data:  # untouched files keep their time, for ninja
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                shutil.copymode(ROOT / name, target)

    def _run(self, arguments: Sequence[str], *, limit: float, check: bool = False) -> tuple[int | None, str]:
        """Run Python in the tree; return its exit code (None after the limit) and what it printed."""
        process = subprocess.Popen(
            [str(self._python), *arguments],
            cwd=self.tree,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        if check and process.returncode:
            sys.exit(printed)
        return process.returncode, printed

    def _rebuild(self) -> bool:
        """Compile what has changed, and put the library where the environment loads it from."""
        build = subprocess.run(
            ["cmake", "--build", str(self._build)], env=self._environment, capture_output=True, check=False
        )
        if build.returncode:
            return False
        (library,) = self._build.glob("_core*.so")
        (target,) = self._python.parents[1].glob("lib/python*/site-packages/pixelmill/_core*.so")
        shutil.copyfile(library, target.with_suffix(".new"))
        target.with_suffix(".new").replace(target)
        return True

    def _pytest(self, arguments: Sequence[str], limit: float) -> tuple[int | None, str]:
        options = ["-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestConfigWarning"]
        return self._run(["-m", "pytest", *options, *arguments], limit=limit)

    def try_mutant(self, mutant: Mutant, tests: Sequence[str]) -> Outcome:
        """Apply a change, run the tests, and put the file back."""
        path = self.tree / mutant.path
        text = path.read_text("utf-8")
        native = mutant.path.parts[0] == "native"
        path.write_text(mutant.applied(text), "utf-8")
        try:
            if native and not self._rebuild():
                state, by = "broken", "the compiler"
            else:
                code, printed = self._pytest(tests, self._limit)
                state, by = _judged(code, printed)
        finally:
            path.write_text(text, "utf-8")
            if native and not self._rebuild():
                sys.exit(f"{mutant.path}: the unchanged source does not build in {self._build}")
        if state in KILLED:
            code, printed = self._pytest([by] if state == "killed" else tests, self._limit)
            if code != 0:
                state, by = "unclear", f"{by} without the mutant too: {printed[-300:]}"
        name = f"{mutant.path}:{mutant.line(text)}"
        return Outcome(name, mutant.kind, state, by, _diff(mutant, text))


def _judged(code: int | None, printed: str) -> tuple[str, str]:
    """Return what a run of pytest says of a mutant, and which test noticed it."""
    if code is None:
        return "timeout", "the limit"
    if code == 0:
        return "survived", ""
    failed = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - |$)", printed, re.MULTILINE)
    if failed is None:
        return ("killed", "tests/conftest.py") if code == 4 else ("crashed", f"exit code {code}")
    return "killed", failed.group(1)


def _diff(mutant: Mutant, text: str) -> str:
    lines = difflib.unified_diff(text.splitlines(), mutant.applied(text).splitlines(), n=1, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


def sample(mutants: Sequence[Mutant], *, seed: int, count: int, native: int) -> list[Mutant]:
    """Draw changes, the same for one seed and one state of the sources: so many of Python, so many of C++."""
    draw = random.Random(seed)
    of_core = [mutant for mutant in mutants if mutant.path.parts[0] == "native"]
    of_package = [mutant for mutant in mutants if mutant.path.parts[0] != "native"]
    chosen = draw.sample(of_package, min(count, len(of_package)))
    return chosen + draw.sample(of_core, min(native, len(of_core)))


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60, help="mutants of src/ (default 60)")
    parser.add_argument("--native", type=int, default=15, help="mutants of native/, which are built (default 15)")
    parser.add_argument("--only", default="", metavar="PATH", help="only files whose path begins with this")
    parser.add_argument("--files", type=int, default=8, help="most test files that are run for a mutant (default 8)")
    parser.add_argument("--limit", type=float, default=300, help="seconds for the tests of a mutant (default 300)")
    parser.add_argument("--jobs", type=int, choices=range(1, MOST_JOBS + 1), default=1)
    parser.add_argument("--again", action="store_true", help="try survivors again with all tests that reach the module")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants", help="where the copies are")
    parser.add_argument("--json", type=Path, help="write all outcomes to this file")
    parser.add_argument("--named", action="store_true", help="try the changes of mutants_named.py instead of a sample")
    parser.add_argument("--list", action="store_true", help="print the sample with its tests, and run nothing")
    return parser.parse_args()


def main() -> None:
    arguments = _parsed()
    if arguments.named:
        named = {change.mutant(ROOT): [change.tests] for change in NAMED if change.path.startswith(arguments.only)}
        chosen = list(named)
    else:
        named = {}
        mutants = all_mutants(ROOT, arguments.only)
        chosen = sample(mutants, seed=arguments.seed, count=arguments.count, native=arguments.native)

    def tests_of(mutant: Mutant, most: int, root: Path = ROOT) -> Sequence[str]:
        line = mutant.line((root / mutant.path).read_text("utf-8"))
        return named.get(mutant) or tests_for(root, mutant.path, line, most)

    if arguments.list:
        for mutant in chosen:
            text = (ROOT / mutant.path).read_text("utf-8")
            print(f"{mutant.path}:{mutant.line(text)} {mutant.kind}\n{_diff(mutant, text)}")
            print("  " + " ".join(tests_of(mutant, arguments.files)))
        print(f"{len(chosen)} mutants")
        return
    free: Queue[Workshop] = Queue()
    for number in range(arguments.jobs):
        free.put(Workshop(arguments.folder / str(number), arguments.limit))

    def tried(mutant: Mutant) -> Outcome:
        workshop = free.get()
        try:
            tests = tests_of(mutant, arguments.files, workshop.tree)
            outcome = workshop.try_mutant(mutant, tests)
            if outcome.state == "survived" and arguments.again:
                others = [test for test in tests_of(mutant, MOST_FILES, workshop.tree) if test not in tests]
                outcome = workshop.try_mutant(mutant, others)
        finally:
            free.put(workshop)
        print(f"{outcome.state:<9} {outcome.name} ({outcome.kind}) {outcome.by}", flush=True)
        return outcome

    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(tried, chosen))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1), "utf-8")
    for outcome in outcomes:
        if outcome.state not in (*KILLED, "broken"):
            print(f"\n{outcome.state}: {outcome.name} ({outcome.kind}) {outcome.by}\n{outcome.diff}")
    counts = Counter(outcome.state for outcome in outcomes)
    built = len(outcomes) - counts["broken"]
    killed = sum(counts[state] for state in KILLED)
    states = ", ".join(f"{number} {state}" for state, number in sorted(counts.items()))
    which = "named" if arguments.named else f"seed {arguments.seed}"
    print(f"\n{which}: {killed} of {built} killed ({states})")


if __name__ == "__main__":
    main()
