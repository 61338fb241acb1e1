"""The exceptions of pixelmill. The builtin exceptions that each also derives from are in parentheses.

Programs for DALI catch the builtin exceptions that DALI raises: ValueError, TypeError or KeyError where its Python code
finds a mistake, RuntimeError where its native code does. Here each error is all that it may be there.

PixelmillError
├── ArgumentError (ValueError, RuntimeError)    invalid arguments, when a graph is built or a function is called
│   ├── ArgumentTypeError (TypeError)           arguments of a wrong type
│   │   └── UnknownNameError (KeyError)         names of arguments, inputs or readers that do not exist
│   ├── LayoutError                             axes that a layout does not have
│   ├── IndexOutOfRangeError (IndexError)       samples that a batch does not have
│   └── UnsupportedError (NotImplementedError)  what nodes cannot do
├── DataError (RuntimeError)                    unusable files, records or images; its events say which
│   └── SampleArgumentError (ValueError)        arguments that are not valid for some samples
├── EngineError (RuntimeError)                  a call that the state of the pipeline does not allow
│   └── MissingGraphError (NotImplementedError) a pipeline without outputs
├── MissingDependency (ImportError)             an optional package is not installed
├── OutputExists (FileExistsError)              the output of a command exists already
└── OutputError (OSError)                       writing failed: disk full, quota, I/O error, another writer
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

# The notes of the core about samples that it delivers, by their bits in native/core/step.h.
NOTES = {
    32: "missing_pixels",  # first, since it explains the decoder warning that comes with it
    1: "decoder_warning",
    2: "extension_mismatch",
    4: "depth_reduced",
    8: "bad_orientation",
    16: "more_frames",
}
# The note about an image of which a decoder has filled in a part: damage for everything that checks or writes images.
MISSING_PIXELS = NOTES[32]
DECODER_WARNING = NOTES[1]


_LONGEST = 16_384  # characters of a message that a terminal can show and people still read; a path has up to 4096
# Control characters, lone surrogates, and what changes the order of text or cannot be seen.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def printable(text: str, *, keep: str = "") -> str:
    """Return text from a file name or from data with everything that a terminal would obey as escapes like `\\x1b`.

    Args:
        text: The text. If it is very long, its middle is left out.
        keep: Control characters to leave alone, such as line ends in a text that is not foreign as a whole.
    """
    if len(text) > _LONGEST:
        half = _LONGEST // 2
        text = f"{text[:half]} ... {len(text) - 2 * half} characters ... {text[-half:]}"
    return text if text.isprintable() else _HIDDEN.sub(lambda m: m[0] if m[0] in keep else _escape(ord(m[0])), text)


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class PixelmillError(Exception):
    """The base class of all errors of pixelmill."""

    def __str__(self) -> str:
        return printable(super().__str__(), keep="\n")


class ArgumentError(PixelmillError, ValueError, RuntimeError):
    """Raised for invalid arguments, and for arguments that contradict each other."""


class ArgumentTypeError(ArgumentError, TypeError):
    """Raised for values of a wrong type."""


class UnknownNameError(ArgumentTypeError, KeyError):
    """Raised for names of arguments, inputs or readers that do not exist."""

    __str__ = Exception.__str__  # KeyError would quote the message


class LayoutError(ArgumentError):
    """Raised for names of axes that the layout of an input does not have."""


class IndexOutOfRangeError(ArgumentError, IndexError):
    """Raised for the number of a sample or of an axis that does not exist."""


class IteratorArgumentError(ArgumentError, AssertionError):
    """Raised for arguments of iterators that contradict each other, which DALI asserts."""


class UnsupportedError(ArgumentError, NotImplementedError):
    """Raised for Python expressions that are not available on nodes."""


class EngineError(PixelmillError, RuntimeError):
    """Raised for calls that the state of a pipeline does not allow, and for engines that cannot run."""


class MissingGraphError(EngineError, NotImplementedError):
    """Raised for a pipeline whose outputs were not defined."""


class MissingDependency(PixelmillError, ImportError):  # noqa: N818 - clear without the suffix
    """Raised if an optional package is needed and not installed.

    Args:
        package: The name that is imported.
        extra: The extra of pixelmill that installs it.
        instead: What can be done without it.
    """

    def __init__(self, package: str, extra: str, *, instead: str = "") -> None:
        way = f"it comes with: pip install 'pixelmill[{extra}]'"
        super().__init__(f"{package} is not installed; {way}" + (f", {instead}" if instead else ""))


class OutputExists(PixelmillError, FileExistsError):  # noqa: N818 - clear without the suffix
    """Raised if the output exists and neither resuming nor overwriting was requested."""


class OutputError(PixelmillError, OSError):
    """Raised if output could not be written."""


@dataclass(frozen=True)
class Event:
    """What happened to one sample.

    Attributes:
        kind: `truncated`, `not_an_image`, `corrupt`, `too_large`, `unsupported`, `checksum`, `wrong_format`, `io` or
            `argument` for a sample that failed; `decoder_warning`, `extension_mismatch`, `depth_reduced`,
            `bad_orientation`, `more_frames` or `missing_pixels` for one that did not.
        message: What exactly was wrong.
        sample: The number of the sample in its dataset.
        epoch: The epoch it was read in.
        path: The file it came from, if there is one.
        offset: The offset in that file where it starts, in bytes.
        operator: The operator that found the problem.
        line: The user's line that created this operator.
        fatal: False for a note about a sample that was delivered nevertheless.
    """

    kind: str
    message: str
    sample: int
    epoch: int
    path: str | None = None
    offset: int | None = None
    operator: str | None = None
    line: str | None = None
    fatal: bool = True

    def __str__(self) -> str:
        path = "" if self.path is None else f", {printable(self.path)}"
        where = path + (f" at byte {self.offset}" if self.path is not None and self.offset else "")
        kind = "" if self.kind == "argument" else f"{self.kind}: "
        what = printable(self.message.removeprefix(f"{self.operator}: "), keep="\n")
        text = f"{self.operator or 'sample'}: {kind}{what} (sample {self.sample}{where})"
        return text + (f"\n  created at {self.line}" if self.line else "")


class DataError(PixelmillError, RuntimeError):
    """Raised for input that could not be used.

    Attributes:
        events: One event for each bad sample.
    """

    def __init__(self, message: str, events: tuple[Event, ...] = ()) -> None:
        super().__init__(message)
        self.events = events


_MOST_NAMES = 10_000  # that are compared with a misspelled one

# What the system says of a path that names no file that can be read.
_WRONG_PATH = frozenset(
    {
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EISDIR,
        errno.EINVAL,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.EACCES,
        errno.EPERM,
    }
)


def unreadable(what: str, path: str, error: OSError, *, hint: str = "") -> ArgumentError | DataError:
    """Return the error for a file that the caller named and that cannot be read.

    A path that leads to no readable file is an invalid argument. A device that fails or too many open files are not.

    Args:
        what: The argument or the format.
        path: The file.
        error: What the system said.
        hint: What to do about it.
    """
    kind = ArgumentError if error.errno in _WRONG_PATH else DataError
    meant = _similar_path(path) if error.errno == errno.ENOENT and "://" not in path else ""
    return kind(f"{what}: {error.strerror or error}: {path}{meant}{hint}")


def suggestion(text: object, names: Iterable[str]) -> str:
    """Return the question `; did you mean ...?` for a misspelled name, or nothing if no name is similar."""
    import difflib

    found = difflib.get_close_matches(str(text), list(names), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _similar_path(path: str) -> str:
    """Return the question whether another name in the same folder was meant, or nothing if none is similar."""
    import difflib

    folder, name = os.path.split(path.rstrip("/"))
    try:
        names = os.listdir(folder or ".")  # noqa: PTH208 - pathlib takes long to import
    except OSError:
        return ""
    found = difflib.get_close_matches(name, names[:_MOST_NAMES], n=1, cutoff=0.75)
    return f"; did you mean {os.path.join(folder, found[0])}?" if found else ""  # noqa: PTH118


class SampleArgumentError(DataError, ValueError):
    """Raised if the arguments of an operator are not valid for some samples."""
