"""Drops pipelines in reference cycles while other code holds locks. test_garbage.py runs it: MAKER COUNT.

The garbage collector finds the cycles. It runs at every line of the modules that hold locks, in callbacks, and wherever
Python allocates. All threads must end afterward. A hang ends with the stacks of all threads.
"""

from __future__ import annotations

import concurrent.futures
import faulthandler
import gc
import importlib
import io
import logging
import queue
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import pixelmill
from pixelmill import Loader, Pipeline, fn

HANGS_AFTER = 200  # seconds; a place takes one or two on an idle machine, and so do the imports
ENDS_WITHIN = 120
OTHER_THREADS = 8  # that frameworks may start meanwhile; every pipeline has two or more
IMPORTS = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
FUTURES = str(Path(concurrent.futures.__file__).parent)
OWN = str(Path(pixelmill.__file__).parent)


def pipeline(engine: str = "native", function: Callable[[Any], Any] | None = None, **options: Any) -> Pipeline:
    """Make a pipeline with two batches ahead; the one with a function has a Python thread on the native engine."""
    images = [np.zeros((6, 8, 3), np.uint8)] * 2
    pipe = Pipeline(**{"batch_size": 2, "num_threads": 2, "device_id": None, "seed": 7, "engine": engine, **options})
    with pipe:
        image = fn.external_source(source=lambda: images, layout="HWC")
        if function is not None:
            image = fn.python_function(image, function=function)
        pipe.set_outputs(fn.flip(image))
    return pipe


def native() -> Any:
    """Native threads alone."""
    pipe = pipeline()
    pipe.run()
    return pipe


def with_python() -> Any:
    """Native threads and one of Python."""
    pipe = pipeline(function=lambda image: image)
    pipe.run()
    return pipe


def dali() -> Any:
    """DALI's operators for the CPU, after a function of Python."""
    pipe = pipeline("dali", function=lambda image: image)
    pipe.run()
    return pipe


def pytorch() -> Any:
    from pixelmill.plugin.pytorch import DALIGenericIterator

    batches = DALIGenericIterator(pipeline(function=lambda image: image), ["images"])
    next(batches)
    return batches


def tf() -> Any:
    import tensorflow

    from pixelmill.plugin.tf import DALIDataset

    pipe = pipeline(function=lambda image: image)
    arguments = {"output_dtypes": tensorflow.uint8, "batch_size": 2, "num_threads": 1, "device_id": None}
    options = tensorflow.data.Options()
    options.autotune.enabled = False  # the thread that tunes lets the end of an iterator wait for seconds
    batches = iter(DALIDataset(pipe, **arguments).with_options(options))
    next(batches)
    return batches


def jax() -> Any:
    from pixelmill.plugin.jax.clu import DALIGenericPeekableIterator

    batches = DALIGenericPeekableIterator(pipeline(function=lambda image: image), ["images"])
    batches.peek_async()
    return batches


def lightning() -> Any:
    from pixelmill.plugin.lightning import PipelineDataModule

    pipe = pipeline(function=lambda image: image)
    data = PipelineDataModule(Loader(pipe, ["images"]))
    steps = iter(data.train_dataloader())
    next(steps)
    return [data, steps]


MAKERS = {made.__name__: made for made in (native, with_python, dali, pytorch, tf, jax, lightning)}


class Garbage:
    """Things that only the garbage collector can free.

    Args:
        make: What makes one.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._kept: list[Any] = []
        self.dropped = 0

    def fill(self, count: int) -> None:
        """Make things to be dropped later, where no lock is held."""
        for _ in range(count):
            cycle = [self._make()]
            cycle.append(cycle)
            self._kept.append(cycle)

    def __bool__(self) -> bool:
        return bool(self._kept)

    def drop(self) -> None:
        """Drop one without collecting it."""
        with suppress(IndexError):
            self._kept.pop()
            self.dropped += 1

    def collect(self) -> None:
        """Drop one and collect it here and now."""
        self.drop()
        gc.collect()

    @contextmanager
    def collected_in(self, *files: str) -> Iterator[None]:
        """Drop and collect one at every line of these files, in this thread and in new ones, whatever is held there."""

        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if not self._kept or not frame.f_code.co_filename.startswith(files):
                return None
            if event == "line":
                sys.settrace(None)
                self.collect()
                sys.settrace(trace)
            return trace

        threading.settrace(trace)
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)


class Collecting(logging.Handler):
    """Collects garbage where a handler's lock is held."""

    def __init__(self, garbage: Garbage) -> None:
        super().__init__()
        self._garbage = garbage

    def emit(self, record: logging.LogRecord) -> None:
        self._garbage.collect()


