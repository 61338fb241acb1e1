"""Datasets beside other programs: DALI, TensorFlow and webdataset read what we write, and we what they write."""

from __future__ import annotations

import csv
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import webdataset
from dataset_cases import encoded, mask_of, odd_samples, plain_samples, write
from nvidia.dali import fn, pipeline_def
from nvidia.dali import tfrecord as tfrec
from webdataset.tariterators import group_by_keys, tar_file_expander

from pixelmill.formats import npy
from pixelmill.formats.example import Example, bytes_feature, int64_feature
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample


def run(define: Any, count: int) -> list[list[Any]]:
    """Run a DALI pipeline over `count` samples and give its outputs sample by sample."""
    pipe = define(batch_size=count, num_threads=1, device_id=None)
    pipe.build()
    outputs = pipe.run()
    return [[np.array(output.at(i)) for output in outputs] for i in range(count)]


def test_dali_reads_our_folder_and_list(tmp_path: Path) -> None:
    samples = plain_samples(6)
    write(tmp_path / "f", "folder", samples, classes=("ant", "bee", "cat"))
    write(tmp_path / "l", "list", samples)

    @pipeline_def
    def folder() -> Any:
        return tuple(fn.readers.file(file_root=str(tmp_path / "f")))

    @pipeline_def
    def listed() -> Any:
        return tuple(fn.readers.file(file_root=str(tmp_path / "l"), file_list=str(tmp_path / "l/list.txt")))

    in_folder = sorted(samples, key=lambda sample: sample.key)
    for define, expected in ((folder, in_folder), (listed, samples)):
        found = [(image.tobytes(), int(label[0])) for image, label in run(define, 6)]
        assert found == [(sample.image, sample.labels[0]) for sample in expected]


