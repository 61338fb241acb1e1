"""Write docs/mistakes.md: typical mistakes at the command line, and what the commands say."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from mistakes import page, prepare  # noqa: E402 - the path is set first


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        os.chdir(folder)
        prepare(folder)
        text = page(folder)
        os.chdir(ROOT)
    (ROOT / "docs" / "mistakes.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
