"""Datasets for TensorFlow. Where DALI's own plugin is installed, what is asked of ours is asked of it as well.

It can be installed beside the test environment, and compiles itself for the TensorFlow there:

    pip install --no-build-isolation --no-deps --target FOLDER nvidia-dali-tf-plugin-cuda120==2.4.0
    PYTHONPATH=FOLDER pytest tests/plugin/test_tf.py
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import pixelmill
from pixelmill import ArgumentError, Loader, Pipeline, fn
from pixelmill.plugin import tf as plugin
from pixelmill.plugin.tf.dataset import _squeezed
from pixelmill.plugin.tf.experimental import DALIDatasetWithInputs, Input

SHAPE = (16, 20, 3)


# DALI's plugin is compiled when it is installed, for one version of TensorFlow; the test environment is without it.
HAS_DALI = importlib.util.find_spec("nvidia.dali_tf_plugin") is not None


@pytest.mark.skipif(not HAS_DALI, reason="nvidia-dali-tf-plugin-cuda120 is not installed")
def test_dalis_plugin_is_asked_the_same() -> None:
    assert HAS_DALI


@pytest.fixture(scope="module", params=["pixelmill", *(["nvidia.dali"] if HAS_DALI else [])])
def package(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("fn", "types", "plugin.tf"):
            importlib.import_module(f"{request.param}.{name}")
        module = importlib.import_module(request.param)
        with tf.device("/cpu:0"):
            yield module


def pixels_of(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 256, SHAPE, np.uint8)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Seven images; number n has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number}.png" for number in range(7)]
    for number, path in enumerate(paths):
        Image.fromarray(pixels_of(number)).save(path)
    return [str(path) for path in paths]


def piped(package: Any, graph: Callable[[Any], Any], **options: Any) -> Any:
    pipe = package.Pipeline(**{"batch_size": 3, "num_threads": 1, "device_id": None, "seed": 5, **options})
    with pipe:
        outputs = graph(package.fn)
        pipe.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    return pipe


def read(files: list[str], **options: Any) -> Callable[[Any], Any]:
    def graph(fn: Any) -> Any:
        encoded, labels = fn.readers.file(files=files, labels=list(range(len(files))), name="Reader", **options)
        return fn.decoders.image(encoded), labels

    return graph


def labels_of(files: list[str], **options: Any) -> Callable[[Any], Any]:
    return lambda fn: read(files, **options)(fn)[1]


def dataset(package: Any, pipe: Any, dtypes: Any = tf.int32, **options: Any) -> tf.data.Dataset:
    options = {"batch_size": 3, "num_threads": 1, "device_id": None, **options}
    return package.plugin.tf.DALIDataset(pipeline=pipe, output_dtypes=dtypes, **options)


def with_inputs(package: Any, graph: Callable[[Any], Any], dtypes: Any = tf.int32, **options: Any) -> tf.data.Dataset:
    options = {"batch_size": 3, "num_threads": 1, "device_id": None, **options}
    kind = package.plugin.tf.experimental.DALIDatasetWithInputs
    return kind(pipeline=piped(package, graph), output_dtypes=dtypes, **options)


def first_of(dataset: tf.data.Dataset, count: int = 4) -> list[Any]:
    return [[value.numpy().tolist() for value in batch] for batch in dataset.take(count)]


def waiting(fn: Any) -> Any:
    return fn.external_source(name="numbers")


def numbers(count: int) -> tf.data.Dataset:
    return tf.data.Dataset.range(count, output_type=tf.int32)


# What DALI's plugin does


def test_endless_batches_from_the_beginning_each_time(package: Any, files: list[str]) -> None:
    made = dataset(package, piped(package, read(files)), (tf.uint8, tf.int32))
    assert isinstance(made, tf.data.Dataset)
    assert made.cardinality() == tf.data.INFINITE_CARDINALITY
    for _ in range(2):
        batches = list(made.take(5))
        labels = [batch[1].numpy().ravel().tolist() for batch in batches]
        assert labels == [[0, 1, 2], [3, 4, 5], [6, 0, 1], [2, 3, 4], [5, 6, 0]]
        for images, numbers in batches:
            assert np.array_equal(images.numpy(), [pixels_of(number) for number in numbers.numpy().ravel()])


def test_seed_decides_whether_iterators_are_alike(package: Any) -> None:
    def draws(fn: Any) -> Any:
        return fn.random.uniform(range=(0.0, 1.0))

    alike = dataset(package, piped(package, draws), tf.float32)
    assert first_of(alike) == first_of(alike)
    different = dataset(package, piped(package, draws, seed=None), tf.float32)
    assert first_of(different) != first_of(different)


def test_batch_size_is_that_of_the_dataset(package: Any, files: list[str]) -> None:
    pipe = piped(package, labels_of(files), batch_size=3)
    kind = package.plugin.tf.DALIDataset
    assert first_of(kind(pipeline=pipe, output_dtypes=tf.int32, device_id=None), 2) == [[[[0]]], [[[1]]]]
    assert first_of(dataset(package, pipe, batch_size=5), 1) == [[[[0], [1], [2], [3], [4]]]]


@pytest.mark.parametrize(
    ("shape", "batch_size", "wanted"),
    [
        (None, 3, (3, 1)),
        ((3, 1), 3, (3, 1)),
        ((None, 1), 3, (3, 1)),
        ((3,), 3, (3,)),
        ((None,), 3, (3,)),
        ((1,), 1, (1,)),
        ((), 1, ()),
    ],
)
def test_shapes_without_axes_of_one(package: Any, files: list[str], shape: Any, batch_size: int, wanted: Any) -> None:
    made = dataset(package, piped(package, labels_of(files)), output_shapes=shape, batch_size=batch_size)
    (batch,) = next(iter(made))
    assert batch.shape == wanted
    assert made.element_spec[0].shape == tf.TensorShape(shape)


@pytest.mark.parametrize(
    ("shape", "fits"), [((3, 2, 2), True), ((3, 2, 1, 2), True), ((3, None, 2), True), ((3, 4), False)]
)
def test_axes_of_one_in_the_middle(package: Any, shape: Any, fits: bool) -> None:
    def graph(fn: Any) -> Any:
        return fn.reshape(fn.random.uniform(shape=[4]), shape=[1, 2, 1, 2])

    made = dataset(package, piped(package, graph), tf.float32, output_shapes=shape)
    if fits:
        assert next(iter(made))[0].shape.is_compatible_with(shape)
        assert next(iter(made))[0].shape.rank == len(shape)
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="output"):
            next(iter(made))


@pytest.mark.parametrize(
    "options", [{"output_shapes": (2, 1)}, {"output_shapes": (3, 1, 1)}, {"dtypes": tf.int64}], ids=str
)
def test_what_was_not_promised(package: Any, files: list[str], options: dict[str, Any]) -> None:
    made = dataset(package, piped(package, labels_of(files)), **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"output .?0"):
        next(iter(made))


def test_ragged_batches_are_refused(package: Any) -> None:
    source = tf.data.Dataset.range(1, 7).map(ragged)
    made = with_inputs(package, waiting, input_datasets={"numbers": source})
    with pytest.raises(tf.errors.OpError, match="shape"):
        next(iter(made))


def ragged(length: tf.Tensor) -> tf.Tensor:
    return tf.zeros([length], tf.int32)


@pytest.mark.parametrize("dtypes", [None, [tf.int32]])
def test_types_have_to_be_given(package: Any, files: list[str], dtypes: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="output_dtypes"):
        dataset(package, piped(package, labels_of(files)), dtypes)


def test_old_names(package: Any, files: list[str]) -> None:
    kind = package.plugin.tf.DALIDataset
    with pytest.warns(Warning, match="deprecated"):
        made = kind(
            pipeline=piped(package, labels_of(files)), dtypes=[tf.int32], shapes=[(2,)], batch_size=2, device_id=None
        )
    assert first_of(made, 1) == [[[0, 1]]]


# Datasets as inputs, as in DALI


def test_samples_of_a_dataset(package: Any) -> None:
    made = with_inputs(package, waiting, input_datasets={"numbers": numbers(7)})
    for _ in range(2):
        assert first_of(made, 9) == [[[0, 1, 2]], [[3, 4, 5]]]
    again = with_inputs(package, waiting, input_datasets={"numbers": numbers(4).repeat()})
    assert first_of(again, 3) == [[[0, 1, 2]], [[3, 0, 1]], [[2, 3, 0]]]


@pytest.mark.parametrize("batch", [True, None])
def test_batches_of_a_dataset(package: Any, batch: bool | None) -> None:
    source = package.plugin.tf.experimental.Input(numbers(7).batch(2), batch=batch)
    made = with_inputs(
        package, lambda fn: fn.external_source(name="numbers", batch=True), input_datasets={"numbers": source}
    )
    assert first_of(made, 9) == [[[0, 1]], [[2, 3]], [[4, 5]], [[6]]]


def test_several_inputs_and_operators_after_them(package: Any) -> None:
    def graph(fn: Any) -> Any:
        return fn.external_source(name="a") + fn.external_source(name="b"), fn.external_source(name="a2") * 2

    names = {"a": numbers(9), "b": numbers(5), "a2": numbers(100)}
    made = with_inputs(package, graph, (tf.int32, tf.int32), input_datasets=names)
    assert first_of(made, 9) == [[[0, 2, 4], [0, 2, 4]]]


def test_layout_of_an_input(package: Any) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 8, 9, 3), np.uint8)
    source = package.plugin.tf.experimental.Input(tf.data.Dataset.from_tensor_slices(pixels), layout="HWC")
    made = with_inputs(
        package, lambda fn: fn.flip(fn.external_source(name="a")), tf.uint8, input_datasets={"a": source}
    )
    assert np.array_equal(next(iter(made))[0].numpy(), pixels[:, :, ::-1])


def counted(number: int) -> Any:
    if number >= 3:
        raise StopIteration
    return np.full((3, 1), number, np.int32)


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ({"source": counted}, [[[0]] * 3, [[1]] * 3, [[2]] * 3]),
        ({"source": [np.int32([1, 2, 3]), np.int32([4, 5, 6])]}, [[1, 2, 3], [4, 5, 6]]),
        ({"source": [np.int32([1, 2, 3])], "cycle": True}, [[1, 2, 3]] * 4),
    ],
    ids=["function", "list", "cycle"],
)
def test_sources_of_the_pipeline_itself(package: Any, source: dict[str, Any], wanted: Any) -> None:
    made = with_inputs(package, lambda fn: fn.external_source(**source))
    for _ in range(2):
        assert first_of(made) == [[batch] for batch in wanted]


def test_inputs_that_do_not_fit(package: Any) -> None:
    for names in ({}, {"other": numbers(4)}, {"numbers": [1, 2]}):
        with pytest.raises((TypeError, ValueError), match=r"(?i)input"):
            with_inputs(package, waiting, input_datasets=names)


def test_inputs_are_for_the_other_dataset(package: Any) -> None:
    with pytest.raises(ValueError, match="DALIDatasetWithInputs"):
        dataset(package, piped(package, waiting))
    with pytest.raises(TypeError, match="DALIDatasetWithInputs"):
        dataset(package, piped(package, waiting), input_datasets={"numbers": numbers(4)})


# The operator for graphs


def batch_by_operator(package: Any, pipe: Any, **options: Any) -> Any:
    options = {"shapes": [(3, *SHAPE), (3, 1)], "dtypes": [tf.uint8, tf.int32], "device_id": None, **options}
    return package.plugin.tf.DALIIterator()(pipeline=pipe, **options)


def test_operator_gives_the_next_batch_each_time(package: Any, files: list[str]) -> None:
    wanted = [[0, 1, 2], [3, 4, 5], [6, 0, 1]]
    pipe = piped(package, read(files))
    assert [batch_by_operator(package, pipe)[1].numpy().ravel().tolist() for _ in range(3)] == wanted
    shapes = [(2, *SHAPE), (2, 1)]
    assert batch_by_operator(package, pipe, shapes=shapes)[1].numpy().ravel().tolist() == [0, 1]

    @tf.function(autograph=False)
    def traced() -> Any:
        return batch_by_operator(package, pipe)

    assert [traced()[1].numpy().ravel().tolist() for _ in range(3)] == wanted
    with tf.Graph().as_default(), tf.device("/cpu:0"):
        outputs = batch_by_operator(package, piped(package, read(files)))
        assert [output.shape for output in outputs] == [(3, *SHAPE), (3, 1)]
        with tf.compat.v1.Session() as session:
            batches = [session.run(outputs) for _ in range(3)]
    assert [labels.ravel().tolist() for _, labels in batches] == wanted
    assert np.array_equal(batches[1][0], [pixels_of(number) for number in (3, 4, 5)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"serialized_pipeline": b""}, "pass pipeline="),
        ({"sparse": [True, False]}, "sparse"),
        ({"shapes": [(3, 1)]}, "1 shapes for 2 dtypes"),
        ({"shapes": [None, None]}, "pass batch_size"),
    ],
)
def test_operator_refuses(files: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        batch_by_operator(pixelmill, piped(pixelmill, read(files)), **options)


# What is promised beyond


@given(st.lists(st.integers(1, 3), min_size=1, max_size=5), st.data())
def test_any_axes_of_one_may_be_left_out(shape: list[int], data: st.DataObject) -> None:
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    left_out = data.draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
    wanted = np.squeeze(np.empty(shape), tuple(left_out)).shape
    hidden = tuple(None if data.draw(st.booleans()) else extent for extent in wanted)
    parts = [np.squeeze(np.empty(shape), part).shape for n in range(len(ones) + 1) for part in combinations(ones, n)]
    fitting = {part for part in parts if tf.TensorShape(hidden).is_compatible_with(part)}
    assert wanted in fitting
    assert _squeezed(tuple(shape), tf.TensorShape(hidden)) == (wanted if len(fitting) == 1 else None)


def test_tensorflow_is_asked_for_only_where_it_is_needed() -> None:
    program = "import sys; sys.modules['tensorflow'] = None; import pixelmill.plugin.tf"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingDependency: tensorflow is not installed; it comes with: pip install 'pixelmill[tf]'" in result.stderr


def test_pixels_are_not_copied(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The tensor stands where the native core wrote the batch."""
    addresses: list[int] = []
    run = Pipeline.run

    def watched(pipe: Pipeline) -> Any:
        outputs = run(pipe)
        addresses.append(outputs[0].data_ptr())
        return outputs

    monkeypatch.setattr(Pipeline, "run", watched)
    pipe = piped(pixelmill, read(files))
    batches = list(dataset(pixelmill, pipe, (tf.uint8, tf.int32)).take(4))
    found = [np.asarray(memoryview(images)).ctypes.data for images, _ in batches]
    assert found == addresses[: len(found)]
    batches = list(plugin.from_loader(Loader(pipe, ["images", "labels"])))
    assert np.asarray(memoryview(batches[-1]["images"])).ctypes.data == addresses[-1]


