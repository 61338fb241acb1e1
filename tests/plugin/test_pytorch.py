"""Iterators for PyTorch: DALI's contract, its measured epochs, and what is promised beyond them."""

from __future__ import annotations

import hashlib
import json
import logging
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pixelmill import ArgumentError, DataError, EngineError, Pipeline, fn, pipeline_def
from pixelmill.plugin import pytorch
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.pytorch import (
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIRaggedIterator,
    feed_ndarray,
    to_torch_type,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.plugin.pytorch as dali_pytorch
    from nvidia.dali import pipeline_def as dali_pipeline_def
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy as DaliPolicy

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
BOTH = [False, True]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Seven images of different heights; number n has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number}.jpg" for number in range(1, 8)]
    for number, path in enumerate(paths, 1):
        pixels = np.random.default_rng(number).integers(0, 256, (20 + number, 30, 3), np.uint8)
        Image.fromarray(pixels).save(path)
    return [str(path) for path in paths]


def damaged(files: list[str], tmp_path: Path, number: int) -> list[str]:
    """Return the same files, of which one is cut off."""
    path = tmp_path / f"cut{number}.jpg"
    path.write_bytes(Path(files[number - 1]).read_bytes()[:700])
    return [*files[: number - 1], str(path), *files[number:]]


def read(module: Any, files: list[str], reader: dict[str, Any]) -> Any:
    return module.readers.file(files=files, labels=list(range(1, len(files) + 1)), name="Reader", **reader)


def labels_only(files: list[str], *, batch_size: int = 3, **reader: Any) -> Pipeline:
    pipe = Pipeline(batch_size, 1, None)
    with pipe:
        pipe.set_outputs(read(fn, files, reader)[1])
    return pipe


def dali_labels(files: list[str], *, batch_size: int = 3, **reader: Any) -> Any:
    @dali_pipeline_def(batch_size=batch_size, num_threads=1, device_id=None)
    def make() -> Any:
        return read(dali_fn, files, reader)[1]

    return make()


def pictures(files: list[str], *, reader: dict[str, Any] | None = None, **options: Any) -> Pipeline:
    """A pipeline with random numbers in it, for comparisons by hash."""
    options = {"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 5, **options}

    @pipeline_def(**options)
    def make() -> Any:
        encoded, labels = read(fn, files, reader or {})
        images = fn.random_resized_crop(fn.decoders.image(encoded), size=(8, 8))
        return fn.flip(images, horizontal=fn.random.coin_flip()), labels

    return make()


def labeled(pipes: Any, policy: LastBatchPolicy = FILL, **options: Any) -> DALIGenericIterator:
    return DALIGenericIterator(pipes, ["label"], reader_name="Reader", last_batch_policy=policy, **options)


def pictured(pipes: Any, policy: LastBatchPolicy = PARTIAL, **options: Any) -> DALIGenericIterator:
    return DALIGenericIterator(pipes, ["image", "label"], reader_name="Reader", last_batch_policy=policy, **options)


def text_of(batch: dict[str, torch.Tensor], name: str = "label") -> str:
    return "".join(str(int(label)) for label in batch[name].flatten())


def epochs_of(iterator: Iterable[Any], count: int = 3, *, by_hand: bool = False) -> str:
    epochs = []
    for _ in range(count):
        epochs.append(" ".join("|".join(text_of(part) for part in batch) for batch in iterator))
        if by_hand:
            iterator.reset()  # type: ignore[attr-defined]
    return " / ".join(epochs)


def digest(batch: list[dict[str, torch.Tensor]]) -> str:
    state = hashlib.sha256()
    for part in batch:
        for name, tensor in part.items():
            state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode() + tensor.numpy().tobytes())
    return state.hexdigest()[:16]


# Epochs


TABLE = {
    (FILL, False): "123 456 712 / 345 671 / 234 567",
    (FILL, True): "123 456 777 / 123 456 777 / 123 456 777",
    (DROP, False): "123 456 / 345 671 / 567 123",
    (DROP, True): "123 456 / 123 456 / 123 456",
    (PARTIAL, False): "123 456 7 / 345 671 2 / 567 123 4",
    (PARTIAL, True): "123 456 7 / 123 456 7 / 123 456 7",
}


