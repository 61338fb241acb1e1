"""Batches that actors run: one order whatever happens to them. The cluster is a fake, so any moment can be tried."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_ray import FakeActor, FakeRay
from PIL import Image

from pixelmill import ArgumentError, DataError, EngineError, Loader, Pipeline, fn, pipeline_def
from pixelmill.pipeline.remote_program import RemoteProgram, describe
from pixelmill.ray import crew, engine
from pixelmill.ray import workers as workers_module
from pixelmill.ray.shared_memory import Piece, Proof
from pixelmill.ray.workers import RayWorkers

NAMES = ["images", "labels", "draws"]
COUNT = 23


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("images")
    paths = [folder / f"{number:02}.jpg" for number in range(COUNT)]
    for number, path in enumerate(paths):
        Image.fromarray(np.random.default_rng(number).integers(0, 256, (20, 24, 3), np.uint8)).save(path)
    return list(map(str, paths))


@pytest.fixture(params=["shared memory", "object store"])
def ray(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    """A cluster on this host, whose actors share memory, or on other hosts."""
    fake = FakeRay()
    monkeypatch.setattr(workers_module, "connect", lambda address: (fake, False))
    if request.param == "object store":
        monkeypatch.setattr(crew, "is_here", lambda proof: False)
    return fake


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=3)
def train(files: list[str]) -> Any:
    encoded, labels = fn.readers.file(files=files, random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=96)  # 3 of them are above 64 KiB
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels, fn.random.uniform(range=[0, 1])


def digests(batches: Iterator[Any]) -> list[str]:
    return [
        hashlib.blake2b(b"".join(np.ascontiguousarray(value).tobytes() for value in batch.values())).hexdigest()
        for batch in batches
    ]


def epochs(loader: Loader, count: int = 2) -> list[str]:
    return [digest for _ in range(count) for digest in digests(iter(loader))]


@pytest.mark.parametrize(("actors", "in_flight"), [(1, 1), (2, 3), (5, 2)])
def test_the_epoch_is_that_of_the_same_pipeline_without_workers(
    files: list[str], ray: FakeRay, actors: int, in_flight: int
) -> None:
    expected = epochs(Loader(train(files), NAMES))
    with RayWorkers(actors, in_flight=in_flight) as workers:
        loader = Loader(train(files), NAMES, workers=workers)
        assert epochs(loader) == expected
        assert len(ray.actors) == actors
        used = [actor.runs for actor in ray.actors]
    assert min(used) > 0
    assert all(actor.is_dead for actor in ray.actors)


def test_batches_can_be_changed_in_place(files: list[str], ray: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    def get_frozen(reference: Any, get: Any = ray.get) -> object:  # as the object store does
        found = get(reference)
        if isinstance(found, tuple) and not isinstance(found, Proof):
            for data in found[0]:
                if isinstance(data, np.ndarray):
                    data.flags.writeable = False
        return found

    monkeypatch.setattr(ray, "get", get_frozen)
    batch = next(iter(Loader(train(files), NAMES, workers=RayWorkers(1))))
    batch["images"][:] = 0
    batch["labels"][:] = 0


@pytest.mark.parametrize("moment", range(14))
def test_an_actor_may_die_at_any_moment(files: list[str], ray: FakeRay, moment: int) -> None:
    expected = epochs(Loader(train(files), NAMES))
    given: list[FakeActor] = []

    def die(actor: FakeActor) -> None:
        given.append(actor)
        if len(given) == moment + 1:
            actor.is_dead = True

    ray.on_run = die
    workers = RayWorkers(2, in_flight=2)
    loader = Loader(train(files), NAMES, workers=workers)
    assert epochs(loader) == expected
    assert sum(actor.is_dead for actor in ray.actors) == 1
    assert len(ray.actors) == 3  # one was started in its place
    assert len(given) <= 12 + 4 + 2  # those of two epochs, four ahead, and the two of the lost actor again


def test_nodes_that_die_leave_their_batches_to_others_if_there_is_no_room_for_new_actors(
    files: list[str], ray: FakeRay
) -> None:
    expected = epochs(Loader(train(files), NAMES))
    ray.room = 3
    loader = Loader(train(files), NAMES, workers=RayWorkers(3, in_flight=2))
    batches = iter(loader)
    found = digests(islice(batches, 2))
    ray.room = 1
    for actor in ray.actors[:2]:
        actor.is_dead = True
    found += digests(batches)
    assert found + epochs(loader, 1) == expected


def test_actors_that_start_late_join(files: list[str], ray: FakeRay) -> None:
    ray.room = 1
    batches = iter(Loader(train(files), NAMES, workers=RayWorkers(2, in_flight=2)))
    first = digests(islice(batches, 2))
    assert ray.actors[1].runs == 0
    ray.room = 2
    found = first + digests(batches)
    assert ray.actors[1].runs > 0
    assert found == epochs(Loader(train(files), NAMES), 1)


def test_batches_in_flight_are_bounded(files: list[str], ray: FakeRay) -> None:
    loader = Loader(train(files * 20), NAMES, workers=RayWorkers(2, in_flight=3))
    batches = iter(loader)
    for taken in range(1, 30):
        next(batches)
        assert sum(actor.runs for actor in ray.actors) <= taken + 6


def test_a_state_continues_on_other_workers_and_without(files: list[str], ray: FakeRay) -> None:
    expected = epochs(Loader(train(files), NAMES))
    loader = Loader(train(files), NAMES, workers=RayWorkers(2))
    batches = iter(loader)
    first = digests(islice(batches, 2))
    state = json.loads(json.dumps(loader.state_dict()))
    for workers in (None, RayWorkers(3, in_flight=1)):
        other = Loader(train(files), NAMES, workers=workers)
        other.load_state_dict(state)
        assert first + epochs(other) == expected


def test_pipelines_share_workers_though_one_of_them_waits(files: list[str], ray: FakeRay) -> None:
    expected = epochs(Loader(train(files), NAMES))
    workers = RayWorkers(2, in_flight=1)
    waiting = iter(Loader(train(files[::-1]), NAMES, workers=workers))
    next(waiting)
    assert epochs(Loader(train(files), NAMES, workers=workers)) == expected
    assert len(digests(waiting)) == 5


def test_an_actor_that_has_dropped_a_program_gets_its_description_again(files: list[str], ray: FakeRay) -> None:
    workers = RayWorkers(1, in_flight=1)
    loaders = [Loader(train(files, seed=seed), NAMES, workers=workers) for seed in range(6)]
    epochs = [iter(loader) for loader in loaders]
    found = [digests(islice(epoch, 1)) for _ in range(6) for epoch in epochs]
    here = [iter(Loader(train(files, seed=seed), NAMES)) for seed in range(6)]
    assert found == [digests(islice(epoch, 1)) for _ in range(6) for epoch in here]


def test_a_random_seed_is_that_of_the_state(files: list[str], ray: FakeRay) -> None:
    loader = Loader(train(files, seed=-1), NAMES, workers=RayWorkers(2))
    state = loader.state_dict()
    first = epochs(loader)
    other = Loader(train(files, seed=-1), NAMES, workers=RayWorkers(2))
    other.load_state_dict(state)
    assert epochs(other) == first


def test_a_loop_that_is_left_starts_the_next_epoch(files: list[str], ray: FakeRay) -> None:
    expected = epochs(Loader(train(files), NAMES), 3)
    loader = Loader(train(files), NAMES, workers=RayWorkers(2))
    next(iter(loader))
    assert epochs(loader, 1) == expected[6:12]
    loader.set_epoch(0)
    assert epochs(loader, 1) == expected[:6]
    assert len(ray.actors) == 2


def test_policies_for_bad_samples_work_here(files: list[str], ray: FakeRay, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"nothing")
    some = [*files, str(bad)]
    for policy in ("skip", "fill"):
        here, there = Loader(train(some, on_error=policy), NAMES), train(some, on_error=policy)
        expected = [digests(iter(here)) for _ in range(2)]
        loader = Loader(there, NAMES, workers=RayWorkers(2))
        assert [digests(iter(loader)) for _ in range(2)] == expected
        assert [str(event) for event in loader.errors.events] == [str(event) for event in here.errors.events]
        assert loader.errors.events[0].path == str(bad)
    with pytest.raises(DataError, match=r"bad\.jpg"):
        epochs(Loader(train(some), NAMES, workers=RayWorkers(2)))


def test_iterators_of_frameworks_use_workers(files: list[str], ray: FakeRay) -> None:
    from pixelmill.plugin.pytorch import DALIGenericIterator

    def batches(pipe: Pipeline) -> list[bytes]:
        iterator = DALIGenericIterator(pipe, NAMES, reader_name="Reader", exact=True)
        return [batch["images"].numpy().tobytes() for (batch,) in iterator]

    assert batches(RayWorkers(2).attach(train(files))) == batches(train(files))
    assert sum(actor.runs for actor in ray.actors) >= 6


def test_sources_are_fed_here(ray: FakeRay) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=0)
    with pipe:
        pipe.set_outputs(fn.external_source(name="data") * 2)
    RayWorkers(2).attach(pipe)
    for number in range(5):
        pipe.feed_input("data", np.full((2, 1), number, np.int32))
        assert pipe.run()[0].as_array().tolist() == [[number * 2]] * 2


def test_a_batch_that_ends_every_actor_is_given_up(files: list[str], ray: FakeRay) -> None:
    def die(actor: FakeActor) -> None:
        actor.is_dead = True

    ray.on_run = die
    with pytest.raises(EngineError, match="5 actors were lost while they ran the same batch"):
        epochs(Loader(train(files), NAMES, workers=RayWorkers(2)))


def test_a_cluster_without_room_is_named(files: list[str], ray: FakeRay) -> None:
    ray.room = 0
    with pytest.raises(EngineError, match=r"no actor has started within 0\.1 seconds\. Each needs 2 CPU, 1 cpu_node"):
        epochs(Loader(train(files), NAMES, workers=RayWorkers(2, threads=2, resources={"cpu_node": 1}, timeout=0.1)))


def test_actors_take_what_they_are_said_to_need(ray: FakeRay) -> None:
    RayWorkers(1, threads=4, in_flight=2, resources={"cpu_node": 0.5})
    assert ray.options["num_cpus"] == 4
    assert ray.options["resources"] == {"cpu_node": 0.5}
    assert ray.options["max_concurrency"] == 2


@pytest.mark.parametrize("wrong", [{"actors": 0}, {"threads": 0}, {"in_flight": 0}, {"timeout": 0}, {"actors": 1.5}])
def test_numbers_that_make_no_sense_are_refused(ray: FakeRay, wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=f"RayWorkers: {next(iter(wrong))} must be"):
        RayWorkers(**{"actors": 1, **wrong})


def test_closed_workers_are_refused(files: list[str], ray: FakeRay) -> None:
    workers = RayWorkers(1)
    workers.close()
    workers.close()
    with pytest.raises(EngineError, match="closed"):
        Loader(train(files), NAMES, workers=workers)


@pytest.fixture
def near(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    """A cluster on this host."""
    fake = FakeRay()
    monkeypatch.setattr(workers_module, "connect", lambda address: (fake, False))
    return fake


@pytest.fixture
def inodes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The files of shared memory that were mapped, in order."""
    found: list[int] = []

    def receive(sent: Any, *rest: Any, receive: Any = engine.receive) -> Any:
        found.extend(data.inode for data in sent if isinstance(data, Piece))
        return receive(sent, *rest)

    monkeypatch.setattr(engine, "receive", receive)
    return found


