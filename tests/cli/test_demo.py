"""`pixelmill demo`: its figures and its contact sheet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_runner import CliRunner
from PIL import Image

from pixelmill.cli import main

COUNT = 12


@pytest.mark.parametrize("as_json", [True, False])
def test_the_demo_says_what_it_made(as_json: bool, tmp_path: Path) -> None:
    options = ["--output", str(tmp_path / "demo"), "--count", str(COUNT), "--threads", "1"]
    result = CliRunner().invoke(main, ["demo", *options, *(["--json"] if as_json else [])])
    assert result.exit_code == 0, result.output
    assert [path.name for path in (tmp_path / "demo").iterdir()] == ["contact-sheet.png"]
    if not as_json:
        assert f"{COUNT} JPEG files" in result.output and "with 1 thread" in result.output
        return
    figures = json.loads(result.stdout)
    assert (figures["images"], figures["threads"]) == (COUNT, 1)
    assert figures["create_seconds"] > 0 and figures["epoch_seconds"] > 0 and figures["images_per_second"] > 0
    assert figures["megabytes"] > 0.01 and figures["batches"] >= 1 and figures["batch_shape"] == [COUNT, 3, 224, 224]
    with Image.open(figures["contact_sheet"]) as sheet:
        assert min(sheet.size) > 100
