"""Indexes, lists and caches that were forged, with checksums that match: no name leads out, no range past the end."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from dataset_cases import encoded

from pixelmill import Pipeline, _core, fn
from pixelmill.errors import DataError
from pixelmill.formats import coco, index_cache, recordio, scan_cache, tfrecord, webdataset, zip
from pixelmill.formats.coco.preprocessed import Parts, open_preprocessed
from pixelmill.formats.file_index import from_list, named_in_list
from pixelmill.formats.index import Array
from pixelmill.formats.recordio.index import open_records
from pixelmill.formats.recordio.scan import cached_scan as cached_recordio
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import IMAGE_EXTENSIONS
from pixelmill.formats.tfrecord.index import open_file, open_files
from pixelmill.formats.webdataset.index import open_archives
from pixelmill.formats.webdataset.scan import cached_scan as cached_tar
from pixelmill.formats.zip.scan import cached_scan as cached_zip
from pixelmill.storage.file_names import are_below, is_below, resolve_below

OUTSIDE = ("../secret.jpg", "a/../../secret.jpg", "/etc/passwd", "..", "a/..", "s3://bucket/x.jpg", "a\0b.jpg", "")
INSIDE = ("a.jpg", "a/b.jpg", "..a/b..jpg", "a/.../b", "a..b", "a b", "ü/日.jpg", "a:b")


@pytest.fixture(autouse=True)
def _caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(scan_cache, "CACHED_FROM", 0)


def test_which_names_lead_out() -> None:
    assert [name for name in OUTSIDE if is_below(name)] == []
    assert [name for name in INSIDE if not is_below(name)] == []
    # JSON may hold half of a character; a byte that is not UTF-8 is a name like any other.
    assert not is_below("\ud800.jpg") and not is_below("a/\udfff") and is_below(os.fsdecode(b"\xff.jpg"))
    for allowed in (True, False):
        with pytest.raises(DataError, match="is not a file name"):
            resolve_below("\ud800.jpg", root="/tmp", allow_outside=allowed, where="line 1")
    assert are_below(INSIDE) and not are_below([*INSIDE, OUTSIDE[0]])


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder with a class of two images, and an image beside the folder that it must not lead to."""
    root = tmp_path / "photos"
    (root / "cat").mkdir(parents=True)
    for name in ("a.jpg", "b.jpg"):
        (root / "cat" / name).write_bytes(encoded("jpeg", seed=1))
    (tmp_path / "secret.jpg").write_bytes(encoded("jpeg", seed=2))
    for path in (root, root / "cat"):
        os.utime(path, (1, 1))
    return root


def packed(*names: str) -> Array:
    return np.frombuffer(os.fsencode("".join(f"{name}\0" for name in names)), np.uint8)


def listing(root: Path, **changed: Array) -> dict[str, Array]:
    times = [(root / name).stat().st_mtime_ns for name in ("", "cat")]
    whole = {"names": packed("cat/a.jpg"), "classes": packed("cat"), "folders": packed("", "cat")}
    arrays = {
        **whole,
        "left_out": packed(),
        "endings": packed(*sorted(IMAGE_EXTENSIONS)),
        "times": np.array(times, np.int64),
        **changed,
    }
    starts = np.append(0, np.flatnonzero(arrays["names"] == 0) + 1)
    return {"starts": starts, **arrays}


def plant(path: Path, kind: str, arrays: dict[str, Array]) -> None:
    """Write an index beside the data, with the size and time of the data and a checksum that matches."""
    data = index_cache.encoded(kind, arrays, index_cache.stamp_of(str(path)))
    Path(f"{path}{index_cache.ENDING}").write_bytes(data)


def test_a_planted_listing_is_read(photos: Path) -> None:
    """Otherwise the tests below would pass for another reason."""
    plant(photos, "folder", listing(photos))
    assert len(open_dataset(str(photos))) == 1


