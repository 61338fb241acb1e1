"""The plain loader, and the life of loaders and iterators: abandoned, at exit, after a fork."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import needs, peer
from PIL import Image

from pixelmill import ArgumentError, DataError, EngineError, Loader, Pipeline, fn, pipeline_def

torch = peer("torch")
pytorch = peer("pixelmill.plugin.pytorch")

NAMES = ["images", "labels"]
BOTH = [False, True]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Eleven images; number n, from 0, has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number:02}.jpg" for number in range(11)]
    for number, path in enumerate(paths):
        pixels = np.random.default_rng(number).integers(0, 256, (24, 30 + number, 3), np.uint8)
        Image.fromarray(pixels).save(path)
    return [str(path) for path in paths]


def pictures(
    files: list[str], *, reader: dict[str, Any] | None = None, python: bool = False, **options: Any
) -> Pipeline:
    options = {"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 5, **options}

    @pipeline_def(**options)
    def make() -> Any:
        settings = {"random_shuffle": True, **(reader or {})}
        encoded, labels = fn.readers.file(files=files, labels=list(range(len(files))), name="Reader", **settings)
        images = fn.random_resized_crop(fn.decoders.image(encoded), size=(8, 8))
        images = fn.flip(images, horizontal=fn.random.coin_flip())
        if python:
            images = fn.python_function(images, function=lambda image: 255 - image)
        return images, labels

    return make()


def labels_of(batches: Any) -> list[int]:
    return [int(label) for batch in batches for label in batch["labels"].flatten()]


def digest(batch: dict[str, Any]) -> str:
    state = hashlib.sha256()
    for name, array in batch.items():
        state.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return state.hexdigest()[:16]


# Epochs


@pytest.mark.parametrize("pad", BOTH)
@pytest.mark.parametrize("drop_last", BOTH)
def test_one_loop_is_one_epoch(files: list[str], drop_last: bool, pad: bool) -> None:
    loader = Loader(pictures(files, reader={"pad_last_batch": pad}), NAMES, drop_last=drop_last)
    orders = []
    for _ in range(3):
        batches = list(loader)
        assert [len(batch["labels"]) for batch in batches] == [4, 4] + ([] if drop_last else [3])
        assert len(loader) == len(batches)
        orders.append(labels_of(batches))
        assert len(set(orders[-1])) == len(orders[-1])
    assert orders[0] != orders[1] != orders[2]
    assert isinstance(batches[0]["images"], np.ndarray) and batches[0]["images"].shape == (4, 8, 8, 3)
    assert list(batches[0]) == NAMES


@pytest.mark.parametrize(("shards", "size"), list(product([2, 3, 5], [2, 4])))
def test_ranks_share_an_epoch_in_equal_steps(files: list[str], shards: int, size: int) -> None:
    ranks = [
        Loader(pictures(files, batch_size=size, reader={"num_shards": shards, "shard_id": k}), NAMES)
        for k in range(shards)
    ]
    for _ in range(3):
        epochs = [list(rank) for rank in ranks]
        assert {len(batches) for batches in epochs} == {len(ranks[0])}
        assert all(len(batch["labels"]) for batches in epochs for batch in batches)
        assert Counter(label for batches in epochs for label in labels_of(batches)) == Counter(range(11))


def test_loop_that_was_left_is_over(files: list[str]) -> None:
    whole = Loader(pictures(files), NAMES)
    epochs = [labels_of(whole) for _ in range(3)]
    loader = Loader(pictures(files), NAMES)
    first = iter(loader)
    assert labels_of([next(first)]) == epochs[0][:4] and len(loader) == 3
    assert labels_of(loader) == epochs[1]
    with pytest.raises(EngineError, match="another loop"):
        next(first)
    assert labels_of(islice(loader, 3)) == epochs[2], "all batches, without asking for the end"
    assert len(set(labels_of(loader))) == 11
    iter(loader)
    assert len(list(loader)) == 3, "a loop that took nothing leaves nothing out"


def test_epochs_can_be_chosen(files: list[str]) -> None:
    epochs = [labels_of(loop) for loop in [Loader(pictures(files), NAMES)] * 4]
    loader = Loader(pictures(files), NAMES)
    for epoch in (2, 0, 0, 1, 3):
        loader.set_epoch(epoch)
        assert labels_of(loader) == epochs[epoch]
    for _ in loader:
        break
    loader.set_epoch(1)
    assert len(loader) == loader.steps_per_epoch == 3
    assert labels_of(loader) == epochs[1]
    loop = iter(loader)
    loader.set_epoch(0)
    with pytest.raises(EngineError, match="another loop"):
        next(loop)


def test_chosen_epoch_goes_on_where_a_state_was_taken(files: list[str]) -> None:
    wanted = [labels_of(loop) for loop in [Loader(pictures(files), NAMES)] * 2]
    for steps in range(4):
        begun = Loader(pictures(files), NAMES)
        for _ in islice(begun, steps):
            pass
        for epoch in (0, 1):
            resumed = Loader(pictures(files), NAMES)
            resumed.load_state_dict(begun.state_dict())
            resumed.set_epoch(epoch)
            assert labels_of(resumed) == (wanted[epoch] if epoch else wanted[0][4 * steps :])


def test_chosen_epoch_of_a_source() -> None:
    def source(info: Any) -> Any:
        if info.iteration == 2:
            raise StopIteration
        return np.full((4, 1), info.epoch_idx)

    pipe = Pipeline(4, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source, batch_info=True))
    loader = Loader(pipe, ["labels"])
    assert loader.steps_per_epoch is None
    for epoch in (3, 0):
        loader.set_epoch(epoch)
        assert labels_of(loader) == [epoch] * 8


def test_a_loop_stays_at_its_end(files: list[str]) -> None:
    loop = iter(Loader(pictures(files), NAMES))
    assert iter(loop) is loop and len(list(loop)) == 3
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(loop)


def test_fewer_samples_than_a_batch(files: list[str]) -> None:
    loader = Loader(pictures(files[:3]), NAMES, drop_last=True)
    assert len(loader) == 0 and list(loader) == list(loader) == []
    loader = Loader(pictures(files[:3]), NAMES)
    assert len(loader) == 1 and sorted(labels_of(loader)) == sorted(labels_of(loader)) == [0, 1, 2]


def test_no_work_for_samples_that_are_not_seen(files: list[str]) -> None:
    calls = []

    @pipeline_def(batch_size=4, num_threads=1)
    def make() -> Any:
        _, labels = fn.readers.file(files=files, name="Reader")
        return fn.python_function(labels, function=lambda label: calls.append(int(label[0])) or label)

    loader = Loader(make(), ["labels"])
    list(loader)
    loader.pipeline.close()
    assert calls[:11] == list(range(11)) and len(calls) <= 11 + 8


def test_a_with_block_closes_a_loader(files: list[str]) -> None:
    with Loader(pictures(files), NAMES) as loader:
        next(iter(loader))
    with pytest.raises(EngineError, match="closed"):
        next(iter(loader))


def test_samples_of_different_shapes_come_as_a_list(files: list[str]) -> None:
    @pipeline_def(batch_size=4, num_threads=1)
    def make() -> Any:
        encoded, labels = fn.readers.file(files=files)
        return fn.decoders.image(encoded), labels

    batch = next(iter(Loader(make(), NAMES)))
    assert [image.shape for image in batch["images"]] == [(24, 30 + number, 3) for number in range(4)]
    assert batch["labels"].shape == (4, 1)


def test_sources_without_a_reader() -> None:
    def source(number: int) -> Any:
        if number == 2:
            raise StopIteration
        return np.full((3, 1), number, np.int32)

    pipe = Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source))
    loader = Loader(pipe, ["labels"])
    with pytest.raises(TypeError, match="no reader"):
        len(loader)
    for _ in range(2):
        assert labels_of(loader) == [0, 0, 0, 1, 1, 1]
    next(iter(loader))
    assert labels_of(loader) == [0, 0, 0, 1, 1, 1]


def test_fed_batches_draw_different_numbers() -> None:
    class Fed(Pipeline):
        def define_graph(self) -> Any:
            self.numbers = fn.external_source()
            return self.numbers, fn.random.uniform(range=(0.0, 1.0))

        def iter_setup(self) -> None:
            self.feed_input(self.numbers, np.zeros((3, 1), np.int32))

    batches = islice(Loader(Fed(3, 1, seed=1), ["a", "drawn"]), 4)
    assert len({float(number) for batch in batches for number in batch["drawn"]}) == 12


def test_readers_of_different_lengths(files: list[str]) -> None:
    @pipeline_def(batch_size=4, num_threads=1)
    def make() -> Any:
        _, first = fn.readers.file(files=files, name="Long")
        _, second = fn.readers.file(files=files[:6], name="Short")
        return first, second

    for name in (None, "Long"):
        assert len(list(Loader(make(), ["labels", "b"], reader_name=name))) == 3
    loader = Loader(make(), ["b", "labels"], reader_name="Short")
    assert len(loader) == 2 and labels_of(loader) == labels_of(loader) == list(range(6))


def test_loader_takes_over_a_pipeline_in_use(files: list[str]) -> None:
    whole = labels_of(Loader(pictures(files), NAMES))
    pipe = pictures(files)
    assert pipe.run()[1].as_array().flatten().tolist() == whole[:4]
    loader = Loader(pipe, NAMES)
    assert len(loader) == 2 and labels_of(loader) == whole[4:]


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["a"], {}, "expected 2 names, one for each output"),
        (["a", "a"], {}, "must be distinct strings"),
        ("ab", {}, "must be distinct strings"),
        (["valid", "b"], {"on_error": "fill"}, "'valid'"),
    ],
)
def test_arguments(files: list[str], names: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Loader(pictures(files, **options), names)
    with pytest.raises(ArgumentError, match="no reader 'X'"):
        Loader(pictures(files), NAMES, reader_name="X")


# States


@pytest.mark.parametrize("drop_last", BOTH)
@pytest.mark.parametrize("seed", [5, None])
def test_state_of_every_step_gives_the_same_rest(files: list[str], drop_last: bool, seed: int | None) -> None:
    loader = Loader(pictures(files, seed=seed), NAMES, drop_last=drop_last)
    states, epochs = [(0, 0, loader.state_dict())], []
    for epoch in range(3):
        epochs.append([])
        for step, batch in enumerate(loader, 1):
            epochs[-1].append(digest(batch))
            states.append((epoch, step, json.loads(json.dumps(loader.state_dict()))))
        states.append((epoch + 1, 0, loader.state_dict()))
    for epoch, step, state in states:
        assert len(json.dumps(state)) < 1024
        if epoch > 1:
            continue
        other = Loader(pictures(files, seed=seed, num_threads=1), NAMES, drop_last=drop_last)
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert len(other) == len(epochs[epoch]) - step
        assert [digest(batch) for batch in other] == epochs[epoch][step:]
        assert [digest(batch) for batch in other] == epochs[epoch + 1]


@pytest.mark.parametrize(("size", "shards"), [(1, 1), (3, 1), (7, 1), (2, 2), (4, 3)])
@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_state_into_another_batch_size_and_number_of_shards(
    files: list[str], size: int, shards: int, steps: int
) -> None:
    """What is left of the epoch comes exactly once, with the same random numbers for every sample."""
    whole = Loader(pictures(files), NAMES)
    pixels = {label.item(): image.tobytes() for batch in whole for image, label in zip(*batch.values(), strict=True)}
    loader = Loader(pictures(files), NAMES)
    seen = labels_of(islice(loader, steps))
    state = loader.state_dict()
    ranks = []
    for rank in range(shards):
        reader = {"num_shards": shards, "shard_id": rank}
        ranks.append(Loader(pictures(files, reader=reader, batch_size=size, num_threads=1), NAMES))
        ranks[-1].load_state_dict(state)
    (length,) = {len(rank) for rank in ranks}
    rest = [batch for rank in ranks for batch in rank]
    assert len(rest) == length * shards
    assert sorted(labels_of(rest) + seen) == list(range(11))
    for batch in rest:
        for image, label in zip(batch["images"], batch["labels"].flatten(), strict=True):
            assert image.tobytes() == pixels[int(label)]
    assert sorted(label for rank in ranks for label in labels_of(rank)) == list(range(11))


def test_drop_last_after_a_state_that_leaves_less_than_a_batch(files: list[str]) -> None:
    loader = Loader(pictures(files), NAMES)
    list(islice(loader, 2))
    other = Loader(pictures(files), NAMES, drop_last=True)
    other.load_state_dict(loader.state_dict())
    assert len(other) == 0 and list(other) == []
    assert len(other) == 2 and len(set(labels_of(other))) == 8


@pytest.mark.parametrize("state", [None, {}, {"version": 2}, {"version": 1}])
def test_not_a_state(files: list[str], state: Any) -> None:
    with pytest.raises(ArgumentError, match="expected a state of version 1"):
        Loader(pictures(files), NAMES).load_state_dict(state)


def test_state_of_other_data_is_refused(files: list[str]) -> None:
    state = Loader(pictures(files), NAMES).state_dict()
    with pytest.raises(ArgumentError, match="length was 11, now 10"):
        Loader(pictures(files[1:]), NAMES).load_state_dict(state)
    with pytest.raises(ArgumentError, match="the seed was 5, now it is 6"):
        Loader(pictures(files, seed=6), NAMES).load_state_dict(state)


# Bad samples


@pytest.fixture(scope="module")
def cut(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The same images, of which number 6 is cut off."""
    path = tmp_path_factory.mktemp("cut") / "6.jpg"
    path.write_bytes(Path(files[6]).read_bytes()[:700])
    return [*files[:6], str(path), *files[7:]]


