"""Constants on devices, and arguments that were left out."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from dali_runs import equal, noise

import pixelmill
from pixelmill import fn, types

IMAGES = [noise((8, 8, 3)), noise((6, 9, 3), seed=1)]

logging.getLogger("pixelmill").addHandler(logging.NullHandler())


def first_output(graph):
    pipe = pixelmill.Pipeline(2, 1, 0)
    with pipe:
        node = graph()
        pipe.set_outputs(node)
    return node, pipe.run()[0]


CONSTANTS = {
    "array": (lambda: types.Constant(np.int32([1, 2])).gpu() + 1, [2, 3]),
    "device": (lambda: types.Constant(np.int32([1, 2]), device="gpu") * 2, [2, 4]),
    "number": (lambda: types.Constant(3, device="gpu") + 1, 4),
    "filled": (lambda: fn.cat(types.Constant(3, shape=(2,)).gpu(), types.Constant(4, shape=(1,)).gpu()), [3, 3, 4]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_may_be_requested_on_a_gpu(name):
    graph, wanted = CONSTANTS[name]
    node, batch = first_output(graph)
    assert node.device == "gpu"
    np.testing.assert_array_equal(batch.at(1), wanted)


def test_constants_come_back_from_a_gpu():
    node, batch = first_output(lambda: types.Constant(5, device="gpu").cpu() + 1)
    assert node.device == "cpu" and batch.at(0) == 6


def test_numbers_with_a_device_have_operators_as_on_dali():
    equal(lambda m, x: (x + m.types.Constant(3, device="cpu"), m.types.Constant(3, device="cpu") * 2), IMAGES)
    equal(lambda m, x: m.fn.rotate(x, angle=m.types.Constant(90.0, device="cpu")), IMAGES)


def test_outputs_that_were_requested_on_a_gpu_have_shapes():
    _, batch = first_output(lambda: fn.random.uniform(shape=[2, 3]).gpu())
    assert batch.shape() == [(2, 3), (2, 3)] and batch.as_cpu().as_array().shape == (2, 2, 3)
    assert list(batch.as_tensor().shape()) == [2, 2, 3] and list(batch[0].shape()) == [2, 3]
    for device in ("cpu", "gpu"):
        node, shapes = first_output(lambda device=device: fn.random.uniform(shape=[2, 3]).gpu().shape(device=device))
        assert node.device == device
        np.testing.assert_array_equal(shapes.as_array(), [[2, 3], [2, 3]])


OMITTED = {
    "a constructor with None": lambda m, x: m.ops.Resize(size=None, interp_type=None, resize_x=4)(x),
    "a constructor with None, then a value": lambda m, x: m.ops.Rotate(angle=None, fill_value=None)(x, angle=90),
    "a call with None": lambda m, x: m.ops.Rotate(angle=90)(x, angle=None),
    "a function with None": lambda m, x: m.fn.rotate(x, angle=90, fill_value=None, size=None),
}


@pytest.mark.parametrize("name", OMITTED)
def test_none_is_an_argument_that_was_left_out(name):
    equal(OMITTED[name], IMAGES)


def test_constants_show_their_type_and_shape() -> None:
    constant = types.Constant(np.zeros((2, 3), np.float32), layout="HW")
    assert repr(constant) == "ArrayConstant(float32 (2, 3), layout='HW')"
