"""WebDataset archives at addresses are read in parts, as the index files beside them list their members."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loopback_s3 import LoopbackS3
from remote_datasets import served
from remote_reads import note_announcements, training_batches, were_announced

from pixelmill import convert
from pixelmill.create import create_images
from pixelmill.errors import DataError
from pixelmill.formats import columns, dataset
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.index import Ragged
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.selection import Selection
from pixelmill.storage import announced_reads
from pixelmill.storage.ranges import Range

COUNT, PER_ARCHIVE = 20, 8
FOLDER, LABELED = "s3://data/archives", "s3://data/labeled"  # with masks, with labels


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    create_images(folder / "photos", "i", 60, 50, COUNT, "jpg", 5, content="shapes", masks=True, workers=1)
    convert(folder / "photos", folder / "archives", to="webdataset", samples_per_shard=PER_ARCHIVE, workers=1)
    create_images(folder / "classes", "i", 60, 50, COUNT, "jpg", 5, classes=3, workers=1)
    convert(folder / "classes", folder / "labeled", to="webdataset", samples_per_shard=PER_ARCHIVE, workers=1)
    return folder


@pytest.fixture(autouse=True)
def no_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The images here are so small that skipping them takes longer than reading them."""
    monkeypatch.setattr(announced_reads, "_GAP", 512)


@pytest.fixture
def server(local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackS3]:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    with served(local) as found:
        yield found


def archive_bytes(server: LoopbackS3) -> int:
    """Return how many bytes of archives were asked for."""
    return sum(end - begin for key, begin, end in server.log if key.endswith(".tar"))


def are_whole(server: LoopbackS3) -> bool:
    """Whether any archive was asked for as a whole."""
    return any(end - begin == len(server.objects[key]) for key, begin, end in server.log if key.endswith(".tar"))


def labels(found: Dataset) -> Ragged:
    column = columns.column_index(found, ["label", "image"]).columns["label"]
    assert isinstance(column, Ragged)
    return column


def same(found: Dataset, expected: Dataset) -> bool:
    return [vars(sample) for sample in found] == [vars(sample) for sample in expected]


def test_opening_reads_the_ends_of_archives_alone(server: LoopbackS3, local: Path) -> None:
    """The first bytes say what kind of file it is, the last ones that the index file lists all of it."""
    found, expected = open_dataset(FOLDER), open_dataset(str(local / "archives"))
    assert archive_bytes(server) <= 3 * (1024 + 1024)
    assert (len(found), found.layout) == (COUNT, expected.layout)
    assert [found.size(number) for number in range(COUNT)] == [expected.size(number) for number in range(COUNT)]
    assert same(found, expected)


def test_archives_at_addresses_have_versions(server: LoopbackS3, local: Path) -> None:
    """Without one, what was fetched for training is not kept in the cache."""
    del server.objects["data/archives/data-00001-of-00003.idx"]
    first, fetched, last = open_dataset(FOLDER).index.versions
    assert [first, last] == [server.tags[f"data/archives/data-0000{number}-of-00003.tar"] for number in (0, 2)]
    assert fetched == ""
    assert set(open_dataset(str(local / "archives")).index.versions) <= {""}


def test_announced_samples_are_read_once_and_together(server: LoopbackS3, local: Path) -> None:
    found = open_dataset(FOLDER)
    server.reset()
    found.expect(range(COUNT))
    assert same(found, open_dataset(str(local / "archives")))
    assert archive_bytes(server) <= sum(path.stat().st_size for path in (local / "archives").glob("*.tar"))
    assert sum(key.endswith(".tar") for key, _, _ in server.log) == 3


