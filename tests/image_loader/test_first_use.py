"""What a new user does first: the pages are followed in an empty folder, in a new process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from first_batch import report_first_batch
from locations import ROOT
from peers import needs

from pixelmill.create import create_photo_folder


def run(program: str, folder: Path) -> str:
    script = folder / "program.py"
    script.write_text(program, "utf-8")
    command = [sys.executable, "-W", "error::DeprecationWarning:__main__", script.name]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "leaked" not in result.stderr
    return result.stdout


def test_page_does_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "loader.md").read_text("utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    program = "".join(code for kind, code in blocks if kind == "python")
    assert run(program, tmp_path) == "".join(output for kind, output in blocks if kind == "text")


def test_three_lines_from_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From photographs as a camera writes them to batches."""
    command = ["create-images", "--path", "photos", "--name", "p_", "--width", "320", "--height", "240"]
    command += ["--count", "48", "--content", "photo", "--classes", "3", "--image_format", "jpg"]
    subprocess.run([sys.executable, "-m", "pixelmill", *command], cwd=tmp_path, check=True, capture_output=True)
    shapes = report_first_batch(tmp_path, "photos", "", capsys)
    assert shapes == [f"({count}, 3, 224, 224) torch.float32 ({count},) torch.int64" for count in (32, 16)]


@needs("torch")
def test_benchmark_of_the_loader_runs(tmp_path: Path) -> None:
    create_photo_folder(tmp_path / "photos", 8, size_mean=(60, 70), classes=2)
    few = ["--small", tmp_path / "photos", "--rounds", "1", "--steps", "1", "--starts", "1"]
    command = [sys.executable, ROOT / "benchmarks" / "image_loader.py", *few, "--json", tmp_path / "one.json"]
    subprocess.run(list(map(str, command)), check=True, capture_output=True, timeout=300)
    found = json.loads((tmp_path / "one.json").read_text("utf-8"))
    assert set(found["batches"]) == {"ImageLoader", "its pipeline_source", "readers.file by hand"}
    assert all(own["images_per_second"] > 0 for own in found["batches"].values())
