"""LMDB databases: read beside the lmdb package, written for it and for DALI, and checked against hostile ones."""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from caffe_records import datum, tensor, tensors
from dataset_cases import encoded, mask_of, odd_samples, plain_samples, write
from file_damage import outcome
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import peer

from pixelmill import Pipeline, convert, fn, info, verify
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import example, npy
from pixelmill.formats.example import bytes_feature, int64_feature
from pixelmill.formats.lmdb import LMDBWriter, tree
from pixelmill.formats.lmdb.tree_writer import TreeWriter
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample

lmdb = peer("lmdb")
PAGE = 4096
JPEG, PNG, WEBP = (encoded(kind, seed=1) for kind in ("jpeg", "png", "webp"))


def by_lmdb(path: Path, values: Mapping[bytes, bytes], **options: Any) -> Path:
    """Write a database with LMDB itself."""
    with lmdb.open(str(path), map_size=1 << 26, **options) as environment, environment.begin(write=True) as transaction:
        for key, value in values.items():
            transaction.put(key, value)
    return path


def read_by_lmdb(path: Path) -> dict[bytes, bytes]:
    options = {"subdir": path.is_dir(), "readonly": True, "lock": False}
    with lmdb.open(str(path), **options) as environment, environment.begin() as transaction:
        return {bytes(key): bytes(value) for key, value in transaction.cursor()}


def by_tree(values: Mapping[bytes, bytes]) -> bytes:
    stream = io.BytesIO()
    writer = TreeWriter(stream)
    for key, value in sorted(values.items()):
        writer.add(key, value)
    writer.close()
    return stream.getvalue()


# The tree


def values_of(path: Path) -> dict[bytes, bytes]:
    with tree.opened(str(path)) as memory:
        return {v.key: bytes(memory[v.offset : v.offset + v.length]) for v in tree.values(memory, str(path))}


_SIZES = st.sampled_from([0, 1, 17, 900, 2000, 2016, 2017, 2018, 2019, 2020, 4080, 4081, 9000])
_ENDS = st.sampled_from([b"", b"x", b"_name.jpg", b"k" * 300, b"k" * 501])


@settings(max_examples=40, deadline=None)
@given(ends=st.lists(_ENDS, max_size=80), sizes=st.lists(_SIZES, min_size=1, max_size=9), times=st.sampled_from([1, 9]))
def test_lmdb_reads_and_changes_what_we_write(
    ends: list[bytes], sizes: list[int], times: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    random = np.random.default_rng(len(ends))
    values = {b"%010d%b" % (n, end): random.bytes(sizes[n % len(sizes)]) for n, end in enumerate(ends * times)}
    path = tmp_path_factory.mktemp("tree") / "data.mdb"
    path.write_bytes(by_tree(values))
    assert read_by_lmdb(path) == values_of(path) == values
    with lmdb.open(str(path), subdir=False, lock=False, map_size=1 << 26) as environment:
        stat, last = environment.stat(), environment.info()["last_pgno"]
        assert (stat["psize"], stat["entries"]) == (PAGE, len(values))
        assert stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] + 1 == last
        assert path.stat().st_size == (last + 1) * PAGE
        with environment.begin(write=True) as transaction:  # LMDB's own checks of the tree run when it is changed
            for key in list(values)[::2]:
                assert transaction.pop(key) == values.pop(key)
            for number in range(40):
                values[b"new %d" % number] = b"v" * number * 90
                transaction.put(b"new %d" % number, values[b"new %d" % number])
    assert read_by_lmdb(path) == values_of(path) == values


def test_branches_have_two_pages_at_least(tmp_path: Path) -> None:
    """LMDB takes a branch with a single page below it for damage, so the last one must not be left alone."""
    for leaves in range(1, 40):  # seven of the longest keys fit on a branch
        values = {b"%010d" % n + b"k" * 501: b"v" * 1480 for n in range(2 * leaves)}
        path = tmp_path / f"{leaves}.mdb"
        path.write_bytes(by_tree(values))
        assert read_by_lmdb(path) == values


@pytest.mark.parametrize("key", [b"", b"k" * 512, b"a"])
def test_keys_that_lmdb_does_not_take_are_refused(key: bytes) -> None:
    writer = TreeWriter(io.BytesIO())
    writer.add(b"b", b"")
    with pytest.raises(ArgumentError, match="empty, too long or not in order"):
        writer.add(key, b"")


# Written


