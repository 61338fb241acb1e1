"""Graphs and jobs give the results of tests/golden/results.txt, on every platform and at every SIMD level."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pixelmill import _core

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import golden_runs  # noqa: E402

HASHES = ROOT / "tests" / "golden" / "results.txt"


@pytest.mark.parametrize("level", ["base", _core.simd_level(), "best"])
def test_results_are_the_golden_ones(level: str) -> None:
    try:
        _core.force_simd_level(level)
        got = dict(golden_runs.results([]))
    finally:
        _core.force_simd_level("best")
    assert got == golden_runs.read_hashes(HASHES)


def test_a_change_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of other platforms exits with the names of the results that differ, are missing, or are new."""
    hashes = {"train": "1f", "gone": "2e", "same": "3d"}
    path = tmp_path / "results.txt"
    path.write_text("".join(f"{value}  {name}\n" for name, value in hashes.items()))
    monkeypatch.setattr(golden_runs, "results", lambda names: iter({"train": "00", "same": "3d", "new": "4c"}.items()))
    with pytest.raises(SystemExit, match=r"3 of 3 differ: train; gone; new$"):
        golden_runs.check(path)
    monkeypatch.setattr(golden_runs, "results", lambda names: iter(hashes.items()))
    golden_runs.check(path)
    assert capsys.readouterr().out == f"3 of 3 equal at SIMD level {_core.simd_level()}\n"
