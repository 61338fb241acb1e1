"""Checkpoints of the dynamic mode: the positions of readers and random number generators, in one file."""

from __future__ import annotations

import json
import re
import string
from pathlib import Path
from typing import Any, Protocol

from pixelmill.errors import ArgumentError, ArgumentTypeError, DataError, EngineError, UnknownNameError

VERSION = 1
_AUTOMATIC = "__op_"


class Stateful(Protocol):
    """A reader or a random number generator."""

    def get_state(self) -> Any: ...

    def set_state(self, value: Any) -> None: ...


class Checkpoint:
    """The states of readers and random number generators by name.

    A state that was loaded is applied as soon as an object is registered under its name.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all objects and states."""
        self._objects: dict[str, Stateful] = {}
        self._states: dict[str, tuple[Any, str | None]] = {}
        self._unused: set[str] = set()
        self._complete = self._loaded = False

    is_complete = property(lambda self: self._complete, doc="Whether `collect` set the states.")
    is_loaded = property(lambda self: self._loaded, doc="Whether `load` or `deserialize` set the states.")
    names = property(lambda self: tuple(self._objects), doc="The names of all objects.")

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, name: object) -> bool:
        return str(name) in self._objects

    def register(self, op: Stateful, name: str | None = None) -> str:
        """Add an object and apply the state that was loaded for it.

        Args:
            op: A reader or a random number generator.
            name: Its name; by default one that follows from the order of the calls.

        Returns:
            The name.
        """
        known = next((key for key, value in self._objects.items() if value is op), None)
        if name is not None and (not name or name.startswith(_AUTOMATIC)):
            raise ArgumentError(f"register: a name must not be empty or begin with {_AUTOMATIC!r}, got {name!r}")
        key = name or known or f"{_AUTOMATIC}{len(self._objects)}"
        if known is not None and known != key:
            raise EngineError(f"register: the object is registered as {known!r} and cannot also be {key!r}")
        if key not in self._objects:
            if self._complete:
                raise EngineError(f"register: {key!r} comes after `collect`; call clear() first")
            if self._loaded and key not in self._states:
                raise UnknownNameError(f"register: the loaded checkpoint has no state for {key!r}")
        elif type(self._objects[key]) is not type(op):
            raise ArgumentTypeError(
                f"register: {key!r} is a {type(self._objects[key]).__name__}, not a {type(op).__name__}"
            )
        self._objects[key] = op
        self._apply(key)
        return key

    def get_state(self, name: str) -> Any:
        """Return the state of a registered object; None if there is none."""
        if name not in self._objects:
            raise UnknownNameError(f"there is no object {name!r} in the checkpoint")
        return self._states.get(name, (None, None))[0]

    def set_state(self, name: str, value: Any, op_type: type | str | None = None) -> None:
        """Set the state of an object, which `register` or `restore` applies.

        Args:
            name: The name of the object.
            value: The state, as its `get_state` returned it.
            op_type: The class that the object must have.
        """
        if self._complete and name not in self._objects:
            raise UnknownNameError(f"there is no object {name!r} in the checkpoint")
        if op_type is not None and not isinstance(op_type, (str, type)):
            raise ArgumentTypeError(f"set_state: op_type must be a class or its name, got {op_type!r}")
        self._states[name] = value, op_type.__qualname__ if isinstance(op_type, type) else op_type
        self._unused.add(name)

    def collect(self) -> None:
        """Take the states of all objects."""
        self._check_names()
        self._states = {key: (op.get_state(), type(op).__qualname__) for key, op in self._objects.items()}
        self._unused.clear()
        self._complete, self._loaded = True, False

    def restore(self) -> None:
        """Apply all states that were not applied yet."""
        if not self._states:
            return
        self._check_names()
        missing = sorted(self._objects.keys() - self._states.keys())
        if missing:
            raise EngineError(f"restore: the checkpoint has no state for {', '.join(missing)}")
        for key in list(self._unused):
            self._apply(key)

    def serialize(self) -> str:
        """Return all states as JSON."""
        if not self._states:
            raise EngineError("serialize: the checkpoint is empty; call collect() first")
        states = {key: {"state": state, "type": kind} for key, (state, kind) in self._states.items()}
        return json.dumps({"version": VERSION, "states": states})

    def deserialize(self, data: str) -> None:
        """Set the states from what `serialize` returned."""
        try:
            payload = json.loads(data)
            version, states = payload["version"], payload["states"]
            found = {key: (entry["state"], entry["type"]) for key, entry in states.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError("deserialize: this is not a checkpoint of the dynamic mode") from None
        if version != VERSION:
            raise DataError(f"deserialize: the checkpoint has version {version}, expected {VERSION}")
        self._states, self._unused = found, set(found)
        self._complete, self._loaded = False, True

    def save(self, filename: str) -> str:
        """Write all states to a file.

        Args:
            filename: A path; `{seq}` in it, such as in `"state_{seq:04d}.json"`, becomes the next free number.

        Returns:
            The path.
        """
        number = max((number for number, _ in _matching(filename)), default=-1) + 1
        path = filename.format(seq=number)
        data = self.serialize()
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(f"{path}.tmp").write_text(data, "utf-8")
        Path(f"{path}.tmp").replace(path)
        return path

    def load(self, filename: str) -> str:
        """Read the states from a file; with `{seq}` in the path, from the one with the highest number.

        Returns:
            The path.
        """
        found = max(_matching(filename), default=None)
        if found is None:
            raise FileNotFoundError(f"load: there is no checkpoint {filename!r}")
        self.deserialize(Path(found[1]).read_text("utf-8"))
        return found[1]

    def _check_names(self) -> None:
        extra = sorted(self._states.keys() - self._objects.keys())
        if extra:
            raise EngineError(f"the checkpoint has states without objects: {', '.join(extra)}")

    def _apply(self, key: str) -> None:
        if key not in self._unused:
            return
        state, kind = self._states[key]
        if kind is not None and type(self._objects[key]).__qualname__ != kind:
            raise ArgumentTypeError(
                f"{key!r} has the state of a {kind}, not of a {type(self._objects[key]).__qualname__}"
            )
        self._objects[key].set_state(state)
        self._unused.discard(key)


def _matching(filename: str) -> list[tuple[int, str]]:
    """Return the existing files that a name with `{seq}` stands for, with their numbers."""
    folder, name = Path(filename).parent, Path(filename).name
    parts = list(string.Formatter().parse(name))
    fields = [field for _, field, _, _ in parts if field is not None]
    if fields not in ([], ["seq"]):
        raise ArgumentError(f"a name of checkpoints may have {{seq}} once and no other field, got {name!r}")
    if not fields:
        return [(0, filename)] if Path(filename).exists() else []
    number = re.compile("".join(re.escape(text) + ("" if field is None else r"(\d+)") for text, field, _, _ in parts))
    matches = [number.fullmatch(path.name) for path in (folder.iterdir() if folder.is_dir() else ())]
    return [(int(match[1]), str(folder / match[0])) for match in matches if match is not None]


def current() -> Checkpoint:
    """Return the checkpoint of the current `EvalContext`."""
    from pixelmill.experimental.dynamic.context import EvalContext  # a context has a checkpoint

    return EvalContext.current().checkpoint
