"""Tables as people have them: any column names and delimiters, names as labels, one-hot columns, boxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from dataset_cases import encoded
from hypothesis import given
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.file_list import cells as cells_module
from pixelmill.formats.file_list import table_entries
from pixelmill.formats.file_list.table_entries import TableEntries, read_table
from pixelmill.formats.format import Choice
from pixelmill.formats.registry import open_dataset
from pixelmill.storage.file_names import are_plain, is_plain

HEIGHT, WIDTH = 10, 20


def opened(tmp_path: Path, text: str, name: str = "x.csv", **options: Any) -> Dataset:
    for letter in "abc":
        (tmp_path / f"{letter}.png").write_bytes(encoded("png", seed=ord(letter), size=(HEIGHT, WIDTH)))
    (tmp_path / name).write_text(text)
    return open_dataset(tmp_path / name, **options)


def labels(dataset: Dataset) -> list[tuple[Any, ...]]:
    return [(sample.key, sample.labels, sample.class_name) for sample in dataset]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter: str, tmp_path: Path) -> None:
    text = "\n".join(delimiter.join(row) for row in (("image", "label"), ("a.png", "3"), ("b.png", "1")))
    assert labels(opened(tmp_path, text)) == [("a", (3,), None), ("b", (1,), None)]


def test_names_are_numbered_in_order_and_kept(tmp_path: Path) -> None:
    dataset = opened(tmp_path, "path,label\na.png,zebra\nb.png,ant\nc.png,zebra\n")
    assert dataset.classes == ("ant", "zebra")
    assert labels(dataset) == [("a", (1,), "zebra"), ("b", (0,), "ant"), ("c", (1,), "zebra")]
    # A word among numbers is a mistake of its row, a number among words is a word.
    mostly = opened(tmp_path, "path,label\na.png,1\nb.png,x\nc.png,10\n")
    assert mostly.classes == () and mostly.sample(2).labels == (10,)
    with pytest.raises(DataError, match=r"x\.csv:3 has a label that is not a number"):
        mostly.sample(1)
    assert opened(tmp_path, "path,label\na.png,1\nb.png,x\nc.png,y\n").classes == ("1", "x", "y")


def test_several_names_are_several_labels(tmp_path: Path) -> None:
    dataset = opened(tmp_path, "path,labels\na.png,cat|dog\nb.png,\nc.png,two words\n")
    assert dataset.classes == ("cat", "dog", "two words")
    assert labels(dataset) == [("a", (0, 1), None), ("b", (), None), ("c", (2,), "two words")]


def test_columns_are_named_by_the_user_or_recognized_by_their_values(tmp_path: Path) -> None:
    text = "Id,Where,Kind\n7,a.png,x\n8,b.png,y\n"
    dataset = opened(tmp_path, text, path_column="where", label_column="KIND")
    assert labels(dataset) == [("a", (0,), "x"), ("b", (1,), "y")]
    assert dataset.sample(0).extra["column/id"].values == [b"7"]
    assert any("the columns id are kept as features" in line for line in dataset.remarks)
    assert [sample.key for sample in opened(tmp_path, text)] == ["a", "b"]  # the values look like images
    for option, message in (("path_column", "--path-column"), ("label_column", "--label-column")):
        with pytest.raises(ArgumentError, match=f"{message}: .* has no column 'nope'; it has id, where, kind"):
            opened(tmp_path, text, **{option: "nope"})
    with pytest.raises(DataError, match=r"no column of paths; .*--path-column; the columns are id, kind"):
        opened(tmp_path, "id,kind\n7,x\n")


def test_one_hot_columns(tmp_path: Path) -> None:
    dataset = opened(tmp_path, "image,healthy,rust,scab\na.png,1,0,0\nb.png,0,1,1\nc.png,0,0,0\n")
    assert dataset.classes == ("healthy", "rust", "scab")
    assert labels(dataset) == [("a", (0,), "healthy"), ("b", (1, 2), None), ("c", (), None)]
    assert dataset.remarks == (f"{tmp_path}/x.csv: healthy, rust, scab are taken for classes, one column each",)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("filename,width,height,class,xmin,ymin,xmax,ymax", ["20,10,dog,2,1,10,5", "20,10,cat,0,0,20,10"]),
        ("filename,class,x1,y1,x2,y2", ["dog,2,1,10,5", "cat,0,0,20,10"]),
        ("filename,class,x,y,w,h", ["dog,2,1,8,4", "cat,0,0,20,10"]),
        ("filename,class,xmin,ymin,xmax,ymax", ["dog,0.1,0.1,0.5,0.5", "cat,0,0,1,1"]),
    ],
)
def test_rows_of_boxes_are_joined_by_image(header: str, rows: list[str], tmp_path: Path) -> None:
    text = f"{header}\na.png,{rows[0]}\nb.png,{rows[1]}\na.png,{rows[1]}\n"
    dataset = opened(tmp_path, text)
    first, second = dataset
    assert (first.key, second.key, dataset.classes) == ("a", "b", ("cat", "dog"))
    assert first.boxes is not None and second.boxes is not None
    assert np.allclose(first.boxes.ltrb, [[0.1, 0.1, 0.5, 0.5], [0, 0, 1, 1]])
    assert first.boxes.names == ("dog", "cat") and first.boxes.labels is not None
    assert first.boxes.labels.tolist() == [1, 0] and first.labels == () and first.class_name is None
    assert len(second.boxes) == 1
    assert dataset.outline(0).boxes == first.boxes


def test_rows_without_a_box_are_images_without_objects(tmp_path: Path) -> None:
    (sample,) = opened(tmp_path, "path,label,x1,y1,x2,y2,score\na.png,,,,,,\n")
    assert sample.boxes is not None and len(sample.boxes) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a.png,dog,5,1,2,3", "negative size"),
        ("a.png,dog,nan,1,2,3", "not a finite number"),
        ("a.png,dog,x,1,2,3", "could not convert"),
        (",dog,1,1,2,3", "no usable path"),
    ],
)
def test_rows_with_boxes_that_cannot_be(row: str, message: str, tmp_path: Path) -> None:
    dataset = opened(tmp_path, f"path,label,x1,y1,x2,y2\nb.png,dog,1,1,2,2\n{row}\n")
    assert dataset.sample(0).boxes is not None
    with pytest.raises(DataError, match=f"x.csv:3 .*{message}"):
        dataset.sample(1)


def test_json_lines(tmp_path: Path) -> None:
    rows = [{"file_name": "a.png", "label": "x", "text": "a caption", "n": 3}, {"file_name": "b.png", "label": "y"}]
    text = "".join(json.dumps(row) + "\n" for row in rows) + "{\n[]\n"
    dataset = opened(tmp_path, text, "x.jsonl")
    assert labels(dataset) == [] if len(dataset) != 4 else True
    assert dataset.sample(0).labels == (0,) and dataset.sample(0).extra["column/text"].values == [b"a caption"]
    assert dataset.sample(0).extra["column/n"].values == [b"3"] and dataset.classes == ("x", "y")
    for number in (2, 3):
        with pytest.raises(DataError, match=f"x.jsonl:{number + 1} cannot be read"):
            dataset.sample(number)


def test_image_folders_of_hugging_face(tmp_path: Path) -> None:
    for split, letter in (("train", "a"), ("test", "b")):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"{letter}.png").write_bytes(encoded("png", seed=1, size=(HEIGHT, WIDTH)))
        row = {"file_name": f"{letter}.png", "objects": {"bbox": [[2, 1, 8, 4]], "categories": [3], "id": [7]}}
        (tmp_path / split / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    dataset = open_dataset(tmp_path)
    by_key = {sample.key: sample for sample in dataset}
    assert {key: sample.split for key, sample in by_key.items()} == {"a": "train", "b": "test"}
    boxes = by_key["a"].boxes
    assert boxes is not None and np.allclose(boxes.ltrb, [[0.1, 0.1, 0.5, 0.5]])
    assert boxes.labels is not None and boxes.labels.tolist() == [3] and boxes.attributes == {"id": (7,)}
    assert [sample.key for sample in open_dataset(tmp_path, split="testing")] == ["b"]
    with pytest.raises(ArgumentError, match=r"has no split 'val'; it has test, train"):
        open_dataset(tmp_path, split="val")


def test_tables_named_after_splits(tmp_path: Path) -> None:
    opened(tmp_path, "path,label\na.png,dog\n", "train.csv")
    opened(tmp_path, "path,label\nb.png,cat\nc.png,dog\n", "val.csv")
    dataset = open_dataset(tmp_path)
    assert [(s.key, s.split, s.class_name, s.labels) for s in dataset] == [
        ("a", "train", "dog", (0,)), ("b", "val", "cat", (1,)), ("c", "val", "dog", (0,)),
    ]  # fmt: skip
    assert dataset.classes == ("dog", "cat")


CELLS = st.sampled_from(
    ["a.png", "b/c.png", "", "x", "1", "2 3", "1.5", "nan", "a|b", " 1 ", "../up.png", "/abs.png", "a\0b", "é.jpg"]
)


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=4), min_size=1, max_size=12),
    st.sampled_from(
        [("path", "label", "note"), ("path", "class", "label"), ("image", "x", "y"), ("path", "p", "label_1")]
    ),
)
def test_tables_are_judged_at_once_as_row_by_row(rows: list[list[str]], header: tuple[str, ...]) -> None:
    text = "\n".join(",".join(cells) for cells in (header, *rows))
    with patch.object(cells_module, "_BLOCK", 3):
        try:
            content = read_table(text, "t.csv", choice=Choice())
        except DataError:
            return
    entries = content.entries
    assert isinstance(entries, TableEntries)
    one_by_one = list(entries)
    assert entries.faults() == {n: entry.fault for n, entry in enumerate(one_by_one) if entry.fault is not None}
    for name, entry in zip(entries.names(), one_by_one, strict=True):
        assert entry.path in (name, "")
    good = [name for name in entries.names() if name]
    assert are_plain(good) == all(map(is_plain, good))


def test_lines_are_counted_through_quotes_blank_lines_and_blocks(tmp_path: Path) -> None:
    rows = ["a.png,1", "", 'a.png,1,"two', 'lines"', "b.png,2", '"b.png","3"', "", "c.png,word", "c.png,5"]
    with patch.object(cells_module, "_BLOCK", 2):
        dataset = opened(tmp_path, "\n".join(["path,label", *rows]))
    assert [str(dataset.locate(n)[0]).rpartition("/")[2] for n in range(len(dataset))][1] == "x.csv"
    assert [sample.labels for n in (0, 2, 3, 5) for sample in [dataset.sample(n)]] == [(1,), (2,), (3,), (5,)]
    for number, message in ((1, r"x\.csv:5 has 3 fields, the header has 2"), (4, r"x\.csv:9 has a label that is not")):
        with pytest.raises(DataError, match=message):
            dataset.sample(number)


def test_a_table_is_opened_without_an_entry_for_each_row(tmp_path: Path) -> None:
    rows = "".join(f"d{n}/{n}.jpg,class {n % 7},note {n}\n" for n in range(5000))
    with patch.object(table_entries, "_entry", wraps=table_entries._entry) as made:
        dataset = opened(tmp_path, f"path,label,note\n{rows}d/x.jpg\n")
        assert made.call_count == 0
        assert len(dataset) == 5001
        assert dataset.classes == tuple(f"class {n}" for n in range(7))
        assert dataset.outline(4999).labels == (4999 % 7,)
        assert made.call_count == 1
