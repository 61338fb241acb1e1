"""Data that the user's own program makes: in any form, at any time, and safe from what it does with them later."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, numpy_batch
from encoded_images import kinds, pillow
from peers import peer

from pixelmill import ArgumentError, EngineError, Pipeline, fn, types
from pixelmill.backend import TensorCPU, TensorListCPU

torch = peer("torch")

BOTH = [HERE, DALI]
ids = {"ids": lambda module: module.__name__}


def first(batch, **options):
    """Return what a pipeline makes of one batch, untouched."""
    arguments = {key: options.pop(key) for key in ("layout", "dtype", "ndim", "batch") if key in options}
    given = {"batch_size": 2, **options}
    return numpy_batch(make(HERE, lambda m: fn.external_source(source=lambda: batch, **arguments), **given).run()[0])


# Forms


@pytest.mark.parametrize(
    "dtype", [types.to_numpy_type(t).__name__ for t in types.DALIDataType if 0 <= t < types.STRING]
)
def test_elements_of_every_type_pass(dtype):
    batch = [np.arange(6).reshape(2, 3).astype(dtype), np.zeros((1, 4), dtype)]
    for got, wanted in zip(first(batch), batch, strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


FORMS = {
    "list": lambda x: list(x),
    "tuple": lambda x: tuple(x),
    "array": lambda x: x,
    "tensor list": lambda x: TensorListCPU(x),
    "tensors": lambda x: [TensorCPU(sample) for sample in x],
    "torch": lambda x: torch.from_numpy(x.copy()),
    "torch list": lambda x: [torch.from_numpy(sample.copy()) for sample in x],
    "backwards": lambda x: x[:, ::-1].copy()[:, ::-1],
    "columns first": lambda x: np.asfortranarray(x),
    "every second": lambda x: np.repeat(x, 2, axis=2)[:, :, ::2],
    "other byte order": lambda x: x.astype(">i4"),
    "read only": lambda x: np.frombuffer(x.tobytes(), np.int32).reshape(x.shape),
}


@pytest.mark.parametrize("form", FORMS)
def test_batches_of_every_form_pass(form):
    data = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    got = first(FORMS[form](data))
    assert got[0].dtype == np.int32
    np.testing.assert_array_equal(got, data)


def test_encoded_files_may_be_bytes():
    data = bytes(kinds()["jpeg"])
    for form in (data, bytearray(data), memoryview(data)):
        pipe = make(HERE, lambda m: fn.decoders.image(fn.external_source(source=lambda: [form])), batch_size=1)  # noqa: B023
        np.testing.assert_array_equal(pipe.run()[0].at(0), pillow(kinds()["jpeg"]))


def test_single_numbers_are_samples_without_axes():
    got = first([np.float32(1.5), np.array(2.5, np.float32)])
    assert [(x.shape, float(x)) for x in got] == [((), 1.5), ((), 2.5)]


def test_samples_may_be_empty_but_a_batch_may_not():
    assert [x.shape for x in first([np.zeros((0, 3), np.uint8), np.zeros((2, 3), np.uint8)])] == [(0, 3), (2, 3)]
    with pytest.raises(ArgumentError, match="an empty batch"):
        first([])


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ([1.0, 2.0], "samples must be arrays, got Python numbers; wrap them with numpy.array"),
        (np.float32(3), "a batch must be a list of arrays, or an array with the samples along its first axis"),
        ([np.zeros(2), np.zeros(2, np.float32)], "the samples of a batch must have one type and number of axes"),
        ([np.array("text")], "elements of type .* are not supported"),
        ([np.array([None])], "elements of type .* are not supported"),
        ([np.zeros(3, np.complex64)], "elements of type complex64 are not supported"),
        ([np.zeros((1,) * 7, np.uint8)], "at most 6 axes, got 7"),
    ],
    ids=str,
)
def test_what_cannot_be_a_batch_is_refused_in_words(batch, message):
    with pytest.raises(ArgumentError, match=message):
        first(batch)


def test_samples_are_named_in_messages():
    node = lambda m: fn.external_source(source=lambda: [np.zeros(2)] * 3, name="boxes")  # noqa: E731
    with pytest.raises(ArgumentError, match="external_source 'boxes': a batch must have 1 to 2 samples, got 3"):
        make(HERE, node, batch_size=2).run()


# Safety


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("module", BOTH, **ids)
def test_a_source_may_use_its_buffer_again(module, depth):
    buffer = np.zeros((2, 50_000), np.int32)

    def source(number):
        buffer[:] = number
        return buffer

    pipe = make(module, lambda m: m.fn.external_source(source=source), batch_size=2, prefetch_queue_depth=depth)
    for number in range(5):
        batch = np.array(pipe.run()[0].as_array())
        assert (batch == number).all()


@pytest.mark.parametrize("module", BOTH, **ids)
def test_what_was_fed_may_be_changed_afterwards(module):
    data = [np.full(3, number, np.int32) for number in range(2)]
    pipe = make(module, lambda m: m.fn.external_source(name="data"), batch_size=2)
    pipe.feed_input("data", data)
    data[0][:] = 99
    assert np.array(pipe.run()[0].as_array()).tolist() == [[0] * 3, [1] * 3]


def test_operators_leave_what_a_source_gave_alone():
    data = np.arange(60, dtype=np.uint8).reshape(1, 4, 5, 3)
    graph = lambda m: fn.flip(fn.external_source(source=lambda: data, layout="HWC", no_copy=True))  # noqa: E731
    make(HERE, graph, batch_size=1).run()
    np.testing.assert_array_equal(data.reshape(-1), np.arange(60))


def test_outputs_are_writable_and_belong_to_the_user():
    data = np.zeros((2, 3), np.uint8)
    pipe = make(HERE, lambda m: fn.external_source(source=lambda: data), batch_size=2)
    batch = pipe.run()[0].as_array()
    batch[:] = 7
    assert not data.any() and not pipe.run()[0].as_array().any()


# Asking


def test_a_source_is_asked_in_order_and_as_far_ahead_as_was_said():
    asked = []

    def source(info):
        asked.append((info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx))
        return np.int32(info.idx_in_epoch)

    pipe = make(HERE, lambda m: fn.external_source(source=source, batch=False), batch_size=3, prefetch_queue_depth=2)
    pipe.run()
    assert asked == [(i, i % 3, i // 3, 0) for i in range(6)]
    pipe.run()
    assert len(asked) == 9


def test_an_error_in_a_source_is_the_users_own_and_the_pipeline_goes_on():
    calls = deque([np.zeros(2), KeyError("mine"), np.ones(2)])

    def source():
        value = calls.popleft()
        if isinstance(value, Exception):
            raise value
        return value

    pipe = make(HERE, lambda m: fn.external_source(source=source), batch_size=2)
    assert pipe.run()[0].as_array().tolist() == [0, 0]
    with pytest.raises(KeyError, match="mine"):
        pipe.run()
    assert pipe.run()[0].as_array().tolist() == [1, 1]


@pytest.mark.parametrize("module", BOTH, **ids)
def test_an_epoch_that_ends_within_a_batch_of_samples_loses_that_batch(module):
    def source(info):
        if info.idx_in_epoch >= 7:
            raise StopIteration
        return np.int32(info.idx_in_epoch)

    pipe = make(module, lambda m: m.fn.external_source(source=source, batch=False), batch_size=3)
    epochs = []
    for _ in range(2):
        seen = []
        with pytest.raises(StopIteration):
            while True:
                seen.append(np.array(pipe.run()[0].as_array()).tolist())
        epochs.append(seen)
        pipe.reset()
    assert epochs == [[[0, 1, 2], [3, 4, 5]]] * 2


def test_batches_under_way_are_delivered_before_the_end():
    source = iter([[np.int32(i)] for i in range(3)])
    pipe = make(HERE, lambda m: fn.external_source(source=source), batch_size=1, prefetch_queue_depth=3)
    assert [int(pipe.run()[0].at(0)) for _ in range(3)] == [0, 1, 2]
    for _ in range(2):
        with pytest.raises(StopIteration):
            pipe.run()


def test_reset_before_the_end_changes_nothing():
    pipe = make(HERE, lambda m: fn.external_source(source=lambda i: [np.int32(i)]), batch_size=1)
    pipe.run()
    pipe.reset()
    assert int(pipe.run()[0].at(0)) == 1


def test_several_sources_must_agree_about_the_batch():
    def graph(m):
        return fn.external_source(source=lambda: np.zeros(2)), fn.external_source(source=lambda: np.zeros(1))

    with pytest.raises(ArgumentError, match="must have the same number of samples"):
        make(HERE, graph, batch_size=2).run()
    several = lambda m: fn.external_source(source=lambda: (np.zeros(2), np.zeros(1)), num_outputs=2)  # noqa: E731
    with pytest.raises(ArgumentError, match="all outputs must have the same number of samples"):
        make(HERE, several, batch_size=2).run()
    wrong = lambda m: fn.external_source(source=lambda: (np.zeros(2),), num_outputs=2)  # noqa: E731
    with pytest.raises(ArgumentError, match="expected 2 outputs, got 1"):
        make(HERE, wrong, batch_size=2).run()


def test_only_some_outputs_of_a_source_may_be_used():
    def graph(m):
        return fn.external_source(source=lambda: (np.zeros(2), np.ones(2)), num_outputs=2)[1]

    assert make(HERE, graph, batch_size=2).run()[0].as_array().tolist() == [1, 1]


def test_a_source_beside_a_reader_has_a_value_for_every_sample(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.jpg").write_bytes(bytes([number]))

    def graph(m, size=2):
        files = [str(tmp_path / f"{number}.jpg") for number in range(4)]
        return fn.readers.file(files=files)[1], fn.external_source(source=lambda i: np.full(size, i))

    pipe = make(HERE, graph, batch_size=2)
    seen = [[np.asarray(out).ravel().tolist() for out in pipe.run()] for _ in range(3)]
    assert seen == [[[0, 1], [0, 0]], [[2, 3], [1, 1]], [[0, 1], [2, 2]]]
    with pytest.raises(ArgumentError, match="must have the same number of samples"):
        make(HERE, lambda m: graph(m, 1), batch_size=2).run()


def test_smaller_batches_draw_the_same_numbers():
    sizes = iter([3, 1, 2])
    graph = lambda m: (fn.external_source(source=lambda: np.zeros(next(sizes))), fn.random.uniform())  # noqa: E731
    pipe = make(HERE, graph, batch_size=3)
    lengths, drawn = [], []
    for _ in range(3):
        zeros, numbers = pipe.run()
        lengths.append((len(zeros), len(numbers)))
        drawn += np.asarray(numbers).tolist()
    assert lengths == [(3, 3), (1, 1), (2, 2)]
    assert len(set(drawn)) == 6


def test_feeding_ahead_is_first_in_first_out():
    pipe = Pipeline(1, 1, None, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(fn.external_source(name="numbers"))
    for number in range(3):
        pipe.feed_input("numbers", [np.int32(number)])
    assert [int(pipe.run()[0].at(0)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(EngineError, match="nothing was fed"):
        pipe.run()


def test_the_arrays_of_a_batch_stay_until_it_is_done():
    """The source forgets what it gave at once; the core must not."""

    def graph(m):
        numbers = fn.external_source(source=lambda i: [np.full(200_000, i, np.int32)] * 4, no_copy=True)
        return fn.cast(numbers, dtype=types.FLOAT)

    pipe = make(HERE, graph, batch_size=4, num_threads=2, prefetch_queue_depth=3)
    for number in range(20):
        assert (pipe.run()[0].as_array() == number).all()


def fed(module, layouts, *, declared=None):
    """Feed images with layouts, one batch after the other; give what comes out, and its layout."""
    picture = noise((3, 4, 5))
    pipe = module.Pipeline(batch_size=1, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        node = module.fn.external_source(name="pictures", layout=declared)
        size = module.fn.cast(module.fn.flip(node).shape(), dtype=module.types.INT32)
        pipe.set_outputs(module.fn.flip(node), node, module.fn.resize(node, size=(6, 7)), size)
    pipe.build()
    results = []
    for layout in layouts:
        pipe.feed_input("pictures", [picture], layout=layout)
        results.append([(batch.layout(), np.array(batch.at(0)).shape, np.array(batch.at(0))) for batch in pipe.run()])
    return results


@pytest.mark.parametrize(
    ("declared", "layouts"),
    [
        (None, ["CHW"]),
        (None, ["HWC", "HWC"]),
        ("CHW", [None]),
        ("CHW", ["CHW"]),
        (None, ["CHW", "CHW"]),
        (None, [None]),
    ],
)
def test_the_layout_of_what_is_fed_counts_as_in_dali(declared, layouts):
    for mine, theirs in zip(fed(HERE, layouts, declared=declared), fed(DALI, layouts, declared=declared), strict=True):
        for (layout, shape, got), (wanted, expected_shape, expected) in zip(mine, theirs, strict=True):
            assert (layout, shape) == (wanted, expected_shape)
            assert np.abs(got.astype(int) - expected.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("declared", "layouts", "text"),
    [
        ("HWC", ["CHW"], "the layout of 'pictures' is 'HWC' and cannot change to 'CHW'"),
        (None, ["HWC", "CHW"], "the layout of 'pictures' is 'HWC' and cannot change to 'CHW'"),
        (None, ["HW"], "the layout 'HW' of 'pictures' does not name 3 axes"),
    ],
)
def test_layouts_that_dali_refuses_are_refused(declared, layouts, text):
    with pytest.raises(ArgumentError, match=text):
        fed(HERE, layouts, declared=declared)
    with pytest.raises((RuntimeError, ValueError)):
        fed(DALI, layouts, declared=declared)


def test_a_layout_does_not_come_later_than_the_first_batch():
    # DALI takes it, and refuses the next batch without one.
    with pytest.raises(ArgumentError, match="the layout of 'pictures' is '' and cannot change to 'CHW'"):
        fed(HERE, [None, "CHW"])


def test_a_layout_that_an_operator_does_not_take_is_an_error_with_its_line():
    with pytest.raises(ArgumentError, match=r"^flip: .*'ABC'.*\n?.*created at test_external_source\.py:\d+"):
        fed(HERE, ["ABC"])


def test_a_batch_of_another_pipeline_brings_its_layout():
    (first, *_) = make(HERE, lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]), [noise((4, 5, 3))]).run()
    pipe = HERE.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(HERE.fn.flip(HERE.fn.external_source(name="pictures")))
    pipe.feed_input("pictures", first)
    (flipped,) = pipe.run()
    assert flipped.layout() == "CHW"
    np.testing.assert_array_equal(flipped.at(0), first.at(0)[:, :, ::-1])


def test_infos_made_by_hand_are_of_the_first_epoch() -> None:
    assert types.SampleInfo(5, 1, 2) == types.SampleInfo(idx_in_epoch=5, idx_in_batch=1, iteration=2, epoch_idx=0)
    assert types.BatchInfo(2) == types.BatchInfo(iteration=2, epoch_idx=0)
