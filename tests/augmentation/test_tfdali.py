"""What tfdali's documentation promises: Inception records in, augmented records out, file by file, CPU or GPU."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
import tensorflow as tf
from command_runner import CliRunner

from pixelmill import ArgumentError, DataError, augment, convert, fn, pipeline_def
from pixelmill import tfrecord as tfrec
from pixelmill.augmentation.job import AugmentJob
from pixelmill.cli import main
from pixelmill.create import photo
from pixelmill.engine import devices, placement
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes
from pixelmill.jobs.job import plan_options
from pixelmill.options.augment import AugmentOptions
from pixelmill.recipe import load_recipe

BOX_LABEL, OBJECT_LABEL = "image/object/bbox/label", "image/object/class/label"
SIDES = [f"image/object/bbox/{side}" for side in ("xmin", "ymin", "xmax", "ymax")]
LTRB = np.array([[0.3, 0.3, 0.6, 0.6], [0.4, 0.4, 0.7, 0.7], [0.0, 0.0, 0.01, 0.01]], np.float32)


def inception_record(number, *, labels=(3, 5, 7), boxes=LTRB, label_key=BOX_LABEL, kind=b"JPEG"):
    """Return a record as Inception's build_imagenet_data.py writes it."""
    features = tf.train.Example().features.feature
    image = tf.io.encode_jpeg(photo(2, number, height=200, width=220), quality=95).numpy()
    features["image/encoded"].bytes_list.value.append(image)
    features["image/format"].bytes_list.value.append(kind)
    features["image/colorspace"].bytes_list.value.append(b"RGB")
    features["image/filename"].bytes_list.value.append(b"n0144_%d.JPEG" % number)
    features["image/class/label"].int64_list.value.append(number)
    features["image/class/synset"].bytes_list.value.append(b"n01440764")
    for side, column in zip(SIDES, np.asarray(boxes).T, strict=True):
        features[side].float_list.value.extend(column)
    if labels is not None:
        features[label_key].int64_list.value.extend(labels)
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def write(path, records):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def read(path):
    return [
        dict(tf.train.Example.FromString(raw.numpy()).features.feature) for raw in tf.data.TFRecordDataset(str(path))
    ]


@pytest.fixture
def train(tmp_path):
    return write(tmp_path / "train-00000", [inception_record(number) for number in range(4)])


def test_labels_of_boxes_follow_to_where_they_came_from(train, tmp_path):
    augment(train, tmp_path / "out", recipe="tfdali")
    for before, after in zip(read(train), read(tmp_path / "out" / "train-00000"), strict=True):
        assert OBJECT_LABEL not in after and after.keys() == before.keys()
        kept = after[BOX_LABEL].int64_list.value
        # Two boxes in the middle, which no crop of the recipe reaches, and one in a corner, which most crops remove.
        assert kept[:2] == [3, 5] and all(len(after[side].float_list.value) == len(kept) for side in SIDES)
        assert after["image/format"].bytes_list.value == [b"JPEG"]
    lengths = [len(features[BOX_LABEL].int64_list.value) for features in read(tmp_path / "out" / "train-00000")]
    assert 2 in lengths


@pytest.mark.parametrize("to", ["folder", "webdataset", "npy", "recordio"])
def test_other_containers_get_the_labels_of_boxes_and_return_them(train, tmp_path, to):
    convert(train, tmp_path / to, to=to)
    sample = open_dataset(tmp_path / to).sample(0)
    assert sample.boxes == Boxes(LTRB, [3, 5, 7])
    convert(tmp_path / to, tmp_path / "back", to="tfrecord")
    (path,) = (tmp_path / "back").glob("*.tfrecord")
    after = read(path)[0]
    assert list(after[BOX_LABEL].int64_list.value) == [3, 5, 7] and OBJECT_LABEL not in after


@pytest.mark.parametrize("to", ["folder", "webdataset", "npy", "recordio", "tfrecord"])
def test_boxes_without_labels_get_none(tmp_path, to):
    path = write(tmp_path / "bare", [inception_record(0, labels=None)])
    convert(path, tmp_path / to, to=to)
    boxes = open_dataset(tmp_path / to).sample(0).boxes
    assert boxes == Boxes(LTRB) and boxes.labels is None
    augment(path, tmp_path / "out")
    assert {BOX_LABEL, OBJECT_LABEL}.isdisjoint(read(tmp_path / "out" / "bare")[0])


def test_records_with_both_labels_keep_both(tmp_path):
    record = tf.train.Example.FromString(inception_record(0))
    record.features.feature[OBJECT_LABEL].int64_list.value.extend([3, 5, 7])
    path = write(tmp_path / "both", [record.SerializeToString()])
    augment(path, tmp_path / "out")
    (after,) = read(tmp_path / "out" / "both")
    assert after[OBJECT_LABEL] == after[BOX_LABEL] and list(after[BOX_LABEL].int64_list.value)[:2] == [3, 5]


