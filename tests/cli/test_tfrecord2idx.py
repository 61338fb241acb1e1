"""tfrecord2idx with files that it cannot index: a status and one sentence for each."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from pixelmill.formats.tfrecord import RecordWriter


def run(*names: object) -> tuple[int, str]:
    command = [sys.executable, "-m", "pixelmill.cli.tfrecord2idx", *map(str, names)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout == ""
    return result.returncode, result.stderr


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "data.tfrecord"
    with path.open("wb") as stream, RecordWriter(stream) as writer:
        for payload in (b"one", b"two", b"three"):
            writer.write(payload)
    return path


def test_a_single_file_has_its_index_beside_it(records: Path) -> None:
    assert run(records) == (0, "")
    assert Path(f"{records}.idx").read_text("ascii") == "0 19\n19 19\n38 21\n"


def test_files_without_a_partner_are_refused(records: Path) -> None:
    assert run(records, "a", "b") == (2, "Error: 3 names cannot be pairs of a TFRecord file and an index file\n")


def test_the_data_are_not_overwritten(records: Path) -> None:
    before = records.read_bytes()
    assert run(records, records) == (2, f"Error: {records} is the data itself\n")
    assert records.read_bytes() == before


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    status, said = run(tmp_path / "none")
    assert status == 1 and said.startswith("Error: ") and str(tmp_path / "none") in said


def test_a_gzip_file_is_refused(records: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.tfrecord.gz"
    packed.write_bytes(gzip.compress(records.read_bytes()))
    sentence = f"Error: {packed} is a gzip file, whose records have no byte offset; unpack it first\n"
    assert run(packed) == (1, sentence)


def test_records_that_are_lost_are_told_and_the_others_indexed(records: Path) -> None:
    data = bytearray(records.read_bytes())
    data[19 + 8] ^= 1  # in the checksum of the second length; those of payloads are checked by readers
    records.write_bytes(data)
    status, said = run(records)
    assert status == 3 and "checksum" in said
    assert Path(f"{records}.idx").read_text("ascii") == "0 19\n38 21\n"
