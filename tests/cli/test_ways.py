"""Two ways that people go, from an empty folder, with the commands alone, and then the first batch."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from first_batch import report_first_batch
from peers import needs
from small_jobs import tree


def pixelmill(folder: Path, command: str, *, code: int = 0) -> str:
    """Run a command in a process of its own, as a shell does, and return what it prints."""
    words = [sys.executable, "-m", "pixelmill", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@needs("torch")
def test_synthetic_data_for_a_storage_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """50 GB, scaled down: look at the plan, write it in parts, check it, and measure how fast it is read."""
    images = "--total 2MB --bytes 20KB --content photo --image-format jpg --width 160 --height 120"
    planned = pixelmill(tmp_path, f"create-images data/ {images} --dry-run")
    assert "would write 100 images in 100 files, 2.0 MB (about 20.0 kB per image)" in planned
    assert not (tmp_path / "data").exists()
    written = pixelmill(tmp_path, f"create-images data/ {images}")
    assert "100 samples in 2 shards, 2.0 MB in " in written and "images/s, " in written and "B/s)" in written
    assert sum(path.stat().st_size for path in (tmp_path / "data").iterdir()) == 2_000_000

    records = f"{images} --container tfrecord --img-per-file 25"
    parts = [pixelmill(tmp_path, f"create-images records/ {records} --part {index}/2") for index in range(2)]
    assert "wrote part 0/2" in parts[0] and "2 of 4 shards with 50 samples are done" in parts[0]
    assert "wrote " in parts[1] and "100 samples in 4 shards" in parts[1]
    assert "whole (tfrecord). 100 samples read, 100 images decoded" in pixelmill(tmp_path, "verify records/")
    pixelmill(tmp_path, f"create-images again/ {records}")
    assert tree(tmp_path / "again") == tree(tmp_path / "records")

    report = json.loads(
        pixelmill(tmp_path, "bench records/ --workload read --peers none --seconds 0.2 --rounds 1 --threads 1 --json")
    )
    assert report["dataset"]["samples"] == 100 and report["storage"]
    assert any("too few to tell" in note for note in report["notes"])
    shapes = report_first_batch(tmp_path, "records", "", capsys)
    assert shapes == [f"({count}, 3, 224, 224) torch.float32 ({count},) torch.int64" for count in (32, 32, 32, 4)]


@needs("torch")
def test_boxes_and_masks_augmented_on_several_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shapes = "--count 24 --preset shapes --width 64 --height 48 --masks --boxes --container tfrecord --img-per-file 6"
    pixelmill(tmp_path, f"create-images records/ {shapes}")
    job = "augment records/ more/ --recipe detection --variants 2 --seed 7"
    assert "would write" in pixelmill(tmp_path, f"{job} --dry-run")
    for index in range(3):  # each on a machine of its own
        printed = pixelmill(tmp_path, f"{job} --part {index}/3")
        assert ("the other parts are missing" in printed) == (index < 2)
    assert "nothing to do: " in pixelmill(tmp_path, f"{job} --part 2/3"), "started once more"
    assert "whole" in pixelmill(tmp_path, "verify more/")
    found = json.loads(pixelmill(tmp_path, "info more/ --json"))
    assert found["samples"] == found["masks"] == 48 and found["boxes"] > 0

    pixelmill(tmp_path, job.replace("more/", "alone/"))
    assert tree(tmp_path / "alone") == tree(tmp_path / "more"), "one machine writes the same bytes as three"
    batches = report_first_batch(tmp_path, "more", ', task="detection"', capsys)
    assert batches == [f"({count}, 3, 224, 224) torch.float32" for count in (32, 16)]  # boxes are lists
