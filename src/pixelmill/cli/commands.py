"""The classes of all commands: how they are found, what they all accept, and how errors are shown."""

from __future__ import annotations

import difflib
import logging
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pixelmill.amounts import duration_text
from pixelmill.cli.exit_codes import INTERRUPTED
from pixelmill.cli.terminal import QUIET, echo, echo_error, message_text
from pixelmill.errors import printable
from pixelmill.log import log

if TYPE_CHECKING:
    from pixelmill.cli.options import OptionValue

# What people type for commands that have another name.
_SYNONYMS = {
    "benchmark": "bench",
    "check": "verify",
    "create": "create-images",
    "create-tfrecord": "create-tfrecords",
    "crop": "augment --recipe FILE",
    "doctor": "engines",
    "export": "convert",
    "generate": "create-images",
    "gpu": "engines",
    "help": "--help",
    "import": "convert",
    "inspect": "info",
    "pack": "convert SRC DST --to pack",
    "recipes": "recipe list",
    "resize": "convert SRC DST --to FORMAT --resize SIZE",
    "show": "preview",
    "stats": "info",
    "status": "job status",
    "tfrecord2idx": "index",
    "validate": "verify",
    "version": "--version",
    "view": "preview",
}


def with_dashes(name: str) -> str:
    """Return the name of an option or a command as it is declared: people write underscores, too."""
    return name.replace("_", "-")


class UsageError(click.UsageError):
    """A command line that cannot be understood: one line about the mistake, and one about where help is."""

    def show(self, file: object = None) -> None:
        """Print both lines on standard error."""
        echo_error(self.format_message())
        if self.ctx is not None:
            echo(f"  see {self.ctx.command_path} --help", err=True)


class SuggestingGroup(click.Group):
    """A group that knows what a misspelled command was meant to be."""

    synonyms: Mapping[str, str] = {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments begin with."""
        name = with_dashes(args[0])
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-"):
            similar = [self.synonyms[name]] if name in self.synonyms else difflib.get_close_matches(name, known)
            meant = " or ".join(f"'{ctx.command_path} {one}'" for one in similar)
            hint = f"did you mean {meant}?" if similar else f"there are {', '.join(known)}"
            raise UsageError(f"No such command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


class MainGroup(SuggestingGroup):
    """The group of all commands."""

    synonyms = _SYNONYMS


class JobCommand(click.Command):
    """A command that writes or reads a whole dataset: it can be quiet, or talk, or keep a log."""

    def __init__(self, *args: OptionValue, **options: OptionValue) -> None:
        super().__init__(*args, **options)
        self.params += [
            click.Option(["-v", "--verbose"], is_flag=True, help="Print what is done, with times, on standard error."),
            click.Option(["-q", "--quiet"], is_flag=True, help="Print nothing but problems; no progress, no report."),
            click.Option(["--log-file"], metavar="FILE", help="Append what is done, with dates, to this file."),
        ]

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        verbose, quiet, file = (ctx.params.pop(name) for name in ("verbose", "quiet", "log_file"))
        if verbose and quiet:
            raise UsageError("--verbose and --quiet exclude each other", ctx)
        ctx.meta[QUIET] = quiet
        try:
            if not verbose and file is None:
                return super().invoke(ctx)  # Python prints the warnings of the log
            with _logging(verbose=verbose, file=file), _logged_command():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if not self._resumes():
                raise
            echo("", err=True)
            echo("interrupted; the same command with --exists resume continues", err=True)
            ctx.exit(INTERRUPTED)

    def _resumes(self) -> bool:
        """Whether an interrupted run can be continued."""
        exists = next((param for param in self.params if param.name == "exists"), None)
        return exists is not None and "resume" in getattr(exists.type, "choices", ())


@contextmanager
def _logging(*, verbose: bool, file: str | None) -> Iterator[None]:
    """Send the log to standard error, from warnings on or all of it, and to a file."""
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.INFO if verbose else logging.WARNING)
    screen.setFormatter(logging.Formatter("%(asctime)s %(message)s" if verbose else "%(message)s", "%H:%M:%S"))
    handlers: list[logging.Handler] = [screen]
    if file is not None:
        from pathlib import Path

        try:
            kept = logging.FileHandler(Path(file).expanduser(), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise click.ClickException(f"--log-file: {error.strerror}: {file}") from error
        kept.setLevel(logging.DEBUG if verbose else logging.INFO)
        kept.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        handlers.append(kept)
    level = log.level
    for handler in handlers:
        log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.setLevel(level)
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()


@contextmanager
def _logged_command() -> Iterator[None]:
    """Write the command, its error and its exit code to the log."""
    began = time.monotonic()
    log.info("pixelmill %s", shlex.join(sys.argv[1:]))
    status = "failed"
    try:
        yield
        status = "ended with exit code 0"
    except click.exceptions.Exit as end:
        status = f"ended with exit code {end.exit_code}"
        raise
    except KeyboardInterrupt:
        status = "was interrupted"
        raise
    except Exception as error:
        log.error("%s", error)
        raise
    finally:
        log.info("the command %s after %s", status, duration_text(time.monotonic() - began))


def job_command(name: str | None = None, *, short_help: str) -> Callable[[Callable[..., None]], JobCommand]:
    """Make a `JobCommand` of a function."""
    return click.command(name, cls=JobCommand, short_help=short_help)


@contextmanager
def printable_errors() -> Iterator[None]:
    """Show the errors of click in our form, with the control characters of foreign names escaped."""
    try:
        yield
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its text is the help of the command
            raise
        if isinstance(error, click.MissingParameter):
            raise UsageError(_missing(error), error.ctx) from error
        text = message_text(error.format_message())
        if isinstance(error, click.UsageError):
            raise UsageError(text, error.ctx) from error
        raise click.ClickException(text) from error


def _missing(error: click.MissingParameter) -> str:
    """Return a message that names the missing parameter and its type."""
    param = error.param
    if param is None:
        return printable(error.format_message())
    name = param.opts[0] if isinstance(param, click.Option) else (param.metavar or str(param.name).upper())
    what = param.help.partition(".")[0] if isinstance(param, click.Option) and param.help else ""
    choices = getattr(param.type, "choices", ())
    listed = f": one of {', '.join(choices)}" if choices else ""
    return f"Missing {name}" + (f" ({what[0].lower()}{what[1:]})" if what else "") + listed