@pytest.mark.parametrize(("policy", "pad"), TABLE)
def test_table_of_dali(files: list[str], policy: LastBatchPolicy, pad: bool) -> None:
    ours = labeled(labels_only(files, pad_last_batch=pad), policy, auto_reset=True)
    options = {"reader_name": "Reader", "auto_reset": True, "last_batch_policy": DaliPolicy[policy.name]}
    theirs = dali_pytorch.DALIGenericIterator(dali_labels(files, pad_last_batch=pad), ["label"], **options)
    assert (len(ours), ours.size, ours._size) == (len(theirs), theirs.size, theirs.size)
    assert epochs_of(ours) == TABLE[policy, pad] == epochs_of(theirs)
    assert (len(ours), ours.size) == (len(theirs), theirs.size)


@pytest.mark.parametrize(("policy", "pad"), TABLE)
@pytest.mark.parametrize("prepare", BOTH)
def test_table_with_reset_by_hand_and_by_iter(
    files: list[str], policy: LastBatchPolicy, pad: bool, prepare: bool
) -> None:
    for by_hand in BOTH:
        iterator = labeled([labels_only(files, pad_last_batch=pad)], policy, prepare_first_batch=prepare)
        assert epochs_of(iterator, by_hand=by_hand) == TABLE[policy, pad]


@given(st.integers(1, 19), st.integers(1, 8), st.integers(1, 3), st.sampled_from(list(LastBatchPolicy)), st.data())
@settings(max_examples=50)
def test_any_epochs_are_dalis(
    files: list[str], length: int, size: int, shards: int, policy: LastBatchPolicy, data: st.DataObject
) -> None:
    """Batches and lengths of five epochs; on several ranks with FILL, where nothing differs on purpose."""
    shards = min(shards, length) if policy is FILL else 1
    ranks = range(shards) if data.draw(st.booleans()) else [data.draw(st.integers(0, shards - 1))]
    pad, stick, by_itself, prepare = (data.draw(st.booleans()) for _ in range(4))
    reader = {"num_shards": shards, "pad_last_batch": pad, "stick_to_shard": stick}

    def epochs(iterators: Any, make: Any, policy: Any) -> Any:
        pipes = [make((files * 3)[:length], batch_size=size, shard_id=rank, **reader) for rank in ranks]
        options = {"auto_reset": by_itself, "prepare_first_batch": prepare, "last_batch_policy": policy}
        try:
            iterator = iterators.DALIGenericIterator(pipes, ["label"], reader_name="Reader", **options)
        except RuntimeError:
            return "no data"
        return [
            (len(iterator), [[part["label"].flatten().tolist() for part in batch] for batch in iterator])
            for _ in range(5)
        ]

    assert epochs(pytorch, labels_only, policy) == epochs(dali_pytorch, dali_labels, DaliPolicy[policy.name])


@pytest.mark.parametrize("policy", [DROP, PARTIAL])
@pytest.mark.parametrize(("pad", "stick"), list(product(BOTH, BOTH)))
@pytest.mark.parametrize(("shards", "size"), [(2, 3), (3, 2), (3, 1), (2, 2)])
def test_several_ranks_differ_from_dali_on_purpose(
    files: list[str], policy: LastBatchPolicy, pad: bool, stick: bool, shards: int, size: int
) -> None:
    """No empty batch, no copies, equally many steps, and with PARTIAL each sample exactly once."""
    reader = {"num_shards": shards, "pad_last_batch": pad, "stick_to_shard": stick}
    ranks = [labeled(labels_only(files, batch_size=size, shard_id=k, **reader), policy) for k in range(shards)]
    for epoch in range(4):
        batches = [[text_of(part) for (part,) in rank] for rank in ranks]
        assert {len(steps) for steps in batches} == {len(ranks[0])}
        assert all(text for steps in batches for text in steps)
        seen = Counter("".join(text for steps in batches for text in steps))
        if policy is PARTIAL and size > 1:
            assert seen == Counter("1234567")
        elif policy is PARTIAL:  # with batches of one sample a short rank can only repeat its last
            assert set(seen) == set("1234567") and sum(seen.values()) == 9
        elif pad or epoch == 0:
            assert len(seen) == sum(seen.values()) == 7 // shards // size * size * shards


