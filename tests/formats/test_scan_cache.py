"""Cached scans: equal to new ones, and never used for another file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pixelmill.formats import index_cache, recordio, scan_cache, webdataset
from pixelmill.formats.recordio.scan import cached_scan as cached_recordio
from pixelmill.formats.webdataset import TarWriter
from pixelmill.formats.webdataset.scan import cached_scan as cached_tar

Scan = Callable[[str], Any]
Kind = tuple[Path, Scan, Scan, str]


def write_recordio(path: Path) -> None:
    with path.open("wb") as stream, recordio.RecordWriter(stream) as writer:
        for number in range(40):
            writer.write_image([number], number, bytes([number]) * (100 + 37 * number))


def write_tar(path: Path) -> None:
    with path.open("wb") as stream:
        writer = TarWriter(stream)
        for number in range(40):
            name = f"fol\udce4der/{'long' * (40 * (number % 2))}{number}"
            writer.write(f"{name}.jpg", bytes([number]) * (37 * number))
            writer.write(f"{name}.cls", b"1")
        writer.close()


def content(scan: Any) -> Any:
    if isinstance(scan, webdataset.TarScan):
        return scan
    return scan.index.offsets.tolist(), scan.index.lengths.tolist(), scan.index.paths, scan.faults


KINDS = {
    "recordio": (write_recordio, cached_recordio, recordio.scan, "recordio"),
    "tar": (write_tar, cached_tar, webdataset.scan, "webdataset"),
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kind:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(scan_cache, "CACHED_FROM", 1000)
    write, kept, scanned, place = KINDS[request.param]
    write(tmp_path / "data")
    return tmp_path / "data", kept, scanned, place  # type: ignore[return-value]


def forbid(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    def scan(path: str) -> None:
        raise AssertionError("the file is scanned")

    monkeypatch.setattr(sys.modules[f"pixelmill.formats.{place}.scan"], "scan", scan)


def test_the_second_time_nothing_is_scanned(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept, scanned, place = kind
    expected = content(scanned(str(path)))
    assert content(kept(str(path))) == expected
    forbid(monkeypatch, place)
    assert content(kept(str(path))) == expected


def test_another_file_is_scanned_again(kind: Kind) -> None:
    path, kept, scanned, _ = kind
    kept(str(path))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert content(kept(str(path))) == content(scanned(str(path)))
    assert kept(str(path)).faults


def test_a_cache_that_lies_is_not_believed(kind: Kind) -> None:
    path, kept, _, place = kind
    expected = content(kept(str(path)))
    name = "tar" if place == "webdataset" else place
    stamp = index_cache.stamp_of(str(path))
    found = index_cache.load(str(path), name, stamp=stamp)
    assert found is not None
    for column, values in found.items():
        for change in (values + 1, values[:-1], values[1:], values * 2, values * 0 - 1, values[:0]):
            lie = {**found, column: change.astype(values.dtype)}
            if column == "names" and len(change):
                continue  # names are not compared with the archive
            index_cache.store(str(path), name, lie, stamp=stamp)
            assert content(kept(str(path))) == expected, (column, change)


def test_damaged_and_small_files_are_not_kept(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept, _, _ = kind
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    assert kept(str(path)).faults and kept(str(path)).faults
    data[0] ^= 1
    path.write_bytes(data)
    monkeypatch.setattr(scan_cache, "CACHED_FROM", len(data) + 1)
    assert not kept(str(path)).faults
    assert not (path.parent / "cache").exists()


def test_time_counts(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept, _, place = kind
    kept(str(path))
    os.utime(path, ns=(1, 1))
    forbid(monkeypatch, place)
    with pytest.raises(AssertionError, match="scanned"):
        kept(str(path))
