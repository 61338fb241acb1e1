"""Conditions on nodes work in every kind of callable, as on DALI."""
# ruff: noqa: C417, E731, F841, RET505, SIM108 - the conditions are what is tested

from __future__ import annotations

import functools
import importlib.util
import logging
import sys
import warnings
from itertools import repeat

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise, numpy_batch

from pixelmill import ArgumentError
from pixelmill.errors import ArgumentTypeError
from pixelmill.graph.conversion import convert
from pixelmill.pipeline import do_not_convert

SAMPLES = 6
FLAGS = [np.array(flag) for flag in (True, False, True, True, False, False)]
OTHERS = [np.array(flag) for flag in (True, True, False, True, False, True)]
FLOATS = [np.array(number, np.float32) for number in (0, 0.5, 1, -2, 0, 0.25)]
IMAGES = [noise((5 + i, 9 - i, 3), seed=i) for i in range(SAMPLES)]

logging.getLogger("nvidia").setLevel(logging.ERROR)


def run(module, graph, *, conditionals=True):
    """Run a graph of an image and two conditions."""

    @module.pipeline_def(batch_size=SAMPLES, num_threads=2, device_id=None, seed=5, enable_conditionals=conditionals)
    def made():
        nodes = [
            module.fn.external_source(source=repeat(batch), layout="HWC" if batch is IMAGES else None)
            for batch in (IMAGES, FLAGS, OTHERS, FLOATS)
        ]
        return graph(module, *nodes)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [numpy_batch(batch) for batch in made().run()]


def same_as_dali(graph, **options):
    theirs, mine = run(DALI, graph, **options), run(HERE, graph, **options)
    assert len(mine) == len(theirs)
    for here, there in zip(mine, theirs, strict=True):
        for got, wanted in zip(here, there, strict=True):
            close(got, wanted)
    return mine


class Flip:
    def __init__(self, m):
        self.m = m

    def __call__(self, x, flag):
        if flag:
            x = self.m.fn.flip(x)
        return x

    def method(self, x, flag):
        if flag:
            return self.m.fn.flip(x)
        return x

    @classmethod
    def of_class(cls, m, x, flag):
        if flag:
            x = m.fn.flip(x)
        return x

    @staticmethod
    def static(m, x, flag):
        if flag:
            x = m.fn.flip(x)
        return x


class FlipAndCrop(Flip):
    def __call__(self, x, flag):
        y = super().__call__(x, flag)
        if flag:
            y = self.m.fn.crop(y, crop=(2, 2))
        return y

    def method(self, x, flag):
        if flag:
            x = self.m.fn.crop(super().method(x, flag), crop=(2, 2))
        else:
            x = super().method(x, flag)
        return x


def crop(m, x, flag, *, size=(2, 2)):
    if flag:
        x = m.fn.crop(x, crop=size)
    return x


def callable_objects(m, x, flag, other, number):
    return Flip(m)(x, flag), FlipAndCrop(m)(x, other)


def methods(m, x, flag, other, number):
    bound = Flip(m).method
    return bound(x, flag), Flip.of_class(m, x, other), Flip.static(m, x, flag), FlipAndCrop(m).method(x, other)


LAMBDA = lambda flag, other: not (flag and other)


def lambdas(m, x, flag, other, number):
    inner = lambda y, condition: crop(m, y, condition)
    return inner(x, flag), LAMBDA(flag, other)


def partials(m, x, flag, other, number):
    first = functools.partial(crop, m, size=(3, 3))
    second = functools.partial(functools.partial(crop, m), size=(1, 2))
    third = functools.partial(Flip(m), flag=flag)
    return first(x, flag), second(x, other), third(x), functools.partial(Flip(m).method, x)(other)


def loop_over_transforms(m, x, flag, other, number):
    for transform in [Flip(m), Flip(m).method, functools.partial(crop, m), lambda y, f: crop(m, y, f)]:
        x = transform(x, flag)
    return x


def comprehension(m, x, flag, other, number):
    return tuple([transform(x, flag) for transform in (Flip(m), functools.partial(crop, m))])