def test_steps_of_a_short_shard(files: list[str]) -> None:
    iterator = labeled(labels_only(files, num_shards=2, pad_last_batch=True), PARTIAL)
    assert epochs_of(iterator) == "12 3 / 456 7 / 12 3"


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize(("size", "pipes", "padded"), [(5, 1, False), (7, 1, True), (9, 1, False), (8, 2, False)])
def test_size_counts_as_in_dali(files: list[str], policy: LastBatchPolicy, size: int, pipes: int, padded: bool) -> None:
    def make(iterators: Any, pipe: Any, policy: Any) -> Any:
        options = {"auto_reset": True, "last_batch_padded": padded, "last_batch_policy": policy}
        several = [pipe(files, pad_last_batch=padded) for _ in range(pipes)]
        with pytest.warns(Warning, match="reader_name"):
            return iterators.DALIGenericIterator(several, ["label"], size, **options)

    ours = make(pytorch, labels_only, policy)
    theirs = make(dali_pytorch, dali_labels, DaliPolicy[policy.name])
    assert len(ours) == len(theirs)
    texts = epochs_of(ours, 4)
    assert texts == epochs_of(theirs, 4)
    if size == 5 and policy is FILL:
        assert [len(epoch.split()) for epoch in texts.split(" / ")[:3]] == [2, 2, 1]


def test_without_size_and_reader_until_the_source_stops(files: list[str]) -> None:
    def source(number: int) -> list[np.ndarray]:
        if number == 3:
            raise StopIteration
        return [np.array([number, place], np.int32) for place in range(3 - (number == 2))]

    pipe = Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=source))
    iterator = DALIGenericIterator(pipe, ["label"], auto_reset=True)
    assert len(iterator) == 0 and iterator.size == -1
    assert epochs_of(iterator) == " / ".join(["000102 101112 2021"] * 3)
    next(iterator)
    assert epochs_of(iterator, 1) == "101112 2021", "a new loop in mid-epoch goes on where it is"


def test_fed_pipeline_with_size_needs_no_reader_and_no_warning() -> None:
    class Fed(Pipeline):
        def define_graph(self) -> Any:
            self.numbers = fn.external_source()
            return self.numbers

        def iter_setup(self) -> None:
            self.feed_input(self.numbers, np.arange(4, dtype=np.int32).reshape(4, 1))

    pipe = Fed(4, 1, 0)
    iterator = DALIGenericIterator([pipe], ["label"], 10, last_batch_policy=PARTIAL)
    assert epochs_of(iterator, 2) == "0123 0123 01 / 0123 0123 01"
    pipe.iter_setup = lambda: None  # type: ignore[method-assign]
    pipe.feed_input(pipe.numbers, np.zeros((2, 1), np.int32))
    with pytest.raises(EngineError, match="must have 4 samples"):
        list(iterator)


# Steps


def test_stop_iteration_repeats_until_reset(files: list[str]) -> None:
    iterator = labeled(labels_only(files, pad_last_batch=True))
    assert len(list(iterator)) == 3
    for _ in range(3):
        with pytest.raises(StopIteration):
            next(iterator)
    iterator.reset()
    assert text_of(iterator.next()[0]) == "123"


def test_reset_in_mid_epoch_is_ignored_with_a_line(files: list[str], caplog: pytest.LogCaptureFixture) -> None:
    iterator = labeled(labels_only(files), auto_reset="yes")
    iterator.reset()
    assert text_of(next(iter(iterator))[0]) == "123" and not caplog.records
    with caplog.at_level(logging.WARNING):
        iterator.reset()
    assert "end of an epoch" in caplog.text
    assert [text_of(part) for (part,) in iterator] == ["456", "712"]
    caplog.clear()
    assert epochs_of(iterator, 2) == "345 671 / 234 567" and not caplog.records


def test_drop_may_be_left_after_len_steps(files: list[str]) -> None:
    iterator = labeled(labels_only(files), DROP)
    epochs = []
    for _ in range(3):
        epochs.append(" ".join(text_of(next(iterator)[0]) for _ in range(len(iterator))))
        iterator.reset()
    assert " / ".join(epochs) == TABLE[DROP, False]


