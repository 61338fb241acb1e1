"""Where the repository keeps what tests read and run."""

from __future__ import annotations

from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
TESTS = SUPPORT.parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