@pytest.mark.parametrize("part", ["names", "classes", "folders"])
@pytest.mark.parametrize("name", [name for name in OUTSIDE if "\0" not in name])
def test_a_forged_listing_of_a_folder_leads_nowhere(photos: Path, tmp_path: Path, name: str, part: str) -> None:
    given = str(tmp_path / "secret.jpg") if name.startswith("/") else name
    forged = packed(*(["", "cat"] if part == "folders" else ["cat"] if part == "classes" else ["cat/a.jpg"]), given)
    arrays = listing(photos, **{part: forged})
    if part == "folders":
        arrays["times"] = np.append(arrays["times"], 10**9)
    plant(photos, "folder", arrays)
    for path in (tmp_path, tmp_path / "secret.jpg"):
        os.utime(path, (1, 1))
    dataset = open_dataset(str(photos))
    assert [dataset.sample(number).key for number in range(len(dataset))] == ["cat/a", "cat/b"]


def header(photos: Path, *columns: object) -> bytes:
    return json.dumps({"kind": "folder", "stamp": index_cache.stamp_of(str(photos)), "columns": columns}).encode()


def test_a_forged_header_is_ignored(photos: Path) -> None:
    for text in (
        b"",
        b"{}",
        b"[1]",
        b"[" * 60000,
        b'{"kind":"folder","stamp":1,"columns":[]}',
        header(photos, [[], "<i8", [1]]),
        header(photos, ["names", "<i8", [0, 2**70]]),
        header(photos, ["names", "<i8", [0] * 100]),
        header(photos, ["names", "|O", [1]]),
        header(photos, ["names", "<i8", [0, 2**70]], ["times", "|u1", [1]]) + b"\0",
        header(photos, 1),
    ):
        body = index_cache.MAGIC + len(text.rstrip(b"\0")).to_bytes(4, "little") + text
        Path(f"{photos}{index_cache.ENDING}").write_bytes(body + _core.crc32c(body).to_bytes(4, "little"))
        assert len(open_dataset(str(photos))) == 2


def lies(arrays: dict[str, Array]) -> list[tuple[str, Array]]:
    """Every array with values, types and shapes that cannot be."""
    found: list[tuple[str, Array]] = []
    for name, array in arrays.items():
        found += [(name, array.reshape(-1)[:0]), (name, array.astype(np.float32)), (name, array[None])]
        if array.dtype == np.int64:
            for place in range(array.size):
                for value in (-1, 1 << 31, 1 << 62, (1 << 63) - 1, -(1 << 63)):
                    wrong = array.copy()
                    wrong.reshape(-1)[place] = value
                    found.append((name, wrong))
            wrong = np.full_like(array, 1 << 62)  # four of them add up to 0 in 64 bits
            wrong.reshape(-1)[-1] += array.sum()
            found.append((name, wrong))
    return found


def tfrecords(path: Path) -> None:
    path.write_bytes(b"".join(tfrecord.frame(bytes(20 + number)) for number in range(4)))


def records(path: Path) -> None:
    path.write_bytes(b"".join(recordio.frame(bytes(20 + number)) for number in range(4)))


