"""Everything pixelmill raises on purpose, and in brackets what else it can be caught as.

The tree:

    PixelmillError
    ├── ArgumentError (ValueError)          an argument, when the graph is built or a function is called
    ├── DataError                           a file, a record, an image; carries the events that say which
    ├── EngineError (RuntimeError)          the pipeline was used in a way it cannot be
    ├── MissingDependency (ImportError)     an optional package that is not installed
    ├── OutputExists (FileExistsError)      something stands where a command would write
    └── OutputError (OSError)               writing failed: disk full, quota, a device, another writer
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# What the core remarks on samples that it delivers, by the bits of native/core/step.h.
NOTES = {
    1: "decoder_warning",
    2: "extension_mismatch",
    4: "depth_reduced",
    8: "bad_orientation",
    16: "more_frames",
}


# Control characters, lone surrogates, and what changes the order of text or cannot be seen.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def printable(text: str, *, keep: str = "") -> str:
    """Return text from a file name or from data with everything that a terminal would obey as escapes like `\\x1b`.

    Args:
        text: The text.
        keep: Control characters to leave alone, such as line ends in a text that is not foreign as a whole.
    """
    return text if text.isprintable() else _HIDDEN.sub(lambda m: m[0] if m[0] in keep else _escape(ord(m[0])), text)


def _escape(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class PixelmillError(Exception):
    """The root of all errors of pixelmill."""

    def __str__(self) -> str:
        return printable(super().__str__(), keep="\n")


class ArgumentError(PixelmillError, ValueError):
    """An argument that cannot be meant."""


class EngineError(PixelmillError, RuntimeError):
    """A call that does not fit the state of the pipeline."""


class MissingDependency(PixelmillError, ImportError):  # noqa: N818 - says what is wrong without a suffix
    """An optional package that is needed now.

    Args:
        package: The name to import.
        extra: The extra of pixelmill that installs it.
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; it comes with: pip install 'pixelmill[{extra}]'")


class OutputExists(PixelmillError, FileExistsError):  # noqa: N818 - says what is wrong without a suffix
    """Output that is already there and must not be touched without being asked."""


class OutputError(PixelmillError, OSError):
    """Output that could not be written."""


@dataclass(frozen=True)
class Event:
    """What happened to one sample.

    Attributes:
        kind: `truncated`, `not_an_image`, `corrupt`, `too_large`, `unsupported`, `checksum`, `wrong_format`, `io` or
            `argument` for a sample that failed; `decoder_warning`, `extension_mismatch`, `depth_reduced`,
            `bad_orientation` or `more_frames` for one that did not.
        message: What exactly was wrong.
        sample: The number of the sample in its dataset.
        epoch: The epoch it was read in.
        path: The file it came from, where there is one.
        offset: The byte in that file where it starts.
        operator: The operator that found out.
        line: The user's own line that made this operator.
        fatal: False for a note about a sample that was delivered all the same.
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


class DataError(PixelmillError):
    """Input that could not be used.

    Attributes:
        events: One for each sample concerned.
    """

    def __init__(self, message: str, events: tuple[Event, ...] = ()) -> None:
        super().__init__(message)
        self.events = events
