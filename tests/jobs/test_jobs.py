"""Bulk jobs: plans, commits, what is refused, and runners that all write the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_runner import CliRunner
from locations import SUPPORT
from small_jobs import BrokenJob, EnvironmentJob, NumbersJob, tree

from pixelmill.cli import main
from pixelmill.errors import ArgumentError, DataError, EngineError, OutputError, OutputExists
from pixelmill.jobs import Progress, job_status, run, run_job

LONG = 120.0  # seconds that nothing takes, on a busy machine either
JOB = NumbersJob()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the job writes when nothing disturbs it."""
    folder = tmp_path_factory.mktemp("expected") / "out"
    run_job(JOB, folder, workers=1)
    return tree(folder)


def test_folder_holds_the_dataset_and_its_manifest(expected: dict[str, str]) -> None:
    data = [f"data-{number:05d}-of-00004" for number in range(4)]
    index = [f"index/{number:05d}.idx" for number in range(4)]
    assert sorted(expected) == sorted([*data, "index/", *index, "list.txt", "manifest.json"])


def test_manifest_describes_every_file(tmp_path: Path) -> None:
    report = run_job(NumbersJob(count=35, seed=7), tmp_path / "out", workers=1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert (report.samples, report.errors, report.complete, report.made) == (35, 0, True, 4)
    assert (manifest["kind"], manifest["seed"], manifest["samples"]) == ("numbers", 7, 35)
    assert manifest["options"] == {"count": 35, "per_shard": 10, "seed": 7, "size": 100, "bad": [], "stem": ""}
    assert {"pixelmill", "numpy", "pillow", "libjpeg-turbo", "libpng", "zlib"} == manifest["versions"].keys()
    assert [entry["samples"] for entry in manifest["entries"]] == [10, 10, 10, 5]
    listed = [file for entry in manifest["entries"] for file in entry["files"]] + manifest["files"]
    for file in listed:
        data = (tmp_path / "out" / file["name"]).read_bytes()
        assert file["bytes"] == len(data)
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
    assert {file["name"] for file in listed} == {
        name for name in tree(tmp_path / "out") if name != "manifest.json" and not name.endswith("/")
    }
    assert sum(file["bytes"] for file in listed) - manifest["files"][0]["bytes"] == report.bytes


@pytest.mark.parametrize("workers", [2, 8])
def test_any_number_of_workers_writes_the_same(tmp_path: Path, workers: int, expected: dict[str, str]) -> None:
    run_job(JOB, tmp_path / "out", workers=workers)
    assert tree(tmp_path / "out") == expected


def test_parts_write_the_same_and_the_last_one_finishes(tmp_path: Path, expected: dict[str, str]) -> None:
    for index in (2, 0, 1):
        report = run_job(JOB, tmp_path / "out", shard_index=index, num_shards=3, workers=1)
        assert report.complete == (index == 1)
        assert (tmp_path / "out" / "manifest.json").exists() == (index == 1)
    assert tree(tmp_path / "out") == expected


def test_parts_at_the_same_time(tmp_path: Path, expected: dict[str, str]) -> None:
    code = "import sys; from small_jobs import *; from pixelmill.jobs import run_job; "
    code += "run_job(NumbersJob(sleep=0.002), sys.argv[1], shard_index=int(sys.argv[2]), num_shards=4, workers=1)"
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    parts = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out"), str(index)], env=environment)
        for index in range(4)
    ]
    assert [part.wait(60) for part in parts] == [0] * 4
    assert tree(tmp_path / "out") == expected


def test_locale_time_and_other_options_of_no_consequence(tmp_path: Path, expected: dict[str, str]) -> None:
    code = (
        "import sys; from small_jobs import *; from pixelmill.jobs import run_job; run_job(NumbersJob(), sys.argv[1])"
    )
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], env=environment, check=True, timeout=LONG)
    assert tree(tmp_path / "out") == expected


def test_finished_output_is_refused_or_left_alone(tmp_path: Path, expected: dict[str, str]) -> None:
    run_job(JOB, tmp_path / "out", workers=1)
    with pytest.raises(OutputExists, match="finished output of this job"):
        run_job(JOB, tmp_path / "out", workers=1)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    report = run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert (report.made, report.samples, report.complete) == (0, 40, True)
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    assert tree(tmp_path / "out") == expected