def test_no_batches_are_made_ahead_but_those_of_the_pipeline(files: list[str]) -> None:
    made: list[int] = []

    def source(number: int) -> Any:
        made.append(number)
        return np.full((3, 1), number, np.int32)

    ours = with_inputs(pixelmill, lambda fn: fn.external_source(source=source), prefetch_queue_depth=2)
    loader = Loader(piped(pixelmill, lambda fn: fn.external_source(source=source)), ["numbers"])
    for batches in (iter(ours), iter(plugin.from_loader(loader))):
        made.clear()
        for _ in range(3):
            next(batches)
        time.sleep(0.1)
        assert max(made) <= 4


def test_encoded_files_as_strings(files: list[str]) -> None:
    source = tf.data.Dataset.from_tensor_slices(files[:3]).map(tf.io.read_file)
    made = with_inputs(
        pixelmill, lambda fn: fn.decoders.image(fn.external_source(name="a")), tf.uint8, input_datasets={"a": source}
    )
    assert np.array_equal(next(iter(made))[0].numpy(), [pixels_of(number) for number in range(3)])


def test_inputs_give_single_tensors() -> None:
    with pytest.raises(ArgumentError, match="single tensors"):
        Input(tf.data.Dataset.zip((numbers(3), numbers(3))))
    pipe = piped(pixelmill, waiting)
    with pytest.raises(ArgumentError, match="input_datasets: a dict"):
        DALIDatasetWithInputs(pipe, input_datasets=[numbers(3)], output_dtypes=tf.int32)