@pytest.mark.parametrize("python", BOTH)
@pytest.mark.parametrize("on_error", ["skip", "fill", "callable"])
def test_policies_keep_the_length(files: list[str], cut: list[str], on_error: str, python: bool) -> None:
    policy: Any = (lambda event: "fill") if on_error == "callable" else on_error
    loader = Loader(pictures(cut, on_error=policy, python=python), NAMES)
    good = list(Loader(pictures(files, python=python), NAMES))
    batches = list(loader)
    assert [len(batch["images"]) for batch in batches] == [4, 4, 3] and len(loader) == 3
    (event,) = loader.errors.events
    assert (event.kind, event.path, event.sample, event.epoch) == ("truncated", cut[6], 6, 0)
    assert loader.errors.counts == {"truncated": 1} and len(loader.errors) == 1
    bad = labels_of(good).index(6)
    valid = np.concatenate([batch.get("valid", np.ones(len(batch["labels"]), bool)) for batch in batches])
    assert valid.dtype == bool and np.flatnonzero(~valid).tolist() == ([] if on_error == "skip" else [bad])
    mine, theirs = (np.concatenate([batch["images"] for batch in each]) for each in (batches, good))
    others = np.arange(11) != bad
    assert np.array_equal(mine[others], theirs[others])
    if on_error == "skip":
        assert labels_of(batches)[bad] != 6
    else:
        assert labels_of(batches)[bad] == 6 and len(np.unique(mine[bad])) == 1
    again = list(loader)
    assert len(again) == 3 and loader.errors.counts == {"truncated": 2} and loader.errors.events[1].epoch == 1


