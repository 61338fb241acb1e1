"""docs/reference/cli.md, written from the commands themselves."""

from __future__ import annotations

import re

import click

from pixelmill.cli import main
from pixelmill.cli.exit_codes import MEANINGS

NOTE = "<!-- Written by scripts/write_api.py from the commands in src/pixelmill/cli. -->"

INTRODUCTION = """\
# Command line

Every command prints its options with `--help`. [Exit codes](exit-codes.md) are the same for all of them.
`python -m pixelmill` is the same program. Where a path is expected, an address such as `s3://bucket/folder` works
too."""

EXIT_CODES = """\
# Exit codes

All commands use the same codes. [Typical mistakes](../mistakes.md) shows the message of each."""

STREAMS = "Messages go to standard error, results to standard output; `--json` prints results for programs."


def cli_page() -> str:
    """Return the page."""
    context = click.Context(main, info_name="pixelmill")
    commands = list(_commands(main, context))
    rows = [
        f"| [{name}](#{_anchor(name)}) | {_cell(command.get_short_help_str(200))} |" for name, command, _ in commands
    ]
    parts = [NOTE, INTRODUCTION, "\n".join(["| command | does |", "|---|---|", *rows])]
    parts += [_section(name, command, where) for name, command, where in commands]
    return "\n\n".join(parts) + "\n"


def exit_codes_page() -> str:
    """Return the page with the exit codes of all commands."""
    rows = [f"| {code} | {_cell(text)} |" for code, text in MEANINGS.items()]
    table = "\n".join(["| code | meaning |", "|---|---|", *rows])
    note = "<!-- Written by scripts/write_api.py from src/pixelmill/cli/exit_codes.py. -->"
    return "\n\n".join([note, EXIT_CODES, table, STREAMS]) + "\n"


def _commands(group: click.Group, context: click.Context) -> list[tuple[str, click.Command, click.Context]]:
    """Return all commands with their full names, those of groups included."""
    found: list[tuple[str, click.Command, click.Context]] = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        path = inner.command_path
        if isinstance(command, click.Group):
            found += _commands(command, inner)
        else:
            found.append((path, command, inner))
    return found


def _section(name: str, command: click.Command, context: click.Context) -> str:
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## {name}", f"```text\n{context.command_path} {usage}\n```", *_help(command.help or "")]
    options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    if options:
        rows = [_row(option, context) for option in options]
        parts.append("\n".join(["| option | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _help(text: str) -> list[str]:
    """Return the paragraphs of a help text; those that click must not wrap are examples."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if "\b" in paragraph:
            lines = paragraph.replace("\b", "").strip("\n").splitlines()
            title = [lines.pop(0).strip()] if lines and lines[0].strip().endswith(":") else []
            code = "\n".join(line.strip() for line in lines if line.strip())
            parts += [*title, f"```text\n{code}\n```"]
        else:
            parts.append(_escaped(" ".join(paragraph.split())))
    return parts


def _row(option: click.Option, context: click.Context) -> str:
    found = option.get_help_record(context)
    names, text = found if found is not None else ("", "")
    return f"| `{_cell(names)}` | {_cell(_escaped(' '.join(text.split())))} |"


def _escaped(text: str) -> str:
    """Escape what Markdown would take for markup, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]])", r"\\\1", part) for part in parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")