def test_pipeline_that_feeds_itself() -> None:
    class Fed(Pipeline):
        def define_graph(self) -> Any:
            self.numbers = fn.external_source()
            return self.numbers

        def iter_setup(self) -> None:
            self.feed_input(self.numbers, np.int32([7, 8, 9]))

    assert first_of(dataset(pixelmill, Fed(3, 1, None)), 3) == [[[7, 8, 9]]] * 3


def test_bad_file_is_named_and_the_next_batch_comes(files: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    pipe = piped(pixelmill, read([*files[:4], str(bad)]))
    batches = iter(dataset(pixelmill, pipe, (tf.uint8, tf.int32)))
    assert next(batches)[1].numpy().ravel().tolist() == [0, 1, 2]
    with pytest.raises(tf.errors.UnknownError, match=r"bad\.png"):
        next(batches)
    assert next(batches)[1].shape == (3, 1)
    assert [event.path for event in pipe.errors.events] == [str(bad)]


def test_iterators_that_are_given_up_leave_no_threads(files: list[str]) -> None:
    made = with_inputs(pixelmill, waiting, input_datasets={"numbers": numbers(100)})
    first_of(made, 1)
    gc.collect()
    before, python_before = threads(), threading.active_count()
    for _ in range(5):
        first_of(made, 2)
    gc.collect()
    deadline = time.monotonic() + 60
    while threads() > before + 1 and time.monotonic() < deadline:  # they end on their own
        time.sleep(0.01)
    assert threads() <= before + 1
    assert threading.active_count() <= python_before + 1


def test_dataset_that_is_given_up_frees_its_loader(files: list[str]) -> None:
    loader = Loader(piped(pixelmill, read(files)), ["images", "labels"])
    weak = weakref.ref(loader)
    made = plugin.from_loader(loader).map(lambda batch: batch["labels"])
    del loader
    gc.collect()
    assert len(list(made)) == 3
    batches = iter(made)
    next(batches)
    del made
    gc.collect()
    assert len(list(batches)) == 2
    del batches
    gc.collect()
    assert weak() is None


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_loader_ends_with_its_epoch(files: list[str]) -> None:
    loader = Loader(piped(pixelmill, read(files, random_shuffle=True)), ["images", "labels"])
    made = plugin.from_loader(loader)
    assert made.cardinality() == len(loader) == 3
    assert made.element_spec["images"] == tf.TensorSpec((None, *SHAPE), tf.uint8)
    epochs = [np.concatenate([batch["labels"].numpy().ravel() for batch in made]).tolist() for _ in range(3)]
    assert all(sorted(epoch) == list(range(7)) for epoch in epochs)
    plain = Loader(piped(pixelmill, read(files, random_shuffle=True)), ["images", "labels"])
    assert epochs == [np.concatenate([batch["labels"].ravel() for batch in plain]).tolist() for _ in range(3)]


def test_loader_without_a_reader_or_without_batches() -> None:
    def source(number: int) -> Any:
        if number >= 2:
            raise StopIteration
        return np.full((3, number + 1), number, np.int32)

    made = plugin.from_loader(Loader(piped(pixelmill, lambda fn: fn.external_source(source=counted)), ["a"]))
    assert made.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert [batch["a"][0, 0].numpy() for batch in made] == [0, 1, 2]
    different = plugin.from_loader(Loader(piped(pixelmill, lambda fn: fn.external_source(source=source)), ["a"]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        list(different)


def test_loader_of_a_source_that_cannot_go_back() -> None:
    def source() -> Iterator[Any]:
        for number in range(5):
            yield np.full((3, 1), number, np.int32)

    pipe = piped(pixelmill, lambda fn: fn.external_source(source=source, cycle="raise"))
    made = plugin.from_loader(Loader(pipe, ["a"]))
    for _ in range(2):
        assert [int(batch["a"][0, 0]) for batch in made] == [0, 1, 2, 3, 4]
    pipe = piped(pixelmill, lambda fn: fn.external_source(source=counted))
    loader = Loader(pipe, ["a"])
    state = loader.state_dict()
    made = plugin.from_loader(loader)
    loader.load_state_dict(state)
    assert [int(batch["a"][0, 0]) for batch in made] == [0, 1, 2]


def test_loader_with_ragged_samples(tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (8 + number, 8)).save(tmp_path / f"{number}.png")
    pipe = piped(pixelmill, read([str(path) for path in sorted(tmp_path.glob("*.png"))]))
    with pytest.raises(ArgumentError, match="'images': the samples of a batch differ in shape"):
        plugin.from_loader(Loader(pipe, ["images", "labels"]))


def test_keras_learns_from_it(files: list[str]) -> None:
    """The mean of an image tells its label, more or less."""

    def graph(fn: Any) -> Any:
        images, labels = read(files, random_shuffle=True)(fn)
        return fn.cast(fn.resize(images, size=(4, 4)), dtype=pixelmill.types.FLOAT) / 255, labels

    model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(7)])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    shapes = ((7, 4, 4, 3), (7, 1))
    made = dataset(pixelmill, piped(pixelmill, graph), (tf.float32, tf.int32), batch_size=7, output_shapes=shapes)
    history = model.fit(made, steps_per_epoch=20, epochs=3, verbose=0, shuffle=False)
    losses = history.history["loss"]
    assert losses[-1] < losses[0]