def tar(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for number in range(4):
            name = path.with_name(f"{number}.jpg")
            name.write_bytes(bytes(20 + number))
            archive.add(name, f"{number}.jpg")


def zipped(path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(path, "w") as archive:
        for number in range(4):
            archive.writestr(f"class/{number}.jpg", bytes(20 + number))


SCANS: dict[str, tuple[Callable[[Path], None], Callable[[str], object], Callable[[str], object]]] = {
    "tfrecord": (tfrecords, open_file, tfrecord.scan),
    "recordio": (records, cached_recordio, recordio.scan),
    "tar": (tar, cached_tar, webdataset.scan),
    "zip": (zipped, cached_zip, zip.scan),
}


def described(found: object) -> str:
    index = getattr(found, "index", None)
    return str(found) if index is None else f"{index.offsets} {index.lengths}"


def is_other_checksum(lie: Array, truth: Array) -> bool:
    """Whether members of a zip archive differ in a checksum of a content alone: only reading the content tells."""
    if lie.shape != truth.shape or not 0 <= lie[:, 4].min() <= lie[:, 4].max() < 1 << 32:
        return False
    return (lie != truth).any(axis=0).nonzero()[0].tolist() == [4]


@pytest.mark.parametrize("kind", SCANS)
def test_forged_scans_are_not_read_through(kind: str, tmp_path: Path) -> None:
    write, cached, scan = SCANS[kind]
    path = tmp_path / "data"
    write(path)
    truth = described(scan(str(path)))
    cached(str(path))
    kept = index_cache.load(str(path), kind)
    assert kept is not None, "otherwise nothing is tested"
    tried = 0
    for name, lie in lies(kept):
        if lie.dtype == kept[name].dtype and np.array_equal(lie, kept[name]):
            continue
        if name == "members" and is_other_checksum(lie, kept[name]):
            continue
        plant(path, kind, {**kept, name: lie})
        assert described(cached(str(path))) == truth, (name, lie)
        tried += 1
    assert tried > 40


def test_a_forged_scan_of_a_zip_archive_has_no_names_that_lead_out(tmp_path: Path) -> None:
    path = tmp_path / "data"
    zipped(path)
    cached_zip(str(path))
    kept = index_cache.load(str(path), "zip")
    assert kept is not None
    for part in ("names", "folders"):
        for name in ("../0.jpg", "/0.jpg", "a\\..\\0.jpg"):
            plant(path, "zip", {**kept, part: packed(*["x.jpg"] * 3, name)})
            found = cached_zip(str(path))
            assert [member.name for member in found.members] == [f"class/{number}.jpg" for number in range(4)]


def test_a_forged_scan_of_a_zip_archive_keeps_to_the_rules_of_archives(tmp_path: Path) -> None:
    path = tmp_path / "data"
    zipped(path)
    cached_zip(str(path))
    kept = index_cache.load(str(path), "zip")
    assert kept is not None
    truth = described(zip.scan(str(path)))
    for column, value in ((3, 19), (3, 1000), (0, 41), (5, 9)):  # stored and content size, header, method
        forged = kept["members"].copy()
        forged[0, column] = value
        plant(path, "zip", {**kept, "members": forged})
        assert described(cached_zip(str(path))) == truth, (column, value)
    forged = kept["members"].copy()
    forged[0, 3], forged[0, 5] = 1 << 29, 8  # a deflated bomb
    plant(path, "zip", {**kept, "members": forged})
    assert described(cached_zip(str(path))) == truth


def test_lists_without_a_root_name_any_file_as_in_dali(tmp_path: Path, photos: Path) -> None:
    elsewhere = tmp_path / "elsewhere.jpg"
    file = photos / "list.txt"
    file.write_text(f"{elsewhere} 0\n../elsewhere.jpg 1\ncat/a.jpg 2\n")
    wanted = [str(elsewhere), f"{photos}/../elsewhere.jpg", f"{photos}/cat/a.jpg"]
    assert list(from_list(str(file)).paths) == wanted
    file.write_text(f"{elsewhere}\n../elsewhere.jpg\ncat/a.jpg\n")
    assert list(named_in_list(str(file)).paths) == wanted


@pytest.mark.parametrize("name", [name for name in OUTSIDE if name and "\0" not in name and name != "a/.."])
def test_lists_of_the_readers_stay_below_their_root(tmp_path: Path, photos: Path, name: str) -> None:
    given = str(tmp_path / "secret.jpg") if name.startswith("/") else name
    file = photos / "list.txt"
    file.write_text(f"cat/a.jpg 0\n{given} 1\n")
    with pytest.raises(DataError, match=r"line 2 of .*file_root='/' permits"):
        from_list(str(file), root=str(photos))
    file.write_text(f"cat/a.jpg\n{given}\n")
    with pytest.raises(DataError, match=r"line 2 of .*file_root='/' permits"):
        named_in_list(str(file), root=str(photos))
    file.write_text(f"cat/a.jpg\n{given}\n")
    dataset = open_dataset(str(file))
    with pytest.raises(DataError, match=r"list\.txt:2"):
        dataset.sample(1)


def test_absolute_paths_below_the_root_and_with_permission(tmp_path: Path, photos: Path) -> None:
    file = photos / "list.txt"
    file.write_text(f"{photos}/cat/a.jpg 0\ncat/../cat/b.jpg 1\n")
    assert from_list(str(file)).paths == [f"{photos}/cat/a.jpg", f"{photos}/cat/../cat/b.jpg"]
    file.write_text(f"{tmp_path}/secret.jpg 0\n")
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        pipeline.set_outputs(*fn.readers.file(file_list=str(file), file_root="/"))
    assert bytes(pipeline.run()[0].at(0)) == (tmp_path / "secret.jpg").read_bytes()
    pipeline.close()


def test_labels_of_a_list_are_numbers_of_32_bits(photos: Path) -> None:
    file = photos / "list.txt"
    for label in ("2147483648", "9" * 30, "9" * 5000, "-1", "1.5", "\u0663"):
        file.write_text(f"cat/a.jpg {label}\n")
        with pytest.raises(DataError, match=r"line 1 of .*not a path and a label"):
            from_list(str(file))


@pytest.mark.parametrize("name", OUTSIDE)
def test_annotations_stay_below_their_root(tmp_path: Path, name: str) -> None:
    image = {"id": 1, "file_name": name, "height": 9, "width": 9}
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps({"images": [image], "categories": [], "annotations": []}))
    with pytest.raises(DataError, match="not below file_root"):
        coco.open_annotations(str(file), root=str(tmp_path), choice=coco.Choice())
    if not name:
        return  # a file of names has lines
    (tmp_path / "filenames.dat").write_bytes(name.encode() + b"\n")
    with pytest.raises(DataError, match="not below file_root"):
        open_preprocessed(str(tmp_path), root=str(tmp_path), parts=Parts())


def test_annotations_with_half_of_a_character_in_a_name(tmp_path: Path) -> None:
    image = {"id": 1, "file_name": "\ud800.jpg", "height": 9, "width": 9}
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps({"images": [image], "categories": [], "annotations": []}))
    with pytest.raises(DataError, match="not below file_root"):
        coco.open_annotations(str(file), root=str(tmp_path), choice=coco.Choice())


