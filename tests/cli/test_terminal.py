"""Hostile class and file names in every command: the terminal gets no control character, and JSON stays JSON."""

from __future__ import annotations

import io
import json
import logging
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_runner import CliRunner
from dataset_cases import encoded

from pixelmill.cli import main
from pixelmill.cli.terminal import echo, echo_json, plain_console
from pixelmill.errors import ArgumentError, DataError, Event, printable
from pixelmill.log import log

ESCAPE = "\x1b]0;owned\x07\x1b[2Kcat\x9b31m\x7f\u202e[red]\n\u2066x\x00"
NAME = ESCAPE.replace("\x00", "")  # a file system allows anything but this and slashes


def raw_controls(data: bytes) -> list[str]:
    """List what a terminal would obey. Line ends and rich's own colors are not from data."""
    text = re.sub(r"\x1b\[[0-9;?]*[mKlhAG]", "", data.decode("utf-8", "surrogateescape"))
    found = [letter for letter in text if letter not in "\n\r" and not letter.isprintable() and letter != "\t"]
    return sorted({f"{ord(letter):x}" for letter in found})


def test_what_is_printable() -> None:
    shown = printable(ESCAPE)
    assert shown == r"\x1b]0;owned\x07\x1b[2Kcat\x9b31m\x7f\u202e[red]\x0a\u2066x\x00"
    assert printable("a\nb\tc", keep="\n") == "a\nb\\x09c"
    assert printable("größe 日本 e\u0301 \u00a0 👩\u200d👧") == "größe 日本 e\u0301 \u00a0 👩\u200d👧"
    flood = printable("a" * 200_000 + "\x1b")
    assert len(flood) < 20_000 and "183617 characters" in flood and flood.endswith(r"\x1b")
    assert printable(os.fsdecode(b"\xff.jpg")) == r"\xff.jpg"
    assert printable("\ud800\U000e0041") == r"\ud800\U000e0041"
    for code in (
        *range(0x20),
        *range(0x7F, 0xA0),
        0x61C,
        0x200E,
        0x200F,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ):
        assert chr(code) not in printable(f"a{chr(code)}b")


def test_errors_and_events_are_printable() -> None:
    event = Event("io", ESCAPE, sample=1, epoch=0, path=ESCAPE)
    for text in (str(ArgumentError(ESCAPE)), str(DataError(ESCAPE)), str(event)):
        assert raw_controls(text.encode()) == []
    assert "\n" not in str(Event("io", "x", sample=1, epoch=0, path=ESCAPE)), "a name must not fake a line"
    assert event.path == ESCAPE, "the name itself stays as it is"


def test_the_log_is_printable(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "pixelmill"):
        log.warning("%s is odd: %s", ESCAPE, ValueError(ESCAPE))
        logging.getLogger("pixelmill").warning(ESCAPE)
    assert len(caplog.messages) == 2 and raw_controls("".join(caplog.messages).encode()) == []


