"""Damaged Parquet files, and columns of other names."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from dataset_cases import encoded, plain_samples, write
from peers import peer

from pixelmill.errors import DataError
from pixelmill.formats import column_copy, columns
from pixelmill.formats.parquet import writer
from pixelmill.formats.registry import open_dataset

pa = peer("pyarrow")
pq = peer("pyarrow.parquet")

IMAGES = [encoded("jpeg", seed=number) for number in range(3)]


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_a_damaged_page_loses_its_group_of_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_GROUP_ROWS", 2)
    samples = plain_samples(4)
    path = write(tmp_path / "x", "parquet", samples) / "data.parquet"
    data = bytearray(path.read_bytes())
    data[data.rindex(samples[1].image[-80:]) + 5] ^= 255  # not in the statistics of the page
    path.write_bytes(data)
    dataset = open_dataset(path)
    for number in (0, 1):
        with pytest.raises(DataError, match=r"data\.parquet") as caught:
            dataset.sample(number)
        assert caught.value.events[0].sample == number
    assert [dataset.sample(number) for number in (2, 3)] == samples[2:]


@pytest.mark.parametrize("length", [4, 40, -1, -200])
def test_a_cut_file_is_refused_by_name(length: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x", "parquet", plain_samples(3)) / "data.parquet"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(DataError, match=r"parquet: .*data\.parquet cannot be read"):
        open_dataset(path)


def test_bytes_without_a_struct_and_labels_that_are_names(tmp_path: Path) -> None:
    path = table(tmp_path / "x.parquet", picture=IMAGES, species=["b", "a", "b"], weight=[1.5, None, 2.0])
    dataset = open_dataset(path)
    assert dataset.classes == ("a", "b") and [s.image for s in dataset] == IMAGES
    assert [(s.key, s.labels, s.class_name) for s in dataset][:2] == [
        ("x-00000000", (1,), "b"), ("x-00000001", (0,), "a"),
    ]  # fmt: skip
    assert dataset.sample(0).extra["column/weight"].values == [b"1.5"]
    assert dataset.remarks == ("the columns weight are kept as features of samples",)


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = table(tmp_path / "x.parquet", one=IMAGES, two=IMAGES[::-1], number=[3, 1, 2], name=["x", "y", None])
    dataset = open_dataset(path, path_column="two", label_column="number")
    assert [s.image for s in dataset] == IMAGES[::-1] and [s.labels for s in dataset] == [(3,), (1,), (2,)]
    with pytest.raises(DataError, match="has no column 'three' of bytes; it has one, two"):
        open_dataset(path, path_column="three")
    with pytest.raises(DataError, match="has no column 'z'; it has one, two, number, name"):
        open_dataset(path, label_column="z")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": ["a"], "number": [1]}, "no column of encoded images; its columns are text, number"),
        ({"image": [b""], "label": [1]}, "holds no bytes"),
        ({"image": [None, b"x"], "label": [1, 2]}, "holds no bytes"),
        ({"image": [b"x"], "label": [[1.0, float("nan")]]}, "is not a label"),
    ],
)
def test_tables_without_images(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        open_dataset(table(tmp_path / "x.parquet", **columns)).sample(0)


def test_several_files_need_the_same_columns(tmp_path: Path) -> None:
    for number, name in enumerate(("label", "target")):
        table(tmp_path / f"{number}.parquet", image=IMAGES, **{name: [0, 1, 2]})
    with pytest.raises(DataError, match="have different columns; open them one by one"):
        open_dataset(tmp_path)


@pytest.mark.parametrize("is_large", [True, False])
def test_it_is_said_that_images_are_copied(
    is_large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    path = table(tmp_path / "x.parquet", image=IMAGES)
    monkeypatch.setattr(column_copy, "_LARGE", path.stat().st_size + (not is_large))
    with caplog.at_level(logging.WARNING, "pixelmill"):
        for _ in range(2):  # the second time it is there
            columns.column_index(open_dataset(path), ["image"])
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == is_large
    assert not messages or (f"{path} (" in messages[0] and "the images are copied into the cache first" in messages[0])
