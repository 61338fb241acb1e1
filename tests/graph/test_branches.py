"""Conditions in graphs: each sample takes its own branch, and no work is done for the branches it does not take."""
# ruff: noqa: RET505, SIM108, SIM222, SIM223 - the conditions are what is tested

from __future__ import annotations

import functools
import logging
import warnings
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise, numpy_batch
from hypothesis import given
from hypothesis import strategies as st

import pixelmill
from pixelmill import ArgumentError, DataError, EngineError, fn, pipeline_def, types
from pixelmill.graph import branches
from pixelmill.pipeline import do_not_convert

SAMPLES = 6
FLAGS = [np.array(flag) for flag in (True, False, True, True, False, False)]
OTHERS = [np.array(flag) for flag in (True, True, False, True, False, True)]
NUMBERS = [np.array(number, np.int32) for number in (0, 1, 2, 3, 1, 0)]
IMAGES = [noise((5 + i, 9 - i, 3), seed=i) for i in range(SAMPLES)]

logging.getLogger("nvidia").setLevel(logging.ERROR)


def layout(batch):
    return "HWC" if batch[0].ndim == 3 else None


def pipeline(module, graph, *inputs, conditionals=True, **options):
    """Make a pipeline whose graph may have conditions."""
    if module is DALI:
        options.pop("optimize", None)

    @module.pipeline_def(
        batch_size=SAMPLES, num_threads=2, device_id=None, seed=5, enable_conditionals=conditionals, **options
    )
    def made():
        nodes = [module.fn.external_source(source=repeat(batch), layout=layout(batch)) for batch in inputs]
        return graph(module, *nodes)

    return made()


