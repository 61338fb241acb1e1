"""The package without the modules and calls of POSIX, as on Windows: its jobs write the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / "support" / "without_posix.py"


def outcome(mode: str, folder: Path) -> dict[str, Any]:
    folder.mkdir()
    environment = {**os.environ, "PIXELMILL_CACHE": str(folder.parent / f"cache-{mode}")}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), mode, str(folder)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="hides what only POSIX has")
def test_jobs_write_the_same_bytes(tmp_path: Path) -> None:
    plain, hidden = outcome("plain", tmp_path / "plain"), outcome("hidden", tmp_path / "hidden")
    assert hidden["modules"] == plain["modules"] > 300
    assert len(plain["files"]) > 30
    assert hidden["files"] == plain["files"]