@pytest.mark.parametrize("python", BOTH)
def test_raise_and_go_on(cut: list[str], python: bool) -> None:
    skipped = [digest(batch) for batch in Loader(pictures(cut, on_error="skip", python=python), NAMES)]
    loop, batches, errors = iter(Loader(pictures(cut, python=python), NAMES)), [], []
    while True:
        try:
            batches.append(digest(next(loop)))
        except StopIteration:
            break
        except DataError as error:
            errors.append(error)
    assert batches == skipped
    ((event,),) = [error.events for error in errors]
    assert event.path == cut[6] and event.kind == "truncated"
    assert cut[6] in str(errors[0]) and "on_error='skip'" in str(errors[0]) and "test_loader.py" in str(errors[0])


def test_too_many_errors(cut: list[str]) -> None:
    loader = Loader(pictures([*cut[:6], cut[6], cut[6], *cut[8:]], on_error="skip", max_errors=1), NAMES)
    with pytest.raises(DataError, match="2 bad samples in epoch 0, but max_errors allows 1"):
        list(loader)


# Lives


def tasks() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208


def opened(kind: str, pipe: Pipeline) -> Any:
    return (
        iter(Loader(pipe, NAMES))
        if kind == "loader"
        else pytorch.DALIGenericIterator(pipe, NAMES, reader_name="Reader")
    )


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted by /proc")
@pytest.mark.parametrize("kind", ["loader", "iterator"])
@pytest.mark.parametrize("python", BOTH)
def test_abandoned_half_way_its_threads_are_gone(files: list[str], kind: str, python: bool) -> None:
    gc.collect()
    before = tasks()
    for _ in range(3):
        batches = opened(kind, pictures(files, python=python, num_threads=3))
        next(batches)
        assert tasks() > before
        del batches
    deadline = time.monotonic() + 60
    while tasks() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert tasks() <= before


