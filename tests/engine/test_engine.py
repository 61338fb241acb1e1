"""The engine: rules that change nothing but the work, one stream for any threads, and batches that overlap."""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import product
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from dali_runs import HERE, make, numpy_batch, run
from encoded_images import color, encode, kinds, rotated
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import on_each_level, ours

from pixelmill import DataError, EngineError, Pipeline, _core, fn, math, types
from pixelmill.engine.compile import compile_graph

LONG = 120.0  # seconds that nothing takes, on a busy machine either
FILES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of many sizes, subsamplings and orientations, the number of each as its label."""
    root = tmp_path_factory.mktemp("pictures")
    for number in range(FILES):
        picture = color(number, 30 + 7 * number % 41, 25 + 11 * number % 53)
        options = {"subsampling": number % 3, "progressive": number % 5 == 0}
        data = rotated("JPEG", 1 + number % 8, picture, **options) if number % 4 else encode(picture, "PNG")
        (root / f"{number:02}.jpg").write_bytes(bytes(data))
    return [str(path) for path in sorted(root.iterdir())]


# Fused and apart


def normalised(x, **arguments):
    return fn.crop_mirror_normalize(x, mean=[120.0, 110.0, 100.0], std=[60.0, 55.0, 50.0], **arguments)


def coin():
    return fn.random.coin_flip(seed=3)


def image(data, **arguments):
    return fn.decoders.image(data, **arguments)


def window(data):
    return fn.random_crop_generator(fn.peek_image_shape(data), seed=4)


GRAPHS = {
    "crop": lambda d: fn.crop(image(d), crop=(20, 17), crop_pos_x=0.2),
    "slice": lambda d: fn.slice(image(d), *window(d), axes=[0, 1]),
    "slice x first": lambda d: fn.slice(image(d), rel_start=[0.1, 0.3], rel_end=[0.8, 0.9]),
    "slice of a slice": lambda d: fn.slice(
        fn.slice(image(d), start=[2, 3], shape=[15, 16], axes=[0, 1]), start=[1, 4], shape=[9, 8], axes=[1, 0]
    ),
    "slice of channels": lambda d: fn.slice(image(d), start=[1], shape=[1], axes=[2]),
    "decoder window": lambda d: fn.decoders.image_slice(d, *window(d), axes=[0, 1]),
    "decoder random": lambda d: fn.decoders.image_random_crop(d, seed=6),
    "random resized": lambda d: fn.random_resized_crop(image(d), size=(16, 19), seed=5),
    "resize decoder random": lambda d: fn.resize(fn.decoders.image_random_crop(d, seed=6), size=(16, 14)),
    "resize crop": lambda d: fn.crop(fn.resize(image(d), resize_shorter=24), crop=(20, 20)),
    "resize crop flip": lambda d: fn.flip(
        fn.crop(fn.resize(image(d), size=(30, 40)), crop=(20, 21)), horizontal=coin()
    ),
    "resize flip crop": lambda d: fn.crop(fn.flip(fn.resize(image(d), size=(30, 40)), vertical=coin()), crop=(20, 21)),
    "train": lambda d: normalised(fn.random_resized_crop(image(d), size=(18, 22), seed=5), mirror=coin()),
    "train hwc": lambda d: normalised(
        fn.random_resized_crop(image(d), size=(18, 22), seed=5), mirror=coin(), output_layout="HWC"
    ),
    "train padded": lambda d: normalised(fn.resize(image(d), size=(18, 22)), pad_output=True),
    "train half": lambda d: normalised(fn.resize(image(d), size=(18, 22)), dtype=types.FLOAT16),
    "validate": lambda d: normalised(fn.resize(image(d), resize_shorter=26), crop=(24, 22)),
    "validate pad": lambda d: normalised(
        fn.resize(image(d), resize_longer=26), crop=(28, 28), out_of_bounds_policy="pad", fill_values=[3.0]
    ),
    "nearest": lambda d: fn.resize(image(d), size=(19, 23), interp_type=types.INTERP_NN),
    "lanczos": lambda d: normalised(fn.resize(image(d), size=(19, 23), interp_type=types.INTERP_LANCZOS3)),
    "each its filter": lambda d: fn.resize(image(d), size=(19, 23), interp_type=fn.random.choice(6, seed=8)),
    "region": lambda d: fn.resize(image(d), size=(9, 7), roi_start=[0.1, 0.8], roi_end=[0.7, 0.2], roi_relative=True),
    "gray": lambda d: fn.resize(fn.crop(image(d, output_type=types.GRAY), crop=(20, 20)), size=(8, 9)),
    "floats": lambda d: fn.resize(image(d, dtype=types.FLOAT), size=(12, 13)),
    "turned": lambda d: fn.resize(fn.transpose(image(d), perm=[2, 0, 1]), size=(12, 13)),
    "resize crop mirror": lambda d: fn.resize_crop_mirror(image(d), resize_shorter=24, crop=(20, 19), mirror=coin()),
    "resize twice": lambda d: fn.resize(fn.resize(image(d), size=(40, 41)), size=(12, 13)),
    "used twice": lambda d: [
        (lambda x: fn.crop(fn.resize(x, size=(20, 20)), crop=(9, 9)))(image(d)),
        fn.flip(image(d)),
    ],
    "picture and part": lambda d: (lambda x: [x, fn.crop(x, crop=(9, 9)), fn.resize(x, size=(9, 9))])(image(d)),
    "shape of a part": lambda d: (lambda x: [fn.pad(x, axes=[0, 1], align=8), fn.peek_image_shape(d)])(
        fn.crop(image(d), crop=(20, 17))
    ),
    "cast": lambda d: fn.cast(fn.crop(image(d), crop=(20, 17)), dtype=types.FLOAT),
}


def outputs(graph, files, **options):
    def whole(m):
        data, _ = fn.readers.file(files=files)
        nodes = graph(data)
        return nodes if isinstance(nodes, list) else [nodes]

    pipe = make(HERE, whole, batch_size=len(files), decode_scaling=False, **options)
    return [(out.layout(), numpy_batch(out)) for out in pipe.run()]


@pytest.mark.parametrize("name", GRAPHS)
def test_fused_and_unfused_graphs_give_the_same_bits(name, folder):
    fused, apart = (outputs(GRAPHS[name], folder[:24], optimize=optimize) for optimize in (True, False))
    for (layout, batch), (other_layout, other) in zip(fused, apart, strict=True):
        assert layout == other_layout
        for one, two in zip(batch, other, strict=True):
            assert (one.dtype, one.shape) == (two.dtype, two.shape)
            assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize(
    "name", ["train", "validate", "resize crop flip", "nearest", "lanczos", "gray", "floats", "cast"]
)
def test_instruction_sets_give_the_same_bits(name, folder):
    best, found = _core.simd_level(), []
    try:
        for level in ("base", best, "best"):
            _core.force_simd_level(level)
            assert _core.simd_level() == (level if level == "base" else best)
            found.append(outputs(GRAPHS[name], folder[:16])[0][1])
    finally:
        _core.force_simd_level("best")
    for images in zip(*found, strict=True):
        assert len({image.tobytes() for image in images}) == 1


sides = st.integers(1, 40)
FILTERS = [types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC, types.INTERP_TRIANGULAR]
POLICIES = ["pad", "trim_to_shape"]
shares = st.floats(0, 0.5, width=32)
CHAIN = {
    "resize": lambda draw, x: fn.resize(x, size=(draw(sides), draw(sides)), antialias=draw(st.booleans())),
    "shorter": lambda draw, x: fn.resize(x, resize_shorter=draw(sides), interp_type=draw(st.sampled_from(FILTERS))),
    "part": lambda draw, x: fn.slice(
        x,
        rel_start=[draw(shares), draw(shares)],
        rel_shape=[0.5, 0.5],
        axis_names=draw(st.sampled_from(["WH", "HW"])),
    ),
    "crop": lambda draw, x: fn.crop(
        x,
        crop=(draw(sides), draw(sides)),
        crop_pos_x=draw(shares),
        out_of_bounds_policy=draw(st.sampled_from(POLICIES)),
    ),
    "flip": lambda draw, x: fn.flip(
        x, horizontal=draw(st.sampled_from([0, 1, coin()])), vertical=draw(st.integers(0, 1))
    ),
    "rotate": lambda draw, x: fn.rotate(
        x,
        angle=draw(st.floats(-180, 180, width=32)),
        keep_size=draw(st.booleans()),
        fill_value=draw(st.sampled_from([None, 9])),
        interp_type=draw(st.sampled_from([types.INTERP_NN, types.INTERP_LINEAR])),
    ),
    "random": lambda draw, x: fn.random_resized_crop(x, size=(draw(sides), draw(sides)), seed=draw(st.integers(0, 9))),
    "mirror": lambda draw, x: fn.resize_crop_mirror(
        x, size=(30, 30), crop=(draw(sides), 9), mirror=draw(st.integers(0, 3))
    ),
}


@given(st.data())
@settings(max_examples=120)
def test_chains_of_operators_mean_the_same_fused_and_apart(data):
    """Up to four operators after a decoder, ended by a normalization or not; images are looked at in between."""
    file = encode(color(data.draw(st.integers(0, 9)), data.draw(sides) + 3, data.draw(sides) + 3), "JPEG")
    names = data.draw(st.lists(st.sampled_from(sorted(CHAIN)), min_size=1, max_size=4))
    dtype = data.draw(st.sampled_from([types.UINT8, types.UINT8, types.FLOAT]))
    looked_at = data.draw(st.integers(0, 4))

    def graph(m, bytes_):
        nodes = [image(bytes_, dtype=dtype)]
        for name in names:
            nodes.append(CHAIN[name](data.draw, nodes[-1]))
        last = normalised(nodes[-1], mirror=coin()) if looked_at % 2 else nodes[-1]
        return last, *nodes[looked_at : looked_at + 1]

    pipe = make(HERE, graph, [file] * 3, layouts="", decode_scaling=False)
    apart = Pipeline(3, 2, None, seed=7, optimize=False, prefetch_queue_depth=1)
    apart.set_outputs(*pipe._outputs)
    assert outcome(pipe) == outcome(apart)


def outcome(pipe):
    """Return everything that is to be known about a batch; or, where an image became empty on the way, by whom."""
    try:
        outputs = [numpy_batch(output) for output in pipe.run()]
    except DataError as error:
        return [(event.kind, event.message) for event in error.events]
    return [[(array.dtype, array.shape, array.tobytes()) for array in output] for output in outputs]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_window_of_a_rotation_needs_only_part_of_its_source(data):
    """Of a decoded or a resized image, perhaps mirrored, also a long one; with edges that are filled or repeated."""
    draw = data.draw
    height, width = draw(st.sampled_from([(90, 140), (160, 70), (12, 2600), (2600, 9), (1, 40), (3, 2)]))
    file = encode(color(draw(st.integers(0, 3)), height, width), "JPEG", subsampling=draw(st.integers(0, 2)))
    size = draw(st.sampled_from([None, (height, width), (height + 31, width // 2 + 1)]))
    angle, keeps = draw(st.one_of(st.floats(-10, 10, width=32), st.floats(-200, 200, width=32))), draw(st.booleans())
    rest = {"fill_value": draw(st.sampled_from([None, 9])), "interp_type": draw(st.integers(0, 1))}
    places = {f"crop_pos_{axis}": draw(st.floats(0, 1, width=32)) for axis in "xy"}
    part = draw(st.sampled_from([1.0, 0.9, 0.4, 0.02]))
    mirrored = draw(st.booleans())

    def graph(m, bytes_):
        picture = image(bytes_)
        if size is not None:
            picture = fn.flip(fn.resize(picture, size=size), horizontal=int(mirrored))
        turned = fn.rotate(picture, angle=angle, keep_size=keeps, **rest)
        rows, columns = (math.ceil(turned.shape()[axis] * part) for axis in (0, 1))
        return fn.crop(turned, crop_h=rows, crop_w=columns, **places)

    assert "warp_box" in steps_of(lambda bytes_: graph(None, bytes_), optimize=True)
    whole = ours(graph, [file], layouts="", optimize=False, decode_scaling=False)
    for got, wanted in zip(on_each_level(graph, [file], layouts="", decode_scaling=False), whole, strict=True):
        assert (got.shape, got.tobytes()) == (wanted.shape, wanted.tobytes())


def steps_of(graph, *, optimize):
    plan = compile_graph([graph(fn.readers.file(files=["a.jpg"])[0]).expr], seed=1, optimize=optimize)
    return [step.kind for segment in plan.segments for step in segment.steps]


def test_rules_leave_the_steps_that_are_needed():
    pixels = {"decode", "window", "resample", "flip", "normalize"}
    fused = [kind for kind in steps_of(GRAPHS["train"], optimize=True) if kind in pixels]
    apart = [kind for kind in steps_of(GRAPHS["train"], optimize=False) if kind in pixels]
    assert fused == ["decode", "resample"]
    assert apart == ["decode", "resample", "flip", "normalize"]
    assert [kind for kind in steps_of(GRAPHS["crop"], optimize=True) if kind in pixels] == ["decode"]
    validate = [kind for kind in steps_of(GRAPHS["validate"], optimize=True) if kind in pixels]
    assert validate == ["decode", "resample"]
    turned = steps_of(lambda data: fn.crop(fn.rotate(image(data), angle=3.0), crop=(9, 9)), optimize=True)
    assert "warp" in turned and "window" not in turned and "shape" not in turned and "warp_box" in turned


def test_equal_steps_are_one_step():
    def graph(data):
        return fn.stack(fn.resize(image(data), size=(4, 4)), fn.resize(image(data), size=(4, 4)))

    assert steps_of(graph, optimize=False).count("decode") == 1


# One stream


def all_random(data, label):
    """Use every operator that draws."""
    part = fn.decoders.image_random_crop(data)
    small = fn.random_resized_crop([image(data), image(data)], size=(8, 9))
    anchor, extent = window(data)
    cut = fn.slice(image(data), anchor, extent, axes=[0, 1])
    turned = fn.flip(small[0], horizontal=fn.random.coin_flip(), vertical=fn.random.coin_flip(probability=0.3))
    placed = normalised(
        fn.resize(cut, size=(12, 12), interp_type=fn.random.choice([0, 1, 2, 3])),
        crop=(7, 7),
        crop_pos_x=fn.random.uniform(range=[0, 1]),
        crop_pos_y=fn.random.uniform(values=[0.0, 0.5, 1.0]),
    )
    return label, part, turned, small[1], placed, fn.random.normal(shape=[3]), anchor


def collected(files, *, threads, batch_size, shards, epochs=3):
    """Return a digest of every sample of every epoch, whoever delivered it."""
    found = {}
    for shard in range(shards):
        arguments = {"files": files, "random_shuffle": True, "num_shards": shards, "shard_id": shard}
        graph = lambda m: all_random(*fn.readers.file(**arguments, pad_last_batch=True))  # noqa: B023, E731
        pipe = make(HERE, graph, batch_size=batch_size, num_threads=threads, prefetch_queue_depth=2)
        for epoch in range(epochs):
            for _ in range(ceil(ceil(len(files) / shards) / batch_size)):
                labels, *values = (numpy_batch(out) for out in pipe.run())
                for place, label in enumerate(labels):
                    digest = hashlib.sha256(b"".join(value[place].tobytes() for value in values)).hexdigest()
                    assert found.setdefault((epoch, int(label[0])), digest) == digest
    return found


def fingerprint(found):
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


@pytest.fixture(scope="module")
def whole(folder):
    return collected(folder, threads=1, batch_size=7, shards=1)


def test_an_epoch_has_every_sample_and_every_epoch_other_draws(whole):
    assert set(whole) == set(product(range(3), range(FILES)))
    assert len(set(whole.values())) == 3 * FILES


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 7, 32])
@pytest.mark.parametrize("threads", range(1, 9))
def test_one_hash_for_any_threads_batches_and_shards(folder, whole, threads, batch_size, shards):
    found = collected(folder, threads=threads, batch_size=batch_size, shards=shards)
    assert fingerprint(found) == fingerprint(whole)


# Batches


def test_equal_shapes_make_one_block_and_others_a_list():
    same, other = kinds()["png"], encode(color(1, 20, 30), "PNG")
    dense = make(HERE, lambda m, x: image(x), [same, same], layouts="").run()[0]
    ragged = make(HERE, lambda m, x: image(x), [same, other], layouts="").run()[0]
    assert dense.is_dense_tensor() and dense.as_array().flags["C_CONTIGUOUS"]
    assert dense.as_array().shape == (2, 37, 50, 3)
    assert all(np.shares_memory(dense.at(i), dense.as_array()) for i in range(2))
    assert not ragged.is_dense_tensor() and [x.shape for x in numpy_batch(ragged)] == [(37, 50, 3), (20, 30, 3)]


def test_a_block_is_one_array_even_if_samples_finish_in_any_order():
    files = [encode(color(i, 400 - 100 * (i % 4), 400), "JPEG") for i in range(16)]
    graph = lambda m, x: fn.resize(image(x), size=(10, 10))  # noqa: E731
    for _ in range(5):
        batch = make(HERE, graph, files, layouts="", num_threads=4).run()[0]
        assert batch.as_array().shape == (16, 10, 10, 3)
        alone = np.array([run(graph, [file], layouts="")[0][0] for file in files[:4]])
        np.testing.assert_array_equal(batch.as_array()[:4], alone)


def test_batches_are_under_way_while_one_is_looked_at(folder):
    started = []

    def slow(x):
        started.append(x)
        return x

    def graph(m):
        return fn.python_function(fn.readers.file(files=folder)[1], function=slow)

    pipe = make(HERE, graph, batch_size=4, prefetch_queue_depth=3)
    pipe.run()
    deadline = time.monotonic() + LONG
    while len(started) < 12 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(started) == 12


# Python in the middle


def test_a_function_works_in_the_middle_of_a_graph(folder):
    def graph(m):
        data, label = fn.readers.file(files=folder)
        picture = fn.resize(image(data), size=(12, 10))
        inverted, mean = fn.python_function(
            picture, label, function=lambda x, n: (255 - x, x.mean() + n), num_outputs=2
        )
        return fn.flip(inverted), mean, fn.flip(picture), label

    pipe = make(HERE, graph, batch_size=8)
    for _ in range(3):
        turned, mean, plain, label = (numpy_batch(out) for out in pipe.run())
        for a, b, c, n in zip(turned, mean, plain, label, strict=True):
            np.testing.assert_array_equal(a, 255 - c)
            assert b == pytest.approx(c.mean() + n[0])


def test_functions_follow_each_other_and_see_whole_batches():
    def ranks(xs):
        order = np.argsort([x.sum() for x in xs])
        return [np.int64(np.where(order == i)[0][0]) for i in range(len(xs))]

    def graph(m, x):
        first = fn.python_function(x, function=ranks, batch_processing=True)
        second = fn.python_function(fn.cast(first, dtype=types.FLOAT), function=lambda r: r * 10)
        return first, second, fn.pad(x)

    data = [np.arange(n, dtype=np.int32) for n in (5, 2, 9, 1)]
    first, second, padded = run(graph, data, layouts="")
    assert [int(x) for x in first] == [2, 1, 3, 0]
    assert [float(x) for x in second] == [20, 10, 30, 0]
    assert {x.shape for x in padded} == {(9,)}


def test_an_error_in_a_function_is_the_users_own():
    def broken(x):
        raise KeyError("mine")

    pipe = make(HERE, lambda m, x: fn.python_function(x, function=broken), [np.zeros(2)], layouts="")
    with pytest.raises(KeyError, match="mine"):
        pipe.run()


def test_a_function_that_forgets_samples_is_refused():
    graph = lambda m, x: fn.python_function(x, function=lambda xs: xs[:1], batch_processing=True)  # noqa: E731
    with pytest.raises(ValueError, match="the function returned 1 samples for a batch of 2"):
        run(graph, [np.zeros(2)] * 2, layouts="")


# Threads and processes


def engine_threads():
    """Return the ids of the threads of this process, native ones included. Some of an earlier test may still end."""
    return {task.name for task in Path("/proc/self/task").iterdir()}


def ended(before):
    """Whether there are soon no threads but those of before: those of a dropped pipeline end on their own."""
    deadline = time.monotonic() + LONG
    while engine_threads() - before and time.monotonic() < deadline:
        time.sleep(0.01)
    return engine_threads() <= before


def test_threads_end_with_their_pipeline(folder):
    gc.collect()
    before, python_before = engine_threads(), set(threading.enumerate())
    for _ in range(10):
        pipe = make(HERE, lambda m: image(fn.readers.file(files=folder)[0]), batch_size=4, num_threads=4)
        pipe.run()
        with_pipe = engine_threads()
        del pipe
    gc.collect()
    assert len(with_pipe - before) >= 4
    assert ended(before)
    assert set(threading.enumerate()) <= python_before


def test_close_ends_the_threads_at_once(folder):
    before = engine_threads()
    pipe = make(HERE, lambda m: image(fn.readers.file(files=folder)[0]), batch_size=4, num_threads=3)
    pipe.run()
    pipe.close()
    pipe.close()
    assert engine_threads() <= before


def test_a_closed_pipeline_says_so(folder):
    for graph in (lambda m: fn.random.uniform(), lambda m: fn.pad(fn.readers.file(files=folder)[0])):
        pipe = make(HERE, graph, batch_size=2)
        pipe.run()
        pipe.close()
        with pytest.raises(EngineError, match="the pipeline was closed; create a new one"):
            pipe.run()


def test_a_pipeline_that_was_dropped_half_way_leaves_nothing(folder):
    gc.collect()
    before = engine_threads()
    for _ in range(20):
        pipe = make(HERE, lambda m: all_random(*fn.readers.file(files=folder)), batch_size=8, prefetch_queue_depth=4)
        pipe.schedule_run()
        del pipe
    gc.collect()
    assert ended(before)


def _child(pipe, queue):
    queue.put([hashlib.sha256(b"".join(x.tobytes() for x in numpy_batch(pipe.run()[0]))).hexdigest() for _ in range(4)])


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("ran_before", [False, True])
def test_a_fork_goes_on_with_the_same_samples(folder, ran_before):
    def pipe():
        made = make(
            HERE, lambda m: fn.random_resized_crop(image(fn.readers.file(files=folder)[0]), size=8), batch_size=4
        )
        if ran_before:
            made.run()
        return made

    context = multiprocessing.get_context("fork")
    parent, queue = pipe(), context.Queue()
    child = context.Process(target=_child, args=(parent, queue))
    child.start()
    in_child = queue.get(timeout=LONG)
    child.join(60)
    assert child.exitcode == 0
    here = context.Queue()
    _child(parent, here)
    assert here.get(timeout=LONG) == in_child


def test_the_environment_may_choose_the_instructions():
    program = "from pixelmill import _core; print(_core.simd_level())"
    for level in ("base", _core.simd_level()):
        environment = {**os.environ, "PIXELMILL_SIMD": level}
        result = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == level


ENDLESS = """
import signal, sys, numpy as np
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
from pixelmill import Pipeline, fn
pipe = Pipeline(8, 2, None, seed=7, prefetch_queue_depth=3)
with pipe:
    data = fn.readers.file(files=sys.argv[1:])[0]
    pipe.set_outputs(fn.resize(fn.decoders.image(data), size=(1500, 1500)))
