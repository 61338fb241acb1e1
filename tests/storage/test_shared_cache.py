"""The traffic of datasets that are cached: each byte once for all processes, none from a warm cache."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from loopback_s3 import LoopbackS3
from peers import needs
from remote_datasets import BATCH, COUNT, content, make, pipeline

EPOCH = COUNT // BATCH


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackS3]:
    folder = tmp_path_factory.mktemp("cached")
    make(folder)
    server = LoopbackS3()
    server.put_folder("data", folder)
    with server.running():
        yield server


@pytest.fixture
def server(store: LoopbackS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoopbackS3:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    store.reset()
    return store


READ = """
import sys
sys.path[:0] = [sys.argv[2]]
from remote_datasets import content, pipeline
options = {"key": "t", "secret": "t", "endpoint_url": sys.argv[1], "client_kwargs": {"region_name": "us-east-1"}}
pipe = pipeline(sys.argv[3], "s3://data", random_shuffle=True, storage_options=options, cache_size=1 << 26)
print(len(set(content(pipe, int(sys.argv[4])))))
"""


@pytest.mark.parametrize("kind", ["file", "tfrecord"])
@needs("fsspec")
def test_eight_processes_fetch_each_byte_once(kind: str, server: LoopbackS3) -> None:
    support = str(Path(__file__).parents[1] / "support")
    command = [sys.executable, "-c", READ, server.endpoint, support, kind, str(EPOCH)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert [process.communicate(timeout=300)[0].strip() for process in running] == [str(COUNT)] * 8
    asked = [entry for entry in server.log if entry[0].endswith((".jpg", ".tfrecord"))]
    spans = sorted((key, begin, end) for key, begin, end in asked)
    for (key, _, end), (following, begin, _) in pairwise(spans):
        assert key != following or end <= begin, f"bytes {begin} to {end} of {key} were fetched twice"


@pytest.mark.parametrize("mode", ["global", "blocks"])
def test_a_cache_of_a_tenth_saves_a_tenth(mode: str, server: LoopbackS3) -> None:
    def traffic(**options: object) -> int:
        server.reset()
        pipe = pipeline(
            "tfrecord",
            "s3://data",
            random_shuffle=True,
            pad_last_batch=True,
            shuffle_mode=mode,
            shuffle_window=1,
            storage_options=server.options,
            **options,
        )
        assert len(set(content(pipe, 2 * EPOCH))) == COUNT
        return sum(end - begin for key, begin, end in server.log if key.endswith(".tfrecord"))

    needed = traffic(cache_size=0) / 2
    least = needed + 0.9 * needed
    assert least * 0.95 <= traffic(cache_size=int(needed / 10)) < 1.1 * least
