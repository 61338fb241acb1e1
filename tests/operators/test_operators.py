"""The contract of every operator: what reference.py says, whatever the sizes, threads, batches, rules, instructions."""

from __future__ import annotations

import warnings
from enum import EnumType
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise
from distributions import distance
from numpy_operators import philox
from operator_comparison import near
from operator_samples import pictures, run, samples_of
from reference import ENTRIES

from pixelmill import ArgumentError, _core, fn
from pixelmill.graph.calls import call
from pixelmill.operators import REGISTRY, public_operators
from pixelmill.operators.declare import Strings

MANY = 300  # samples of a distribution


def same(results, others):
    for output, other in zip(results, others, strict=True):
        for one, two in zip(output, other, strict=True):
            assert (one.dtype, one.shape) == (two.dtype, two.shape)
            assert one.tobytes() == two.tobytes()


# Readers have a suite of their own, test_readers_all.py, which demands the same of all of them.
READERS = sorted(name for name in public_operators() if name.startswith("readers.") and name not in ENTRIES)


def test_every_operator_is_tested_and_compared_with_dali_on_the_day_it_is_declared():
    assert set(public_operators()) - set(ENTRIES) == set(READERS), "add an entry to tests/support/reference.py"


def test_nothing_is_written_down_that_is_not_there():
    assert set(ENTRIES) <= set(REGISTRY)


def test_the_reference_draws_by_philox():
    assert [f"{word:08x}" for word in philox([0] * 4, 0)] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


def distributed_alike(mine, theirs):
    """Demand of random results that their means are distributed alike, and their types and numbers of axes equal."""
    for output, other in zip(mine, theirs, strict=True):
        assert (output[0].dtype, output[0].ndim) == (other[0].dtype, other[0].ndim)
        one, two = (np.array([np.mean(x) if x.size else -1.0 for x in values], float) for values in (output, other))
        assert distance(one, two) <= 1


@pytest.mark.parametrize("name", ENTRIES)
class TestContract:
    """What holds for every operator."""

    @pytest.fixture
    def entry(self, name):
        return ENTRIES[name]

    @pytest.fixture
    def samples(self, entry, tmp_path):
        return samples_of(entry, tmp_path)

    def test_it_means_what_the_reference_says(self, entry, samples):
        if entry.reference is None:
            pytest.skip("its properties are tested" if entry.unlike_dali else "its meaning is compared with DALI's")
        results = run(entry, samples)
        for number, sample in enumerate(samples):
            wanted = entry.reference(number, sample) if entry.draws else entry.reference(sample)
            for output, expected in zip(results, wanted if isinstance(wanted, tuple) else [wanted], strict=True):
                close(output[number], np.asarray(expected), level=entry.level, real=entry.real)

    def test_it_is_dalis(self, name, entry, samples):
        tolerance = REGISTRY[name].tolerance
        if entry.unlike_dali:
            pytest.skip(entry.unlike_dali)
        samples = [sample for sample in samples if np.size(sample)]
        if entry.draws:
            samples = samples[-1:] * MANY
        with warnings.catch_warnings(record=True):  # DALI's, about its older names
            mine, theirs = (run(entry, samples, module=module) for module in (HERE, DALI))
        if entry.draws:
            distributed_alike(mine, theirs)
            return
        for output, other in zip(mine, theirs, strict=True):
            for got, wanted in zip(output, other, strict=True):
                near(got, wanted, level=tolerance.level, relative=tolerance.relative)

    def test_it_leaves_its_input_alone(self, entry, samples):
        before = [np.array(sample) for sample in samples]
        run(entry, samples)
        for sample, kept in zip(samples, before, strict=True):
            np.testing.assert_array_equal(np.array(sample), kept)

    def test_threads_change_nothing(self, entry, samples):
        same(run(entry, samples, num_threads=1), run(entry, samples, num_threads=4))

    def test_batches_change_nothing(self, entry, samples):
        if not entry.alone:
            pytest.skip("it is about the batch")
        same(run(entry, samples), run(entry, samples, one_by_one=True))

    def test_fusing_changes_nothing(self, entry, samples):
        same(run(entry, samples), run(entry, samples, optimize=False))

    def test_instructions_change_nothing(self, entry, samples):
        try:
            _core.force_simd_level("best")
            with_best = run(entry, samples)
            for level in ("base", "avx2"):
                _core.force_simd_level(level)
                same(run(entry, samples), with_best)
        finally:
            _core.force_simd_level("best")


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.inputs == "pictures"])
def test_views_are_read_like_copies(name):
    entry = ENTRIES[name]
    samples = pictures(entry)
    views = [np.repeat(x, 2, axis=1)[:, ::2] for x in samples]
    for output, other in zip(run(entry, views), run(entry, samples), strict=True):
        for one, two in zip(output, other, strict=True):
            close(one, two, level=entry.level, real=entry.real)


