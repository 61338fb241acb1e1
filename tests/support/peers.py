"""Packages that only comparisons need, such as DALI and torch: skipped by name where they are not installed.

`make test` installs all of them and sets PIXELMILL_PEERS=required, so that none is missed without notice.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest

# What Python and pixelmill.MissingDependency say, in the output of another process too.
IMPORT_FAILED = re.compile(r"No module named '?([\w.]+)|([\w.]+)(?:\[\w+\])? is not installed; it comes with")
OWN = ("pixelmill", "imagine")
TESTS = Path(__file__).parents[1]


class AbsentPeer:
    """Stands for a package that is not installed: using it skips the test, or the file that is collected."""

    def __init__(self, name: str) -> None:
        self.__name__ = name  # as that of a module

    def __getattr__(self, part: str) -> Any:
        if part.startswith("__"):  # pytest and typing look for these in everything
            raise AttributeError(part)
        _skip(self.__name__)


def peer(name: str) -> Any:
    """Import a module of a peer, or one of ours that needs it; return a substitute where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        absent = _absent_for(error)
        if absent is None:
            raise
        return AbsentPeer(absent)


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test that uses peers in another process: it is skipped where one is not installed."""
    absent = [name for name in names if is_absent(name)]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed")


def is_absent(name: str) -> bool:
    """Whether the package of a module is not installed and may be missing."""
    if os.environ.get("PIXELMILL_PEERS") == "required":
        return False
    parts = name.split(".")
    package = ".".join(parts[:2]) if parts[0] == "nvidia" else parts[0]  # many packages share the name nvidia
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return True
    if spec is None:
        return True
    # A folder of the tests, such as tests/ray, passes for a package without an __init__.
    return spec.origin is None and set(spec.submodule_search_locations or ()) <= {str(TESTS / package)}


def absent_in(message: str) -> str | None:
    """Return the name of the peer whose import failed with this message, if it is not installed."""
    for found in IMPORT_FAILED.finditer(message):
        name = found[1] or found[2]
        if name.partition(".")[0] not in OWN and is_absent(name):
            return name
    return None


def skip_if_absent(error: BaseException) -> None:
    """Skip the test if the error, or a cause of it, says that a package is missing, and it is not installed."""
    absent = _absent_for(error)
    if absent is not None:
        _skip(absent)


def _absent_for(error: BaseException | None) -> str | None:
    while error is not None:
        absent = absent_in(f"{type(error).__name__}: {error}")
        if absent is not None:
            return absent
        error = error.__cause__ or error.__context__
    return None


def _skip(name: str) -> NoReturn:
    pytest.skip(f"{name} is not installed", allow_module_level=True)
