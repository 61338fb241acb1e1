"""Arguments that may differ from sample to sample: given as nodes they mean what they mean as constants."""

from __future__ import annotations

import functools
from itertools import repeat

import numpy as np
import pytest
from dali_runs import HERE, noise, numpy_batch
from operator_samples import samples_of
from reference import ENTRIES

from pixelmill import fn
from pixelmill.operators import REGISTRY

GIVEN = []  # what the last graph got as nodes


class Functions:
    """`fn`, but what may differ from sample to sample is handed over as nodes."""

    def __init__(self, count, path=()):
        self.count, self.path = count, path

    def __getattr__(self, name):
        return Functions(self.count, (*self.path, name))

    def __call__(self, *inputs, **given):
        spec = REGISTRY[".".join(self.path)]
        for name, value in given.items():
            argument = spec.arguments.get(spec.renamed.get(name, name))
            if argument is not None and argument.per_sample and isinstance(value, (bool, int, float, list, tuple)):
                GIVEN.append(name)
                array = np.asarray(value)
                array = array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
                given[name] = fn.external_source(source=repeat([array] * self.count))
        return functools.reduce(getattr, self.path, fn)(*inputs, **given)  # type: ignore[operator]


class Package:
    """The package with other functions."""

    types = HERE.types

    def __init__(self, count):
        self.fn = Functions(count)


def results(entry, samples, package):
    pipe = HERE.Pipeline(batch_size=len(samples), num_threads=2, device_id=None, seed=1)
    layout = "HWC" if entry.inputs == "pictures" else None
    with pipe:
        made = entry.graph(package, fn.external_source(source=repeat(samples), layout=layout))
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    return [numpy_batch(batch) for batch in pipe.run()]


# Those with arguments that the graph is built by are told apart by what is in GIVEN.
@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.inputs not in ("paths", "names")])
def test_nodes_mean_what_constants_mean(name, tmp_path):
    entry = ENTRIES[name]
    samples = samples_of(entry, tmp_path)
    GIVEN.clear()
    with_nodes = results(entry, samples, Package(len(samples)))
    if not GIVEN:
        pytest.skip("all that it is given here is the same for every sample")
    for output, other in zip(with_nodes, results(entry, samples, HERE), strict=True):
        for got, wanted in zip(output, other, strict=True):
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
            if entry.level or got.dtype.kind == "f":
                np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=1e-6, atol=entry.level)
            else:
                np.testing.assert_array_equal(got, wanted)


def test_samples_take_their_own_value():
    pictures = [noise((6, 8, 3), seed=0)] * 3
    pipe = HERE.Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipe:
        shares = fn.external_source(source=repeat([np.float32(0.0), np.float32(0.5), np.float32(2.0)]))
        pipe.set_outputs(fn.brightness(fn.external_source(source=repeat(pictures), layout="HWC"), brightness=shares))
    dark, half, bright = numpy_batch(pipe.run()[0])
    assert dark.max() == 0 and np.abs(half.astype(int) - pictures[0] / 2).max() <= 1
    np.testing.assert_array_equal(bright, np.minimum(pictures[0].astype(int) * 2, 255))
