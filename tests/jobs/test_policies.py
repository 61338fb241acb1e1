"""What happens to bad samples is no part of a job's identity: a failed run continues with another policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_jobs import NumbersJob, tree

from pixelmill.errors import DataError, OutputExists
from pixelmill.jobs import run_job

JOB = NumbersJob(bad=(13, 25))  # of the shards 1 and 2


def failed(output: Path) -> None:
    """Run until the first bad sample: shard 0 is done."""
    with pytest.raises(DataError, match=r"exists=resume with on_error=skip"):
        run_job(JOB, output, workers=1)


def begun(output: Path) -> None:
    """Skip one sample, and stop at the second."""
    with pytest.raises(DataError, match="more than 1 sample cannot be used"):
        run_job(JOB, output, workers=1, on_error="skip", max_errors=1)


@pytest.mark.parametrize("policy", ["skip", "quarantine"])
def test_a_failed_job_continues_to_the_same_bytes(tmp_path: Path, policy: str) -> None:
    run_job(JOB, tmp_path / "straight", workers=1, on_error=policy)
    failed(tmp_path / "out")
    report = run_job(JOB, tmp_path / "out", workers=1, on_error=policy, exists="resume")
    assert (report.complete, report.made, report.errors) == (True, 3, 2)
    assert tree(tmp_path / "out") == tree(tmp_path / "straight"), "the manifest too"


def test_the_policies_write_the_same_data(tmp_path: Path) -> None:
    jobs = {policy: run_job(JOB, tmp_path / policy, workers=1, on_error=policy) for policy in ("skip", "quarantine")}
    trees = {policy: tree(tmp_path / policy) for policy in jobs}
    for found in trees.values():
        del found["manifest.json"]
    assert trees["skip"] == trees["quarantine"]
    assert jobs["skip"].job == jobs["quarantine"].job


def test_fail_does_not_accept_what_was_skipped(tmp_path: Path) -> None:
    begun(tmp_path / "out")
    with pytest.raises(OutputExists, match="holds this job with 2 samples skipped; exists=resume with on_error=skip"):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert run_job(JOB, tmp_path / "out", workers=1, exists="resume", on_error="skip").complete
    before = tree(tmp_path / "out")
    with pytest.raises(OutputExists, match="2 samples skipped"):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert tree(tmp_path / "out") == before


def test_quarantine_makes_shards_again_whose_samples_were_not_kept(tmp_path: Path) -> None:
    run_job(JOB, tmp_path / "straight", workers=1, on_error="quarantine")
    for name in ("begun", "finished"):
        begun(tmp_path / name)
        if name == "finished":
            run_job(JOB, tmp_path / name, workers=1, on_error="skip", exists="resume")
        report = run_job(JOB, tmp_path / name, workers=1, on_error="quarantine", exists="resume")
        assert report.complete and report.made == (2 if name == "finished" else 3)
        assert tree(tmp_path / name) == tree(tmp_path / "straight")
        assert tree(tmp_path / f"{name}.quarantine") == tree(tmp_path / "straight.quarantine")
    assert not run_job(JOB, tmp_path / "finished", workers=1, on_error="quarantine", exists="resume").made


def test_strict_decides_what_is_bad_and_stays_in_the_plan(tmp_path: Path) -> None:
    run_job(NumbersJob(), tmp_path / "out", workers=1)
    with pytest.raises(OutputExists, match=r"holds the output of another job .strict: nothing there, true now"):
        run_job(NumbersJob(), tmp_path / "out", workers=1, strict=True, exists="resume")
