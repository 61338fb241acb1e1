"""Parquet files at addresses are read by groups of rows, and labels without images."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, plain_samples, write
from loopback_s3 import LoopbackS3
from peers import peer
from remote_datasets import served
from remote_reads import note_announcements, round_trips, training_batches, were_announced

from pixelmill import convert
from pixelmill.create import create_images
from pixelmill.errors import DataError
from pixelmill.formats import columns
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.index import Ragged
from pixelmill.formats.parquet import remote, writer
from pixelmill.formats.registry import open_dataset
from pixelmill.storage import announced_reads
from pixelmill.storage.ranges import Range

pa = peer("pyarrow")
pq = peer("pyarrow.parquet")

COUNT, PER_FILE, PER_GROUP = 20, 8, 3
NAMES = ("ours", "others", "bare")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two datasets of several files and groups, one of which says its classes by name; and a file of images alone."""
    folder = tmp_path_factory.mktemp("local")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_GROUP_ROWS", PER_GROUP)
        create_images(folder / "photos", "i", 400, 320, COUNT, "jpg", 5, classes=3, workers=1)
        convert(folder / "photos", folder / "ours", to="parquet", samples_per_shard=PER_FILE, workers=1)
    images = [path.read_bytes() for path in sorted((folder / "photos").rglob("*.jpg"))]
    for name in ("others", "bare"):
        (folder / name).mkdir()
    for number in range(3):
        part = images[number * PER_FILE : (number + 1) * PER_FILE]
        named = [{"bytes": data, "path": f"{number}-{at}.jpg"} for at, data in enumerate(part)]
        cells = {"image": named, "species": ["b", "a"] * (len(part) // 2), "weight.kg": list(range(len(part)))}
        path = folder / "others" / f"train-{number:05d}-of-00003.parquet"
        pq.write_table(pa.table(cells), path, row_group_size=PER_GROUP, use_dictionary=["species"], compression="zstd")
    pq.write_table(pa.table({"image": images}), folder / "bare" / "x.parquet", row_group_size=PER_GROUP)
    return folder


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(announced_reads, "_GAP", 512)
    monkeypatch.setattr(remote, "_END", 1 << 16)  # usually more than these files have
    with served(local) as found:
        yield found


def read_bytes(server: LoopbackS3) -> int:
    return sum(end - begin for key, begin, end in server.log if key.endswith(".parquet"))


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[Range]:
    return note_announcements(monkeypatch)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))


def same(found: Dataset, expected: Dataset) -> bool:
    return [vars(sample) for sample in found] == [vars(sample) for sample in expected]


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_those_of_local_files(name: str, server: LoopbackS3, local: Path) -> None:
    found, expected = open_dataset(f"s3://data/{name}"), open_dataset(local / name)
    assert (len(found), found.layout, found.classes) == (len(expected), expected.layout, expected.classes)
    assert read_bytes(server) < 0.4 * size_of(local / name)
    found.expect(range(len(found)))
    assert same(found, expected)
    assert read_bytes(server) < 1.4 * size_of(local / name)
    assert [found.size(number) for number in range(COUNT)] == [expected.size(number) for number in range(COUNT)]


@pytest.mark.parametrize("name", NAMES)
def test_announced_groups_are_read_once(name: str, server: LoopbackS3, local: Path) -> None:
    """Also if further samples are announced in the middle of a group, as each shard of a job does."""
    found = open_dataset(f"s3://data/{name}")
    server.reset()
    images = []
    for first in range(0, COUNT, 5):
        found.expect(range(first, COUNT))
        images += [found.sample(number).image for number in range(first, first + 5)]
    assert images == [sample.image for sample in open_dataset(local / name)]
    assert read_bytes(server) <= size_of(local / name)
    assert len(server.log) <= 3 + 2


@pytest.mark.parametrize("name", NAMES)
def test_random_access_gives_the_same_samples(name: str, server: LoopbackS3, local: Path) -> None:
    found, expected = open_dataset(f"s3://data/{name}"), open_dataset(local / name)
    order = np.random.default_rng(1).permutation(COUNT).tolist()
    found.expect(order)
    for number in order:
        assert vars(found.sample(number)) == vars(expected.sample(number))


