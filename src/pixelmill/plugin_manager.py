"""DALI's plugin manager. Its plugins are libraries for DALI's own executor, which pixelmill cannot load."""

from __future__ import annotations

import os
from typing import NoReturn

from pixelmill.errors import EngineError

_INSTEAD = (
    "a DALI plugin is a library for DALI's executor and cannot run in pixelmill; write the operator in Python with "
    "fn.python_function or plugin.numba, or keep this pipeline on DALI"
)


def load_library(library_path: str | os.PathLike[str], global_symbols: bool = False) -> NoReturn:
    """Raise an error that names the library and what to use instead."""
    raise EngineError(f"load_library: {os.fspath(library_path)}: {_INSTEAD}")


def load_directory(plugin_dir_path: str | os.PathLike[str], global_symbols: bool = False) -> NoReturn:
    """Raise an error that names the directory and what to use instead."""
    raise EngineError(f"load_directory: {os.fspath(plugin_dir_path)}: {_INSTEAD}")
