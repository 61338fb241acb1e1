"""The contract of every operator: what reference.py says, whatever the sizes, threads, batches, rules, instructions."""

from __future__ import annotations

import io
import warnings
from enum import EnumType
from itertools import repeat
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from compared import near
from drawing import distance
from pictures import color, encode
from plain import philox
from reference import ENTRIES
from running import DALI, HERE, close, noise, numpy_batch

from pixelmill import ArgumentError, _core, fn
from pixelmill.graph.calls import call
from pixelmill.operators import REGISTRY, public_operators
from pixelmill.operators.declare import Strings

SIZES = [(1, 1), (1, 7), (5, 1), (2, 3), (13, 17), (32, 31), (40, 33)]
EMPTY = [(0, 5), (4, 0), (0, 0)]
MANY = 300  # samples of a distribution


def pictures(entry):
    sizes = SIZES + (EMPTY if entry.empty else [])
    return [noise((*size, 3), seed=number) for number, size in enumerate(sizes)]


def files(entry):
    shapes = [(11, 12), (33, 21), (16, 48), (64, 17)]
    return [encode(color(9, *shape), "JPEG", subsampling=i % 3) for i, shape in enumerate(shapes)]


def shapes(entry):
    return [np.array(shape, np.int64) for shape in [(1, 1, 3), (400, 470, 3), (60, 900, 3), (900, 60, 3), (33, 34, 1)]]


def masks(entry):
    """Make masks of a few classes, with and without objects."""
    sizes = [(1, 1, 1), (1, 7, 1), (13, 17, 1), (32, 31, 1)]
    return [noise(size, seed=number) // 100 for number, size in enumerate(sizes)]


def boxes(entry):
    """Make relative boxes (x, y, width, height) inside of a picture, also none."""
    random = np.random.default_rng(3)
    low = [random.random((count, 2), np.float32) / 2 for count in ((1, 4, 0, 7) if entry.empty else (1, 4, 7))]
    return [np.concatenate([corner, 0.05 + corner / 2], axis=1).astype(np.float32) for corner in low]


def arrays(entry):
    """Write arrays as files of NumPy."""
    files_ = []
    for number, shape in enumerate([(3, 4), (1, 1), (13, 17)]):
        file = io.BytesIO()
        np.save(file, noise(shape, np.int16, number))
        files_.append(np.frombuffer(file.getvalue(), np.uint8))
    return files_


KINDS = {"arrays": arrays, "pictures": pictures, "files": files, "shapes": shapes, "masks": masks, "boxes": boxes}


def samples_of(entry, folder):
    """Give what the operator works on, one for each sample."""
    if entry.inputs not in ("paths", "names"):
        return KINDS[entry.inputs](entry)
    paths = [folder / f"{number}.jpg" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes(range(10 * number + 1)))
    named = [str(path) for path in paths]
    return named if entry.inputs == "paths" else [np.frombuffer(name.encode(), np.uint8) for name in named]


def run(entry, samples, *, module=HERE, one_by_one=False, **options):
    """Run an operator; give its outputs, each as a list with one array for each sample."""
    size = 1 if one_by_one else len(samples)
    pipe = module.Pipeline(**{"batch_size": size, "num_threads": 2, "device_id": None, "seed": 1, **options})
    with pipe:
        if entry.inputs == "paths":
            nodes = entry.graph(module, samples)
        else:
            batches = iter([[sample] for sample in samples]) if one_by_one else repeat(samples)
            layout = "HWC" if entry.inputs == "pictures" else None
            no_copy = module is HERE
            nodes = entry.graph(module, module.fn.external_source(source=batches, layout=layout, no_copy=no_copy))
        pipe.set_outputs(*(nodes if isinstance(nodes, (list, tuple)) else [nodes]))
    pipe.build()
    taken = [[numpy_batch(out) for out in pipe.run()] for _ in range(len(samples) if one_by_one else 1)]
    return [[array for batch in taken for array in batch[output]] for output in range(len(taken[0]))]


def same(results, others):
    for output, other in zip(results, others, strict=True):
        for one, two in zip(output, other, strict=True):
            assert (one.dtype, one.shape) == (two.dtype, two.shape)
            assert one.tobytes() == two.tobytes()


# Readers have a suite of their own, test_readers_all.py, which demands the same of all of them.
READERS = sorted(name for name in public_operators() if name.startswith("readers.") and name not in ENTRIES)


def test_every_operator_is_tested_and_compared_with_dali_on_the_day_it_is_declared():
    assert set(public_operators()) - set(ENTRIES) == set(READERS), "add an entry to tests/reference.py"


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
            pytest.skip("its meaning is compared with DALI's")
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
        best = _core.simd_level()
        with_best = run(entry, samples)
        try:
            _core.force_simd_level("base")
            same(run(entry, samples), with_best)
        finally:
            _core.force_simd_level(best)


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
def test_axes_that_no_picture_has_are_refused_when_the_graph_is_built(name, layout):
    picture = fn.external_source(source=list, layout=layout)
    needed = {argument.name: some(argument) for argument in REGISTRY[name].arguments.values() if argument.required}
    with pytest.raises(ArgumentError, match=rf"^{name}: .*{layout}.*\n  created at test_operators\.py:\d+"):
        call(REGISTRY[name], [picture], needed)
