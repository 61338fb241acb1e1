"""`readers.dataset`: every container of the registry gives the same columns, and damage is handled by policy."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, mask_of, odd_samples, plain_samples, write

from pixelmill import Pipeline, fn, ops
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import index_cache, npy, pack
from pixelmill.formats.column_copy import dataset_stamp
from pixelmill.formats.columns import COLUMNS
from pixelmill.formats.registry import FORMATS, get_format, open_dataset, shard_names
from pixelmill.formats.sample import Sample

Row = tuple[np.ndarray[Any, Any], ...]
RECORDS = [name for name in FORMATS if get_format(name).storage == "records"]


def integer_samples() -> list[Sample]:
    found = [sample for sample in odd_samples() if all(isinstance(label, int) for label in sample.labels)]
    return [sample for sample in found if sample.boxes is None or sample.boxes.labels is not None]


def writer_options(format: str, samples: Sequence[Sample]) -> dict[str, Any]:
    return {"masks": any(sample.mask is not None for sample in samples)} if format == "folder" else {}


def rows(path: object, columns: Sequence[str] = COLUMNS, *, count: int, **options: Any) -> list[Row]:
    """Read so many samples in one batch."""
    reading = {key: options.pop(key) for key in ("on_error", "max_errors") if key in options}
    pipe = Pipeline(count, 2, 0, seed=1, **reading)
    with pipe:
        read = fn.readers.dataset(path=path, columns=list(columns), **options)
        pipe.set_outputs(*(read[name] for name in columns))
    outputs = pipe.run()
    return [tuple(np.asarray(batch.at(place)) for batch in outputs) for place in range(count)]


def original(row: Row) -> Row:
    """Return a row with the file that a packed image stands for; images of other containers stay as they are."""
    image = row[0].tobytes()
    is_packed = image.startswith(pack.IMAGE_MAGIC)
    return (np.frombuffer(pack.restore(image), np.uint8), *row[1:]) if is_packed else row


def expected(sample: Sample) -> Row:
    """What the columns of a sample are, worked out from what the dataset itself reads."""
    boxes, corners = (np.zeros((0, 4), np.float32), np.zeros(0, np.int64)), np.zeros((0, 4, 2), np.float32)
    if sample.boxes is not None:
        boxes = (sample.boxes.ltrb, np.asarray(sample.boxes.labels))
        left, top, right, bottom = sample.boxes.ltrb.T
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        if sample.boxes.oriented:
            assert sample.boxes.polygons is not None
            corners = sample.boxes.polygons.points.reshape(-1, 4, 2)
    return (
        np.frombuffer(sample.image, np.uint8),
        np.array(sample.labels, np.int64),
        np.array(sample.labels, np.float32),
        *boxes,
        corners,
        np.frombuffer(sample.mask or b"", np.uint8),
    )


def assert_rows(found: Sequence[Row], samples: Sequence[Sample]) -> None:
    for row, sample in zip(found, samples, strict=True):
        for name, value, wanted in zip(COLUMNS, original(row), expected(sample), strict=True):
            assert (value.dtype, value.shape) == (wanted.dtype, wanted.shape), (sample.key, name)
            assert np.array_equal(value, wanted), (sample.key, name)


@pytest.mark.parametrize("format", FORMATS)
def test_all_columns_of_every_container(format: str, tmp_path: Path) -> None:
    samples = integer_samples()
    path = write(tmp_path / "x", format, samples, **writer_options(format, samples))
    assert_rows(rows(path, count=len(samples)), list(open_dataset(path)))


@pytest.mark.parametrize("format", FORMATS)
def test_masks_that_are_annotations(format: str, tmp_path: Path) -> None:
    """A folder or zip whose layout has no place for masks keeps them in rows; the reader finds them there."""
    samples = [*plain_samples(2), Sample("cat/x", encoded("jpeg", seed=9), "jpg", (2,), "cat", mask=mask_of(1))]
    path = write(tmp_path / "x", format, samples)
    assert_rows(rows(path, count=3), list(open_dataset(path)))


@pytest.mark.parametrize("keys", ["inception", "tfds", "raw"])
def test_conventions_of_tfrecords(keys: str, tmp_path: Path) -> None:
    samples = integer_samples()
    if keys == "raw":  # pixels; the reader gives them as npy files, as all containers do
        samples = [Sample(**{**vars(s), "image": encoded("npy", seed=1), "extension": "npy"}) for s in samples]
    path = write(tmp_path / "x", "tfrecord", samples, keys=keys)
    assert_rows(rows(path, count=len(samples)), list(open_dataset(path)))


def test_packed_members_of_a_zip_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in plain_samples(5):
            archive.writestr(sample.name, sample.image)
    assert_rows(rows(path, count=5), list(open_dataset(path)))
    (copy,) = [file for file in (tmp_path / "cache" / "unpacked").iterdir() if file.stat().st_size]
    with monkeypatch.context() as patch:
        patch.setattr("pixelmill.formats.zip.dataset.ZipDataset.sample", None)  # the copy is used again
        again = rows(path, ["image"], count=5)
    assert [row[0].tobytes() for row in again] == [sample.image for sample in plain_samples(5)]
    copy.write_bytes(b"cut")
    assert_rows(rows(path, count=5), list(open_dataset(path)))


@pytest.mark.parametrize("format", sorted(set(RECORDS) - {"tfrecord", "pack"}))
def test_collected_columns_are_cached(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("pixelmill.formats.columns.CACHED_FROM", 0)
    names = ["label", "target", "boxes", "box_label"]
    samples = integer_samples()
    path = write(tmp_path / "x", format, samples)
    first = rows(path, names, count=len(samples))

    def refuse(*_: object) -> None:
        raise AssertionError("labels are collected again")

    with monkeypatch.context() as patch:
        patch.setattr(type(open_dataset(path)), "description", refuse)
        again = rows(path, names, count=len(samples))
        assert all(
            np.array_equal(a, b) for one, two in zip(first, again, strict=True) for a, b in zip(one, two, strict=True)
        )
        with pytest.raises(AssertionError, match="collected again"):
            rows(path, names[:1], count=1)
    shutil.rmtree(path)
    write(path, format, samples[:3])
    assert len(rows(path, names, count=3)) == 3


def test_a_cache_of_columns_that_lies_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("pixelmill.formats.columns.CACHED_FROM", 0)
    path = write(tmp_path / "x", "recordio", plain_samples(5))
    wanted = [row[0].tolist() for row in rows(path, ["label"], count=5)]
    dataset = open_dataset(path)
    place, stamp = dataset.files[0], dataset_stamp(dataset)
    kept = index_cache.load(place, "columns label", stamp=stamp)
    assert kept is not None and kept.keys() == {"label rows", "label starts"}
    for name, values in kept.items():
        for lie in (values[:-1], values[1:], values[:0], values.reshape(-1, 1), values.astype(np.int32)):
            index_cache.store(place, "columns label", {**kept, name: lie}, stamp=stamp)
            assert [row[0].tolist() for row in rows(path, ["label"], count=5)] == wanted, (name, lie)
    falling = {**kept, "label starts": np.array([0, 3, 1, 2, 4, 5])}
    index_cache.store(place, "columns label", falling, stamp=stamp)
    assert [row[0].tolist() for row in rows(path, ["label"], count=5)] == wanted


def test_labels_that_are_not_integers_are_targets(tmp_path: Path) -> None:
    samples = [Sample("a", encoded("jpeg", seed=1), "jpg", (0.5, 2))]
    for format in FORMATS:
        path = write(tmp_path / format, format, samples)
        assert rows(path, ["target"], count=1)[0][0].tolist() == [0.5, 2.0]
        with pytest.raises((ArgumentError, DataError), match="'target'"):
            rows(path, ["image", "label"], count=1)


def test_the_class_takes_the_same_arguments_and_gives_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "webdataset", plain_samples(4))
    pipe = Pipeline(4, 1, 0)
    with pipe:
        read = ops.readers.Dataset(path, columns=["label"])()
        pipe.set_outputs(read["label"], fn.readers.dataset(path)["label"])
    one, other = pipe.run()
    assert [int(one.at(n)[0]) for n in range(4)] == [int(other.at(n)[0]) for n in range(4)] == [0, 1, 2, 0]


def test_it_feeds_a_decoder(tmp_path: Path) -> None:
    for format in set(FORMATS) - {"npy"}:
        path = write(tmp_path / format, format, plain_samples(3))
        pipe = Pipeline(3, 2, 0)
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.readers.dataset(path=path)["image"]))
        (images,) = pipe.run()
        assert np.asarray(images.at(0)).shape == (9, 13, 3)


# Damage


def damaged(path: Path, format: str) -> None:
    """Break the second of four samples, so that the container itself notices."""
    data = bytearray(path.read_bytes())
    if format == "pack":  # without a footer, samples are found by their heads and checksums
        place = int(open_dataset(path).index.offsets[1]) + 200
        del data[-1]
    else:
        place = bytes(data).index(plain_samples(2)[1].image)
    if format == "webdataset":
        place -= 512  # the header; contents have no checksum
    elif format == "lmdb":
        place -= 3  # the head of the field; contents have a checksum, which the core does not know
    elif format in ("recordio", "zip"):
        place = bytes(data).index({"recordio": b"\x0a\x23\xd7\xce", "zip": b"PK\3\4"}[format], 100)
    data[place : place + 3] = b"\0\0\0"
    path.write_bytes(data)


@pytest.mark.parametrize("format", [name for name in RECORDS if name != "parquet"])  # which loses a group of rows
def test_a_damaged_record_is_handled_by_policy(format: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x", format, plain_samples(4)) / shard_names(format)["records"]
    for beside in path.parent.glob("data.idx"):
        beside.unlink()
    damaged(path, format)
    dataset = open_dataset(path)
    count = len(dataset) + sum(fault.length > 0 for fault in dataset.faults)  # lost pieces keep their places
    if format == "tfrecord":  # damage of a payload is found when it is read
        count = 4
    with pytest.raises(DataError):
        rows(path, ["image", "label"], count=count)
    found = rows(path, ["image", "label"], count=count, on_error="fill", max_errors=4)
    whole = [sample.image for sample in plain_samples(4)]
    images = [original(row)[0].tobytes() for row in found]
    assert images[-2:] == whole[-2:] and whole[1] not in images and b"" in images


@pytest.mark.parametrize("format", ["folder", "list", "npy"])
def test_a_missing_file_is_handled_by_policy(format: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x", format, plain_samples(4))
    missing = next(file for file in path.rglob("*0001.*") if file.suffix in (".jpg", ".npy"))
    given: dict[str, Any] = {"on_error": "fill", "max_errors": 4}
    if format == "folder":
        pipe = Pipeline(4, 1, 0, **given)
        with pipe:
            pipe.set_outputs(fn.readers.dataset(path=path)["image"])
        missing.unlink()
        (images,) = pipe.run()
        found = [np.asarray(images.at(place)).tobytes() for place in range(4)]
    else:
        missing.unlink()
        found = [row[0].tobytes() for row in rows(path, ["image"], count=4, **given)]
        with pytest.raises(DataError, match="No such file"):
            rows(path, ["image"], count=4)
    wanted = [sample.image for sample in plain_samples(4)]
    assert found == [wanted[0], b"", wanted[2], wanted[3]] if format != "folder" else sorted(found)[0] == b""


def test_links_do_not_lead_out_of_a_list(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xd8\xff secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.jpg").symlink_to(tmp_path / "secret")
    (tmp_path / "in" / "list.txt").write_text("link.jpg 1\n")
    with pytest.raises(DataError, match="leads out"):
        rows(tmp_path / "in" / "list.txt", ["image"], count=1)
    (found,) = rows(tmp_path / "in" / "list.txt", ["image", "label"], count=1, allow_outside=True)
    assert found[0].tobytes() == b"\xff\xd8\xff secret" and found[1].tolist() == [1]


def test_lost_samples_of_a_copy_are_lost_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"a/{number}.npy", npy.encode(np.full((40, 40), number, np.uint8)))
    data = bytearray(path.read_bytes())
    second = bytes(data).index(b"PK\3\4", 10)
    data[second + 45] ^= 255
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a/1\.npy"):
        rows(path, ["image"], count=3)
    found = rows(path, ["image"], count=3, on_error="fill", max_errors=3)
    assert [len(row[0]) for row in found] == [128 + 1600, 0, 128 + 1600]
    assert not list((tmp_path / "cache").rglob("*.pixelmill-index"))


# Arguments


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": ["image", "colour"]}, "columns must be some of image, label, .* got 'colour'"),
        ({"format": "no-such"}, "format must be one of"),
        ({"shuffle_after_epoch": True, "random_shuffle": True}, "cannot be combined"),
        ({"num_shards": 5}, "3 samples cannot be divided into 5 shards"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    write(tmp_path / "x", "recordio", plain_samples(3))
    with pytest.raises(ArgumentError, match=message):
        fn.readers.dataset(path=tmp_path / "x", **given)


def test_a_format_that_is_another_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "x", "recordio", plain_samples(3))
    with pytest.raises(DataError, match="is RecordIO, not TFRecord"):
        fn.readers.dataset(path=tmp_path / "x", format="tfrecord")


def test_several_files_are_one_dataset(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path / str(number), "tfrecord", plain_samples(number + 2))
    paths = [str(tmp_path / str(number) / "data.tfrecord") for number in range(2)]
    found = rows(paths, ["label"], count=5)
    assert [int(row[0][0]) for row in found] == [0, 1, 0, 1, 2]


@pytest.mark.parametrize("format", RECORDS)
def test_record_files_at_an_address_are_fetched(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    write(tmp_path / "x", format, plain_samples(3))
    fsspec.filesystem("memory").put(str(tmp_path / "x"), f"/{format}-{tmp_path.name}", recursive=True)
    found = rows(f"memory://{format}-{tmp_path.name}", ["image", "label"], count=3)
    assert [original(row)[0].tobytes() for row in found] == [sample.image for sample in plain_samples(3)]


def test_images_at_an_address_are_read(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    write(tmp_path / "x", "folder", plain_samples(3))
    fsspec.filesystem("memory").put(str(tmp_path / "x"), f"/folder-{tmp_path.name}", recursive=True)
    found = rows(f"memory://folder-{tmp_path.name}", ["image"], count=3)
    assert [row[0].tobytes() for row in found] == [sample.image for sample in plain_samples(3)]


def everything(made: Callable[[], Pipeline], batches: int) -> list[int]:
    pipe = made()
    return [int(np.asarray(batch.at(n))[0]) for _ in range(batches) for batch in pipe.run() for n in range(len(batch))]


def test_order_shards_and_epochs_are_those_of_the_file_reader(tmp_path: Path) -> None:
    """Both readers get the same arguments over the same images; labels are the numbers of the files."""
    samples = [Sample(f"c{n}/x", encoded("jpeg", seed=n), "jpg", (n,), f"c{n}") for n in range(7)]
    folder = write(tmp_path / "x", "folder", samples, classes=[f"c{n}" for n in range(7)])
    archive = write(tmp_path / "z", "zip", samples)
    for given in (
        {},
        {"random_shuffle": True},
        {"shuffle_after_epoch": True, "num_shards": 2, "shard_id": 1},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "pad_last_batch": True},
    ):

        def pipe(read: Callable[[], Any]) -> Callable[[], Pipeline]:
            def make() -> Pipeline:
                made = Pipeline(3, 2, 0, seed=5)
                with made:
                    made.set_outputs(read())
                return made

            return make

        by_file = everything(pipe(lambda g=given: fn.readers.file(file_root=str(folder), **g)[1]), 6)  # type: ignore[misc]
        for path in (folder, archive):
            assert everything(pipe(lambda g=given, p=path: fn.readers.dataset(path=p, **g)["label"]), 6) == by_file  # type: ignore[misc]
