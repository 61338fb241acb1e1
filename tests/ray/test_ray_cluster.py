"""Remote preprocessing and Ray Data on a cluster of three nodes, one of which dies in the middle of an epoch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from locations import ROOT, SUPPORT
from peers import needs
from ray_programs import NAMES, digest, per_row, sources, train, two_epochs

from pixelmill import Loader, convert
from pixelmill.create import create_photo_folder
from pixelmill.formats.registry import open_dataset

pytestmark = needs("ray", "torch")

PROGRAM = """
import contextlib, io, json, os, runpy, signal, sys
from itertools import islice
from pathlib import Path
import ray, ray.data
from ray.cluster_utils import Cluster
from pixelmill import Loader
from pixelmill.errors import DataError, EngineError
from pixelmill.plugin.pytorch import DALIGenericIterator
from pixelmill.ray import RayWorkers, map_pipeline, map_recipe, read_dataset
from ray_programs import NAMES, by_number, digest, per_row, sources, train, two_epochs

folder = Path(sys.argv[1])
store = {"object_store_memory": 90 << 20}
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, **store})
nodes = [cluster.add_node(num_cpus=1, resources={"preprocessing": 1}, **store) for _ in range(2)]
ray.init(address=cluster.address, log_to_driver=False)
said = {}
ray.data.DataContext.get_current().enable_progress_bars = False

with RayWorkers(2, resources={"preprocessing": 1}, in_flight=2) as workers:
    workers.wait_for_actors()
    members = list(workers._crew.members)
    places = {ray.get(member.handle.node.remote()): member for member in members}
    said["nodes"] = len(places)
    said["sharing"] = workers.sharing
    loader = Loader(train(str(folder / "files")), NAMES, workers=workers)

    def kill(number):
        if number == 2:  # an actor may outlive the daemon of its node for a while, but not a real node
            os.kill(places[nodes[0].node_id].process, signal.SIGKILL)
            cluster.remove_node(nodes[0], allow_graceful=False)

    said["epochs"] = two_epochs(loader, kill)
    said["lost"] = len([member for member in members if member not in workers._crew.members])

    def kill_actor(number):
        if number == 3:
            (member,) = [member for member in workers._crew.members if member.is_ready]
            os.kill(member.process, signal.SIGKILL)

    said["actor killed"] = two_epochs(Loader(train(str(folder / "files")), NAMES, workers=workers), kill_actor)

    resumed = Loader(train(str(folder / "files")), NAMES, workers=workers)
    batches = iter(resumed)
    first = digest(islice(batches, 3))
    state = json.loads(json.dumps(resumed.state_dict()))
    again = Loader(train(str(folder / "files")), NAMES, workers=workers)
    again.load_state_dict(state)
    said["resumed"] = first + two_epochs(again)

    pipe = workers.attach(train(str(folder / "files")))
    iterator = DALIGenericIterator(pipe, NAMES, reader_name="Reader", exact=True)
    said["torch"] = digest({name: value.numpy() for name, value in batch.items()} for (batch,) in iterator)

    late = next(path for path in sorted((folder / "files").iterdir()) if path.is_dir()) / "late.jpg"
    try:
        late.write_bytes(b"no image")
        found = Loader(train(str(folder / "files")), NAMES, workers=workers)
        two_epochs(found)
    except DataError as error:
        said["bad"] = str(error)
    late.unlink()

with RayWorkers(1, resources={"preprocessing": 1}, shared_memory=False) as workers:
    workers.wait_for_actors()
    (member,) = workers._crew.members
    process = ray.get(member.handle.ready.remote()).process
    stop = lambda number: os.kill(process, signal.SIGKILL) if number == 3 else None
    said["store"] = two_epochs(Loader(train(str(folder / "files")), NAMES, workers=workers), stop)
    said["store lost"] = member not in workers._crew.members

example = sys.argv[2]
sys.argv = [example, "--data", str(folder / "files"), "--actors", "1", "--epochs", "1"]
with contextlib.redirect_stdout(io.StringIO()) as printed:
    runpy.run_path(example, run_name="__main__")
said["example"] = printed.getvalue()