@pytest.mark.parametrize("is_local", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_descriptions_read_no_image(
    name: str, is_local: bool, server: LoopbackS3, local: Path, announced: list[Range]
) -> None:
    found, expected = open_dataset(local / name if is_local else f"s3://data/{name}"), open_dataset(local / name)
    server.reset()
    found.expect_descriptions(range(COUNT))
    for number in range(COUNT):
        description, sample = found.description(number), expected.sample(number)
        assert (description.image, description.mask) == (b"", None)
        assert (description.labels, description.class_name) == (sample.labels, sample.class_name)
        assert description.boxes == sample.boxes
    assert read_bytes(server) < 0.1 * size_of(local / name)
    assert were_announced(server.log, announced) is (not is_local and name != "bare")  # which has images alone


def test_labels_are_collected_without_images(server: LoopbackS3, local: Path, announced: list[Range]) -> None:
    found = open_dataset("s3://data/others")  # whose classes are those of all labels
    known = [item for item in server.log if item[2] - item[1] < 1000]  # without first bytes and ends
    assert were_announced(known, announced)
    labels = columns.column_index(found, ["label"]).columns["label"]
    assert isinstance(labels, Ragged) and labels.rows.tolist() == [1, 0] * (COUNT // 2)
    assert read_bytes(server) < 0.5 * size_of(local / "others")


@pytest.mark.parametrize("to", ["tfrecord", "folder"])
@pytest.mark.parametrize("name", NAMES)
def test_conversions_give_the_same_bytes(name: str, to: Any, server: LoopbackS3, local: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for source, target in ((str(local / name), here), (f"s3://data/{name}", there)):
        convert(source, target, to=to, samples_per_shard=7, workers=1)
    written = [path.relative_to(here) for path in here.rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert len(written) >= 6
    for path in written:
        assert (there / path).read_bytes() == (here / path).read_bytes()
    assert read_bytes(server) < (1.5 if to == "tfrecord" else 2.7) * size_of(local / name)  # names take a look before


@pytest.mark.parametrize("name", ["ours", "others"])
def test_training_reads_the_same_images(name: str, server: LoopbackS3, local: Path) -> None:
    found = [
        training_batches(path, ["image", "label"], server.options) for path in (f"s3://data/{name}", str(local / name))
    ]
    assert found[0] == found[1]


def test_a_damaged_page_loses_its_group(server: LoopbackS3, local: Path) -> None:
    (key,) = [key for key in server.objects if key.startswith("data/ours/data-00000")]
    expected = open_dataset(local / "ours")
    data = bytearray(server.objects[key])
    data[data.index(expected.sample(4).image[-60:]) + 5] ^= 255
    server.put(key, bytes(data))
    found = open_dataset("s3://data/ours")
    found.expect(range(COUNT))
    for number in range(COUNT):
        if 3 <= number < 6:
            with pytest.raises(DataError, match=r"data-00000.*\.parquet") as caught:
                found.sample(number)
            assert (caught.value.events[0].kind, caught.value.events[0].sample) == ("corrupt", number)
        else:
            assert vars(found.sample(number)) == vars(expected.sample(number))


@pytest.mark.parametrize("length", [4, 40, -1, -200])
def test_a_cut_file_is_refused_by_name(length: int, server: LoopbackS3) -> None:
    (key,) = [key for key in server.objects if key.startswith("data/ours/data-00000")]
    server.put(key, server.objects[key][:length])
    server.reset()
    with pytest.raises(DataError, match=r"parquet: s3://.*\.parquet cannot be read"):
        open_dataset("s3://data/ours")
    assert length > 0 or all(end - begin < len(server.objects[key]) for key, begin, end in server.log)


def test_random_damage_gives_the_right_sample_or_an_error(
    tmp_path: Path, server: LoopbackS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of the description at the end, which says where the columns are."""
    monkeypatch.setattr(writer, "_GROUP_ROWS", 2)
    samples = plain_samples(6)
    data = (write(tmp_path / "x", "parquet", samples) / "data.parquet").read_bytes()
    rng = np.random.default_rng(5)
    about = int.from_bytes(data[-8:-4], "little") + 8
    found_errors = found_samples = 0
    for _ in range(150):
        damaged = bytearray(data)
        damaged[-rng.integers(1, about)] = rng.integers(256)
        damaged[rng.integers(len(data))] = rng.integers(256)
        server.put("data/damaged.parquet", bytes(damaged))
        (tmp_path / "damaged.parquet").write_bytes(damaged)
        results: list[list[object]] = []
        for path in ("s3://data/damaged.parquet", tmp_path / "damaged.parquet"):
            try:
                opened = open_dataset(path, "parquet")
            except DataError:
                results.append([])
                continue
            opened.expect(range(len(opened)))
            results.append([])
            for number in range(len(opened)):
                try:
                    results[-1].append(opened.sample(number).image)
                except DataError:
                    results[-1].append(None)
        assert results[0] == results[1]
        found_errors += results[0].count(None) or not results[0]
        found_samples += sum(image is not None for image in results[0])
    assert found_errors > 50 and found_samples > 50


def test_a_file_that_vanishes_is_an_io_fault_of_its_samples(server: LoopbackS3) -> None:
    found = open_dataset("s3://data/ours")
    server.faults.gone.add("data/ours/data-00001-of-00003.parquet")
    with pytest.raises(DataError, match=r"data-00001-of-00003\.parquet") as caught:
        found.sample(PER_FILE)
    assert (caught.value.events[0].kind, caught.value.events[0].sample) == ("io", PER_FILE)
    assert found.sample(0).image


def test_files_are_opened_together(server: LoopbackS3) -> None:
    """Three round trips: the listing, the first bytes, which say what kind of files these are, and the ends."""
    assert round_trips(server, lambda: open_dataset("s3://data/ours"), enough=3) == 3
    assert len(server.log) == 6


@pytest.mark.parametrize("is_local", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_can_go_to_another_process(name: str, is_local: bool, server: LoopbackS3, local: Path) -> None:
    dataset = open_dataset(local / name if is_local else f"s3://data/{name}")
    expected = [vars(sample) for sample in dataset]
    assert [vars(sample) for sample in pickle.loads(pickle.dumps(dataset))] == expected


def test_an_arrow_file_is_fetched(server: LoopbackS3, tmp_path: Path) -> None:
    images = [encoded("jpeg", seed=number) for number in range(3)]
    table = pa.table({"image": images, "label": [2, 0, 1]})
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as stream:
        stream.write_table(table)
    server.put("data/x.arrow", (tmp_path / "x.arrow").read_bytes())
    found = open_dataset("s3://data/x.arrow")
    found.expect(range(3))
    assert [(sample.image, sample.labels) for sample in found] == list(zip(images, [(2,), (0,), (1,)], strict=True))