def test_echo_and_console(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table

    echo(ESCAPE)
    echo_json({"name": ESCAPE})
    console = plain_console()
    console.print(ESCAPE)
    table = Table("head " + ESCAPE)
    table.add_row("[bold]cell[/] :smile: " + ESCAPE)
    console.print(table)
    out = capsys.readouterr().out
    assert raw_controls(out.encode()) == []
    assert "[bold]cell[/] :smile:" in out, "markup is text"
    assert json.loads(out[out.index("{") : out.index("}") + 1]) == {"name": ESCAPE}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset whose folder, class and files have hostile names, one file of which is damaged."""
    root = tmp_path_factory.mktemp("data") / NAME
    (root / f"class{NAME}").mkdir(parents=True)
    (root / "[red]b").mkdir()
    for number in range(3):
        (root / f"class{NAME}" / f"{number}{NAME}.jpg").write_bytes(encoded("jpeg", seed=number))
    (root / "[red]b" / f"good{NAME}.png").write_bytes(encoded("png", seed=5))
    (root / "[red]b" / f"bad{NAME}.jpg").write_bytes(b"<html>\x1b[31mnot a photo")
    os.utime(root, (1, 1))
    return root


RECIPE = "steps:\n  - resize: {size: 8}\n"
COMMANDS = {
    "info": ["info", "{src}"],
    "info json": ["info", "{src}", "--json"],
    "verify": ["verify", "{src}"],
    "verify json": ["verify", "{src}", "--json"],
    "convert": ["convert", "{src}", "{out}", "--to", "tfrecord"],
    "convert fail": ["convert", "{src}", "{out}", "--to", "folder", "--format", "png"],
    "convert skip": ["convert", "{src}", "{out}", "--to", "tfrecord", "--on-error", "skip", "--format", "png"],
    "convert json": ["convert", "{src}", "{out}", "--to", "list", "--on-error", "skip", "--json"],
    "augment": ["augment", "{src}", "--output", "{out}", "--recipe", "classification", "--to", "tfrecord"],
    "augment skip": ["augment", "{src}", "--output", "{out}", "--to", "folder", "--on-error", "skip"],
    "preview": ["preview", "{src}", "--output", "{out}.html"],
    "preview json": ["preview", "{src}", "--output", "{out}.html", "--json"],
    "preview errors": ["preview", "{src}", "--errors", "--output", "{out}.html"],
    "index": ["index", "{src}"],
    "ingest": ["ingest", "--input-dir", "{src}", "--output-dir", "{out}", "--num-shards", "1"],
    "no file": ["info", "{src}/nothing"],
    "no recipe": ["recipe", "validate", "{src}/nothing"],
    "recipe": ["recipe", "validate", "{recipe}"],
    "function": ["recipe", "show", "{function}"],
    "no option": ["info", f"--{NAME}"],
    "no command": [NAME],
    "bad value": ["convert", "{src}", "{out}", "--to", NAME],
    "job": ["job", "status", "{src}"],
    "segmentation": ["segmentation", "{src}", "--output", "{out}"],
    "bench": ["bench", "{src}", "--seconds", "0.1", "--rounds", "1", "--peers", "none", "--threads", "1"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_prints_what_a_terminal_obeys(name: str, hostile: Path, tmp_path: Path) -> None:
    recipe = tmp_path / f"{NAME}.yaml"
    recipe.write_text(RECIPE + f"unknown{json.dumps(NAME)}: [", "utf-8")
    (tmp_path / f"{NAME}.py").write_text("def f(scene): return scene")
    names = {"src": hostile, "out": tmp_path / f"out{NAME}", "recipe": recipe, "function": tmp_path / f"{NAME}.py:f"}
    arguments = [part.format(**names) if "{" in part else part for part in COMMANDS[name]]
    result = CliRunner().invoke(main, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert raw_controls(result.stdout_bytes) == [], result.stdout
    assert raw_controls(result.stderr_bytes) == [], result.stderr
    assert result.stdout_bytes or result.stderr_bytes
    if "json" in name or "--json" in arguments:
        json.loads(result.stdout)


def test_progress_bars_on_a_terminal(hostile: Path) -> None:
    """The bar is drawn on terminals alone, so the command gets one."""
    leader, follower = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "pixelmill", "verify", str(hostile)],
            stdout=follower,
            stderr=follower,
            close_fds=True,
        )
    finally:
        os.close(follower)
    seen = io.BytesIO()
    with os.fdopen(leader, "rb", buffering=0) as stream:
        while True:
            try:
                piece = stream.read(4096)
            except OSError:  # Linux reports EIO when the last writer is gone
                break
            if not piece:
                break
            seen.write(piece)
    assert process.wait(60) == 4
    text = seen.getvalue()
    assert b"\x1b[" in text and b"verifying" in text, "rich drew its bar"
    assert raw_controls(text) == []
    assert b"\x1b]0" not in text and b"\x1b[31mnot" not in text


def test_commands_print_in_one_place() -> None:
    """What prints around `terminal` is known: constants, and text that is escaped already."""
    known = {"demo.py": 0, "recipe.py": 1, "tfrecord2idx.py": 3}
    folder = Path(sys.modules[main.__module__].__file__ or "").parent
    for path in sorted(folder.glob("*.py")):
        calls = re.findall(r"(?<![\w.])(?:click\.s?echo|print)\(", path.read_text("utf-8"))
        assert path.name == "terminal.py" or len(calls) == known.get(path.name, 0), path.name


def test_tfrecord2idx_prints_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.tfrecord"
    path.write_bytes(b"\x1b[31m" * 40)
    for target in (str(path), str(tmp_path / f"missing{NAME}")):
        command = [sys.executable, "-m", "pixelmill.cli.tfrecord2idx", target]
        done = subprocess.run(command, capture_output=True, check=False, timeout=60)
        assert done.returncode != 0
        assert raw_controls(done.stdout + done.stderr) == []


def test_a_name_in_an_error_fakes_no_line(tmp_path: Path) -> None:
    """Lines of our own messages are indented; a line end in a name is an escape."""
    faked = "x\nError: all is well\n.jpg"
    (tmp_path / "in" / "class").mkdir(parents=True)
    (tmp_path / "in" / "class" / faked).write_bytes(b"not an image")
    lines = []
    for arguments in (
        ["convert", str(tmp_path / "in"), str(tmp_path / "out"), "--to", "tfrecord", "--quality", "80"],
        ["info", str(tmp_path / faked)],
        ["job", "status", str(tmp_path / faked)],
    ):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code != 0 and r"\x0aError: all is well\x0a" in done.output, done.output
        lines += done.output.splitlines()
    assert not [line for line in lines if line.startswith("Error: all")]
    assert any(line.startswith("  --exists resume with --on-error skip") for line in lines), "our own lines stay lines"


def command(*arguments: str, closed: tuple[int, ...] = (), **environment: str) -> subprocess.CompletedProcess[bytes]:
    def close() -> None:
        for number in closed:
            os.close(number)

    return subprocess.run(
        [sys.executable, "-m", "pixelmill", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        preexec_fn=close,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_an_encoding_without_the_letters_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "größe").mkdir()
    (tmp_path / "größe" / "日本.jpg").write_bytes(encoded("jpeg", seed=1))
    for encoding in ("ascii", "latin-1"):
        done = command("info", str(tmp_path), PYTHONIOENCODING=encoding)
        assert done.returncode == 0, done.stderr
        assert "größe".encode(encoding, "backslashreplace") in done.stdout


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_streams(tmp_path: Path, closed: tuple[int, ...]) -> None:
    """A job runs without them, and nothing that it prints gets into its files."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "1.jpg").write_bytes(encoded("jpeg", seed=1))
    for name, numbers in (("out", closed), ("expected", ())):
        done = command("convert", str(tmp_path / "in"), str(tmp_path / name), "--to", "tfrecord", closed=numbers)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "data.tfrecord").read_bytes() == (tmp_path / "expected" / "data.tfrecord").read_bytes()
