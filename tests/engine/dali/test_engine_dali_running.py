"""The DALI engine in a pipeline: its choice, states, shards, bad samples, and what DALI cannot do."""

from __future__ import annotations

import gc
import os
import threading
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from both_engines import ENGINES, agree, compare, done_by_dali, files, made, taken
from dali_runs import noise

from pixelmill import ArgumentError, DataError, EngineError, fn, types
from pixelmill.engine import devices, selection
from pixelmill.engine.dali import engine as dali_engine
from pixelmill.engine.dali import pipeline_builder
from pixelmill.engine.dali.engine import DaliEngine
from pixelmill.engine.dali.upload import Upload
from pixelmill.engine.native import NativeEngine
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.pytorch import DALIGenericIterator
from pixelmill.tensors import TensorListCPU, TensorListGPU

__all__ = ["files"]


def train(paths, options=None):
    encoded, labels = fn.readers.file(files=paths, random_shuffle=True, name="Reader", **(options or {}))
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=(24, 32))
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


def engine_of(pipe):
    pipe.build()
    return pipe._schedule._engine


# The choice


def test_the_native_engine_is_taken_unless_a_gpu_is_asked_for_and_there(files, monkeypatch):
    def on_gpu(paths):
        return fn.decoders.image(fn.readers.file(files=paths)[0], device="mixed")

    assert isinstance(engine_of(made(train, "auto", files)), NativeEngine)
    assert isinstance(engine_of(made(on_gpu, "auto", files)), NativeEngine)
    monkeypatch.setattr(devices, "usable_gpus", lambda: ("a GPU",))
    pipe = made(on_gpu, "auto", files)
    outputs = pipe._defined()
    assert selection.select_engine("auto", pipe._nodes, outputs) == "dali"
    assert isinstance(engine_of(made(train, "auto", files)), NativeEngine)
    assert isinstance(engine_of(made(on_gpu, "native", files)), NativeEngine)


def test_the_environment_says_what_auto_means(files, monkeypatch):
    monkeypatch.setenv("PIXELMILL_ENGINE", "dali")
    assert isinstance(engine_of(made(train, "auto", files)), DaliEngine)
    assert isinstance(engine_of(made(train, "native", files)), NativeEngine)
    monkeypatch.setenv("PIXELMILL_ENGINE", "dally")
    with pytest.raises(ArgumentError, match="PIXELMILL_ENGINE must be one of auto, native, dali, got 'dally'"):
        engine_of(made(train, "auto", files))


def test_an_unknown_engine_is_refused(files):
    with pytest.raises(ArgumentError, match="engine must be one of auto, native, dali, got 'cuda'"):
        engine_of(made(train, "cuda", files))


def test_where_dali_has_nothing_to_do_the_native_engine_runs(files):
    def graph():
        encoded, labels = fn.readers.file(files=files)
        return encoded, labels, fn.random.uniform(range=(0.0, 1.0)) + 1.0

    assert isinstance(engine_of(made(graph, "dali")), NativeEngine)
    with pytest.raises(EngineError, match="DALI can run none of the operators"):
        made(graph, "dali").dali_pipeline()


def test_a_gpu_that_is_not_there_is_the_cpu(files, caplog, monkeypatch):
    monkeypatch.setattr("pixelmill.engine.selection._warned_about_gpu", False)

    def graph():
        images = fn.decoders.image(fn.readers.file(files=files)[0], device="mixed")
        return fn.resize(images, size=(20, 20)).gpu()

    with caplog.at_level("WARNING", "pixelmill"):
        compare(graph, device_id=0)
    assert sum("requests a GPU" in record.getMessage() for record in caplog.records) == 1


def test_the_emitted_pipeline_names_the_devices(files):
    def graph():
        images = fn.decoders.image(fn.readers.file(files=files)[0], device="mixed")
        turned = fn.warp_affine(images, fn.transforms.rotation(angle=fn.random.uniform(range=(-9.0, 9.0))))
        return fn.resize(turned, size=(20, 20)), turned.cpu()

    pipe = made(graph, "auto").dali_pipeline(device_id=0)
    pipe._build_graph()
    assert [edge.device for edge in pipe._graph_outputs] == ["gpu", "cpu"]


# States


