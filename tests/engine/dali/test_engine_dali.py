"""Every operator on the DALI engine: what the native engine gives, within the operator's tolerance."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from both_engines import made, taken
from dali_runs import noise
from nvidia.dali import ops as dali_ops
from nvidia.dali.ops import _registry as dali_registry
from operator_comparison import near
from operator_samples import run, samples_of
from reference import ENTRIES

from pixelmill import fn, types
from pixelmill.engine.dali import engine as dali_engine
from pixelmill.engine.dali import pipeline_builder, stages, versions
from pixelmill.operators import REGISTRY, public_operators
from pixelmill.operators.dali import BEFORE, DaliCall


@pytest.fixture
def emitted(monkeypatch):
    """Note the operators that DALI runs; DALI must not give up."""
    names = []
    emit = pipeline_builder._PipelineBuilder.add

    def noted(self, node):
        names.append(node.operator)
        emit(self, node)

    def given_up(self, samples, error):
        raise error

    monkeypatch.setattr(pipeline_builder._PipelineBuilder, "add", noted)
    monkeypatch.setattr(dali_engine.DaliEngine, "_retried", given_up)
    return names


@pytest.fixture
def all_inside(monkeypatch):
    """Let DALI run all that it has, also numbers that would be found before."""
    dependencies_of = stages.dependencies_of

    def reads(*arguments):
        found = dependencies_of(*arguments)
        found.reads = True
        return found

    monkeypatch.setattr(stages, "dependencies_of", reads)
    monkeypatch.setattr(stages, "_needed_before", lambda *_: set())


def same_on_both(name, folder):
    entry, tolerance = ENTRIES[name], REGISTRY[name].tolerance
    samples = [sample for sample in samples_of(entry, folder) if np.size(sample)]
    native = run(entry, samples, engine="native", decode_scaling=False)
    dali = run(entry, samples, engine="dali")
    for output, other in zip(dali, native, strict=True):
        for got, wanted in zip(output, other, strict=True):
            near(got, wanted, level=tolerance.level, relative=tolerance.relative)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_operator_gives_the_same_on_both_engines(name, tmp_path, emitted):
    same_on_both(name, tmp_path)


GPU_ONLY = {f"experimental.{name}" for name in ("dilate", "erode", "median_blur", "remap")}
CALLS = [
    name
    for name, spec in public_operators().items()
    if isinstance(spec.dali, DaliCall) and "cpu" in spec.dali.devices and name in ENTRIES
]


@pytest.mark.parametrize("name", CALLS)
def test_dali_runs_every_operator_that_it_has(name, tmp_path, emitted, all_inside):
    if versions.function(name) is None:
        pytest.skip("this version of DALI does not have it")
    same_on_both(name, tmp_path)
    assert name in emitted


def test_every_operator_says_what_it_is_on_dali():
    unknown = [name for name, spec in public_operators().items() if isinstance(spec.dali, DaliCall)]
    assert sorted(CALLS) == sorted(set(unknown) - GPU_ONLY)
    for name, spec in public_operators().items():
        if spec.draws and spec.dali not in (BEFORE, None):
            assert spec.dali.drawn is not None, f"{name} draws, so DALI must be given the numbers"


def schema_name(name):
    module = dali_ops
    if name in versions.OLDER_NAMES and not hasattr(dali_ops, REGISTRY[name].class_name):
        name = versions.OLDER_NAMES[name]
    for part in name.split(".")[:-1]:
        module = getattr(module, part)
    return getattr(module, REGISTRY[name].class_name).schema_name


@pytest.mark.parametrize("name", [name for name, spec in public_operators().items() if isinstance(spec.dali, DaliCall)])
def test_the_devices_of_an_operator_are_dalis(name):
    call = REGISTRY[name].dali
    lists = {"cpu": dali_registry.cpu_ops(), "gpu": dali_registry.gpu_ops(), "mixed": dali_registry.mixed_ops()}
    if versions.function(call.name or name) is None:  # type: ignore[union-attr]
        pytest.skip("this version of DALI does not have it")
    schema = schema_name(call.name or name)  # type: ignore[union-attr]
    assert set(call.devices) == {device for device, names in lists.items() if schema in names}  # type: ignore[union-attr]


# Arithmetic and subscripts, which are no functions of fn


def arithmetic(whole, real):
    number = fn.cast(whole, dtype=types.INT32) + 7
    yield from (whole + 3, 3 - whole, whole * real, whole / 2, number // 2, number % 5, -number, abs(number - 100))
    yield from (number == 30, number != 30, number < 30, number <= 30, number > 30, number >= 30)
    yield from (number & 12, number | 12, number ^ 12, ~number, number << 2, number >> 2, real**2)
    yield from (whole[1:4, ::2, 0], whole[-1], whole[2, :3], real[:, 1:-1])


def functions(whole, real):
    from pixelmill import math

    unary = ("sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "fabs", "floor", "ceil", "sin", "cos", "tan")
    yield from (getattr(math, name)(real + 0.5) for name in unary)
    yield from (getattr(math, name)(real * 0.9) for name in ("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh"))
    yield from (math.acosh(real + 1.5), math.atanh(real * 0.5), math.abs(real - 0.5))
    yield from (
        math.min(whole, 9),
        math.max(whole, 200),
        math.pow(real, 1.5),
        math.fpow(real, 2),
        math.atan2(real, 2.0),
    )
    yield math.clamp(whole, 20, 90)


@pytest.mark.parametrize("operations", [arithmetic, functions])
def test_arithmetic_gives_the_same_on_both_engines(operations, emitted):
    batches = [[noise((5 + k, 6, 3), kind, k) for k in range(3)] for kind in (np.uint8, np.float32)]

    def graph():
        inputs = [fn.external_source(source=repeat(batch), layout="HWC") for batch in batches]
        return tuple(operations(*inputs))

    options = {"batch_size": 3, "num_threads": 2, "enable_conditionals": False}
    native, dali = (taken(made(graph, engine, **options), 1)[0] for engine in ("native", "dali"))
    assert len(emitted) >= 0.8 * len(native)  # older versions do not have all of them
    for output, other in zip(dali, native, strict=True):
        for got, wanted in zip(output, other, strict=True):
            near(got, wanted, level=0, relative=1e-5)