def datum_message() -> Any:
    """Return Caffe's Datum as protobuf itself reads it."""
    pool = peer("google.protobuf.descriptor_pool")
    file = peer("google.protobuf.descriptor_pb2").FileDescriptorProto(name="caffe.proto", package="caffe")
    message = file.message_type.add(name="Datum")
    fields = [
        ("channels", 5),
        ("height", 5),
        ("width", 5),
        ("data", 12),
        ("label", 5),
        ("float_data", 2),
        ("encoded", 8),
    ]
    for number, (name, kind) in enumerate(fields, start=1):
        message.field.add(name=name, number=number, type=kind, label=3 if name == "float_data" else 1)
    own = pool.DescriptorPool()
    own.Add(file)
    return peer("google.protobuf.message_factory").GetMessageClass(own.FindMessageTypeByName("caffe.Datum"))


def test_protobuf_reads_our_records(tmp_path: Path) -> None:
    message = datum_message()
    samples = odd_samples()
    found = read_by_lmdb(write(tmp_path / "x", "lmdb", samples))
    assert [key[:11] for key in found] == [b"%010d_" % number for number in range(len(samples))]
    for sample, (key, value) in zip(samples, found.items(), strict=True):
        record = message.FromString(value)
        assert (record.data, record.encoded) == (sample.image, True)
        is_plain = len(sample.labels) == 1 and -(2**31) <= sample.labels[0] < 2**31
        assert not is_plain or record.label == sample.labels[0]
        assert len(sample.name) > 200 or key[11:] == sample.name.encode("utf-8", "surrogateescape")


def test_dali_reads_our_databases(tmp_path: Path) -> None:
    dali, dali_fn = peer("nvidia.dali"), peer("nvidia.dali.fn")
    samples = plain_samples(5)
    path = write(tmp_path / "x", "lmdb", samples)
    pipe = dali.Pipeline(5, 1, None)
    with pipe:
        pipe.set_outputs(*dali_fn.readers.caffe(path=str(path)))
    images, labels = pipe.run()
    assert [np.array(images[n]).tobytes() for n in range(5)] == [sample.image for sample in samples]
    assert [int(np.array(labels[n])[0]) for n in range(5)] == [0, 1, 2, 0, 1]
    ours = Pipeline(5, 1, None)
    with ours:
        ours.set_outputs(*fn.readers.caffe(path=str(path)))
    assert [ours.run()[0].at(n).tobytes() for n in range(5)] == [sample.image for sample in samples]


def test_shards_have_the_same_bytes_with_any_number_of_workers(tmp_path: Path) -> None:
    source = write(tmp_path / "photos", "folder", plain_samples(7), classes=("ant", "bee", "cat"))
    for workers in (1, 2):
        convert(source, tmp_path / f"{workers}", to="lmdb", samples_per_shard=3, workers=workers)
    files = [sorted((tmp_path / f"{workers}").glob("*.mdb")) for workers in (1, 2)]
    assert [path.name for path in files[0]] == [f"data-{number:05d}-of-00003.mdb" for number in range(3)]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]
    assert verify(tmp_path / "1").is_whole  # the hashes of the manifest are those of the finished files
    about = info(tmp_path / "1")
    assert (about.format, about.samples) == ("lmdb", 7)
    convert(tmp_path / "1", tmp_path / "back", to="folder")
    assert list(open_dataset(tmp_path / "back")) == list(open_dataset(source))


# Read


