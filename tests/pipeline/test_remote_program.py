"""Pipelines as descriptions, which other processes make again."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pixelmill import ArgumentError, DataError, Loader, Pipeline, fn, pipeline_def, types
from pixelmill.pipeline.remote_program import RemoteProgram, describe, fingerprint, received
from pixelmill.types import Limits


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("images")
    paths = [folder / f"{number:02}.jpg" for number in range(7)]
    for number, path in enumerate(paths):
        pixels = np.random.default_rng(number).integers(0, 256, (30, 36 + number, 3), np.uint8)
        Image.fromarray(pixels).save(path)
    return list(map(str, paths))


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=11)
def train(files: list[str], storage_options: dict[str, str] | None = None) -> Any:
    encoded, labels = fn.readers.file(files=files, random_shuffle=True, storage_options=storage_options)
    first, second = fn.random.uniform(range=[0, 1]), fn.random.uniform(range=[0, 1])
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=16)
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels, first - second * 2


def samples(*numbers: int, epoch: int = 0) -> tuple[Any, Any, Any]:
    items = np.array(numbers, np.int64)
    return np.full(len(items), epoch, np.uint32), items.astype(np.uint64), items[:, None]


def in_another_process(description: bytes, seed: int) -> list[bytes]:
    program = RemoteProgram(description, seed=seed, threads=2)
    outputs, troubles = program.run(*samples(5, 0, 3, epoch=2))
    assert not troubles
    program.close()
    return [np.ascontiguousarray(data).tobytes() for data in outputs]


def test_a_spawned_process_makes_the_same_batch(files: list[str]) -> None:
    program = describe(train(files))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply(in_another_process, (program.description, 11))
    assert there == in_another_process(program.description, 11)
    assert there != in_another_process(program.description, 12)
    loader = Loader(train(files), ["images", "labels", "draws"])
    loader.set_epoch(2)
    items = {
        int(label[0]): image for batch in loader for label, image in zip(batch["labels"], batch["images"], strict=True)
    }
    assert there[0] == np.stack([items[5], items[0], items[3]]).tobytes()


def test_descriptions_differ_if_pipelines_do(files: list[str]) -> None:
    pipe = train(files)
    assert describe(pipe).key == describe(pipe).key
    assert describe(pipe).key != describe(train(files)).key != describe(train(files[1:])).key


def test_limits_are_those_of_the_pipeline(files: list[str]) -> None:
    program = describe(train(files, limits=Limits(side=20)))
    _, troubles = RemoteProgram(program.description, seed=1, threads=1).run(*samples(0))
    assert [trouble[1] for trouble in troubles] == ["too_large"]


def test_a_node_that_sees_other_data_is_refused(files: list[str], tmp_path: Path) -> None:
    listed = tmp_path / "list.txt"
    listed.write_text("".join(f"{path} 0\n" for path in files))

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=0)
    def from_list() -> Any:
        return fn.readers.file(file_list=str(listed))

    program = describe(from_list())
    RemoteProgram(program.description, seed=0, threads=1).close()
    listed.write_text("".join(f"{path} 0\n" for path in files[:-1]))
    with pytest.raises(DataError, match="6 samples, and 7 where the pipeline was created; all nodes must see"):
        RemoteProgram(program.description, seed=0, threads=1)
    listed.write_text("".join(f"{path} 0\n" for path in reversed(files)))
    with pytest.raises(DataError, match="looks different"):
        RemoteProgram(program.description, seed=0, threads=1)


def test_ranges_are_part_of_what_nodes_agree_on() -> None:
    from pixelmill.formats.index import Index

    zero, one, two = (np.array(numbers, np.int64) for numbers in ([0, 0], [0, 9], [9, 9]))
    base = fingerprint(Index(["a"], zero, one, two))
    assert fingerprint(Index(["a"], zero, one, two.copy())) == base
    others = [Index(["b"], zero, one, two), Index(["a"], zero, two, two), Index(["a"], zero, one, one)]
    assert all(fingerprint(other) != base for other in others)


def test_functions_cannot_be_described(files: list[str]) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def calls() -> Any:
        return fn.python_function(fn.readers.file(files=files)[0], function=lambda data: data)

    with pytest.raises(ArgumentError, match=r"workers: the graph cannot be sent to other processes.*Python function"):
        describe(calls())


def test_policies_for_errors_stay_here(files: list[str]) -> None:
    said = json.loads(json.loads(describe(train(files, on_error=lambda event: "skip")).description)["graph"])
    assert said["pipeline"]["on_error"] == "raise"


def test_credentials_are_described_but_not_saved(files: list[str]) -> None:
    pipe = train(files, storage_options={"key": "a-secret"})
    assert b"a-secret" in describe(pipe).description
    assert b"a-secret" not in pipe.serialize()


def test_problems_name_the_operator_of_the_users_line(files: list[str], tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"\xff\xd8\xff\xe0 not an image")
    program = describe(train([*files, str(bad)]))
    remote = RemoteProgram(program.description, seed=11, threads=1)
    _, troubles = remote.run(*samples(1, 7))
    (found,) = [received(trouble, program) for trouble in troubles]
    assert found.place == 1
    assert found.fatal
    assert found.origin is not None
    assert "test_remote_program.py" in str(found.origin.line)
    outputs, _ = remote.run(*samples(7), fill=True)
    assert np.ptp(np.asarray(outputs[0])) == 0


def test_inputs_are_matched_by_name() -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=0)
    with pipe:
        left, right = fn.external_source(name="left"), fn.external_source(name="right", dtype=types.INT64)
        pipe.set_outputs(right, left * 2)
    program = RemoteProgram(describe(pipe).description, seed=0, threads=1)
    given: dict[str, Any] = {"left": np.array([[1], [2]], np.int32), "right": np.array([[5], [6]], np.int64)}
    epochs, numbers, _ = samples(0, 1)
    outputs, _ = program.run(epochs, numbers, np.empty((2, 0), np.int64), [given[name] for name in program.input_names])
    assert [np.asarray(data).ravel().tolist() for data in outputs] == [[5, 6], [2, 4]]
