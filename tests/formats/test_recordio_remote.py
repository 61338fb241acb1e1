"""Labels of RecordIO files at addresses are read from the beginnings of records, not from whole files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served

from pixelmill import Pipeline, convert, fn
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
    outputs = []
    for path in (str(local / "records"), FOLDER):
        pipeline = Pipeline(batch_size=6, num_threads=2, device_id=None, seed=7, prefetch_queue_depth=1)
        with pipeline:
            data = fn.readers.dataset(
                path=path, columns=["image", "label"], random_shuffle=True, storage_options=server.options
            )
            pipeline.set_outputs(fn.decoders.image(data["image"]), data["label"])
        outputs.append([[np.asarray(x) for row in pipeline.run() for x in row] for _ in range(5)])
        pipeline.close()
    for ours, theirs in zip(*outputs, strict=True):
        assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert not list((tmp_path / "cache").rglob("*.rec"))
