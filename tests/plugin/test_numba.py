"""Functions that Numba compiles, in pipelines here and in DALI's."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from pixelmill import ArgumentError, Pipeline, fn, types
from pixelmill.plugin.numba import NumbaFunction
from pixelmill.plugin.numba.experimental import NumbaFunction as ExperimentalNumbaFunction
from pixelmill.plugin.numba.fn.experimental import numba_function

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.types as dali_types
    from nvidia.dali import Pipeline as DaliPipeline
    from nvidia.dali.plugin.numba.fn import numba_function as dali_numba_function

IMAGES = [np.arange(h * 4 * 3, dtype=np.uint8).reshape(h, 4, 3) for h in (2, 3)]


def inverted(out: Any, source: Any) -> None:
    for row in range(source.shape[0]):
        out[row] = 255 - source[row]


def inverted_batch(outs: Any, sources: Any) -> None:
    for sample in range(len(outs)):
        outs[sample][:] = 255 - sources[sample]


def turned_shape(outs: Any, ins: Any) -> None:
    for sample in range(len(outs[0])):
        outs[0][sample][0] = ins[0][sample][1]
        outs[0][sample][1] = ins[0][sample][0]
        outs[0][sample][2] = ins[0][sample][2]


def turned(out: Any, source: Any) -> None:
    for row in range(source.shape[0]):
        for column in range(source.shape[1]):
            out[column, row] = source[row, column]


def two(first: Any, second: Any, source: Any, other: Any) -> None:
    first[:] = source
    second[:] = other + 1


CASES: dict[str, dict[str, Any]] = {
    "samples": {"run_fn": inverted},
    "batches": {"run_fn": inverted_batch, "batch_processing": True},
    "shapes": {"run_fn": turned, "setup_fn": turned_shape},
}


def run(function: Any, module: Any, cls: Any, names: Any, count: int = 1, **options: Any) -> list[Any]:
    pipe = cls(2, 1, None)
    with pipe:
        sources = [module.external_source(source=lambda: IMAGES) for _ in range(count)]
        made = function(
            *sources,
            out_types=[names.UINT8] * count,
            in_types=[names.UINT8] * count,
            outs_ndim=[3] * count,
            ins_ndim=[3] * count,
            **options,
        )
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    return [[np.array(out[place]).tolist() for place in range(2)] for out in pipe.run()]


@pytest.mark.parametrize("name", CASES)
def test_the_function_gets_samples_or_batches(name: str) -> None:
    wanted = [image.swapaxes(0, 1) if name == "shapes" else 255 - image for image in IMAGES]
    assert run(numba_function, fn, Pipeline, types, **CASES[name]) == [[image.tolist() for image in wanted]]


def test_results_are_those_of_dali() -> None:  # of one case, because DALI compiles for many seconds
    ours = run(numba_function, fn, Pipeline, types, **CASES["shapes"])
    assert ours == run(dali_numba_function, dali_fn, DaliPipeline, dali_types, **CASES["shapes"])


def test_several_outputs() -> None:
    first, second = run(numba_function, fn, Pipeline, types, count=2, run_fn=two)
    assert first == [image.tolist() for image in IMAGES]
    assert second == [(image + 1).tolist() for image in IMAGES]


def test_the_class_is_called_with_the_inputs() -> None:
    assert ExperimentalNumbaFunction is NumbaFunction
    pipe = Pipeline(2, 1, None)
    with pipe:
        operator = NumbaFunction(inverted, [types.UINT8], [types.UINT8], [3], [3])
        pipe.set_outputs(operator(fn.external_source(source=lambda: IMAGES)))
    np.testing.assert_array_equal(pipe.run()[0].at(0), 255 - IMAGES[0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"out_types": [types.UINT8] * 2}, "out_types has 2 entries"),
        ({"in_types": [types.FLOAT16]}, "FLOAT16"),
        ({"device": "gpu"}, "GPUs"),
        ({"in_types": [types.UINT8] * 2, "ins_ndim": [3, 3]}, "1 inputs, but in_types has 2"),
        ({"out_types": [types.UINT8] * 2, "outs_ndim": [3, 3]}, "without setup_fn"),
    ],
)
def test_wrong_declarations_are_named(changed: dict[str, Any], message: str) -> None:
    given = {"out_types": [types.UINT8], "in_types": [types.UINT8], "outs_ndim": [3], "ins_ndim": [3]}
    with Pipeline(2, 1, None), pytest.raises(ArgumentError, match=message):
        numba_function(fn.external_source(name="x"), run_fn=inverted, **{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"in_types": [types.FLOAT]}, "input 0 was declared as float32"), ({"outs_ndim": [2]}, "output 0 was declared")],
)
def test_data_that_is_not_as_declared_is_named(changed: dict[str, Any], message: str) -> None:
    given = {"out_types": [types.UINT8], "in_types": [types.UINT8], "outs_ndim": [3], "ins_ndim": [3]}
    pipe = Pipeline(2, 1, None)
    with pipe:
        source = fn.external_source(source=lambda: IMAGES)
        pipe.set_outputs(numba_function(source, run_fn=inverted, **{**given, **changed}))
    with pytest.raises(Exception, match=message):
        pipe.run()


def test_without_numba_the_next_step_is_named() -> None:
    program = "import sys; sys.modules['numba'] = None; import pixelmill.plugin.numba"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'pixelmill[numba]'" in result.stderr
