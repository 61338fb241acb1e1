"""The order in which a shard is committed, on which the promise about power losses rests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from small_jobs import NumbersJob

from pixelmill.errors import ArgumentError
from pixelmill.jobs import run_job
from pixelmill.jobs.shard_files import OutputStream
from pixelmill.jobs.storage import LocalStorage


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Record what is renamed, synced and written, in order."""
    made: list[tuple[str, str]] = []
    adopt, sync, write = LocalStorage.adopt, LocalStorage.sync, LocalStorage.write

    def adopt_too(self: LocalStorage, files: Mapping[str, Path]) -> None:
        made.extend(("rename", name) for name in files)
        adopt(self, files)

    def sync_too(self: LocalStorage, names: Iterable[str]) -> None:
        listed = list(names)
        made.extend(("sync", name) for name in listed)
        sync(self, listed)

    def write_too(self: LocalStorage, name: str, data: bytes) -> None:
        made.append(("write", name))
        write(self, name, data)

    monkeypatch.setattr(LocalStorage, "adopt", adopt_too)
    monkeypatch.setattr(LocalStorage, "sync", sync_too)
    monkeypatch.setattr(LocalStorage, "write", write_too)
    return made


def test_names_are_synced_before_the_sidecar_says_that_a_shard_is_done(
    calls: list[tuple[str, str]], tmp_path: Path
) -> None:
    run_job(NumbersJob(count=20), tmp_path / "out", workers=1)
    for number in range(2):
        done = calls.index(("rename", f".pixelmill/shard-{number:05d}.json"))
        for name in (f"data-{number:05d}-of-00002", f"index/{number:05d}.idx"):
            assert calls.index(("rename", name)) < calls.index(("sync", name)) < done
    # The manifest is renamed into place as well, after the list that it mentions.
    assert calls.index(("sync", "list.txt")) < calls.index(("rename", "manifest.json"))
    assert ("sync", "manifest.json") in calls


def test_output_that_need_not_be_durable_is_not_synced(calls: list[tuple[str, str]], tmp_path: Path) -> None:
    run_job(NumbersJob(count=20), tmp_path / "out", workers=1, plain=True, durable=False)
    assert not [name for what, name in calls if what == "sync" and name.startswith("data-")]
    assert [name for what, name in calls if what == "rename" and name.startswith("data-")]


def test_the_manifest_has_the_hash_of_every_file(tmp_path: Path) -> None:
    """Of the files that are written after all shards too: resuming and `verify` compare them."""
    run_job(NumbersJob(count=20), tmp_path / "out", workers=1)
    finished = json.loads((tmp_path / "out" / "manifest.json").read_text())
    listed = [*finished["files"], *(file for entry in finished["entries"] for file in entry["files"])]
    assert len(listed) == 5
    for file in listed:
        assert file["sha256"] == hashlib.sha256((tmp_path / "out" / file["name"]).read_bytes()).hexdigest()


@pytest.mark.parametrize("rest", [b"", b"rest", bytes(3 << 20)])
def test_a_beginning_that_is_written_again_is_hashed(rest: bytes, tmp_path: Path) -> None:
    with OutputStream(tmp_path / "x", shown="x") as stream:
        stream.write(b"head")
        stream.write(rest)
        for offset, whence in ((1, 0), (0, 1), (0, 2)):
            with pytest.raises(ArgumentError, match="only be written again from its beginning"):
                stream.seek(offset, whence)
        assert stream.tell() == 4 + len(rest)
        assert stream.seek(0) == 0
        stream.write(b"HEAD")
        assert stream.tell() == 4
    assert (tmp_path / "x").read_bytes() == b"HEAD" + rest
    found = stream.record("x")
    assert (found.bytes, found.sha256) == (4 + len(rest), hashlib.sha256(b"HEAD" + rest).hexdigest())