def test_lost_files_of_finished_output_are_made_again(tmp_path: Path, expected: dict[str, str]) -> None:
    run_job(JOB, tmp_path / "out", workers=1)
    (tmp_path / "out" / "data-00002-of-00004").unlink()
    (tmp_path / "out" / "list.txt").write_text("damaged")
    assert run_job(JOB, tmp_path / "out", workers=1, exists="resume").made == 1
    assert tree(tmp_path / "out") == expected


def test_another_plan_is_refused_with_the_difference(tmp_path: Path) -> None:
    run_job(JOB, tmp_path / "out", workers=1)
    for exists in ("error", "resume"):
        with pytest.raises(OutputExists, match=re.escape("options.seed: 0 there, 3 now")):
            run_job(NumbersJob(seed=3), tmp_path / "out", workers=1, exists=exists)


def test_overwrite_removes_what_the_old_job_wrote(tmp_path: Path, expected: dict[str, str]) -> None:
    run_job(NumbersJob(count=90, seed=3), tmp_path / "out", workers=1)
    (tmp_path / "out" / "mine.txt").write_text("kept")
    run_job(JOB, tmp_path / "out", workers=1, exists="overwrite")
    written = tree(tmp_path / "out")
    assert written.pop("mine.txt") == hashlib.sha256(b"kept").hexdigest()
    assert written == expected


def test_foreign_files_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "data-00001-of-00004").write_text("mine")
    (tmp_path / "other").write_text("mine")
    before = tree(tmp_path)
    for exists in ("error", "resume"):
        with pytest.raises(OutputExists, match="data-00001-of-00004 exists"):
            run_job(JOB, tmp_path, workers=1, exists=exists)
    assert tree(tmp_path) == before


def test_unfinished_output_waits_for_resume(tmp_path: Path, expected: dict[str, str]) -> None:
    with pytest.raises(DataError, match=r"planted.*\n.*on_error=skip"):
        run_job(NumbersJob(bad=(25,)), tmp_path / "out", workers=1)
    assert not (tmp_path / "out" / "manifest.json").exists()
    status = job_status(tmp_path / "out")[0]
    assert (status.done, status.shards, status.missing, status.complete) == (2, 4, (2, 3), False)
    with pytest.raises(OutputExists, match=r"unfinished \(2 of 4 shards\)"):
        run_job(NumbersJob(bad=(25,)), tmp_path / "out", workers=1)
    with pytest.raises(OutputExists, match=r"options\.bad"):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    run_job(JOB, tmp_path / "out", workers=1, exists="overwrite")
    assert tree(tmp_path / "out") == expected


def test_plain_jobs_leave_nothing_else(tmp_path: Path, expected: dict[str, str]) -> None:
    report = run_job(JOB, tmp_path / "out", workers=2, plain=True)
    assert report.manifest is None
    assert report.complete
    assert tree(tmp_path / "out") == {name: value for name, value in expected.items() if name != "manifest.json"}
    with pytest.raises(OutputExists, match=r"list\.txt exists"):
        run_job(JOB, tmp_path / "out", workers=1, plain=True)


def test_changed_inputs_are_noticed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("abc")
    with pytest.raises(DataError):
        run_job(NumbersJob(bad=(25,), source=str(source)), tmp_path / "out", workers=1)
    os.utime(source, ns=(1, 1))
    with pytest.raises(OutputExists, match="inputs have changed"):
        run_job(NumbersJob(bad=(25,), source=str(source)), tmp_path / "out", workers=1, exists="resume")


def test_skip_and_quarantine_list_what_is_left_out(tmp_path: Path) -> None:
    job = NumbersJob(bad=(3, 25, 26))
    skipped = run_job(job, tmp_path / "skipped", workers=2, on_error="skip")
    kept = run_job(job, tmp_path / "kept", workers=2, on_error="quarantine")
    assert (skipped.samples, skipped.errors) == (kept.samples, kept.errors) == (37, 3)
    manifest = json.loads((tmp_path / "skipped" / "manifest.json").read_text("utf-8"))
    events = [event for entry in manifest["entries"] for event in entry["errors"]]
    assert [(event["sample"], event["path"], event["kind"]) for event in events] == [
        (3, "3.jpg", "corrupt"),
        (25, "25.jpg", "corrupt"),
        (26, "26.jpg", "corrupt"),
    ]
    assert not (tmp_path / "skipped.quarantine").exists()
    aside = tree(tmp_path / "kept.quarantine")
    assert list(aside) == ["shard-00000-000000.jpg", "shard-00002-000000.jpg", "shard-00002-000001.jpg"]
    raw = hashlib.sha256(b"0 25").digest() * 4
    assert aside["shard-00002-000000.jpg"] == hashlib.sha256(raw).hexdigest()
    assert "manifest.json" in tree(tmp_path / "kept")


