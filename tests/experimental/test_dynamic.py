"""Eager mode: an operator called on arrays gives what it gives in a pipeline, at once."""

# mypy: disable-error-code=attr-defined
# The functions of the module are made from the registry when it is imported.
from __future__ import annotations

import warnings
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest
from dali_runs import noise, numpy_batch
from peers import peer

import pixelmill
import pixelmill.experimental.dynamic as pmd
from pixelmill import ArgumentError, DataError, fn, types
from pixelmill.create import create_photo_folder
from pixelmill.operators import public_operators

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ndd = peer("nvidia.dali.experimental.dynamic")

IMAGE = noise((11, 7, 3))
BATCH = [noise((5 + i, 9 - i, 3), seed=i) for i in range(4)]


def in_a_pipeline(graph, *inputs):
    """Run a graph on one batch."""
    pipe = pixelmill.Pipeline(len(inputs[0]), 2, None, 7)
    with pipe:
        nodes = [fn.external_source(source=repeat(list(batch)), layout="HWC") for batch in inputs]
        pipe.set_outputs(graph(*nodes))
    return numpy_batch(pipe.run()[0])


CALLS = {
    "flip": {"horizontal": 1, "vertical": 1},
    "resize": {"size": [4, 6]},
    "crop": {"crop": (3, 2), "crop_pos_x": 0.25},
    "rotate": {"angle": 30.0, "fill_value": 7},
    "crop_mirror_normalize": {"mean": [3.0, 4.0, 5.0], "std": [2.0], "mirror": 1},
    "transpose": {"perm": [1, 0, 2]},
    "cast": {"dtype": types.FLOAT},
    "pad": {},
}


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_gives_what_a_pipeline_gives(name):
    wanted = in_a_pipeline(lambda x: getattr(fn, name)(x, **CALLS[name]), BATCH)
    got = getattr(pmd, name)(pmd.batch(BATCH, layout="HWC"), **CALLS[name])
    assert isinstance(got, pmd.Batch) and len(got) == len(BATCH)
    for sample, expected in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(sample), expected)


@pytest.mark.parametrize("name", CALLS)
def test_a_tensor_gives_a_tensor(name):
    (wanted,) = in_a_pipeline(lambda x: getattr(fn, name)(x, **CALLS[name]), [IMAGE])
    got = getattr(pmd, name)(pmd.tensor(IMAGE, layout="HWC"), **CALLS[name])
    assert isinstance(got, pmd.Tensor)
    np.testing.assert_array_equal(np.asarray(got), wanted)


@pytest.mark.parametrize("name", ["flip", "resize", "crop", "rotate"])
def test_results_are_those_of_dalis_eager_mode(name):
    theirs = getattr(ndd, name)(ndd.tensor(IMAGE, layout="HWC"), **CALLS[name])
    mine = getattr(pmd, name)(pmd.tensor(IMAGE, layout="HWC"), **CALLS[name])
    assert mine.shape == tuple(theirs.shape) and mine.layout == theirs.layout
    assert np.abs(np.asarray(mine).astype(int) - np.asarray(theirs.cpu()).astype(int)).max() <= 1


def test_arrays_lists_and_bytes_are_taken_as_they_are(tmp_path):
    np.testing.assert_array_equal(np.asarray(pmd.flip(IMAGE)), IMAGE[:, ::-1])
    create_photo_folder(tmp_path, 1)
    (path,) = tmp_path.rglob("*.jpg")
    decoded = pmd.decoders.image(path.read_bytes())
    assert decoded.layout == "HWC" and decoded.dtype == types.UINT8 and decoded.ndim == 3
    np.testing.assert_array_equal(
        np.asarray(decoded), np.asarray(pmd.decoders.image(np.frombuffer(path.read_bytes(), np.uint8)))
    )
    assert pmd.peek_image_shape(path.read_bytes()).array.tolist() == list(decoded.shape)


