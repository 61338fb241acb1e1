"""Indexes of whole datasets that processes of a node share."""

from __future__ import annotations

import io
import ntpath
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded
from hypothesis import given
from hypothesis import strategies as st

from pixelmill import Loader, fn, pipeline_def
from pixelmill.formats import index_cache, path_table, shared_index, tfrecord
from pixelmill.formats.blocks import divide
from pixelmill.formats.file_index import from_root
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.path_table import PathTable
from pixelmill.formats.recordio import frames as recordio
from pixelmill.formats.recordio.index import open_records
from pixelmill.formats.shared_index import packed, unpacked
from pixelmill.formats.tfrecord.index import open_files
from pixelmill.formats.webdataset.index import open_archives

NAMES = ["a.jpg", "sub/ü.jpg", os.fsdecode(b"\xff.jpg"), "a b", ".hidden", "x..y"]


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep every index, however small, in a cache of the test."""
    monkeypatch.setattr(shared_index, "CACHED_FROM", 1)
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))


def is_mapped(array: Array) -> bool:
    """Whether an array lies in a mapped file of the cache."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return type(owner).__name__ == "mmap"


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_a_table_is_a_list_of_paths(paths: list[str]) -> None:
    table = PathTable.of(paths, "root/")
    expected = ["root/" + path for path in paths]
    assert list(table) == expected
    assert table == expected
    assert table[1:] == expected[1:]
    assert table[::-2] == expected[::-2]
    assert PathTable.checked(table.names, table.starts, "root/") == expected
    assert (table == [*expected, "more"]) is False
    if paths:
        assert table[-1] == expected[-1]
        assert table.name(0) == paths[0]
        assert table != [*expected[:-1], "other"]
    with pytest.raises(IndexError):
        table[len(paths)]


@pytest.mark.parametrize(
    ("names", "starts"),
    [
        (b"a\0b\0", [0, 2]),
        (b"a\0b\0", [0, 4]),
        (b"a\0b\0", [0, 2, 2, 4]),
        (b"a\0b\0", [2, 4]),
        (b"a\0b\0", [0, 3, 4]),
        (b"a\0b", [0, 2, 3]),
        (b"a\0b\0", [0, -1, 4]),
        (b"", []),
    ],
)
def test_forged_tables_are_refused(names: bytes, starts: list[int]) -> None:
    assert PathTable.checked(np.frombuffer(names, np.uint8), np.array(starts, np.int64)) is None


def test_which_names_lead_out() -> None:
    assert PathTable.of(NAMES, "root/").are_below("root/")
    assert not PathTable.of(NAMES, "root/").are_below("other/")
    for name in ("", "/a", "..", "../a", "a/..", "a/../b", "s3://a"):
        assert not PathTable.of([*NAMES, name]).are_below("")
        assert not PathTable.of([name, *NAMES]).are_below("")
    assert PathTable.of(["a://b"]).is_remote
    assert not PathTable.of(NAMES).is_remote


def an_index() -> Index:
    paths = PathTable.of(NAMES[:2], "root/")
    files, offsets, lengths = (np.array(values, np.int64) for values in ([0, 0, 1], [0, 9, 4], [9, 3, 5]))
    boxes = Ragged(np.ones((4, 4), np.float32), np.array([0, 1, 1, 4]))
    columns: dict[str, Any] = {"label": np.array([[1], [2], [3]], np.int32), "boxes": boxes}
    parts = {"0": Index(paths, files, offsets + 1, lengths - 1)}
    return Index(paths, files, offsets, lengths, columns=columns, root="root/", parts=parts)


def test_absolute_names_of_windows_do_not_start_from_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    table = PathTable.of(["C:/photos/a.jpg", "b.jpg"])
    with monkeypatch.context() as windows:
        windows.setattr(path_table, "WINDOWS", True)
        windows.setattr(os.path, "join", ntpath.join)
        found = list(table.anchored("D:/base"))
    assert found == ["C:/photos/a.jpg", "D:/base\\b.jpg"]


def test_an_index_survives() -> None:
    index = an_index()
    arrays = packed(index)
    assert arrays is not None
    found = unpacked(arrays)
    assert found is not None
    assert [found.locate(item) for item in range(3)] == [index.locate(item) for item in range(3)]
    assert found.root == "root/"
    assert found.lengths.tolist() == [9, 3, 5]
    assert np.array_equal(np.asarray(found.columns["label"]), [[1], [2], [3]])
    assert [len(found.columns["boxes"][item]) for item in range(3)] == [1, 0, 3]
    assert found.parts["0"].offsets.tolist() == [1, 10, 5]
    assert found.parts["0"].locate(2) == ("root/sub/ü.jpg", 5)
    whole = Index(PathTable.of(NAMES))
    again = unpacked(packed(whole) or {})
    assert again is not None
    assert len(again) == len(NAMES)
    assert list(again.paths) == NAMES


