"""Headers of npy files that the native reader refuses."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from pixelmill import DataError, fn, pipeline_def

WHOLE = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }"


def npy_file(path: Path, header: str) -> str:
    text = header.encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(6))
    return str(path)


def read(path: str) -> tuple[int, ...]:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def arrays() -> object:
        return fn.readers.numpy(files=[path])

    return tuple(arrays().run()[0].at(0).shape)


def test_a_whole_header_is_read(tmp_path: Path) -> None:
    assert read(npy_file(tmp_path / "a.npy", WHOLE)) == (2, 3)


# Python's dictionaries would take the last one: two programs could read two shapes from one file.
@pytest.mark.parametrize("twice", ["'descr': '|u1'", "'fortran_order': False", "'shape': (6,)"])
def test_a_key_that_occurs_twice_is_refused(tmp_path: Path, twice: str) -> None:
    with pytest.raises(DataError, match="each once"):
        read(npy_file(tmp_path / "a.npy", WHOLE.replace(" }", f" {twice}, }}")))
