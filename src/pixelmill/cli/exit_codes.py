"""The exit codes of all commands. docs/mistakes.md has this table."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
SKIPPED: Final = 3
MISMATCH: Final = 4
OUTPUT_EXISTS: Final = 5
INTERRUPTED: Final = 130  # what shells report for a program ended by Ctrl-C: 128 + SIGINT

MEANINGS: Final = {
    DONE: "Everything was done, or there was nothing to do.",
    FAILED: "Nothing more can be done: the input, the arguments, the disk or the network, as the message says.",
    USAGE: "The command line cannot be understood: an unknown command or option, a missing or malformed value.",
    SKIPPED: "The command ended, and some samples were bad: they were skipped and are listed.",
    MISMATCH: "`verify` found that the dataset is damaged or incomplete.",
    OUTPUT_EXISTS: "The output exists already; `--exists` says what may be done with it.",
    INTERRUPTED: "Interrupted by Ctrl-C; a job continues with `--exists resume`.",
}