def test_forged_arrays_are_refused() -> None:
    arrays = packed(an_index()) or {}
    wrong: dict[str, list[Any]] = {
        "files": [[0, 0, 2], [-1, 0, 0], [0, 0]],
        "offsets": [[0, -1, 0], [0, 0, 1 << 62 | 1]],
        "lengths": [[-1, 0, 0], [1]],
        "column label": [[[1], [2]]],
        "files of part 0": [[0, 0, 2], [0, 0]],
        "lengths of part 0": [[0, 0, -1], [0, 0]],
        "starts of boxes": [[0, 1, 1, 5], [0, 2, 1, 4], [1, 1, 1, 4], [0, 4]],
        "path_starts": [[0, 3, 12]],
    }
    for name, values in wrong.items():
        for value in values:
            assert unpacked({**arrays, name: np.array(value, arrays[name].dtype)}) is None, (name, value)
        assert unpacked({**arrays, name: arrays[name].astype(np.float32)}) is None or name == "column label"
    for name in ("paths", "path_starts", "prefix", "root", "files", "starts of boxes", "offsets of part 0"):
        assert unpacked({key: array for key, array in arrays.items() if key != name}) is None, name


def records(folder: Path) -> list[str]:
    paths = []
    for number in range(3):
        path = folder / f"{number}.tfrecord"
        path.write_bytes(b"".join(tfrecord.frame(bytes(20 + item)) for item in range(4 + number)))
        os.utime(path, (1, 1))
        paths.append(str(path))
    return paths


def test_record_files_are_mapped_when_they_are_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = records(tmp_path)
    first, again = open_files(paths), open_files(paths)
    assert len(again) == 15
    for index in (first, again):
        assert all(is_mapped(array) for array in (index.files, index.offsets, index.lengths))
        assert not index.offsets.flags.writeable
    assert [again.locate(item) for item in range(15)] == [first.locate(item) for item in range(15)]
    assert len(open_files(paths[::-1])) == 15
    assert open_files(paths[::-1]).locate(0)[0] == paths[2]
    Path(paths[1]).write_bytes(tfrecord.frame(b"another"))
    assert len(open_files(paths)) == 11
    assert not is_mapped(open_files(paths).offsets)  # it has just changed, and may change again
    monkeypatch.setenv("PIXELMILL_CACHE", "off")
    assert len(open_files(paths)) == 11


def test_an_index_of_other_files_is_refused(tmp_path: Path) -> None:
    paths = records(tmp_path)
    open_files(paths)
    (kept,) = [path for path in (tmp_path / "cache").iterdir() if b"path_starts" in path.read_bytes()]
    data = bytearray(kept.read_bytes())
    place = data.index(os.fsencode(paths[2]))
    data[place : place + len(paths[2])] = os.fsencode(paths[2][:-1] + "X")
    from pixelmill import _core

    data[-4:] = _core.crc32c(bytes(data[:-4])).to_bytes(4, "little")
    kept.write_bytes(data)
    assert list(open_files(paths).paths) == paths


def test_every_changed_byte_is_noticed(tmp_path: Path) -> None:
    paths = records(tmp_path)
    expected = [open_files(paths).locate(item) for item in range(15)]
    (kept,) = [path for path in (tmp_path / "cache").iterdir() if b"path_starts" in path.read_bytes()]
    data = kept.read_bytes()
    for place in range(0, len(data), 61):
        kept.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        found = open_files(paths)
        assert [found.locate(item) for item in range(15)] == expected
    kept.write_bytes(b"")
    assert len(open_files(paths)) == 15


def test_recordio_files_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_bytes(b"".join(recordio.frame(bytes(20 + number)) for number in range(4)))
    os.utime(path, (1, 1))
    open_records([str(path)], None)
    index = open_records([str(path)], None)
    assert len(index) == 4
    assert is_mapped(index.offsets)


def test_archives_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(3):
            for ending in ("jpg", "cls"):
                member = tarfile.TarInfo(f"{number}.{ending}")
                member.size = number + 1
                archive.addfile(member, io.BytesIO(bytes(number + 1)))
    os.utime(path, (1, 1))
    options: dict[str, Any] = {"missing": "", "case_sensitive": True}
    first = open_archives([str(path)], None, extensions=["jpg", "cls"], **options)
    again = open_archives([str(path)], None, extensions=["jpg", "cls"], **options)
    assert is_mapped(again.offsets)
    assert is_mapped(again.parts["1"].offsets)
    for index in (first, again):
        assert index.parts["0"].lengths.tolist() == [1, 2, 3]
        assert (index.parts["1"].offsets - index.parts["0"].offsets).tolist() == [1024] * 3
    assert again.columns.keys() == first.columns.keys()
    assert len(open_archives([str(path)], None, extensions=["jpg"], **options).parts) == 1


