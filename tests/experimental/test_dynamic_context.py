"""Contexts, devices, sources, generators and checkpoints of the dynamic mode."""

from __future__ import annotations

import numpy as np
import pytest
from encoded_images import color, encode
from peers import needs, peer

import pixelmill.experimental.dynamic as pmd
from pixelmill.errors import ArgumentError, DataError, EngineError, UnknownNameError

ndd = peer("nvidia.dali.experimental.dynamic")
torch = peer("torch")

BOTH = pytest.mark.parametrize("module", [ndd, pmd], ids=["dali", "pixelmill"])


@pytest.fixture
def folder(tmp_path):
    for number in range(6):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / f"{number}.jpg").write_bytes(encode(color(number, 8, 8), "JPEG").tobytes())
    return tmp_path


@needs("nvidia.dali")
def test_every_public_name_of_dali_is_here_or_is_an_import_of_its_own():
    foreign = {"NoReturn", "TypeAlias", "Union", "bfloat16", "local", "torch"}
    names = {name for name in dir(ndd) if not name.startswith("_")}
    assert {name for name in names if not hasattr(pmd, name)} == foreign
    for family in ("random", "math", "readers", "decoders", "noise", "reductions", "transforms", "segmentation", "io"):
        theirs = {name for name in dir(getattr(ndd, family)) if not name.startswith("_")}
        assert {name for name in theirs if not hasattr(getattr(pmd, family), name)} == set(), family


@BOTH
def test_devices_are_compared_and_made_current(module):
    device = module.Device("cpu")
    assert (device.device_type, device.device_id, str(device)) == ("cpu", None, "cpu")
    assert repr(device) == "Device(device_type='cpu')"
    assert device == module.device("cpu") == module.device(torch.device("cpu")) == module.Device.from_dlpack(np.ones(1))
    assert len({device, module.Device("cpu")}) == 1 and device == module.tensor([1]).device
    with module.Device("cpu") as _:
        assert module.Device.current() == device
    with pytest.raises(ValueError, match=r"Invalid|name"):
        module.Device("tpu")
    with pytest.raises(ValueError, match=r"[Dd]evice"):
        module.Device("cpu", 0)
    with pytest.raises(ValueError, match="type"):
        module.Device.type_from_dlpack(99)


def test_gpus_and_streams_are_refused_in_a_sentence():
    for call in (
        lambda: pmd.Device("gpu"),
        lambda: pmd.Stream(),
        lambda: pmd.stream(),
        lambda: pmd.set_current_stream(0),
    ):
        with pytest.raises(EngineError, match="dynamic mode runs on the CPU"):
            call()
    with pytest.raises(EngineError, match="streams"):
        pmd.EvalContext(cuda_stream=1)
    assert pmd.get_current_stream() is None and pmd.get_default_stream() is None
    with pytest.raises(EngineError, match="no video operators"):
        pmd.readers.Video(filenames=["a"])


@BOTH
def test_a_context_sets_the_threads_of_its_block(module):
    assert module.EvalMode.current() is module.EvalMode.default is module.EvalMode.eager
    outside = module.EvalContext.current()
    with module.EvalContext(num_threads=3) as context, module.EvalMode.sync_cpu:
        assert context is None or context is module.EvalContext.current()
        assert module.EvalContext.current().num_threads == 3
        assert module.EvalMode.current() is module.EvalMode.sync_cpu
        assert np.asarray(
            module.flip(module.tensor([[[1], [2]]], dtype=module.uint8, layout="HWC"))
        ).ravel().tolist() == [2, 1]
        module.EvalContext.current().evaluate_all()
    assert module.EvalContext.current() is outside
    assert module.EvalContext(thread_pool=module.ThreadPool(2)).num_threads == 2


def test_the_threads_of_a_context_take_precedence():
    before = pmd.get_num_threads()
    with pmd.EvalContext(num_threads=before + 3):
        assert pmd.get_num_threads() == before + 3
    assert pmd.get_num_threads() == before
    with pytest.raises(ArgumentError, match="num_threads"):
        pmd.ThreadPool(0)
    with pytest.raises(ArgumentError, match="either"):
        pmd.EvalContext(num_threads=1, thread_pool=pmd.ThreadPool(1))


@BOTH
def test_external_sources_return_what_the_source_has(module):
    source = module.ExternalSource([np.full((2, 2), number) for number in range(3)], layout="HW", dtype=module.float32)
    assert [np.asarray(source()).max() for _ in range(3)] == [0, 1, 2]
    assert np.asarray(module.ExternalSource([np.zeros((1, 1))], layout="HW")()).shape == (1, 1)
    with pytest.raises(StopIteration):
        source()
    batch = module.ExternalSource(lambda: np.arange(3))(batch_size=2)
    assert isinstance(batch, module.Batch) and batch.shape == [(3,), (3,)]
    first, second = module.ExternalSource(lambda: (np.zeros(4), np.ones(4)), num_outputs=2)()
    assert np.asarray(first).tolist() == [0] * 4 and np.asarray(second).tolist() == [1] * 4
    quiet = module.ExternalSource([np.int32(1), np.int32(2)], cycle="quiet")
    assert [int(np.asarray(quiet())) for _ in range(5)] == [1, 2, 1, 2, 1]
    again = module.ExternalSource([module.batch([np.int32(1), np.int32(2)])], cycle="raise")
    for _ in range(2):
        assert again(batch_size=2).batch_size == 2
        with pytest.raises(StopIteration):
            again()


