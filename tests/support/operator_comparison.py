"""Operators on images that hypothesis makes up, here and on DALI; and what every operator must keep here."""

from __future__ import annotations

import numpy as np
from dali_runs import DALI, HERE, make, noise, numpy_batch
from hypothesis import strategies as st

from pixelmill import _core
from pixelmill.operators import REGISTRY

SAMPLES = 3
RELATIVE = 1e-4  # what floats may differ by, as a share of the largest value
seeds = st.integers(0, 2**32 - 1)


@st.composite
def batches(draw, layout="HWC", dtype=np.uint8, channels=(1, 4), least=1, most=24):
    """Make images of different extents, with equally many channels and frames."""
    fixed = {"C": draw(st.integers(*channels)), "F": draw(st.integers(1, 3))}
    shapes = [[fixed.get(axis) or draw(st.integers(least, most)) for axis in layout or "HWC"] for _ in range(SAMPLES)]
    seed = draw(seeds)
    return [
        noise(shape, np.float32 if dtype == np.float16 else dtype, seed + i).astype(dtype)
        for i, shape in enumerate(shapes)
    ]


def each(draw, values, dtype=np.float32):
    """Make one value for every sample."""
    return [np.array(draw(values), dtype) for _ in range(SAMPLES)]


def operator(module, name):
    """Find `fn.noise.gaussian` by its name."""
    found = module.fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def graph_of(name, per_sample=(), **constants):
    """Make a graph of one operator; `per_sample` names the arguments that come as nodes, types come by their names."""

    def graph(module, data, *nodes):
        typed = {
            key: getattr(module.types, value) if key == "dtype" or key.endswith("_type") else value
            for key, value in constants.items()
        }
        return operator(module, name)(data, **dict(zip(per_sample, nodes, strict=True)), **typed)

    return graph


def compare(name, batch, layout="HWC", per_sample=None, *, level=None, relative=None, least=0.0, **constants):
    """Demand DALI's results of an operator, with their types, shapes and names of axes, within its own tolerance."""
    nodes = per_sample or {}
    tolerance = REGISTRY[name].tolerance
    level = tolerance.level if level is None else level
    relative = min(tolerance.relative, RELATIVE) if relative is None else relative
    graph = graph_of(name, tuple(nodes), **constants)
    layouts = [layout] + [""] * len(nodes)
    same(graph, batch, *nodes.values(), layouts=layouts, level=level, relative=relative, least=least)


def same(graph, *inputs, layouts="HWC", level=1, relative=RELATIVE, least=0.0):
    """Demand DALI's results of a graph with one output."""
    (theirs,), (mine,) = (make(module, graph, *inputs, layouts=layouts).run() for module in (DALI, HERE))
    assert mine.layout() == theirs.layout()
    for got, wanted in zip(numpy_batch(mine), numpy_batch(theirs), strict=True):
        near(got, wanted, level=level, relative=relative, least=least)


def near(got, wanted, *, level=1, relative=RELATIVE, least=0.0):
    """Demand equal types and shapes, and values that differ by a level, or by a share of the largest or of `least`."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if got.size == 0:
        return
    limit = 65504 if got.dtype == np.float16 else np.finfo(np.float32).max  # infinity is what lies beyond
    a, b = (np.clip(x.astype(np.float64), -limit, limit) for x in (got, wanted))
    largest = max(np.abs(b).max(), least, 1e-6)
    share = max(relative, 2**-10) if got.dtype == np.float16 else relative
    allowed = share * largest if got.dtype.kind == "f" else max(level, 1e-6 * largest)
    difference = np.abs(a - b).max()
    assert difference <= allowed, f"differs by {difference}, allowed is {allowed}"


def ours(graph, *inputs, layouts="HWC", **options):
    """Return our first output as a list of arrays."""
    return numpy_batch(make(HERE, graph, *inputs, layouts=layouts, **options).run()[0])


def on_each_level(graph, *inputs, layouts="HWC", **options):
    """Run a graph with every SIMD level and demand equal bytes; give them."""
    best, results = _core.simd_level(), []
    try:
        for level in ("base", best, *(["best"] if best != "base" else [])):  # the last one is AVX-512, if there is any
            _core.force_simd_level(level)
            results.append(ours(graph, *inputs, layouts=layouts, **options))
    finally:
        _core.force_simd_level(best)
    for one, *others in zip(*results, strict=True):
        assert all(one.tobytes() == other.tobytes() for other in others)
    return results[0]


# Views that leave the elements of an input where they are: their own axes in another order or direction.
VIEWS = {
    "flipped": lambda m, x: m.fn.flip(x, horizontal=1, vertical=1),
    "cropped": lambda m, x: m.fn.crop(x, crop=(7, 9)),
    "turned": lambda m, x: m.fn.transpose(x, perm=[1, 0, 2], output_layout="HWC"),
    "planes": lambda m, x: m.fn.transpose(m.fn.transpose(x, perm=[2, 0, 1]), perm=[1, 2, 0], output_layout="HWC"),
}


def unmoved_by_views(graph, batch):
    """Demand of a graph that it gives the same for a view as for its copy."""
    for view in VIEWS.values():
        copies = ours(lambda m, x: view(m, x), batch)  # noqa: B023
        direct = ours(lambda m, x: graph(m, view(m, x)), batch)  # noqa: B023
        for one, other in zip(direct, ours(graph, copies), strict=True):
            assert one.tobytes() == other.tobytes()
