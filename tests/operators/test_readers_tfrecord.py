"""readers.tfrecord against DALI where DALI is right, and against what was written where it is not."""

from __future__ import annotations

import gzip
import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dali_runs import DALI, HERE, numpy_batch
from PIL import Image

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import example, index_cache, scan_cache, tfrecord
from pixelmill.formats.tfrecord import index as tfrecord_index

BOTH = [HERE, DALI]
COUNT = 23


def jpeg(number: int) -> bytes:
    pixels = np.random.default_rng(number).integers(0, 255, (20 + number, 30, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG")
    return stream.getvalue()


def sample(number: int) -> dict[str, example.Feature]:
    boxes = np.arange(4 * (number % 4), dtype=np.float32) / 7
    return {
        "image/encoded": example.bytes_feature(jpeg(number)),
        "image/class/label": example.int64_feature(number - 5),
        "pair": example.float_feature([number, number / 3]),
        "boxes": example.float_feature(boxes),
        "many": example.int64_feature(np.arange(number) * 1_000_000_007),
        "name": example.bytes_feature(f"Bild {number} ü", "second value"),
    }


def write(path: Path, samples: list[dict[str, example.Feature]]) -> None:
    with path.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for features in samples:
            writer.write_example(features)
    tfrecord.write_index(f"{path}.idx", tfrecord.scan(str(path)).index)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    samples = [sample(number) for number in range(COUNT)]
    write(tmp_path / "one", samples[:9])
    write(tmp_path / "two", samples[9:])
    return [str(tmp_path / "one"), str(tmp_path / "two")]


def features_of(module):
    words = module.tfrecord
    return {
        "image/encoded": words.FixedLenFeature((), words.string, ""),
        "image/class/label": words.FixedLenFeature([1], words.int64, -1),
        "pair": words.FixedLenFeature([2, 1], words.float32, 0.0),
        "boxes": words.VarLenFeature([4], words.float32, 0.0),
        "many": words.VarLenFeature(words.int64, 0),
        "name": words.FixedLenFeature([], words.string, ""),
    }


def make(module, path, *, features=None, batch_size=4, indexed=True, options=None, **arguments):
    paths = [path] if isinstance(path, str) else path
    if indexed:
        arguments["index_path"] = [f"{name}.idx" for name in paths]
    given = {"num_threads": 2, "device_id": None, "seed": 3, **(options or {})}
    pipe = module.Pipeline(batch_size=batch_size, **given)
    with pipe:
        wanted = features_of(module) if features is None else features
        values = module.fn.readers.tfrecord(path=path, features=wanted, name="Reader", **arguments)
        pipe.set_outputs(*values.values())
    pipe.build()
    return pipe


def rows(pipe, batches):
    made = []
    for _ in range(batches):
        outputs = [numpy_batch(batch) for batch in pipe.run()]
        made += [[(v.dtype.name, v.shape, v.tobytes()) for v in row] for row in zip(*outputs, strict=True)]
    return made


# What it gives


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"num_shards": 3, "shard_id": 1},
        {"num_shards": 3, "shard_id": 2, "stick_to_shard": True},
        {"num_shards": 2, "shard_id": 0, "pad_last_batch": True},
        {"batch_size": 7, "pad_last_batch": True},
    ],
)
def test_same_values_as_dali(files, arguments):
    mine, theirs = (rows(make(module, files, **arguments), 13) for module in BOTH)
    assert mine == theirs


def test_same_meta_and_source_as_dali(files):
    mine, theirs = (make(module, files, num_shards=2, pad_last_batch=True) for module in BOTH)
    assert mine.reader_meta("Reader") == theirs.reader_meta("Reader")

    def places(module):
        pipe = module.Pipeline(batch_size=COUNT, num_threads=1, device_id=None)
        with pipe:
            idx = [f"{name}.idx" for name in files]
            values = module.fn.readers.tfrecord(path=files, index_path=idx, features=features_of(module))
            pipe.set_outputs(module.fn.get_property(values["image/encoded"], key="source_info"))
        pipe.build()
        return [bytes(text) for text in numpy_batch(pipe.run()[0])]

    assert places(HERE) == places(DALI)


