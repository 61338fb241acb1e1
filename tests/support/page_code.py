"""The code of a Markdown page, run block by block as a reader would: shell and Python in turn, in one folder."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^(?P<indent> *)```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^ *```", re.M | re.S)
_SECONDS = 300


@dataclass(frozen=True)
class Block:
    """A block of code, and what it prints if the page says so."""

    kind: str
    text: str
    line: int
    output: str | None = None


def blocks_of(page: str) -> list[Block]:
    """Return the shell and Python blocks of a page; a text block right after one is its output."""
    found: list[Block] = []
    end = 0
    for match in _BLOCK.finditer(page):
        indent = match["indent"]
        text = re.sub(rf"^{indent}", "", match["text"], flags=re.M)
        kind, line = match["kind"], page.count("\n", 0, match.start()) + 1
        if kind in ("sh", "python"):
            found.append(Block(kind, text, line))
        elif kind == "text" and found and not page[end : match.start()].strip():
            found[-1] = Block(found[-1].kind, found[-1].text, found[-1].line, text)
        end = match.end()
    return found


def run_page(path: Path, folder: Path) -> None:
    """Run the blocks of a page in a folder; fail with the line of the block that fails, or prints something else."""
    names: dict[str, Any] = {"__name__": "__page__"}
    # The folder stays the working directory between blocks: loaders that are still open read ahead from relative paths.
    with contextlib.chdir(folder):
        for block in blocks_of(path.read_text("utf-8")):
            where = f"{path.name}:{block.line}"
            run = _run_shell if block.kind == "sh" else _run_python
            printed = run(block, names, folder, where)
            if block.output is not None:
                assert _agrees(printed, block.output), f"{where} prints\n{printed}\ninstead of\n{block.output}"
        names.clear()


def _run_shell(block: Block, names: dict[str, Any], folder: Path, where: str) -> str:
    del names
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
    )
    assert done.returncode == 0, f"{where} ends with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def _run_python(block: Block, names: dict[str, Any], folder: Path, where: str) -> str:
    source = folder / f".block-{block.line}.py"  # where error messages and conditionals of pipelines look for it
    source.write_text(block.text, "utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(block.text, str(source), "exec"), names)
        except Exception as error:
            raise AssertionError(f"{where}: {type(error).__name__}: {error}") from error
    return printed.getvalue()


def _agrees(printed: str, expected: str) -> bool:
    """Whether the output is the one of the page, in which … stands for anything in a line."""
    pattern = re.escape(expected.rstrip()).replace("…", "[^\n]*")
    return re.fullmatch(pattern, printed.rstrip()) is not None
