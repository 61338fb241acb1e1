"""Loss of power: a sample of the states that `make crash` tries, and the rules of the disk that they follow from."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from crash_states import Disk, check, make_inputs

MEMORY = Path("/dev/shm")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="the recorder is compiled with gcc")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        make_inputs(Path(name) / "inputs")
        yield Path(name)


@needs_gcc
@pytest.mark.parametrize(("job", "states"), [("numbers", 25), ("overwrite", 25), ("add", 15), ("convert-folder", 10)])
def test_every_crash_state_is_resumed_to_the_same_bytes(job: str, states: int, folder: Path) -> None:
    result = check(folder, job, most=states)
    assert result["states"] == states and result["failures"] == []


class Written(Disk):
    """A disk with short names for its operations."""

    def create(self, path: str, data: bytes = b"") -> None:
        self.apply("O", 3, os.O_CREAT, b"", path, "")
        self.apply("W", 3, 0, data, path, "")
        self.apply("C", 3, 0, b"", path, "")

    def sync(self, path: str) -> None:
        self.apply("O", 4, 0, b"", path, "")
        self.apply("S", 4, 0, b"", path, "")
        self.apply("C", 4, 0, b"", path, "")

    def make(self, path: str) -> None:
        self.apply("M", -1, 0, b"", path, "")

    def rename(self, old: str, new: str) -> None:
        self.apply("R", -1, 0, b"", old, new)

    def remove(self, path: str, *, folder: bool = False) -> None:
        self.apply("D" if folder else "U", -1, 0, b"", path, "")

    def possible(self) -> set[tuple[tuple[str, bytes | None], ...]]:
        return {tuple(sorted(state.items())) for state in self.states()}


def test_nothing_is_certain_without_a_sync() -> None:
    disk = Written()
    disk.create("a", b"1234")
    assert disk.possible() == {
        (),
        (("a", b"1234"),),
        (("a", b""),),
        (("a", b"12"),),
        (("a", b"\0\0\0\0"),),
    }
    disk.sync("a")
    assert disk.possible() == {(), (("a", b"1234"),)}
    disk.sync("")
    assert disk.possible() == {(("a", b"1234"),)}


def test_a_rename_may_come_before_the_bytes_and_never_loses_the_file() -> None:
    disk = Written()
    disk.create("a", b"12")
    disk.sync("")
    disk.rename("a", "b")
    names = {tuple(name for name, _ in state) for state in disk.possible()}
    assert names == {("a",), ("a", "b"), ("b",)}
    assert (("b", b""),) in disk.possible()


def test_removed_names_may_come_back_until_their_folder_is_synced() -> None:
    disk = Written()
    disk.make("d")
    disk.create("d/a")
    disk.create("d/b")
    disk.sync("d")
    disk.sync("")
    disk.remove("d/a")
    disk.remove("d/b")
    names = {tuple(name for name, _ in state) for state in disk.possible()}
    assert names == {("d", "d/a", "d/b"), ("d", "d/a"), ("d", "d/b"), ("d",)}
    disk.remove("d", folder=True)
    disk.sync("")
    assert disk.possible() == {()}  # what was in a folder goes with it


def test_what_is_in_a_folder_needs_the_folder() -> None:
    disk = Written()
    disk.make("d")
    disk.create("d/a", b"1")
    disk.sync("d/a")
    disk.sync("d")
    assert disk.possible() == {(), (("d", None), ("d/a", b"1"))}
