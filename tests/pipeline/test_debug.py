"""Debug mode: each operator of the function computes its values immediately."""

from __future__ import annotations

import numpy as np
import pytest
from encoded_images import color, encode

import pixelmill.fn as fn
import pixelmill.types as types
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import pipeline_def as usual_pipeline_def
from pixelmill.pipeline.debug import DataNodeDebug
from pixelmill.pipeline.experimental import pipeline_def

OPTIONS = {"batch_size": 2, "num_threads": 1, "device_id": None, "seed": 3}


@pytest.fixture
def folder(tmp_path):
    for number in range(5):
        group = tmp_path / f"class_{number % 2}"
        group.mkdir(exist_ok=True)
        (group / f"{number}.jpg").write_bytes(encode(color(number, 20 + number, 24), "JPEG").tobytes())
    return str(tmp_path)


def batches(pipe, count):
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def graph(folder):
    encoded, labels = fn.readers.file(file_root=folder, name="Reader")
    images = fn.resize(fn.decoders.image(encoded), size=[12, 14])
    numbers = fn.external_source(source=lambda: [np.float32([1, 2])] * 2, batch=True)
    first, second = fn.python_function(labels, function=lambda x: (x + 1, x * 2), num_outputs=2)
    mirrored = fn.flip(images, horizontal=fn.external_source(source=lambda: [np.int32(1), np.int32(0)], batch=True))
    left, right = fn.copy([images, mirrored])
    return images, mirrored[2:5, :, 0] * 2, numbers + first, second, left, right, np.float32([1, 2])


def test_a_pipeline_returns_in_debug_mode_what_it_returns_otherwise(folder):
    debugged = batches(pipeline_def(debug=True, **OPTIONS)(graph)(folder), 3)
    usual = batches(usual_pipeline_def(**OPTIONS)(graph)(folder), 3)
    for one, other in zip(debugged, usual, strict=True):
        for mine, wanted in zip(one, other, strict=True):
            assert [x.dtype for x in mine] == [x.dtype for x in wanted]
            assert all(np.array_equal(x, y) for x, y in zip(mine, wanted, strict=True))


def test_values_are_known_inside_the_function(folder):
    seen = []

    @pipeline_def(debug=True, **OPTIONS)
    def pipeline():
        encoded, labels = fn.readers.file(file_root=folder)
        images = fn.decoders.image(encoded)
        seen.append((np.array(labels.get().as_tensor()).ravel().tolist(), images.shape()))
        assert isinstance(images, DataNodeDebug)
        assert str(images).startswith('DataNodeDebug(\n    name="') and "TensorListCPU" in repr(images)
        assert images.gpu().get() is images.get()
        with pytest.raises(TypeError, match="conditional context"):
            bool(images)
        return images

    pipe = pipeline()
    pipe.run()
    pipe.run()
    assert seen == [([0, 0], [(20, 24, 3), (22, 24, 3)]), ([0, 1], [(24, 24, 3), (21, 24, 3)])]


def test_random_numbers_differ_between_operators_and_batches_and_follow_the_seed():
    def draws():
        return fn.random.uniform(range=[0, 1]), fn.random.uniform(range=[0, 1])

    make = pipeline_def(debug=True, **OPTIONS)(draws)
    first, again = batches(make(), 2), batches(make(), 2)
    values = [float(x) for batch in first for out in batch for x in out]
    assert len(set(values)) == len(values) == 8
    assert values == [float(x) for batch in again for out in batch for x in out]


def test_sources_are_fed_and_end(folder):
    @pipeline_def(debug=True, **OPTIONS)
    def pipeline():
        listed = fn.external_source(source=[[np.int32(1)] * 2, [np.int32(2)] * 2], cycle="raise")
        return fn.external_source(name="fed", dtype=types.INT32) + listed

    pipe = pipeline()
    for _ in range(2):
        pipe.feed_input("fed", [np.int32(10), np.int32(20)])
        assert np.array(pipe.run()[0].as_tensor()).tolist() == [11, 21]
        assert np.array(pipe.run(fed=np.int32([30, 40]))[0].as_tensor()).tolist() == [32, 42]
        with pytest.raises(StopIteration):
            pipe.run()
        pipe.reset()


def test_the_size_of_a_reader_is_known_and_no_batch_is_lost(folder):
    pipe = pipeline_def(debug=True, **OPTIONS)(lambda: fn.readers.file(file_root=folder, name="Reader")[1])()
    assert pipe.epoch_size("Reader") == 5
    assert [np.array(pipe.run()[0].as_tensor()).ravel().tolist() for _ in range(2)] == [[0, 0], [0, 1]]
    pipe.close()


def test_refusals(folder):
    calls = [fn.random.coin_flip, fn.random.uniform]
    pipe = pipeline_def(debug=True, **OPTIONS)(lambda: calls.pop(0)())()
    pipe.run()
    with pytest.raises(EngineError, match=r"random.uniform: .* was random.coin_flip before"):
        pipe.run()
    with pytest.raises(EngineError, match="pipeline_def only"), pipe:
        pass
    with pytest.raises(ArgumentError, match="enable_conditionals"):
        pipeline_def(debug=True, enable_conditionals=True, **OPTIONS)(graph)(folder)
    with pytest.raises(TypeError, match="must be a node"):
        pipeline_def(debug=True, **OPTIONS)(lambda: (fn.copy(1), [fn.copy(1)]))().run()
    with pytest.raises(ArgumentError, match="batch_size"):
        pipeline_def(debug=True)(graph)(folder).run()


def test_a_call_decides_about_debug_mode(folder):
    def plain():
        return fn.readers.file(file_root=folder)[1]

    for default, given in [(False, True), (True, False)]:
        pipe = pipeline_def(debug=default, **OPTIONS)(plain)(debug=given)
        assert batches(pipe, 1)[0][0][0].tolist() == [0]
