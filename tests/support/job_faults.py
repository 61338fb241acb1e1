"""Kill a small job, or let a system call fail, at every place; then resume and compare with an undisturbed run.

    python job_faults.py points FOLDER           killed before and after every system call that changes the disk
    python job_faults.py errors FOLDER all       every such call fails once, with a full disk or a broken device
    python job_faults.py full FOLDER 50          the disk is full, at so many sizes; needs root to mount a small one
    python job_faults.py limit FOLDER 50         a file may not become larger than so many sizes
    python job_faults.py moments FOLDER 200 2    killed at so many random moments, half of them twice, with two workers

It prints one line of JSON. Cases are forked from one process, which makes them cheap.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from small_jobs import NumbersJob, tree

from pixelmill.errors import OutputError
from pixelmill.jobs import run_job

CALLS = ("write", "fsync", "replace", "link", "unlink", "mkdir", "rmdir", "utime")
SMALL = NumbersJob(count=4, per_shard=2)
OTHER = NumbersJob(count=4, per_shard=2, stem="other-", seed=9)
# A job with a manifest, one without, and one that is added to the folder of another.
MODES: dict[str, dict[str, Any]] = {"manifest": {}, "plain": {"plain": True}, "add": {"exists": "add"}}
LARGER = NumbersJob(count=40, per_shard=4, sleep=0.002, size=20_000)
DENSE = NumbersJob(count=40, per_shard=4, size=20_000)
TOTAL = 40 * 20_000


def in_child(work: Callable[[], None]) -> int:
    """Do something in a process of its own; give the signal that ended it as a negative number, or its exit code."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def wrap_calls(at: Callable[[int, str, Callable[[], Any]], Any]) -> None:
    """Have `at` called, with a running number, instead of each system call that changes the disk."""
    count = -1

    def wrap(name: str) -> None:
        original = getattr(os, name)

        def wrapped(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            return at(count, name, lambda: original(*arguments, **keywords))

        setattr(os, name, wrapped)

    for name in CALLS:
        wrap(name)


def prepare(output: Path, mode: str) -> None:
    """Write what is in the output folder before the job starts."""
    if mode == "add":
        assert in_child(lambda: run(OTHER, output, exists="add")) == 0


def count_calls(folder: Path, mode: str) -> list[str]:
    """List the calls of an undisturbed run."""
    prepare(folder / "counted", mode)
    log = folder / "calls"

    def work() -> None:
        names: list[str] = []
        wrap_calls(lambda _, name, call: (names.append(name), call())[1])
        run(SMALL, folder / "counted", **MODES[mode])
        log.write_text(" ".join(names), "ascii")

    assert in_child(work) == 0
    shutil.rmtree(folder / "counted")
    return log.read_text("ascii").split()


def killed_run(output: Path, *, place: int, after: bool, **options: Any) -> None:
    def at(number: int, name: str, call: Callable[[], Any]) -> Any:
        if number == place and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return call()
        finally:
            if number == place:
                os.kill(os.getpid(), signal.SIGKILL)

    wrap_calls(at)
    run(SMALL, output, **options)


def finished_shards(output: Path) -> dict[str, int]:
    """Return the inodes of all files whose shard has a sidecar: a resumed run must not write them again."""
    inodes = {}
    for sidecar in output.glob(".pixelmill*/shard-*.json"):
        for file in json.loads(sidecar.read_text("ascii"))["files"]:
            inodes[file["name"]] = (output / file["name"]).stat().st_ino
    return inodes


def resumed(output: Path, expected: dict[str, str], mode: str = "manifest") -> str | None:
    """Resume a job and say what is wrong with its output."""
    kept = finished_shards(output)
    # A finished plain job looks like files of another program, and is refused; there is nothing to resume then.
    finished = mode == "plain" and tree(output) == expected
    if not finished and in_child(lambda: run(SMALL, output, **{"exists": "resume", **MODES[mode]})):
        return "resume failed"
    if tree(output) != expected:
        return f"differs: {sorted(tree(output).items() ^ expected.items())}"
    again = [name for name, inode in kept.items() if (output / name).stat().st_ino != inode]
    return f"written again: {again}" if again else None


def points(folder: Path) -> dict[str, Any]:
    """Kill before and after every call, in every mode, and during the resume too."""
    failures, cases, calls = [], 0, {}
    for mode, options in MODES.items():
        expected = undisturbed(folder, SMALL, mode)
        names = count_calls(folder, mode)
        calls[mode] = len(names)
        for place, after in itertools.product(range(len(names)), (False, True)):
            output = folder / "out"
            prepare(output, mode)
            code = in_child(partial(killed_run, output, place=place, after=after, **options))
            if place % 3 == 0 and tree(output) != expected:  # and again in the resumed run, at a place that moves along
                again = {"exists": "resume", **options}
                in_child(partial(killed_run, output, place=place // 2, after=after, **again))
            wrong = f"ended with {code}" if code != -signal.SIGKILL else resumed(output, expected, mode)
            if wrong:
                failures.append([mode, place, names[place], after, wrong])
            cases += 1
            shutil.rmtree(output, ignore_errors=True)
    return {"cases": cases, "calls": calls, "failures": failures}


def errors(folder: Path, which: str) -> dict[str, Any]:
    """Let every write, sync and rename fail once."""
    expected = undisturbed(folder, SMALL)
    failures, cases = [], 0
    for place, name in enumerate(count_calls(folder, "manifest")):
        if name not in ("write", "fsync", "replace", "mkdir", "link"):
            continue
        for code in (errno.ENOSPC, errno.EIO, errno.EDQUOT) if which == "all" else (errno.ENOSPC,):
            output = folder / "out"
            ended = in_child(partial(failing_run, output, place=place, code=code))
            problem = f"ended with {ended}" if ended else resumed(output, expected)
            if problem:
                failures.append([place, name, code, problem])
            cases += 1
            shutil.rmtree(output, ignore_errors=True)
    return {"cases": cases, "failures": failures}


def undisturbed(folder: Path, job: NumbersJob, mode: str = "manifest") -> dict[str, str]:
    """Return the output of a job that nothing disturbs."""
    output = folder / "expected"
    prepare(output, mode)
    assert in_child(partial(run, job, output, **MODES[mode])) == 0
    expected = tree(output)
    shutil.rmtree(output)
    return expected


def run(job: NumbersJob, output: Path, *, plain: bool = False, exists: Any = "error", workers: int = 1) -> None:
    run_job(job, output, workers=workers, plain=plain, exists=exists)


def failing_run(output: Path, *, place: int, code: int) -> None:
    def at(number: int, name: str, call: Callable[[], Any]) -> Any:
        if number == place:
            raise OSError(code, os.strerror(code))
        return call()

    wrap_calls(at)
    try:
        run_job(SMALL, output, workers=1)
    except OutputError as error:
        assert os.strerror(code) in str(error), error
        assert str(output) in str(error), error
        assert error.errno == code
        return
    raise AssertionError("the failure was not noticed")


def full_disk(folder: Path, count: int) -> dict[str, Any]:
    """Run on a file system that is too small, then enlarge it and resume."""
    expected = undisturbed(folder, DENSE)
    disk = folder / "disk"
    disk.mkdir()
    failures = []
    for size in sizes(count, TOTAL):
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", disk], check=True)
        try:
            relief = ["mount", "-o", "remount,size=64m", str(disk)]
            problem = stopped_and_resumed(disk / "out", expected, code=errno.ENOSPC, relief=relief)
        finally:
            subprocess.run(["umount", disk], check=True)
        if problem:
            failures.append([size, problem])
    return {"cases": count, "failures": failures}


def limited_file(folder: Path, count: int) -> dict[str, Any]:
    """Run with a limit on the size of files, then without it."""
    expected = undisturbed(folder, DENSE)
    failures = []
    for size in sizes(count, TOTAL // len(DENSE.shards)):
        output = folder / "out"
        problem = stopped_and_resumed(output, expected, code=errno.EFBIG, limit=size)
        if problem:
            failures.append([size, problem])
        shutil.rmtree(output, ignore_errors=True)
    return {"cases": count, "failures": failures}


def sizes(count: int, largest: int) -> list[int]:
    return [max(largest * (number + 1) // (count + 1) // 4096, 1) * 4096 for number in range(count)]


def stopped_and_resumed(
    output: Path, expected: dict[str, str], *, code: int, limit: int | None = None, relief: list[str] | None = None
) -> str | None:
    """Have a job stop for want of space, look at what it has finished, make room, and resume."""
    if in_child(partial(stopped, output, code=code, limit=limit)):
        return "no error, or another one"
    for sidecar in output.glob(".pixelmill/shard-*.json"):
        for file in json.loads(sidecar.read_text("ascii"))["files"]:
            if hashlib.sha256((output / file["name"]).read_bytes()).hexdigest() != file["sha256"]:
                return f"{file['name']} is damaged"
    if relief:
        subprocess.run(relief, check=True)
    if in_child(partial(run, DENSE, output, exists="resume")):
        return "resume failed"
    return None if tree(output) == expected else "differs"


def stopped(output: Path, *, code: int, limit: int | None) -> None:
    """Run a job that must end with an error about space that names a file and a number of bytes."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        run(DENSE, output)
    except OutputError as error:
        assert error.errno == code, error
        assert f"cannot write {output}" in str(error), error
        if "data-" in str(error):
            assert re.search(r"after [\d.]+ \w+, [\d.]+ \w+ more to write; finished shards are kept", str(error)), error
        return
    raise AssertionError("the job did not notice")


def moments(folder: Path, count: int, workers: int) -> dict[str, Any]:
    """Kill a job at random moments: only the process that was started, so that its workers must notice themselves."""
    draw = random.Random(1)
    expected = undisturbed(folder, LARGER)
    failures, ended = [], 0
    output = folder / "out"
    work = partial(run, LARGER, output, exists="resume", workers=workers)
    begin = time.monotonic()
    in_child(work)
    duration = time.monotonic() - begin
    shutil.rmtree(output)
    for number in range(count):
        for _ in range(1 + number % 2):
            ended += not killed_after(draw.uniform(0, duration), work)
        code = in_child(work)
        if code or tree(output) != expected:
            failures.append([number, code, sorted(tree(output).items() ^ expected.items())])
        shutil.rmtree(output, ignore_errors=True)
    return {"cases": count, "workers": workers, "ended_before_the_kill": ended, "failures": failures}


def killed_after(seconds: float, work: Callable[[], None]) -> bool:
    """Kill a child after a time; say whether it was still running."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def main(mode: str, folder: str, *rest: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    place = Path(folder)
    if mode == "moments":
        result = moments(place, int(rest[0]), int(rest[1]))
    elif mode == "errors":
        result = errors(place, rest[0])
    elif mode == "points":
        result = points(place)
    else:
        result = {"full": full_disk, "limit": limited_file}[mode](place, int(rest[0]))
    print(json.dumps(result))
    sys.exit(1 if result["failures"] else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