def threads(garbage: Garbage) -> None:
    thread = threading.Thread(target=int)
    with garbage.collected_in(threading.__file__):
        thread.start()
        thread.join()


def log(garbage: Garbage) -> None:
    logger = logging.Logger("garbage")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    logger.addHandler(Collecting(garbage))
    with garbage.collected_in(logging.__file__):
        logger.warning("collected")


def imports(garbage: Garbage) -> None:
    with tempfile.TemporaryDirectory() as folder:
        name = f"garbage_{garbage.dropped}"
        Path(folder, f"{name}.py").write_text("import gc\ngc.collect()\n")
        sys.path.insert(0, folder)
        try:
            garbage.drop()
            importlib.import_module(name)
            del sys.modules[name]
            with garbage.collected_in(*IMPORTS):
                importlib.import_module(name)
        finally:
            sys.path.remove(folder)


def futures(garbage: Garbage) -> None:
    items: queue.Queue[int] = queue.Queue()
    with ThreadPoolExecutor(1) as pool, garbage.collected_in(FUTURES, queue.__file__):
        assert pool.submit(int).result() == 0
        items.put(1)
        items.get()


def own_code(garbage: Garbage) -> None:
    pipe = pipeline(function=lambda image: image)
    with garbage.collected_in(OWN):
        pipe.run()
        pipe.close()


def callbacks(garbage: Garbage) -> None:
    """Collect in the thread that asks for a batch, and in the pipeline's own."""

    def collected(value: Any) -> Any:
        garbage.collect()
        return value

    pipe = pipeline(function=collected)
    source = Pipeline(2, 1, None)
    with source:
        source.set_outputs(fn.external_source(source=lambda: collected(np.zeros((2, 1), np.uint8)), batch=True))
    for _ in range(4):
        pipe.run()
        source.run()


def allocations(garbage: Garbage) -> None:
    """Collect where Python happens to allocate, in several threads that start and log meanwhile."""
    logger = logging.Logger("garbage")
    logger.addHandler(logging.StreamHandler(io.StringIO()))
    usual = gc.get_threshold()
    gc.enable()
    gc.set_threshold(1, 1, 1)
    try:
        for _ in range(4):
            garbage.drop()
        running = [threading.Thread(target=logger.warning, args=("collected",)) for _ in range(8)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        gc.set_threshold(*usual)
        gc.disable()


PLACES = (threads, log, imports, futures, own_code, callbacks, allocations)


def tasks() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def ended(before: int) -> bool:
    """Whether the threads of everything that was dropped have ended, which they do on their own."""
    gc.collect()
    own = [thread.name for thread in threading.enumerate() if thread.name.startswith("pixelmill")]
    return not own and tasks() <= before + OTHER_THREADS


def prepared(maker: str) -> Garbage:
    """Import what is needed, and let the collector look at nothing but what is made from now on."""
    garbage = Garbage(MAKERS[maker])
    garbage.fill(2)
    while garbage:
        garbage.collect()
    gc.freeze()
    gc.disable()
    return garbage


def main(maker: str, count: int) -> None:
    """Drop `count` pipelines at each of the places."""
    warnings.simplefilter("ignore")
    faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
    garbage = prepared(maker)
    before = tasks()
    for place in PLACES:
        print(place.__name__, flush=True)  # the last one is where it hangs
        faulthandler.dump_traceback_later(HANGS_AFTER, exit=True)
        garbage.fill(count)
        while garbage:
            place(garbage)
    deadline = time.monotonic() + ENDS_WITHIN
    while not ended(before) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended(before), f"{tasks()} threads instead of {before}: {threading.enumerate()}"
    print(garbage.dropped, "dropped")
    gc.unfreeze()
    gc.enable()
    garbage.fill(2)  # these live until the interpreter ends


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
