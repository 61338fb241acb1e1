"""Every container as a dataset: what goes in comes out, and damage is named."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import odd_samples, plain_samples, write
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.file_list import lines
from pixelmill.formats.folder import listing as folder_index
from pixelmill.formats.registry import FORMATS, get_format, open_dataset, shard_names, sniff
from pixelmill.formats.sample import Sample
from pixelmill.formats.webdataset import TarWriter

CASES = {"plain": plain_samples, "odd": odd_samples}
RECORDS = [name for name in FORMATS if get_format(name).storage == "records"]
CUT = [name for name in RECORDS if name not in ("parquet", "lmdb")]  # these are read from their end


def by_name(samples: list[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda sample: (sample.name, sample.labels))


def options(format: str, samples: list[Sample]) -> dict[str, object]:
    masks = any(sample.mask is not None for sample in samples)
    return {"masks": masks} if format == "folder" else {}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_read(format: str, case: str, tmp_path: Path) -> None:
    samples = CASES[case]()
    dataset = open_dataset(write(tmp_path / "x", format, samples, **options(format, samples)))
    assert dataset.format == format == sniff(tmp_path / "x")
    assert not dataset.faults
    found = list(dataset)
    if get_format(format).storage == "folder":  # sorted by name, or split by split
        found, samples = by_name(found), by_name(samples)
    assert found == samples


@pytest.mark.parametrize(("first", "second"), list(permutations(FORMATS, 2)))
def test_there_and_back_changes_nothing(first: str, second: str, tmp_path: Path) -> None:
    samples = odd_samples()
    start = open_dataset(write(tmp_path / "1", first, samples, **options(first, samples)))
    middle = open_dataset(write(tmp_path / "2", second, start, **options(second, samples)))
    back = open_dataset(write(tmp_path / "3", first, middle, **options(first, samples)))
    assert by_name(list(back)) == by_name(samples)


# Opening


def test_a_file_is_known_by_its_content_not_its_name(tmp_path: Path) -> None:
    for format in RECORDS:
        data = (write(tmp_path / format, format, plain_samples(3)) / shard_names(format)["records"]).read_bytes()
        (tmp_path / f"{format}.bin").write_bytes(data)
        assert sniff(tmp_path / f"{format}.bin") == format
        assert len(open_dataset(tmp_path / f"{format}.bin")) == 3
        for other in set(FORMATS) - {format}:
            with pytest.raises(DataError, match=f"{format}.bin is "):
                open_dataset(tmp_path / f"{format}.bin", other)


def test_what_is_no_dataset_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\0\1\2\3" * 200)
    (tmp_path / "x.jpg").write_bytes(plain_samples(1)[0].image)
    (tmp_path / "none").write_bytes(b"")
    for name, message in (("x.bin", "begins with"), ("x.jpg", "a single jpg image"), ("none", "is empty")):
        with pytest.raises(DataError, match=message):
            open_dataset(tmp_path / name)
    with pytest.raises(ArgumentError, match="No such file"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(ArgumentError, match="matches no file"):
        open_dataset(tmp_path / "*.tfrecord")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArgumentError, match="no file below"):
        open_dataset(tmp_path / "empty")


def test_mixed_and_split_folders_are_named(tmp_path: Path) -> None:
    write(tmp_path / "x", "tfrecord", plain_samples(2))
    (tmp_path / "x/data.idx").unlink()
    write(tmp_path / "x", "webdataset", plain_samples(2))
    with pytest.raises(DataError, match="TFRecord and a WebDataset tar"):
        open_dataset(tmp_path / "x")
    assert open_dataset(tmp_path / "x", "webdataset").format == "webdataset"
    for name in ("train", "valid"):
        write(tmp_path / "parts" / name, "tfrecord", plain_samples(2))
        (tmp_path / "parts" / name / "manifest.json").write_text("{}")
    with pytest.raises(DataError, match="several datasets: train, valid"):
        open_dataset(tmp_path / "parts")


def test_patterns_and_lists_of_files(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / str(number), "recordio", plain_samples(number + 1))
    assert len(open_dataset(f"{tmp_path}/*/data.rec")) == 6
    assert len(open_dataset([f"{tmp_path}/{number}/data.rec" for number in (0, 2)])) == 4


# Folders


def test_a_folder_is_listed_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    root = write(tmp_path / "x", "folder", plain_samples(6), classes=("ant", "bee", "cat"))
    for folder in (root, *root.iterdir()):
        os.utime(folder, (1e9, 1e9))
    first = [sample.key for sample in open_dataset(root)]
    assert list((tmp_path / "cache").iterdir())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the folder was walked")

    with monkeypatch.context() as patch:
        patch.setattr(folder_index.storage, "walk", refuse)
        assert [sample.key for sample in open_dataset(root)] == first
    (root / "bee" / "new.png").write_bytes(plain_samples(1)[0].image)
    assert "bee/new" in [sample.key for sample in open_dataset(root)]


def test_flat_and_deep_folders(tmp_path: Path) -> None:
    image = plain_samples(1)[0].image
    for name in ("z.jpg", "a/deep/er/1.JPG", "a/0.jpeg", "b/.hidden.jpg", "b/notes.txt", "c/2.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(image)
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    dataset = open_dataset(tmp_path)
    assert dataset.classes == ("a", "b", "c")
    assert [(sample.name, sample.labels) for sample in dataset] == [
        ("z.jpg", ()), ("a/0.jpeg", (0,)), ("a/deep/er/1.JPG", (0,)), ("c/2.png", (2,)),
    ]  # fmt: skip


def test_a_file_that_goes_missing_is_one_bad_sample(tmp_path: Path) -> None:
    dataset = open_dataset(write(tmp_path / "x", "folder", plain_samples(3)))
    (tmp_path / "x/bee/0001.jpg").unlink()
    with pytest.raises(DataError, match="No such file") as caught:
        dataset.sample(1)
    assert caught.value.events[0].path == str(tmp_path / "x/bee/0001.jpg")
    assert dataset.sample(2).key == "cat/0002"


# Lists


def listed(
    tmp_path: Path, text: str | bytes, name: str = "list.txt", **options: Any
) -> list[tuple[str, tuple[Any, ...]]]:
    (tmp_path / "a b.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "c.jpg").write_bytes(b"\xff\xd8\xff")
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(sample.key, sample.labels) for sample in open_dataset(path, **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c.jpg 3\n", [("c", (3,))]),
        ("c.jpg\t3\t-1\t2.5\r\n\n  \nc.jpg", [("c", (3, -1, 2.5)), ("c", ())]),
        ("a b.jpg 3 4\n", [("a b", (3, 4))]),
        ("a b.jpg\t3 4\n", [("a b", (3, 4))]),
        (b"\xef\xbb\xbfc.jpg 1e3", [("c", (1000,))]),
        ("./c.jpg 0\n", [("./c", (0,))]),
    ],
)
def test_lines_of_a_list(text: str, expected: object, tmp_path: Path) -> None:
    assert listed(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path,label\nc.jpg,3\n", [("c", (3,))]),
        ('file,labels,other\r\n"a b.jpg",3 4,"x\ny"\r\nc.jpg,,z\r\n', [("a b", (3, 4)), ("c", ())]),
        ("image,label_0,label_1\nc.jpg,1,2\n", [("c", (1, 2))]),
        (b"\xef\xbb\xbffilename,class\nc.jpg,cat\n", [("c", (0,))]),
    ],
)
def test_tables(text: str, expected: object, tmp_path: Path) -> None:
    assert listed(tmp_path, text, "x.csv") == expected


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.txt", "c.jpg\tcat\n", "x.txt:1 is not a path and its labels"),
        ("x.txt", "c.jpg 1\n../c.jpg 1\n", r"x.txt:2: '\.\./c.jpg' leads out"),
        ("x.txt", "/etc/passwd 1\n", "x.txt:1: '/etc/passwd' leads out"),
        ("x.txt", "https://x/c.jpg 1\n", "x.txt:1: .* is an address"),
        ("x.txt", "c.jpg 1\nc\0.jpg 1", "x.txt:2 is not a line of text"),
        ("x.txt", "\n\n", "lists no file"),
        ("x.csv", "path,label\nc.jpg,3,4\n", "x.csv:2 has 3 fields, the header has 2"),
        ("x.csv", "path;label\nc.jpg;3;4\n", "x.csv:2 has 3 fields, the header has 2"),
        ("x.csv", "path,boxes,box_labels\nc.jpg,[],many\n", "x.csv:2 has a label that is not a number"),
        ("x.csv", 'path,label\n"c.jpg,3\n', "x.csv:.* is not CSV"),
        ("x.csv", "id,label\nc,3\n", "x.csv:1 has no column of paths"),
        ("x.csv", "path,boxes\nc.jpg,[[1]]\n", "x.csv:2 cannot be used: a box has four numbers"),
        ("x.csv", "path,boxes\nc.jpg,{\n", "x.csv:2 is not JSON"),
        ("x.csv", 'path,label\n"../up\nc.jpg",3\n', "x.csv:3: .* leads out"),
    ],
)
def test_lists_that_cannot_be_used(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        listed(tmp_path, text, name)


def test_lists_of_8_gigabytes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []

    def read_file(path: str, *, limit: int) -> bytes:
        limits.append(limit)
        return b"a.jpg 1\n"

    monkeypatch.setattr(lines.storage, "read_file", read_file)
    assert [(entry.path, entry.labels) for entry in lines.read_list("huge.txt").entries] == [("a.jpg", (1,))]
    assert limits == [8 * 2**30]


def test_links_do_not_lead_out_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xd8\xff secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.jpg").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match="leads out"):
        listed(tmp_path / "in", "link.jpg 1\n")
    assert listed(tmp_path / "in", "../secret 1\n", allow_outside=True) == [("../secret", (1,))]
    assert listed(tmp_path / "in", "in/link.jpg 1\n", root=str(tmp_path)) == [("in/link", (1,))]


# Damage


@pytest.mark.parametrize("format", CUT)
def test_a_cut_file_keeps_what_is_whole(format: str, tmp_path: Path) -> None:
    """Names and images of what is left are right; labels and classes are right or, where they were cut off, missing."""
    samples = plain_samples(5)
    path = write(tmp_path / "x", format, samples) / shard_names(format)["records"]
    whole = path.read_bytes()
    index = open_dataset(path).index
    end = int((index.offsets + index.lengths).max())  # a pack has a long index after the last sample
    for cut in range(end // 2, end - 1600, 97):
        path.write_bytes(whole[:cut])
        dataset = open_dataset(path)
        found = list(dataset)
        for sample, left in zip(samples, found, strict=False):
            assert (left.name, left.image) == (sample.name, sample.image)
            assert left.labels in (sample.labels, ()) and left.class_name in (sample.class_name, None)
            assert left.labels or format == "zip"
        assert len(found) < 5 and dataset.faults


@settings(max_examples=150)
@given(data=st.data())
def test_damage_raises_nothing_but_our_errors(data: st.DataObject, tmp_path: Path) -> None:
    """Bytes of any file of a small dataset are changed; opening and reading end well or with a DataError."""
    format = data.draw(st.sampled_from(FORMATS))
    root = tmp_path / format
    if not root.exists():
        write(root, format, odd_samples(), **options(format, odd_samples()))
    files = sorted(path for path in root.rglob("*") if path.suffix in _TEXT_OR_RECORDS and path.stat().st_size)
    path = data.draw(st.sampled_from(files))
    whole = path.read_bytes()
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole) - 1))
        changed[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        path.write_bytes(changed)
        dataset = open_dataset(root)
        for number in range(len(dataset)):
            try:
                dataset.sample(number)
            except DataError:
                continue
    except (DataError, ArgumentError):
        pass
    finally:
        path.write_bytes(whole)


_RECORD_ENDINGS = tuple(f".{ending}" for name in RECORDS for ending in get_format(name).endings)
_TEXT_OR_RECORDS = (".txt", ".csv", ".jsonl", ".lst", ".npy", ".json", ".xml", ".yaml", *_RECORD_ENDINGS)


def test_the_schema_shows_what_samples_hold(tmp_path: Path) -> None:
    schema = open_dataset(write(tmp_path / "x", "tfrecord", odd_samples())).schema
    assert (schema.format, schema.layout) == ("tfrecord", "inception keys")
    assert schema.fields["boxes"].startswith("left") and schema.fields["year"] == "int64 x 2"


@pytest.mark.parametrize(
    ("label", "expected"),
    [(True, 1), (3.0, 3), (0.1, float(np.float32(0.1))), (2**40, 2**40), (np.int32(4), 4), (np.float64(1e20), 1e20)],
)
def test_labels_are_what_every_container_holds(label: Any, expected: float, tmp_path: Path) -> None:
    (found,) = Sample("a", b"x", labels=(label,)).labels
    assert found == pytest.approx(expected, rel=1e-7) and type(found) in (int, float)
    for format in FORMATS:
        (again,) = open_dataset(write(tmp_path / format, format, [Sample("a", b"x", labels=(label,))]))
        assert again.labels == (found,)


@pytest.mark.parametrize("label", [float("nan"), float("inf"), 2**63, 1e40])
def test_labels_that_none_holds(label: float) -> None:
    with pytest.raises(ArgumentError, match="labels"):
        Sample("a", b"x", labels=(label,))


def test_a_class_that_does_not_fit_is_a_bad_sample(tmp_path: Path) -> None:
    with (tmp_path / "x.tar").open("wb") as stream:
        writer = TarWriter(stream)
        for number, text in enumerate((b"1", b"9" * 19, b"cat", b"-3")):
            writer.write(f"{number}.jpg", b"\xff\xd8\xff")
            writer.write(f"{number}.cls", text)
        writer.close()
    dataset = open_dataset(tmp_path / "x.tar")
    assert (dataset.sample(0).labels, dataset.sample(3).labels) == ((1,), (-3,))
    for number in (1, 2):
        with pytest.raises(DataError, match="not an integer") as caught:
            dataset.sample(number)
        assert caught.value.events[0].offset == number * 2048