def higher_order(m, x, flag, other, number):
    mapped = tuple(map(lambda condition: crop(m, x, condition), [flag, other]))
    return (*mapped, functools.reduce(lambda y, transform: transform(y, flag), [Flip(m), Flip(m).method], x))


def decorated(m, x, flag, other, number):
    def flipping(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if other:
                result = m.fn.flip(result)
            return result

        return wrapper

    @flipping
    def inner(y):
        if flag:
            y = m.fn.crop(y, crop=(2, 2))
        return y

    return inner(x)


def continues(m, x, flag, other, number):
    for condition in (flag, other):
        if condition:
            continue
        x = m.fn.flip(x)
    count = 0
    while count < 2:
        count += 1
        if flag:
            x = m.fn.flip(x, horizontal=0, vertical=1)
        else:
            continue
        x = m.fn.crop(x, crop=(4, 4))
    return x


def attributes(m, x, flag, other, number):
    thing = Flip(m)
    thing.inner = Flip(m)
    thing.value, thing.inner.values = x, [x, x]
    if flag:
        thing.value = m.fn.flip(x)
        thing.inner.values[0] = m.fn.flip(x, horizontal=0, vertical=1)
        if other:
            thing.inner.values[1] = m.fn.crop(x, crop=(2, 2))
    return thing.value, *thing.inner.values


def dictionaries(m, x, flag, other, number):
    sample = {"image": x}
    if flag:
        sample["image"] = m.fn.flip(x)
        sample["size"] = x.shape()
    else:
        sample["size"] = x.shape() * 2
    return sample["image"], sample["size"]


def assigns_and_returns(m, x, flag, other, number):
    thing = Flip(m)

    def inner():
        if flag:
            thing.value = m.fn.flip(x)
            return x
        else:
            thing.value = x
            return m.fn.crop(x, crop=(2, 2))

    return inner(), thing.value


def unused_of_another_kind(m, x, flag, other, number):
    y, label = None, "a"
    if flag:
        y, label = x, "b"
    return x


def imports(m, x, flag, other, number):
    if True:
        import numpy as inside
    return m.fn.crop(x, crop=inside.array([2.0, 2.0]))


def floats(m, x, flag, other, number):
    if number:
        x = m.fn.flip(x)
    return x, not number


PROGRAMS = [
    callable_objects,
    methods,
    lambdas,
    partials,
    loop_over_transforms,
    comprehension,
    higher_order,
    decorated,
    continues,
    attributes,
    dictionaries,
    assigns_and_returns,
    unused_of_another_kind,
    imports,
    floats,
]


@pytest.mark.parametrize("graph", PROGRAMS, ids=lambda graph: graph.__name__)
def test_conditions_are_dalis_in_every_callable(graph):
    same_as_dali(graph)


def split_by_hand(m, x, flag, other, number):
    split, merge = m.fn._conditional.split, m.fn._conditional.merge
    taken, rest = split(x, predicate=flag)
    inner, _ = split(other, predicate=flag)
    first, second = split(m.fn.flip(taken), predicate=inner)
    taken = merge(m.fn.crop(first, crop=(2, 2)), second, predicate=inner)
    return merge(taken, m.fn.rotate(rest, angle=90), predicate=flag), m.fn._conditional.not_(other)


@pytest.mark.parametrize("conditionals", [False, True])
def test_batches_may_be_split_and_merged_by_hand(conditionals):
    same_as_dali(split_by_hand, conditionals=conditionals)


def test_operators_run_only_for_the_part_they_were_called_with():
    def graph(m, x, flag, other, number):
        tall = x.shape()[0] >= 7
        taken, rest = m.fn._conditional.split(x, predicate=tall)
        return m.fn._conditional.merge(m.fn.crop(taken, crop=(7, 2)), rest, predicate=tall)

    same_as_dali(graph, conditionals=False)  # the others are too small for the crop


def test_a_part_of_a_batch_is_no_output():
    with pytest.raises(ArgumentError, match="merge it with the other part"):
        run(HERE, lambda m, x, flag, other, number: m.fn._conditional.split(x, predicate=flag)[0])


class Private:
    def __init__(self, m):
        self.__m, self.__size = m, (2, 2)

    def __call__(self, x, flag):
        if flag:
            x = self.__crop(x)
        return x

    def __crop(self, x):
        return self.__m.fn.crop(x, crop=self.__size)


# Two lambdas of one line with equal arguments; DALI cannot tell them apart.
PAIR = (lambda f, g: f and g), (lambda f, g: f or g)


def test_private_names_and_neighboring_lambdas_are_found():
    def graph(m, x, flag, other, number):
        return Private(m)(x, flag), PAIR[0](flag, other), PAIR[1](flag, other)

    cropped, both, either = run(HERE, graph)
    assert [one.shape[:2] == (2, 2) for one in cropped] == [bool(flag) for flag in FLAGS]
    for flag, other, first, second in zip(FLAGS, OTHERS, both, either, strict=True):
        assert first == (flag and other) and second == (flag or other)


def test_plain_conditions_keep_pythons_meaning():
    class Counter:
        total = 0

        def add(self, items, *, keep):
            for item in items:
                if item < 0:
                    continue
                if item > 9:
                    break
                if keep:
                    self.last = item
                self.total += item
            return self

    counter = convert(Counter().add)([1, -5, 2, 30, 4], keep=False)
    assert counter.total == 3 and not hasattr(counter, "last")
    assert convert(functools.partial(Counter().add, keep=True))([7]).last == 7

    def numbers(count):
        for number in range(count):
            if number % 2:
                yield number

    assert list(convert(numbers)(5)) == [1, 3]


def refusal(graph, *, conditionals=True):
    """Return the error of a graph here, which a handler of DALI's own error would catch as well."""
    with pytest.raises(Exception) as theirs:
        run(DALI, graph, conditionals=conditionals)
    kind = next(base for base in type(theirs.value).__mro__ if base.__module__ == "builtins")
    with pytest.raises(kind) as mine:
        run(HERE, graph, conditionals=conditionals)
    return str(mine.value)


def test_one_sided_returns_are_refused():
    def graph(m, x, flag, other, number):
        if flag:
            x = m.fn.flip(x)
            if other:
                return x
        return m.fn.crop(x, crop=(2, 2))

    assert "branch must also have a return statement" in refusal(graph)


def test_break_on_a_node_is_refused():
    def graph(m, x, flag, other, number):
        for _ in range(2):
            if flag:
                break
            x = m.fn.flip(x)
        return x

    assert "`break`" in refusal(graph)


def test_an_element_of_one_branch_only_is_refused():
    def graph(m, x, flag, other, number):
        sample = {}
        if flag:
            sample["size"] = x.shape()
        return x

    text = refusal(graph)
    assert "sample['size']" in text and "Variables need to be initialized in every code path" in text


def test_branches_that_return_different_structures_are_refused():
    def graph(m, x, flag, other, number):
        if flag:
            y = (x, x)
        else:
            y = x
        return y

    assert "same nesting structure" in refusal(graph)


def test_yielding_in_a_branch_on_a_node_is_refused():
    def graph(m, x, flag, other, number):
        def images():
            if flag:
                yield x

        return next(images())

    with pytest.raises(ArgumentTypeError, match="cannot yield in a branch"):
        run(HERE, graph)


def test_marked_functions_are_called_as_they_are():
    def graph(m, x, flag, other, number):
        @do_not_convert
        def plain(y):
            return m.fn.flip(y) if flag else y

        return plain(x)

    with pytest.raises(TypeError, match="do_not_convert"):
        run(HERE, graph)


@pytest.mark.parametrize(("header", "works"), [("import pixelmill", True), ("import json", False)])
def test_installed_modules_are_converted_if_they_use_pixelmill(tmp_path, monkeypatch, header, works):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    path = folder / "transforms_of_a_project.py"
    path.write_text(
        f"{header}\n\ndef crop(m, x, flag):\n    if flag:\n        x = m.fn.crop(x, crop=(2, 2))\n    return x\n"
    )
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)

    def graph(m, x, flag, other, number):
        return module.crop(m, x, flag)

    if works:
        assert [one.shape[0] == 2 for one in run(HERE, graph)[0]] == [bool(flag) for flag in FLAGS]
    else:
        with pytest.raises(TypeError, match="known only when the pipeline runs"):
            run(HERE, graph)
