"""Runs one graph function here and on DALI: a program for DALI means the same after its import line was changed."""

from __future__ import annotations

import logging
from itertools import repeat
from types import ModuleType

import numpy as np
from peers import peer

import pixelmill

dali = peer("nvidia.dali")

HERE, DALI = pixelmill, dali
LEVEL = 1  # what whole numbers may differ by
REAL = 1e-3  # what floats may differ by

logging.getLogger("pixelmill").addHandler(logging.NullHandler())


def dali_has(name: str) -> bool:
    """Whether DALI has an operator of this name, such as `decoders.image`."""
    found: object = DALI.fn
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


def noise(shape, dtype=np.uint8, seed=0):
    """Make the hardest image: neighbours know nothing of each other."""
    random = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "f":
        return random.random(shape, np.float32)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def numpy_batch(batch):
    """Copy a TensorList to a list of arrays."""
    return [np.array(batch.at(i)) for i in range(len(batch))]


def make(module: ModuleType, graph, *inputs, layouts="HWC", **options):
    """Build a pipeline of `module` whose nodes are `inputs`, each a list of arrays, one for each sample."""
    if isinstance(layouts, str):
        layouts = [layouts, *[""] * (len(inputs) - 1)][: len(inputs)]
    given = {"batch_size": len(inputs[0]) if inputs else 2, "num_threads": 2, "device_id": None, "seed": 7}
    pipe = module.Pipeline(**(given | {"prefetch_queue_depth": 1} | options))
    with pipe:
        nodes = [
            module.fn.external_source(source=repeat(batch), layout=layout or None)
            for batch, layout in zip(inputs, layouts, strict=True)
        ]
        outputs = graph(module, *nodes)
        pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
    pipe.build()
    return pipe


def run(graph, *inputs, module: ModuleType = HERE, **options):
    """Return the first batch of every output as a list of arrays."""
    return [numpy_batch(batch) for batch in make(module, graph, *inputs, **options).run()]


def equal(graph, *inputs, level=LEVEL, real=REAL, layouts="HWC"):
    """Demand DALI's results, types, shapes and names of axes; give ours."""
    theirs = make(DALI, graph, *inputs, layouts=layouts).run()
    mine = make(HERE, graph, *inputs, layouts=layouts).run()
    assert len(mine) == len(theirs)
    for here, there in zip(mine, theirs, strict=True):
        assert here.layout() == there.layout()
        assert int(here.dtype) == int(there.dtype)
        assert [list(shape) for shape in here.shape()] == [list(shape) for shape in there.shape()]
        for got, wanted in zip(numpy_batch(here), numpy_batch(there), strict=True):
            close(got, wanted, level=level, real=real)
    return [numpy_batch(batch) for batch in mine]


def close(got, wanted, *, level=LEVEL, real=REAL):
    """Demand equality within the tolerance of the element type."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.size == 0:
        return
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=0, atol=real)
    else:
        difference = np.abs(got.astype(np.int64) - wanted.astype(np.int64)).max()
        assert difference <= level, f"differs by {difference}"


def refused(graph, *inputs, **options):
    """Tell which of the two raise: (here, DALI)."""
    failed = []
    for module in (HERE, DALI):
        try:
            run(graph, *inputs, module=module, **options)
            failed.append(False)
        except (RuntimeError, ValueError, TypeError, IndexError, pixelmill.PixelmillError):
            failed.append(True)
    return tuple(failed)