pipe.run()
print("running", flush=True)
while True:
    pipe.run()
"""


def test_an_interrupt_ends_a_loop_quietly(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, *folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=LONG)  # without the interrupt it runs forever
    assert errors.strip().endswith("KeyboardInterrupt") and process.returncode in (1, -signal.SIGINT, 130)


def test_the_same_pipeline_runs_in_a_process_of_its_own(folder, tmp_path):
    program = (
        "import sys, hashlib, numpy as np\n"
        "from pixelmill import Pipeline, fn\n"
        "pipe = Pipeline(8, 2, None, seed=7)\n"
        "with pipe:\n"
        "    data = fn.readers.file(files=sys.argv[1:], random_shuffle=True)[0]\n"
        "    pipe.set_outputs(fn.random_resized_crop(fn.decoders.image(data), size=(9, 8)))\n"
        "print(hashlib.sha256(np.asarray(pipe.run()[0]).tobytes()).hexdigest())\n"
    )
    printed = {
        subprocess.run([sys.executable, "-c", program, *folder], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    pipe = Pipeline(8, 3, None, seed=7)
    with pipe:
        data = fn.readers.file(files=folder, random_shuffle=True)[0]
        pipe.set_outputs(fn.random_resized_crop(fn.decoders.image(data), size=(9, 8)))
    printed.add(hashlib.sha256(np.asarray(pipe.run()[0]).tobytes()).hexdigest() + "\n")
    assert len(printed) == 1
