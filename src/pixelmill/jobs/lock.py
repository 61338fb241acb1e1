"""One writer for each part of a job: a lock file that names its owner and has a number.

The owner touches its lock every few seconds. Another process takes the lock over if it does not change for a while (by
the other's own clock, since the clocks of two machines may differ), with a higher number. On the same machine the
kernel says at once whether the owner lives, because the owner holds its lock file with `flock`: that works across PID
namespaces, and for an owner that is stopped.

An owner that was silent for too long may still be alive. It therefore looks for its lock before each commit, and stops
if the lock is gone or there is one with a higher number. Of two owners only the older one stops.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pixelmill.errors import OutputError
from pixelmill.jobs.storage import Result, Storage, together
from pixelmill.storage import system

LOCKS = "locks"  # the folder of lock files: small, since it is listed before each commit
_ALL = "all"
_FILE = re.compile(r"lock-(?P<slot>all|\d+-of-\d+)(?:\.(?P<number>\d+))?\.json")


@dataclass(frozen=True)
class Lease:
    """How long a lock is valid.

    Attributes:
        beat: Seconds between two signs of life.
        silence: An owner that gives none for so many seconds is taken for dead.
        look: Seconds between two looks at the lock of another owner.
        now: The clock.
        sleep: Waits for a number of seconds.
    """

    beat: float = 3.0
    silence: float = 15.0
    look: float = 0.5
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep


@dataclass(frozen=True)
class Claim:
    """The right to write, as plain values that travel to workers.

    Attributes:
        lock: Name of the lock file.
        owner: Its content.
    """

    lock: str
    owner: str

    def check(self, storage: Storage) -> None:
        """Raise OutputError if another process has taken the lock over."""
        folder, _, file = self.lock.rpartition("/")
        slot, number = _parsed(file)
        found: bytes | None = None
        locks: list[tuple[str, str, int]] = []

        def look(at: str) -> None:
            nonlocal found, locks
            if at == "lock":
                found = storage.read(self.lock)
            else:
                locks = list(_locks(storage, folder))

        storage.each(look, ("lock", "others"))
        if found is not None and found.rstrip() == self.owner.encode():
            later = [name for name, other, higher in locks if _clash(slot, other) and higher > number]
            if not later:
                return
            found = storage.read(f"{folder}/{later[-1]}")
        raise OutputError(
            f"job: {_shown(found)} has taken over {storage.root}, since this run gave no sign of life for a while; "
            "this run stops, its finished shards are kept"
        )

    def checked(self, storage: Storage, look: Callable[[], Result]) -> Result:
        """Return what a call that looks at the output returns, and look for the lock in the meantime.

        Raises:
            OutputError: Another process has taken the lock over.
        """
        return together(storage, look, lambda: self.check(storage))


class Lock:
    """The right to write a job's output, or one part of it."""

    def __init__(
        self, storage: Storage, folder: str, *, part: tuple[int, int] | None = None, lease: Lease | None = None
    ) -> None:
        self._storage = storage
        self._folder = f"{folder}/{LOCKS}"
        self._slot = _ALL if part is None else f"{part[0]}-of-{part[1]}"
        self._lease = lease or Lease()
        self._released = threading.Event()
        self._heart: threading.Thread | None = None
        self._let_go: Callable[[], None] | None = None
        self._is_gone = False
        self._seen: list[tuple[str, str, int]] | None = None
        self.claim = Claim("", "")  # set by `acquire`

    @property
    def name(self) -> str:
        """A name for this run: of two runs that have the lock one after the other, each has its own."""
        return self.claim.lock.rpartition("/")[2].removeprefix("lock-").removesuffix(".json")

    def looked(self, look: Callable[[], Result]) -> Result:
        """Return what a call that looks at the output returns; in a store, look for locks in the meantime."""
        if not self._storage.is_remote:  # there, it is done while other processes of this machine are kept out
            return look()

        def locks() -> None:
            self._seen = list(_locks(self._storage, self._folder))

        return together(self._storage, look, locks)

    def acquire(self, *, at_once: bool = False) -> None:
        """Take the lock. Raises OutputError with the host and process of the owner.

        Args:
            at_once: Whether `looked` has just been called, and no request after it.
        """
        with self._storage.alone(self._folder):
            dead, highest = [], 0
            seen = self._seen if at_once else None
            for file, slot, number in _locks(self._storage, self._folder) if seen is None else seen:
                highest = max(highest, number)
                if _clash(slot, self._slot):
                    self._refuse_if_alive(f"{self._folder}/{file}")
                    dead.append(f"{self._folder}/{file}")
            self._create(highest + 1)
            for name in dead:
                self._storage.remove(name)
        self._heart = threading.Thread(target=self._beat, name="pixelmill-job-lock", daemon=True)
        self._heart.start()

    def release(self) -> None:
        """Release the lock. If another process has taken it over, its lock stays."""
        if self._heart is not None:
            self._stop_heart()
            self._heart = None
            ours = not self._is_gone and self._is_ours()
            if system.WINDOWS:  # which removes no open file
                self._end_hold()
            if ours:
                self._storage.remove(self.claim.lock)
        self._end_hold()

    @contextmanager
    def removed(self) -> Iterator[None]:
        """Remove the lock together with its folder. In a store, a sign of life would bring it back."""
        if self._storage.is_remote:
            self._stop_heart()
        yield
        self._is_gone = self._storage.is_remote

    def _stop_heart(self) -> None:
        self._released.set()
        if self._heart is not None:
            self._heart.join()

    def _end_hold(self) -> None:
        if self._let_go is not None:
            self._let_go()
            self._let_go = None

    def _create(self, number: int) -> None:
        name = f"{self._folder}/lock-{self._slot}.{number:06d}.json"
        owner = {"host": system.host(), "pid": os.getpid(), "boot": _boot(), "token": os.urandom(16).hex()}
        self.claim = Claim(name, json.dumps(owner))
        if not self._storage.create(name, self.claim.owner.encode() + b"\n"):
            self._refuse(name)
        self._let_go = self._storage.hold(name)

    def _is_ours(self) -> bool:
        found = self._storage.read(self.claim.lock)
        return found is not None and found.rstrip() == self.claim.owner.encode()

    def _beat(self) -> None:
        while not self._released.wait(self._lease.beat):
            try:
                if not self._is_ours():
                    return  # the next commit notices
                self._storage.touch(self.claim.lock, self.claim.owner.encode() + b"\n")
            except OSError:
                continue  # a network file system that does not answer for a moment

    def _refuse_if_alive(self, name: str) -> None:
        owner = _read_owner(self._storage.read(name))
        if owner is not None and self._is_alive(owner, name):
            self._refuse(name)

    def _is_alive(self, owner: dict[str, Any], name: str) -> bool:
        if owner.get("boot") == _boot() != "":
            held = self._storage.is_held(name)
            if held is not None:
                return held
        lease = self._lease
        first, deadline = self._storage.stamp(name), lease.now() + lease.silence
        while lease.now() < deadline:
            lease.sleep(lease.look)
            now = self._storage.stamp(name)
            if now is None:
                return False
            if now != first:
                return True
        return False

    def _refuse(self, name: str) -> None:
        raise OutputError(
            f"job: {_shown(self._storage.read(name))} is writing to {self._storage.root}; wait for it, or end it and "
            f"continue with exists=resume (lock: {self._storage.where(name)})"
        )


def _locks(storage: Storage, folder: str) -> Iterator[tuple[str, str, int]]:
    """Yield name, slot and number of the lock files in a folder, sorted by name."""
    for file in storage.names(folder):
        if _FILE.fullmatch(file):
            yield file, *_parsed(file)


def _parsed(file: str) -> tuple[str, int]:
    found = _FILE.fullmatch(file)
    if found is None:
        raise OutputError(f"job: {file} is not a lock")
    return found["slot"], int(found["number"] or 0)


def _clash(slot: str, other: str) -> bool:
    return slot == other or _ALL in (slot, other)


def _shown(data: bytes | None) -> str:
    owner = _read_owner(data)
    if owner is None:
        return "another process"
    return f"process {owner.get('pid', '?')} on {owner.get('host', '?')}"


def _read_owner(data: bytes | None) -> dict[str, Any] | None:
    try:
        owner = json.loads(data or b"null")
    except ValueError:
        return None
    return owner if isinstance(owner, dict) else None


def _boot() -> str:
    return system.boot()
