"""Augmenting datasets: nothing of a record is lost, boxes and masks follow, bytes are the same however it is run."""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from command_runner import CliRunner
from peers import peer
from PIL import Image

from pixelmill import ArgumentError, DataError, EngineError, augment
from pixelmill.augmentation import AugmentJob, variants
from pixelmill.cli import main
from pixelmill.create import photo
from pixelmill.errors import OutputExists
from pixelmill.formats.registry import open_dataset

dali = peer("nvidia.dali")
tf = peer("tensorflow")

HEIGHT, WIDTH, COUNT = 120, 160, 12
SIDES = ("xmin", "ymin", "xmax", "ymax")


def encoded(pixels, kind="JPEG", **options):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind, **options)
    return stream.getvalue()


def floats(*values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def ints(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def texts(*values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def marked_example(number):
    """Make a record with a white mark, the box around it, and a second box in a corner."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    top, left = 20 + 3 * number, 30 + 5 * number
    pixels[top : top + 30, left : left + 40] = 255
    box = (left / WIDTH, top / HEIGHT, (left + 40) / WIDTH, (top + 30) / HEIGHT)
    corner = (0.0, 0.0, 0.02, 0.02)
    features = {
        "image/encoded": texts(encoded(pixels, quality=95)),
        "image/format": texts(b"JPEG"),
        "image/filename": texts(f"picture_{number}.jpg".encode()),
        "image/height": ints(HEIGHT),
        "image/width": ints(WIDTH),
        "image/class/label": ints(number % 3),
        "image/class/text": texts(f"class {number % 3}".encode()),
        "image/object/class/label": ints(7, 9),
        "image/object/class/text": texts(b"mark", b"corner"),
        "image/object/difficult": ints(0, 1),
        "some/embedding": floats(*np.arange(number, number + 5)),
        "empty": texts(),
    }
    features |= {f"image/object/bbox/{side}": floats(a, b) for side, a, b in zip(SIDES, box, corner, strict=True)}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


@pytest.fixture
def records(tmp_path):
    """Write two TFRecord files by TensorFlow."""
    for file in range(2):
        with tf.io.TFRecordWriter(str(tmp_path / f"train-0000{file}-of-00002")) as writer:
            for number in range(COUNT // 2):
                writer.write(marked_example(file * COUNT // 2 + number))
    return tmp_path


def read_examples(path):
    return [tf.train.Example.FromString(r.numpy()) for r in tf.data.TFRecordDataset([str(path)])]


def hashes(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def test_every_feature_survives_and_boxes_are_where_the_marks_are(records):
    output = records / "out"
    report = augment(str(records / "train-*"), output, variants=3, keep_originals=True, seed=5, workers=2)
    assert (report.samples, report.errors, report.complete) == (COUNT * 4, 0, True)
    names = {path.name for path in output.iterdir()}
    expected = {f"train-0000{i}-of-00002" for i in range(2)}
    assert names == expected | {f"{name}.idx" for name in expected} | {"manifest.json"}
    moved = 0
    for file in range(2):
        examples = read_examples(output / f"train-0000{file}-of-00002")
        assert len(examples) == COUNT * 2
        for place, example in enumerate(examples):
            number, variant = file * COUNT // 2 + place // 4, place % 4
            features = example.features.feature
            before = tf.train.Example.FromString(marked_example(number)).features.feature
            assert features.keys() == before.keys()
            for name in ("image/class/label", "image/class/text", "some/embedding", "empty", "image/format"):
                same = features[name] == before[name]
                assert same or (name == "image/format" and features[name].bytes_list.value[0].lower() == b"jpeg"), name
            if variant == 0:
                assert example == tf.train.Example.FromString(marked_example(number))
                continue
            moved += check_variant(features, f"picture_{number}-{variant}.jpg")
    assert moved > COUNT * 2  # most marks are still in the image


def check_variant(features, filename):
    image = np.asarray(Image.open(io.BytesIO(features["image/encoded"].bytes_list.value[0])))
    assert image.shape == (448, 448, 3)
    assert features["image/filename"].bytes_list.value[0].decode() == filename
    assert [features[f"image/{side}"].int64_list.value[0] for side in ("height", "width")] == [448, 448]
    labels = list(features["image/object/class/label"].int64_list.value)
    texts = [text.decode() for text in features["image/object/class/text"].bytes_list.value]
    assert texts == [{7: "mark", 9: "corner"}[label] for label in labels]
    assert list(features["image/object/difficult"].int64_list.value) == [{7: 0, 9: 1}[label] for label in labels]
    boxes = np.array([list(features[f"image/object/bbox/{side}"].float_list.value) for side in SIDES]).T
    assert boxes.shape == (len(labels), 4) and (boxes >= 0).all() and (boxes <= 1).all()
    if 7 not in labels:
        return 0
    left, top, right, bottom = boxes[labels.index(7)] * 448
    rows, columns = np.nonzero(image[..., 0] > 128)
    assert columns.min() >= left - 3 and columns.max() + 1 <= right + 3
    assert rows.min() >= top - 3 and rows.max() + 1 <= bottom + 3
    # The mark, a rectangle turned by at most 7 degrees, fills most of its box.
    assert len(rows) > 0.6 * (right - left) * (bottom - top)
    return 1


def test_dali_reads_the_output_with_its_index(records):
    output = records / "out"
    augment(str(records / "train-00000-of-00002"), output)
    path = str(output / "train-00000-of-00002")

    @dali.pipeline_def(batch_size=6, num_threads=1, device_id=None)
    def graph():
        features = {
            "image/encoded": dali.tfrecord.FixedLenFeature((), dali.tfrecord.string, ""),
            "image/class/label": dali.tfrecord.FixedLenFeature([1], dali.tfrecord.int64, -1),
        }
        inputs = dali.fn.readers.tfrecord(path=path, index_path=f"{path}.idx", features=features)
        return dali.fn.decoders.image(inputs["image/encoded"]), inputs["image/class/label"]

    pipeline = graph()
    pipeline.build()
    images, labels = pipeline.run()
    ours = list(open_dataset(path))
    assert [int(labels.at(i)[0]) for i in range(6)] == [sample.labels[0] for sample in ours] == [0, 1, 2, 0, 1, 2]
    for number, sample in enumerate(ours):
        np.testing.assert_array_equal(np.array(images.at(number)), np.asarray(Image.open(io.BytesIO(sample.image))))


def test_bytes_do_not_depend_on_how_it_is_run(records):
    source = str(records / "train-*")
    options = {"variants": 2, "seed": 3, "recipe": "heavy"}
    for name, how in {"one": {"workers": 1}, "two": {"workers": 2}}.items():
        augment(source, records / name, **options, **how)
    for index in (1, 0):
        augment(source, records / "parts", **options, workers=1, shard_index=index, num_shards=2, exists="resume")
    assert hashes(records / "one") == hashes(records / "two") == hashes(records / "parts")
    augment(source, records / "other", **{**options, "seed": 4}, workers=2)
    assert hashes(records / "one") != hashes(records / "other")


@pytest.mark.parametrize("limits", [{"_BATCH": 1}, {"_BATCH": 5}, {"_BATCH_BYTES": 1}, {"_BATCH_BYTES": 10000}])
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_of_any_size_give_the_same_bytes(records, monkeypatch, limits, threads):
    source = str(records / "train-00000-of-00002")
    augment(source, records / "one", variants=3, keep_originals=True, workers=1)
    for name, value in limits.items():
        monkeypatch.setattr(variants, name, value)
    monkeypatch.setattr("pixelmill.jobs.run.threads_of", lambda workers, shards: threads)
    augment(source, records / "many", variants=3, keep_originals=True, workers=1)
    assert hashes(records / "one") == hashes(records / "many")


@pytest.fixture
def photos(tmp_path):
    """Write a folder of images with masks, in which the classes have their own colors."""
    for group in ("images", "masks"):
        for name in ("cat", "dog"):
            (tmp_path / "data" / group / name).mkdir(parents=True)
    for number in range(6):
        name = f"{('cat', 'dog')[number % 2]}/{number}"
        pixels = photo(1, number, height=90, width=110)
        mask = np.zeros((90, 110), np.uint8)
        mask[20:60, 30:80] = 3 + number
        pixels[mask > 0] = 250
        (tmp_path / "data" / "images" / f"{name}.jpg").write_bytes(encoded(pixels, quality=95))
        picture = Image.fromarray(mask)
        if number % 2:  # palettes are kept, and are not mixed up with class numbers
            picture.putpalette([value for color in range(256) for value in (color, 255 - color, 7)])
        picture.save(tmp_path / "data" / "masks" / f"{name}.png")
    return tmp_path


def test_masks_follow_without_new_classes(photos):
    report = augment(photos / "data", photos / "out", recipe="segmentation", variants=2, seed=1)
    assert report.samples == 12
    dataset = open_dataset(photos / "out")
    assert [sample.class_name for sample in dataset] == ["cat"] * 6 + ["dog"] * 6
    for sample in dataset:
        picture = Image.open(io.BytesIO(sample.mask))
        number = int(sample.key.rpartition("/")[2].split("-")[0])
        assert picture.mode == ("P" if number % 2 else "L")
        mask, image = np.asarray(picture), np.asarray(Image.open(io.BytesIO(sample.image)))
        assert mask.shape == image.shape[:2] == (384, 384)
        assert set(np.unique(mask)) == {0, 3 + number}
        assert image[mask > 0].mean() > 180


@pytest.mark.parametrize("to", ["folder", "list", "tfrecord", "recordio", "npy", "webdataset"])
def test_any_container_can_be_written(photos, to):
    report = augment(photos / "data", photos / to, recipe="classification", to=to, format="png", samples_per_shard=4)
    assert report.samples == 6 and report.shards == 2
    dataset = open_dataset(photos / to)
    assert len(dataset) == 6 and sorted(sample.labels[0] for sample in dataset) == [0, 0, 0, 1, 1, 1]
    runner = CliRunner()
    result = runner.invoke(main, ["verify", str(photos / to)])
    assert result.exit_code == 0, result.output


def test_arrays_stay_arrays(photos):
    from pixelmill import convert

    convert(photos / "data", photos / "arrays", to="npy", format="npy", resize=(64, 72))
    augment(photos / "arrays", photos / "out", recipe="classification")
    for sample in open_dataset(photos / "out"):
        assert sample.image.startswith(b"\x93NUMPY")
        assert np.load(io.BytesIO(sample.image)).shape == (224, 224, 3)


def faulty(tmp_path):
    """Write a TFRecord with faults at known places; gives the places."""
    examples = [marked_example(number) for number in range(10)]
    whole = tf.train.Example.FromString(examples[0]).features.feature["image/encoded"].bytes_list.value[0]
    damages = {1: b"", 3: whole[: len(whole) // 2], 5: b"<html>not found</html>", 6: whole[:100], 8: bytes(500)}
    path = tmp_path / "faulty.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number, data in enumerate(examples):
            example = tf.train.Example.FromString(data)
            if number in damages:
                example.features.feature["image/encoded"].bytes_list.value[0] = damages[number]
            if number == 4:
                del example.features.feature["image/encoded"]
            writer.write(example.SerializeToString())
    raw = bytearray(path.read_bytes())
    offset = int(open_dataset(path).index.offsets[9])
    raw[offset + 200] ^= 1
    path.write_bytes(bytes(raw))
    return path, [*damages, 4, 9]


def test_bad_records_are_listed_exactly(tmp_path):
    path, bad = faulty(tmp_path)
    with pytest.raises(DataError, match=r"faulty\.tfrecord at byte"):
        augment(path, tmp_path / "fail")
    report = augment(path, tmp_path / "skip", on_error="skip")
    assert (report.samples, report.errors) == (10 - len(bad), len(bad))
    manifest = json.loads((tmp_path / "skip" / "manifest.json").read_text())
    listed = [event["sample"] for entry in manifest["entries"] for event in entry["errors"]]
    assert sorted(listed) == sorted(bad)
    augment(path, tmp_path / "keep", on_error="quarantine")
    assert len(list((tmp_path / "keep.quarantine").iterdir())) >= len(bad) - 1  # an empty image leaves nothing to keep
    with pytest.raises(DataError, match="more than 3"):
        augment(path, tmp_path / "limit", on_error="skip", max_errors=3)


def test_the_command_runs_on_one_file_alone(records, monkeypatch):
    monkeypatch.chdir(records)
    runner = CliRunner()
    result = runner.invoke(main, ["augment", "--mode", "cpu", "train-00000-of-00002"])
    assert result.exit_code == 0, result.output
    assert len(read_examples(records / "augmented" / "train-00000-of-00002")) == COUNT // 2
    assert runner.invoke(main, ["augment", "train-00000-of-00002"]).exit_code == 5
    again = runner.invoke(main, ["augment", "train-00000-of-00002", "--exists", "resume", "--json"])
    assert again.exit_code == 0 and json.loads(again.output)["made"] == 0
    gpu = runner.invoke(main, ["augment", "--mode", "gpu", "train-00000-of-00002", "--output", "gpu"])
    assert gpu.exit_code == 1 and "--mode cpu" in gpu.output
    faults = runner.invoke(main, ["augment", str(faulty(records)[0]), "--output", "skipped", "--on-error", "skip"])
    assert faults.exit_code == 3


def test_recipes_are_listed_shown_and_checked(tmp_path):
    runner = CliRunner()
    assert "tfdali" in runner.invoke(main, ["recipe", "list"]).output
    shown = runner.invoke(main, ["recipe", "show", "detection"]).output
    mine = tmp_path / "mine.yaml"
    mine.write_text(shown.replace("detection", "mine"))
    assert "576x576" in runner.invoke(main, ["recipe", "validate", str(mine)]).output
    mine.write_text("steps: [{rotate: {angel: 3}}]")
    bad = runner.invoke(main, ["recipe", "validate", str(mine)])
    assert bad.exit_code == 1 and "rotate" in bad.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variants": 0}, "variants"),
        ({"quality": 101}, "quality"),
        ({"visibility": 2.0}, "visibility"),
        ({"to": "rar"}, "to must be"),
        ({"recipe": "nothing"}, "nothing"),
        ({"format": "gif"}, "format"),
        ({"subsampling": "4:1:1"}, "subsampling"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(records, options, message):
    with pytest.raises(ArgumentError, match=message):
        augment(str(records / "train-*"), records / "out", **options)
    assert not (records / "out").exists()


def test_output_that_is_there_is_refused(records):
    augment(str(records / "train-00000-of-00002"), records / "out", seed=1)
    with pytest.raises(OutputExists):
        augment(str(records / "train-00000-of-00002"), records / "out", seed=2, exists="resume")
    with pytest.raises(EngineError, match="GPU"):
        augment(str(records / "train-00000-of-00002"), records / "gpu", mode="gpu")


def test_small_jobs_need_no_other_processes(records, monkeypatch):
    monkeypatch.setattr(AugmentJob, "few", COUNT + 1)
    monkeypatch.setattr("pixelmill.jobs.local._start", None)
    assert augment(str(records / "train-*"), records / "here").samples == COUNT
    monkeypatch.setattr(AugmentJob, "few", COUNT)
    if len(os.sched_getaffinity(0)) > 1:
        with pytest.raises(TypeError):
            augment(str(records / "train-*"), records / "elsewhere")