@pytest.mark.parametrize("step", [0, 1, 3, 5])
@pytest.mark.parametrize(("first", "second"), [("dali", "dali"), ("native", "dali"), ("dali", "native")])
def test_either_engine_goes_on_where_the_other_was(first, second, step, files):
    whole = taken(made(train, first, files), step + 3)
    pipe = made(train, first, files)
    taken(pipe, step)
    state = pipe.checkpoint()
    agree(taken(made(train, second, files, checkpoint=state), 3), whole[step:])


def test_threads_and_depth_change_nothing(files):
    wanted = taken(made(train, "dali", files), 5)
    for options in ({"num_threads": 1}, {"prefetch_queue_depth": 1}, {"prefetch_queue_depth": 4, "num_threads": 3}):
        agree(taken(made(train, "dali", files, **options), 5), wanted, level=0)


def test_shards(files):
    for shard in range(2):
        compare(train, files, {"num_shards": 2, "shard_id": shard, "pad_last_batch": True}, batches=5)


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
def test_iterators(policy, files):
    epochs = []
    for engine in ENGINES:
        iterator = DALIGenericIterator(
            made(train, engine, files), ["x", "y"], reader_name="Reader", last_batch_policy=policy, auto_reset=True
        )
        epochs.append([[batch["y"].flatten().tolist() for (batch,) in iterator] for _ in range(3)])
    assert epochs[0] == epochs[1]


def test_batches_are_handed_out_without_a_copy_and_stay(files):
    pipe = made(train, "dali", files)
    kept = []
    for _ in range(12):
        array = pipe.run()[0].as_array()
        assert not array.flags.owndata
        kept.append((torch.from_numpy(array), array.copy()))
    pipe.close()
    del pipe
    gc.collect()
    assert all(np.array_equal(tensor.numpy(), copy) for tensor, copy in kept)


def test_batches_of_other_sizes(files):
    batches = [[noise((9 + k, 8, 3), seed=k) for k in range(count)] for count in (4, 1, 3)]

    def graph():
        return fn.flip(fn.external_source(source=iter(batches), layout="HWC"))

    compare(graph, level=0)


def test_arrays_of_users_whatever_lies_between_their_elements():
    picture = noise((6, 8, 3))
    fixed = picture.copy()
    fixed.flags.writeable = False
    batch = [picture[:, ::2], picture[::-1], np.asfortranarray(picture), fixed, picture.transpose(1, 0, 2)]

    def graph():
        return fn.flip(fn.external_source(source=repeat(batch), layout="HWC", no_copy=True))

    compare(graph, level=0, batch_size=len(batch))


