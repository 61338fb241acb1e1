"""Typical mistakes: the message is one line that names the thing and the next step, and the exit code is right."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from locations import ROOT
from mistakes import MISTAKES, Mistake, prepare, run

from pixelmill.cli.exit_codes import MEANINGS, MISMATCH, SKIPPED

_LONGEST = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mistakes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        prepare(root)
    return root


def test_there_are_many() -> None:
    assert len(MISTAKES) >= 60
    assert len({mistake.command for mistake in MISTAKES}) == len(MISTAKES)
    assert {mistake.code for mistake in MISTAKES} == MEANINGS.keys() - {0, 130}, "130: tests/cli/test_interrupts.py"


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.command)
def test_a_mistake_is_explained(mistake: Mistake, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for command in mistake.before:
        run(command, folder)
    files = {path for path in folder.rglob("*") if path.is_file()}
    found = run(mistake.command, folder)
    assert found.code == mistake.code, found
    for text in mistake.says:
        assert text in found.errors + (found.output if mistake.code == MISMATCH else ""), found.errors
    for noise in ("Traceback", "object at 0x", "Usage:", "None", "\t", "  File"):
        assert noise not in found.errors, found.errors
    lines = found.errors.splitlines()
    if mistake.code in (SKIPPED, MISMATCH):
        return  # a report, not an error
    assert lines[0].startswith("Error: ") and len(lines[0]) < _LONGEST, lines
    assert len(lines) <= 3 and all(re.match(r"  \S", line) for line in lines[1:]), lines
    assert (lines[-1] == f"  see {_help_of(mistake.command)}") == (mistake.code == 2)
    if "broken" not in mistake.command:  # a job that has begun may be continued
        assert {path for path in folder.rglob("*") if path.is_file()} == files, "a refused command has written files"


def _help_of(command: str) -> str:
    """Return the command that explains the one with the mistake."""
    name = command.split()[0]
    known = {mistake.command.split()[0] for mistake in MISTAKES if mistake.code != 2} | {"bench", "recipe"}
    return f"pixelmill {name} --help" if name in known else "pixelmill --help"


def test_a_part_without_work_is_no_mistake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    found = run("convert photos few --to tfrecord --part 2/3", folder)
    assert found.code == 0, found
    expected = "nothing to do: part 2/3 of few is empty; the job has only one shard, which part 0/3 writes"
    assert found.output.strip() == expected


@pytest.mark.parametrize("arguments", [["info", "done"], ["info", "done", "--json"], ["convert", "--help"]])
def test_a_reader_that_closes_the_pipe_is_no_error(folder: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "pixelmill", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()  # before anything is printed
        assert running.stderr.read() == ""
        assert running.wait(timeout=120) == 0


def test_the_page_about_mistakes_has_them_all() -> None:
    """What it lists, such as the names of containers, may change; what a message must contain may not."""
    text = (ROOT / "docs" / "mistakes.md").read_text("utf-8")
    entries = text.split("```console\n")[1:]
    assert len(entries) == len(MISTAKES), "make mistakes writes the page"
    for mistake, entry in zip(MISTAKES, entries, strict=True):
        assert f"$ pixelmill {mistake.command}" in entry
        assert not [said for said in mistake.says if said not in entry], "make mistakes writes the page"
        assert (f"# exit code {mistake.code}" in entry) == (mistake.code != 1)
    for code, meaning in MEANINGS.items():
        assert f"| {code} | {meaning} |" in text


def test_the_advice_of_a_failed_job_works(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command = "convert broken advised --to tfrecord --max-side 16"
    failed = run(command, folder)
    found = re.search(r"  (--exists \w+) with (--on-error \w+) continues", failed.errors)
    assert failed.code == 1 and found is not None, failed.errors
    continued = run(f"{command} {found[1]} {found[2]}", folder)
    assert continued.code == SKIPPED and "advised/manifest.json lists it" in continued.errors
    assert run("verify advised", folder).code == 0