def test_pipeline_gives_the_images_of_dali(files):
    batches = []
    for module in BOTH:
        pipe = module.Pipeline(batch_size=COUNT, num_threads=2, device_id=None)
        words = module.tfrecord
        with pipe:
            wanted = {"image/encoded": words.FixedLenFeature((), words.string, "")}
            index = [f"{name}.idx" for name in files]
            values = module.ops.readers.TFRecord(path=files, index_path=index, features=wanted)()
            pipe.set_outputs(module.fn.decoders.image(values["image/encoded"], device="cpu"))
        pipe.build()
        batches.append(numpy_batch(pipe.run()[0]))
    for mine, theirs in zip(*batches, strict=True):
        assert mine.shape == theirs.shape
        assert np.abs(mine.astype(int) - theirs).max() <= 1


def test_removed_spelling(files):
    pipe = HERE.Pipeline(batch_size=3, num_threads=1)
    with pipe:
        reader = HERE.ops.TFRecordReader(path=files, features=features_of(HERE))
        pipe.set_outputs(*reader().values())
    assert rows(pipe, 2) == rows(make(HERE, files, batch_size=3), 2)


def test_index_on_the_fly_is_the_index(files):
    assert rows(make(HERE, files, indexed=False), 6) == rows(make(HERE, files), 6)


def test_shuffle_visits_everything_once_each_epoch(files):
    wanted = {"image/class/label": features_of(HERE)["image/class/label"]}
    pipe = make(HERE, files, features=wanted, batch_size=COUNT, random_shuffle=True)
    epochs = [numpy_batch(pipe.run()[0]) for _ in range(3)]
    orders = [[int(label[0]) for label in labels] for labels in epochs]
    assert all(sorted(order) == [number - 5 for number in range(COUNT)] for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_first_of_several_strings(files):
    names = numpy_batch(make(HERE, files).run()[5])
    assert bytes(names[1]).decode() == "Bild 1 ü"


# What is missing, and what does not fit


def one_record(tmp_path, features):
    write(tmp_path / "record", [features])
    return str(tmp_path / "record")


def test_missing_features_take_their_defaults(tmp_path):
    words = HERE.tfrecord
    path = one_record(tmp_path, {"empty": example.int64_feature([]), "nothing": example.Feature(None, [])})
    wanted = {
        "empty": words.FixedLenFeature([], words.int64, 9),
        "a": words.FixedLenFeature([2], words.float32, 1.5),
        "b": words.FixedLenFeature([2], words.int64, [3, 4]),
        "c": words.FixedLenFeature([], words.string, "däfault"),
        "d": words.VarLenFeature(words.int64, 7),
        "e": words.VarLenFeature([4], words.float32, 0.0),
        "f": words.VarLenFeature(words.string, "x"),
        "nothing": words.FixedLenFeature([1], words.int64, -1),
    }
    values = [numpy_batch(batch)[0] for batch in make(HERE, path, features=wanted, batch_size=1).run()]
    assert [value.tolist() for value in values] == [
        9, [1.5, 1.5], [3, 4], list("däfault".encode()), [], [], [ord("x")], [-1]
    ]  # fmt: skip
    assert [value.shape for value in values][4:6] == [(0,), (0, 4)]
    assert [value.dtype.name for value in values] == [
        "int64", "float32", "int64", "uint8", "int64", "float32", "uint8", "int64"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (lambda w: ("absent", w.FixedLenFeature([1], w.int64)), "'absent' is missing, and it has no default"),
        (
            lambda w: ("pair", w.FixedLenFeature([3], w.float32, 0.0)),
            "has 2 values, FixedLenFeature asks for 3; Var",
        ),
        (
            lambda w: ("pair", w.FixedLenFeature([1], w.float32, 0.0)),
            "has 2 values, FixedLenFeature asks for 1; Var",
        ),
        (lambda w: ("pair", w.VarLenFeature([3], w.float32, 0.0)), "'pair' has 2 values, not a multiple of 3"),
        (lambda w: ("pair", w.VarLenFeature(w.int64, 0)), "'pair' holds float values, not int64"),
        (lambda w: ("name", w.VarLenFeature(w.int64, 0)), "'name' holds bytes values, not int64"),
        (lambda w: ("pair", w.FixedLenFeature([], w.string, "")), "'pair' holds float values, not bytes"),
    ],
)
def test_features_that_do_not_fit_are_named(tmp_path, feature, message):
    path = one_record(tmp_path, sample(1))
    with pytest.raises(DataError, match=message) as caught:
        make(HERE, path, features=dict([feature(HERE.tfrecord)]), batch_size=1).run()
    (event,) = caught.value.events
    # A number of values that does not fit is a mistake of the program, not damage of the record.
    kind = "argument" if "has 2 values" in message else "corrupt"
    assert (event.kind, event.path, event.operator) == (kind, path, "readers.tfrecord")


