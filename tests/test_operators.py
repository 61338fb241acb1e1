"""The contract of every operator: what reference.py says, whatever the sizes, threads, batches, rules, instructions."""

from __future__ import annotations

import re
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest
from pictures import color, encode
from reference import ENTRIES, philox
from running import close, noise, numpy_batch

from pixelmill import Pipeline, _core, fn
from pixelmill.operators import REGISTRY, public_operators

SIZES = [(1, 1), (1, 7), (5, 1), (2, 3), (13, 17), (32, 31), (40, 33)]
EMPTY = [(0, 5), (4, 0), (0, 0)]


def pictures(entry):
    sizes = SIZES + (EMPTY if entry.empty else [])
    return [noise((*size, 3), seed=number) for number, size in enumerate(sizes)]


def files(entry):
    shapes = [(11, 12), (33, 21), (16, 48), (64, 17)]
    return [encode(color(9, *shape), "JPEG", subsampling=i % 3) for i, shape in enumerate(shapes)]


def shapes(entry):
    return [np.array(shape, np.int64) for shape in [(1, 1, 3), (400, 470, 3), (60, 900, 3), (900, 60, 3), (33, 34, 1)]]


def samples_of(entry, folder):
    """Give what the operator works on, one for each sample."""
    if entry.inputs != "paths":
        return {"pictures": pictures, "files": files, "shapes": shapes}[entry.inputs](entry)
    paths = [folder / f"{number}.jpg" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes(range(10 * number)))
    return [str(path) for path in paths]


def run(entry, samples, *, one_by_one=False, **options):
    """Run an operator; give its outputs, each as a list with one array for each sample."""
    size = 1 if one_by_one else len(samples)
    given = {"batch_size": size, "num_threads": 2, "device_id": None, "seed": 1, **options}
    pipe = Pipeline(**given)
    with pipe:
        if entry.inputs == "paths":
            nodes = entry.graph(samples)
        else:
            batches = iter([[sample] for sample in samples]) if one_by_one else repeat(samples)
            layout = "HWC" if entry.inputs == "pictures" else None
            nodes = entry.graph(fn.external_source(source=batches, layout=layout, no_copy=True))
        pipe.set_outputs(*(nodes if isinstance(nodes, list) else [nodes]))
    taken = [[numpy_batch(out) for out in pipe.run()] for _ in range(len(samples) if one_by_one else 1)]
    return [[array for batch in taken for array in batch[output]] for output in range(len(taken[0]))]


def same(results, others):
    for output, other in zip(results, others, strict=True):
        for one, two in zip(output, other, strict=True):
            assert (one.dtype, one.shape) == (two.dtype, two.shape)
            assert one.tobytes() == two.tobytes()


def named_elsewhere():
    """List the operators that a test module names, as `fn.name(` or in quotes."""
    modules = [path for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name]
    text = "\n".join(path.read_text("utf-8") for path in modules)
    called, quoted = (set(re.findall(pattern, text)) for pattern in (r"fn\.([\w.]+)\(", r"\"([a-z_.0-9]+)\""))
    return called | quoted


def test_every_operator_is_tested_on_the_day_it_is_declared():
    untested = set(public_operators()) - set(ENTRIES) - named_elsewhere()
    assert not untested, "add an entry to tests/reference.py, or a test module where that does not say enough"


def test_nothing_is_written_down_that_is_not_there():
    assert set(ENTRIES) <= set(REGISTRY)


def test_the_reference_draws_by_philox():
    assert [f"{word:08x}" for word in philox([0] * 4, 0)] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]


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
        results = run(entry, samples)
        for number, sample in enumerate(samples):
            wanted = entry.reference(number, sample) if entry.draws else entry.reference(sample)
            for output, expected in zip(results, wanted if isinstance(wanted, tuple) else [wanted], strict=True):
                close(output[number], np.asarray(expected), level=entry.level, real=entry.real)

    def test_it_leaves_its_input_alone(self, entry, samples):
        before = [np.array(sample) for sample in samples]
        run(entry, samples)
        for sample, kept in zip(samples, before, strict=True):
            np.testing.assert_array_equal(np.array(sample), kept)

    def test_threads_change_nothing(self, entry, samples):
        same(run(entry, samples, num_threads=1), run(entry, samples, num_threads=4))

    def test_batches_change_nothing(self, entry, samples):
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
