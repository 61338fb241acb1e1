"""Files on their way to a store: in memory while there is room, then in the scratch folder, with the same record."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from pixelmill.errors import ArgumentError
from pixelmill.jobs import upload_stream
from pixelmill.jobs.output_stream import FileRecord, OutputStream
from pixelmill.jobs.upload_stream import Blocks, Memory, UploadStream

PIECES = [b"head", b"x" * (1 << 17), b"", memoryview(b"y" * (1 << 18)), b"tail"]
ALL = b"".join(PIECES)


def content_of(stream: OutputStream) -> bytes:
    content = stream.content
    return content.read_bytes() if isinstance(content, Path) else b"".join(content)


def memory_of(stream: OutputStream) -> int:
    assert not isinstance(stream.content, Path)
    return sum(memoryview(piece.obj).nbytes for piece in stream.content)


def written(stream: UploadStream) -> bytes:
    with stream:
        stream.writelines(PIECES)
        assert stream.tell() == len(ALL)
    return content_of(stream)


@pytest.mark.parametrize("room", [len(ALL), len(ALL) - 1, 1 << 16, 0])
def test_content_and_record_do_not_depend_on_the_room(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_stream, "_IN_MEMORY", room)
    stream = UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory())
    assert written(stream) == ALL
    assert stream.record("data.bin") == FileRecord("data.bin", len(ALL), hashlib.sha256(ALL).hexdigest())
    assert (tmp_path / "0").exists() is (room < len(ALL))
    with pytest.raises(ArgumentError, match="already closed"):
        stream.write(b"more")


def test_files_of_a_shard_share_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_stream, "_IN_MEMORY", len(ALL) + 10)
    memory = Memory()
    streams = [UploadStream(tmp_path / str(n), shown="file", durable=False, memory=memory) for n in range(3)]
    with streams[0], streams[2]:
        streams[0].write(ALL)
        assert written(streams[1]) == ALL  # no room is left
        streams[2].write(b"few")
    assert [isinstance(stream.content, Path) for stream in streams] == [False, True, False]
    assert streams[1].record("file").sha256 == ""


def test_a_file_that_leaves_memory_makes_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_stream, "_IN_MEMORY", 3 << 16)
    memory = Memory()
    streams = [UploadStream(tmp_path / str(n), shown="file", durable=False, memory=memory) for n in range(2)]
    with streams[0], streams[1]:
        streams[0].write(bytes(1 << 17))
        streams[0].write(bytes(1 << 17))
        streams[1].write(bytes(3 << 16))
    assert [isinstance(stream.content, Path) for stream in streams] == [True, False]


@pytest.mark.parametrize("room", [1000, 160, 100, 0, None])
def test_a_beginning_can_be_written_again(room: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if room is None:
        stream: OutputStream = OutputStream(tmp_path / "0", shown="data.bin")
    else:
        monkeypatch.setattr(upload_stream, "_IN_MEMORY", room)
        stream = UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory())
    with stream:
        stream.write(bytes(150))
        assert stream.seek(0) == 0
        stream.write(b"head")
        stream.flush()
        stream.write(b"er" * 100)  # beyond the old end
        assert stream.tell() == 204
        with pytest.raises(ArgumentError, match="only be written again from its beginning"):
            stream.seek(5)
    expected = b"head" + b"er" * 100
    assert content_of(stream) == expected
    assert stream.record("a") == FileRecord("a", 204, hashlib.sha256(expected).hexdigest())


@pytest.mark.parametrize("room", [1000, 0])
def test_the_rest_stays_after_a_new_beginning(room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_stream, "_IN_MEMORY", room)
    with UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory()) as stream:
        stream.write(b"....tail")
        stream.seek(0)
        stream.write(b"head")
    assert content_of(stream) == b"headtail"
    assert stream.record("a") == FileRecord("a", 8, hashlib.sha256(b"headtail").hexdigest())


def test_the_first_piece_is_kept_as_it_is_and_others_are_gathered(tmp_path: Path) -> None:
    """A thread that hashes or sends a file waits for the interpreter's lock with each piece."""
    image, buffer = bytes(1 << 17), bytearray(b"y" * (1 << 17))
    with UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory()) as stream:
        stream.write(image)
        for _ in range(200):
            stream.write(b"header")
            stream.write(buffer)
        buffer[:] = b"x" * len(buffer)
    assert not isinstance(stream.content, Path)
    expected = image + (b"header" + b"y" * len(buffer)) * 200
    assert content_of(stream) == expected
    assert stream.record("data.bin").sha256 == hashlib.sha256(expected).hexdigest()
    assert stream.content[0].obj is image
    sizes = [len(piece) for piece in stream.content]
    assert len(sizes) <= 7 and max(sizes) == upload_stream._BLOCK
    assert memory_of(stream) < len(expected) + upload_stream._BLOCK


def test_a_small_piece_of_a_large_object_does_not_keep_it(tmp_path: Path) -> None:
    long = b"z" * (1 << 20)
    with UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory()) as stream:
        stream.write(memoryview(long)[: 1 << 16])
    assert not isinstance(stream.content, Path)
    assert content_of(stream) == long[: 1 << 16]
    assert stream.content[0].obj is not long


def test_small_files_take_little_memory(tmp_path: Path) -> None:
    with UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory()) as stream:
        for _ in range(3):
            stream.write(bytearray(1 << 16))
    assert not isinstance(stream.content, Path)
    assert memory_of(stream) <= 4 << 16


def test_files_of_later_shards_use_the_blocks_of_earlier_ones(tmp_path: Path) -> None:
    blocks = Blocks()
    used: list[set[int]] = []
    for _ in range(3):
        stream = UploadStream(tmp_path / "0", shown="data.bin", durable=True, memory=Memory(blocks))
        pieces = [os.urandom(5 << 20) for _ in range(5)]
        with stream:
            stream.writelines(pieces)
        assert content_of(stream) == b"".join(pieces)
        assert stream.record("data.bin").sha256 == hashlib.sha256(b"".join(pieces)).hexdigest()
        assert not isinstance(stream.content, Path)
        used.append({id(piece.obj.base) for piece in stream.content if isinstance(piece.obj, np.ndarray)})
        assert len(used[-1]) == 3
        stream.release()
        assert stream.content == []
    assert used[0] == used[1] == used[2]


def test_a_block_that_is_being_read_is_not_used_again() -> None:
    blocks = Blocks()
    first, second = blocks.take(), blocks.take()
    assert len(first) == len(second) == upload_stream._BLOCK
    first[-1], second[-1] = 1, 2
    read = first[5:9]
    del first, second
    third = blocks.take()
    assert third[-1] == 2
    fourth = blocks.take()
    fourth[-1] = 4
    del read
    assert [blocks.take()[-1], third[-1], fourth[-1]] == [1, 2, 4]


def test_a_file_that_leaves_memory_gives_its_blocks_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_stream, "_IN_MEMORY", 12 << 20)
    memory = Memory()
    with UploadStream(tmp_path / "0", shown="data.bin", durable=False, memory=memory) as stream:
        for _ in range(13):
            stream.write(bytes(1 << 20))
        assert len(memory.blocks._free) == 1
    assert content_of(stream) == bytes(13 << 20)
