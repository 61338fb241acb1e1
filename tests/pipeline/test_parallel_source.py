"""Sources that worker processes run: the same batches as DALI's, in the same order, and no process left over."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import parallel_sources
import pytest
from peers import peer

from pixelmill import ArgumentError, EngineError, Pipeline, fn
from pixelmill.pipeline import shared_arrays

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    dali_fn, dali = peer("nvidia.dali.fn"), peer("nvidia.dali")


def piped(
    source: Any, *, workers: int = 2, module: Any = fn, cls: Any = Pipeline, method: str = "fork", **options: Any
) -> Any:
    options = {"batch": False, **options}
    pipe = cls(4, 1, None, py_num_workers=workers, py_start_method=method, prefetch_queue_depth=2)
    with pipe:
        made = module.external_source(source=source, parallel=True, **options)
        pipe.set_outputs(*made) if isinstance(made, list) else pipe.set_outputs(made)
    return pipe


def epochs(pipe: Any, count: int = 1, outputs: int = 1) -> list[Any]:
    """Run whole epochs, and return their batches as lists of samples."""
    found = []
    for _ in range(count):
        while True:
            try:
                lists = pipe.run()
            except StopIteration:
                break
            found.append([[np.array(out[place]).tolist() for place in range(len(out))] for out in lists[:outputs]])
        found.append("end")
        pipe.reset()
    return found


def no_workers_left() -> bool:
    deadline = time.monotonic() + 30
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()


CASES = {
    "samples": (parallel_sources.sample, {}, 1),
    "two outputs": (parallel_sources.pair, {"num_outputs": 2}, 2),
    "batches": (parallel_sources.batch, {"batch": True}, 1),
    "batches ahead": (parallel_sources.batch, {"batch": True, "prefetch_queue_depth": 3}, 1),
    "generator": (parallel_sources.generated, {"batch": True, "cycle": "raise"}, 1),
    "iterable": ([[np.full(1, k)] * 4 for k in range(3)], {"batch": True, "cycle": "raise"}, 1),
    "object": (parallel_sources.Multiplied(3), {}, 1),
}


@pytest.mark.parametrize("name", [name for name in CASES if name != "object"])
def test_batches_are_those_of_dali(name: str) -> None:
    source, options, outputs = CASES[name]
    theirs = piped(source, module=dali_fn, cls=dali.Pipeline, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an iterable needs no second worker
        theirs.start_py_workers()
    wanted = epochs(theirs, 2, outputs)
    del theirs
    with_two = piped(source, **options)
    assert epochs(with_two, 2, outputs) == wanted
    with_two.close()
    assert no_workers_left()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_number_of_workers_changes_nothing(workers: int) -> None:
    for source, options, outputs in CASES.values():
        if not isinstance(source, parallel_sources.Multiplied):
            pipe = piped(source, workers=workers, **options)
            same = piped(source, workers=2, **options)
            assert epochs(pipe, 1, outputs) == epochs(same, 1, outputs)
            pipe.close(), same.close()


def test_spawned_workers_get_the_source() -> None:
    pipe = piped(parallel_sources.Multiplied(3), method="spawn")
    assert [np.array(pipe.run()[0].as_array()).ravel().tolist() for _ in range(2)] == [[0, 3, 6, 9], [12, 15, 18, 21]]
    pipe.close()
    assert no_workers_left()


def test_a_source_that_cannot_be_passed_is_named() -> None:
    pipe = piped(lambda info: np.zeros(1), method="spawn")
    with pytest.raises(ArgumentError, match=r"cannot be passed to processes started with 'spawn'.*top level"):
        pipe.build()
    assert no_workers_left()


def test_workers_are_other_processes_that_share_a_batch() -> None:
    pipe = piped(parallel_sources.process_of_sample, workers=2)
    processes = set(pipe.run()[0].as_array().ravel().tolist())
    assert len(processes) == 2 and os.getpid() not in processes
    pipe.close()


def test_batch_info_counts_epochs() -> None:
    pipe = piped(parallel_sources.batch_of_info, batch=True, batch_info=True)
    assert [pipe.run()[0].as_array()[0, :2].tolist() for _ in range(3)] == [[0, 0], [1, 0], [2, 0]]
    pipe.close()


def test_small_and_large_results_travel_equally(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for limit in (1, 1 << 40):
        monkeypatch.setattr(shared_arrays, "SHARED_BYTES", limit)
        pipe = piped(parallel_sources.pair, num_outputs=2)
        found.append(epochs(pipe, 1, 2))
        pipe.close()
    assert found[0] == found[1]


def test_outputs_stay_valid_after_the_workers_ended() -> None:
    pipe = piped(parallel_sources.batch, batch=True)
    first = pipe.run()[0]
    pipe.close()
    del pipe
    gc.collect()
    assert no_workers_left()
    assert (first.as_array() == 0).all() and first.as_array().shape == (4, 300, 400)


def test_a_batch_may_be_one_array() -> None:
    pipes = [piped(source, batch=True) for source in (parallel_sources.batch, parallel_sources.dense_batch)]
    assert epochs(pipes[0]) == epochs(pipes[1])
    for pipe in pipes:
        pipe.close()


# Errors


def test_an_exception_of_a_worker_is_named_and_the_next_batch_can_be_taken() -> None:
    pipe = piped(parallel_sources.broken)
    with pytest.raises(EngineError, match=r"(?s)LookupError: .?no sample 5.*In a worker process.*in broken"):
        for _ in range(2):
            pipe.run()
    pipe.close()
    assert no_workers_left()


def test_a_worker_that_dies_is_reported_with_its_exit_code() -> None:
    pipe = piped(parallel_sources.dying)
    with pytest.raises(EngineError, match=r"worker process \d+ ended with exit code 7"):
        for _ in range(2):
            pipe.run()
    pipe.close()
    assert no_workers_left()


@pytest.mark.parametrize(
    ("source", "message"), [("objects", "arrays of numbers, got dict"), ("numbers", "got Python numbers")]
)
def test_what_is_no_array_is_refused(source: str, message: str) -> None:
    pipe = piped(getattr(parallel_sources, source))
    with pytest.raises((EngineError, ArgumentError), match=message):
        pipe.run()
    pipe.close()


REFUSED = {
    "samples of an iterable": (TypeError, [np.zeros(1)], {}, "use batch=True"),
    "samples of a generator function": (TypeError, parallel_sources.generated, {}, "use batch=True"),
    "no argument": (TypeError, parallel_sources.without_argument, {}, "exactly one argument"),
    "copies": (ValueError, parallel_sources.sample, {"no_copy": False}, "no_copy"),
    "depth": (ValueError, parallel_sources.sample, {"prefetch_queue_depth": 0}, "prefetch_queue_depth"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sources_that_dali_refuses_are_refused_with_its_type_of_error(name: str) -> None:
    error, source, options, message = REFUSED[name]
    with pytest.raises(error):
        piped(source, module=dali_fn, cls=dali.Pipeline, **options)
    with pytest.raises(error, match=message):
        piped(source, **options)


def test_a_generator_cannot_be_passed_to_workers() -> None:
    with pytest.raises(TypeError, match="generator"):
        piped(parallel_sources.generated(), batch=True)


@pytest.mark.parametrize("options", [{"workers": 0}, {"method": "thread"}])
def test_wrong_arguments_of_the_pipeline_are_named(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"py_num_workers|py_start_method"):
        piped(parallel_sources.sample, **options).build()


# The life of workers


def test_start_py_workers_starts_them_before_the_first_run() -> None:
    pipe = piped(parallel_sources.sample, workers=3)
    assert not multiprocessing.active_children()
    pipe.start_py_workers()
    assert len(multiprocessing.active_children()) == 3
    pipe.close()
    assert no_workers_left()


def test_workers_of_a_dropped_pipeline_end() -> None:
    pipe = piped(parallel_sources.sample)
    pipe.run()
    assert len(multiprocessing.active_children()) == 2
    del pipe
    gc.collect()
    assert no_workers_left()


def test_a_checkpoint_continues_at_its_batch() -> None:
    pipe = piped(parallel_sources.sample)
    pipe.run()
    state = pipe.checkpoint()
    wanted = pipe.run()[0]
    pipe.close()
    other = piped(parallel_sources.sample)
    other.load_state_dict(json.loads(state))
    for got, sample in zip(other.run()[0], wanted, strict=True):
        np.testing.assert_array_equal(np.array(got), np.array(sample))
    other.close()


def test_a_forked_child_has_its_own_workers() -> None:
    pipe = piped(parallel_sources.sample)
    pipe.run()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            found = np.array(pipe.run()[0][0]).ravel().tolist()
            pipe.close()
            os.write(writing, str(found).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert os.read(reading, 1000) == str(np.array(pipe.run()[0][0]).ravel().tolist()).encode()
    os.close(reading)
    pipe.close()
    assert no_workers_left()


PROGRAM = """
import sys, time
import numpy as np
from pixelmill import Pipeline, fn
import parallel_sources

if __name__ == "__main__":
    pipe = Pipeline(4, 1, None, py_num_workers=2, py_start_method=sys.argv[1])
    with pipe:
        pipe.set_outputs(fn.external_source(source=parallel_sources.process_of_sample, parallel=True, batch=False))
    print(*sorted(set(pipe.run()[0].as_array().ravel().tolist())), flush=True)
    while True:
        pipe.run()
"""


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_a_program_that_is_stopped(tmp_path: Path, method: str, number: signal.Signals) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "support")}
    process = subprocess.Popen(
        [sys.executable, str(script), method],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    workers = [int(word) for word in process.stdout.readline().split()]
    assert workers, process.communicate()[1]
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.count("Traceback") == (1 if number == signal.SIGINT else 0), errors
    deadline = time.monotonic() + 60
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(is_running, workers))