def test_a_batch_that_dali_does_not_take_is_made_natively(files, monkeypatch, caplog):
    wanted = taken(made(train, "native", files), 5)
    pipe = made(train, "dali", files)
    pipe.build()
    feed_input, calls = pipe._schedule._engine._dali.pipe.feed_input, []

    def failing(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 6:
            raise ValueError("not this one")
        feed_input(*arguments, **options)

    monkeypatch.setattr(pipe._schedule._engine._dali.pipe, "feed_input", failing)
    with caplog.at_level("WARNING", "pixelmill"):
        agree(taken(pipe, 5), wanted)
    assert len(calls) == 6 and sum("not this one" in record.getMessage() for record in caplog.records) == 1


def test_a_batch_of_one_sample_is_made_by_dali(files, monkeypatch):
    pipe = made(train, "dali", files, batch_size=1)
    engine = engine_of(pipe)
    feed, fed = engine._feed, []
    monkeypatch.setattr(engine, "_feed", lambda pending: fed.append(pending) or feed(pending))
    agree(taken(pipe, 2), taken(made(train, "native", files, batch_size=1), 2))
    assert len(fed) >= 2


def test_threads_end_with_the_pipeline(files):
    others = set(threading.enumerate())  # threads of pipelines that earlier tests dropped may end at any time
    pipe = made(train, "dali", files)
    pipe.run()
    own = set(threading.enumerate()) - others
    assert own
    pipe.close()
    assert not own & set(threading.enumerate())
    with pytest.raises(EngineError, match="closed"):
        pipe.run()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")  # since Python 3.12
def test_a_child_process_goes_on(files):
    wanted = taken(made(train, "dali", files), 3)
    pipe = made(train, "dali", files)
    taken(pipe, 1)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover
        status = 1
        try:
            agree(taken(pipe, 2), wanted[1:])
            status = 0
        finally:
            os.write(writing, b"done")
            os._exit(status)
    os.read(reading, 4)
    assert os.waitpid(child, 0)[1] == 0
    agree(taken(pipe, 2), wanted[1:])


# Bad samples


@pytest.fixture(scope="module")
def damaged(files, tmp_path_factory):
    """Copy the images; some are no images, cut off, empty, or not there."""
    folder = tmp_path_factory.mktemp("damaged")
    paths = []
    for number, name in enumerate(files):
        data = Path(name).read_bytes()
        bad = {2: b"no picture" * 20, 5: data[: len(data) // 2], 6: b"", 9: data[:200], 12: b"\xff\xd8\xff" + data[99:]}
        paths.append(str(folder / f"{number:02d}.jpg"))
        Path(paths[-1]).write_bytes(bad.get(number, data))
    return paths


def outcome(paths, engine, on_error):
    """Take three epochs; give batches, or the events of an error, and all events at last."""
    pipe = made(train, engine, paths, on_error=on_error)
    seen = []
    while len(seen) < 12:
        try:
            images, labels = taken(pipe, 1)[0]
            seen.append((images, [int(label[0]) for label in labels], pipe.valid.tolist()))
        except DataError as error:
            seen.append([event.sample for event in error.events])
    return seen, list(pipe.errors.events)


@pytest.mark.parametrize("on_error", ["raise", "skip", "fill", lambda event: "fill" if event.sample == 5 else "skip"])
def test_bad_samples_are_handled_as_on_the_native_engine(on_error, damaged):
    (native, events), (dali, others) = (outcome(damaged, engine, on_error) for engine in ENGINES)
    assert others == events and {event.sample for event in events} == {2, 5, 6, 9, 12}
    for one, other in zip(dali, native, strict=True):
        if isinstance(one, list):
            assert one == other
        else:
            assert one[1:] == other[1:]
            agree([[one[0]]], [[other[0]]])


def test_too_many_bad_samples(damaged):
    for engine in ENGINES:
        pipe = made(train, engine, damaged, on_error="skip", max_errors=2)
        with pytest.raises(DataError, match="max_errors allows 2"):
            taken(pipe, 4)


def test_what_dali_cannot_decode_is_decoded_natively(files, tmp_path, caplog):
    from PIL import Image

    pictures = [str(tmp_path / f"{number}.gif") for number in range(4)]
    for number, path in enumerate(pictures):
        Image.fromarray(noise((20, 30), seed=number)).save(path)

    def graph():
        return fn.decoders.image(fn.readers.file(files=pictures)[0])

    with caplog.at_level("WARNING", "pixelmill"):
        native, dali = (made(graph, engine) for engine in ENGINES)
        agree(taken(dali, 2), taken(native, 2), level=0)
    assert done_by_dali(dali) == []
    assert sum("run natively instead" in record.getMessage() for record in caplog.records) == 1


def test_an_argument_that_does_not_fit_a_sample_is_told_as_natively(files):
    def graph():
        images = fn.decoders.image(fn.readers.file(files=files)[0])
        return fn.crop(images, crop=(900, 10))

    messages = []
    for engine in ENGINES:
        with pytest.raises(DataError) as caught:
            made(graph, engine).run()
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "900" in messages[0] and "created at" in messages[0]


def test_types_of_arguments_are_those_dali_wants(files):
    """A node of another type than DALI takes for an argument is brought to it, as natively."""

    def graph():
        images = fn.decoders.image(fn.readers.file(files=files)[0])
        wide = fn.random.uniform(range=(20.0, 30.0), dtype=types.FLOAT64)
        chosen = fn.random.coin_flip(dtype=types.BOOL)
        size = fn.stack(fn.cast(wide, dtype=types.INT64), fn.cast(wide, dtype=types.INT64))
        return fn.flip(fn.rotate(fn.resize(images, size=size), angle=wide), horizontal=chosen)

    compare(graph, level=2)


# Outputs on a GPU, with DALI's CPU operators and batches in place of those of the GPU


@pytest.fixture
def pretended_gpu(monkeypatch):
    build = dali_engine.build_pipeline

    def on_cpu(plan, **options):
        return build(plan, **{**options, "device_id": None})

    monkeypatch.setattr(selection, "usable_device", lambda device_id: device_id)
    monkeypatch.setattr(dali_engine, "build_pipeline", on_cpu)
    monkeypatch.setattr(pipeline_builder._PipelineBuilder, "_moved", lambda self, value, device: value)
    monkeypatch.setattr(
        dali_engine, "Upload", lambda batch_size, device_id: Upload(batch_size=batch_size, device_id=None)
    )


def on_gpu(paths):
    encoded, labels = fn.readers.file(files=paths, random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded, device="mixed"), size=(24, 32))
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels, labels.gpu()


def test_batches_on_a_gpu_are_dalis(files, pretended_gpu):
    native, dali = made(on_gpu, "native", files), made(on_gpu, "dali", files, device_id=0)
    for _ in range(3):
        images, labels, moved = dali.run()
        wanted, *_ = native.run()
        assert isinstance(images, TensorListGPU) and isinstance(moved, TensorListGPU)
        assert isinstance(labels, TensorListCPU) and np.array_equal(labels.as_array(), moved.as_cpu().as_array())
        assert (images.layout(), images.dtype, images.ndim()) == ("HWC", types.UINT8, 3)
        assert images.shape() == wanted.shape() and images.is_dense_tensor() and len(images) == 4
        tensor = torch.utils.dlpack.from_dlpack(images.as_tensor())
        assert np.abs(tensor.numpy().astype(int) - wanted.as_array()).max() <= 1
        assert np.array_equal(images[1].as_cpu(), tensor[1]) and images[1].data_ptr() == tensor[1].data_ptr()


def test_iterators_take_batches_on_a_gpu_where_they_are(files, pretended_gpu):
    names = ["x", "y", "z"]
    native = DALIGenericIterator(made(on_gpu, "native", files), names, reader_name="Reader")
    dali = DALIGenericIterator(made(on_gpu, "dali", files, device_id=0), names, reader_name="Reader")
    for (one,), (other,) in zip(dali, native, strict=True):
        assert torch.equal(one["y"], other["y"]) and torch.equal(one["z"], other["z"])
        assert (one["x"].int() - other["x"].int()).abs().max() <= 1


@pytest.mark.parametrize("on_error", ["skip", "fill"])
def test_bad_samples_among_batches_on_a_gpu(on_error, damaged, pretended_gpu):
    native = made(on_gpu, "native", damaged, on_error=on_error)
    dali = made(on_gpu, "dali", damaged, on_error=on_error, device_id=0)
    for _ in range(4):
        one, other = dali.run(), native.run()
        assert all(isinstance(batch, TensorListGPU) for batch in (one[0], one[2]))
        agree([[one[0].as_cpu()]], [[other[0]]])
        assert np.array_equal(one[2].as_cpu().as_array(), other[2].as_array())
    assert list(dali.errors.events) == list(native.errors.events)


def test_what_runs_natively_after_dali_is_brought_to_the_gpu(files, pretended_gpu):
    def graph(paths):
        encoded, labels = fn.readers.file(files=paths, random_shuffle=True)
        images = fn.resize(fn.decoders.image(encoded, device="mixed"), size=(24, 32))
        noisy = fn.noise.gaussian(images, stddev=9.0)
        return noisy, noisy.cpu(), labels

    native, dali = made(graph, "native", files), made(graph, "dali", files, device_id=0)
    for _ in range(3):
        (noisy, copied, labels), (wanted, *_) = dali.run(), native.run()
        assert isinstance(noisy, TensorListGPU) and isinstance(copied, TensorListCPU)
        assert isinstance(labels, TensorListCPU) and noisy.layout() == "HWC"
        assert np.array_equal(noisy.as_cpu().as_array(), copied.as_array())
        assert np.abs(copied.as_array().astype(int) - wanted.as_array()).max() <= 2


@pytest.mark.parametrize("layout", ["", "HWC"])
def test_uploads_keep_types_shapes_and_names_of_axes(layout):
    upload = Upload(batch_size=4, device_id=None)
    for dtype in (np.uint8, np.int32, np.int64, np.float16, np.float32, bool):
        shapes = [(2, 3, 1), (5, 1, 2), (4, 4, 3)]
        samples = [np.random.default_rng(n).integers(0, 2, shape).astype(dtype) for n, shape in enumerate(shapes)]
        batch = TensorListGPU(upload(samples, layout))
        assert all(map(np.array_equal, batch.as_cpu(), samples)) and batch.shape() == shapes
        assert batch.dtype == types.to_data_type(np.dtype(dtype))
        dense: Any = upload(np.arange(12).reshape(4, 3, 1, 1).astype(dtype), layout)
        assert np.array_equal(TensorListGPU(dense).as_cpu().as_array().ravel(), np.arange(12).astype(dtype))
        assert dense.layout() == layout