for name, path in sources(folder).items():
    rows = read_dataset(path, override_num_blocks=4)
    said[name] = by_number(rows.take_all(), "image")
    if name == "tfrecord":
        options = {"batch_size": 3, "keep": ["number", "label"]}
        mapped = map_pipeline(rows, per_row(), ["pixels", "draw"], **options).take_all()
        said["pixels"], said["draws"] = by_number(mapped, "pixels"), by_number(mapped, "draw")
        said["labels"] = {str(row["number"]): [int(label) for label in row["label"]] for row in mapped}
        said["recipe"] = by_number(map_recipe(rows, "gentle", seed=4, batch_size=5).take_all(), "image")
(folder / "said.json").write_text(json.dumps(said))
ray.shutdown()
cluster.shutdown()
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("ray")
    create_photo_folder(folder / "files", 45, size_mean=(60, 70), classes=3)
    convert(folder / "files", folder / "tfrecord", to="tfrecord")
    convert(folder / "files", folder / "tar", to="webdataset")
    result = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            PROGRAM,
            str(folder),
            str(ROOT / "examples" / "clusters" / "train_ray.py"),
        ],
        env={**os.environ, "PYTHONPATH": str(SUPPORT), "RAY_DISABLE_IMPORT_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "said.json").read_text("utf-8"))
    return {**found, "root": folder}


def test_epochs_are_exact_though_a_node_dies(said: dict[str, Any]) -> None:
    assert said["nodes"] == 2
    assert said["lost"] == 1
    assert said["epochs"] == two_epochs(Loader(train(str(said["root"] / "files")), NAMES))
    assert len(said["epochs"]) == 16


def test_actors_on_other_nodes_of_this_host_share_memory(said: dict[str, Any]) -> None:
    assert said["sharing"] == 2


def test_epochs_are_exact_though_an_actor_is_killed(said: dict[str, Any]) -> None:
    assert said["actor killed"] == said["epochs"]


def test_epochs_are_exact_through_the_object_store(said: dict[str, Any]) -> None:
    assert said["store"] == said["epochs"]
    assert said["store lost"]


def test_a_state_of_the_middle_of_an_epoch_continues(said: dict[str, Any]) -> None:
    assert said["resumed"] == said["epochs"]


def test_the_iterator_for_pytorch_gets_the_same_batches(said: dict[str, Any]) -> None:
    from pixelmill.plugin.pytorch import DALIGenericIterator

    batches = DALIGenericIterator(train(str(said["root"] / "files")), NAMES, reader_name="Reader", exact=True)
    expected = digest({name: value.numpy() for name, value in batch.items()} for (batch,) in batches)
    assert said["torch"] == expected


def test_a_bad_sample_is_named(said: dict[str, Any]) -> None:
    assert "late.jpg" in said["bad"]
    assert "ray_programs.py" in said["bad"]


def test_the_example_trains(said: dict[str, Any]) -> None:
    lines = said["example"].splitlines()  # Ray prints of its nodes, too
    assert any(line.startswith("epoch 0: 45 samples, loss ") for line in lines)


@pytest.mark.parametrize("name", ["folder", "tfrecord", "tar"])
def test_every_sample_is_a_row_once(said: dict[str, Any], name: str) -> None:
    from ray_programs import by_number

    dataset = open_dataset(sources(said["root"])[name])
    rows = [{"number": number, "image": sample.image} for number, sample in enumerate(dataset)]
    assert said[name] == by_number(rows, "image")
    assert len(said[name]) == 45


def test_a_map_depends_on_the_number_of_a_sample_alone(said: dict[str, Any]) -> None:
    from ray_programs import by_number

    from pixelmill.pipeline.remote_program import RemoteProgram, describe

    dataset = open_dataset(sources(said["root"])["tfrecord"])
    program = RemoteProgram(describe(per_row()).description, seed=9, threads=1)
    for number, sample in enumerate(dataset):
        who = np.zeros(1, np.uint32), np.array([number], np.uint64), np.empty((1, 0), np.int64)
        (pixels, draw), _ = program.run(*who, [[np.frombuffer(sample.image, np.uint8)]])
        assert said["pixels"] | by_number([{"number": number, "pixels": pixels[0]}], "pixels") == said["pixels"]
        assert said["draws"] | by_number([{"number": number, "draw": draw[0]}], "draw") == said["draws"]
        assert said["labels"][str(number)] == list(sample.labels)


def test_a_recipe_is_applied(said: dict[str, Any]) -> None:
    assert len(said["recipe"]) == 45
    assert said["recipe"] != said["tfrecord"]
