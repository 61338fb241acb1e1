"""Datasets full of faults through the installed commands: exact lists, exit code 3, the bytes kept aside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from faulty_datasets import Fault, write_folder, write_records

from pixelmill.formats.registry import open_dataset

COMMAND = Path(sys.executable).with_name("pixelmill")


def run(*arguments: object) -> dict[str, Any]:
    """Run the installed command with bad samples in its way; gives what it prints."""
    command = [str(COMMAND), *map(str, arguments), "--workers", "1", "--json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 3, result.stderr[-2000:] + result.stdout[-500:]
    said: dict[str, Any] = json.loads(result.stdout)
    return said


def check(output: Path, said: dict[str, Any], faults: list[Fault], good: int, *, kept: bool) -> None:
    """Compare everything that is told about a job with what is wrong in its dataset."""
    assert (said["samples"], said["errors"]) == (good, len(faults))
    manifest = json.loads((output / "manifest.json").read_text("utf-8"))
    events = [event for entry in manifest["entries"] for event in entry["errors"]]
    wanted = {(fault.path, fault.offset): (fault.name, fault.kind, fault.place) for fault in faults}
    found = {
        (event["path"], event.get("offset")): (
            wanted.get((event["path"], event.get("offset")), ("unknown",))[0],
            event["kind"],
            event["sample"],
        )
        for event in events
    }
    assert found == wanted
    assert len(events) == len(faults)
    aside = output.with_name(output.name + ".quarantine")
    assert aside.exists() == kept
    if not kept:
        return
    raws = {(fault.path, fault.offset): fault.raw for fault in faults}
    names = set()
    for event in events:
        raw = raws[event["path"], event.get("offset")]
        if raw is None:
            assert "[kept as" not in event["message"]
            continue
        name = event["message"].rpartition("[kept as ")[2].removesuffix("]")
        assert (aside / name).read_bytes() == raw, event
        names.add(name)
    assert names == {path.name for path in aside.iterdir()}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Fault], int]:
    path = tmp_path_factory.mktemp("records") / "train.tfrecord"
    return path, *write_records(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Fault], int]:
    path = tmp_path_factory.mktemp("folder") / "photos"
    return path, *write_folder(path)


@pytest.mark.parametrize("policy", ["skip", "quarantine"])
@pytest.mark.parametrize(
    ("finder", "command"),
    [
        ("copy", ["convert", "--to", "webdataset"]),
        ("decode", ["convert", "--to", "recordio", "--resize", "32x32"]),
        ("augment", ["augment"]),
        ("augment", ["augment", "--variants", "3", "--keep-originals", "--recipe", "segmentation"]),
    ],
)
def test_records(records, tmp_path: Path, finder: str, command: list[str], policy: str) -> None:
    source, faults, good = records
    assert len(faults) >= 20
    output = tmp_path / "out"
    target = ["--output", output] if command[0] == "augment" else [output]
    said = run(command[0], source, *target, *command[1:], "--on-error", policy)
    expected = [fault for fault in faults if finder in fault.found_by]
    written = good + len(faults) - len(expected)
    each = 4 if "--variants" in command else 1
    check(output, said, expected, written * each, kept=policy == "quarantine")
    assert len(open_dataset(output)) == written * each


@pytest.mark.parametrize("policy", ["skip", "quarantine"])
@pytest.mark.parametrize("command", ["augment", "convert", "ingest"])
def test_folders(folder, tmp_path: Path, command: str, policy: str) -> None:
    source, faults, good = folder
    assert len(faults) >= 18
    output = tmp_path / "out"
    arguments = {
        "augment": ["augment", source, "--output", output, "--to", "tfrecord"],
        "convert": ["convert", source, output, "--to", "tfrecord", "--format", "jpeg"],
        "ingest": ["ingest", f"--input_dir={source}", f"--output_dir={output}", "--img_size=32", "--num_shards=1"],
    }
    said = run(*arguments[command], "--on-error", policy)
    if command == "ingest":  # in an order of its own
        manifest = json.loads((output / "manifest.json").read_text("utf-8"))
        events = {event["path"]: event["sample"] for entry in manifest["entries"] for event in entry["errors"]}
        assert len(set(events.values())) == len(events)
        faults = [Fault(**{**vars(fault), "place": events.get(fault.path, -1)}) for fault in faults]
    check(output, said, faults, good, kept=policy == "quarantine")
    assert len(open_dataset(output / ("train-00000-of-00001" if command == "ingest" else ""))) == good