def test_arguments_may_be_batches():
    angles = pmd.batch([np.float32(0), np.float32(90), np.float32(180), np.float32(270)])
    turned = pmd.rotate(pmd.batch([IMAGE] * 4), angle=angles)
    for quarter, sample in enumerate(turned):
        np.testing.assert_array_equal(np.asarray(sample), np.rot90(IMAGE, quarter))
    sized = pmd.resize(pmd.tensor(IMAGE), size=np.array([3.0, 4.0]))
    assert sized.shape == (3, 4, 3)


def test_operators_with_several_outputs_give_tuples():
    shape = np.array([20, 30, 3])
    anchor, extents = pmd.random_crop_generator(pmd.tensor(shape), rng=pmd.RNG(3))
    assert isinstance(anchor, pmd.Tensor) and anchor.shape == extents.shape == (2,)
    resized, attrs = pmd.resize(pmd.batch(BATCH), size=(2, 2), save_attrs=True)
    assert attrs.tensors[1].array.tolist() == list(BATCH[1].shape[:2]) and resized.shape == [(2, 2, 3)] * 4


# Arithmetic at once

BYTES, FLOATS = np.arange(12, dtype=np.uint8).reshape(4, 3), np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
EXPRESSIONS = {
    "whole": lambda m, x, y: x + 1,
    "fractions": lambda m, x, y: 0.5 * x - y / 3,
    "floor": lambda m, x, y: (100 // (x + 1)) % 7,
    "powers": lambda m, x, y: x**2 + 2**x,
    "bits": lambda m, x, y: (~x & 12 | 1) ^ x << 1 >> 2,
    "signs": lambda m, x, y: -abs(y) + +y,
    "compared": lambda m, x, y: (x > 3) == (y <= 0.5),
    "functions": lambda m, x, y: m.math.clamp(m.math.sqrt(x) + m.math.atan2(y, x), 0.1, m.math.max(y, 1)),
    "part": lambda m, x, y: x[1:3, 0],
    "last": lambda m, x, y: y[..., -1],
    "by tensor": lambda m, x, y: y[m.tensor(1) :, m.tensor(2)],
    "array": lambda m, x, y: x * np.float32([0.5, 1.0, 2.0]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_arithmetic_of_tensors_is_dalis(name):
    mine, theirs = (
        EXPRESSIONS[name](m, m.tensor(BYTES, layout="HC"), m.tensor(FLOATS, layout="HC")) for m in (pmd, ndd)
    )
    wanted = np.asarray(theirs)
    assert (mine.array.dtype, mine.shape, mine.layout) == (wanted.dtype, wanted.shape, theirs.layout or "")
    np.testing.assert_allclose(mine.array.astype(float), wanted.astype(float), rtol=1e-6)


def test_arithmetic_of_batches_is_dalis():
    for m, found in ((pmd, []), (ndd, [])):
        x, y = m.batch([BYTES, BYTES[:2]]), m.batch([np.float32(1), np.float32(2)])
        begin = m.batch([np.int32(1), np.int32(0)])
        for batch in (x * y, 3 - x, x > m.tensor(4), x.slice[begin:, 1], m.math.exp(y), m.Batch.broadcast(BYTES, 2)):
            found.append([np.asarray(tensor).tolist() for tensor in batch])
        if m is pmd:
            mine = found
    assert len(mine) == len(found)
    for got, wanted in zip(mine, found, strict=True):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)


def test_tensors_of_one_number_are_numbers():
    assert int(pmd.tensor(3) + 4) == 7 and float(pmd.tensor(0.5)) == 0.5 and bool(pmd.tensor(2) > 1)
    assert [10, 20, 30][pmd.tensor(1)] == 20


def test_types_have_names():
    assert pmd.cast(BYTES, dtype=pmd.float32).dtype == pmd.float32 == types.FLOAT
    assert pmd.tensor([1, 2], dtype=pmd.int16).itemsize == 2 and pmd.tensor([1, 2], dtype=pmd.int16).nbytes == 4


def test_modes_and_threads_of_dalis_programs_are_taken():
    assert {mode.name: mode.value for mode in pmd.EvalMode} == {mode.name: mode.value for mode in ndd.EvalMode}
    with pmd.EvalMode.sync_full:
        np.testing.assert_array_equal(pmd.flip(IMAGE).array, IMAGE[:, ::-1])
    before = pmd.get_num_threads()
    pmd.set_num_threads(before + 1)
    try:
        assert pmd.get_num_threads() == before + 1
        assert pmd.flip(pmd.batch(BATCH)).shape == [picture.shape for picture in BATCH]
    finally:
        pmd.set_num_threads(None)
    assert pmd.get_num_threads() == before
    with pytest.raises(ArgumentError, match="at least 1, got 0"):
        pmd.set_num_threads(0)


def test_images_are_read_by_their_paths(tmp_path):
    create_photo_folder(tmp_path, 2)
    paths = sorted(tmp_path.rglob("*.jpg"))
    one, both = pmd.imread(paths[0]), pmd.imread([str(path) for path in paths])
    assert isinstance(one, pmd.Tensor)
    np.testing.assert_array_equal(one.array, pmd.decoders.image(paths[0].read_bytes()).array)
    assert isinstance(both, pmd.Batch) and both.select(0).shape == one.shape
    theirs = ndd.imread([str(path) for path in paths])
    assert both.shape == [tuple(shape) for shape in theirs.shape]


# Tensors and batches


def test_tensors_know_what_they_are():
    tensor = pmd.tensor([[1, 2], [3, 4]], layout="HW", dtype=types.FLOAT)
    assert (tensor.shape, tensor.dtype, tensor.ndim, tensor.size) == ((2, 2), types.FLOAT, 2, 4)
    assert len(tensor) == 2 and pmd.tensor(3.5).item() == 3.5
    assert tensor.cpu() is tensor and tensor.gpu() is tensor and tensor.evaluate() is tensor
    assert repr(tensor).startswith("Tensor(") and "layout='HW'" in repr(tensor)
    assert pmd.tensor(tensor).layout == "HW" and pmd.as_tensor(tensor, layout="WH").layout == "WH"
    np.testing.assert_array_equal(np.from_dlpack(tensor), tensor.array)
    np.testing.assert_array_equal(np.asarray(tensor[0]), [1, 2])
    assert pmd.tensor(1).dtype == types.INT32 and pmd.tensor(1.0).dtype == types.FLOAT


def test_batches_know_what_they_are():
    batch = pmd.batch(BATCH, layout="HWC")
    assert (batch.batch_size, batch.layout, batch.dtype, batch.ndim) == (4, "HWC", types.UINT8, 3)
    assert batch.shape == [picture.shape for picture in BATCH]
    assert batch.cpu() is batch and batch.gpu() is batch and batch.evaluate() is batch
    assert isinstance(batch.select(1), pmd.Tensor) and batch.select([0, 2]).shape == [BATCH[0].shape, BATCH[2].shape]
    assert "4 x UINT8" in repr(batch)
    assert len(pmd.as_batch(np.zeros((3, 2, 2, 1)))) == 3
    assert batch.select(slice(1, 3)).shape == [BATCH[1].shape, BATCH[2].shape] and batch.device == "cpu"
    assert batch.to_device("gpu") is batch
    with pytest.raises(ArgumentError, match="at least one tensor"):
        pmd.batch([])
    with pytest.raises(ArgumentError, match=r"may contain `...` only once"):
        batch.slice[..., ...]


def test_torch_gets_them_without_a_copy():
    torch = pytest.importorskip("torch")
    tensor = pmd.flip(IMAGE)
    shared = tensor.torch()
    assert isinstance(shared, torch.Tensor) and shared.data_ptr() == tensor.array.ctypes.data
    assert pmd.resize(pmd.batch(BATCH), size=(2, 2)).torch().shape == (4, 2, 2, 3)


# Random numbers


def test_draws_follow_from_the_generator():
    first = [pmd.random.uniform(shape=[3], rng=rng).array for rng in (pmd.RNG(5), pmd.RNG(5), pmd.RNG(6))]
    np.testing.assert_array_equal(first[0], first[1])
    assert (first[0] != first[2]).all()
    rng = pmd.RNG(5)
    again = [pmd.random.uniform(shape=[3], rng=rng).array for _ in range(2)]
    np.testing.assert_array_equal(again[0], first[0])
    assert (again[0] != again[1]).all()
    copy = rng.clone()
    np.testing.assert_array_equal(
        pmd.random.normal(shape=[4], rng=copy).array, pmd.random.normal(shape=[4], rng=rng).array
    )
    assert pmd.random.RNG is pmd.RNG


def test_draws_differ_without_a_generator():
    one, other = (pmd.random.uniform(shape=[4]).array for _ in range(2))
    assert (one != other).any()


def test_a_batch_of_draws_is_asked_for_by_its_size():
    drawn = pmd.random.uniform(batch_size=5, range=[0, 1], rng=pmd.RNG(1))
    assert isinstance(drawn, pmd.Batch) and len({float(sample.item()) for sample in drawn}) == 5


def test_random_operators_take_generators():
    a, b = (np.asarray(pmd.random_resized_crop(IMAGE, size=(4, 4), rng=pmd.RNG(2))) for _ in range(2))
    np.testing.assert_array_equal(a, b)


# Readers


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("photos")
    create_photo_folder(path, 10)
    return path


def test_readers_give_epochs(folder):
    reader = pmd.readers.File(file_root=str(folder), random_shuffle=True, seed=1)
    assert reader.get_metadata()["epoch_size"] == 10
    sizes = [len(jpegs) for jpegs, _ in reader.next_epoch(batch_size=4)]
    assert sum(sizes) >= 10 and set(sizes[:2]) == {4}
    labels = [int(label.array[0]) for _, batch in reader.next_epoch(batch_size=4) for label in batch]
    assert len(set(labels)) > 1


def test_readers_give_single_samples_without_a_size(folder):
    reader = pmd.readers.File(file_root=str(folder))
    samples = list(reader.next_epoch())
    assert len(samples) == 10 and isinstance(samples[0][0], pmd.Tensor)
    picture = pmd.decoders.image(samples[0][0])
    assert picture.ndim == 3


def test_readers_go_on_from_a_state(folder):
    def names(reader):
        return [jpeg.array.tobytes() for jpeg, _ in reader.next_epoch()]

    one, other = (pmd.readers.File(file_root=str(folder), random_shuffle=True, seed=4) for _ in range(2))
    first = names(one)
    other.set_state(one.get_state())
    second = names(one)
    assert names(other) == second and sorted(first) == sorted(second) and first != second


def test_epochs_of_a_reader_may_have_different_batch_sizes(folder):
    def epochs(*sizes):
        reader = pmd.readers.File(file_root=str(folder), random_shuffle=True, seed=4)
        return [[jpeg.array.tobytes() for jpegs, _ in reader.next_epoch(size) for jpeg in jpegs] for size in sizes]

    assert epochs(2, 5, 2) == epochs(5, 5, 10)


# All of them, and what is refused


def test_every_operator_is_there():
    for name, spec in public_operators().items():
        if name in ("dl_tensor_python_function", "external_source", "python_function"):
            continue
        place = pmd
        *path, last = name.split(".")
        for part in path:
            place = getattr(place, part)
        assert callable(getattr(place, spec.class_name if path == ["readers"] else last)), name


def test_errors_are_those_of_the_operators():
    with pytest.raises(ArgumentError, match=r"each axis once, got \[0, 0, 1\]\n  created at test_dynamic.py"):
        pmd.transpose(IMAGE, perm=[0, 0, 1])
    with pytest.raises(TypeError, match="got an unexpected argument 'sise'; did you mean size"):
        pmd.resize(IMAGE, sise=3)
    with pytest.raises(DataError, match="crop"):
        pmd.crop(IMAGE, crop=(100, 100))
    with pytest.raises(ArgumentError, match="batches have different sizes"):
        pmd.rotate(pmd.batch(BATCH), angle=pmd.batch([1.0, 2.0]))
    with pytest.raises(DataError):
        pmd.decoders.image(b"no picture at all")