@pytest.mark.parametrize("number", ["9" * 18, "9" * 30, "9" * 5000, "-512", "512.0", "\u0665\u0661\u0662"])
def test_index_files_with_impossible_numbers(tmp_path: Path, number: str) -> None:
    tar(tmp_path / "data.tar")
    records(tmp_path / "data.rec")
    tfrecords(tmp_path / "data.tfrecord")
    idx = tmp_path / "idx"
    idx.write_text(f"v1.2 2\njpg 512 20 0.jpg\njpg {number} 20 1.jpg\n")
    with pytest.raises(DataError, match="offset and a size"):
        webdataset.read_index(str(idx))
    idx.write_text(f"v1.2 2\njpg 512 20 0.jpg\njpg 1536 {number} 1.jpg\n")
    try:
        index = open_archives(
            [str(tmp_path / "data.tar")], [str(idx)], extensions=["jpg"], missing="error", case_sensitive=True
        )
        assert index.lost.keys() == {1}
    except DataError as error:
        assert "offset and a size" in str(error)
    idx.write_text(f"0 0\n1 {number}\n")
    with pytest.raises(DataError, match=r"not a key and an offset|index is of another file"):
        open_records([str(tmp_path / "data.rec")], [str(idx)])
    idx.write_text(f"0 36\n{number} 37\n")
    assert len(open_files([str(tmp_path / "data.tfrecord")], [str(idx)])) == 4, "read without the index"


def test_links_that_lead_out_are_found(tmp_path: Path, photos: Path) -> None:
    (photos / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    with pytest.raises(DataError, match="leads out of"):
        resolve_below("link.jpg", root=str(photos), allow_outside=False, where="x:1")
