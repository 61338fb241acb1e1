"""Reading ranges of files that stay open."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from pixelmill import storage


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the name of the open folder itself does not matter


def test_ranges_are_those_of_the_file_and_end_with_it(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(100)))
    files = storage.OpenFiles()
    for read in (files.read, storage.read_range):
        assert read(str(path), 10, 5) == bytes(range(10, 15))
        assert read(str(path), 95, 1 << 40) == bytes(range(95, 100))
        assert read(str(path), 100, 1) == read(str(path), 1000, 1) == b""


def test_few_of_many_files_stay_open_and_none_at_the_end(tmp_path):
    before = descriptors()
    files = storage.OpenFiles()
    for number in range(200):
        (tmp_path / str(number)).write_bytes(b"%d" % number)
    for number in (*range(200), 0, 199, 0):
        assert files.read(str(tmp_path / str(number)), 0, 9) == b"%d" % number
        assert descriptors() <= before + 32
    del files
    assert descriptors() == before


def test_a_file_that_is_replaced_is_read_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    files = storage.OpenFiles()
    assert files.read(str(path), 0, 3) == b"bef"
    (tmp_path / "new").write_bytes(b"behind")
    (tmp_path / "new").replace(path)
    assert files.read(str(path), 3, 3) == b"ore"
    assert storage.OpenFiles().read(str(path), 3, 3) == b"ind"


def test_a_file_that_is_cut_gives_what_is_left(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"content")
    files = storage.OpenFiles()
    assert files.read(str(path), 0, 7) == b"content"
    os.truncate(path, 4)
    assert files.read(str(path), 2, 5) == b"nt"


def test_a_missing_file_is_looked_for_again(tmp_path):
    path = tmp_path / "file"
    files = storage.OpenFiles()
    with pytest.raises(FileNotFoundError):
        files.read(str(path), 0, 1)
    path.write_bytes(b"x")
    assert files.read(str(path), 0, 1) == b"x"


def test_another_process_opens_its_own(tmp_path):
    Path(tmp_path / "file").write_bytes(b"content")
    files = storage.OpenFiles()
    files.read(str(tmp_path / "file"), 0, 1)
    copy = pickle.loads(pickle.dumps(files))
    assert copy.read(str(tmp_path / "file"), 3, 4) == b"tent"
