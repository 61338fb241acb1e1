"""Layouts that only the data of an external source has: operators with names of axes wait for them."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise, numpy_batch

import pixelmill
from pixelmill.errors import LayoutError
from pixelmill.tensors import TensorCPU, TensorListCPU

IMAGES = [noise((8, 8, 3)), noise((6, 9, 3), seed=1)]
PLANES = [np.ascontiguousarray(image.transpose(2, 0, 1)) for image in IMAGES]


def same(programs):
    """Demand the results of DALI's program."""
    mine, theirs = programs
    assert len(mine) == len(theirs)
    for here, there in zip(mine, theirs, strict=True):
        assert here.layout() == there.layout()
        for got, wanted in zip(numpy_batch(here), numpy_batch(there), strict=True):
            close(got, wanted)


GRAPHS = {
    "normalize": lambda m, x: m.fn.normalize(x, axis_names="HW"),
    "pad": lambda m, x: m.fn.pad(x, axis_names="HW"),
    "mean": lambda m, x: m.fn.reductions.mean(x, axis_names="HW"),
    "cat": lambda m, x: m.fn.cat(x, x, axis_name="W"),
    "tensor_resize": lambda m, x: m.fn.tensor_resize(x, sizes=[4, 4], axis_names="HW"),
    "erase": lambda m, x: m.fn.erase(x, anchor=(1, 1), shape=(2, 2), axis_names="HW"),
    "slice": lambda m, x: m.fn.slice(x, 1, 3, axis_names="W"),
    "several": lambda m, x: m.fn.reductions.max(m.fn.pad(m.fn.flip(x), axis_names="W"), axis_names="C") + 1,
    "squeeze": lambda m, x: m.fn.squeeze(m.fn.reductions.sum(x, axis_names="W", keep_dims=True), axis_names="W"),
}


def fed(module, graph, data, layout, batches=2):
    pipe = module.Pipeline(2, 2, None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(graph(module, module.fn.external_source(name="x")))
    pipe.build()
    outputs = []
    for _ in range(batches):
        pipe.feed_input("x", data, layout=layout)
        outputs += pipe.run()
    return outputs


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
@pytest.mark.parametrize("name", GRAPHS)
def test_names_of_axes_refer_to_the_layout_that_is_fed(name, layout):
    data = IMAGES if layout == "HWC" else PLANES
    same([fed(module, GRAPHS[name], data, layout) for module in (HERE, DALI)])


def test_axes_that_never_come_are_an_error_of_the_run():
    with pytest.raises(LayoutError, match=r"'C' are not all part of the layout ''(.|\n)*created at test_late_layouts"):
        fed(HERE, lambda m, x: m.fn.reductions.mean(x, axis_names="C"), IMAGES, None)
    with pytest.raises(LayoutError, match="'Q' are not all part of the layout 'HWC'"):
        fed(HERE, lambda m, x: m.fn.reductions.mean(x, axis_names="Q"), IMAGES, "HWC")


def test_without_a_source_axes_are_checked_when_the_graph_is_built():
    with pytest.raises(LayoutError):
        pixelmill.fn.reductions.mean(pixelmill.types.Constant(np.zeros((2, 2), np.uint8)), axis_names="C")


def tensors(module):
    return (TensorListCPU, TensorCPU) if module is HERE else (DALI.tensors.TensorListCPU, DALI.tensors.TensorCPU)


def whole_batch(module):
    return lambda: tensors(module)[0](np.stack([PLANES[0], PLANES[0]]), layout="CHW")


def list_of_tensors(module):
    return lambda: [tensors(module)[1](plane, layout="CHW") for plane in PLANES]


def single_samples(module):
    return lambda info: tensors(module)[1](PLANES[info.idx_in_batch], layout="CHW")


def sourced(module, source, **options):
    pipe = module.Pipeline(2, 2, None)
    with pipe:
        made = module.fn.external_source(source=source(module), **options)
        first, *rest = made if isinstance(made, (list, tuple)) else [made]
        pipe.set_outputs(module.fn.flip(first), *rest)
    return [output for _ in range(3) for output in pipe.run()]


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (whole_batch, {}),
        (list_of_tensors, {}),
        (single_samples, {"batch": False}),
        (lambda module: lambda: (list_of_tensors(module)(), IMAGES), {"num_outputs": 2}),
        (lambda module: lambda: (IMAGES, list_of_tensors(module)()), {"num_outputs": 2}),
        (whole_batch, {"layout": "HWC"}),  # the declared layout is used
    ],
)
def test_the_layouts_of_what_a_source_returns_are_used(source, options):
    same([sourced(module, source, **options) for module in (HERE, DALI)])


def test_a_source_beside_a_reader_may_have_a_layout(tmp_path):
    for number in range(4):
        np.save(tmp_path / f"{number}.npy", np.array([number]))
    pipe = pixelmill.Pipeline(2, 2, None)
    with pipe:
        numbers = pixelmill.fn.readers.numpy(file_root=str(tmp_path))
        images = pixelmill.fn.external_source(source=list_of_tensors(HERE))
        pipe.set_outputs(numbers, pixelmill.fn.reductions.mean(images, axis_names="HW"))
    read = []
    for _ in range(2):
        numbers, means = pipe.run()
        read += numbers.as_array().ravel().tolist()
        np.testing.assert_allclose(means.at(1), PLANES[1].mean((1, 2)), rtol=1e-5)
    assert read == [0, 1, 2, 3]
