"""How many round trips the first batch of a dataset at an address waits for, one after another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import make, pipeline
from remote_reads import round_trips

# Listing, index files, data. `dataset` reads the start of each file too, to recognize the container; folders need no
# index, but a listing for each class. The folder here holds two files that may be annotations, which are looked at.
TRIPS = {
    "file": 3,
    "file_list": 2,
    "tfrecord": 3,
    "tfrecord_beside": 3,
    "webdataset": 3,
    "webdataset_beside": 3,
    "dataset_folder": 5,
    "dataset_pack": 4,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackS3]:
    folder = tmp_path_factory.mktemp("remote")
    make(folder)
    found = LoopbackS3()
    found.put_folder("data", folder)
    with found.running():
        yield found


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("AWS_PROFILE", raising=False)


@pytest.mark.parametrize("kind", TRIPS)
def test_round_trips_to_the_first_batch(kind: str, server: LoopbackS3) -> None:
    def run() -> None:
        pipe = pipeline(kind, "s3://data", storage_options=server.options, cache_size=0, random_shuffle=True)
        pipe.run()
        pipe.close()

    assert round_trips(server, run, enough=TRIPS[kind]) == TRIPS[kind]
    assert server.counts["HEAD"] == 0


def test_opening_a_dataset_lists_each_folder_once(server: LoopbackS3) -> None:
    server.latency = 0
    server.reset()
    pipeline("dataset_folder", "s3://data", storage_options=server.options).build()
    assert server.counts["LIST"] == 4
