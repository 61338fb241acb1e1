"""The Python threads of engines, which may have to end themselves."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import CancelledError

import pytest
from dali_runs import HERE, make

from pixelmill import EngineError, fn
from pixelmill.engine.worker_thread import WorkerThread, close

LONG = 120.0  # seconds that nothing takes, on a busy machine either


class Thing:
    """Something that weak references can see the end of."""


def ends(before):
    """Whether there are soon no more threads than before; those of other tests may end meanwhile."""
    deadline = time.monotonic() + LONG
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    return threading.active_count() <= before


def held(thread):
    """Keep a thread busy; return what it waits for."""
    begun, let_go = threading.Event(), threading.Event()
    thread.submit(lambda: (begun.set(), let_go.wait(LONG)))
    assert begun.wait(LONG)
    return let_go


def test_a_pipeline_may_be_collected_by_its_own_thread():
    """A function of the user, which the thread of the pipeline calls, happens to look for garbage."""
    gc.collect()
    before = threading.active_count()
    asked, thrown_away, collected = 0, threading.Event(), threading.Event()

    def look(x):
        nonlocal asked
        asked += 1
        if asked == 2 and thrown_away.wait(LONG):
            gc.collect()
            collected.set()
        return x

    def graph(m):
        return fn.python_function(fn.random.uniform(shape=[2]), function=look)

    gc.disable()
    try:
        pipe = make(HERE, graph, batch_size=1, num_threads=2, prefetch_queue_depth=2)
        pipe.run()
        gone = weakref.ref(pipe)
        pipe.__dict__["itself"] = pipe  # so that only the collector frees it
        del pipe
        thrown_away.set()
        assert collected.wait(LONG) and gone() is None
    finally:
        gc.enable()
    assert ends(before)


def test_calls_are_made_in_turn():
    thread = WorkerThread("counting")
    made = []
    futures = [thread.submit(made.append, number) for number in range(100)]
    assert [future.result(LONG) for future in futures] == [None] * 100 and made == list(range(100))
    with pytest.raises(ZeroDivisionError):
        thread.submit(divmod, 1, 0).result(LONG)
    assert thread.submit(divmod, 7, 4).result(LONG) == (1, 3)
    thread.close()


def test_close_waits_for_the_call_under_way_and_cancels_the_others():
    before = threading.active_count()
    thread = WorkerThread("busy")
    let_go = held(thread)
    waiting = thread.submit(int)
    closing = threading.Thread(target=thread.close)
    closing.start()
    thread.signal_stop()
    let_go.set()
    closing.join(LONG)
    assert threading.active_count() == before
    with pytest.raises(CancelledError):
        waiting.result(LONG)
    with pytest.raises(EngineError, match="closed"):
        thread.submit(int)
    thread.close()


def test_threads_that_wait_for_each_other_can_be_closed_by_one_of_them():
    both = first, second = WorkerThread("one"), WorkerThread("other")
    before = threading.active_count()
    begun, closed = threading.Event(), threading.Event()

    def close_both():
        begun.wait(LONG)
        waited = close(both)
        closed.set()
        return waited

    given = first.submit(close_both)
    waiting = second.submit(lambda: (begun.set(), given.result(LONG)))
    assert closed.wait(LONG) and waiting.result(LONG)[1] is False
    with pytest.raises(EngineError):
        first.submit(print)
    assert ends(before) and close(both) is True


def test_a_thread_ends_with_its_owner():
    """Also if it is not closed."""
    before = threading.active_count()
    thread = WorkerThread("forgotten")
    thread.submit(int).result(LONG)
    assert threading.active_count() == before + 1
    del thread
    assert ends(before)


def test_a_thread_that_waits_keeps_nothing_alive():
    thread = WorkerThread("idle")
    things = [Thing(), Thing()]
    gone = [weakref.ref(thing) for thing in things]
    thread.submit(id, things.pop()).result(LONG)
    with pytest.raises(TypeError):
        thread.submit(len, things.pop()).result(LONG)
    gc.disable()
    try:
        deadline = time.monotonic() + LONG
        while any(ref() is not None for ref in gone) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()
        thread.close()


def test_the_last_call_comes_before_the_others_are_dropped():
    """What they hold may be in use until then."""
    thing, alive = Thing(), []
    gone = weakref.ref(thing)
    thread = WorkerThread("last", last=lambda: alive.append(gone() is not None))
    let_go = held(thread)
    thread.submit(id, thing)
    del thing
    thread.signal_stop()
    let_go.set()
    thread.close()
    assert alive == [True] and gone() is None


def test_a_thread_that_was_never_needed_is_never_started():
    before = threading.active_count()
    thread = WorkerThread("unused", last=pytest.fail)
    thread.close()
    with pytest.raises(EngineError):
        thread.submit(int)
    assert threading.active_count() == before


def test_only_one_thread_is_started_by_many(monkeypatch):
    class Slow(threading.Thread):
        def __init__(self, *arguments, **options):
            time.sleep(0.2)  # so that all ask before it is there
            super().__init__(*arguments, **options)

    before = threading.active_count()
    thread = WorkerThread("shared")
    idents, ready = set(), threading.Barrier(8)

    def ask():
        ready.wait(LONG)
        idents.add(thread.submit(threading.get_ident).result(LONG))

    asking = [threading.Thread(target=ask) for _ in range(8)]
    monkeypatch.setattr(threading, "Thread", Slow)
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    assert len(idents) == 1 and threading.active_count() == before + 1
    thread.close()