@pytest.mark.parametrize("workers", [1, 2])
def test_too_many_errors_stop_the_job(tmp_path: Path, workers: int) -> None:
    job = NumbersJob(bad=(3, 14, 25, 36))
    with pytest.raises(DataError, match="more than 2 samples"):
        run_job(job, tmp_path / "out", workers=workers, on_error="skip", max_errors=2)
    report = run_job(job, tmp_path / "out", workers=workers, on_error="skip", max_errors=4, exists="resume")
    assert (report.complete, report.errors) == (True, 4)


def test_errors_of_workers_arrive_whole(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        run_job(NumbersJob(bad=(25,)), tmp_path / "a", workers=2)
    assert [event.sample for event in caught.value.events] == [25]
    with pytest.raises(EngineError, match=r"ZeroDivisionError in shard 1 \(data-00001-of-00004\): planted"):
        run_job(BrokenJob(), tmp_path / "b", workers=2)


def test_killed_worker_is_named_without_waiting_for_the_others(tmp_path: Path, expected: dict[str, str]) -> None:
    killer = tmp_path / "killer"
    killer.touch()
    with pytest.raises(EngineError, match=r"killed by SIGKILL .* while it made shard 2 \(data-00002-of-00004\)"):
        run_job(NumbersJob(killer=str(killer), stuck_from=30), tmp_path / "out", workers=2)
    run_job(JOB, tmp_path / "out", workers=2, exists="resume")
    assert tree(tmp_path / "out") == expected


def test_interrupt_ends_workers_and_leaves_a_resumable_job(tmp_path: Path, expected: dict[str, str]) -> None:
    code = "import signal, sys; from small_jobs import *; from pixelmill.jobs import run_job\n"
    code += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "try: run_job(NumbersJob(stuck_from=10), sys.argv[1], workers=2)\n"
    code += "except KeyboardInterrupt: sys.exit(130)"
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out")], env=environment)
    wait_for(lambda: (tmp_path / "out" / ".pixelmill" / "shard-00000.json").exists())
    workers = children(process.pid)
    assert len(workers) == 2
    process.send_signal(signal.SIGINT)
    assert process.wait(LONG) == 130
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    left = [name for name in tree(tmp_path / "out" / ".pixelmill") if not name.startswith(("shard-", "plan.json"))]
    assert left == ["tmp/"]
    run_job(JOB, tmp_path / "out", workers=2, exists="resume")
    assert tree(tmp_path / "out") == expected


def test_second_writer_is_refused_and_a_dead_one_replaced(tmp_path: Path, expected: dict[str, str]) -> None:
    code = "import sys; from small_jobs import *; from pixelmill.jobs import run_job; "
    code += "run_job(NumbersJob(stuck_from=10), sys.argv[1], workers=1)"
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out")], env=environment)
    wait_for(lambda: (tmp_path / "out" / ".pixelmill" / "shard-00000.json").exists())
    with pytest.raises(OutputError, match=f"process {process.pid} on .* is writing to"):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert job_status(tmp_path / "out")[0].owners == (f"process {process.pid} on {os.uname().nodename}",)
    process.kill()
    process.wait(LONG)
    run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert tree(tmp_path / "out") == expected


def test_progress_counts_up_to_everything(tmp_path: Path) -> None:
    seen: list[Progress] = []
    report = run_job(NumbersJob(), tmp_path / "out", workers=2, on_progress=seen.append)
    samples = [progress.samples for progress in seen]
    assert samples == sorted(samples)
    assert seen[-1] == Progress(4, 4, 40, report.bytes, 0, 40)
    # Each of the four shards reports its samples at least once, at its end.
    assert len({sample for sample in samples if 0 < sample < 40}) >= 3


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are listed by /proc")
def test_no_worker_outlives_an_error_in_the_callback(tmp_path: Path, expected: dict[str, str]) -> None:
    """Not even while the error is looked at, whose frames hold the runner."""

    def fail(progress: Progress) -> None:
        if progress.shards_done:
            raise KeyError("mine")

    before = children(os.getpid())
    with pytest.raises(KeyError, match="mine") as error:
        run_job(NumbersJob(sleep=0.01), tmp_path / "out", workers=2, on_progress=fail)
    assert children(os.getpid()) == before and error.tb is not None
    run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert tree(tmp_path / "out") == expected


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    for arguments, message in (
        ({"exists": "maybe"}, "exists must be one of error, resume, overwrite"),
        ({"on_error": "ignore"}, "on_error must be one of fail, skip, quarantine"),
        ({"runner": "slurm"}, "runner must be one of local, ray"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"shard_index": 3, "num_shards": 3}, "got 3 of 3"),
        ({"shard_index": 1}, "got 1 of None"),
        ({"shard_index": 0, "num_shards": 2, "exists": "overwrite"}, "cannot be used with shard_index"),
    ):
        with pytest.raises(ArgumentError, match=message):
            run_job(JOB, tmp_path / "out", **arguments)
    assert tree(tmp_path) == {}


