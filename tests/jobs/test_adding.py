"""Jobs that add their files to one folder, one after the other or at the same time."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pytest

from pixelmill import ArgumentError, augment, verify
from pixelmill.create import create_images
from pixelmill.errors import OutputExists
from pixelmill.formats.registry import open_dataset
from pixelmill.jobs import Job, ShardFiles, ShardPlan, ShardReport, job_status, run_job
from pixelmill.jobs.storage import open_storage


@dataclass(frozen=True)
class Letters(Job):
    """Writes two files; fails at the second one if asked to."""

    kind: ClassVar[str] = "letters"
    name: str
    fails: bool = field(default=False, metadata={"plan": False})

    @property
    def shards(self):
        return [ShardPlan(number, (f"{self.name}-{number}.txt",)) for number in range(2)]

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        if self.fails and number:
            raise RuntimeError("killed")
        files.write(f"{self.name}-{number}.txt", f"{self.name} {number}\n".encode())
        return ShardReport(samples=1)


def add(job, folder):
    return run_job(job, folder, workers=1, exists="add")


def content(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in Path(folder).iterdir()}


def test_jobs_are_added_and_a_second_run_has_nothing_to_do(tmp_path):
    reports = [add(Letters(name), tmp_path / "out") for name in "abc"]
    before = content(tmp_path / "out")
    manifests = {Path(report.manifest).name for report in reports}
    assert before.keys() == {f"{name}-{number}.txt" for name in "abc" for number in (0, 1)} | manifests
    assert add(Letters("b"), tmp_path / "out").made == 0 and content(tmp_path / "out") == before
    status = job_status(tmp_path / "out")
    assert len(status) == 3 and all(item.complete and item.samples == 2 for item in status)


def test_order_does_not_matter_and_a_job_can_be_added_to_one_that_owns_the_folder(tmp_path):
    for name in "abc":
        add(Letters(name), tmp_path / "one")
    for name in "cab":
        add(Letters(name), tmp_path / "two")
    assert content(tmp_path / "one") == content(tmp_path / "two")
    run_job(Letters("a"), tmp_path / "owned", workers=1)
    add(Letters("b"), tmp_path / "owned")
    assert [item.complete for item in job_status(tmp_path / "owned")] == [True, True]


def test_a_job_that_died_is_continued_while_others_are_added(tmp_path):
    with pytest.raises(RuntimeError, match="killed"):
        add(Letters("a", fails=True), tmp_path / "out")
    add(Letters("b"), tmp_path / "out")
    states = {item.complete: item for item in job_status(tmp_path / "out")}
    assert states[False].missing == (1,) and states[True].done == 2
    report = add(Letters("a"), tmp_path / "out")
    assert report.complete and report.made == 1
    for name in "ab":
        add(Letters(name), tmp_path / "whole")
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@dataclass(frozen=True)
class Other(Letters):
    """Writes files of the same names."""

    kind: ClassVar[str] = "other"


@pytest.mark.parametrize("fails", [False, True])
def test_files_of_other_jobs_are_never_replaced(tmp_path, fails):
    try:
        add(Letters("a", fails=fails), tmp_path / "out")
    except RuntimeError:
        (tmp_path / "out" / "a-0.txt").unlink()  # the name is reserved even where the file is not there yet
    before = content(tmp_path / "out") if not fails else None
    with pytest.raises(OutputExists, match=r"a-0.txt"):
        add(Other("a"), tmp_path / "out")
    assert before is None or content(tmp_path / "out") == before
    assert len(job_status(tmp_path / "out")) == 1


def test_foreign_files_are_never_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a-1.txt").write_text("mine")
    with pytest.raises(OutputExists, match=r"a-1.txt exists; choose another folder"):
        add(Letters("a"), tmp_path / "out")
    assert (tmp_path / "out" / "a-1.txt").read_text() == "mine"


@pytest.mark.parametrize("exists", ["error", "resume", "overwrite"])
def test_a_job_that_owns_its_folder_refuses_one_with_added_files(tmp_path, exists):
    add(Letters("a"), tmp_path / "out")
    with pytest.raises(OutputExists, match="exists=add"):
        run_job(Letters("b"), tmp_path / "out", workers=1, exists=exists)


def test_nothing_is_added_beside_an_unfinished_job_that_owns_the_folder(tmp_path):
    with pytest.raises(RuntimeError):
        run_job(Letters("a", fails=True), tmp_path / "out", workers=1)
    with pytest.raises(OutputExists, match="unfinished job that owns the folder"):
        add(Letters("b"), tmp_path / "out")
    assert len(job_status(tmp_path / "out")) == 1


def test_damage_is_found_in_the_files_of_every_job(records, tmp_path):
    for path in records:
        augment(str(path), tmp_path / "out", exists="add")
    checked = verify(tmp_path / "out")
    assert not checked.problems and len(open_dataset(tmp_path / "out")) == 6
    for path in records:
        target = tmp_path / "out" / path.name
        whole = target.read_bytes()
        target.write_bytes(whole[:-20])
        assert any(problem.path == str(target) for problem in verify(tmp_path / "out").problems)
        target.write_bytes(whole)


@pytest.fixture
def records(tmp_path):
    create_images(tmp_path / "in", "train-", 40, 30, 6, "jpg", container="tfrecord", img_per_file=2, workers=1)
    return sorted(path for path in (tmp_path / "in").iterdir() if path.suffix not in (".idx", ".json"))


def test_one_process_for_each_file_at_the_same_time(records, tmp_path):
    assert len(records) == 3
    command = [sys.executable, "-m", "pixelmill", "augment", "--output", str(tmp_path / "out"), "--exists", "add"]
    running = [subprocess.Popen([*command, "--json", str(path)], stdout=subprocess.PIPE) for path in records]
    reports = [json.loads(process.communicate()[0]) for process in running]
    assert all(report["complete"] and report["samples"] == 2 for report in reports)
    for path in records:
        augment(str(path), tmp_path / "after", exists="add")
    assert content(tmp_path / "out") == content(tmp_path / "after")


def test_folders_of_images_cannot_be_added_to(records, tmp_path):
    with pytest.raises(ArgumentError, match="exists=add is for containers"):
        augment(str(records[0]), tmp_path / "out", to="folder", exists="add")


def test_two_jobs_that_start_together_do_not_both_write(tmp_path, monkeypatch):
    """The other job starts after this one has looked for the first time, and reserves the same names."""
    from pixelmill.jobs.lock import Lock

    acquire = Lock.acquire

    def acquire_late(lock, **options):
        monkeypatch.setattr(Lock, "acquire", acquire)
        with pytest.raises(RuntimeError, match="killed"):
            add(Letters("a", fails=True), tmp_path / "out")
        (tmp_path / "out" / "a-0.txt").unlink()
        acquire(lock, **options)

    monkeypatch.setattr(Lock, "acquire", acquire_late)
    with pytest.raises(OutputExists, match="belongs to another job"):
        add(Other("a"), tmp_path / "out")
    states = [name for name in open_storage(tmp_path / "out").names("") if name.startswith(".pixelmill")]
    assert len(states) == 1


def test_a_foreign_file_that_appears_while_a_job_starts_is_not_replaced(tmp_path, monkeypatch):
    """It is not there when the job looks for the first time, and is when its plan has been written."""
    from pixelmill.jobs.storage import LocalStorage

    write = LocalStorage.write

    def write_late(storage, name, data):
        write(storage, name, data)
        if name.endswith("/plan.json"):
            (tmp_path / "out" / "a-1.txt").write_text("theirs")

    monkeypatch.setattr(LocalStorage, "write", write_late)
    with pytest.raises(OutputExists, match=r"a-1\.txt exists; choose another folder, or remove it"):
        add(Letters("a"), tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a-1.txt"}
    assert (tmp_path / "out" / "a-1.txt").read_text() == "theirs"