def test_datums_of_caffe_are_read(tmp_path: Path) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (3, 4, 5), np.uint8)  # channels, height, width
    path = by_lmdb(
        tmp_path / "x",
        {
            b"00000000_cat/1.JPEG": datum(JPEG, 7),
            b"00000001_a b.png": datum(PNG, -1, encoded=None),
            b"00000002_c.jpg": datum(JPEG),
            b"00000003": datum(pixels.tobytes(), 9, encoded=False, shape=(4, 5, 3)),
            b"00000004": datum(pixels.tobytes(), 9, encoded=None, shape=(4, 5, 3)),
        },
    )
    dataset = open_dataset(path)
    array = npy.encode(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    assert list(dataset) == [
        Sample("cat/1", JPEG, "JPEG", (7,)),
        Sample("a b", PNG, "png", (-1,)),
        Sample("c", JPEG, "jpg"),
        Sample("00000003", array, "npy", (9,)),
        Sample("00000004", array, "npy", (9,)),
    ]
    assert [dataset.description(number).labels for number in range(5)] == [(7,), (-1,), (), (9,), (9,)]
    assert dataset.layout == "Caffe Datums" and dataset.faults == ()
    assert dataset.remarks == (
        "pixels keep the order of channels in which they were written; Caffe's own tools write BGR",
    )


def columns(path: Path, count: int) -> list[tuple[bytes, list[int]]]:
    pipe = Pipeline(count, 1, None)
    with pipe:
        read = fn.readers.dataset(path=str(path), columns=["image", "label"])
        pipe.set_outputs(read["image"], read["label"])
    images, labels = pipe.run()
    return [(images.at(n).tobytes(), labels.at(n).tolist()) for n in range(count)]


def test_images_of_all_kinds_are_columns(tmp_path: Path) -> None:
    pixels = bytes(range(60))
    mixed = {b"1": datum(JPEG, 7), b"2": datum(pixels, 9, encoded=False, shape=(4, 5, 3))}
    assert columns(by_lmdb(tmp_path / "1", {b"1": datum(JPEG, 7), b"2": datum(PNG)}), 2) == [(JPEG, [7]), (PNG, [])]
    array = npy.encode(np.frombuffer(pixels, np.uint8).reshape(3, 4, 5).transpose(1, 2, 0).copy())
    assert columns(by_lmdb(tmp_path / "2", mixed), 2) == [(JPEG, [7]), (array, [9])]
    assert columns(by_lmdb(tmp_path / "3", {b"1": WEBP, b"2": PNG}), 2) == [(WEBP, []), (PNG, [])]
    both = {b"1": JPEG, b"2": datum(PNG, 3)}
    assert columns(by_lmdb(tmp_path / "4", both), 2) == [(JPEG, []), (PNG, [3])]


def test_images_by_key_are_read_without_labels(tmp_path: Path) -> None:
    """LSUN has hashes as keys and WebP images; other programs use the names of files."""
    values = {b"0000abcdef": WEBP, b"cat/1.png": PNG, b"img.v2": JPEG, b"\xff\0": JPEG}
    dataset = open_dataset(by_lmdb(tmp_path / "bedroom_train_lmdb", values))
    assert [(sample.key, sample.extension, sample.labels) for sample in dataset] == [
        ("0000abcdef", "webp", ()), ("cat/1", "png", ()), ("img.v2", "jpg", ()), ("\udcff\0", "jpg", ()),
    ]  # fmt: skip
    assert [sample.image for sample in dataset] == list(read_by_lmdb(tmp_path / "bedroom_train_lmdb").values())
    assert dataset.layout == "encoded images by key" and not dataset.remarks


def test_examples_are_read(tmp_path: Path) -> None:
    features = {
        "image/encoded": bytes_feature(JPEG),
        "image/class/label": int64_feature(4),
        "who": bytes_feature(b"me"),
    }
    values = {
        b"one": example.encode({**features, "image/filename": bytes_feature(b"a/1.jpg")}),
        b"two": example.encode(features),
    }
    dataset = open_dataset(by_lmdb(tmp_path / "x", values))
    assert [(sample.name, sample.labels, sample.image) for sample in dataset] == [
        ("a/1.jpg", (4,), JPEG),
        ("two.jpg", (4,), JPEG),
    ]
    assert dataset.sample(0).extra == {"who": bytes_feature(b"me")}
    assert dataset.layout == "tf.train.Examples"
    assert columns(tmp_path / "x", 2) == [(JPEG, [4])] * 2


def test_texts_beside_images_are_features(tmp_path: Path) -> None:
    """Databases for text recognition have `image-…`, `label-…` and `num-samples`."""
    values = {b"image-%09d" % n: image for n, image in ((1, JPEG), (2, PNG))}
    values |= {b"label-000000001": "größe".encode(), b"label-000000003": b"lost", b"num-samples": b"2"}
    dataset = open_dataset(by_lmdb(tmp_path / "x", values))
    assert [(sample.name, sample.image, sample.extra) for sample in dataset] == [
        ("image-000000001.jpg", JPEG, {"lmdb/label": bytes_feature("größe")}),
        ("image-000000002.png", PNG, {}),
    ]
    assert dataset.remarks == ("keys that are not samples: num-samples, label-000000003",)
    assert dataset.layout == "images and texts by number"


def test_bookkeeping_is_named_and_no_sample(tmp_path: Path) -> None:
    values = {b"__len__": pickle.dumps(2), b"__keys__": pickle.dumps([b"a", b"b"]), b"a": JPEG, b"length": PNG}
    dataset = open_dataset(by_lmdb(tmp_path / "x", values))
    assert [sample.key for sample in dataset] == ["a", "length"]
    assert dataset.remarks == ("keys that are not samples: __keys__, __len__",)


def test_several_databases_are_one_dataset(tmp_path: Path) -> None:
    for number in range(3):
        by_lmdb(tmp_path / f"{number}.mdb", {b"k%d" % k: datum(JPEG, k) for k in range(number)}, subdir=False)
    dataset = open_dataset(f"{tmp_path}/*.mdb")
    assert [(sample.key, sample.labels) for sample in dataset] == [("k0", (0,)), ("k0", (0,)), ("k1", (1,))]


# What is not read


class Harm:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"\x92\xc4\x04abcd\x01", "msgpack data, as tensorpack writes it"),
        (tensors(tensor((1,), 4, string=JPEG), tensor((1,), 2, ints=[3])), "fn.readers.caffe2 reads"),
        (b"text", "neither an image, a Caffe Datum nor a tf.train.Example; it begins with b'text'"),
        (b"", "it begins with b''"),
        (datum(b"", 3)[2:], "neither an image"),
    ],
)
def test_values_that_are_not_read_are_named(value: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"data\.mdb is an LMDB database, but the value of b'key' is .*{message}"):
        open_dataset(by_lmdb(tmp_path / "x", {b"key": value}))
    some = open_dataset(by_lmdb(tmp_path / "y", {b"a": JPEG, b"key": value}))
    assert some.sample(0).image == JPEG
    with pytest.raises(DataError, match=rf"the value of b'key': .*{message}"):
        some.sample(1)


