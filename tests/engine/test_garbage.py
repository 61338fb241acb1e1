"""Pipelines that the garbage collector frees at the worst moments: nothing may hang, and all threads end."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import garbage_program
import numpy as np
import pytest
from locations import SUPPORT
from peers import needs
from PIL import Image

from pixelmill import EngineError, Pipeline, _core, fn
from pixelmill.engine import pillow_decoder

PROGRAM = SUPPORT / "garbage_program.py"
# How many are dropped at each place; the frameworks take the time of their import, and DALI that of its pipelines.
COUNTS = {"native": 100, "with_python": 100, "dali": 60, "pytorch": 40, "tf": 10, "jax": 40, "lightning": 40}
LONG = 120.0  # seconds that nothing takes, on a busy machine either


@pytest.mark.parametrize("maker", garbage_program.MAKERS)
def test_pipelines_are_freed_anywhere(maker: str) -> None:
    command = [sys.executable, str(PROGRAM), maker, str(COUNTS[maker])]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=280, env=environment)
    places = [place.__name__ for place in garbage_program.PLACES]
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    assert result.stdout.split()[:-2] == places
    assert int(result.stdout.split()[-2]) >= len(places) * COUNTS[maker]
    assert "nanobind" not in result.stderr and "Traceback" not in result.stderr, result.stderr


# Dropping does not wait for work


def soon(holds: Callable[[], Any]) -> bool:
    """Whether something becomes true."""
    deadline = time.monotonic() + LONG
    while not holds() and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    return bool(holds())


def in_time(call: Callable[[], Any]) -> bool:
    """Whether a call returns; it gets a thread of its own, as it may not."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(LONG)
    return not thread.is_alive()


def tasks() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


class Gate:
    """A place where work waits until it is let through."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_through(self, value: Any) -> Any:
        self.reached.set()
        self.opened.wait(2 * LONG)
        return value


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


@pytest.fixture
def slow_decoder(gate: Gate) -> Iterator[Gate]:
    """Let the decoder that native threads call wait at the gate."""
    _core.set_foreign_decoder(lambda *arguments: gate.pass_through(pillow_decoder.decode(*arguments)))
    yield gate
    gate.opened.set()
    _core.set_foreign_decoder(pillow_decoder.decode)


def encoded() -> Any:
    file = io.BytesIO()
    Image.new("RGB", (5, 4)).save(file, "webp")
    return np.frombuffer(file.getvalue(), np.uint8).copy()


def decoding(*files: Any) -> Pipeline:
    """Make a pipeline whose only native thread decodes these files, a batch each, and begin all batches."""
    pipe = Pipeline(1, 1, None, prefetch_queue_depth=len(files))
    with pipe:
        pipe.set_outputs(fn.decoders.image(fn.external_source(source=[[file] for file in files], no_copy=True)))
    for _ in files:
        pipe.schedule_run()
    return pipe


def test_native_work_is_not_waited_for_and_keeps_its_inputs(slow_decoder: Gate) -> None:
    before, file = tasks(), encoded()
    alive = weakref.ref(file)
    pipe = decoding(file)
    del file
    assert slow_decoder.reached.wait(LONG)
    held = [pipe]
    held.append(held)
    del pipe, held
    assert in_time(gc.collect)
    assert alive() is not None  # a native thread still reads it
    slow_decoder.opened.set()
    assert soon(lambda: alive() is None) and soon(lambda: tasks() <= before)


@pytest.mark.parametrize("engine", ["native", "dali"])
def test_a_function_is_not_waited_for(engine: str, gate: Gate) -> None:
    before = threading.active_count()
    pipe = garbage_program.pipeline(engine, gate.pass_through)
    gone = weakref.ref(pipe)
    pipe.schedule_run()
    assert gate.reached.wait(LONG)
    held = [pipe]
    held.append(held)
    del pipe, held
    assert in_time(gc.collect) and gone() is None
    gate.opened.set()
    assert soon(lambda: threading.active_count() <= before)


@pytest.mark.parametrize("engine", ["native", "dali"])
def test_a_pipeline_that_its_own_function_refers_to_is_freed(engine: str) -> None:
    before = threading.active_count()

    class Owner:
        def __init__(self) -> None:
            self.pipe = garbage_program.pipeline(engine, self.same)
            self.pipe.run()

        def same(self, image: Any) -> Any:
            return image

    gone = weakref.ref(Owner())
    assert soon(lambda: gone() is None) and soon(lambda: threading.active_count() <= before)


# Closing waits, and ends what waits


@pytest.mark.parametrize("engine", ["native", "dali"])
def test_a_function_may_close_its_own_pipeline(engine: str) -> None:
    before = threading.active_count()
    begun, closed = threading.Event(), threading.Event()

    def close(image: Any) -> Any:
        begun.wait(LONG)
        pipe.close()
        closed.set()
        return image

    pipe = garbage_program.pipeline(engine, close)
    pipe.schedule_run()
    begun.set()
    assert closed.wait(LONG) and soon(lambda: threading.active_count() <= before)


def test_a_batch_that_closing_drops_is_not_waited_for(slow_decoder: Gate) -> None:
    pipe = decoding(encoded(), encoded())
    assert slow_decoder.reached.wait(LONG)
    assert pipe._schedule is not None
    first, second = (scheduled.pending for scheduled in pipe._schedule.queue)
    closing = threading.Thread(target=pipe.close)
    closing.start()
    with pytest.raises(EngineError, match="the pipeline was closed; create a new one"):
        second.result()
    assert closing.is_alive()  # it waits for the first
    slow_decoder.opened.set()
    closing.join(LONG)
    assert not closing.is_alive() and len(first.result().outputs) == 1


# The end of the interpreter


def ended(body: str) -> subprocess.CompletedProcess[str]:
    program = textwrap.dedent(body)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=2 * LONG)


@needs("tensorflow")
def test_the_interpreter_waits_for_threads_whose_pipeline_is_gone() -> None:
    result = ended(f"""
        import gc, os, sys, threading, time
        sys.path.insert(0, {str(PROGRAM.parent)!r})
        import garbage_program

        def late(image, begun):
            begun.set()
            ending.wait()
            time.sleep(0.3)
            os.write(1, b"late\\n")  # print writes the end of the line apart, so other threads may write between
            return image

        ending = threading.Event()
        for engine in ("native", "dali"):
            begun = threading.Event()  # of this engine alone: the other may still work on its second image
            pipe = garbage_program.pipeline(engine, lambda image, begun=begun: late(image, begun), batch_size=2)
            pipe.schedule_run()
            begun.wait()
            del pipe
            gc.collect()
        os.write(1, b"end\\n")
        ending.set()
    """)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.split() == ["end"] + ["late"] * 4


def test_no_thread_starts_after_the_threads_were_ended() -> None:
    result = ended("""
        import atexit
        def run():
            for made in (pipe, Pipeline(1, 1, None)):
                if made is not pipe:
                    with made:
                        source = fn.external_source(source=lambda: [[1]], batch=True)
                        made.set_outputs(fn.python_function(source, function=lambda value: value))
                try:
                    made.run()
                except EngineError as error:
                    print(error)
        atexit.register(run)  # runs after hooks that are registered later
        from pixelmill import EngineError, Pipeline, fn
        pipe = Pipeline(1, 1, None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(fn.flip(fn.random.uniform(shape=[4, 4, 3])))
        pipe.run()
    """)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == ["the pipeline was closed; create a new one"] * 2
