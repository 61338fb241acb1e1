"""SRC and DST: every command takes what it reads and where it writes in the same way.

`pixelmill VERB SRC DST`, or `pixelmill VERB SRC -o DST`. The options of programs that a command replaces, such as
`--input_dir` and `--output_dir`, mean the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from pixelmill.cli.commands import UsageError
from pixelmill.cli.options import Command, OptionValue

_PATTERN = frozenset("*?[")


@dataclass(frozen=True)
class Places:
    """How one command takes its places.

    Attributes:
        source: The argument of the Python function for what is read; None for commands that only write.
        output: The argument for where to write; None for commands that only read.
        several: Whether several files may be read.
        source_options: Other spellings of SRC, as options.
        output_options: Other spellings of DST, in addition to `-o` and `--output`.
        default: Where to write if DST is not given; None if it must be.
        optional: Whether SRC may be missing.
        endings: The endings of DST, if it is a file.
    """

    source: str | None = None
    output: str | None = None
    several: bool = False
    source_options: tuple[str, ...] = ()
    output_options: tuple[str, ...] = ()
    default: str | None = None
    optional: bool = False
    endings: tuple[str, ...] = ()

    @property
    def metavar(self) -> str:
        """The places in the first line of the help text."""
        source = "" if self.source is None else "SRC..." if self.several else "SRC"
        source = f"[{source}]" if self.optional else source
        output = "" if self.output is None else "DST" if self.default is None else "[DST]"
        return f"{source} {output}".strip()

    def split(self, places: tuple[str, ...], source: str | None, output: str | None) -> dict[str, OptionValue]:
        """Return the places as arguments of the Python function.

        Args:
            places: What stands on the command line.
            source: The value of an option for SRC.
            output: The value of an option for DST.
        """
        left = list(places)
        if output is None and self._has_output(left, source):
            output = left.pop()
        if source is not None:
            left.insert(0, source)
        if self.source is None and left:
            raise UsageError(f"unexpected argument {left[0]!r}", _context())
        if self.source is not None and not left and not self.optional:
            raise UsageError(f"Missing SRC (what to read): {self._form()}", _context())
        if self.output is not None and output is None and self.default is None:
            raise UsageError(f"Missing DST (where to write): {self._form()}", _context())
        if len(left) > 1 and not self.several:
            names = [*left, *([output] if output is not None else [])]
            raise UsageError(f"{len(names)} names for {self._form()}: {', '.join(names[:4])}", _context())
        found: dict[str, OptionValue] = {}
        if self.source is not None:
            found[self.source] = None if not left else left[0] if len(left) == 1 else tuple(left)
        if self.output is not None:
            found[self.output] = output if output is not None else self.default
        return found

    def _has_output(self, places: list[str], source: str | None) -> bool:
        """Whether the last place is DST."""
        if self.output is None or not places:
            return False
        if self.source is None or source is not None:
            return True
        if len(places) == 1:
            return False
        if self.endings:
            return places[-1].lower().endswith(self.endings)
        # Several files and no destination: tfdali's way to name its inputs.
        return self.default is None or not _is_input(places[-1])

    def _form(self) -> str:
        context = _context()
        return f"{context.command_path} {self.metavar}"


def _is_input(place: str) -> bool:
    """Whether a name is that of a file to read rather than of a folder to write."""
    path = Path(place).expanduser()
    return path.is_file() or bool(_PATTERN & set(place)) or (path.suffix != "" and not path.exists())


def _context() -> click.Context:
    return click.get_current_context()


def with_places(places: Places) -> Callable[[Command], Command]:
    """Add SRC and DST to a command, which gets them under the names of the Python function."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def call(places_: tuple[str, ...], **options: OptionValue) -> object:
            source, output = (options.pop(name, None) for name in ("source_option", "output_option"))
            return command(**options, **places.split(places_, source, output))

        call = click.argument("places_", nargs=-1, metavar=places.metavar)(call)
        if places.output is not None:
            names = ("-o", "--output", *places.output_options)
            shown = "Another way to name DST."
            text = shown if places.default is None else f"{shown}  [default: {places.default}]"
            call = click.option(*names, "output_option", metavar="DST", help=text)(call)
        if places.source_options:
            shown = "Another way to name SRC."
            call = click.option(*places.source_options, "source_option", metavar="SRC", help=shown)(call)
        return call  # type: ignore[return-value]  # click passes what both take

    return decorate
