"""Locks of Windows. They keep others from reading what is locked, so a place far after the end of a file is locked."""

# ruff: noqa: E402 - type checkers on other systems stop at the assertion
from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import errno
import msvcrt
import winreg
from ctypes import wintypes

_SHARED, _FAIL_AT_ONCE, _EXCLUSIVE = 0, 1, 2
_LOCK_VIOLATION, _NOT_LOCKED = 33, 158
_PLACE = 1 << 62
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_size_t),
        ("internal_high", ctypes.c_size_t),
        ("offset", wintypes.DWORD),
        ("offset_high", wintypes.DWORD),
        ("event", wintypes.HANDLE),
    )


_kernel.LockFileEx.argtypes = (wintypes.HANDLE, *[wintypes.DWORD] * 4, ctypes.POINTER(_Overlapped))
_kernel.UnlockFileEx.argtypes = (wintypes.HANDLE, *[wintypes.DWORD] * 3, ctypes.POINTER(_Overlapped))


def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
    """Lock an open file until it is closed, in place of a lock that this descriptor has."""
    unlock(descriptor)
    _lock(descriptor, _PLACE, (_SHARED if shared else _EXCLUSIVE) | (0 if wait else _FAIL_AT_ONCE))


def unlock(descriptor: int) -> None:
    """Unlock an open file."""
    _unlock(descriptor, _PLACE)


def lock_byte(descriptor: int, at: int) -> None:
    """Lock one byte of a file, which need not exist; raises OSError if it is locked."""
    _lock(descriptor, at, _EXCLUSIVE | _FAIL_AT_ONCE)


def unlock_byte(descriptor: int, at: int) -> None:
    """Unlock one byte of a file."""
    _unlock(descriptor, at)


def native_file(descriptor: int) -> int:
    """Return what the core knows an open file by: the handle, since its C library has other descriptors."""
    return msvcrt.get_osfhandle(descriptor)


def boot() -> str:
    """Return what identifies this machine; empty if that is unknown."""
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
            return str(winreg.QueryValueEx(key, "MachineGuid")[0])
    except OSError:
        return ""


def _lock(descriptor: int, at: int, flags: int) -> None:
    place = _Overlapped(offset=at & 0xFFFFFFFF, offset_high=at >> 32)
    if _kernel.LockFileEx(msvcrt.get_osfhandle(descriptor), flags, 0, 1, 0, ctypes.byref(place)):
        return
    code = ctypes.get_last_error()
    if code == _LOCK_VIOLATION:
        raise BlockingIOError(errno.EAGAIN, "another process holds the lock")
    raise ctypes.WinError(code)


def _unlock(descriptor: int, at: int) -> None:
    place = _Overlapped(offset=at & 0xFFFFFFFF, offset_high=at >> 32)
    if not _kernel.UnlockFileEx(msvcrt.get_osfhandle(descriptor), 0, 1, 0, ctypes.byref(place)):
        code = ctypes.get_last_error()
        if code != _NOT_LOCKED:
            raise ctypes.WinError(code)
