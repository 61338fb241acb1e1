"""Index files of records at addresses: used only if they cover the whole file."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from peers import peer

from pixelmill import storage
from pixelmill.formats import remote_records
from pixelmill.formats.remote_records import keys_and_offsets, offsets_and_lengths

fsspec = peer("fsspec")


def listed(index: str, places: Callable[..., list[tuple[int, int]]], size: int = 30) -> list[tuple[int, int]] | None:
    """Return offsets and lengths as the index of a file with `size` bytes lists them; None if it is not used."""
    address = f"memory://{uuid.uuid4().hex}/data"
    with fsspec.open(f"{address}.tfrecord", "wb") as file:
        file.write(bytes(size))
    with fsspec.open(f"{address}.idx", "wb") as file:
        file.write(index.encode())
    scan = remote_records.listed(f"{address}.tfrecord", places, storage.stat(f"{address}.tfrecord"))
    if scan is None:
        return None
    return list(zip(scan.index.offsets.tolist(), scan.index.lengths.tolist(), strict=True))


@pytest.mark.parametrize(
    ("index", "places", "expected"),
    [
        ("0 10\n10 15\n25 5\n", offsets_and_lengths, [(0, 10), (10, 15), (25, 5)]),
        ("0 30\n", offsets_and_lengths, [(0, 30)]),
        ("7\t25\n8\t0\n9\t10\n", keys_and_offsets, [(0, 10), (10, 15), (25, 5)]),
    ],
)
def test_an_index_that_covers_the_file_is_used(
    index: str, places: Callable[..., list[tuple[int, int]]], expected: list[tuple[int, int]]
) -> None:
    assert listed(index, places) == expected


@pytest.mark.parametrize(
    "index",
    [
        "",
        "0 10\n10 15\n",
        "5 5\n10 20\n",
        "0 10\n12 18\n",
        "0 12\n10 20\n",
        "0 10\n10 20\n30 5\n",
        "0 10\n10 20 30\n",
        "0 10\n10 x\n",
        "0 40\n40 -10\n",
    ],
)
def test_other_indexes_are_not(index: str) -> None:
    assert listed(index, offsets_and_lengths) is None
