"""Folders that a job must not write to: those of other programs, and the one that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_jobs import NumbersJob, tree

from pixelmill.errors import ArgumentError, OutputExists
from pixelmill.jobs import run_job
from pixelmill.jobs.apart import check_apart

JOB = NumbersJob(count=20)


@pytest.mark.parametrize("exists", ["error", "resume"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, exists: str) -> None:
    for number in range(5):
        (tmp_path / f"photo{number}.jpg").write_bytes(b"x")
    before = tree(tmp_path)
    refused = r"is not empty \(photo0.jpg, photo1.jpg, photo2.jpg and 2 more\).*choose a new folder, or exists=add"
    with pytest.raises(OutputExists, match=refused):
        run_job(JOB, tmp_path, workers=1, exists=exists)
    assert tree(tmp_path) == before
    assert run_job(JOB, tmp_path, workers=1, exists="add").complete


def test_what_file_systems_and_tools_leave_is_no_content(tmp_path: Path) -> None:
    (tmp_path / ".gitkeep").touch()
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "index" / "empty").mkdir(parents=True)  # of a job that was killed
    assert run_job(JOB, tmp_path, workers=1).complete


def test_parts_meet_in_one_folder(tmp_path: Path) -> None:
    reports = [run_job(JOB, tmp_path, workers=1, shard_index=index, num_shards=3) for index in range(3)]
    assert [report.made for report in reports] == [1, 1, 0], "two shards: the last part has nothing to do"
    assert [report.done for report in reports] == [1, 2, 2]
    assert [report.complete for report in reports] == [False, True, True], "a part after the end is no mistake"


def test_a_dry_run_checks_and_writes_nothing(tmp_path: Path) -> None:
    report = run_job(JOB, tmp_path / "out", workers=1, dry_run=True)
    assert report.dry_run and not report.complete and (report.samples, report.shards) == (20, 2)
    assert not (tmp_path / "out").exists()
    run_job(JOB, tmp_path / "out", workers=1)
    before = tree(tmp_path / "out")
    with pytest.raises(OutputExists, match="finished output"):
        run_job(JOB, tmp_path / "out", workers=1, dry_run=True)
    assert run_job(JOB, tmp_path / "out", workers=1, dry_run=True, exists="overwrite").dry_run
    assert tree(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("output", "relation"),
    [
        ("photos", "is the dataset"),
        ("photos/", "is the dataset"),
        ("link", "is the dataset"),
        ("photos/../photos/out", "is inside of the dataset"),
        (".", "contains the dataset"),
    ],
)
def test_the_output_is_apart_from_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, relation: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    (tmp_path / "link").symlink_to("photos")
    for adding in (False, True):
        with pytest.raises(ArgumentError, match=rf"convert: the output {output} {relation}"):
            check_apart("convert", "photos", output, adding=adding)
    for fine in ("photos2", "out/photos", "s3://bucket/photos"):
        check_apart("convert", "photos", fine)


def test_files_may_get_new_ones_next_to_them_only_if_that_is_asked_for(tmp_path: Path) -> None:
    files = (str(tmp_path / "a.tfrecord"), str(tmp_path / "b.tfrecord"))
    with pytest.raises(ArgumentError, match=r"is the folder of .*a.tfrecord, which is read; .* exists=add"):
        check_apart("augment", files, str(tmp_path))
    check_apart("augment", files, str(tmp_path), adding=True)
    check_apart("augment", files, str(tmp_path / "more"))
    with pytest.raises(ArgumentError, match="is the folder of"):
        check_apart("augment", str(tmp_path / "*.tfrecord"), str(tmp_path))


def test_addresses_are_compared_too() -> None:
    """Without a request: there is no such bucket."""
    for output in ("s3://bucket/a", "s3://bucket/a/", "s3://bucket/a/b", "s3://bucket"):
        with pytest.raises(ArgumentError, match="the dataset that is read"):
            check_apart("convert", "s3://bucket/a", output)
    check_apart("convert", "s3://bucket/a", "s3://bucket/ab")
    check_apart("convert", "s3://bucket/a", "gs://bucket/a")
    check_apart("convert", "s3://bucket/a/train-*.tar", "s3://bucket")
    with pytest.raises(ArgumentError, match="is the folder of"):
        check_apart("convert", "s3://bucket/a/train-*.tar", "s3://bucket/a")
