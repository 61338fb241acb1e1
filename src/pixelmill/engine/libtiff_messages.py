"""What libtiff says about a file: collected for the caller instead of printed.

Pillow leaves libtiff's message handlers as they are, and these print. A damaged fax page prints a line for each of its
rows, and the image is delivered all the same.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
_MOST = 8
_LENGTH = 256
_heard = threading.local()


@contextmanager
def collected() -> Iterator[list[str]]:
    """Yield the list that gets the first errors of libtiff in this thread. Its warnings are dropped."""
    _handlers()
    errors: list[str] = []
    _heard.errors = errors
    try:
        yield errors
    finally:
        del _heard.errors


@functools.cache
def _handlers() -> tuple[object, ...]:
    """Install the handlers in the libtiff that Pillow has loaded; they must live as long as the process."""
    library = _loaded_libtiff()
    if library is None:
        return ()
    vsnprintf = ctypes.CDLL(None).vsnprintf
    vsnprintf.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p)

    def note_error(module: bytes | None, form: bytes, values: int | None) -> None:
        errors = getattr(_heard, "errors", None)
        if errors is not None and len(errors) < _MOST:
            buffer = ctypes.create_string_buffer(_LENGTH)
            vsnprintf(buffer, _LENGTH, form, values)
            # Pillow calls the file in memory `tempfile.tif`; other modules are functions of libtiff.
            name = (module or b"").decode(errors="replace")
            text = buffer.value.decode(errors="replace").rstrip(".")
            errors.append(text if name in ("", "tempfile.tif") else f"{name}: {text}")

    found = _HANDLER(note_error), _HANDLER(lambda *_: None)
    library.TIFFSetErrorHandler.restype = library.TIFFSetWarningHandler.restype = ctypes.c_void_p
    library.TIFFSetErrorHandler(found[0])
    library.TIFFSetWarningHandler(found[1])
    return found


def _loaded_libtiff() -> ctypes.CDLL | None:
    """Return the library that Pillow uses, or None where it cannot be found: messages are then printed."""
    from PIL import _imaging

    if not hasattr(os, "RTLD_NOLOAD"):
        return None
    package = Path(_imaging.__file__).parent
    bundled = [*package.parent.glob("[Pp]illow.libs/libtiff*"), *package.glob(".dylibs/libtiff*")]
    for name in (*map(str, bundled), "libtiff.so.6", "libtiff.so.5"):
        try:
            return ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
        except OSError:
            continue
    return None
