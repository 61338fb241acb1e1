"""Loads a program written for DALI, as it is and with `nvidia.dali` replaced by `pixelmill` in its import lines."""

from __future__ import annotations

import importlib
import itertools
import re
import warnings
from pathlib import Path

import numpy as np
from locations import TESTS

SOURCES = TESTS / "programs" / "sources"
IMPORT_LINE = re.compile(r"^(\s*(?:from|import)\s+)nvidia\.dali\b", re.MULTILINE)
_numbers = itertools.count()


def ported(text):
    """Replace the package in the import lines, and nothing else."""
    return IMPORT_LINE.sub(r"\1pixelmill", text)


def load(name, folder, *, port):
    """Import a program from `folder`: conditionals need the source of a function, worker processes its module."""
    text = (SOURCES / f"{name}.py").read_text("utf-8")
    assert "nvidia.dali" in text and "pixelmill" not in text
    path = Path(folder) / f"{name}_{'pixelmill' if port else 'dali'}_{next(_numbers)}.py"
    path.write_text(ported(text) if port else text, "utf-8")
    importlib.invalidate_caches()  # the folder may have been searched before the file was written
    return importlib.import_module(path.stem)


def results(name, data, folder):
    """Run a program on DALI and on pixelmill; return what its `main` returned for each."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")  # recorded and dropped: deprecations of DALI differ between its versions
        return [load(name, folder, port=port).main(str(data)) for port in (False, True)]


def check_same(mine, theirs, where, *, level=1, real=1e-3):
    """Demand equal structure, types, shapes and integers; images within `level` if uint8, floats within `real`."""
    assert type(mine) is type(theirs), where
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs), where
        for key in theirs:
            check_same(mine[key], theirs[key], f"{where}[{key!r}]", level=level, real=real)
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs), where
        for number, pair in enumerate(zip(mine, theirs, strict=True)):
            check_same(*pair, f"{where}[{number}]", level=level, real=real)
    elif isinstance(theirs, np.ndarray):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape), where
        image = theirs.dtype == np.uint8 and theirs.ndim >= 3
        allowed = real if theirs.dtype.kind == "f" else level if image else 0
        difference = np.abs(mine.astype(float) - theirs.astype(float)).max(initial=0)
        assert difference <= allowed, f"{where} differs by {difference}, allowed is {allowed}"
    else:
        assert mine == theirs, where


def check_similar(mine, theirs, where, *, share=0.15):
    """Demand of random images the same number, types and ranks, and means and deviations that differ little.

    `share` is the allowed difference as a fraction of the deviation of DALI's values.
    """
    assert len(mine) == len(theirs), where
    assert {(x.dtype, x.ndim) for x in mine} == {(x.dtype, x.ndim) for x in theirs}, where
    here, there = (np.concatenate([x.astype(float).ravel() for x in images]) for images in (mine, theirs))
    spread = max(there.std(), 1e-6)
    assert abs(here.mean() - there.mean()) <= share * spread, f"{where}: means {here.mean()} and {there.mean()}"
    assert abs(here.std() - there.std()) <= share * spread, f"{where}: deviations {here.std()} and {there.std()}"


def check_results(mine, theirs, name, **tolerance):
    """Compare the results of a program: those named `drawn_*` are random and compared by their statistics."""
    assert list(mine) == list(theirs)
    for key in theirs:
        if key.startswith("drawn_"):
            check_similar(mine[key], theirs[key], f"{name}: {key}")
        else:
            check_same(mine[key], theirs[key], f"{name}: {key}", **tolerance)