def test_dali_reads_our_records(tmp_path: Path) -> None:
    samples = plain_samples(5)
    for format in ("tfrecord", "recordio", "webdataset"):
        write(tmp_path / format, format, samples)

    @pipeline_def
    def examples() -> Any:
        features = {
            "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
            "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        }
        paths = {"path": str(tmp_path / "tfrecord/data.tfrecord"), "index_path": str(tmp_path / "tfrecord/data.idx")}
        out = fn.readers.tfrecord(**paths, features=features)
        return out["image/encoded"], out["image/class/label"]  # type: ignore[index, call-overload]

    @pipeline_def
    def recordio() -> Any:
        folder = tmp_path / "recordio"
        return tuple(fn.readers.mxnet(path=[str(folder / "data.rec")], index_path=[str(folder / "data.idx")]))

    @pipeline_def
    def tars() -> Any:
        folder = tmp_path / "webdataset"
        paths = {"paths": [str(folder / "data.tar")], "index_paths": [str(folder / "data.idx")]}
        return tuple(fn.readers.webdataset(**paths, ext=["jpg", "cls"]))

    for define in (examples, recordio, tars):
        for sample, (image, label) in zip(samples, run(define, 5), strict=True):
            assert image.tobytes() == sample.image
            number = int(label.tobytes()) if define is tars else int(label.reshape(-1)[0])
            assert number == sample.labels[0]


def test_dali_reads_and_decodes_our_arrays(tmp_path: Path) -> None:
    samples = plain_samples(4)
    write(tmp_path / "x", "npy", samples)
    rows = list(csv.DictReader((tmp_path / "x/samples.csv").read_text().splitlines()))
    assert [int(row["labels"]) for row in rows] == [sample.labels[0] for sample in samples]

    @pipeline_def
    def arrays() -> Any:
        data = fn.readers.numpy(file_root=str(tmp_path / "x"), files=[row["image"] for row in rows])
        return data, fn.decoders.image(data)

    for sample, (data, image) in zip(samples, run(arrays, 4), strict=True):
        assert data.tobytes() == sample.image and image.shape == (9, 13, 3)


def test_webdataset_reads_our_archives(tmp_path: Path) -> None:
    box = Boxes([[0, 0.25, 0.5, 1]], [4])
    samples = [
        Sample("a/x", encoded("jpeg", seed=1), "jpg", (3,), "three", boxes=box, mask=mask_of(2)),
        *plain_samples(3),
    ]
    write(tmp_path / "x", "webdataset", samples)
    with (tmp_path / "x/data.tar").open("rb") as stream:
        shard = [{"stream": stream, "url": "data.tar"}]
        found = list(group_by_keys(tar_file_expander(shard)))
    assert [item["__key__"] for item in found] == [sample.key for sample in samples]
    assert [(item["jpg"], int(item["cls"])) for item in found] == [(s.image, s.labels[0]) for s in samples]
    assert found[0]["mask.png"] == samples[0].mask
    assert json.loads(found[0]["json"])["pixelmill"]["boxes"] == [[0, 0.25, 0.5, 1]]
    with tarfile.open(tmp_path / "x/data.tar") as archive:
        assert {(member.mtime, member.uid, member.uname) for member in archive} == {(0, 0, "")}


def test_we_read_what_webdataset_writes(tmp_path: Path) -> None:
    images = [encoded("png", seed=i) for i in range(3)]
    with webdataset.TarWriter(str(tmp_path / "x.tar")) as sink:
        for i, image in enumerate(images):
            sink.write({"__key__": f"s{i}", "png": image, "cls": i, "json": {"caption": "x"}, "txt": "words"})
    dataset = open_dataset(tmp_path / "x.tar")
    assert [(sample.key, sample.image, sample.labels) for sample in dataset] == [
        (f"s{i}", image, (i,)) for i, image in enumerate(images)
    ]
    again = open_dataset(write(tmp_path / "y", "webdataset", dataset))
    assert list(again) == list(dataset)
    with tarfile.open(tmp_path / "y/data.tar") as archive:
        assert {Path(name).suffix for name in archive.getnames()} == {".png", ".cls", ".json", ".txt"}


def test_tensorflow_reads_our_examples(tmp_path: Path) -> None:
    samples = odd_samples()
    write(tmp_path / "x", "tfrecord", samples)
    records = list(tf.data.TFRecordDataset(str(tmp_path / "x/data.tfrecord")).as_numpy_iterator())
    assert len(records) == len(samples)
    for sample, record in zip(samples, records, strict=True):
        features = tf.train.Example.FromString(record).features.feature
        assert features["image/encoded"].bytes_list.value[0] == sample.image
        label = features["image/class/label"]
        values = list(label.int64_list.value) or list(label.float_list.value)
        assert tuple(values) == sample.labels
        if sample.boxes is not None:
            assert list(features["image/object/bbox/xmin"].float_list.value) == sample.boxes.ltrb[:, 0].tolist()
            labels = [] if sample.boxes.labels is None else sample.boxes.labels.tolist()
            assert list(features["image/object/class/label"].int64_list.value) == labels
            names = [os.fsdecode(name) for name in features["image/object/class/text"].bytes_list.value]
            assert tuple(names) == (sample.boxes.names or ())


def features_of(**values: Any) -> Any:
    feature = {}
    for name, value in values.items():
        if isinstance(value, bytes):
            feature[name] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        elif isinstance(value, int):
            feature[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
        else:
            feature[name] = tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_we_read_what_tensorflow_writes(compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    image = encoded("jpeg", seed=1)
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    tfds = {"image": image, "label": 7, "file_name": b"n01/x.JPEG", "objects/bbox": [0.1, 0.2, 0.3, 0.4]}
    sizes = {"image/height": 2, "image/width": 4, "image/channels": 3, "image/format": b"tensor"}
    with tf.io.TFRecordWriter(str(tmp_path / "x.tfrecord"), compression) as writer:
        writer.write(features_of(**tfds, **{"objects/label": 9}))
        writer.write(features_of(**sizes, **{"image/encoded": pixels.tobytes(), "image/class/label": 3}))
        writer.write(features_of(**{"image/encoded": image, "image/class/text": b"cat", "image/format": b"JPEG"}))
    first, second, third = open_dataset(tmp_path / "x.tfrecord")
    assert (first.key, first.extension, first.labels, first.image) == ("n01/x", "JPEG", (7,), image)
    assert first.boxes == Boxes([[0.2, 0.1, 0.4, 0.3]], [9])
    assert np.array_equal(npy.decode(second.image), pixels) and second.labels == (3,)
    assert (third.class_name, third.key, third.extension) == ("cat", "x-00000002", "jpg")
    assert third.extra == {"image/format": bytes_feature("JPEG")}


@pytest.mark.parametrize("keys", ["inception", "tfds", "raw"])
def test_keys_there_and_back(keys: str, tmp_path: Path) -> None:
    samples = [Sample(**{**vars(sample), "extra": {}}) for sample in odd_samples()]
    if keys == "raw":
        samples = [sample for sample in samples if sample.extension == "npy" and sample.key == "array"]
    assert list(open_dataset(write(tmp_path / "x", "tfrecord", samples, keys=keys))) == samples


def test_unknown_features_survive_bit_by_bit(tmp_path: Path) -> None:
    extra = Example({"image/year": int64_feature([2019]), "notes": bytes_feature(b"\0\1", b"")})
    extra.unknown, extra.features_unknown = b"\x7a\x03abc", b"\x1a\x01x"
    write(tmp_path / "x", "tfrecord", [Sample("a", encoded("png", seed=1), "png", (1,), extra=extra)])
    dataset = open_dataset(tmp_path / "x")
    write(tmp_path / "y", "tfrecord", dataset)
    assert (tmp_path / "y/data.tfrecord").read_bytes() == (tmp_path / "x/data.tfrecord").read_bytes()
    assert dataset.sample(0).extra == extra
