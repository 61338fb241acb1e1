"""Building graphs: what is checked on the spot, what errors say, and the two spellings `fn` and `ops`."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import subprocess
import sys

import numpy as np
import pytest
from dali_runs import DALI, HERE, noise, run
from encoded_images import kinds

import pixelmill
from pixelmill import ArgumentError, fn, ops, types
from pixelmill.engine import selection
from pixelmill.graph import nodes
from pixelmill.operators import OLDER_FUNCTIONS, REGISTRY, public_operators

PUBLIC = public_operators()


def place(error):
    """Return the user's line that an error names."""
    return str(error.value).rsplit("created at ", 1)[1]


def picture(**arguments):
    return fn.external_source(source=lambda: [noise((8, 9, 3))], layout="HWC", **arguments)


def function(name):
    found = fn
    for part in name.split("."):
        found = getattr(found, part)
    return found


def inputs_of(spec):
    return [picture() for _ in range(spec.required_inputs)]


# Arguments


@pytest.mark.parametrize("name", [name for name, spec in PUBLIC.items() if spec.arguments])
def test_an_unknown_argument_is_a_type_error_that_suggests_one(name):
    spec = REGISTRY[name]
    known = next(iter(spec.arguments))
    with pytest.raises(TypeError, match=f"{name}: got an unexpected argument '{known}x'; did you mean {known}"):
        function(name)(*inputs_of(spec), **{f"{known}x": 1})


def test_an_argument_like_no_other_is_answered_with_all_of_them():
    with pytest.raises(
        TypeError, match="flip: got an unexpected argument 'zzz'; it takes horizontal, vertical, depthwise"
    ):
        fn.flip(picture(), zzz=1)  # type: ignore[call-arg]


def test_hints_about_memory_are_taken_by_every_operator():
    assert all(spec.ignored >= {"preserve", "bytes_per_sample_hint"} for spec in PUBLIC.values())


def test_hints_and_older_names_of_arguments_are_taken(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"1")
    fn.readers.file(
        files=[str(tmp_path / "a.jpg")], initial_fill=4, read_ahead=True, dont_use_mmap=True, lazy_init=True
    )
    fn.resize(picture(), size=4, minibatch_size=3, temp_buffer_hint=1, image_type=types.RGB, preserve=True)
    fn.decoders.image(picture(), hybrid_huffman_threshold=4, split_stages=True, memory_stats=True, affine=False)
    (crop,) = run(
        lambda m, x: fn.crop(x, crop=(2, 2), output_dtype=types.FLOAT, image_type=types.RGB), [noise((4, 4, 3))]
    )
    assert crop[0].dtype == np.float32


