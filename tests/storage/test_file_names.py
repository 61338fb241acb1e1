"""File names that come from data."""

from __future__ import annotations

import pytest

from pixelmill.storage.file_names import UniqueNames, is_plain, is_writable


@pytest.mark.parametrize("name", ["a", "a.b", ".a", "a/b.c", "a b", "ünï", "..a", "a" * 240])
def test_names_that_can_be_files_anywhere(name: str) -> None:
    assert is_plain(name)


# Windows drops dots and spaces at the end of a name, so two files would become one.
@pytest.mark.parametrize(
    "name",
    ["", "a.", "a ", "a./b", "a /b", "a..", ".", "..", "a/../b", "/a", "a//b", "a/", "a\\b", "c:d", "a\n", "a" * 241],
)
def test_names_that_cannot(name: str) -> None:
    assert not is_plain(name)
    assert UniqueNames().take(name, number=7) == "sample-00000007"


def test_names_that_differ_in_case_only_are_equal() -> None:
    names = UniqueNames()
    taken = [names.take("Cat", number=0), names.take("cat", number=1), names.take("cat", number=2, ending="png")]
    assert taken == ["Cat", "sample-00000001", "cat"]


@pytest.mark.parametrize("name", ["con", "a/AUX", "nul.jpg/b", "com1", "lpt9.tar", "Prn .x"])
def test_devices_of_windows_are_not_written(name: str) -> None:
    assert is_plain(name)  # it is read
    assert not is_writable(name)
    assert UniqueNames().take(name, number=3) == "sample-00000003"


@pytest.mark.parametrize("name", ["con1", "icon", "aux_/b", "com", "com10", "console/a"])
def test_names_that_only_begin_like_devices_are_written(name: str) -> None:
    assert is_writable(name)