def test_an_empty_list_of_labels_stays_empty(tmp_path):
    path = write(tmp_path / "empty", [inception_record(0, labels=(), label_key=OBJECT_LABEL)])
    augment(path, tmp_path / "out")
    (after,) = read(tmp_path / "out" / "empty")
    assert len(after[OBJECT_LABEL].int64_list.value) == 0 and len(after[SIDES[0]].float_list.value) >= 2


def test_the_dataset_reader_reads_the_labels_of_boxes(train):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def pipeline():
        columns = fn.readers.dataset(path=train, columns=["box_label", "boxes"])
        return columns["box_label"], columns["boxes"]

    labels, boxes = pipeline().run()
    assert labels.at(0).tolist() == [3, 5, 7] and np.array_equal(boxes.at(0), LTRB)


@pytest.mark.parametrize(("kind", "stays"), [(b"JPEG", b"JPEG"), (b"jpeg", b"jpeg"), (b"JPG", b"JPG")])
def test_the_format_keeps_its_case(tmp_path, kind, stays):
    path = write(tmp_path / "train", [inception_record(0, kind=kind)])
    augment(path, tmp_path / "same")
    augment(path, tmp_path / "png", format="png")
    convert(path, tmp_path / "small", to="tfrecord", resize=64)
    convert(path, tmp_path / "converted", to="tfrecord", format="png")
    formats = [
        read(next(found for found in (tmp_path / name).iterdir() if found.suffix not in (".idx", ".json")))
        for name in ("same", "png", "small", "converted")
    ]
    png = b"PNG" if kind.isupper() else b"png"
    assert [found[0]["image/format"].bytes_list.value[0] for found in formats] == [stays, png, stays, png]


def test_two_boxes_for_one_value_are_no_damage(train):
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline(feature):
        return fn.readers.tfrecord(path=train, features={SIDES[0]: feature})[SIDES[0]]

    with pytest.raises(DataError, match="has 3 values, FixedLenFeature asks for 1; VarLenFeature takes") as caught:
        pipeline(tfrec.FixedLenFeature([1], tfrec.float32, 0.0)).run()
    assert caught.value.events[0].kind == "argument"
    (found,) = pipeline(tfrec.VarLenFeature(tfrec.float32, 0.0)).run()
    assert np.array_equal(found.at(0), LTRB[:, 0])


def test_its_recipe_flips_both_ways_rotates_and_crops():
    names = [next(iter(step)) for step in load_recipe("tfdali").steps]
    assert names == ["resize", "flip", "rotate", "crop"]
    assert set(load_recipe("tfdali").steps[1]["flip"]) == {"horizontal", "vertical"}  # type: ignore[call-overload]


def test_its_files_have_a_prefix_and_the_best_quality(train, tmp_path):
    command = ["augment", train, "--output", str(tmp_path / "out"), "--mode", "cpu", "--recipe", "tfdali"]
    found = CliRunner().invoke(main, [*command, "--quality", "100", "--subsampling", "4:4:4", "--prefix", "aug_"])
    assert found.exit_code == 0, found.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"aug_train-00000", "aug_train-00000.idx", "manifest.json"}
    image = open_dataset(tmp_path / "out" / "aug_train-00000").sample(0).image
    components = image[image.index(b"\xff\xc0") + 10 :][:9]
    assert [components[at] for at in (1, 4, 7)] == [0x11, 0x11, 0x11]  # one sample per pixel in each component


def test_a_prefix_is_part_of_the_plan_only_if_it_is_set():
    jobs = [AugmentJob(options=AugmentOptions("in", prefix=prefix), recipe_content={}) for prefix in ("", "aug_")]
    assert "prefix" not in plan_options(jobs[0]) and plan_options(jobs[1])["prefix"] == "aug_"


@pytest.mark.parametrize(("prefix", "to"), [("../", None), (".a", None), ("aug_", "folder")])
def test_prefixes_that_are_none_are_refused(train, tmp_path, prefix, to):
    with pytest.raises(ArgumentError, match="augment: prefix"):
        augment(train, tmp_path / "out", prefix=prefix, to=to)


def test_mode_auto_without_a_gpu_runs_on_the_cpu_and_says_so(train, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(devices, "usable_gpus", lambda: ())
    with caplog.at_level(logging.WARNING, "pixelmill"):
        augment(train, tmp_path / "auto", mode="auto")
    assert "augment: mode auto runs on the CPU" in caplog.text
    augment(train, tmp_path / "cpu", mode="cpu")
    both = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("auto", "cpu")]
    assert both[0] == both[1]


def test_mode_auto_takes_a_gpu(caplog, monkeypatch):
    monkeypatch.setattr(devices, "usable_gpus", lambda: (devices.Gpu(0, "Some GPU", 1 << 30, (9, 0)),))
    with caplog.at_level(logging.WARNING, "pixelmill"):
        assert placement.chosen_mode("augment", "auto") == "gpu"
    assert "runs on the GPU: Some GPU" in caplog.text
