"""One writer for each part of a job: a lock file that names its owner, and is taken over if the owner is dead.

An owner on this machine is checked by process id, start time and boot id, so a recycled process id does not count. An
owner on another machine cannot be checked: it touches its lock every few seconds, and is taken for dead if the lock
does not change for a while. Only our own clock is used for that, since the clocks of two machines may differ.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

from pixelmill.errors import OutputError
from pixelmill.jobs.storage import Storage

_BEAT_SECONDS = 3.0
# An owner on another machine that has not touched its lock for this long is taken for dead.
_SILENCE_SECONDS = 15.0
_EVERYTHING = "lock-all.json"


class Lock:
    """The right to write a job's output, or one part of it."""

    def __init__(self, storage: Storage, folder: str, *, part: tuple[int, int] | None = None) -> None:
        self._storage = storage
        self._folder = folder
        file = _EVERYTHING if part is None else f"lock-{part[0]}-of-{part[1]}.json"
        self._name = f"{folder}/{file}"
        self._owner = json.dumps(_this_process()).encode() + b"\n"
        self._released = threading.Event()
        self._heart: threading.Thread | None = None

    def acquire(self) -> None:
        """Take the lock. Raises OutputError with the host and process of the owner."""
        with self._storage.alone(self._folder):
            for file in self._storage.names(self._folder):
                name = f"{self._folder}/{file}"
                clashes = name == self._name or _EVERYTHING in (file, self._name.rsplit("/", 1)[-1])
                if file.startswith("lock-") and clashes:
                    self._displace(name)
            if not self._storage.create(self._name, self._owner):
                self._refuse(self._name)
        self._heart = threading.Thread(target=self._beat, name="pixelmill-job-lock", daemon=True)
        self._heart.start()

    def release(self) -> None:
        """Release the lock."""
        self._released.set()
        if self._heart is not None:
            self._heart.join()
            self._heart = None
            self._storage.remove(self._name)

    def _beat(self) -> None:
        while not self._released.wait(_BEAT_SECONDS):
            self._storage.touch(self._name, self._owner)

    def _displace(self, name: str) -> None:
        """Remove the lock of a dead owner. Raises OutputError if the owner is alive."""
        owner = _read_owner(self._storage, name)
        if owner is not None and self._is_alive(owner, name):
            self._refuse(name)
        self._storage.remove(name)

    def _is_alive(self, owner: dict[str, Any], name: str) -> bool:
        us = _this_process()
        if owner.get("host") == us["host"]:
            if owner.get("boot") != us["boot"]:
                return False
            return owner.get("started") == _started(owner.get("pid"))
        first, deadline = self._storage.stamp(name), time.monotonic() + _SILENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.5)
            now = self._storage.stamp(name)
            if now is None:
                return False
            if now != first:
                return True
        return False

    def _refuse(self, name: str) -> None:
        owner = _read_owner(self._storage, name) or {}
        who = f"process {owner.get('pid', '?')} on {owner.get('host', '?')}"
        raise OutputError(
            f"job: {who} is writing to {self._storage.root}; wait for it, or end it and continue with exists=resume "
            f"(lock: {self._storage.where(name)})"
        )


def _this_process() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid()), "boot": _boot()}


def _read_owner(storage: Storage, name: str) -> dict[str, Any] | None:
    try:
        owner = json.loads(storage.read(name) or b"null")
    except ValueError:
        return None
    return owner if isinstance(owner, dict) else None


def _started(pid: object) -> str | None:
    """Return a value that is unique to this process, or None if there is no such process."""
    if not isinstance(pid, int) or pid <= 0:
        return None
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", errors="replace")
    except OSError:
        return None if Path("/proc/self/stat").exists() else _alive_without_proc(pid)
    # The second field, the name of the program, may contain spaces and parentheses. After it come the state and, as
    # field 22, the start time.
    words = text.rpartition(")")[2].split()
    return None if words[0] in "ZX" else words[19]


def _alive_without_proc(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return "running"
    return "running"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
