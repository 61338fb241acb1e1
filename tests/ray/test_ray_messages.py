"""Requests to actors and answers as bytes."""

from __future__ import annotations

import gc
import os
import weakref
from typing import Any

import numpy as np
import pytest

from pixelmill import _core
from pixelmill.ray.messages import Request, pack_answer, unpack_answer
from pixelmill.ray.shared_memory import Loans, Piece, receive, share


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_request_arrives_as_it_was(count: int) -> None:
    first, second = np.arange(count, dtype=np.uint32), np.arange(count, dtype=np.uint64) << 40
    arrays: list[Any] = [first, second, np.ones((count, 2), np.int64)]
    request = Request(("name", 2**63), True, None if count else 7, [3, 4], *arrays)
    found = Request.unpacked(request.packed())
    assert found[:4] == request[:4]
    received: list[Any] = list(found[4:])
    for mine, theirs in zip(arrays, received, strict=True):
        assert theirs.dtype == mine.dtype
        assert theirs.flags.aligned
        np.testing.assert_array_equal(mine, theirs)


def test_an_answer_arrives_as_it_was() -> None:
    piece = Piece(3, 4, 5, 64, "|u1", (2, 3))
    draws, boxes = np.array([[0.5], [np.nan]], np.float32), [np.ones((2, 4), np.float16), None, np.empty((0, 4))]
    troubles: Any = [(1, "not_found", "a\udcff.jpg", None, True, None), (0, "note", "ü", "Reader", False, 2)]
    outputs: list[Any] = [piece, draws, boxes, [piece, None], np.bool_(True).reshape(())]
    message = pack_answer(outputs, troubles)
    assert message is not None
    (first, second, third, fourth, fifth), found = unpack_answer(message)
    assert first == piece and isinstance(first, Piece)
    assert fourth == [piece, None]
    assert found == troubles
    np.testing.assert_array_equal(second, draws)
    assert isinstance(second, np.ndarray) and second.flags.writeable
    assert third[1] is None
    np.testing.assert_array_equal(third[0], boxes[0])
    assert isinstance(third[2], np.ndarray) and third[2].shape == (0, 4)
    assert isinstance(fifth, np.ndarray) and fifth.shape == () and fifth


def test_large_data_is_left_to_the_object_store() -> None:
    large = np.zeros(70_000, np.uint8)
    assert pack_answer([large], []) is None
    assert pack_answer([[large[:40_000], large[:40_000]]], []) is None
    assert pack_answer([large[:60_000]], []) is not None


def test_nothing_is_left_to_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        executor, loans = _core.Executor(1, shares=True), Loans(2)
        batch, labels = np.zeros((3, 30_000), np.uint8), np.ones(4)
        watched: list[weakref.ref[Any]] = [weakref.ref(batch), weakref.ref(labels)]
        assert pack_answer([batch, labels], []) is None
        sent, held = share([batch, labels], executor)
        watched += map(weakref.ref, held)
        message = pack_answer(sent, [])
        assert message is not None
        arrays: Any = receive(unpack_answer(message)[0], loans.ticket(0, os.getpid()), loans)
        watched += map(weakref.ref, arrays)
        del batch, labels, sent, held, arrays
        assert [array() for array in watched] == [None] * len(watched)
        assert loans.returned(0) == [0]
    finally:
        gc.enable()
