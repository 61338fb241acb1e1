"""Runs one graph on both engines."""

from __future__ import annotations

import numpy as np
import pytest
from encoded_images import color

from pixelmill import pipeline_def
from pixelmill.engine.dali.engine import DaliEngine

ENGINES = ("native", "dali")
OPTIONS = {"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 11, "decode_scaling": False}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write fourteen images of different sizes as JPEG files."""
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number in range(14):
        paths.append(str(folder / f"{number:02d}.jpg"))
        color(number, 40 + 7 * number, 110 - 5 * number).save(paths[-1], quality=92, subsampling=number % 3)
    return paths


def made(define, engine, *arguments, **options):
    """Make a pipeline from a graph and its arguments."""
    return pipeline_def(**{**OPTIONS, "enable_conditionals": True, "engine": engine, **options})(define)(*arguments)


def taken(pipe, count):
    """Take batches: of each output a list with one array for each sample."""
    return [[[np.array(out.at(place)) for place in range(len(out))] for out in pipe.run()] for _ in range(count)]


def agree(one, other, *, level=1, real=1e-3):
    """Demand the same shapes and types, whole numbers within `level` and floats within `real`."""
    assert len(one) == len(other)
    for outputs, others in zip(one, other, strict=True):
        for batch, wanted in zip(outputs, others, strict=True):
            for got, expected in zip(map(np.asarray, batch), map(np.asarray, wanted), strict=True):
                assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
                if got.size:
                    allowed = real if got.dtype.kind == "f" else level
                    assert np.abs(got.astype(float) - expected.astype(float)).max() <= allowed


def compare(define, *arguments, batches=3, level=1, real=1e-3, **options):
    """Run a graph on both engines and demand the same of them; give what the native one gave."""
    native, dali = (made(define, engine, *arguments, **options) for engine in ENGINES)
    wanted = taken(native, batches)
    agree(taken(dali, batches), wanted, level=level, real=real)
    assert done_by_dali(dali)
    return wanted


def done_by_dali(pipe):
    """Tell what DALI was asked to do in a pipeline; nothing where it gave up and the native engine had to."""
    engine = pipe._schedule._engine
    assert isinstance(engine, DaliEngine)
    return [] if engine.retries else [node.operator for node in engine.plan.inside]
