"""Memory that actors and trainer share: what is sent, what keeps it, and what is left when a process is killed."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pixelmill import _core
from pixelmill.ray import shared_memory
from pixelmill.ray.shared_memory import Lender, Loans, Piece, Proof, is_here, prove, receive, share

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory is shared on Linux only")


@pytest.fixture
def executor() -> Iterator[_core.Executor]:
    made = _core.Executor(1, shares=True)
    yield made
    made.close()


def mapped() -> int:
    """Count the mappings of shared memory in this process."""
    return Path("/proc/self/maps").read_text().count("/memfd:pixelmill")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def taken(sent: Any, process: int) -> list[Any]:
    loans = Loans(4)
    return receive(sent, loans.ticket(0, process), loans)


def pixels(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).integers(0, 256, shape, np.uint8)


# Another process: shares an array, says where it is, and waits until it is killed.
ACTOR = """
import json, sys, time
import numpy as np
from pixelmill import _core
from pixelmill.ray.shared_memory import prove, share
executor = _core.Executor(1, shares=True)
sent, held = share([np.full((4, 100, 100, 3), 7, np.uint8)], executor)
proof = prove()
print(json.dumps([[proof.process, proof.descriptor, proof.token.hex()], sent]), flush=True)
time.sleep(600)
"""


@pytest.fixture
def actor() -> Iterator[tuple[subprocess.Popen[str], Proof, Piece]]:
    with subprocess.Popen([sys.executable, "-c", ACTOR], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        (number, descriptor, token), ((*where, shape),) = json.loads(process.stdout.readline())
        yield process, Proof(number, descriptor, bytes.fromhex(token)), Piece._make([*where, tuple(shape)])
        process.kill()


def test_batches_outlive_the_actor_that_made_them_and_leave_nothing(
    actor: tuple[subprocess.Popen[str], Proof, Piece],
) -> None:
    process, proof, piece = actor
    assert is_here(proof)
    before = mapped()
    (array,) = taken([piece], proof.process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not is_here(proof)
    assert isinstance(array, np.ndarray)
    assert (array == 7).all()
    array += 1  # it is writable, and still there
    assert (array == 8).all()
    with pytest.raises(OSError):
        taken([piece], proof.process)
    assert mapped() == before + 1
    del array
    gc.collect()
    assert mapped() == before


def test_only_the_token_proves_that_a_process_is_here(tmp_path: Path) -> None:
    proof = prove()
    assert proof is not None
    assert is_here(proof)
    assert not is_here(proof._replace(token=bytes(32)))
    assert not is_here(proof._replace(token=proof.token[:-1]))
    assert not is_here(proof._replace(process=2**22 + 1))  # above all process IDs
    assert not is_here(proof._replace(descriptor=10**6))
    assert not is_here(None)
    assert os.fstat(proof.descriptor).st_mode & 0o777 == 0o600
    os.close(proof.descriptor)


def test_what_a_process_of_the_same_number_has_open_is_left_alone() -> None:
    reading, writing = os.pipe()
    try:
        for descriptor in (reading, writing):  # an empty pipe would be waited for
            assert not is_here(Proof(os.getpid(), descriptor, b"data"))
        os.write(writing, b"data")
        assert not is_here(Proof(os.getpid(), reading, b"data"))
        with pytest.raises(OSError, match="another file"):
            taken([Piece(reading, 1, os.fstat(reading).st_ino, 0, "|u1", (4,))], os.getpid())
        assert os.read(reading, 100) == b"data"
    finally:
        os.close(reading)
        os.close(writing)


def test_a_system_without_such_files_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> int:
        raise OSError("no memory")

    monkeypatch.setattr(os, "write", fails)
    assert prove() is None
    monkeypatch.delattr(os, "memfd_create")
    assert prove() is None


def test_large_arrays_and_lists_are_shared_and_others_sent(executor: _core.Executor) -> None:
    small, large, turned = pixels(4, 3), pixels(2, 200, 100, 3), pixels(300, 400).T
    ragged: Any = [pixels(150, 200, 3), None, pixels(0, 4, 3), pixels(7, 5, 3), pixels(80, 90, 1)]
    outputs = [small, large, turned, ragged]
    sent, held = share(outputs, executor)
    assert sent[0] is small
    assert isinstance(sent[1], Piece) and isinstance(sent[2], Piece)
    assert len(held) == 3
    found: Any = taken(sent, os.getpid())
    for expected, got in zip([*outputs[:3], *ragged], [*found[:3], *found[3]], strict=True):
        assert (expected is None) == (got is None)
        if expected is not None:
            assert got.flags.writeable
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
    assert all(array is None or array.ctypes.data % 64 == 0 for array in found[3] if array is None or array.size)


def test_what_the_engine_wrote_to_shared_memory_is_not_copied(executor: _core.Executor) -> None:
    block: Any = executor.shared_block(100_000)
    batch = block[64:].view(np.uint16).reshape(2, -1)
    (piece,), held = share([batch], executor)
    assert isinstance(piece, Piece)
    assert piece.offset == 64
    assert held[0] is batch
    (array,) = taken([piece], os.getpid())
    batch[1, 5] = 999
    assert array[1, 5] == 999
    assert os.fstat(piece.descriptor).st_mode & 0o777 == 0o600
    turned = block[:90_000].reshape(300, 300).T
    turned[3, 7] = 1
    np.testing.assert_array_equal(taken(share([turned], executor)[0], os.getpid())[0], turned)


def test_memory_is_private_sealed_and_reused(executor: _core.Executor) -> None:
    import fcntl

    inodes = set()
    for size in [200_000, 200_000, 150_000, 199_000] * 5:
        (piece,), held = share([np.ones(size, np.uint8)], executor)
        assert isinstance(piece, Piece)
        inodes.add(piece.inode)
        assert fcntl.fcntl(piece.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
        with pytest.raises(OSError):
            os.ftruncate(piece.descriptor, 10)
        del held
    assert len(inodes) == 1


def test_blocks_of_ever_new_sizes_are_closed(executor: _core.Executor) -> None:
    before = open_files()
    for number in range(40):
        executor.shared_block(100_000 * (number % 20 + 1) ** 2)
    assert open_files() <= before + 8  # those that are spare
    executor.close()


def test_without_memory_to_share_arrays_are_sent() -> None:
    executor = _core.Executor(1, shares=False)
    outputs = [pixels(2, 200, 100, 3), [pixels(300, 300), pixels(30, 300)]]
    sent, held = share(outputs, executor)
    assert sent[0] is outputs[0] and sent[1] is outputs[1]
    assert held == []


def test_a_descriptor_that_names_another_file_is_noticed(executor: _core.Executor) -> None:
    (piece,), held = share([pixels(300, 300)], executor)
    assert isinstance(piece, Piece)
    with pytest.raises(OSError, match="another file"):
        taken([piece._replace(inode=piece.inode + 1)], os.getpid())
    del held


def test_memory_comes_back_when_no_array_refers_to_it(executor: _core.Executor) -> None:
    loans, lender = Loans(4), Lender()
    ticket = loans.ticket(3, os.getpid())
    number = ticket.number
    sent, held = share([pixels(300, 300), pixels(200, 200, 2)], executor)
    lender.lend(number, held)
    first, second = receive(sent, ticket, loans)
    del ticket, held
    view = second[5:7] if isinstance(second, np.ndarray) else None
    assert loans.returned(3) == []
    del first, second
    assert loans.returned(3) == []
    del view
    assert loans.returned(4) == []
    assert loans.returned(3) == [number]
    assert loans.returned(3) == []


def test_memory_that_was_mapped_stays_mapped_for_a_while(executor: _core.Executor) -> None:
    loans = Loans(1)
    blocks: list[Any] = [executor.shared_block(70_000) for _ in range(6)]
    before = mapped()
    for _ in range(3):
        for block in blocks[:4]:
            (piece,), _ = share([block], executor)
            block[:] += 1
            (array,) = receive([piece], loans.ticket(2, os.getpid()), loans)
            np.testing.assert_array_equal(array, block)
        assert mapped() == before + 4
    for block in blocks:
        (piece,), _ = share([block], executor)
        receive([piece], loans.ticket(2, os.getpid()), loans)
    assert mapped() == before + 4
    del array
    loans.forget(2)
    assert mapped() == before


def test_a_batch_that_nobody_waits_for_may_be_given_back_before_it_is_run() -> None:
    lender = Lender()
    lender.take_back([5])
    assert lender.is_unwanted(5)
    assert not lender.is_unwanted(6)
    lender.lend(5, [pixels(3)])
    lender.lend(6, [pixels(3)])
    assert not lender.is_unwanted(5)
    assert list(lender._lent) == [6]
    lender.take_back([6])
    assert not lender._lent and not lender._unwanted


def test_a_bounded_number_of_batches_may_be_kept() -> None:
    loans = Loans(2)
    tickets = [loans.ticket(0, 1) for _ in range(4)]
    assert [loans.may_keep(ticket) for ticket in tickets] == [True, True, False, False]
    del tickets[0]
    assert loans.may_keep(loans.ticket(0, 1))
    loans.forget(0)
    tickets.clear()
    assert loans._to_return == {}
    assert shared_memory._LEAST_BYTES <= 64 << 10
