"""LMDB databases of Caffe and Caffe2, and sequences of frames: compared with DALI's readers and with lmdb."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import pytest
from caffe_records import datum, tensor, tensors, write_database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from pixelmill import ArgumentError, DataError, Pipeline, fn
from pixelmill.formats.lmdb import tree

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    from nvidia.dali import Pipeline as DaliPipeline


def encoded(number: int, size: int = 9) -> bytes:
    buffer = io.BytesIO()
    pixels = np.random.default_rng(number).integers(0, 256, (8 + number, size, 3), np.uint8)
    Image.fromarray(pixels).save(buffer, "jpeg")
    return buffer.getvalue()


IMAGES = [encoded(number) for number in range(5)]
PIXELS = bytes(range(24))


def string(number: int) -> bytes:
    return tensor((1,), 4, string=IMAGES[number])


CAFFE: dict[str, tuple[Any, dict[str, Any]]] = {
    "encoded": (lambda k: datum(IMAGES[k], k * 1000), {}),
    "encoded is not said": (lambda k: datum(IMAGES[k], k, encoded=None), {}),
    "pixels": (lambda k: datum(PIXELS, k, encoded=False, shape=(2, 4, 3)), {}),
    "labels below zero": (lambda k: datum(IMAGES[k], -k - 1), {}),
    "without labels": (lambda k: datum(IMAGES[k]), {}),
    "images alone": (lambda k: datum(IMAGES[k], k), {"label_available": False}),
    "labels alone": (lambda k: datum(IMAGES[k], k), {"image_available": False}),
}
CAFFE2: dict[str, tuple[Any, dict[str, Any]]] = {
    "class": (lambda k: tensors(string(k), tensor((1,), 2, ints=[k - 2])), {}),
    "class, not packed": (lambda k: tensors(string(k), tensor((1,), 2, ints=[k], packed=False)), {}),
    "vector": (
        lambda k: tensors(string(k), tensor((3,), floats=[k, 0.5, 0.25])),
        {"label_type": 2, "num_labels": 3},
    ),
    "vector, not packed": (
        lambda k: tensors(string(k), tensor((2,), floats=[k, 0.5], packed=False)),
        {"label_type": 2},
    ),
    "no label": (lambda k: tensors(string(k)), {"label_type": 4}),
    "additional floats": (
        lambda k: tensors(string(k), tensor((1,), 2, ints=[k]), tensor((2,), floats=[k, 7.0])),
        {"additional_inputs": 1},
    ),
    "additional integers and boxes": (
        lambda k: tensors(
            string(k), tensor((1,), 2, ints=[k]), tensor((1,), 2, ints=[k + 5]), tensor((4,), 2, ints=[1, 2, 3, k])
        ),
        {"additional_inputs": 1, "bbox": True},
    ),
    "pixels": (lambda k: tensors(tensor((2, 4, 3), 3, data=PIXELS), tensor((1,), 2, ints=[k])), {}),
    "labels alone": (lambda k: tensors(tensor((1,), 2, ints=[k])), {"image_available": False}),
}


def outputs(module: Any, cls: Any, reader: str, batch_size: int = 3, **options: Any) -> list[Any]:
    pipe = cls(batch_size, 1, None)
    with pipe, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DALI's, about deprecated readers
        made = getattr(module.readers, reader)(**options)
        pipe.set_outputs(*made) if isinstance(made, list) else pipe.set_outputs(made)
    found = []
    for _ in range(3):
        for out in pipe.run():
            arrays = [np.array(out[place]) for place in range(len(out))]
            found.append((out.layout(), [(array.dtype.str, array.shape, array.tobytes()) for array in arrays]))
    return found


def compare(reader: str, **options: Any) -> None:
    assert outputs(fn, Pipeline, reader, **options) == outputs(dali_fn, DaliPipeline, reader, **options)


@pytest.mark.parametrize("name", CAFFE)
def test_caffe_is_read_as_by_dali(tmp_path: Path, name: str) -> None:
    record, options = CAFFE[name]
    compare("caffe", path=write_database(tmp_path / "db", [record(k) for k in range(5)]), **options)


@pytest.mark.parametrize("name", CAFFE2)
def test_caffe2_is_read_as_by_dali(tmp_path: Path, name: str) -> None:
    record, options = CAFFE2[name]
    compare("caffe2", path=write_database(tmp_path / "db", [record(k) for k in range(5)]), **options)


def test_several_databases_and_shards_are_read_as_by_dali(tmp_path: Path) -> None:
    paths = [
        write_database(tmp_path / f"db{part}", [datum(IMAGES[k], 10 * part + k) for k in range(part + 2)])
        for part in range(3)
    ]
    for shard in range(2):
        compare("caffe", path=paths, num_shards=2, shard_id=shard, stick_to_shard=True)


# What DALI 2.4 refuses although it documents it


def test_indices_of_labels_become_a_vector(tmp_path: Path) -> None:
    record = tensors(string(0), tensor((2,), 2, ints=[1, 3]))
    pipe_outputs = outputs(
        fn, Pipeline, "caffe2", path=write_database(tmp_path / "db", [record]), label_type=1, num_labels=5
    )
    assert pipe_outputs[1][1][0] == ("<i4", (5,), np.array([0, 1, 0, 1, 0], np.int32).tobytes())
    record = tensors(string(0), tensor((2,), 2, ints=[1, 3]), tensor((2,), floats=[0.5, 2.0]))
    weighted = outputs(
        fn, Pipeline, "caffe2", path=write_database(tmp_path / "weighted", [record]), label_type=3, num_labels=5
    )
    assert weighted[1][1][0] == ("<f4", (5,), np.array([0, 0.5, 0, 2, 0], np.float32).tobytes())


# The tree of a database


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_values_are_those_that_lmdb_reads(tmp_path: Path, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 17, 900, 2000, 4090, 5000, 20000]), max_size=300))
    path = tmp_path / f"db{len(list(tmp_path.iterdir()))}"
    random = np.random.default_rng(len(sizes))
    with lmdb.open(str(path), map_size=1 << 28) as environment:
        with environment.begin(write=True) as transaction:
            for number, size in enumerate(sizes):
                transaction.put(b"%d" % number, random.bytes(size))
        with environment.begin(write=True) as transaction:  # leaves old pages behind
            for number in range(0, len(sizes), 3):
                transaction.delete(b"%d" % number)
        with environment.begin() as transaction:
            wanted = [(bytes(key), bytes(value)) for key, value in transaction.cursor()]
    with tree.opened(str(path)) as memory:
        found = [
            (value.key, bytes(memory[value.offset : value.offset + value.length]))
            for value in tree.values(memory, str(path))
        ]
    assert found == wanted


def test_many_records_need_several_levels(tmp_path: Path) -> None:
    records = [datum(b"\xff\xd8" + bytes(60), number) for number in range(20_000)]
    path = write_database(tmp_path / "db", records)
    pipe = Pipeline(1000, 1, None)
    with pipe:
        pipe.set_outputs(fn.readers.caffe(path=path, image_available=False))
    labels = np.concatenate([pipe.run()[0].as_array().ravel() for _ in range(20)])
    np.testing.assert_array_equal(labels, np.arange(20_000))


# Damage


def test_a_damaged_record_costs_itself_alone(tmp_path: Path) -> None:
    path = write_database(tmp_path / "db", [datum(IMAGES[0], 0), b"\xff\xff\xff", datum(IMAGES[2], 2)])
    pipe = Pipeline(1, 1, None, on_error="skip", max_errors=10)
    with pipe:
        pipe.set_outputs(*fn.readers.caffe(path=path))
    assert [pipe.run()[1].as_array().item() for _ in range(2)].count(0) >= 1
    pipe = Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(*fn.readers.caffe(path=path))
    with pytest.raises(DataError, match=r"corrupt.*00000001.*number without an end"):
        pipe.run()
    with pytest.raises(DataError, match="00000001"):
        fn.readers.caffe(path=path, image_available=False)


DAMAGED = {
    "pixels of another shape": (datum(PIXELS, 1, encoded=False, shape=(2, 4, 4)), "do not have the shape"),
    "a field past the end": (b"\x22\x7fabc", "past the end"),
    "an unknown type": (b"\x0b", "unknown type 3"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_wrong_with_a_record_is_said(tmp_path: Path, name: str) -> None:
    record, message = DAMAGED[name]
    path = write_database(tmp_path / "db", [record])
    with pytest.raises(DataError, match=message):
        fn.readers.caffe(path=path, image_available=False)


def test_encoded_images_beside_pixels_are_refused(tmp_path: Path) -> None:
    records = [datum(IMAGES[0], 1), datum(PIXELS, 1, encoded=False, shape=(2, 4, 3))]
    path = write_database(tmp_path / "db", records)
    with pytest.raises(DataError, match=r"db.*some images are encoded and others are not; split the database"):
        fn.readers.caffe(path=path)


@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        (tensors(string(0)), {}, "index|pop|label"),
        (tensors(string(0), tensor((1,), 2, ints=[9])), {"label_type": 1, "num_labels": 5}, "below num_labels=5"),
        (tensors(string(0), tensor((1,), 10, ints=[9])), {}, "neither float"),
    ],
)
def test_tensors_that_are_missing_or_wrong_are_named(tmp_path: Path, record: bytes, options: Any, message: str) -> None:
    pipe = Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(*fn.readers.caffe2(path=write_database(tmp_path / "db", [record]), **options))
    with pytest.raises(DataError, match=message):
        pipe.run()


def test_paths_without_a_database_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"No such file.*missing"):
        fn.readers.caffe(path=str(tmp_path / "missing"))
    (tmp_path / "data.mdb").write_bytes(b"no database" * 1000)
    with pytest.raises(DataError, match=r"data\.mdb is damaged or is no LMDB database"):
        fn.readers.caffe(path=str(tmp_path))
    with pytest.raises(DataError, match="no record"):
        fn.readers.caffe(path=write_database(tmp_path / "empty", []))
    with pytest.raises(ArgumentError, match="cannot both be False"):
        fn.readers.caffe(path=str(tmp_path), image_available=False, label_available=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 1 << 16), byte=st.integers(0, 255), length=st.none() | st.integers(0, 40_000))
def test_no_damage_of_the_file_raises_another_error(tmp_path: Path, place: int, byte: int, length: int | None) -> None:
    origin = tmp_path / "db"
    if not origin.exists():
        write_database(origin, [datum(IMAGES[k % 5] * (k % 7), k) for k in range(40)])
    content = bytearray((origin / "data.mdb").read_bytes())[:length]
    if content:
        content[place % len(content)] = byte
    damaged = tmp_path / "damaged.mdb"
    damaged.write_bytes(content)
    try:
        fn.readers.caffe(path=str(damaged))
    except DataError as error:
        assert "damaged.mdb" in str(error)


# Sequences


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("streams")
    for stream in range(3):
        (root / str(stream)).mkdir()
        for frame in range(3 + 2 * stream):
            pixels = np.full((4 + stream, 5, 3), 10 * stream + frame, np.uint8)
            Image.fromarray(pixels).save(root / str(stream) / f"{frame:03d}.png")
    return str(root)


@pytest.mark.parametrize(
    "options",
    [
        {"sequence_length": 1},
        {"sequence_length": 3},
        {"sequence_length": 2, "step": 2, "stride": 2},
        {"sequence_length": 5, "step": 3},
    ],
    ids=str,
)
def test_sequences_are_those_of_dali(streams: str, options: dict[str, int]) -> None:
    compare("sequence", file_root=streams, **options)


def test_streams_that_are_too_short_are_named(streams: str) -> None:
    with pytest.raises(DataError, match="enough images for 100 frames"):
        fn.readers.sequence(file_root=streams, sequence_length=100)