PROGRAM = """
import json, os, signal, sys, threading, time
import numpy as np
from pixelmill import Loader, Pipeline, fn, pipeline_def

def through_python(image):
    return 255 - image

@pipeline_def(batch_size=4, num_threads=2, seed=5, prefetch_queue_depth=3)
def pictures(files, python, function=through_python):
    encoded, labels = fn.readers.file(files=files, labels=list(range(len(files))), name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=(8, 8))
    return fn.python_function(images, function=function) if python else images, labels

def labels_of(batches):
    return [int(label) for batch in batches for label in batch["labels"].flatten()]

files, python = json.loads(sys.argv[1])
"""


def run_program(body: str, files: list[str], python: bool = False) -> subprocess.CompletedProcess[str]:
    program = PROGRAM + textwrap.dedent(body)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, json.dumps([files, python])]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "raise KeyboardInterrupt"])
def test_interpreter_exits_with_a_live_loader(files: list[str], end: str) -> None:
    body = f"""
        loops = [iter(Loader(pictures(files, kind), ["images", "labels"])) for kind in (False, True)]
        for loop in loops:
            next(loop)
        print("here", flush=True)
        {end}
    """
    result = run_program(body, files)
    assert result.stdout == "here\n", result.stderr
    assert result.returncode == (-signal.SIGINT if "Keyboard" in end else 0), result.stderr
    assert "Fatal" not in result.stderr and "terminate" not in result.stderr