def test_tensors_are_the_batch_and_stay_what_they_are(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    run = Pipeline.run
    monkeypatch.setattr(Pipeline, "run", lambda self: taken.append(run(self)) or taken[-1])
    iterator = DALIClassificationIterator(pictures(files), reader_name="Reader", last_batch_policy=PARTIAL)
    kept = []
    for _ in range(4):
        for (batch,) in iterator:
            images, labels = taken[-1]
            assert batch["data"].data_ptr() == images.data_ptr() and batch["label"].data_ptr() == labels.data_ptr()
            kept.append((batch, {name: tensor.clone() for name, tensor in batch.items()}))
            taken.clear()
            del images, labels
    assert all(torch.equal(batch[name], copy[name]) for batch, copy in kept for name in copy)
    assert batch["label"].dtype == torch.int32 and kept[0][0]["label"].shape == (3, 1)
    assert kept[0][0]["data"].shape == (3, 8, 8, 3) and kept[0][0]["data"].dtype == torch.uint8
    kept[0][0]["data"] += 1


def test_subclass_with_its_own_next(files: list[str]) -> None:
    class LightningWrapper(DALIGenericIterator):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.ready = True

        def __next__(self) -> Any:
            assert self.ready
            (batch,) = super().__next__()
            return [batch[name] for name in self.output_map]

    wrapper = LightningWrapper(
        pictures(files), auto_reset=True, reader_name="Reader", output_map=["x", "y"], dynamic_shape=True
    )
    for _ in range(2):
        steps = len(wrapper)
        assert sum(1 for x, y in wrapper if x.shape[1:] == (8, 8, 3) and y.shape[1:] == (1,)) == steps


def test_several_pipelines_at_once(files: list[str]) -> None:
    pipes = [pictures(files, reader={"num_shards": 2, "shard_id": k, "pad_last_batch": True}) for k in range(2)]
    iterator = pictured(pipes)
    for _ in range(2):
        batches = list(iterator)
        assert len(batches) == 2 and all(len(batch) == 2 for batch in batches)
        seen = "".join(text_of(part) for batch in batches for part in batch)
        assert sorted(seen) == sorted("1234567")


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # of DALI
def test_ragged(files: list[str]) -> None:
    def graph(module: Any) -> Any:
        encoded, labels = read(module, files, {"pad_last_batch": True})
        return labels, module.decoders.image(encoded), encoded

    kinds = DALIRaggedIterator
    dense, lists, coo = kinds.DENSE_TAG, kinds.SPARSE_LIST_TAG, kinds.SPARSE_COO_TAG
    names, tags = ["label", "image", "bytes"], [dense, lists, coo]
    ours = DALIRaggedIterator(
        pipeline_def(batch_size=3, num_threads=2, device_id=None)(graph)(fn), names, -1, "Reader", tags
    )
    theirs = dali_pytorch.DALIRaggedIterator(
        dali_pipeline_def(batch_size=3, num_threads=1, device_id=None)(graph)(dali_fn), names, -1, "Reader", tags
    )
    for (mine,), (other,) in zip(ours, theirs, strict=True):
        assert torch.equal(mine["label"], other["label"])
        assert all(torch.equal(a, b) for a, b in zip(mine["image"], other["image"], strict=True))
        assert torch.equal(mine["bytes"].to_dense(), other["bytes"].to_dense())
    partial = DALIRaggedIterator(
        pipeline_def(batch_size=4, num_threads=2, device_id=None)(graph)(fn),
        names,
        reader_name="Reader",
        output_types=[dense, lists, lists],
        last_batch_policy=PARTIAL,
    )
    assert [[len(batch[name]) for name in names] for (batch,) in partial] == [[4] * 3, [3] * 3]
    with pytest.raises(ArgumentError, match=r"'image': shapes \(21, 30, 3\), \(22, .*DALIRaggedIterator"):
        DALIGenericIterator(pipeline_def(batch_size=3, num_threads=1)(graph)(fn), names, reader_name="Reader")


def test_feed_ndarray_and_types(files: list[str]) -> None:
    images, labels = pictures(files).run()
    target = torch.empty(3, 8, 8, 3, dtype=to_torch_type[images.dtype])
    assert feed_ndarray(images.as_tensor(), target) is target
    assert np.array_equal(target.numpy(), images.as_array())
    with pytest.raises(ArgumentError, match="the batch is"):
        feed_ndarray(labels, target)


# Checkpoints


@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("pad", BOTH)
@pytest.mark.parametrize("prepare", BOTH)
def test_checkpoint_at_every_step_gives_the_same_rest(
    files: list[str], policy: LastBatchPolicy, pad: bool, prepare: bool
) -> None:
    def make(checkpoint: bytes | None = None, **options: Any) -> DALIGenericIterator:
        pipe = pictures(files, reader={"random_shuffle": True, "pad_last_batch": pad}, checkpoint=checkpoint, **options)
        return pictured(pipe, policy, auto_reset=True, prepare_first_batch=prepare)

    iterator, states, steps, ends = make(seed=None), [], [], []
    for _ in range(3):
        for batch in iterator:
            steps.append(digest(batch))
            states.append(iterator.checkpoints())
        ends.append(len(steps))
    assert all(len(state) == 1 and len(state[0]) < 1024 for state in states)
    for number, (state,) in enumerate(states[: ends[1]], 1):
        other = make(state, seed=None, num_threads=1)
        assert other.checkpoints() == [state] or number in ends
        end = next(end for end in ends if end > number)  # at the end of an epoch DALI, too, begins the next
        assert [digest(batch) for batch in other] == steps[number:end]
        if end < ends[2]:
            assert digest(next(iter(other))) == steps[end]


def test_checkpoint_before_the_first_step_and_into_another_cut(files: list[str]) -> None:
    reader = {"random_shuffle": True}
    first = pictured(pictures(files, reader=reader))
    (state,) = first.checkpoints()
    assert json.loads(state)["iterator"] == {"step": 0, "taken": 0}
    whole = "".join(text_of(part) for (part,) in first)
    next(first := pictured(pictures(files, reader=reader)))
    (state,) = first.checkpoints()
    other = pictured(pictures(files, reader=reader, checkpoint=state, batch_size=2))
    assert len(other) == 1 + 2
    assert "".join(text_of(part) for (part,) in other) == whole[3:]
    shards = [{**reader, "num_shards": 2, "shard_id": rank} for rank in range(2)]
    both = pictured([pictures(files, reader=shard, checkpoint=state, batch_size=2) for shard in shards])
    assert sorted("".join(text_of(part) for batch in both for part in batch)) == sorted(whole[3:])
    next(iter(both))
    _, later = both.checkpoints()
    single = pictured(pictures(files, reader=reader, checkpoint=later))
    assert len("".join(text_of(part) for (part,) in single)) == 7 - 4


def test_checkpoint_with_size(files: list[str]) -> None:
    def make(checkpoint: bytes | None = None) -> DALIGenericIterator:
        with pytest.warns(UserWarning, match="reader_name"):
            return DALIGenericIterator(pictures(files, checkpoint=checkpoint), ["image", "label"], 5, auto_reset=True)

    iterator = make()
    list(iterator)
    next(iterator)
    rest = make(iterator.checkpoints()[0])
    assert epochs_of(rest, 3) == epochs_of(iterator, 3)


def test_checkpoint_of_a_source_that_is_told_its_number() -> None:
    def source(info: Any) -> Any:
        if info.iteration == 3:
            raise StopIteration
        return np.full((2, 1), 3 * info.epoch_idx + info.iteration, np.int32)

    def make(checkpoint: bytes | None = None) -> DALIGenericIterator:
        pipe = Pipeline(2, 1, None, checkpoint=checkpoint, seed=1)
        with pipe:
            pipe.set_outputs(fn.external_source(source=source, batch_info=True), fn.random.uniform(range=(0.0, 1.0)))
        return DALIGenericIterator(pipe, ["label", "drawn"], auto_reset=True)

    iterator, steps, states = make(), [], []
    for _ in range(2):
        for batch in iterator:
            steps.append(digest(batch))
            states.append(iterator.checkpoints()[0])
    assert len(set(steps)) == 6
    for number, state in enumerate(states, 1):
        other = make(state)
        rest = [digest(batch) for _ in range(2) for batch in other]
        assert rest[: len(steps) - number] == steps[number:], number


# Bad samples


@pytest.mark.parametrize("number", [1, 5, 7])
@pytest.mark.parametrize("prepare", BOTH)
def test_raise_names_the_file_and_the_iterator_goes_on(
    files: list[str], tmp_path: Path, number: int, prepare: bool
) -> None:
    cut = damaged(files, tmp_path, number)
    iterator = pictured(pictures(cut), prepare_first_batch=prepare)
    skipped = list(pictured(pictures(cut, on_error="skip"), prepare_first_batch=prepare))
    batches, raised = [], []
    while True:
        try:
            batches.append(next(iterator))
        except StopIteration:
            break
        except DataError as error:
            raised.append((len(batches), error))
    ((step, told),) = raised
    assert step == (number - 1) // 3
    (event,) = told.events
    assert (event.kind, event.path, event.sample) == ("truncated", cut[number - 1], number - 1)
    assert cut[number - 1] in str(told)
    assert [digest(batch) for batch in batches] == [digest(batch) for batch in skipped]
    assert iterator._pipes[0].errors.counts == {"truncated": 1}


def test_other_policies_keep_the_length_of_the_epoch(files: list[str], tmp_path: Path) -> None:
    cut = damaged(files, tmp_path, 5)
    asked = []
    for on_error in ("skip", "fill", lambda event: asked.append(event) or "fill"):
        pipe = pictures(cut, on_error=on_error)
        iterator = pictured(pipe)
        sizes, valid = [], []
        for (batch,) in iterator:
            sizes.append(len(batch["label"]))
            valid += pipe.valid.tolist()
        assert sizes == [3, 3, 1]
        assert [place for place, good in enumerate(valid) if not good] == ([] if on_error == "skip" else [4])
        ((event,), counts) = pipe.errors.events, pipe.errors.counts
        assert counts == {"truncated": 1} and event.path == cut[4] and event.kind == "truncated"
    assert [event.path for event in asked] == [cut[4]]


def test_several_pipelines_stay_in_step_when_one_raises(files: list[str], tmp_path: Path) -> None:
    cut = damaged(files, tmp_path, 5)
    iterator = labeled([labels_only(files), images_labels(cut)])
    texts, states = [text_of(next(iterator)[1])], []
    with pytest.raises(DataError):
        next(iterator)
    states.append(iterator.checkpoints())
    first, second = next(iterator)
    assert text_of(first) == "456" and text_of(second)[0::2] == "46" and texts == ["123"]
    states.append(iterator.checkpoints())
    assert [[json.loads(state)["iterations"] for state in both] for both in states] == [[1, 1], [2, 2]]


def images_labels(files: list[str]) -> Pipeline:
    pipe = Pipeline(3, 1, None, on_error="raise")
    with pipe:
        encoded, labels = read(fn, files, {})
        size = fn.resize(fn.decoders.image(encoded), size=(1, 1))
        pipe.set_outputs(fn.python_function(labels, size, function=lambda label, _: label))
    return pipe


def test_thrown_away_batches_raise_nothing(files: list[str], tmp_path: Path) -> None:
    cut = damaged(files, tmp_path, 7)
    iterator = pictured(pictures(cut), DROP)
    assert epochs_of(iterator, 1) == "123 456"
    assert len(next(iter(iterator))[0]["label"]) == 3


# Arguments


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 7, "reader_name": "Reader"}, "omit them"),
        ({"last_batch_padded": True, "reader_name": "Reader"}, "omit them"),
        ({"reader_name": "Redaer"}, "no reader 'Redaer'; there are: 'Reader'"),
        ({"size": 0}, "size above 0"),
        ({"auto_reset": "maybe"}, "auto_reset"),
        ({"last_batch_policy": 1}, "last_batch_policy"),
        ({"output_map": ["a", "a"]}, "unique"),
        ({"output_map": ["a"]}, "output_map has 1 names, but the pipeline has 2 outputs"),
        ({"pipelines": []}, "at least one pipeline"),
    ],
)
def test_arguments(files: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        DALIGenericIterator(**{"pipelines": pictures(files), "output_map": ["image", "label"], **options})


def test_pipelines_that_do_not_fit_together(files: list[str]) -> None:
    with pytest.raises(ArgumentError, match="same batch_size"):
        labeled([labels_only(files), labels_only(files, batch_size=2)])
    with pytest.raises(ArgumentError, match="different epoch_size"):
        labeled([labels_only(files), labels_only(files[:6])])
    with pytest.raises(ArgumentError, match="2 pipelines need a size"):
        DALIGenericIterator([labels_only(files), labels_only(files)], ["label"])


def test_no_data_is_said_at_once(files: list[str]) -> None:
    with pytest.raises(EngineError, match="no data"):
        labeled(labels_only(files[:2]), DROP)
    with pytest.warns(DeprecationWarning, match="fill_last_batch") as caught:
        iterator = DALIGenericIterator(labels_only(files), ["label"], reader_name="Reader", fill_last_batch=False)
    assert caught[0].filename == __file__
    assert epochs_of(iterator, 1) == "123 456 7"


def test_torch_is_asked_for_only_where_it_is_needed() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import pixelmill.plugin.base_iterator\n"
        "try: import pixelmill.plugin.pytorch\n"
        "except pixelmill.MissingDependency as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "torch is not installed; it comes with: pip install 'pixelmill[torch]'\n"