@pytest.mark.parametrize("protocol", range(2, 6))
def test_pickles_are_refused_and_never_loaded(protocol: int, tmp_path: Path) -> None:
    value = pickle.dumps((JPEG, Harm(tmp_path / "harm")), protocol)
    with pytest.raises(DataError, match="is a pickle, which could run code when loaded; save the images as"):
        open_dataset(by_lmdb(tmp_path / "x", {b"key": value}))
    assert not (tmp_path / "harm").exists()


def test_databases_of_other_kinds_are_named(tmp_path: Path) -> None:
    with lmdb.open(str(tmp_path / "named"), max_dbs=2) as environment:
        inner = environment.open_db(b"inner")
        with environment.begin(write=True) as transaction:
            transaction.put(b"a", JPEG, db=inner)
    with pytest.raises(DataError, match="databases in databases, such as b'inner', which is not supported"):
        open_dataset(tmp_path / "named")
    several = bytearray(by_tree({b"a": JPEG}))
    several[92] = several[PAGE + 92] = 4  # as LMDB marks databases that allow it; lmdb's main one does not
    (tmp_path / "several.mdb").write_bytes(several)
    with pytest.raises(DataError, match="its keys have several values, which is not supported"):
        open_dataset(tmp_path / "several.mdb")


def test_floats_are_one_bad_sample(tmp_path: Path) -> None:
    floats = b"\x08\x01\x10\x01\x18\x01" + b"\x32\x04" + struct.pack("<f", 0.5)
    dataset = open_dataset(by_lmdb(tmp_path / "x", {b"a": datum(JPEG, 1), b"b": floats}))
    with pytest.raises(DataError, match="its pixels are floats, which are not read"):
        dataset.sample(1)


# Damage

SAMPLES = [
    Sample("a", b"\xff\xd8\xff one", "jpg", (1,)),
    Sample("b", b"\xff\xd8\xff two", "jpg", (2, 3), "cat", Boxes(np.array([[0, 0, 0.5, 1]]), np.array([4]))),
    Sample("c", b"\xff\xd8\xff" + bytes(range(256)) * 8, "jpg", (5,), mask=mask_of(1)),
]


def small() -> bytes:
    stream = io.BytesIO()
    stream.close = lambda: None  # type: ignore[method-assign]
    with LMDBWriter(lambda _: stream, {"records": "data.mdb"}) as writer:
        for sample in SAMPLES:
            writer.add(sample)
    return stream.getvalue()


def reader(folder: Path) -> Callable[[bytes], tuple[list[Any], bool]]:
    def read(data: bytes) -> tuple[list[Any], bool]:
        """Return the samples that can be read, and whether anything was wrong."""
        path = folder / "data.mdb"
        path.write_bytes(data)
        samples, complained = [], False
        try:
            dataset = open_dataset(path)
        except DataError:
            return [], True
        for number in range(len(dataset)):
            try:
                samples.append(dataset.sample(number))
            except DataError:
                complained = True
        return samples, complained

    return read


def test_every_byte_that_matters_is_noticed(tmp_path: Path) -> None:
    data, read = small(), reader(tmp_path)
    intact, complained = read(data)
    assert intact == SAMPLES and not complained
    wrong = []
    for place, byte in enumerate(data):
        if byte or data[place - 1 : place + 2].strip(b"\0"):  # the rest is padding
            for flip in (1, 64, 255):
                damaged = data[:place] + bytes([byte ^ flip]) + data[place + 1 :]
                if outcome(read, damaged, intact) not in ("found", "harmless"):
                    wrong.append((place, flip))
    assert not wrong


