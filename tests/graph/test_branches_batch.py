"""Operators that look at the whole batch: inside of a branch they look at the samples that take it, as in DALI."""

# ruff: noqa: SIM108 - what is tested

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import HERE
from test_branches import FLAGS, IMAGES, SAMPLES, run, same_as_dali


def padded(m, x, flag):
    if flag:
        y = m.fn.pad(x)
    else:
        y = m.fn.pad(m.fn.flip(x), fill_value=3)
    return y


def padded_before(m, x, flag):
    whole = m.fn.pad(x)
    if flag:
        y = whole
    else:
        y = x
    return y


def normalized(m, x, flag):
    if flag:
        y = m.fn.normalize(x, batch=True)
    else:
        y = m.fn.normalize(m.fn.cast(x, dtype=m.types.FLOAT) * 2, batch=True, axes=[0, 1])
    return y


def permuted(m, x, flag):
    if flag:
        y = m.fn.permute_batch(x, indices=m.fn.cast(x[0, 0, 0] * 0, dtype=m.types.INT32))
    else:
        y = x
    return y


def nested(m, x, flag):
    if flag:
        y = m.fn.pad(x)
        if m.fn.reductions.mean(x) > 127.0:
            z = m.fn.flip(m.fn.pad(y, axes=[0], align=7))
        else:
            z = y
    else:
        z = m.fn.flip(x)
    return z


def pasted(m, x, flag):
    if flag:
        ids = m.fn.cast(m.fn.stack(x[0, 0, 0] * 0, x[0, 0, 0] * 0), dtype=m.types.INT32)
        y = m.fn.multi_paste(x, in_ids=ids, output_size=[30, 30])
    else:
        y = x
    return y


BATCH_WIDE = {made.__name__: made for made in (padded, padded_before, normalized, permuted, nested, pasted)}


@pytest.mark.parametrize("name", BATCH_WIDE)
def test_steps_that_see_the_whole_batch_see_their_branch_as_in_dali(name):
    for flags in (FLAGS, FLAGS[::-1], [np.array(True)] * SAMPLES, [np.array(False)] * SAMPLES):
        same_as_dali(BATCH_WIDE[name], IMAGES, flags)


def test_a_value_that_leaves_its_branch_is_of_the_whole_batch():
    kept = []

    def graph(m, x, flag):
        if flag:
            y = m.fn.pad(x)
            kept.append(y)
        else:
            y = x
        return y, kept[0]

    branch, leaked = run(HERE, graph, IMAGES, FLAGS)
    assert len({sample.shape for sample in leaked}) == 1
    assert all(one.shape == two.shape for one, two, flag in zip(branch, leaked, FLAGS, strict=True) if flag)
