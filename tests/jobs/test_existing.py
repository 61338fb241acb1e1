"""Resuming what is already there: finished jobs, and shards whose bytes have changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_runner import CliRunner, Result
from small_jobs import NumbersJob, tree

from pixelmill.cli import main
from pixelmill.errors import DataError, OutputError, OutputExists
from pixelmill.jobs import run_job

JOB = NumbersJob(count=40)


def create(path: Path, *arguments: str) -> Result:
    options = ["--path", str(path), "--name", "i", "--count", "5", "--height", "16", "--width", "16"]
    options += ["--chunksize", "2", "--img-per-file", "2"]
    return CliRunner().invoke(main, ["create-images", *options, *arguments])


@pytest.mark.parametrize("container", ["files", "tfrecord"])
def test_a_finished_job_can_be_resumed(tmp_path: Path, container: str) -> None:
    assert create(tmp_path, "--container", container).exit_code == 0
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    result = create(tmp_path, "--container", container, "--exists", "resume")
    assert result.exit_code == 0, result.output
    assert f"nothing to do: {tmp_path} is complete, 5 samples in 3 shards" in result.output
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    assert create(tmp_path, "--container", container).exit_code == 5


def test_a_plain_job_that_lacks_files_is_still_refused(tmp_path: Path) -> None:
    """Its files cannot be told from those of another program."""
    create(tmp_path)
    next(tmp_path.glob("i0.*")).unlink()
    assert create(tmp_path, "--exists", "resume").exit_code == 5
    assert create(tmp_path, "--exists", "overwrite").exit_code == 0


def interrupted(output: Path) -> None:
    """Stop a job when two of its four shards are done."""

    def stop(progress: object) -> None:
        if len(list((output / ".pixelmill").glob("shard-*.json"))) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_job(JOB, output, workers=1, on_progress=stop)


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, str]:
    run_job(JOB, tmp_path / "expected", workers=1)
    return tree(tmp_path / "expected")


@pytest.mark.parametrize(("number", "everything"), [(3, False), (0, True), (3, True)])
def test_changed_shards_of_a_finished_job_are_made_again(
    tmp_path: Path, expected: dict[str, str], number: int, everything: bool
) -> None:
    run_job(JOB, tmp_path / "out", workers=1)
    flipped(tmp_path / "out" / f"data-{number:05d}-of-00004")
    report = run_job(JOB, tmp_path / "out", workers=1, exists="resume", verify_existing=everything)
    assert report.made == 1
    assert tree(tmp_path / "out") == expected


def test_sizes_are_trusted_for_all_but_the_last_shard(tmp_path: Path, expected: dict[str, str]) -> None:
    run_job(JOB, tmp_path / "out", workers=1)
    flipped(tmp_path / "out/data-00001-of-00004")
    assert run_job(JOB, tmp_path / "out", workers=1, exists="resume").made == 0
    assert tree(tmp_path / "out") != expected


@pytest.mark.parametrize(("number", "everything", "made"), [(1, False, 3), (0, True, 3), (0, False, 2)])
def test_changed_shards_of_an_unfinished_job_are_made_again(
    tmp_path: Path, expected: dict[str, str], number: int, everything: bool, made: int
) -> None:
    """Two of four shards are done; the last of them is always compared."""
    interrupted(tmp_path / "out")
    flipped(tmp_path / f"out/data-{number:05d}-of-00004")
    report = run_job(JOB, tmp_path / "out", workers=1, exists="resume", verify_existing=everything)
    assert report.made == made
    assert (tree(tmp_path / "out") == expected) == (made == 3)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"job": 1}', '{"job": "x", "sources": "", "plan": []}'])
def test_a_damaged_plan_is_written_again(tmp_path: Path, content: str, expected: dict[str, str]) -> None:
    with pytest.raises(DataError):
        run_job(NumbersJob(bad=(25,)), tmp_path / "out", workers=1)
    (tmp_path / "out/.pixelmill/plan.json").write_text(content)
    with pytest.raises(OutputExists):
        run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    run_job(JOB, tmp_path / "out", workers=1, exists="overwrite")
    assert tree(tmp_path / "out") == expected


@pytest.mark.parametrize("content", ["", "[]", "{", '{"number": 0}', '{"number":0,"samples":1,"files":5,"errors":[]}'])
def test_a_damaged_sidecar_means_that_the_shard_is_made_again(
    tmp_path: Path, content: str, expected: dict[str, str]
) -> None:
    interrupted(tmp_path / "out")
    (tmp_path / "out/.pixelmill/shard-00000.json").write_text(content)
    report = run_job(JOB, tmp_path / "out", workers=1, exists="resume")
    assert report.made == 3
    assert tree(tmp_path / "out") == expected


@pytest.mark.parametrize("link", ["sub", ".pixelmill"])
def test_a_planted_link_leads_no_job_out_of_its_folder(tmp_path: Path, link: str) -> None:
    """Overwriting removes what the manifest names, but nothing that lies behind a link."""
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_bytes(b"kept")
    run_job(NumbersJob(count=4, per_shard=2), output, workers=1)
    (output / link).symlink_to(elsewhere)
    manifest = output / "manifest.json"
    manifest.write_text(manifest.read_text("ascii").replace('"list.txt"', f'"{link}/precious"'), "ascii")
    with pytest.raises(OutputError, match="a link leads out of"):
        run_job(NumbersJob(count=4, per_shard=2, seed=5), output, workers=1, exists="overwrite")
    assert [(path.name, path.read_bytes()) for path in elsewhere.iterdir()] == [("precious", b"kept")]
