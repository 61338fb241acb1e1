"""The lock of a job: only a dead or silent owner loses it, and one that has lost it stops before it writes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_jobs import NumbersJob, tree

from pixelmill.errors import OutputError
from pixelmill.jobs import lock as locks
from pixelmill.jobs import run, run_job
from pixelmill.jobs.figures import Figures
from pixelmill.jobs.lock import Lease, Lock
from pixelmill.jobs.output import JobOutput
from pixelmill.jobs.remote_storage import RemoteStorage
from pixelmill.jobs.storage import LocalStorage, Storage

JOB = NumbersJob(count=20)
STATE = ".pixelmill"


class Clock:
    """A clock that advances only in `sleep`."""

    def __init__(self, while_asleep: Callable[[float], object] = lambda now: None) -> None:
        self.time = 0.0
        self._while_asleep = while_asleep

    def lease(self) -> Lease:
        return Lease(beat=3600, silence=15, look=0.5, now=lambda: self.time, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self._while_asleep(self.time)


@pytest.fixture(params=["local", "remote"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    if request.param == "local":
        yield LocalStorage(str(tmp_path / "out"))
        return
    pytest.importorskip("fsspec")
    place = f"memory://locks-{os.urandom(4).hex()}"
    yield RemoteStorage(place)


@pytest.fixture
def other_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Pretend to be on another machine, where the kernel does not know who holds a lock file."""
    return lambda boot: monkeypatch.setattr(locks, "_boot", lambda: boot)


def test_a_lock_that_beats_is_not_taken_over(storage: Storage, other_machine: Callable[[str], None]) -> None:
    other_machine("one")
    first = Lock(storage, STATE, lease=Lease(beat=3600))
    first.acquire()
    other_machine("two")

    def beat(now: float) -> None:
        if now == 14:
            time.sleep(0.002)  # so that the time of the file changes
            storage.touch(first.claim.lock, first.claim.owner.encode() + b"\n")

    clock = Clock(beat)
    with pytest.raises(OutputError, match=f"process {os.getpid()} on {os.uname().nodename} is writing to"):
        Lock(storage, STATE, lease=clock.lease()).acquire()
    assert clock.time == 14
    first.claim.check(storage)
    first.release()


def test_of_two_owners_the_silent_one_stops(storage: Storage, other_machine: Callable[[str], None]) -> None:
    other_machine("one")
    first = Lock(storage, STATE, lease=Lease(beat=3600))
    first.acquire()
    first.claim.check(storage)
    other_machine("two")
    clock = Clock()
    second = Lock(storage, STATE, lease=clock.lease())
    second.acquire()
    assert clock.time == 15
    with pytest.raises(OutputError, match=r"has taken over .* this run stops, its finished shards are kept"):
        first.claim.check(storage)
    second.claim.check(storage)
    # Signs of life that were under way when the lock changed hands do no harm.
    storage.write(first.claim.lock, first.claim.owner.encode() + b"\n")
    with pytest.raises(OutputError, match="has taken over"):
        first.claim.check(storage)
    second.claim.check(storage)
    first.release()
    second.claim.check(storage)
    second.release()
    assert storage.names(f"{STATE}/locks") == []


def test_parts_have_locks_of_their_own_and_the_whole_clashes_with_all(storage: Storage) -> None:
    parts = [Lock(storage, STATE, part=(number, 2)) for number in range(2)]
    for part in parts:
        part.acquire()
    if isinstance(storage, LocalStorage):  # a store would have to wait for their silence
        with pytest.raises(OutputError, match="is writing to"):
            Lock(storage, STATE).acquire()
    for part in parts:
        part.claim.check(storage)
        part.release()
    whole = Lock(storage, STATE)
    whole.acquire()
    whole.release()


def test_no_sign_of_life_brings_back_a_lock_that_is_removed_with_its_folder(storage: Storage) -> None:
    first = Lock(storage, STATE)
    first.acquire()
    with first.removed():
        beating = [thread for thread in threading.enumerate() if thread.name == "pixelmill-job-lock"]
        assert len(beating) == (0 if storage.is_remote else 1)
        storage.remove_tree(STATE)
    first.release()
    assert storage.names(STATE) == []
    second = Lock(storage, STATE)
    second.acquire()
    with pytest.raises(OSError, match="no answer"), second.removed():
        raise OSError("no answer")
    second.release()
    assert storage.names(f"{STATE}/locks") == []  # it was not removed with its folder