# What is refused


def source():
    return fn.external_source(source=lambda: [noise((4, 5, 3))], layout="HWC")


def some(argument):
    """Make a value that an argument takes."""
    if argument.per_sample:
        return source()
    if isinstance(argument.kind, EnumType):
        return next(iter(argument.kind))
    if get_origin(argument.kind) is Literal:
        return get_args(argument.kind)[0]
    return "somewhere" if argument.kind in (str, Strings) else 1


def refused(name, wrong, *, inputs=None):
    """Call an operator wrongly; give the message, which must name it and the line of the call."""
    spec = REGISTRY[name]
    count = spec.required_inputs if inputs is None else inputs
    needed = {argument.name: some(argument) for argument in spec.arguments.values() if argument.required}
    with pytest.raises(ArgumentError) as caught:
        call(spec, [source() for _ in range(count)], {**needed, **wrong})
    message = str(caught.value)
    assert message.startswith(f"{name}: ") and "created at test_operators.py:" in message
    return message


@pytest.mark.parametrize("name", public_operators())
def test_wrong_arguments_are_refused_when_the_graph_is_built(name):
    for argument in REGISTRY[name].arguments.values():
        if argument.kind is Any:
            continue
        assert f"{argument.name} must be" in refused(name, {argument.name: object()})
        if argument.limits is not None:
            assert f"{argument.name} must be" in refused(name, {argument.name: argument.limits.low - 1})
        if not argument.per_sample:
            assert "must be a constant" in refused(name, {argument.name: source()})
    required = [argument.name for argument in REGISTRY[name].arguments.values() if argument.required]
    if required:
        assert f"{required[0]} is missing" in refused(name, {required[0]: None})


@pytest.mark.parametrize("name", public_operators())
def test_wrong_numbers_of_inputs_and_unknown_arguments_are_refused_when_the_graph_is_built(name):
    spec = REGISTRY[name]
    if not spec.many_inputs:
        assert "inputs, but received" in refused(name, {}, inputs=len(spec.inputs) + 1)
    with pytest.raises(TypeError, match=rf"^{name}: got an unexpected argument 'nonsense'"):
        call(spec, [source()] * spec.required_inputs, {"nonsense": 1})


@pytest.mark.parametrize("layout", ["ABC", "HC", "WHC", "CWH", "HWHC", "HWX"])
@pytest.mark.parametrize("name", ["flip", "crop", "crop_mirror_normalize", "random_resized_crop", "equalize", "sphere"])
def test_axes_that_no_image_has_are_refused_when_the_graph_is_built(name, layout):
    image = fn.external_source(source=list, layout=layout)
    needed = {argument.name: some(argument) for argument in REGISTRY[name].arguments.values() if argument.required}
    with pytest.raises(ArgumentError, match=rf"^{name}: .*{layout}.*\n  created at test_operators\.py:\d+"):
        call(REGISTRY[name], [image], needed)