def run(module, graph, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe = pipeline(module, graph, *inputs, **options)
        pipe.build()
        return [numpy_batch(batch) for batch in pipe.run()]


def same_as_dali(graph, *inputs, level=1):
    """Demand DALI's results, with and without fusing."""
    theirs = run(DALI, graph, *inputs)
    mine = run(HERE, graph, *inputs)
    apart = run(HERE, graph, *inputs, optimize=False)
    assert len(mine) == len(theirs)
    for here, there, unfused in zip(mine, theirs, apart, strict=True):
        for got, wanted, plain in zip(here, there, unfused, strict=True):
            close(got, wanted, level=level)
            np.testing.assert_array_equal(got, plain)
    return mine


# Programs for DALI


def assigns(m, x, flag):
    if flag:
        y = m.fn.flip(x)
    else:
        y = m.fn.crop(x, crop=(2, 2))
    return y


def changes_before(m, x, flag):
    y = x
    if flag:
        y = m.fn.resize(x, size=(4, 4))
    return y


def chain(m, x, flag, other):
    if flag and other:
        y = m.fn.flip(x, horizontal=0, vertical=1)
    elif flag:
        y = m.fn.flip(x)
    elif other:
        y = m.fn.crop(x, crop=(1, 3))
    else:
        y = x
    return y


def nested(m, x, flag, other):
    if flag:
        size = (3, 3)
        if other:
            y = m.fn.resize(x, size=size)
        else:
            y = m.fn.crop(x, crop=size)
        y = m.fn.flip(y)
    else:
        y = m.fn.crop(x, crop=(2, 2))
        if not other:
            y = m.fn.flip(y, vertical=1, horizontal=0)
    return y


def words(m, x, flag, other):
    if not flag or (other and not (flag or other)):
        y = m.fn.flip(x)
    else:
        y = x
    return y, flag and other, flag or other, not other


def returns(m, x, flag, other):
    if flag:
        return m.fn.flip(x)
    if other:
        return m.fn.crop(x, crop=(2, 2))
    return x


def returns_inside(m, x, flag, other):
    if flag:
        if other:
            return m.fn.flip(x)
        else:
            return m.fn.crop(x, crop=(2, 2))
    return x


def numeric(m, x, number):
    if number:
        y = m.fn.flip(x)
    else:
        y = x
    return y


def several(m, x, flag):
    if flag:
        a, b = m.fn.flip(x), m.fn.crop(x, crop=(1, 1))
    else:
        b, a = m.fn.resize(x, size=(2, 2)), x
    return a, b


def draws_outside(m, x, flag):
    size = m.fn.random.uniform(values=[3.0])
    if flag:
        x = m.fn.resize(x, resize_shorter=size)
    return x


def turned(m, x, flag):
    if flag:
        return m.fn.flip(x)
    return x


def calls(m, x, flag, other):
    if other:
        x = turned(m, x, flag)
    return turned(m, x, other)


def in_a_loop(m, x, flag, other):
    for condition in (flag, other):
        if condition:
            x = m.fn.flip(x)
    return x


PROGRAMS = {
    "assigns": (assigns, IMAGES, FLAGS),
    "changes_before": (changes_before, IMAGES, FLAGS),
    "chain": (chain, IMAGES, FLAGS, OTHERS),
    "nested": (nested, IMAGES, FLAGS, OTHERS),
    "words": (words, IMAGES, FLAGS, OTHERS),
    "returns": (returns, IMAGES, FLAGS, OTHERS),
    "returns_inside": (returns_inside, IMAGES, FLAGS, OTHERS),
    "numeric": (numeric, IMAGES, NUMBERS),
    "several": (several, IMAGES, FLAGS),
    "draws_outside": (draws_outside, IMAGES, FLAGS),
    "calls": (calls, IMAGES, FLAGS, OTHERS),
    "in_a_loop": (in_a_loop, IMAGES, FLAGS, OTHERS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_conditions_are_dalis(name):
    same_as_dali(*PROGRAMS[name])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=SAMPLES, max_size=SAMPLES))
def test_every_sample_takes_its_own_way(flags):
    first, second = ([np.array(pair[i]) for pair in flags] for i in (0, 1))
    (got,) = run(HERE, chain, IMAGES, first, second)
    for picture, (flag, other), result in zip(IMAGES, flags, got, strict=True):
        wanted = picture
        if flag:
            wanted = picture[::-1] if other else picture[:, ::-1]
        elif other:
            top, left = (picture.shape[0] - 1 + 1) // 2, (picture.shape[1] - 3 + 1) // 2
            wanted = picture[top : top + 1, left : left + 3]
        np.testing.assert_array_equal(result, wanted)


def test_expressions_have_conditions_too():
    """DALI has no `a if node else b`."""

    def graph(m, x, flag):
        return m.fn.flip(x if flag else m.fn.crop(x, crop=(2, 2)))

    for optimize in (True, False):
        (got,) = run(HERE, graph, IMAGES, FLAGS, optimize=optimize)
        for picture, flag, result in zip(IMAGES, FLAGS, got, strict=True):
            top, left = (picture.shape[0] - 1) // 2, (picture.shape[1] - 1) // 2
            wanted = picture if flag else picture[top : top + 2, left : left + 2]
            np.testing.assert_array_equal(result, wanted[:, ::-1])


def constants(m, x, flag):
    if flag:
        number, size = 3, 2.5
    else:
        number, size = 7, 0.5
    return number, size


def test_branches_may_give_constants():
    numbers, sizes = same_as_dali(constants, IMAGES, FLAGS)
    assert [int(number) for number in numbers] == [3, 7, 3, 3, 7, 7]
    assert numbers[0].dtype == np.int32 and sizes[0].dtype == np.float32


def compares(m, x, number):
    if number == 0:
        y = m.fn.flip(x)
    elif number < 3:
        y = m.fn.crop(x, crop=(2, 2))
    else:
        y = x
    return y


def test_comparisons_of_nodes_are_conditions():
    same_as_dali(compares, IMAGES, NUMBERS)


# What is not taken is not run


def test_a_branch_that_would_fail_is_not_run():
    big = [noise((20, 20, 3)) if flag else noise((4, 4, 3)) for flag in FLAGS]

    def graph(m, x, flag):
        if flag:
            x = m.fn.crop(x, crop=(10, 10))  # an error for the small ones
        return x

    (got,) = run(HERE, graph, big, FLAGS)
    assert [sample.shape[0] for sample in got] == [10 if flag else 4 for flag in FLAGS]
    with pytest.raises(DataError, match="crop"):
        run(HERE, graph, big, [np.array(True)] * SAMPLES)


def test_damaged_images_do_no_harm_where_they_are_not_decoded(tmp_path):
    files = [np.frombuffer(b"no picture", np.uint8)] * SAMPLES

    def graph(m, data, flag):
        if flag:
            y = m.fn.decoders.image(data)
        else:
            y = m.types.Constant(np.zeros((2, 2, 3), np.uint8))
        return y

    (got,) = run(HERE, graph, files, [np.array(False)] * SAMPLES)
    assert all(sample.shape == (2, 2, 3) for sample in got)
    with pytest.raises(DataError):
        run(HERE, graph, files, FLAGS)


def test_branches_stay_lazy_beside_steps_that_see_the_whole_batch():
    """A crop that would fail stands before and after a call of Python."""
    big = [noise((20, 20, 3)) if flag else noise((4, 4, 3)) for flag in FLAGS]

    def graph(m, x, flag):
        if flag:
            x = m.fn.crop(x, crop=(10, 10))
        x = m.fn.python_function(x, function=lambda picture: picture + 1)
        if flag:
            x = m.fn.crop(x, crop=(5, 5))
        return x, m.fn.pad(x)

    got, padded = run(HERE, graph, big, FLAGS)
    assert [sample.shape[0] for sample in got] == [5 if flag else 4 for flag in FLAGS]
    assert all(sample.shape == (5, 5, 3) for sample in padded)


def test_what_both_branches_need_is_run():
    def graph(m, x, flag):
        small = m.fn.resize(x, size=(3, 3))
        if flag:
            y = m.fn.flip(small)
        else:
            y = small
        return y

    same_as_dali(graph, IMAGES, FLAGS)


# What Python knows stays Python's


def test_conditions_that_are_known_are_decided_when_the_graph_is_built():
    visited = []

    def graph(m, x, flag):
        values = {"a": 1}
        if "b" in values and values["b"] > 0:
            visited.append("b")
        elif not values or 0:
            visited.append("empty")
        else:
            visited.append("else")
        size = (2, 2) if values["a"] else None
        for number in range(3):
            if number == 1:
                continue
            visited.append(number)
        while len(visited) < 5:
            visited.append("while")
        return m.fn.crop(x, crop=size)

    (got,) = run(HERE, graph, IMAGES, FLAGS)
    assert visited == ["else", 0, 2, "while", "while"]
    assert all(sample.shape == (2, 2, 3) for sample in got)


def test_words_give_values_as_in_python():
    def graph(m, x, flag):
        assert (0 or "b") == "b" and (1 and "c") == "c" and ([] and 1 / 0) == [] and (not []) is True
        assert (None or {}) == {}
        return x

    run(HERE, graph, IMAGES, FLAGS)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        return function(*arguments, **options)

    return wrapper


def test_closures_defaults_methods_and_wrappers_are_converted():
    size = (2, 2)

    def crop(m, x, flag, *, to=size):
        if flag:
            x = m.fn.crop(x, crop=to)
        return x

    class Model:
        def __init__(self, m):
            self.m = m

        def flip(self, x, flag):
            return turned(self.m, x, flag)

    def graph(m, x, flag):
        return crop(m, x, flag), decorated(turned)(m, x, flag), Model(m).m is m and x

    cropped, flipped, _ = run(HERE, graph, IMAGES, FLAGS)
    assert [sample.shape[:2] == (2, 2) for sample in cropped] == [bool(flag) for flag in FLAGS]
    for picture, flag, got in zip(IMAGES, FLAGS, flipped, strict=True):
        np.testing.assert_array_equal(got, picture[:, ::-1] if flag else picture)


# Refused, with words


def refusal(graph, *inputs, error=ArgumentError, **options):
    with pytest.raises(error) as caught:
        run(HERE, graph, *inputs, **options)
    return str(caught.value)


def brightened(x, times):
    if times == 0:
        return x
    return brightened(x + 1, times - 1)


def test_functions_that_call_themselves_are_converted():
    (ours,) = run(HERE, lambda m, x: brightened(x, 3), IMAGES)
    assert all((one == picture.astype(np.int32) + 3).all() for one, picture in zip(ours, IMAGES, strict=True))


def test_without_conditionals_the_message_tells_how_to_get_them():
    text = refusal(assigns, IMAGES, FLAGS, error=TypeError, conditionals=False)
    assert "known only when the pipeline runs" in text and "enable_conditionals=True" in text


def test_a_variable_of_one_branch_only_is_refused():
    def graph(m, x, flag):
        if flag:
            y = m.fn.flip(x)
        return y

    text = refusal(graph, IMAGES, FLAGS)
    assert text.startswith("if: the variable 'y' is assigned in one branch only")


def test_do_not_convert_leaves_a_function_alone():
    plain = do_not_convert(lambda m, x, flag: m.fn.flip(x) if flag else x)

    def graph(m, x, flag):
        return plain(m, x, flag)

    assert "enable_conditionals" in refusal(graph, IMAGES, FLAGS, error=TypeError)


def test_a_return_in_one_branch_only_of_a_loop_is_refused():
    def graph(m, x, flag):
        for _ in range(2):
            if flag:
                break
        return x

    assert "known only when the pipeline runs" in refusal(graph, IMAGES, FLAGS, error=TypeError)


def test_while_on_a_node_is_refused():
    def graph(m, x, flag):
        while flag:
            x = m.fn.flip(x)
        return x

    assert "known only when the pipeline runs" in refusal(graph, IMAGES, FLAGS, error=TypeError)


def test_branches_of_different_kinds_are_refused():
    def graph(m, x, flag):
        if flag:
            x = m.fn.cast(x, dtype=m.types.FLOAT)
        return x

    text = refusal(graph, IMAGES, FLAGS, error=EngineError)
    assert "float32 with 3 axes and uint8 with 3 axes" in text and "branches" in text


def test_a_function_without_source_is_refused():
    namespace = {}
    exec("def graph(x):\n    return x", namespace)
    with pytest.raises(ArgumentError, match="the source of graph is not available"):
        pipeline_def(enable_conditionals=True)(namespace["graph"])


# Short forms


def drawn(graph, *, samples=2000, seed=3):
    """Run a graph without inputs for many samples and give its outputs as arrays."""
    pipe = pixelmill.Pipeline(samples, 2, None, seed)
    with pipe:
        made = graph()
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    return [batch.as_array() for batch in pipe.run()]


def one(value):
    return types.Constant(np.full((1, 1, 3), value, np.uint8))


def test_apply_with_probability_changes_its_share_of_samples():
    def graph():
        x = fn.crop(one(1), crop=(1, 1))
        return pixelmill.apply_with_probability(0.3, lambda y: fn.resize(one(9), size=(1, 1)), x), x

    changed, unchanged = drawn(graph)
    share = (changed[:, 0, 0, 0] == 9).mean()
    assert abs(share - 0.3) < 4 * (0.21 / 2000) ** 0.5
    assert set(np.unique(changed)) == {1, 9} and set(np.unique(unchanged)) == {1}


def test_apply_with_probability_takes_several_inputs():
    def graph():
        pair = one(1), one(2)
        return pixelmill.apply_with_probability(0.5, lambda a, b: (b, a), *[fn.flip(value) for value in pair])

    a, b = (values[:, 0, 0, 0] for values in drawn(graph))
    assert (a + b == 3).all() and 0.4 < (a == 2).mean() < 0.6


@pytest.mark.parametrize("p", [None, [0.7, 0.2, 0.1]])
def test_one_of_chooses_by_its_probabilities(p):
    def graph():
        functions = [lambda x, value=value: fn.flip(one(value)) for value in (5, 6, 7)]
        return pixelmill.one_of(functions, one(0), p=p)

    (got,) = drawn(graph)
    for value, share in zip((5, 6, 7), p or [1 / 3] * 3, strict=True):
        assert abs((got[:, 0, 0, 0] == value).mean() - share) < 4 * (share * (1 - share) / 2000) ** 0.5


def test_one_of_runs_only_what_it_chose():
    def graph():
        broken = fn.decoders.image(types.Constant(np.zeros(9, np.uint8)))
        return pixelmill.one_of([lambda: one(1), lambda: broken], p=[1, 0])

    assert set(np.unique(drawn(graph)[0])) == {1}


def test_choices_join_tuples_and_dicts_part_by_part():
    def graph():
        number = fn.random.choice(3)
        made = branches.choose(number, [lambda v=v: {"a": one(v), "b": (one(v + 10), v)} for v in range(3)])  # type: ignore[misc]
        return number, made["a"], made["b"][0], made["b"][1]

    number, a, b, c = drawn(graph, samples=50)
    assert (a.reshape(50, 3) == number[:, None]).all() and (b.reshape(50, 3) == number[:, None] + 10).all()
    assert (c == number).all() and len(set(number)) == 3


def test_a_choice_that_does_not_exist_is_named():
    def graph():
        return branches.choose(fn.random.uniform(values=[4]), [lambda: one(1), lambda: one(2)])

    with pytest.raises(DataError, match="a whole one from 0 to 1, got 4"):
        drawn(graph, samples=1)
    with pytest.raises(ArgumentError, match="choose: needs at least one branch"):
        branches.choose(SimpleNamespace(), [])


def test_choices_of_samples_do_not_depend_on_the_batch():
    def graph():
        return pixelmill.one_of([lambda: one(1), lambda: one(2), lambda: one(3)])

    (alone,) = drawn(graph, samples=40)
    pipe = pixelmill.Pipeline(8, 2, None, 3)
    with pipe:
        pipe.set_outputs(graph())
    together = np.concatenate([pipe.run()[0].as_array() for _ in range(5)])
    np.testing.assert_array_equal(alone, together)


# Compose


def test_compose_is_dalis():
    def graph(m, x, flag):
        ops = m.ops
        both = ops.Compose([ops.Flip(horizontal=1), ops.Compose([ops.Resize(size=(4, 4)), ops.Flip(vertical=1)])])
        return both(x)

    same_as_dali(graph, IMAGES, FLAGS)


def test_compose_hands_several_values_on():
    def graph(m, x, flag):
        swap = m.ops.Compose([lambda a, b: (m.fn.flip(b), a), m.ops.Compose([lambda a, b: [b, a]])])
        return swap(x, m.fn.crop(x, crop=(1, 1)))

    first, second = run(HERE, graph, IMAGES, FLAGS)
    assert first[0].shape == IMAGES[0].shape and second[0].shape == (1, 1, 3)
    with pytest.raises(ArgumentError, match="empty"):
        pixelmill.ops.Compose([])