@pytest.mark.parametrize("kept", [1, 1000])
def test_an_announcement_continues_the_one_before(
    kept: int, server: LoopbackS3, local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left of it is neither looked up nor fetched again, as far as that is kept."""
    monkeypatch.setattr(dataset, "_KNOWN_PARTS", kept)
    found = open_dataset(FOLDER)
    asked: list[int] = []
    parts = found._parts

    def noting(number: int) -> Iterator[Range]:
        asked.append(number)
        return parts(number)

    monkeypatch.setattr(found, "_parts", noting)
    server.reset()
    images = []
    for first in range(0, COUNT, 5):
        found.expect(range(first, COUNT))
        images += [found.sample(number).image for number in range(first, first + 5)]
    assert images == [sample.image for sample in open_dataset(str(local / "archives"))]
    assert sum(key.endswith(".tar") for key, _, _ in server.log) == 3
    assert (asked == list(range(COUNT))) == (kept > COUNT)


@pytest.mark.parametrize("is_announced", [True, False])
@pytest.mark.parametrize("name", ["archives", "labeled"])
def test_outlines_read_neither_images_nor_masks(name: str, is_announced: bool, server: LoopbackS3, local: Path) -> None:
    found, expected = open_dataset(f"s3://data/{name}"), open_dataset(str(local / name))
    if is_announced:
        found.expect_outlines(range(COUNT))
    for number in range(COUNT):
        outline, sample = found.outline(number), expected.sample(number)
        assert (outline.image, outline.mask, outline.extra) == (b"", None, {})
        assert (outline.name, outline.extension, outline.labels) == (sample.name, sample.extension, sample.labels)
        assert outline.class_name == sample.class_name
        assert found.has_mask(number) == (sample.mask is not None)
    images = sum(len(sample.image) for sample in expected)
    assert archive_bytes(server) < images or not is_announced  # a small archive is fetched when much of it was read


@pytest.mark.parametrize("name", ["archives", "labeled"])
@pytest.mark.parametrize("to", ["folder", "tfrecord", "pack"])
def test_conversions_give_the_same_bytes_and_fetch_no_archive(
    to: Any, name: str, server: LoopbackS3, local: Path
) -> None:
    options: dict[str, Any] = {"to": to, "samples_per_shard": 5, "workers": 1}
    here, there = local / f"{name}-{to}-here", local / f"{name}-{to}-there"
    convert(local / name, here, **options)
    convert(f"s3://data/{name}", there, **options)
    written = [path.relative_to(here) for path in here.rglob("*") if path.is_file() and path.name != "manifest.json"]
    assert written
    for path in written:
        assert (there / path).read_bytes() == (here / path).read_bytes()
    assert not are_whole(server)
    size = sum(path.stat().st_size for path in (local / name).glob("*.tar"))
    assert archive_bytes(server) < (1.6 if to != "pack" else 2.3) * size  # names, or a codebook, take a look before


@pytest.mark.parametrize("name", ["archives", "labeled"])
def test_training_with_labels_reads_ranges(name: str, server: LoopbackS3, local: Path) -> None:
    """Labels come from small members, and images are read when they are needed."""
    found = [
        training_batches(path, ["image", "label", "mask"], server.options)
        for path in (f"s3://data/{name}", str(local / name))
    ]
    assert found[0] == found[1]
    assert not are_whole(server)


def test_a_part_of_a_dataset_reads_its_outlines_too(server: LoopbackS3) -> None:
    chosen = Selection(open_dataset(LABELED), np.array([3, 17]), "two")
    assert len(labels(chosen).starts) == 3
    assert 0 < archive_bytes(server) < 20_000


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[Range]:
    return note_announcements(monkeypatch)


def samples_of(server: LoopbackS3) -> list[tuple[str, int, int]]:
    """Return the requests for samples; the ends of archives are read when they are opened."""
    return [(key, begin, end) for key, begin, end in server.log if key.endswith(".tar") and end - begin != 1024]


def test_labels_are_read_ahead(server: LoopbackS3, announced: list[Range], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "CACHED_FROM", 1)
    first = labels(open_dataset(LABELED))
    assert set(first.rows.tolist()) == {0, 1, 2}
    assert were_announced(samples_of(server), announced)
    server.reset()
    again = labels(open_dataset(LABELED))
    assert np.array_equal(again.rows, first.rows)
    assert archive_bytes(server) <= 3 * (1024 + 1024)  # the labels come from the cache
    assert server.counts["HEAD"] == 0


def test_names_of_files_are_read_ahead(server: LoopbackS3, announced: list[Range], tmp_path: Path) -> None:
    convert(LABELED, tmp_path / "out", to="folder", workers=1)
    assert were_announced(samples_of(server), announced)


def without_index(server: LoopbackS3) -> None:
    for key in [key for key in server.objects if key.endswith(".idx")]:
        del server.objects[key]


def of_another_version(server: LoopbackS3) -> None:
    """Names are numbers there."""
    for key in [key for key in server.objects if key.endswith(".idx")]:
        head, *rows = server.objects[key].decode().splitlines()
        rows = [" ".join(word for at, word in enumerate(row.split()) if at % 4 < 3) for row in rows]
        server.put(key, "\n".join([head.replace("v1.2", "v1.1"), *rows, ""]).encode())


def that_leaves_a_sample_out(server: LoopbackS3) -> None:
    key = "data/archives/data-00001-of-00003.idx"
    rows = server.objects[key].decode().splitlines()[1:]
    server.put(key, "\n".join([f"v1.2 {len(rows) - 1}", *rows[:3], *rows[4:], ""]).encode())


def that_ends_early(server: LoopbackS3) -> None:
    key = "data/archives/data-00001-of-00003.idx"
    rows = server.objects[key].decode().splitlines()[1:]
    server.put(key, "\n".join([f"v1.2 {len(rows) - 1}", *rows[:-1], ""]).encode())


def of_a_longer_archive(server: LoopbackS3) -> None:
    key = "data/archives/data-00001-of-00003"
    server.put(f"{key}.tar", server.objects[f"{key}.tar"][:-2048])


@pytest.mark.parametrize(
    "change", [without_index, that_leaves_a_sample_out, that_ends_early, of_another_version, of_a_longer_archive]
)
def test_archives_whose_index_does_not_list_everything_are_fetched(
    change: Any, server: LoopbackS3, local: Path
) -> None:
    change(server)
    found = open_dataset(FOLDER)
    assert are_whole(server)
    count = COUNT if change is not of_a_longer_archive else COUNT - len(found.faults)
    assert len(found) >= count - 1
    if change is not of_a_longer_archive:
        assert same(found, open_dataset(str(local / "archives")))
    else:
        assert found.faults


def test_an_archive_that_is_not_the_one_of_its_index_is_noticed(server: LoopbackS3) -> None:
    """Same places and sizes, other names: the index file is older than the archive."""
    key = "data/archives/data-00000-of-00003.tar"
    changed = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(server.objects[key])) as old, tarfile.open(fileobj=changed, mode="w") as new:
        for number, member in enumerate(old):
            if number == 1:
                member.name = member.name.replace("0", "7")
            new.addfile(member, old.extractfile(member))
    content = changed.getvalue()[: len(server.objects[key])]
    server.put(key, content)
    found = open_dataset(FOLDER)
    with pytest.raises(DataError, match=r"is not at byte \d+, where the index file .* of another dataset") as caught:
        found.sample(0)
    assert caught.value.events[0].kind == "corrupt"
    assert found.sample(1).image


def test_damaged_index_files_change_no_sample(server: LoopbackS3, local: Path) -> None:
    """An index file that was changed at random gives the right samples, or an error."""
    rng = np.random.default_rng(3)
    expected = [vars(sample) for sample in open_dataset(str(local / "archives"))]
    archive, key = "s3://data/archives/data-00001-of-00003.tar", "data/archives/data-00001-of-00003.idx"
    whole = server.objects[key]
    found_errors = 0
    for _ in range(60):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 4)):
            damaged[place] = rng.choice(np.frombuffer(b"0123456789. \nabc\xff", np.uint8))
        server.put(key, bytes(damaged))
        found = open_dataset(archive)
        assert len(found) == PER_ARCHIVE
        for number in range(PER_ARCHIVE):
            try:
                assert vars(found.sample(number)) == expected[PER_ARCHIVE + number]
            except DataError as error:
                found_errors += 1
                assert error.events[0].kind in ("corrupt", "not_an_image")
    assert 0 < found_errors < 60 * PER_ARCHIVE


def test_an_archive_that_vanishes_is_one_error_for_a_sample(server: LoopbackS3) -> None:
    found = open_dataset(FOLDER)
    server.faults.gone.add("data/archives/data-00000-of-00003.tar")
    with pytest.raises(DataError, match=r"data-00000-of-00003\.tar") as caught:
        found.sample(2)
    assert (caught.value.events[0].kind, caught.value.events[0].sample) == ("io", 2)
    assert found.sample(PER_ARCHIVE).image
