"""Relative paths start from the working folder in which a dataset was opened, and are shown as they were given."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from dataset_cases import plain_samples, write

from pixelmill import ImageLoader, Pipeline, fn
from pixelmill.conversion import convert
from pixelmill.errors import DataError
from pixelmill.formats.path_table import PathTable
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.storage import anchored


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def written(format: str) -> str:
    """Write a dataset and return its relative path."""
    samples = plain_samples()
    options = {"classes": ["ant", "bee", "cat"]} if format == "folder" else {}
    return os.path.relpath(write(Path("data").absolute(), format, samples, **options))


@pytest.mark.parametrize("format", FORMATS)
def test_every_container_is_read_after_the_working_folder_has_changed(format: str) -> None:
    path = written(format)
    before = list(open_dataset(path))
    dataset = open_dataset(path)
    os.chdir("elsewhere")
    for opened in (dataset, pickle.loads(pickle.dumps(dataset))):
        assert [sample.image for sample in opened] == [sample.image for sample in before]
        assert [opened.size(number) for number in range(len(opened))]
        assert opened.raw(0)
        assert opened.classes == dataset.classes
        assert not any(Path(file).is_absolute() for file in (*opened.files, opened.locate(0)[0]))


@pytest.mark.parametrize("format", FORMATS)
def test_a_pipeline_reads_ahead_after_the_working_folder_has_changed(format: str) -> None:
    pipe = Pipeline(4, 2, 0, seed=1)
    with pipe:
        pipe.set_outputs(fn.readers.dataset(path=written(format), columns=["image"])["image"])
    pipe.build()
    os.chdir("elsewhere")
    for _ in range(3):
        (images,) = pipe.run()
        assert len(images.at(0))


def test_the_loader_and_the_reader_of_files(inside: Path) -> None:
    written("folder")
    loader = ImageLoader("data", size=8, batch_size=3, framework="numpy")
    pipe = Pipeline(2, 1, 0, seed=1)
    with pipe:
        pipe.set_outputs(*fn.readers.file(file_root="data"))
    pipe.build()
    batches = iter(loader)
    next(batches)
    os.chdir("elsewhere")
    assert sum(len(batch[0]) for batch in batches) == 9
    (files, _) = pipe.run()
    assert bytes(files.at(0)) == (inside / "data/ant/0000.jpg").read_bytes()


def test_messages_show_paths_as_they_were_given() -> None:
    path = written("folder")
    dataset = open_dataset(path)
    gone = Path("data/ant/0000.jpg")
    gone.unlink()
    os.chdir("elsewhere")
    with pytest.raises(DataError) as caught:
        dataset.sample(0)
    assert caught.value.events[0].path == "data/ant/0000.jpg"
    assert "elsewhere" not in str(caught.value)
    assert str(gone.parent.absolute()) not in str(caught.value)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_is_left_while_it_runs(workers: int, inside: Path) -> None:
    written("folder")
    convert("data", "straight", to="tfrecord", samples_per_shard=2, workers=1)
    moved: list[object] = []

    def leave(progress: object) -> None:
        moved.append(progress)
        os.chdir(inside / "elsewhere")

    report = convert("data", "out", to="tfrecord", samples_per_shard=2, workers=workers, on_progress=leave)
    assert moved
    assert report.parts[""].complete
    assert report.samples == 12
    assert not list((inside / "elsewhere").iterdir())
    for made in sorted((inside / "straight").glob("*.tfrecord")):
        assert (inside / "out" / made.name).read_bytes() == made.read_bytes()


def test_the_plan_of_a_job_does_not_depend_on_where_it_was_started(inside: Path) -> None:
    written("folder")
    first = convert("data", "one", to="zip")
    os.chdir("elsewhere")
    second = convert("../data", "two", to="zip")
    assert first.parts[""].job == second.parts[""].job


def test_tables_of_paths() -> None:
    assert list(PathTable.of(["a", "b/c"]).anchored("/x")) == ["/x/a", "/x/b/c"]
    assert list(PathTable.of(["a"], "d/").anchored("/x")) == ["/x/d/a"]
    assert list(PathTable.of(["/a", "b", "", "s3://c/d"]).anchored("/x")) == ["/a", "/x/b", "", "s3://c/d"]
    assert list(PathTable.of(["a"], "s3://b/").anchored("/x")) == ["s3://b/a"]
    assert anchored("a", "") == "a"


def test_a_working_folder_that_is_gone(inside: Path) -> None:
    written("folder")
    (inside / "gone").mkdir()
    os.chdir(inside / "gone")
    (inside / "gone").rmdir()
    dataset = open_dataset(inside / "data")
    assert len(dataset.sample(0).image)
