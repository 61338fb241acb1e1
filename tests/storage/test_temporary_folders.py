"""Temporary folders of killed processes are removed, whatever the moment of the kill; those in use stay."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pixelmill.storage import cache, system, temporary_folders
from pixelmill.storage.cache import IN_USE, IN_USE_SOON, remove_abandoned
from pixelmill.storage.temporary_folders import PREFIX, held_folder, temporary_folder


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("files", [[], [IN_USE_SOON], [IN_USE], [IN_USE, "shard"]])
def test_folders_of_killed_processes_are_removed(files: list[str], parent: Path) -> None:
    left = parent / f"{PREFIX}killed"
    left.mkdir(mode=0o700)
    for name in files:
        (left / name).touch()
    path, descriptor = held_folder()
    assert list(parent.iterdir()) == [path]
    system.remove_held(path, descriptor)
    assert not list(parent.iterdir())


def test_folders_in_use_and_those_of_others_stay(parent: Path) -> None:
    strange = parent / f"{PREFIX}strange"
    strange.mkdir()
    (strange / "file").touch()
    with temporary_folder() as first, temporary_folder() as second:
        assert set(parent.iterdir()) == {strange, first, second}
        assert [path.name for path in first.iterdir()] == [IN_USE]
    assert list(parent.iterdir()) == [strange]


def test_an_empty_folder_of_others_stays(parent: Path) -> None:
    strange = parent / f"{PREFIX}strange"
    strange.mkdir(mode=0o755)
    remove_abandoned(parent, PREFIX)
    assert list(parent.iterdir()) == [strange]


@pytest.mark.parametrize("moment", ["mkdtemp", "open", "lock"])
def test_another_process_may_clean_up_at_any_moment(moment: str, parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first folder is removed by another one's cleaning before this process holds it."""
    rivals: list[int] = []

    def then_clean(function: Callable[..., object], *arguments: object, **options: object) -> object:
        result = function(*arguments, **options)
        if not rivals:
            rivals.append(1)
            remove_abandoned(parent, PREFIX)
        return result

    place = {"mkdtemp": (tempfile, "mkdtemp"), "open": (os, "open"), "lock": (system, "lock")}[moment]
    original = getattr(*place)
    monkeypatch.setattr(*place, lambda *arguments, **options: then_clean(original, *arguments, **options))
    path, descriptor = held_folder()
    monkeypatch.undo()
    assert rivals
    assert [found.name for found in path.iterdir()] == [IN_USE]
    with pytest.raises(BlockingIOError):
        other = system.open_lock(path / IN_USE, create=False)
        try:
            system.lock(other, wait=False)
        finally:
            os.close(other)
    system.remove_held(path, descriptor)


def test_a_rival_that_holds_the_new_file_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has locked the file, and has not removed it yet."""
    real, held = system.lock, []

    def taken(descriptor: int, *, wait: bool = True) -> None:
        if not held:
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            held.append(system.open_lock(path, create=False))
            real(held[0], wait=False)
        real(descriptor, wait=wait)

    monkeypatch.setattr(system, "lock", taken)
    path, descriptor = held_folder()
    assert (path / IN_USE).exists()
    system.remove_held(path, descriptor)
    os.close(held[0])


def test_without_locks_nothing_is_removed(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = parent / f"{PREFIX}left"
    left.mkdir()
    (left / IN_USE).touch()

    def refuse(descriptor: int, *, wait: bool = True) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr(system, "lock", refuse)
    with temporary_folder() as path:
        assert set(parent.iterdir()) == {left, path}
    assert list(parent.iterdir()) == [left]


def test_the_private_folder_is_made_again(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process removes the folder of a process without a cache while it is still empty."""
    monkeypatch.setenv("PIXELMILL_CACHE", "off")
    monkeypatch.setattr(cache, "_private", {})
    check = cache._check_private
    removed: list[Path] = []

    def remove_once(folder: Path) -> None:
        check(folder)
        if not removed:
            removed.append(folder)
            remove_abandoned(parent, "pixelmill-")

    monkeypatch.setattr(cache, "_check_private", remove_once)
    target = cache.entry("listings", "s3://data/a", "1")
    assert removed[0] not in target.parents
    assert target.parent.is_dir()
    assert temporary_folders.PREFIX not in str(target)