def folder_of_classes(root: Path) -> Path:
    for name in ("cat", "dog"):
        (root / name).mkdir(parents=True)
        for number in range(3):
            (root / name / f"{number}.jpg").write_bytes(encoded("jpeg", seed=number))
    settle(root)
    return root


def settle(root: Path) -> None:
    for folder in (root, *root.iterdir()):
        os.utime(folder, (1, 1))


def test_class_folders_are_listed_again_when_one_has_changed(tmp_path: Path) -> None:
    root = folder_of_classes(tmp_path / "images")
    assert not is_mapped(Index(["a"]).files)
    first, again = from_root(str(root)), from_root(str(root))
    assert isinstance(again.paths, PathTable)
    assert is_mapped(again.paths.names)
    assert is_mapped(again.columns["label"])
    assert list(first.paths) == list(again.paths) == sorted(str(path) for path in root.glob("*/*.jpg"))
    assert len(from_root(str(root), filters=["0.*"])) == 2
    assert len(from_root(str(root), folder_filters=["c*"])) == 3
    (root / "dog" / "new.jpg").write_bytes(b"")
    assert len(from_root(str(root))) == 7


def test_a_pipeline_reads_from_a_mapped_index(tmp_path: Path) -> None:
    root = folder_of_classes(tmp_path / "images")

    @pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
    def read() -> Any:
        data, labels = fn.readers.file(file_root=str(root))
        return fn.decoders.image(data), labels, fn.get_property(data, key="source_info")

    def epoch() -> list[tuple[bytes, int, str]]:
        batches = list(Loader(read(), ["images", "labels", "names"]))
        rows = [row for batch in batches for row in zip(*batch.values(), strict=True)]
        return [(image.tobytes(), int(label[0]), bytes(name).decode()) for image, label, name in rows]

    first = epoch()
    assert epoch() == first
    assert [(label, name) for _, label, name in first] == [
        (number, f"{folder}/{item}.jpg") for number, folder in enumerate(("cat", "dog")) for item in range(3)
    ]


def test_memory_of_a_mapped_index_outlives_its_file(tmp_path: Path) -> None:
    paths = records(tmp_path)
    open_files(paths)
    index = open_files(paths)
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    assert index.offsets.tolist()[:2] == [0, 36]


def test_files_of_another_user_or_links_are_not_mapped(tmp_path: Path) -> None:
    paths = records(tmp_path)
    open_files(paths)
    (kept,) = [path for path in (tmp_path / "cache").iterdir() if b"path_starts" in path.read_bytes()]
    moved = kept.rename(tmp_path / "moved")
    kept.symlink_to(moved)
    assert index_cache._mapped(kept) is None
    assert index_cache._mapped(moved) is not None


def test_blocks_are_those_of_counting_item_by_item() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        count = int(random.integers(1, 60))
        files = np.sort(random.integers(0, 4, count))
        lengths = random.integers(0, 30, count)
        offsets = np.zeros(count, np.int64)
        for item in range(1, count):
            same = files[item] == files[item - 1]
            offsets[item] = offsets[item - 1] + lengths[item - 1] + random.integers(0, 3) if same else 0
        found = divide(Index(["a"] * 4, files, offsets, lengths), window=2, block_bytes=50).starts.tolist()
        expected, begin = [0], 0
        for item in range(1, count):
            if files[item] != files[item - 1] or offsets[item] + lengths[item] - begin > 50:
                expected.append(item)
                begin = int(offsets[item])
        assert found == [*expected, count]


def test_ranks_that_start_together_map_one_file(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"")
    arrays: dict[str, Any] = {"a": np.arange(100), "b": np.zeros((0, 4), np.float32)}
    index_cache.store(str(path), "kind", arrays)
    (kept,) = (tmp_path / "cache").glob(f"*{index_cache.ENDING}")
    first = kept.stat().st_ino
    index_cache.store(str(path), "kind", arrays)
    assert kept.stat().st_ino == first
    index_cache.store(str(path), "kind", {**arrays, "a": np.arange(100) + 1})
    assert kept.stat().st_ino != first
    kept.write_bytes(kept.read_bytes()[:-1])
    index_cache.store(str(path), "kind", arrays)
    found = index_cache.load(str(path), "kind") or {}
    assert found["a"].tolist() == list(range(100))
    assert found["b"].shape == (0, 4)


def test_processes_agree(tmp_path: Path) -> None:
    paths = records(tmp_path)
    program = (
        "import sys; from pixelmill.formats.tfrecord.index import open_files; print(len(open_files(sys.argv[1:])))"
    )
    started = [subprocess.Popen([sys.executable, "-c", program, *paths], stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in started] == [b"15"] * 2
