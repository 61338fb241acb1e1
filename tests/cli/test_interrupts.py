"""Ctrl-C in the installed commands: exit code 130, nothing half-written under a name, the same bytes after a resume."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelmill.create import create_photo_folder

LONG = 120.0  # seconds that nothing takes, on a busy machine either
COMMAND = Path(sys.executable).with_name("pixelmill")
TRIES = 4  # on a busy machine a job may end before the signal comes


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interrupts") / "photos"
    create_photo_folder(folder, 72, size_mean=(240, 320), spread=0, classes=2)
    return folder


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def restored() -> None:
    """Take Ctrl-C as a terminal gives it: a shell may have started these tests with it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(command: list[str], output: Path) -> int:
    """Run a command, interrupt it when its first shard is there, and give its exit code."""
    process = subprocess.Popen(command, preexec_fn=restored, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None and not any(output.glob(".pixelmill*/shard-*.json")):
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONG)
    assert b"Traceback" not in errors
    return process.returncode


def commands(photos: Path, output: Path) -> dict[str, list[str]]:
    create = ["create-images", "--path", str(output), "--name", "i_", "--image_format", "png", "--content", "photo"]
    create += ["--count", "64", "--width", "320", "--height", "240"]
    return {
        "augment": ["augment", str(photos), "--output", str(output), "--to", "tfrecord", "--samples-per-shard", "6"],
        "convert": ["convert", str(photos), str(output), "--to", "webdataset", "--num-shards=16", "--format=png"],
        "create": [*create, "--chunksize", "4"],
        "create records": [*create, "--container", "tfrecord", "--img_per_file", "4"],
        "ingest": ["ingest", f"--input_dir={photos}", f"--output_dir={output}", "--num_shards=24", "--img_size=300"],
    }


@pytest.mark.parametrize(
    ("name", "workers"), [("augment", 2), ("convert", 1), ("create", 1), ("create records", 2), ("ingest", 2)]
)
def test_interrupted_commands_go_on(photos: Path, tmp_path: Path, name: str, workers: int) -> None:
    def command(output: str, *more: str) -> list[str]:
        return [str(COMMAND), *commands(photos, tmp_path / output)[name], f"--workers={workers}", *more]

    subprocess.run(command("whole"), check=True, capture_output=True, timeout=LONG)
    wanted = tree(tmp_path / "whole")
    for number in range(TRIES):
        output = tmp_path / f"out{number}"
        code = interrupted(command(output.name), output)
        if code != 0:
            break
    assert code == 130
    done = [path for path in tree(output) if not path.startswith(".pixelmill")]
    assert all(tree(output)[path] == wanted[path] for path in done)
    assert len(done) < len(wanted)
    assert not list(output.glob(".pixelmill*/tmp/*"))
    assert subprocess.run(command(output.name), capture_output=True, timeout=LONG).returncode == 5
    again = subprocess.run(command(output.name, "--exists=resume"), capture_output=True, text=True, timeout=LONG)
    assert again.returncode == 0, again.stderr
    assert tree(output) == wanted
