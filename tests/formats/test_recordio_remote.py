"""Labels of RecordIO files at addresses are read from the beginnings of records, not from whole files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served
from remote_reads import training_batches

from pixelmill import convert
from pixelmill.create import create_images
from pixelmill.formats import columns
from pixelmill.formats.index import Ragged
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.selection import Selection
from pixelmill.storage import announced_reads

COUNT = 30
FOLDER = "s3://data/records"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    create_images(folder / "photos", "i", 60, 50, COUNT, "jpg", 5, classes=3, workers=1)
    convert(folder / "photos", folder / "records", to="recordio", samples_per_shard=12, workers=1)
    return folder


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    with served(local) as found:
        yield found


def record_ranges(server: LoopbackS3) -> list[tuple[int, int]]:
    return [(begin, end) for key, begin, end in server.log if key.endswith(".rec")]


def labels(dataset: columns.Dataset) -> list[int]:
    column = columns.column_index(dataset, ["label"]).columns["label"]
    assert isinstance(column, Ragged)
    return list(map(int, column.rows))


def test_labels_are_read_without_images(server: LoopbackS3, local: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_reads, "_GAP", 0)
    found = open_dataset(FOLDER)
    server.reset()
    assert labels(found) == labels(open_dataset(str(local / "records")))
    assert sorted(end - begin for begin, end in record_ranges(server)) == [256] * COUNT


def test_gaps_that_take_less_time_than_requests_are_read(server: LoopbackS3) -> None:
    found = open_dataset(FOLDER)
    server.reset()
    labels(found)
    assert len(record_ranges(server)) == 3


def test_labels_of_a_part_are_read_without_images(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_reads, "_GAP", 0)
    whole = open_dataset(FOLDER)
    chosen = Selection(whole, np.array([3, 17]), "two")
    announced: list[int] = []
    expect = whole.expect_descriptions

    def noting(numbers: Iterable[int]) -> None:
        announced.extend(numbers)
        expect(announced)

    monkeypatch.setattr(whole, "expect_descriptions", noting)
    server.reset()
    assert len(labels(chosen)) == 2
    assert announced == [3, 17]
    assert [end - begin for begin, end in record_ranges(server)] == [256, 256]


def test_training_with_labels_fetches_no_file(server: LoopbackS3, local: Path, tmp_path: Path) -> None:
    found = [training_batches(path, ["image", "label"], server.options) for path in (FOLDER, str(local / "records"))]
    assert found[0] == found[1]
    assert not list((tmp_path / "cache").rglob("*.rec"))
