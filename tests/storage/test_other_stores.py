"""Google Cloud Storage and Azure, as far as a server on this machine can play them.

It speaks their protocols without checking signatures; credentials, and uploads in parts to them, are not tested.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import BATCH, COUNT, content, make, pipeline

from pixelmill import convert, verify
from pixelmill.storage import files, remote_writes, using

EPOCH = COUNT // BATCH
OPTIONS: dict[str, dict[str, Any]] = {
    "gs": {"token": "anon"},
    "az": {"account_name": "account", "anon": True},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("others")
    make(folder)
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[LoopbackS3]:
    server = LoopbackS3()
    server.put_folder("data", folder)
    with server.running():
        yield server


@pytest.fixture(autouse=True)
def environment(store: LoopbackS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DALI_GCS_ENDPOINT_URL", store.endpoint)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", store.endpoint)


@pytest.mark.parametrize("kind", ["file", "tfrecord", "webdataset"])
@pytest.mark.parametrize("scheme", OPTIONS)
def test_readers_give_what_this_machine_gives(scheme: str, kind: str, folder: Path, store: LoopbackS3) -> None:
    shared: dict[str, Any] = {"random_shuffle": True, "pad_last_batch": True}
    wanted = content(pipeline(kind, str(folder), **shared), EPOCH)
    store.reset()
    found = content(pipeline(kind, f"{scheme}://data", storage_options=OPTIONS[scheme], cache_size=0, **shared), EPOCH)
    assert found == wanted
    assert store.counts["GET"] >= EPOCH and store.counts["HEAD"] == 0


@pytest.fixture
def key_file(store: LoopbackS3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of Google that needs no other server; obstore does not write without a key."""
    key = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    (tmp_path / "key.json").write_text(json.dumps({**key, "gcs_base_url": store.endpoint}))
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "key.json"))


@pytest.mark.usefixtures("key_file")
@pytest.mark.parametrize("scheme", OPTIONS)
def test_small_files_are_written_once(scheme: str) -> None:
    base = f"{scheme}://data/written-{scheme}"
    with using(OPTIONS[scheme] if scheme == "az" else {}):
        assert remote_writes.create(f"{base}/lock", b"first")
        assert not remote_writes.create(f"{base}/lock", b"second")
        remote_writes.write(f"{base}/other", b"more")
        assert remote_writes.entries(base) == ["lock", "other"]
        assert files.read_file(f"{base}/lock") == b"first" and files.read_range(f"{base}/other", 1, 2) == b"or"
        assert not files.is_folder(f"{base}/missing")


@pytest.mark.usefixtures("key_file")
def test_a_job_writes_to_google_cloud_storage(folder: Path) -> None:
    convert(folder / "photos", "gs://data/converted", to="tfrecord", workers=1)
    assert verify("gs://data/converted").is_whole
