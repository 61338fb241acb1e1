"""Graphs that hypothesis makes up, of operators that are exact: both engines must give the same bytes."""

from __future__ import annotations

from itertools import repeat

import numpy as np
from both_engines import ENGINES, agree, compare, done_by_dali, files, made, taken
from dali_runs import noise
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import fn, types
from pixelmill.graph import branches

__all__ = ["files"]

SIDE = 8
BATCH = 5


def halved(array):
    return array // 2


def brighter(x):
    return fn.cast(x + 3, dtype=types.UINT8)


# Each keeps the extents and the type of an image. Native ones, such as python_function, stand between DALI's.
STEPS = {
    "flip": lambda x: fn.flip(x, horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip()),
    "turn": lambda x: fn.rotate(x, angle=90.0, keep_size=True, interp_type=types.INTERP_NN),
    "erase": lambda x: fn.erase(x, anchor=[1, 2], shape=[3, 2], fill_value=9),
    "brighter": brighter,
    "larger": lambda x: fn.paste(
        fn.crop(x, crop=(4, 4), crop_pos_x=fn.random.uniform(range=(0.0, 1.0))), ratio=2.0, fill_value=7
    ),
    "window": lambda x: fn.pad(x[1:-1, 2:], axes=[0, 1], shape=[SIDE, SIDE]),
    "python": lambda x: fn.python_function(x, function=halved, output_layouts="HWC"),
    "salt": lambda x: fn.noise.salt_and_pepper(x, prob=0.2),
    "shaped": lambda x: fn.cast(x + fn.random.uniform(x, values=[1.0, 5.0]), dtype=types.UINT8),
    "square": lambda x: square(x),
}


def drawn():
    return fn.random.uniform(range=(0.0, 1.0))


def square(x):
    height = fn.cast(x.shape()[0], dtype=types.FLOAT)
    return fn.crop(x, crop_h=height, crop_w=height, crop_pos_x=0.5)


@st.composite
def programs(draw, depth=2):
    """Make a program: names of steps, and branches with programs of their own."""
    steps = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 3)) if depth else 1
        if kind == 0:
            steps.append((draw(programs(depth=depth - 1)), draw(programs(depth=depth - 1))))
        elif kind == 3:
            steps.append([draw(programs(depth=0)) for _ in range(draw(st.integers(1, 3)))])
        else:
            steps.append(draw(st.sampled_from(sorted(STEPS))))
    return steps


def built(program, x):
    """Add a program to the graph."""
    for step in program:
        if isinstance(step, str):
            x = STEPS[step](x)
        elif isinstance(step, tuple):
            ways = [lambda x=x, part=part: built(part, x) for part in step]
            x = branches.cond(fn.random.coin_flip(), *ways)
        else:
            number = fn.random.choice(len(step))
            x = branches.choose(number, [lambda x=x, part=part: built(part, x) for part in step])  # type: ignore[misc]
    return x


@given(programs(), programs())
@settings(max_examples=80)
def test_made_up_graphs(first, second):
    batch = [noise((SIDE, SIDE, 3), seed=number) for number in range(BATCH)]

    def graph():
        x = fn.external_source(source=repeat(batch), layout="HWC")
        one = built(first, x)
        return one, built(second, one), fn.flip(x)

    options = {"batch_size": BATCH, "enable_conditionals": False}
    native, dali = (made(graph, engine, **options) for engine in ENGINES)
    agree(taken(dali, 2), taken(native, 2), level=0)
    assert "flip" in done_by_dali(dali)


def test_an_operator_that_sees_its_branch_sees_no_more_of_the_batch(files):
    """Pixels of a branch that are needed after DALI are made for all samples, unless an operator looks at them all."""

    def graph():
        x = fn.resize(fn.decoders.image(fn.readers.file(files=files)[0]), size=(SIDE, SIDE))
        if fn.random.coin_flip():
            y = fn.normalize(x, batch=True)
            z = fn.python_function(y, function=lambda array: array * 2, output_layouts="HWC")
        else:
            z = x * 0.05
        return z

    native, dali = (made(graph, engine) for engine in ENGINES)
    agree(taken(dali, 4), taken(native, 4), real=0.1)
    assert "resize" in done_by_dali(dali) and "normalize" not in done_by_dali(dali)


def test_noise_is_drawn_natively_and_added_by_dali(files):
    def graph():
        x = fn.resize(fn.decoders.image(fn.readers.file(files=files)[0]), size=(SIDE, SIDE))
        if fn.random.coin_flip():
            x = fn.noise.gaussian(x, stddev=fn.random.uniform(range=(1.0, 30.0)))
        return fn.flip(x)

    native, dali = (made(graph, engine) for engine in ENGINES)
    agree(taken(dali, 4), taken(native, 4), level=2)
    assert done_by_dali(dali)[-4:] == ["resize", "noise.gaussian", "_branches.merge", "flip"]


def test_the_same_value_in_and_out_of_a_branch():
    batch = [noise((SIDE, SIDE, 3), seed=number) for number in range(4)]

    def graph():
        x = fn.external_source(source=repeat(batch), layout="HWC")
        inside = None
        if fn.random.coin_flip():
            inside = fn.flip(x)
            y = fn.erase(inside, anchor=[0, 0], shape=[2, 2])
        else:
            inside = x
            y = brighter(x)
        return inside, y, np.uint8(3) + x

    compare(graph, level=0)