def test_status_command_tells_what_is_done(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        run_job(NumbersJob(bad=(3, 25)), tmp_path / "out", workers=1, on_error="skip", max_errors=1)
    result = CliRunner().invoke(main, ["job", "status", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "numbers, unfinished, 3 of 4 shards" in result.output
    assert "missing: 3" in result.output
    assert "sample 25: corrupt: planted, 25.jpg" in result.output
    run_job(NumbersJob(bad=(3, 25)), tmp_path / "out", workers=1, on_error="skip", exists="resume")
    result = CliRunner().invoke(main, ["job", "status", str(tmp_path / "out"), "--json"])
    (status,) = json.loads(result.stdout)
    assert (status["complete"], status["samples"], len(status["errors"])) == (True, 38, 2)
    result = CliRunner().invoke(main, ["job", "status", str(tmp_path)])
    assert result.exit_code == 1
    assert "contains no job" in result.output


def wait_for(condition: object, seconds: float = LONG) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.005)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


@pytest.mark.parametrize(
    ("workers", "shards", "threads"),
    [(None, 1, 8), (None, 3, 2), (None, 40, 1), (1, 40, 8), (2, 40, 4), (4, 1, 8), (3, 0, 8)],
)
def test_processors_are_shared_out_among_shards_under_way(
    monkeypatch: pytest.MonkeyPatch, workers: int | None, shards: int, threads: int
) -> None:
    monkeypatch.setattr(run, "processors", lambda: 8)
    assert run.threads_of(workers, shards=shards) == threads


@pytest.mark.parametrize("name", ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_libraries_in_workers_use_the_workers_share_of_threads(tmp_path, monkeypatch, name):
    monkeypatch.setattr("pixelmill.jobs.run.processors", lambda: 6)
    for given, expected in ((None, b"3"), ("5", b"5")):
        monkeypatch.delenv(name, raising=False)
        if given is not None:
            monkeypatch.setenv(name, given)
        output = tmp_path / str(given)
        run_job(EnvironmentJob(count=2, per_shard=1, name=name), output, workers=2)
        assert [path.read_bytes() for path in sorted(output.glob("data-*"))] == [expected, expected]


@pytest.mark.parametrize(
    ("job", "absent"),
    [
        ("augmentation", {"pixelmill.formats.webdataset"}),
        ("conversion", {"pixelmill.operators", "pixelmill.pipeline.execution"}),
        ("create", {"pixelmill.operators", "pixelmill.engine"}),
        ("ingest", {"pixelmill.recipe"}),
    ],
)
def test_workers_import_only_what_they_need(job: str, absent: set[str]) -> None:
    code = f"import sys; import pixelmill.jobs.worker, pixelmill.{job}.job; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LONG)
    absent = absent | {"PIL.Image", "click", "rich", "socket", "subprocess", "tempfile", "yaml", "pixelmill.jobs.run"}
    assert not absent & {*run.stdout.split()}
