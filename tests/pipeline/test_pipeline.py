"""Pipelines as programs for DALI use them: making, feeding, running, looking into batches, going on later."""

from __future__ import annotations

import inspect
import json
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, numpy_batch

from pixelmill import ArgumentError, EngineError, Pipeline, fn, pipeline_def, types
from pixelmill.backend import TensorCPU, TensorListCPU

BOTH = [HERE, DALI]
ids = {"ids": lambda module: module.__name__}


def options(**more):
    return {"batch_size": 2, "num_threads": 1, "device_id": None, "prefetch_queue_depth": 1, **more}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Forty tiny files whose content is their number."""
    folder = tmp_path_factory.mktemp("files")
    for number in range(40):
        (folder / f"{number:02}.jpg").write_bytes(bytes([number]))
    return [str(path) for path in sorted(folder.iterdir())]


def labels(batch):
    return [int(label[0]) for label in numpy_batch(batch)]


# Making


def test_the_constructor_takes_dalis_arguments_in_dalis_order():
    mine, theirs = (inspect.signature(module.Pipeline.__init__).parameters for module in BOTH)
    positional = [name for name, p in theirs.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [name for name, p in mine.items() if p.kind is p.POSITIONAL_OR_KEYWORD] == positional
    assert set(theirs) <= set(mine)


@pytest.mark.parametrize("module", BOTH, **ids)
def test_properties_tell_what_was_asked_for(module):
    pipe = make(module, lambda m, x: x, [noise((2, 2, 1))] * 3, seed=12, num_threads=2, prefetch_queue_depth=3)
    assert (pipe.max_batch_size, pipe.num_threads, pipe.seed) == (3, 2, 12)
    assert (pipe.prefetch_queue_depth, pipe.device_id, pipe.num_outputs) == (3, None, 1)
    assert (pipe.exec_pipelined, pipe.exec_async, pipe.py_num_workers) == (True, True, 1)
    assert pipe.is_restored_from_checkpoint is False


@pytest.mark.parametrize(
    "wrong", [{"batch_size": 0}, {"num_threads": 0}, {"batch_size": -1}, {"num_threads": -1}], ids=str
)
def test_a_pipeline_that_cannot_run_is_refused(wrong):
    with pytest.raises(ArgumentError, match=f"{next(iter(wrong))} must be at least 1"):
        make(HERE, lambda m: fn.random.coin_flip(), **options(**wrong))


def test_a_pipeline_without_a_graph_is_refused():
    with pytest.raises(EngineError, match="the pipeline has no graph: override define_graph or call set_outputs"):
        Pipeline(1, 1, None).run()


class Subclass:
    """The way of 2019: operators in the constructor, the graph in a method."""

    def __new__(cls, module):
        class Program(module.Pipeline):  # type: ignore[name-defined]
            def __init__(self, batch_size, num_threads, device_id):
                super().__init__(batch_size, num_threads, device_id, seed=12, prefetch_queue_depth=2)
                self.input = module.ops.ExternalSource()
                self.resize = module.ops.Resize(resize_x=4, resize_y=5, interp_type=module.types.INTERP_TRIANGULAR)
                self.calls = 0

            def define_graph(self):
                self.jpegs = self.input(name="numbers")
                return self.resize(self.jpegs), self.jpegs

            def iter_setup(self):
                self.calls += 1
                self.feed_input(self.jpegs, [np.full((2, 3, 1), self.calls, np.uint8)] * 2, layout="HWC")

        return Program(2, 1, None)


@pytest.mark.parametrize("module", BOTH, **ids)
def test_a_subclass_feeds_itself_ahead_of_every_batch(module):
    pipe: Any = Subclass(module)
    pipe.build()
    seen = []
    for _ in range(4):
        resized, fed = pipe.run()
        seen.append((pipe.calls, int(fed.at(0)[0, 0, 0]), resized.shape(), fed.layout(), resized.layout()))
    assert seen == [(2 + i, 1 + i, [(5, 4, 1)] * 2, "HWC", "HWC") for i in range(4)]


@pytest.mark.parametrize("module", BOTH, **ids)
def test_iter_setup_may_end_the_epoch(module):
    pipe: Any = Subclass(module)
    feed = type(pipe).iter_setup

    def limited(self):
        if self.calls == 3:
            raise StopIteration
        feed(self)

    type(pipe).iter_setup = limited
    batches = 0
    with pytest.raises(StopIteration):
        while True:
            pipe.run()
            batches += 1
    assert batches == 3


def test_outputs_may_be_nodes_lists_and_constants():
    pipe = Pipeline(**options())
    with pipe:
        pipe.set_outputs(fn.random_crop_generator([9, 9, 3]), types.Constant(4), np.arange(3))
    first, second, constant, array = pipe.run()
    assert (first.shape(), second.shape(), constant.shape()) == ([(2,)] * 2, [(2,)] * 2, [()] * 2)
    assert array.as_array().tolist() == [[0, 1, 2]] * 2


def test_the_pipeline_of_a_block_is_the_current_one():
    outer, inner = Pipeline(**options()), Pipeline(**options())
    with outer:
        with inner:
            assert Pipeline.current() is inner
        assert Pipeline.current() is outer
    assert Pipeline.current() is None


# pipeline_def


@pytest.mark.parametrize("module", BOTH, **ids)
def test_a_function_becomes_a_maker_of_pipelines(module):
    @module.pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
    def graph(shift, *, scale=1):
        """Say something."""
        return module.types.Constant(shift * scale), module.types.Constant(shift)

    assert graph.__name__ == "graph" and graph.__doc__ == "Say something."
    pipe = graph(3, scale=2, batch_size=3, seed=5)
    assert (pipe.max_batch_size, pipe.num_threads, pipe.seed) == (3, 1, 5)
    pipe.build()
    assert [np.array(out.as_array()).tolist() for out in pipe.run()] == [[6] * 3, [3] * 3]


@pytest.mark.parametrize("module", BOTH, **ids)
def test_arguments_of_the_graph_win_over_those_of_the_pipeline(module):
    @module.pipeline_def(num_threads=1, device_id=None, batch_size=2)
    def graph(batch_size):
        return module.types.Constant(batch_size)

    with warnings.catch_warnings():  # DALI says so, and means the same
        warnings.simplefilter("ignore")
        pipe = graph(batch_size=7)
    assert pipe.max_batch_size == 2
    pipe.build()
    assert np.array(pipe.run()[0].as_array()).tolist() == [7, 7]


def test_what_neither_the_graph_nor_the_pipeline_knows_is_refused():
    with pytest.raises(TypeError, match="Pipeline has no argument 'batchsize'"):
        pipeline_def(batchsize=3)
    maker = pipeline_def(**options())(lambda: types.Constant(1))
    with pytest.raises(TypeError, match="got an unexpected argument 'threads'"):
        maker(threads=3)


@pytest.mark.parametrize("module", BOTH, **ids)
def test_a_graph_that_takes_anything_is_refused(module):
    def graph(**anything):
        return module.types.Constant(1)

    with pytest.raises(TypeError):
        module.pipeline_def(graph)(batch_size=1, num_threads=1, device_id=None)


# Feeding and running


@pytest.mark.parametrize("module", BOTH, **ids)
def test_batches_are_fed_by_name_and_by_node(module):
    pipe = module.Pipeline(**options())
    with pipe:
        node = module.fn.external_source(name="numbers")
        pipe.set_outputs(node)
    pipe.build()
    pipe.feed_input("numbers", [np.int32(1), np.int32(2)])
    assert np.array(pipe.run()[0].as_array()).tolist() == [1, 2]
    pipe.feed_input(node, np.array([3, 4], np.int32))
    assert np.array(pipe.run()[0].as_array()).tolist() == [3, 4]
    assert np.array(pipe.run(numbers=np.array([5], np.int32))[0].as_array()).tolist() == [5]


@pytest.mark.parametrize("module", BOTH, **ids)
def test_a_layout_may_come_with_the_data(module):
    pipe = module.Pipeline(**options())
    with pipe:
        node = module.fn.external_source(name="pictures")
        pipe.set_outputs(node)
    pipe.build()
    pipe.feed_input("pictures", [noise((2, 3, 1))] * 2, layout="HWC")
    assert pipe.run()[0].layout() == "HWC"


def test_the_last_batch_is_repeated_when_that_was_asked_for():
    pipe = Pipeline(**options())
    with pipe:
        pipe.set_outputs(fn.external_source(name="numbers", repeat_last=True))
    pipe.build()
    pipe.feed_input("numbers", np.array([5, 6], np.int32))
    assert [np.array(pipe.run()[0].as_array()).tolist() for _ in range(3)] == [[5, 6]] * 3


def test_feeding_goes_wrong_with_a_word_about_it():
    pipe = Pipeline(**options())
    with pipe:
        pipe.set_outputs(fn.external_source(name="numbers"), fn.external_source(source=lambda: np.zeros(2), name="own"))
    with pytest.raises(
        ArgumentError, match="'nobody' is not an external_source of this pipeline, which has: 'numbers', 'own'"
    ):
        pipe.feed_input("nobody", np.zeros(2))
    with pytest.raises(EngineError, match="'own' has a source of its own"):
        pipe.feed_input("own", np.zeros(2))
    with pytest.raises(EngineError, match=r"nothing was fed to 'numbers'; call feed_input, or run\(numbers=...\)"):
        pipe.run()
    with pytest.raises(ArgumentError, match="a batch must have 1 to 2 samples, got 3"):
        pipe.feed_input("numbers", np.zeros(3))


@pytest.mark.parametrize("module", BOTH, **ids)
def test_batches_are_scheduled_and_shared(module, files):
    pipe = module.Pipeline(**options(prefetch_queue_depth=2))
    with pipe:
        pipe.set_outputs(module.fn.readers.file(files=files)[1])
    pipe.build()
    pipe.schedule_run()
    seen = []
    for _ in range(3):
        pipe.schedule_run()
        seen.append(labels(pipe.share_outputs()[0]))
        pipe.release_outputs()
    assert seen == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(RuntimeError):
        pipe.run()


def test_what_was_declared_about_outputs_is_checked():
    def run_with(**declared):
        return make(HERE, lambda m, x: x, [noise((2, 2, 1))], **declared).run()

    run_with(output_dtype=types.UINT8, output_ndim=3, output_layout="HWC")
    run_with(output_dtype=[types.UINT8], output_ndim=[None])
    for declared in ({"output_dtype": types.FLOAT}, {"output_ndim": 2}, {"output_layout": "CHW"}):
        with pytest.raises(EngineError, match=r"output 0: .* was declared as .*, got"):
            run_with(**declared)


# Batches


SHAPES = {"dense": [(3, 4, 2)] * 3, "ragged": [(3, 4, 2), (5, 4, 2), (1, 1, 2)], "single": [(3, 4, 2)]}


def tensor_list(module, shapes):
    batch = [noise(shape, seed=i) for i, shape in enumerate(shapes)]
    return make(module, lambda m, x: m.fn.flip(x, horizontal=0), batch).run()[0]


@pytest.mark.parametrize("case", SHAPES)
def test_batches_answer_as_dalis(case):
    mine, theirs = (tensor_list(module, SHAPES[case]) for module in BOTH)
    assert isinstance(mine, TensorListCPU)
    for ask in ("__len__", "shape", "layout", "is_dense_tensor", "ndim"):
        assert getattr(mine, ask)() == getattr(theirs, ask)(), ask
    assert int(mine.dtype) == int(theirs.dtype)
    assert [list(t.shape()) for t in mine] == [list(t.shape()) for t in theirs]
    for index in range(len(mine)):
        np.testing.assert_array_equal(mine.at(index), np.array(theirs.at(index)))
    assert mine[0].layout() == theirs[0].layout() == mine[0].get_property("layout")
    assert mine[0].ndim() == theirs[0].ndim() and mine.as_cpu() is mine
    with pytest.raises(IndexError):
        mine.at(9)


def test_a_dense_batch_is_one_array_as_dalis():
    mine, theirs = (tensor_list(module, SHAPES["dense"]) for module in BOTH)
    np.testing.assert_array_equal(mine.as_array(), theirs.as_array())
    assert mine.as_tensor().shape() == list(theirs.as_tensor().shape())
    assert mine.as_tensor().layout() == theirs.as_tensor().layout()
    assert mine.as_reshaped_tensor([6, 12]).shape() == list(theirs.as_reshaped_tensor([6, 12]).shape())
    assert isinstance(mine.as_tensor(), TensorCPU)
    target = np.empty((3, 3, 4, 2), np.uint8)
    mine.copy_to_external(target.ctypes.data)
    np.testing.assert_array_equal(target, mine.as_array())
    assert mine.data_ptr() == mine.as_array().ctypes.data


@pytest.mark.parametrize("module", BOTH, **ids)
def test_batches_are_reinterpreted_and_broadcast(module):
    batch = tensor_list(module, SHAPES["dense"])
    batch.reinterpret(module.types.INT8)
    assert batch.dtype == module.types.INT8 and np.array(batch.at(0)).dtype == np.int8
    with pytest.raises((RuntimeError, ValueError)):
        batch.reinterpret(module.types.FLOAT)
    wide = module.backend.TensorListCPU.broadcast(batch[1], 4)
    assert wide.shape() == [(3, 4, 2)] * 4
    np.testing.assert_array_equal(np.array(wide.at(3)), np.array(batch.at(1)))


def test_a_ragged_batch_is_not_one_array():
    for module in BOTH:
        with pytest.raises(RuntimeError):
            tensor_list(module, SHAPES["ragged"]).as_array()


def test_batches_are_read_without_a_copy():
    batch = tensor_list(HERE, SHAPES["dense"])
    assert np.shares_memory(np.asarray(batch), batch.as_array())
    assert np.shares_memory(np.from_dlpack(batch), batch.as_array())
    assert np.shares_memory(np.from_dlpack(batch[1]), batch.as_array())
    assert np.shares_memory(np.asarray(batch.as_tensor()), batch.as_array())
    assert not np.shares_memory(np.array(batch), batch.as_array())
    assert np.asarray(batch, np.float32).dtype == np.float32


def test_a_batch_outlives_its_pipeline_and_the_batches_after_it(files):
    pipe = make(HERE, lambda m: fn.readers.file(files=files)[0], batch_size=4)
    kept = [pipe.run()[0] for _ in range(5)]
    pipe.close()
    del pipe
    assert [np.asarray(batch).ravel().tolist() for batch in kept] == [list(range(4 * i, 4 * i + 4)) for i in range(5)]


def test_batches_made_by_hand_know_their_data():
    for data in (np.zeros((2, 3)), [np.zeros(3), np.zeros(3)]):
        batch = TensorListCPU(data, "X")
        assert (len(batch), batch.shape(), batch.layout()) == (2, [(3,), (3,)], "X")
        batch.set_layout("Y")
        assert batch[0].layout() == "Y"
    assert "2 x FLOAT64 (3,)" in repr(batch) and "float64 (3,)" in repr(batch[0])


# Going on later


def shuffled(files, *, batch_size=4, num_threads=2, shards=1, shard=0, **more):
    arguments = {
        "files": files,
        "random_shuffle": True,
        "num_shards": shards,
        "shard_id": shard,
        "pad_last_batch": True,
    }

    def graph(m):
        _, label = fn.readers.file(**arguments, name="Reader")
        return label, fn.random.uniform(range=[0, 1000])

    return make(HERE, graph, batch_size=batch_size, num_threads=num_threads, prefetch_queue_depth=2, **more)


def rows(pipe, batches):
    taken = [[numpy_batch(out) for out in pipe.run()] for _ in range(batches)]
    return [(int(label[0]), float(drawn)) for batch in taken for label, drawn in zip(*batch, strict=True)]


def test_every_step_can_be_gone_on_from(files):
    steps = 23
    whole = rows(shuffled(files), steps + 2)
    pipe = shuffled(files)
    for step in range(steps):
        state = json.dumps(pipe.state_dict())
        assert len(state) < 1024
        again = shuffled(files)
        again.load_state_dict(json.loads(state))
        assert again.is_restored_from_checkpoint
        assert rows(again, 2) == whole[4 * step : 4 * step + 8]
        rows(pipe, 1)


@pytest.mark.parametrize(("threads", "batch_size"), list(product([1, 3], [1, 5, 8])))
def test_a_place_is_that_of_samples_whatever_threads_and_batches(files, threads, batch_size):
    pipe = shuffled(files)
    rows(pipe, 2)
    rest = sorted(rows(pipe, 8))  # to the end of the epoch of 40
    pipe = shuffled(files)
    rows(pipe, 2)
    other = shuffled(files, num_threads=threads, batch_size=batch_size)
    other.load_state_dict(pipe.state_dict())
    taken = []
    while len(taken) < 32:
        taken += rows(other, 1)
    assert sorted(set(taken[:32])) == rest


def test_a_place_is_divided_among_another_number_of_shards(files):
    ranks = [shuffled(files, shards=2, shard=shard) for shard in range(2)]
    taken = [row for rank in ranks for row in rows(rank, 2)]
    state = ranks[0].state_dict()
    rest = []
    for shard in range(3):
        rank = shuffled(files, shards=3, shard=shard, batch_size=4)
        rank.load_state_dict(state)
        rest += rows(rank, 2)
    everything = {row[0]: row for row in rows(shuffled(files), 10)}
    assert {row[0] for row in taken} | {row[0] for row in rest} == set(range(40))
    assert all(everything[row[0]] == row for row in taken + rest)


def test_checkpoints_are_bytes_and_files(files, tmp_path):
    pipe = shuffled(files, enable_checkpointing=True)
    rows(pipe, 3)
    data = pipe.checkpoint(str(tmp_path / "state"))
    assert (tmp_path / "state").read_bytes() == data
    assert rows(shuffled(files, checkpoint=data), 4) == rows(pipe, 4)


def test_a_source_that_is_told_its_number_goes_on_where_it_was():
    def pipe(**more):
        source = lambda info: [np.int64(info.iteration * 10 + i) for i in range(2)]  # noqa: E731
        return make(HERE, lambda m: fn.external_source(source=source, batch_info=True), batch_size=2, **more)

    first = pipe(prefetch_queue_depth=3)
    for _ in range(3):
        first.run()
    again = pipe(checkpoint=first.checkpoint())
    assert again.run()[0].as_array().tolist() == first.run()[0].as_array().tolist() == [30, 31]


def test_a_state_that_does_not_fit_is_refused(files):
    state = shuffled(files).state_dict()
    wrong = [
        ({}, "expected a state of version 1"),
        ({**state, "seed": 99}, "the seed was 99, now it is 7"),
        ({**state, "readers": []}, "other readers or sources"),
        ({**state, "readers": [{**state["readers"][0], "length": 3}]}, "length was 3, now 40"),
    ]
    for damaged, message in wrong:
        with pytest.raises(ArgumentError, match=message):
            shuffled(files).load_state_dict(damaged)


def test_a_pipeline_without_a_seed_of_its_own_takes_that_of_the_state(files):
    pipe = shuffled(files, seed=None)
    rows(pipe, 1)
    again = shuffled(files, seed=-1)
    again.load_state_dict(pipe.state_dict())
    assert rows(again, 3) == rows(pipe, 3)


def test_readers_of_equally_long_lists_walk_in_step(files):
    def graph(m):
        a = fn.readers.file(files=files, random_shuffle=True)[1]
        b = fn.readers.file(files=files, labels=list(range(100, 140)), random_shuffle=True)[1]
        return a, b

    pipe = make(HERE, graph, batch_size=8)
    for _ in range(10):
        a, b = (labels(out) for out in pipe.run())
        assert [x + 100 for x in a] == b
    with pytest.raises(ArgumentError, match="there is no reader 'images'; there are:"):
        pipe.reader_meta("images")