def test_padding_does_not_matter_and_cuts_are_refused(tmp_path: Path) -> None:
    data, read = small(), reader(tmp_path)
    for length in range(0, len(data), 61):
        assert outcome(read, data[:length], SAMPLES) == "found"
    end = data.rindex(b"\xd5\x3e") + 6
    assert outcome(read, data[:end] + bytes(len(data) - end), SAMPLES) == "harmless"


def patched(data: bytes, *changes: tuple[int, bytes]) -> bytes:
    made = bytearray(data)
    for place, value in changes:
        made[place : place + len(value)] = value
    return bytes(made)


def forged() -> dict[str, tuple[bytes, str]]:
    """Make trees that lead in circles, out of the file, or beyond their own pages."""
    data = by_tree({b"%04d" % n: datum(JPEG * 3, n) for n in range(300)})
    (root,) = struct.unpack_from("<Q", data, PAGE + 128)
    nodes = root * PAGE
    (first,) = struct.unpack_from("<H", data, nodes + 16)
    (child,) = struct.unpack_from("<I", data, nodes + first)
    leaf = child * PAGE
    (node,) = struct.unpack_from("<H", data, leaf + 16)
    value = leaf + node
    (own,) = struct.unpack_from("<Q", data, value + 12)
    return {
        "a circle": (patched(data, (nodes + first, struct.pack("<I", root))), "circle|not in its place"),
        "the root outside": (patched(data, (PAGE + 128, struct.pack("<Q", 1 << 40))), "outside of the file"),
        "the root far outside": (patched(data, (PAGE + 128, struct.pack("<Q", 1 << 63))), "outside of the file"),
        "no root": (patched(data, (PAGE + 128, b"\xff" * 8)), "outside of the file"),
        "a page outside": (patched(data, (nodes + first, b"\xff" * 4)), "outside of the file"),
        "a page of values in the tree": (patched(data, (nodes + first, struct.pack("<I", own))), "no valid head"),
        "a value longer than the file": (patched(data, (value, b"\xff" * 4)), "ends outside of the file"),
        "a value on a page outside": (patched(data, (value + 12, b"\xff" * 8)), "ends outside of the file"),
        "a value on a page of the tree": (
            patched(data, (value + 12, struct.pack("<Q", child))),
            "does not hold the value",
        ),
        "more pages than there are": (
            patched(data, (own * PAGE + 12, b"\xff" * 4), (value, b"\xff\xff\xff\x7f")),
            "ends",
        ),
        "a node outside of its page": (patched(data, (leaf + 16, b"\xff\xff")), "no valid head"),
        "more nodes than fit": (patched(data, (leaf + 12, b"\xff\xff")), "no valid head"),
        "no nodes": (patched(data, (leaf + 12, b"\x10\0")), "no valid head"),
        "too many entries": (patched(data, (PAGE + 120, struct.pack("<Q", 301))), "has 300 of 301 entries"),
        "too few entries": (patched(data, (PAGE + 120, struct.pack("<Q", 1))), "has 300 of 1 entries"),
        "pages of no size": (patched(data, (40, bytes(4))), "head of a database"),
        "huge pages": (patched(data, (40, struct.pack("<I", 1 << 31))), "head of a database"),
        "a head alone": (data[: 2 * PAGE], "outside of the file"),
        "half a head": (data[:100], "damaged or is no LMDB database"),
    }


@pytest.mark.parametrize("name", forged())
def test_hostile_trees_are_refused(name: str, tmp_path: Path) -> None:
    data, message = forged()[name]
    (tmp_path / "data.mdb").write_bytes(data)
    with pytest.raises(DataError, match=rf"data\.mdb.*({message})") as caught:
        open_dataset(tmp_path / "data.mdb")
    assert "\n" not in str(caught.value)


def test_a_damaged_record_is_one_event(tmp_path: Path) -> None:
    data = small()
    place = data.index(b"\xff\xd8\xff two")
    (tmp_path / "data.mdb").write_bytes(patched(data, (place + 5, b"X")))
    dataset = open_dataset(tmp_path)
    assert [dataset.sample(0), dataset.sample(2)] == [SAMPLES[0], SAMPLES[2]]
    with pytest.raises(DataError, match=r"the value of b'0000000001_b\.jpg': the checksum does not match") as caught:
        dataset.sample(1)
    event = caught.value.events[0]
    assert (event.kind, event.sample, event.path) == ("corrupt", 1, str(tmp_path / "data.mdb"))
    report = verify(tmp_path)
    assert not report.is_whole