def test_memory_is_shared_if_the_user_has_not_forbidden_it(files: list[str], near: FakeRay, inodes: list[int]) -> None:
    expected = epochs(Loader(train(files), NAMES))
    for shared_memory in (True, False):
        with RayWorkers(2, shared_memory=shared_memory) as workers:
            workers.wait_for_actors()
            assert workers.sharing == (2 if shared_memory else 0)
            inodes.clear()
            assert epochs(Loader(train(files), NAMES, workers=workers)) == expected
            assert bool(inodes) == shared_memory


def test_memory_is_used_again_for_the_next_batches(files: list[str], near: FakeRay, inodes: list[int]) -> None:
    workers = RayWorkers(2, in_flight=2)
    loader = Loader(train(files * 4), NAMES, workers=workers)
    for _ in range(2):
        for batch in loader:
            batch["images"] += 1
    assert len(inodes) >= 46
    # Those in progress, the one that the loop has, and those whose tickets go back with the next call.
    assert len(set(inodes)) <= 10
    assert sum(len(actor.made._lender._lent) for actor in near.actors) <= 10


def test_batches_that_are_kept_stay_as_they_are_in_bounded_memory(
    files: list[str], near: FakeRay, inodes: list[int]
) -> None:
    some = files * 4
    expected = [batch["images"] for batch in Loader(train(some), NAMES)]
    kept = [batch["images"] for batch in Loader(train(some), NAMES, workers=RayWorkers(2, in_flight=2))]
    for mine, theirs in zip(kept, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert len(kept) == 23
    assert len(set(inodes)) <= 16  # four that are kept, and those in progress
    shared = [batch for batch in kept if not batch.flags.owndata]
    assert len(shared) == 4


def test_memory_comes_back_though_something_refers_to_the_batch_in_progress(
    files: list[str], near: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending: list[Any] = []

    def kept(*arguments: Any, kind: Any = engine.Pending) -> Any:
        pending.append(kind(*arguments))
        return pending[-1]

    monkeypatch.setattr(engine, "Pending", kept)
    loader = Loader(train(files * 4), NAMES, workers=RayWorkers(1, in_flight=2))
    assert not any(batch["images"].flags.owndata for batch in loader)
    assert len(pending) >= 23


def test_actors_that_end_are_forgotten(files: list[str], near: FakeRay) -> None:
    workers = RayWorkers(2)
    loans = workers._crew.loans
    assert loans is not None
    batches = iter(Loader(train(files), NAMES, workers=workers))
    batch = next(batches)
    before = batch["images"].copy()
    assert loans._mappings and loans._to_return
    workers.close()
    assert not loans._mappings and not loans._to_return
    np.testing.assert_array_equal(batch["images"], before)


def test_batches_that_nobody_takes_give_back_their_memory(files: list[str], near: FakeRay) -> None:
    workers = RayWorkers(2, in_flight=2)
    loader = Loader(train(files), NAMES, workers=workers)
    for _ in range(20):
        next(iter(loader))
    assert sum(len(actor.made._lender._lent) for actor in near.actors) <= 12


def test_memory_that_cannot_be_mapped_is_not_used(
    files: list[str], near: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def receive(sent: Any, *rest: Any, receive: Any = engine.receive, calls: list[int] = []) -> Any:  # noqa: B006
        calls.append(1)
        if len(calls) > 3:
            raise OSError("too many open files")
        return receive(sent, *rest)

    monkeypatch.setattr(engine, "receive", receive)
    expected = epochs(Loader(train(files), NAMES))
    workers = RayWorkers(2, in_flight=2)
    assert epochs(Loader(train(files), NAMES, workers=workers)) == expected
    assert workers.sharing == 0
    assert len(near.actors) == 2


@pytest.mark.parametrize("shares", [True, False])
def test_the_engine_of_an_actor_writes_to_shared_memory(files: list[str], shares: bool) -> None:
    program = RemoteProgram(describe(train(files)).description, seed=3, threads=1, shares=shares)
    who = np.zeros(4, np.uint32), np.arange(4, dtype=np.uint64), np.arange(4, dtype=np.int64)[:, None]
    (images, labels, _), _ = program.run(*who)
    assert isinstance(images, np.ndarray) and isinstance(labels, np.ndarray)
    assert (program.executor.shared_file(images) is not None) == shares
    assert program.executor.shared_file(labels) is None  # small ones are sent
    program.close()