WRONG = {
    "resize: size must be a number or a list of numbers, got 'big'": lambda: fn.resize(picture(), size="big"),
    "resize: size must be a number or a list of numbers, got nan": lambda: fn.resize(picture(), size=float("nan")),
    "resize: mode must be one of 'default', 'stretch', 'not_larger', 'not_smaller', got 'wide'": lambda: fn.resize(  # type: ignore[call-overload]
        picture(), size=3, mode="wide"
    ),
    "resize: interp_type must be a DALIInterpType of pixelmill.types, got 99": lambda: fn.resize(  # type: ignore[call-overload]
        picture(), size=3, interp_type=99
    ),
    "resize: specify one of size, resize_x/resize_y/resize_z": lambda: fn.resize(picture()),
    "resize: roi_start and roi_end must be given together": lambda: fn.resize(picture(), size=3, roi_start=[0, 0]),
    "crop: crop cannot be combined with": lambda: fn.crop(picture(), crop=(1, 1), crop_h=1),
    "crop: crop_h and crop_w must be given together": lambda: fn.crop(picture(), crop_h=1),
    "crop: crop must be 2 numbers, got": lambda: fn.crop(picture(), crop=5),
    "slice: no window specified": lambda: fn.slice(picture()),
    "slice: anchor and extent must be given together": lambda: fn.slice(picture(), [0.1, 0.1]),
    "slice: start and rel_start are mutually exclusive": lambda: fn.slice(picture(), start=[0], rel_start=[0], end=[1]),
    "slice: axis_names 'Q' are not all part of the layout 'HWC'": lambda: fn.slice(
        picture(), start=[0], end=[1], axis_names="Q"
    ),
    "flip: horizontal must be an integer, got 0.5": lambda: fn.flip(picture(), horizontal=0.5),
    "cast: dtype is missing": lambda: fn.cast(picture()),  # type: ignore[call-arg]
    "cast: dtype must be a DALIDataType of pixelmill.types, got 'float'": lambda: fn.cast(picture(), dtype="float"),
    "transpose: perm must contain each axis once, got": lambda: fn.transpose(picture(), perm=[0, 0, 1]),
    "transpose: perm .* does not match the layout 'HWC'": lambda: fn.transpose(picture(), perm=[1, 0]),
    "pad: axes and axis_names are mutually exclusive": lambda: fn.pad(picture(), axes=[0], axis_names="H"),
    "crop_mirror_normalize: dtype must be FLOAT, FLOAT16, UINT8 or INT8": lambda: fn.crop_mirror_normalize(
        picture(), dtype=types.INT32
    ),
    "crop_mirror_normalize: output_layout 'HW' must be a permutation of 'HWC'": lambda: fn.crop_mirror_normalize(
        picture(), output_layout="HW"
    ),
    "random_resized_crop: size must be two positive integers .height, width., got .224, -1.": lambda: (
        fn.random_resized_crop(picture(), size=(224, -1))
    ),
    "random_resized_crop: num_attempts must be at least 1, got 0": lambda: fn.random_resized_crop(
        picture(), size=3, num_attempts=0
    ),
    "random_resized_crop: random_area must be two positive numbers": lambda: fn.random_resized_crop(
        picture(), size=3, random_area=[1, 0.5]
    ),
    "random.coin_flip: probability must be from 0 to 1, got 1.5": lambda: fn.random.coin_flip(probability=1.5),
    "random.normal: stddev must be at least 0, got -1": lambda: fn.random.normal(stddev=-1),
    "random.uniform: range and values are mutually exclusive": lambda: fn.random.uniform(range=[0, 1], values=[1]),
    "readers.file: readers.file needs file_root": lambda: fn.readers.file(),
    "readers.file: shard_id must be from 0 to": lambda: fn.readers.file(files=["a"], shard_id=1),
    "external_source: source must be a callable or an iterable": lambda: fn.external_source(source=5),
    "python_function: function must be callable": lambda: fn.python_function(picture(), function=5),
    "decoders.image: expects 1 inputs, but received 0": lambda: fn.decoders.image(),  # type: ignore[call-arg]
    "flip: expects 1 inputs, but received 2": lambda: fn.flip(picture(), picture()),  # type: ignore[call-arg]
    "flip: device must be one of cpu, gpu, mixed, got 'tpu'": lambda: fn.flip(picture(), device="tpu"),
    "flip: an input must be a node, a number, a list or an array": lambda: fn.flip(object()),  # type: ignore[type-var]
    "cast: dtype must be a constant": lambda: fn.cast(picture(), dtype=fn.random.coin_flip()),
    "flip: lists of inputs must have the same length": lambda: fn.slice(
        [picture(), picture()], [fn.random.uniform()], [fn.random.uniform()] * 2
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_argument_is_refused_when_the_graph_is_built(message):
    with pytest.raises(ArgumentError, match=message.replace("flip: lists", "slice: lists")) as error:
        WRONG[message]()
    assert place(error).startswith("test_graph.py:")


def test_an_error_names_the_users_own_line():
    image = picture()
    with pytest.raises(ArgumentError) as error:
        fn.resize(image, size=(3, "x"))  # this very line
    number = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
    assert place(error) == f'test_graph.py:{number}   fn.resize(image, size=(3, "x"))  # this very line'
    assert str(error.value).count("resize: ") == 1


def test_an_error_of_a_class_names_the_line_of_the_call():
    resize = ops.Resize(size="x")
    with pytest.raises(ArgumentError) as error:
        resize(picture())
    assert place(error).endswith("resize(picture())")


@pytest.mark.parametrize("value", [3.0, np.float64(3), np.int8(3), types.Constant(3), "3"], ids=repr)
def test_whole_numbers_may_come_in_any_type_but_text(value):
    if value == "3":
        with pytest.raises(ArgumentError):
            fn.random_resized_crop(picture(), size=value)
    else:
        assert run(lambda m, x: fn.random_resized_crop(x, size=value), [noise((8, 9, 3))])[0][0].shape == (3, 3, 3)


# fn and ops


def test_functions_that_were_not_asked_for_are_listed_too():
    code = "from pixelmill import fn; print(*dir(fn), *dir(fn.readers))\n"
    code += "from pixelmill.fn import *; print(resize, readers.file)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    names, found = done.stdout.splitlines()
    listed = {*names.split()}
    assert {name.split(".")[0] for name in (*PUBLIC, *OLDER_FUNCTIONS)} <= listed
    assert {name.split(".")[1] for name in PUBLIC if name.startswith("readers.")} <= listed
    assert found.count("<function") == 2


@pytest.mark.parametrize("family", ["fn", "fn.readers"])
def test_a_function_that_is_not_there_is_an_attribute_error(family):
    module = importlib.import_module(f"pixelmill.{family}")
    with pytest.raises(AttributeError, match=f"^module 'pixelmill.{family}' has no attribute 'nothing'$"):
        module.nothing  # noqa: B018


@pytest.mark.parametrize("name", PUBLIC)
def test_every_operator_is_a_function_and_a_class(name):
    spec, path = REGISTRY[name], name.split(".")
    assert function(name).__doc__ == spec.body.__doc__ and function(name).__name__ == path[-1]
    family = importlib.import_module(".".join(["pixelmill.ops", *path[:-1]]))
    assert getattr(family, spec.class_name).spec is spec
    assert all(getattr(ops, alias).spec is spec for alias in spec.aliases)


@pytest.mark.parametrize(
    "name",
    [
        "nvJPEGDecoder",
        "HostDecoder",
        "ImageDecoder",
        "ImageDecoderCrop",
        "ImageDecoderRandomCrop",
        "ImageDecoderSlice",
        "HostDecoderRandomCrop",
        "nvJPEGDecoderRandomCrop",
        "FileReader",
        "CoinFlip",
        "Uniform",
        "NormalDistribution",
        "NormalizePermute",
        "CropCastPermute",
        "ExternalSource",
        "PythonFunction",
        "Resize",
        "RandomResizedCrop",
        "CropMirrorNormalize",
        "ResizeCropMirror",
        "Flip",
        "Cast",
        "Crop",
        "Slice",
        "Pad",
        "Transpose",
    ],
)
def test_names_that_old_programs_use_are_there(name):
    assert issubclass(getattr(ops, name), ops.OperatorClass)


def test_a_class_is_made_anywhere_and_called_in_the_graph():
    resize, flip = ops.Resize(device="gpu", size=(4, 5)), ops.Flip(horizontal=0)
    batch = [noise((8, 9, 3))]
    (classes,) = run(lambda m, x: flip(resize(x), vertical=1), batch)
    (functions,) = run(lambda m, x: fn.flip(fn.resize(x, size=(4, 5)), horizontal=0, vertical=1), batch)
    np.testing.assert_array_equal(classes[0], functions[0])


def test_an_argument_given_twice_is_a_value_error_and_none_is_not_given():
    crop = ops.Crop(crop=(2, 2))
    with pytest.raises(ValueError, match="crop was already passed to the constructor"):
        crop(picture(), crop=(3, 3))
    assert run(lambda m, x: crop(x, crop=None, crop_pos_x=None), [noise((4, 4, 3))])[0][0].shape == (2, 2, 3)


def test_two_calls_of_one_class_are_two_nodes_with_their_own_draws():
    uniform, seeded = ops.random.Uniform(), ops.random.Uniform(seed=4)
    outputs = run(lambda m, x: (uniform(), uniform(), seeded(), seeded()), [noise((2, 2, 1))] * 4)
    values = [np.array(output).tolist() for output in outputs]
    assert values[0] != values[1]
    assert values[2] == values[3]


def test_source_and_function_may_be_given_by_place():
    by_place = fn.external_source(lambda: ([noise((2,))], [noise((3,))]), 2)  # type: ignore[call-overload]
    assert len(by_place) == 2
    assert len(ops.ExternalSource(lambda: [noise((2,))], 1)()) == 1
    doubled = ops.PythonFunction(lambda x: x * 2)
    (result,) = run(lambda m, x: doubled(x), [np.arange(3, dtype=np.uint8)], layouts="")
    assert result[0].tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="by keyword"):
        ops.Resize(4)  # type: ignore[call-arg]


# Several inputs at once


def test_a_list_of_inputs_shares_its_draws():
    def graph(m, x):
        both = fn.random_resized_crop([x, x], size=(6, 5))
        alone = fn.random_resized_crop(x, size=(6, 5))
        return *both, alone  # type: ignore[misc]

    first, second, alone = run(graph, [noise((40, 50, 3), seed=i) for i in range(6)])
    np.testing.assert_array_equal(first, second)
    assert (np.array(first) != np.array(alone)).any()


def test_a_list_of_inputs_gives_lists_of_outputs():
    def graph(m, x):
        results = fn.resize([x, x], size=4, save_attrs=True)
        assert [len(result) for result in results] == [2, 2]
        return *results[0], *results[1]  # type: ignore[misc]

    assert len(run(graph, [noise((8, 9, 3))])) == 4


def test_a_list_of_numbers_is_a_constant_and_not_a_list_of_inputs():
    (result,) = run(lambda m, x: fn.cast([1.6, 2.4], dtype=types.INT32), [noise((1, 1, 1))])
    assert result[0].tolist() == [2, 2]


# Nodes


def test_a_node_cannot_decide_a_python_if():
    with pytest.raises(TypeError, match="known only when the pipeline runs"):
        bool(fn.random.coin_flip())


def test_nodes_have_names_and_show_them():
    node = fn.random.coin_flip(name="coin")
    assert node.name == "coin" and repr(node) == "DataNode(name='coin', device='cpu')"
    second = fn.random_crop_generator([8, 9, 3], name="window")[1]
    assert second.name == "window[1]"


@pytest.mark.parametrize("device", ["gpu", "mixed"])
def test_a_gpu_may_be_asked_for_and_is_mentioned_once(device, caplog, monkeypatch):
    monkeypatch.setattr(selection, "_warned_about_gpu", False)
    with caplog.at_level(logging.WARNING, "pixelmill"):
        for _ in range(2):
            graph = lambda m, x: fn.decoders.image(x, device=device).gpu()  # noqa: E731
            (decoded,) = run(graph, [kinds()["jpeg"]], layouts="", device_id=0)
            assert decoded[0].shape == (37, 50, 3)
    assert [record.levelname for record in caplog.records if "GPU" in record.message] == ["WARNING"]


def test_without_a_gpu_nothing_is_said(caplog, monkeypatch):
    monkeypatch.setattr(selection, "_warned_about_gpu", False)
    with caplog.at_level(logging.DEBUG):
        run(lambda m, x: fn.flip(x), [noise((2, 2, 1))])
    assert not caplog.records


# Names of modules


@pytest.mark.parametrize(
    "name",
    [
        "fn",
        "ops",
        "types",
        "math",
        "pipeline",
        "data_node",
        "tensors",
        "backend",
        "external_source",
        "tfrecord",
        "fn.readers",
        "fn.decoders",
        "fn.random",
        "ops.readers",
        "ops.random",
        "plugin.pytorch",
        "plugin.base_iterator",
    ],
)
def test_modules_are_where_programs_for_dali_look_for_them(name):
    assert importlib.import_module(f"pixelmill.{name}").__spec__ is not None


def test_the_names_of_types_and_their_numbers_are_dalis():
    for name in [*types.DALIDataType.__members__, *types.DALIInterpType.__members__]:
        assert int(getattr(HERE.types, name)) == int(getattr(DALI.types, name)), name
    for name in types.DALIImageType.__members__:
        assert int(getattr(HERE.types, name)) == int(getattr(DALI.types, name)), name
    ways = ({way.name: way.value for way in module.types.PipelineAPIType} for module in (HERE, DALI))
    assert next(ways) == next(ways)
    assert str(types.FLOAT) == str(DALI.types.FLOAT)


def test_the_top_level_offers_what_is_listed():
    assert all(hasattr(pixelmill, name) for name in pixelmill.__all__)


def test_functions_show_their_arguments():
    shown = str(inspect.signature(fn.crop))
    assert shown.startswith("(data, /, *, crop=None, crop_h=") and shown.endswith("device=None, name=None, seed=None)")
    assert str(inspect.signature(fn.cat)) == "(*inputs, axis=None, axis_name=None, device=None, name=None, seed=None)"
    assert str(inspect.signature(fn.reshape)).startswith("(data, shape_input=None, /, *, shape=None")
    parameters = inspect.signature(fn.rotate).parameters
    assert parameters["angle"].default is inspect.Parameter.empty and parameters["keep_size"].default is False
    inspect.signature(fn.external_source).bind([1], num_outputs=2)
    with pytest.raises(TypeError):
        inspect.signature(fn.flip).bind(1, horizontl=1)


def test_older_names_of_functions_are_there():
    for older, name in OLDER_FUNCTIONS.items():
        found, current = (functools.reduce(getattr, path.split("."), fn) for path in (older, name))
        assert found is current
        assert callable(functools.reduce(getattr, older.split("."), DALI.fn)), "DALI has no such function"
    assert ops.experimental.decoders.ImageSlice is ops.decoders.ImageSlice  # type: ignore[attr-defined]
    assert ops.experimental.PeekImageShape is ops.PeekImageShape  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["NHWC", "NCHW", "NFHWC", "NFCHW", "SAME", "CPU_ONLY_DEVICE_ID"])
def test_names_of_layouts_in_older_programs_are_dalis(name):
    assert getattr(types, name) == getattr(DALI.types, name)


def test_older_names_of_layouts_are_taken():
    wanted, got = (
        run(lambda m, x, to=to: m.fn.crop_mirror_normalize(x, output_layout=to), [noise((3, 4, 3))])
        for to in ("CHW", types.NCHW)
    )
    np.testing.assert_array_equal(got[0][0], wanted[0][0])


def test_conditions_on_different_numbers_of_one_node_are_both_kept() -> None:
    choice = fn.external_source(name="choice")
    parts = [fn.flip(picture()) for _ in range(2)]
    for number, part in enumerate(parts, 1):
        part.within = ((choice, number, False),)
    both = nodes.common_conditions([*parts, *parts, "no node"])
    assert [(node is choice, number, equal) for node, number, equal in both] == [(True, 1, False), (True, 2, False)]
