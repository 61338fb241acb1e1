"""A program that runs small jobs as on Windows, as far as Linux can: without the calls and modules of POSIX.

    python without_posix.py hidden|plain FOLDER

It prints what `portable_jobs.py` prints, and the number of modules that were imported. With `hidden`, `sys.platform` is
`win32`, the names below are gone, and locks are those of this system behind the interface of
`pixelmill.storage.windows_files`.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import pkgutil
import signal
import sys
import sysconfig
import types
from pathlib import Path

from portable_jobs import run_jobs

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog")
OS_NAMES = (
    *("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_DIRECTORY", "O_SYNC", "O_DSYNC", "O_PATH", "O_TMPFILE"),
    *("pread", "pwrite", "preadv", "pwritev", "sendfile", "copy_file_range", "posix_fallocate", "posix_fadvise"),
    *("uname", "sysconf", "getloadavg", "sched_getaffinity", "sched_setaffinity", "statvfs", "fstatvfs", "sync"),
    *("fork", "forkpty", "register_at_fork", "killpg", "getpgrp", "getpgid", "setpgid", "setsid", "openpty"),
    *("geteuid", "getuid", "getegid", "getgid", "chown", "lchown", "fchmod", "fchown", "mkfifo", "memfd_create"),
)
SIGNALS = ("pthread_sigmask", "SIGKILL", "SIGSTOP", "SIGCONT", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK")
# Modules of others, which ask for the platform when they are imported.
USED_BEFORE = (
    *("asyncio", "concurrent.futures.thread", "ctypes", "getpass", "glob", "shutil", "socket", "ssl", "subprocess"),
    *(
        "tempfile",
        "urllib.request",
        "click",
        "numpy.random",
        "PIL.Image",
        "rich.console",
        "rich.progress",
        "rich.table",
    ),
    *("multiprocessing.connection", "multiprocessing.reduction", "yaml"),
)
# They need frameworks, or are programs.
SKIPPED = ("pixelmill.plugin", "pixelmill.ray", "pixelmill.benchmark.", "pixelmill.storage.windows_files")
FRAMEWORKS = ("torch", "tensorflow", "jax", "lightning", "nvidia", "ray", "numba", "paddle", "torchdata", "pyarrow")
ALL_PROGRAMS = ("pixelmill.__main__",)


def hide() -> None:
    """Take away what Windows does not have, after the standard library has what it needs."""
    for name in USED_BEFORE:
        importlib.import_module(name)
    sysconfig.get_config_vars()  # kept from here on
    sys.modules["pixelmill.storage.windows_files"] = _locks()
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in ((os, OS_NAMES), (signal, SIGNALS)):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = "win32"


def _locks() -> types.ModuleType:
    made = types.ModuleType("pixelmill.storage.windows_files")

    def lock(descriptor: int, *, shared: bool = False, wait: bool = True) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)

    made.lock = lock  # type: ignore[attr-defined]
    made.unlock = lambda descriptor: fcntl.flock(descriptor, fcntl.LOCK_UN)  # type: ignore[attr-defined]
    made.lock_byte = lambda descriptor, at: fcntl.lockf(  # type: ignore[attr-defined]
        descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at
    )
    made.unlock_byte = lambda descriptor, at: fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, at)  # type: ignore[attr-defined]
    made.native_file = lambda descriptor: descriptor  # type: ignore[attr-defined]
    made.boot = lambda: "this machine"  # type: ignore[attr-defined]
    return made


def import_everything() -> int:
    """Import all modules of the package that need no framework; return their number."""
    import pixelmill

    for name in FRAMEWORKS:
        sys.modules[name] = None  # type: ignore[assignment]
    count = 0
    for module in pkgutil.walk_packages(pixelmill.__path__, "pixelmill.", onerror=lambda _: None):
        if module.name.startswith(SKIPPED) or module.name in ALL_PROGRAMS:
            continue
        try:
            importlib.import_module(module.name)
            count += 1
        except ImportError as error:
            if not isinstance(error, pixelmill.MissingDependency) and error.name not in FRAMEWORKS:
                raise
    for name in ("processes", "contestants", "environment", "storage_speed", "worker"):
        importlib.import_module(f"pixelmill.benchmark.{name}")
    return count


def main() -> None:
    mode, folder = sys.argv[1:]
    if mode == "hidden":
        hide()
    from pixelmill.storage import system

    assert (mode == "hidden") == system.WINDOWS
    print(json.dumps({"modules": import_everything(), "files": run_jobs(Path(folder))}))


if __name__ == "__main__":
    main()