@pytest.mark.parametrize(
    "features",
    [
        {},
        ["a"],
        {"a": "string"},
        {"a": HERE.tfrecord.FixedLenFeature([2], HERE.tfrecord.string, "")},
        {"a": HERE.tfrecord.FixedLenFeature([2], HERE.tfrecord.int64, [1, 2, 3])},
        {"a": HERE.tfrecord.FixedLenFeature([2], HERE.tfrecord.int64, "text")},
        {"a": HERE.tfrecord.FixedLenFeature([-1], HERE.tfrecord.int64, 0)},
        {"a": HERE.tfrecord.FixedLenFeature([], HERE.tfrecord.string, 5)},
    ],
)
def test_wrong_declarations_are_refused(files, features):
    with pytest.raises(ArgumentError, match="features"):
        make(HERE, files, features=features)


# Damage


def damaged(tmp_path, change):
    path = tmp_path / "damaged"
    write(path, [sample(number) for number in range(8)])
    index = tfrecord.scan(str(path)).index
    data = bytearray(path.read_bytes())
    change(data, int(index.offsets[3]), int(index.lengths[3]))
    path.write_bytes(data)
    return str(path), int(index.offsets[3])


def flip(data, at, length):
    data[at + length // 2] ^= 1


def break_head(data, at, length):
    data[at + 3] ^= 1


def delete(data, at, length):
    del data[at + length // 2]


def insert(data, at, length):
    data.insert(at + length // 2, 7)


@pytest.mark.parametrize("change", [flip, break_head, delete, insert])
@pytest.mark.parametrize("on_error", ["raise", "skip", "fill"])
def test_damage_costs_one_record_and_is_told(tmp_path, change, on_error):
    path, offset = damaged(tmp_path, change)
    wanted = {"image/class/label": features_of(HERE)["image/class/label"]}
    pipe = make(HERE, path, features=wanted, batch_size=4, indexed=False, options={"on_error": on_error})
    labels: list[list[int]] = []
    caught = []
    while len(labels) < 2:
        try:
            labels.append([int(label[0]) for label in numpy_batch(pipe.run()[0])])
        except DataError as error:
            caught.append(error)
    assert labels[0][:3] == [-5, -4, -3]
    assert labels[1] == [-1, 0, 1, 2]
    assert len(caught) == (on_error == "raise")
    (event,) = pipe.errors.events
    assert (event.kind, event.path, event.offset, event.sample) == ("checksum", path, offset, 3)


def test_cut_file_is_told(tmp_path):
    path = tmp_path / "cut"
    write(path, [sample(number) for number in range(4)])
    index = tfrecord.scan(str(path)).index
    path.write_bytes(path.read_bytes()[: int(index.offsets[3]) + 40])
    wanted = {"image/class/label": features_of(HERE)["image/class/label"]}
    pipe = make(HERE, str(path), features=wanted, indexed=False, options={"on_error": "fill"})
    assert [int(label[0]) for label in numpy_batch(pipe.run()[0])] == [-5, -4, -3, 0]
    assert [event.kind for event in pipe.errors.events] == ["truncated"]


def test_limit_of_records(tmp_path):
    path = one_record(tmp_path, {"text": example.bytes_feature(bytes(5000))})
    wanted = {"text": HERE.tfrecord.FixedLenFeature([], HERE.tfrecord.string, "")}
    with pytest.raises(DataError, match="the limit record_bytes is 5000") as caught:
        make(HERE, path, features=wanted, batch_size=1, options={"limits": HERE.types.Limits(record_bytes=5000)}).run()
    assert caught.value.events[0].kind == "too_large"


# Indexes that do not fit


def rewritten(path, text):
    Path(f"{path}.idx").write_text(text)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lines: lines[::-1],
        lambda lines: [*lines, "999999 40"],
        lambda lines: ["0 17", *lines[1:]],
        lambda lines: ["5 100"],
        lambda lines: ["0"],
        lambda lines: ["a b"],
        lambda lines: ["0 10"],
        lambda lines: ["-16 32"],
        lambda lines: [f"{2**63 - 1} 16"],
        lambda lines: [f"0 {2**63 - 1}"],
        lambda lines: [f"0 {2**70}"],
        lambda lines: [lines[0], lines[0]],
    ],
)
def test_index_that_does_not_fit_is_replaced(files, spoil, caplog):
    expected = rows(make(HERE, files, indexed=False), 6)
    lines = Path(f"{files[0]}.idx").read_text().splitlines()
    rewritten(files[0], "\n".join(spoil(lines)) + "\n")
    with caplog.at_level(logging.WARNING, "pixelmill"):
        assert rows(make(HERE, files), 6) == expected
    assert "is read without it" in caplog.text


def test_index_older_than_the_data_is_compared(files, caplog):
    expected = rows(make(HERE, files), 6)
    os.utime(f"{files[0]}.idx", (1, 1))
    with caplog.at_level(logging.WARNING, "pixelmill"):
        assert rows(make(HERE, files), 6) == expected
    assert caplog.text == ""


def test_index_of_a_part_is_a_part(files):
    lines = Path(f"{files[0]}.idx").read_text().splitlines()
    rewritten(files[0], f"{lines[2]}\n{lines[5]}\n")
    assert rows(make(HERE, files[0], batch_size=2), 1) == [
        row for number, row in enumerate(rows(make(HERE, files[0], indexed=False, batch_size=9), 1)) if number in (2, 5)
    ]


def test_wrong_files_are_named(tmp_path):
    path = tmp_path / "data"
    for begin, name in ((b"\x0a\x23\xd7\xce", "MXNet RecordIO"), (b"\x89PNG\r\n", "a PNG image")):
        path.write_bytes(begin + bytes(range(1, 100)))
        with pytest.raises(DataError, match=f"looks like {name}, not like a TFRecord file") as caught:
            make(HERE, str(path), indexed=False)
        assert caught.value.events[0].kind == "wrong_format"
    path.write_bytes(b"")
    with pytest.raises(DataError, match="no record in"):
        make(HERE, str(path), indexed=False)
    with pytest.raises(ArgumentError, match="No such file"):
        make(HERE, str(tmp_path / "nothing"), indexed=False)
    with pytest.raises(ArgumentError, match="2 index files for 1"):
        make(HERE, str(path), index_path=["a", "b"], indexed=False)


# The cache


@pytest.fixture
def cached(files, tmp_path, monkeypatch):
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(scan_cache, "CACHED_FROM", 0)
    scans = []
    real = tfrecord.scan

    def counted(path, **options):
        scans.append(path)
        return real(path, **options)

    monkeypatch.setattr(tfrecord_index, "scan", counted)
    return files[0], tmp_path / "cache", scans


def test_second_opening_scans_nothing(cached):
    path, _, scans = cached
    first, second = tfrecord_index.open_file(path).index, tfrecord_index.open_file(path).index
    assert scans == [path]
    assert first.offsets.tolist() == second.offsets.tolist()
    assert first.lengths.tolist() == second.lengths.tolist()


def test_cache_beside_the_data_is_used(cached):
    path, folder, scans = cached
    tfrecord_index.open_file(path)
    (kept,) = folder.glob("[!.]*")
    kept.rename(path + index_cache.ENDING)
    tfrecord_index.open_file(path)
    assert scans == [path]


def test_changed_file_is_scanned_again(cached):
    path, _, scans = cached
    before = len(tfrecord_index.open_file(path).index)
    with Path(path).open("ab") as stream:
        stream.write(tfrecord.frame(b"one more"))
    assert len(tfrecord_index.open_file(path).index) == before + 1
    os.utime(path, (5, 5))
    tfrecord_index.open_file(path)
    assert len(scans) == 3


def test_every_damaged_byte_of_the_cache_is_found(cached):
    path, folder, scans = cached
    expected = tfrecord_index.open_file(path).index.offsets.tolist()
    (kept,) = folder.glob("[!.]*")
    good = kept.read_bytes()
    stamp = index_cache.stamp_of(path)
    for position in range(len(good)):
        bad = bytearray(good)
        bad[position] ^= 1 << position % 8
        assert index_cache._decoded(bytes(bad), "tfrecord", stamp) is None
        assert index_cache._decoded(good[:position], "tfrecord", stamp) is None
    kept.write_bytes(good[:-1])
    assert tfrecord_index.open_file(path).index.offsets.tolist() == expected
    assert kept.read_bytes() == good  # rebuilt
    assert len(scans) == 2


def test_forged_cache_is_not_read_through(cached):
    path, folder, scans = cached
    tfrecord_index.open_file(path)
    (kept,) = folder.glob("[!.]*")
    stamp = index_cache.stamp_of(path)
    for offsets, lengths in (([0], [2**62]), ([5], [40]), ([-3], [40]), ([0, 0], [60, 60]), ([0], [17])):
        forged = {"offsets": np.array(offsets, np.int64), "lengths": np.array(lengths, np.int64)}
        kept.write_bytes(index_cache.encoded("tfrecord", forged, stamp))
        assert len(tfrecord_index.open_file(path).index) == 9
    assert len(scans) == 6


def test_cache_can_be_turned_off(cached, monkeypatch):
    path, folder, scans = cached
    monkeypatch.setenv("PIXELMILL_CACHE", "off")
    tfrecord_index.open_file(path)
    tfrecord_index.open_file(path)
    assert len(scans) == 2 and not folder.exists()


# gzip


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "unpacked"


def test_gzip_file_is_read_as_the_plain_one(files, tmp_path, cache):
    packed = tmp_path / "one.gz"
    data = Path(files[0]).read_bytes()
    packed.write_bytes(gzip.compress(data[:700]) + gzip.compress(data[700:]))  # two members are one file
    for _ in range(2):
        assert rows(make(HERE, str(packed), indexed=False), 3) == rows(make(HERE, files[0]), 3)
    assert len(list(cache.glob("[!.]*"))) == 1
    assert list(tfrecord.read_records(str(packed))) == list(tfrecord.read_records(files[0]))


def test_changed_gzip_file_is_unpacked_again(tmp_path, cache):
    packed = tmp_path / "data.gz"
    for payload in (b"first", b"the second"):
        packed.write_bytes(gzip.compress(tfrecord.frame(payload)))
        assert list(tfrecord.read_records(str(packed))) == [payload]
    assert len(list(cache.glob("[!.]*"))) == 2, "another process may still read the first"


@pytest.mark.parametrize("kind", ["truncated", "corrupt"])
def test_damaged_gzip_file_gives_what_is_before(tmp_path, cache, kind):
    payloads = [np.random.default_rng(number).bytes(100_000) for number in range(10)]
    data = bytearray(gzip.compress(b"".join(map(tfrecord.frame, payloads))))
    if kind == "corrupt":
        data[-2] ^= 1  # the length after the data
    else:
        del data[len(data) // 2 :]
    packed = tmp_path / "data.gz"
    packed.write_bytes(data)
    scan = tfrecord.scan(str(packed), verify=True)
    assert scan.faults[-1].kind == kind
    assert len(scan.index) == (10 if kind == "corrupt" else 4)
    assert scan.faults[-1].path == str(packed)
    with pytest.raises(DataError, match="gzip"):
        make(HERE, str(packed), indexed=False)


def test_gzip_bomb_is_refused(tmp_path, cache, monkeypatch):
    monkeypatch.setattr("pixelmill.formats.tfrecord.gzip_copy.ALLOWANCE", 1 << 20)
    packed = tmp_path / "bomb.gz"
    packed.write_bytes(gzip.compress(bytes(50_000_000)))
    with pytest.raises(DataError, match="taken for a bomb") as caught:
        tfrecord.scan(str(packed))
    assert caught.value.events[0].kind == "too_large"
    assert list(cache.glob("[!.]*")) == []


# The command


def test_tfrecord2idx_writes_what_dali_reads(files):
    for name in files:
        Path(f"{name}.idx").rename(f"{name}.expected")
    command = [sys.executable, "-m", "pixelmill.cli.tfrecord2idx", *files, *(f"{name}.idx" for name in files)]
    subprocess.run(command, check=True)
    for name in files:
        assert Path(f"{name}.idx").read_bytes() == Path(f"{name}.expected").read_bytes()
    assert rows(make(DALI, files), 3) == rows(make(HERE, files), 3)
