"""Whatever reads many samples of a dataset at an address announces them: they come many at a time."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from dataset_cases import write
from loopback_s3 import LoopbackS3
from peers import peer
from remote_datasets import served
from remote_reads import round_trips

from pixelmill import convert
from pixelmill.create import create_images
from pixelmill.formats import dataset as formats_dataset
from pixelmill.formats.dataset import Dataset, ahead
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Sample
from pixelmill.image_loader.annotations import look_at
from pixelmill.inspect.sample_selection import Filter, matching, spread
from pixelmill.storage import announced_reads

COUNT = 20


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    create_images(folder / "folder", "i", 60, 50, COUNT, "jpg", 5, workers=1)
    for format in ("tfrecord", "npy"):
        convert(folder / "folder", folder / format, to=format, samples_per_shard=COUNT, workers=1)
    return folder


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(announced_reads, "_GAP", 0)
    with served(local) as found:
        yield found


def read_blocks(dataset: Dataset) -> object:
    peer("ray")
    pyarrow = peer("pyarrow")
    from pixelmill.pipeline.remote_program import fingerprint
    from pixelmill.ray import datasource

    source = datasource._Source((dataset.source,), None, tuple(fingerprint(dataset.index)), ("image",), "raise")
    return pyarrow.concat_tables(datasource._read(source, 0, COUNT)).num_rows


LOOPS: dict[str, tuple[str, Callable[[Dataset], Any]]] = {
    "iteration": ("folder", lambda dataset: len(list(dataset))),
    "annotations": ("tfrecord", look_at),
    "schema": ("folder", lambda dataset: dataset.schema),
    "samples for a preview": ("tfrecord", lambda dataset: spread(dataset, count=4, seed=0)),
    "samples that match": ("tfrecord", lambda dataset: matching(dataset, Filter(), count=COUNT, seed=0)),
    "headers of arrays": ("npy", lambda dataset: dataset.byte_ranges("image")),
    "blocks of Ray": ("folder", read_blocks),
}


@pytest.mark.parametrize("name", LOOPS)
def test_samples_come_many_at_a_time(name: str, server: LoopbackS3) -> None:
    format, loop = LOOPS[name]
    datasets = [open_dataset(f"s3://data/{format}") for _ in range(3)]
    assert 1 <= round_trips(server, lambda: loop(datasets.pop()), enough=4) <= 4


def test_who_takes_few_samples_fetches_few(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_dataset, "_FIRST_AHEAD", 4)
    for taken, most in ((2, 4), (3, 10), (6, 10), (7, 22)):
        announced: list[int] = []
        numbers = ahead(range(1000), announced.extend)
        assert [next(numbers) for _ in range(taken)] == list(range(taken))
        assert max(announced) == most - 1
    assert next(iter(open_dataset("s3://data/folder"))).image
    assert sum(key.endswith(".jpg") for key, _, _ in server.log) <= 4


def test_small_arrays_are_read_as_they_are(server: LoopbackS3, tmp_path: Path) -> None:
    """A request for more bytes than a file has would be repeated, as one that was cut."""
    images = [b"P5 1 1 255 %c" % number for number in range(3)]
    write(tmp_path / "small", "npy", [Sample(str(n), image, "pgm") for n, image in enumerate(images)])
    server.put_folder("data", tmp_path)
    server.reset()
    found = open_dataset("s3://data/small").byte_ranges("image")
    assert found is not None and not found.lost
    assert found.lengths.tolist() == list(map(len, images))
    assert sum(key.endswith(".npy") for key, _, _ in server.log) == 3


@pytest.mark.parametrize("format", ["folder", "tfrecord"])
def test_threads_may_share_a_dataset(format: str, server: LoopbackS3, local: Path) -> None:
    """They withdraw what others have announced, which is slow and gives the right samples."""
    expected = [sample.image for sample in open_dataset(local / format)]
    dataset = open_dataset(f"s3://data/{format}")
    orders = [list(range(COUNT)), list(range(COUNT))[::-1], list(range(0, COUNT, 2)), list(range(COUNT))]
    found: list[list[bytes]] = [[] for _ in orders]

    def read(place: int) -> None:
        for _ in range(2):
            dataset.expect(orders[place])
            found[place] = [dataset.sample(number).image for number in orders[place]]

    threads = [threading.Thread(target=copy_context().run, args=(read, place)) for place in range(len(orders))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for order, images in zip(orders, found, strict=True):
        assert images == [expected[number] for number in order]


@pytest.mark.parametrize("format", ["folder", "tfrecord", "npy"])
def test_a_dataset_that_was_read_can_go_to_another_process(format: str, server: LoopbackS3, local: Path) -> None:
    dataset = open_dataset(f"s3://data/{format}")
    expected = [sample.image for sample in dataset]
    copy = pickle.loads(pickle.dumps(dataset))
    assert [sample.image for sample in copy] == expected
