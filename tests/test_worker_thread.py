"""The Python threads of engines, which may have to end themselves."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest
from running import HERE, make

from pixelmill import fn
from pixelmill.engine.own_thread import OwnThread


def test_a_pipeline_may_be_collected_by_its_own_thread():
    """A function of the user, which the thread of the pipeline calls, happens to look for garbage."""
    gc.collect()
    before = threading.active_count()
    asked, thrown_away, collected = 0, threading.Event(), threading.Event()

    def look(x):
        nonlocal asked
        asked += 1
        if asked == 2 and thrown_away.wait(20):
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
        pipe.__dict__["itself"] = pipe  # so that nobody but the collector frees it
        del pipe
        thrown_away.set()
        assert collected.wait(20) and gone() is None
    finally:
        gc.enable()
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before


def test_threads_that_wait_for_each_other_can_be_closed_by_one_of_them():
    both = first, second = OwnThread("one"), OwnThread("other")
    begun, closed = threading.Event(), threading.Event()

    def close_both():
        begun.wait(20)
        for thread in both:
            thread.close(among=both)
        closed.set()
        return 7

    given = first.submit(close_both)
    waiting = second.submit(lambda: (begun.set(), given.result(20)))
    assert closed.wait(20) and waiting.result(20)[1] == 7
    with pytest.raises(RuntimeError):
        first.submit(print)


def test_a_thread_ends_with_its_owner():
    """Also where nobody closes it."""
    before = threading.active_count()
    thread = OwnThread("forgotten")
    thread.submit(int).result(20)
    assert threading.active_count() == before + 1
    del thread
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before
