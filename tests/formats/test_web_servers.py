"""Datasets behind a web server, which has no listings: files are named, and what lies beside them is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from loopback_s3 import LoopbackS3
from remote_reads import write_containers

from pixelmill import ImageLoader
from pixelmill.formats.registry import open_dataset
from pixelmill.storage.options import using

COUNT = 20
FILES = {
    "webdataset": "data-{00000..00002}-of-00003.tar",
    "tfrecord": "data-{00000..00002}-of-00003.tfrecord",
    "recordio": "data-{00000..00002}-of-00003.rec",
    "parquet": "data-{00000..00002}-of-00003.parquet",
    "zip": "data-{00000..00002}-of-00003.zip",
    "pack": "data-{00000..00002}-of-00003.pack",
    "lmdb": "data-{00000..00002}-of-00003.mdb",
    "list": "list-{00000..00002}-of-00003.txt",
    "csv": "images-{00000..00002}-of-00003.csv",
}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_containers(tmp_path_factory.mktemp("local"), FILES, count=COUNT)


@pytest.fixture
def address(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    server = LoopbackS3()
    server.put_folder("data", local)
    with server.running(), using({}):
        yield f"{server.endpoint}/data"


def here(local: Path, format: str) -> list[str]:
    """Return the same files on this machine."""
    found = [f"{local}/{format}/{FILES[format].replace('{00000..00002}', f'{number:05d}')}" for number in range(3)]
    assert all(Path(path).exists() for path in found)
    return found


@pytest.mark.parametrize("format", FILES)
def test_samples_are_those_of_local_files(format: str, address: str, local: Path) -> None:
    found, expected = open_dataset(f"{address}/{format}/{FILES[format]}"), open_dataset(here(local, format))
    assert len(found) == COUNT and found.classes == expected.classes
    assert [vars(sample) for sample in found] == [vars(sample) for sample in expected]


@pytest.mark.parametrize("format", FILES)
def test_training_gives_the_same_batches(format: str, address: str, local: Path) -> None:
    outputs = []
    for source in (here(local, format), f"{address}/{format}/{FILES[format]}"):
        with ImageLoader(source, size=32, batch_size=8, train=True, framework="numpy", seed=3) as loader:
            outputs.append([[np.array(part) for part in batch] for batch in loader])
    assert len(outputs[0]) == 3
    for ours, theirs in zip(*outputs, strict=True):
        assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
