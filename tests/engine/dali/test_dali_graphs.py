"""What is emitted for GPUs, as far as it can be checked without one: golden texts, and DALI's own schemas."""

from __future__ import annotations

import difflib
from functools import partial
from pathlib import Path

import gpu_test
import nvidia.dali
import pytest
from dali_graph_text import calls, serialised, text
from gpu_graphs import GRAPHS, graphs, some_pictures
from nvidia.dali import backend

from pixelmill import fn, types
from pixelmill.engine.dali import versions
from pixelmill.engine.dali.split import SplitPlan, argument_type
from pixelmill.operators import REGISTRY
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.declare import public_operators

GPU = gpu_test.Place(0)
ON_GPU = sorted(
    name
    for name in public_operators()
    if isinstance(REGISTRY[name].dali, DaliCall) and {"gpu", "mixed"} & {*REGISTRY[name].dali.devices}  # type: ignore[union-attr]
)
# A constant is known before anything runs.
CONSTANT = {"constant"}
DECODERS = {"decoders.image", "decoders.image_crop", "decoders.image_slice", "decoders.image_random_crop"}
REGISTERED = {
    "cpu": set(backend.RegisteredCPUOps()),  # type: ignore[attr-defined]
    "gpu": set(backend.RegisteredGPUOps()),  # type: ignore[attr-defined]
    "mixed": set(backend.RegisteredMixedOps()),  # type: ignore[attr-defined]
}
# Newer versions have another way to ask for shapes, which the oldest that is supported has not. The others are called
# so where the user does.
OLD_ON_PURPOSE = {"Shapes", "experimental__Equalize", "experimental__Filter", "experimental__TensorResize"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return some_pictures(str(tmp_path_factory.mktemp("pictures")))


def check_by_schema(found):
    """Demand that DALI has every call for its device, and knows every argument, none of them by an old name."""
    for call in found:
        assert call.schema in REGISTERED[call.device], f"{call.schema} for {call.device}"
        schema = backend.GetSchema(call.schema)  # type: ignore[attr-defined]
        assert not schema.IsDeprecated() or call.schema in OLD_ON_PURPOSE
        given = {*call.arguments, *(edge.argument for edge in call.inputs if edge.argument)}
        unknown = {name for name in given if not schema.HasArgument(name)}
        assert not unknown, f"{call.schema}: {unknown}"
        assert not [name for name in given if schema.IsDeprecatedArg(name)]
        for edge in call.inputs:
            assert not edge.argument or (edge.device == "cpu" and schema.IsTensorArgument(edge.argument))
        inputs = sum(not edge.argument for edge in call.inputs)
        assert schema.MinNumInput() <= inputs <= schema.MaxNumInput()


@pytest.mark.parametrize("name", graphs(Path()))
def test_programs_for_gpus_are_emitted_as_before(name, folder):
    if not nvidia.dali.__version__.startswith("2.4."):
        pytest.skip("the texts are of DALI 2.4")
    plan, data = serialised(graphs(folder)[name], gpu=True)
    check_by_schema(calls(data)[0])
    wanted = (GRAPHS / f"{name}.txt").read_text().splitlines()
    changes = list(difflib.unified_diff(wanted, text(plan, data).splitlines(), lineterm="", n=0))
    assert not changes, "\n".join(
        ["PYTHONPATH=tests/gpu python tests/support/gpu_graphs.py writes what is emitted now", *changes[:40]]
    )


def test_there_is_no_text_without_a_program():
    assert {path.stem for path in GRAPHS.glob("*.txt")} == set(graphs(Path()))


@pytest.mark.parametrize("name", graphs(Path()))
def test_images_are_decoded_and_changed_on_the_gpu(name, folder):
    """Decoders of images are mixed, and nothing that works on their pixels is on the CPU but decoders of masks."""
    found, _ = calls(serialised(graphs(folder)[name], gpu=True)[1])
    decoders = [call.device for call in found if "decoders__" in call.schema]
    masks = name == "augment_segmentation"
    assert set(decoders) <= {"mixed", "cpu"} and decoders.count("cpu") == masks
    pixels = {"Resize", "Flip", "Rotate", "WarpAffine", "CropMirrorNormalize", "ColorTwist", "Slice", "GaussianBlur"}
    assert {call.device for call in found if call.schema in pixels} <= {"gpu"}


def test_every_operator_of_dali_for_gpus_has_a_case():
    assert set(ON_GPU) - DECODERS - CONSTANT - set(gpu_test.CASES) == set()
    assert set(gpu_test.CASES) - set(ON_GPU) == set()


@pytest.mark.parametrize("name", gpu_test.CASES)
def test_operators_are_emitted_for_the_gpu(name):
    if versions.function(name) is None:
        pytest.skip("this version of DALI does not have it, or not right")
    plan, data = serialised(partial(gpu_test.called, name, gpu_test.CASES[name], GPU), gpu=True)
    found, (output, *_) = calls(data)
    check_by_schema(found)
    assert [node.operator for node in plan.inside] == [name]
    work = [call for call in found if call.schema not in ("ExternalSource", "Constant")]
    assert "gpu" in {call.device for call in work}
    assert output.device == ("cpu" if name == "shapes" and work[-1].device == "cpu" else "gpu")


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_decoders_are_emitted_mixed(name):
    arguments = {"decoders.image_crop": {"crop": [20, 30]}, "decoders.image_slice": {"start": [1, 2], "end": [20, 30]}}

    def build():
        function = getattr(fn.decoders, name.removeprefix("decoders."))
        return function(fn.external_source(name="files"), device="mixed", **arguments.get(name, {}))

    found, (output,) = calls(serialised(build, gpu=True)[1])
    check_by_schema(found)
    assert [call.device for call in found if "decoders__" in call.schema] == ["mixed"]
    assert output.device == "gpu"


def test_without_a_gpu_the_same_calls_are_for_the_cpu(folder):
    for build in graphs(folder).values():
        (on_gpu, _), (on_cpu, _) = (calls(serialised(build, gpu=gpu)[1]) for gpu in (True, False))
        assert {call.device for call in on_cpu} == {"cpu"}
        assert [call.schema for call in on_cpu] == [call.schema for call in on_gpu]


def test_operators_for_one_device_only_are_left_out_on_the_other():
    """median_blur is for GPUs alone; transforms are for the CPU alone, and their inputs stay there."""

    def blurred():
        image = fn.external_source(name="image", layout="HWC").gpu()
        return fn.flip(fn.experimental.median_blur(image, window_size=[3, 3]), horizontal=1)

    plans = {gpu: serialised(blurred, gpu=gpu)[0] for gpu in (True, False)}
    assert all(isinstance(plan, SplitPlan) for plan in plans.values())
    assert [node.operator for node in plans[True].inside] == ["experimental.median_blur", "flip"]
    assert [node.operator for node in plans[False].inside] == ["flip"]


def test_types_and_enumerations_are_dalis():
    def build():
        image = fn.external_source(name="image", layout="HWC").gpu()
        return fn.cast(fn.resize(image, size=[9, 9], interp_type=types.INTERP_LANCZOS3), dtype=types.FLOAT16)

    found, _ = calls(serialised(build, gpu=True)[1])
    resize, cast = (next(call for call in found if call.schema == name) for name in ("Resize", "Cast"))
    assert resize.arguments["interp_type"] == str(int(nvidia.dali.types.INTERP_LANCZOS3))
    assert cast.arguments["dtype"] == str(int(nvidia.dali.types.FLOAT16))


KINDS = {"INT32": "int32", "_INT32_VEC": "int32", "FLOAT": "float32", "_FLOAT_VEC": "float32", "BOOL": "bool"}


@pytest.mark.parametrize("name", ON_GPU)
def test_arguments_of_each_sample_are_handed_over_in_dalis_types(name):
    """DALI takes no other type, and stops when it meets one."""
    called = REGISTRY[name].dali.name or name  # type: ignore[union-attr]
    module = nvidia.dali.ops
    if not nvidia.dali.__version__.startswith("2.4."):
        pytest.skip("names are those of DALI 2.4")
    for part in called.split(".")[:-1]:
        module = getattr(module, part)
    schema = backend.GetSchema(getattr(module, REGISTRY[called].class_name).schema_name)  # type: ignore[attr-defined]
    for key, argument in REGISTRY[name].arguments.items():
        wanted = argument_type(argument) if argument.per_sample and key not in REGISTRY[name].dali.without else ""  # type: ignore[union-attr]
        if wanted and schema.HasArgument(key):
            assert KINDS[schema.GetArgumentType(key).name] == wanted, key


def test_older_versions_have_other_names(monkeypatch):
    """Decoders that know of orientation were experimental before 2.2, and tensor_resize was wrong."""
    monkeypatch.setattr(versions, "version", lambda: (2, 1))
    find = versions.function.__wrapped__
    assert find("decoders.image") is nvidia.dali.fn.experimental.decoders.image
    assert find("decoders.image_slice") is nvidia.dali.fn.experimental.decoders.image_slice
    assert find("tensor_resize") is None and find("flip") is nvidia.dali.fn.flip
    monkeypatch.setattr(versions, "version", lambda: (2, 2))
    assert find("decoders.image") is nvidia.dali.fn.decoders.image
    assert find("tensor_resize") is not None