@needs("torch")
def test_interpreter_exits_with_a_live_iterator(files: list[str]) -> None:
    body = """
        from pixelmill.plugin.pytorch import DALIGenericIterator
        iterator = DALIGenericIterator(pictures(files, False), ["images", "labels"], reader_name="Reader")
        batch = next(iterator)
        print(len(iterator))
    """
    result = run_program(body, files)
    assert (result.stdout, result.stderr, result.returncode) == ("3\n", "", 0)


def test_interrupt_while_waiting_loses_nothing(files: list[str]) -> None:
    body = """
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
        working, asking, interrupted = threading.Event(), threading.Event(), threading.Event()
        def slow_once(image):
            working.set()
            interrupted.wait()  # forever, if the interrupt does not end the wait for this image
            return image
        def interrupt():
            working.wait()
            asking.wait()
            time.sleep(0.3)  # most likely `next` waits by then; the result is the same if it does not yet
            os.kill(os.getpid(), signal.SIGINT)
        loop = iter(Loader(pictures(files, True, slow_once), ["images", "labels"]))
        threading.Thread(target=interrupt).start()
        try:
            asking.set()
            next(loop)
        except KeyboardInterrupt:
            interrupted.set()
            print("interrupted")
        print(labels_of(loop))
    """
    result = run_program(body, files)
    assert result.stdout == f"interrupted\n{list(range(11))}\n", result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("python", BOTH)
def test_forked_child_goes_on_where_the_parent_was(files: list[str], python: bool) -> None:
    """The child delivers the batches that the parent had under way when it forked; both give the same."""
    body = """
        loader = Loader(pictures(files, python), ["images", "labels"])
        loop = iter(loader)
        next(loop)
        child = os.fork()
        line = f"{[int(batch['images'].astype(int).sum()) for batch in loop]} {labels_of(loader)}\\n"
        os.write(1, line.encode())
        if child == 0:
            os._exit(0)
        print(os.waitpid(child, 0)[1])
    """
    result = run_program(body, files, python)
    first, second, status = result.stdout.splitlines()
    assert first == second and status == "0" and not result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_child_keeps_what_sources_gave(files: list[str]) -> None:
    body = """
        pipe = Pipeline(1, 1, None, prefetch_queue_depth=3)
        with pipe:
            pipe.set_outputs(fn.external_source(source=iter([np.full((1, 1), n) for n in range(8)])))
        loop = iter(Loader(pipe, ["labels"]))
        next(loop)
        child = os.fork()
        os.write(1, f"{labels_of(loop)}\\n".encode())
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    """
    result = run_program(body, files)
    assert result.stdout == "[1, 2, 3, 4, 5, 6, 7]\n" * 2, result.stderr


class Workers(torch.utils.data.IterableDataset):  # type: ignore[name-defined]
    """Each worker process of a DataLoader has a pipeline of its own, with its own shard."""

    def __init__(self, files: list[str], used: Pipeline) -> None:
        self.files, self.used = files, used

    def __iter__(self) -> Any:
        worker = torch.utils.data.get_worker_info()
        assert worker is not None
        assert len(self.used.run()[1]) == 4, "one that the parent used before works as well"
        reader = {"num_shards": worker.num_workers, "shard_id": worker.id}
        for batch in Loader(pictures(self.files, reader=reader), NAMES):
            yield {name: torch.from_numpy(array) for name, array in batch.items()}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_workers_of_a_torch_data_loader(files: list[str]) -> None:
    used = pictures(files)
    used.run()
    data = torch.utils.data.DataLoader(
        Workers(files, used), batch_size=None, num_workers=2, multiprocessing_context="fork"
    )
    for _ in range(2):
        assert sorted(labels_of(data)) == list(range(11))