def program(output: Path, *, sleep: float) -> list[str]:
    code = "import sys; from small_jobs import *; from pixelmill.jobs import run_job; "
    code += f"run_job(NumbersJob(count=20, sleep={sleep}), {str(output)!r}, workers=1, exists='resume')"
    return [sys.executable, "-c", code]


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A job under way, in the middle of its first shard."""
    process = started(program(tmp_path / "out", sleep=0.05))
    wait_for(lambda: any((tmp_path / "out" / STATE / "tmp").glob("*/0")))
    yield process
    ended(process)


def started(command: list[str]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate(timeout=120)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_stopped_owner_keeps_its_lock(tmp_path: Path, owner: subprocess.Popen[bytes]) -> None:
    owner.send_signal(signal.SIGSTOP)
    with pytest.raises(OutputError, match=f"process {owner.pid} on .* is writing to"):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    owner.send_signal(signal.SIGCONT)
    assert owner.wait(60) == 0
    run_job(JOB, tmp_path / "expected", workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")


def test_a_stolen_owner_stops_with_a_sentence_and_the_thief_finishes(
    tmp_path: Path,
    owner: subprocess.Popen[bytes],
    other_machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The owner is stopped for longer than the lease, as a suspended machine is."""
    owner.send_signal(signal.SIGSTOP)
    other_machine("two")
    clock = Clock()
    monkeypatch.setattr(locks, "Lease", clock.lease)
    run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    run_job(JOB, tmp_path / "expected", workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")
    owner.send_signal(signal.SIGCONT)
    _, error = owner.communicate(timeout=60)
    assert owner.returncode == 1
    assert b"has taken over" in error and b"this run stops" in error
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")


@pytest.mark.parametrize("moment", ["while both run", "overwritten by another job"])
def test_a_stolen_owner_leaves_the_files_of_the_thief_alone(
    tmp_path: Path,
    owner: subprocess.Popen[bytes],
    other_machine: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    owner.send_signal(signal.SIGSTOP)
    other_machine("two")
    clock = Clock()
    monkeypatch.setattr(locks, "Lease", clock.lease)
    job = NumbersJob(count=20, seed=5) if moment == "overwritten by another job" else JOB
    seen: list[int] = []

    def wake(progress: object) -> None:
        if not seen:  # the thief has begun its first shard
            owner.send_signal(signal.SIGCONT)
            seen.append(owner.wait(60))

    exists = "overwrite" if job is not JOB else "resume"
    run_job(job, tmp_path / "out", workers=1, exists=exists, on_progress=wake)
    assert seen == [1]
    run_job(job, tmp_path / "expected", workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")


def test_an_owner_in_another_pid_namespace_keeps_its_lock(tmp_path: Path) -> None:
    """It has the same host name, and a process id that is another process here, or none."""
    unshare = shutil.which("unshare")
    prefix = [str(unshare), "--pid", "--fork", "--mount-proc", "--kill-child"]
    if unshare is None or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("new PID namespaces are not permitted here")
    process = started([*prefix, *program(tmp_path / "out", sleep=0.05)])
    try:
        wait_for(lambda: any((tmp_path / "out" / STATE / "tmp").glob("*/0")))
        (file,) = (tmp_path / "out" / STATE / "locks").iterdir()
        assert json.loads(file.read_text())["pid"] < 10
        with pytest.raises(OutputError, match="is writing to"):
            run_job(JOB, tmp_path / "out", workers=1, exists="resume")
        assert process.wait(60) == 0
    finally:
        ended(process)
    run_job(JOB, tmp_path / "expected", workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")


def test_parts_that_end_at_the_same_time_do_not_take_each_other_for_thieves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one to finish removes the state of the job, with the locks of all parts."""
    finish = run._finish_among_others

    def twice(output: JobOutput, done: dict[int, Figures]) -> None:
        finish(output, done)
        finish(output, done)

    monkeypatch.setattr(run, "_finish_among_others", twice)
    for part in range(2):
        report = run_job(JOB, tmp_path / "out", workers=1, shard_index=part, num_shards=2)
    assert report.complete
    monkeypatch.undo()
    run_job(JOB, tmp_path / "expected", workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "expected")
