"""Batches that are worked out by who waits for them: the same results, also where they turn out to be slow."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

from pixelmill import DataError, Pipeline, fn

SIZES = [8, 8, 8, 8, 3_000_000, 8, 8, 2_000_000, 2_000_000, 8, 8, 8]


def numbers(size, batch):
    return [np.arange(size, dtype=np.float32) % 97 + 10 * batch + place for place in range(4)]


def pipeline(sizes, graph, **options):
    batches = [numbers(size, batch) for batch, size in enumerate(sizes)]
    pipe = Pipeline(**{"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 3, **options})
    with pipe:
        pipe.set_outputs(graph(fn.external_source(source=iter(batches))))
    return pipe, batches


@pytest.mark.parametrize("depth", [1, 3])
def test_quick_and_slow_batches_follow_each_other(depth):
    pipe, batches = pipeline(SIZES, lambda x: x * 2.0 + 1.0, prefetch_queue_depth=depth)
    for batch in batches:
        (got,) = pipe.run()
        for place, sample in enumerate(batch):
            np.testing.assert_array_equal(got.at(place), sample * 2 + 1)


def test_random_numbers_do_not_depend_on_who_draws_them():
    def drawn(sizes):
        pipe, batches = pipeline(sizes, lambda x: fn.stack(fn.random.uniform(seed=5), fn.random.normal(seed=6)))
        return [np.array(pipe.run()[0].as_array()) for _ in batches]

    for one, other in zip(drawn([8] * 6), drawn([8] * 6), strict=True):
        np.testing.assert_array_equal(one, other)
    assert len({batch.tobytes() for batch in drawn([8] * 6)}) == 6


def test_bad_samples_of_quick_batches_are_named():
    pipe, _ = pipeline([8, 8, 8, 3, 8], lambda x: x[5])
    for _ in range(3):
        pipe.run()
    with pytest.raises(DataError, match=r"created at test_quick_batches\.py"):
        pipe.run()
    np.testing.assert_array_equal(pipe.run()[0].at(0), 45)


def test_quick_batches_of_many_threads_do_not_get_into_each_others_way():
    wrong = []

    def work():
        pipe, batches = pipeline([8] * 200, lambda x: x + 1.0)
        for batch in batches:
            got = pipe.run()[0]
            if any(not np.array_equal(got.at(place), sample + 1) for place, sample in enumerate(batch)):
                wrong.append(batch)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_quick_batches_go_on_in_a_child_process():
    pipe, batches = pipeline([8] * 8, lambda x: x + 1.0, prefetch_queue_depth=2)
    for _ in range(4):
        pipe.run()
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(pipe.run()[0].at(2), batches[number][2] + 1) for number in range(4, 8))
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(pipe.run()[0].at(2), batches[4][2] + 1)