@BOTH
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda m: m.ExternalSource(lambda i: i), ValueError),
        (lambda m: m.ExternalSource([1], num_outputs=0), ValueError),
        (lambda m: m.ExternalSource(lambda: 1, cycle="quiet"), ValueError),
        (lambda m: m.ExternalSource(lambda: (1, 2), num_outputs=3)(), ValueError),
        (lambda m: m.ExternalSource([m.batch([np.int32(1)] * 3)])(batch_size=2), ValueError),
        (lambda m: m.ExternalSource(lambda: (np.int32(1), m.batch([np.int32(1)])), num_outputs=2)(), TypeError),
    ],
)
def test_mistakes_with_sources_raise_dalis_types(module, make, kind):
    with pytest.raises(kind):
        make(module)


@BOTH
def test_generators_continue_from_their_state(module):
    rng = module.random.RNG(seed=5)
    first = [rng() for _ in range(3)]
    copy, text = rng.clone(), str(rng.state)
    after = [rng() for _ in range(4)]
    assert [copy() for _ in range(4)] == after != first
    assert module.random.RNG(state=text)() == after[0]
    other = module.random.RNG(seed=5)
    other.advance(4)
    assert [other() for _ in range(3)] == after[1:] and all(0 <= number < 2**32 for number in after)
    module.random.set_seed(9)
    draws = [np.asarray(module.random.uniform(range=[0, 1], batch_size=2).torch()).tolist() for _ in range(2)]
    module.random.set_seed(9)
    assert [np.asarray(module.random.uniform(range=[0, 1], batch_size=2).torch()).tolist() for _ in range(2)] == draws
    for wrong in (lambda: module.random.RNG(seed=1, state=text), lambda: rng.advance(-1)):
        with pytest.raises(ValueError):
            wrong()


@BOTH
def test_a_checkpoint_continues_readers_and_generators(module, folder):
    def objects():
        checkpoint = module.checkpoint.Checkpoint()
        return checkpoint, module.readers.File(file_root=str(folder)), module.random.RNG(seed=4)

    checkpoint, reader, rng = objects()
    assert checkpoint.register(reader, "reader") == "reader" and checkpoint.register(rng) == checkpoint.register(rng)
    batches = reader.next_epoch(batch_size=2)
    next(batches)
    rng()
    checkpoint.collect()
    assert checkpoint.is_complete and not checkpoint.is_loaded and len(checkpoint) == 2 and "reader" in checkpoint
    paths = [checkpoint.save(str(folder / "state_{seq:03d}.json")) for _ in range(2)]
    assert [path[-14:] for path in paths] == ["state_000.json", "state_001.json"]
    wanted = [np.asarray(part.torch()).tolist() for part in next(batches)[1:]], rng()
    restored, reader, rng = objects()
    assert restored.load(str(folder / "state_{seq:03d}.json")) == paths[1] and restored.is_loaded
    restored.register(reader, "reader")
    restored.register(rng)
    batch = next(iter(reader.next_epoch(batch_size=2)))
    assert ([np.asarray(part.torch()).tolist() for part in batch[1:]], rng()) == wanted


def test_checkpoints_refuse_what_does_not_belong_to_them(tmp_path):
    checkpoint = pmd.checkpoint.Checkpoint()
    with pytest.raises(EngineError, match="empty"):
        checkpoint.serialize()
    rng = pmd.random.RNG(seed=1)
    checkpoint.register(rng, "a")
    with pytest.raises(EngineError, match="registered as 'a'"):
        checkpoint.register(rng, "b")
    with pytest.raises(ArgumentError, match="empty or begin"):
        checkpoint.register(pmd.random.RNG(), "__op_1")
    checkpoint.collect()
    with pytest.raises(EngineError, match="clear"):
        checkpoint.register(pmd.random.RNG(), "c")
    text = checkpoint.serialize()
    other = pmd.checkpoint.Checkpoint()
    other.deserialize(text)
    with pytest.raises(UnknownNameError, match="no state for 'z'"):
        other.register(pmd.random.RNG(), "z")
    with pytest.raises(EngineError, match="states without objects: a"):
        other.restore()
    with pytest.raises(TypeError, match="state of a RNG"):
        other.register(pmd.readers.File(files=["x"]), "a")
    for damaged in ("", "[]", "{}", '{"version": 9, "states": {}}', '{"version": 1, "states": {"a": 3}}'):
        with pytest.raises(DataError, match="checkpoint"):
            other.deserialize(damaged)
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        other.load(str(tmp_path / "x_{seq}.json"))
    with pytest.raises(ArgumentError, match="no other field"):
        other.load(str(tmp_path / "x_{epoch}.json"))
    other.clear()
    assert len(other) == 0 and other.names == () and not other.is_loaded
    other.set_state("r", "[3, 1]", pmd.random.RNG)
    other.register(rng, "r")
    assert rng.state == "[3, 1]" and other.get_state("r") == "[3, 1]"


def test_the_current_context_has_a_checkpoint():
    with pmd.EvalContext() as context:
        assert pmd.checkpoint.current() is context.checkpoint
    assert pmd.checkpoint.current() is pmd.EvalContext.default().checkpoint
    value = {"a": 1}
    assert pmd.capture.invariant(value) is value
