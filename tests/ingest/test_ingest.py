"""ingest: what it writes, read by TensorFlow, compared with Pillow; labels, bad images, and the way back."""

from __future__ import annotations

import json
import re
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner
from locations import ROOT
from PIL import Image
from small_jobs import tree

import pixelmill.tfrecord as tfrec
from pixelmill import fn, pipeline_def, storage, types
from pixelmill.cli import main
from pixelmill.create import photo
from pixelmill.errors import ArgumentError, DataError
from pixelmill.ingest import imagenet_labels, ingest, read_labels

TEN = {
    *("image/height", "image/width", "image/colorspace", "image/channels", "image/class/label", "image/format"),
    *("image/encoded", "image/filename", "image/class/synset", "image/class/text"),
}
SYNSETS = {"n01440764": 0, "n03126707": 517, "n15075141": 999}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dozen photographs in folders of ImageNet."""
    root = tmp_path_factory.mktemp("imagenet")
    for number in range(12):
        place = root / list(SYNSETS)[number % 3]
        place.mkdir(exist_ok=True)
        pixels = photo(1, number, height=90 + 7 * number, width=150 - 5 * number)
        Image.fromarray(pixels).save(place / f"p{number:02d}.JPEG", quality=92, subsampling=0)
    return root


def records(output: Path) -> list[Any]:
    import tensorflow as tf

    files = sorted(str(path) for path in output.glob("train-*"))
    return [tf.train.Example.FromString(record.numpy()) for record in tf.data.TFRecordDataset(files)]


def square(path: Path, size: int) -> np.ndarray[Any, Any]:
    """The middle square, resized by Pillow."""
    image = Image.open(path)
    side = min(image.size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    window = [int(edge) for edge in (left, top)]
    box = (window[0], window[1], window[0] + side, window[1] + side)
    return np.asarray(image.crop(box).resize((size, size), Image.Resampling.BILINEAR), np.int16)


def test_documented_command_and_parsing(folder: Path, tmp_path: Path) -> None:
    import tensorflow as tf

    output = tmp_path / "records"
    arguments = ["ingest", f"--input_dir={folder}", "--num_images=-1", "--num_shards=10", f"--output_dir={output}"]
    result = CliRunner().invoke(main, [*arguments, "--num_workers=1", "--img_size=64"])
    assert result.exit_code == 0, result.output
    assert re.search(r"12 images, about 1\d\d\.\d kB", result.output)
    names = [f"train-{number:05d}-of-00010" for number in range(10)]
    assert sorted(tree(output)) == ["manifest.json", *names]

    feature_map = {
        "image/encoded": tf.io.FixedLenFeature([], tf.string),
        "image/height": tf.io.FixedLenFeature([], tf.int64),
        "image/width": tf.io.FixedLenFeature([], tf.int64),
        "image/channels": tf.io.FixedLenFeature([], tf.int64),
        "image/class/label": tf.io.FixedLenFeature([], tf.int64),
        "image/filename": tf.io.FixedLenFeature([], tf.string),
        "image/class/synset": tf.io.FixedLenFeature([], tf.string),
    }

    def parse(serialized: Any) -> Any:
        features = tf.io.parse_single_example(serialized, feature_map)
        image = tf.io.decode_raw(features["image/encoded"], out_type=tf.uint8)
        shape = tf.stack([features["image/height"], features["image/width"], features["image/channels"]])
        return tf.reshape(image, shape), features["image/class/label"], features

    seen = set()
    for image, label, features in tf.data.TFRecordDataset([str(output / name) for name in names]).map(parse):
        synset, name = features["image/class/synset"].numpy().decode(), features["image/filename"].numpy().decode()
        assert int(label) == SYNSETS[synset]
        assert image.shape == (64, 64, 3)
        difference = np.abs(image.numpy() - square(folder / synset / name, 64))
        assert difference.mean() < 1.0
        assert difference.max() < 24
        seen.add(name)
    assert len(seen) == 12


def test_all_ten_features_and_no_more(folder: Path, tmp_path: Path) -> None:
    ingest(folder, tmp_path / "out", num_shards=1, img_size=32, num_workers=1)
    for example in records(tmp_path / "out"):
        features = example.features.feature
        assert set(features) == TEN
        assert features["image/format"].bytes_list.value[0] == b"tensor"
        assert features["image/colorspace"].bytes_list.value[0] == b"RGB"
        assert features["image/channels"].int64_list.value[0] == 3
        synset = features["image/class/synset"].bytes_list.value[0].decode()
        assert features["image/class/text"].bytes_list.value[0].decode() == imagenet_labels()[synset].text


def test_seed_chooses_and_workers_do_not_matter(folder: Path, tmp_path: Path) -> None:
    def names(output: str, **options: Any) -> list[bytes]:
        ingest(folder, tmp_path / output, num_shards=3, img_size=16, num_images=7, **options)
        found = records(tmp_path / output)
        return [example.features.feature["image/filename"].bytes_list.value[0] for example in found]

    one = names("one", num_workers=1)
    assert len(one) == len(set(one)) == 7
    assert one == names("two", num_workers=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert one != names("seed", seed=1, num_workers=1)
    for part in range(2):
        ingest(folder, tmp_path / "parts", num_shards=3, img_size=16, num_images=7, num_workers=1, part=(part, 2))
    assert tree(tmp_path / "parts") == tree(tmp_path / "one")


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
def test_way_back_into_a_pipeline(folder: Path, tmp_path: Path, dtype: str) -> None:
    ingest(folder, tmp_path / "out", num_shards=2, img_size=24, num_workers=1)
    ingest(folder, tmp_path / "chw", num_shards=2, img_size=24, num_workers=1, dtype=dtype, order="CHW")
    kinds = {"uint8": types.UINT8, "float16": types.FLOAT16, "float32": types.FLOAT}
    features = {
        "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
        "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
        "image/order": tfrec.FixedLenFeature((), tfrec.string, ""),
    }

    @pipeline_def(batch_size=12, num_threads=2)
    def both() -> Any:
        plain = fn.readers.tfrecord(path=sorted(map(str, (tmp_path / "out").glob("train-*"))), features=features)
        other = fn.readers.tfrecord(path=sorted(map(str, (tmp_path / "chw").glob("train-*"))), features=features)
        return (
            fn.decoders.raw(plain["image/encoded"], shape=[24, 24, 3], layout="HWC"),
            plain["image/class/label"],
            fn.decoders.raw(other["image/encoded"], shape=[3, 24, 24], dtype=kinds[dtype], layout="CHW"),
            other["image/order"],
        )

    pipe = both()
    pipe.build()
    hwc, labels, chw, order = (output.as_array() for output in pipe.run())
    assert set(labels.ravel().tolist()) == set(SYNSETS.values())
    assert chw.dtype == dtype
    assert np.array_equal(hwc.transpose(0, 3, 1, 2), chw)
    assert order[0].tobytes() == b"CHW"


def test_labels_of_imagenet() -> None:
    labels = imagenet_labels()
    assert len(labels) == 1000
    assert [item.label for item in labels.values()] == list(range(1000))
    assert list(labels) == sorted(labels)
    assert labels["n01440764"].text == "tench, Tinca tinca"
    assert (labels["n02123045"].label, labels["n02123045"].text) == (281, "tabby, tabby cat")
    assert (labels["n07753592"].label, labels["n07753592"].text) == (954, "banana")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("labels.json", '{"a": {"label": 7, "human_labels": "an a"}, "b": {"label": 3, "human_labels": "a b"}}'),
        ("labels.csv", 'folder,label,text\na,7,"an a"\nb,3,a b\n'),
        ("labels.txt", "a 7 an a\nb\t3\ta b\n"),
    ],
)
def test_own_labels(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = read_labels(str(tmp_path / name))
    assert {folder: (item.label, item.text) for folder, item in found.items()} == {"a": (7, "an a"), "b": (3, "a b")}
    for place in ("a", "b"):
        (tmp_path / "in" / place).mkdir(parents=True)
        Image.new("RGB", (9, 7), (200, 10, 40)).save(tmp_path / "in" / place / "x.png")
    ingest(tmp_path / "in", tmp_path / "out", num_shards=1, img_size=4, labels=tmp_path / name, num_workers=1)
    features = [example.features.feature for example in records(tmp_path / "out")]
    labels = {item["image/class/synset"].bytes_list.value[0]: item for item in features}
    assert labels[b"a"]["image/class/label"].int64_list.value[0] == 7
    assert labels[b"b"]["image/class/text"].bytes_list.value[0] == b"a b"
    assert labels[b"a"]["image/encoded"].bytes_list.value[0] == bytes([200, 10, 40]) * 16


def test_folders_without_labels_are_numbered(tmp_path: Path) -> None:
    for place in ("zebra", "ant"):
        (tmp_path / "in" / place).mkdir(parents=True)
        Image.new("L", (5, 5), 9).save(tmp_path / "in" / place / "x.png")
    ingest(tmp_path / "in", tmp_path / "out", num_shards=1, img_size=4, num_workers=1)
    found = {
        example.features.feature["image/class/text"].bytes_list.value[0]: list(
            example.features.feature["image/class/label"].int64_list.value
        )
        for example in records(tmp_path / "out")
    }
    assert found == {b"ant": [0], b"zebra": [1]}


def test_bad_images_are_left_out_and_listed(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "in"
    shutil.copytree(folder, root)
    whole = (root / "n01440764" / "p00.JPEG").read_bytes()
    faults = {
        "cut.JPEG": whole[: len(whole) // 2],
        "head.JPEG": whole[:100],
        "empty.JPEG": b"",
        "zeros.JPEG": bytes(5000),
        "page.JPEG": b"<html>not found</html>",
        "text.png": b"hello",
        "gif.jpg": b"GIF89a" + bytes(3),
    }
    for name, data in faults.items():
        (root / "n03126707" / name).write_bytes(data)
    with pytest.raises(DataError, match=r"n03126707/(cut|head|empty|zeros|page|text|gif)\."):
        ingest(root, tmp_path / "fail", num_shards=2, img_size=16, num_workers=1)
    arguments = ["ingest", f"--input_dir={root}", f"--output_dir={tmp_path / 'out'}", "--img_size=16", "--num_shards=3"]
    result = CliRunner().invoke(main, [*arguments, "--workers=1", "--on-error=quarantine", "--json"])
    assert result.exit_code == 3, result.output
    said = json.loads(result.stdout)
    assert (said["samples"], said["errors"]) == (12, 7)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    events = [event for entry in manifest["entries"] for event in entry["errors"]]
    assert sorted(Path(event["path"]).name for event in events) == sorted(faults)
    kept = sorted(path.read_bytes() for path in (tmp_path / "out.quarantine").iterdir())
    assert kept == sorted(faults.values())
    assert len(records(tmp_path / "out")) == 12


def test_room_on_the_disk_is_looked_at(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**6, 0, 1000))
    arguments = ["ingest", f"--input_dir={folder}", f"--output_dir={tmp_path / 'out'}", "--img_size=16", "--workers=1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert "--yes" in result.output
    assert not (tmp_path / "out").exists()
    assert CliRunner().invoke(main, [*arguments, "--yes"]).exit_code == 0
    assert CliRunner().invoke(main, [*arguments, "--yes"]).exit_code == 5


def test_wrong_arguments_are_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("n01440764,1\n")
    for arguments, message in (
        ({"num_images": 0}, "num_images must be at least 1, or -1"),
        ({"num_shards": 13}, "12 images cannot be divided into 13 shards"),
        ({"img_size": 0}, "img_size must be at least 1"),
        ({"dtype": "int3"}, "dtype must be one of"),
        ({"labels": tmp_path / "some.csv"}, "no label for the folder 'n03126707'"),
        ({"labels": tmp_path / "none.csv"}, "No such file"),
    ):
        with pytest.raises(ArgumentError, match=message):
            ingest(folder, tmp_path / "out", **arguments)
    with pytest.raises(ArgumentError, match="input_dir must be a folder"):
        ingest(tmp_path / "nothing", tmp_path / "out")


def write_images(root: Path, folders: tuple[str, ...]) -> Path:
    for place in folders:
        (root / place).mkdir(parents=True)
        Image.new("RGB", (5, 5), (9, 9, 9)).save(root / place / "x.png")
    return root


def labels_of(output: Path) -> dict[bytes, int]:
    found = [example.features.feature for example in records(output)]
    return {
        features["image/class/synset"].bytes_list.value[0]: features["image/class/label"].int64_list.value[0]
        for features in found
    }


def test_a_folder_that_is_no_synset_does_not_renumber_imagenet(tmp_path: Path) -> None:
    root = write_images(tmp_path / "in", ("n01440764", "n15075141", "extra", "backup"))
    options = {"num_shards": 1, "img_size": 4, "num_workers": 1}
    with pytest.raises(ArgumentError, match=r"ImageNet has no label for the folder 'backup' \(2 without one\)"):
        ingest(root, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
    ingest(root, tmp_path / "skip", unknown_classes="skip", **options)
    assert labels_of(tmp_path / "skip") == {b"n01440764": 0, b"n15075141": 999}
    arguments = ["ingest", f"--input_dir={root}", f"--output_dir={tmp_path / 'append'}", "--unknown-classes=append"]
    result = CliRunner().invoke(main, [*arguments, "--num_shards=1", "--img_size=4", "--num_workers=1"])
    assert result.exit_code == 0, result.output
    assert labels_of(tmp_path / "append") == {b"n01440764": 0, b"n15075141": 999, b"backup": 1000, b"extra": 1001}


def test_more_images_than_there_are_takes_all(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    report = ingest(folder, tmp_path / "out", num_images=100, num_shards=2, img_size=8, num_workers=1)
    assert report.samples == 12
    assert "num_images is 100" in caplog.text and "has 12 images, all are taken" in caplog.text


@pytest.mark.parametrize("size", [(61, 90), (90, 61), (64, 64), (33, 40)])
@pytest.mark.parametrize("side", [32, 47, 100])
def test_the_filter_and_the_window_of_dlbs(tmp_path: Path, size: tuple[int, int], side: int) -> None:
    import tensorflow as tf

    pixels = photo(5, 1, height=size[0], width=size[1])
    (tmp_path / "in" / "a").mkdir(parents=True)
    Image.fromarray(pixels).save(tmp_path / "in" / "a" / "x.png")
    ingest(tmp_path / "in", tmp_path / "out", num_shards=1, img_size=side, num_workers=1, resize="dlbs")
    raw = records(tmp_path / "out")[0].features.feature["image/encoded"].bytes_list.value[0]
    found = np.frombuffer(raw, np.uint8).reshape(side, side, 3)
    short = min(size)
    top, left = (size[0] - short) // 2, (size[1] - short) // 2
    window = pixels[None, top : top + short, left : left + short].astype(np.float32)
    expected = tf.compat.v1.image.resize_bilinear(window, (side, side), align_corners=True).numpy()[0]
    assert np.abs(found - expected).max() <= 1


@pytest.mark.parametrize("size", [(20, 25), (25, 20)])
def test_the_window_starts_at_the_lower_of_two_pixels(tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = photo(6, 2, height=size[0], width=size[1])
    (tmp_path / "in" / "a").mkdir(parents=True)
    Image.fromarray(pixels).save(tmp_path / "in" / "a" / "x.png")
    ingest(tmp_path / "in", tmp_path / "out", num_shards=1, img_size=20, num_workers=1)
    raw = records(tmp_path / "out")[0].features.feature["image/encoded"].bytes_list.value[0]
    top, left = (size[0] - 20) // 2, (size[1] - 20) // 2
    assert raw == pixels[top : top + 20, left : left + 20].tobytes()


def code_of_page(heading: str) -> str:
    """Return the Python code that follows a line of docs/bulk.md."""
    page = (ROOT / "docs" / "bulk.md").read_text("utf-8")
    return page.split(f"\n{heading}\n", 1)[1].split("```python\n", 1)[1].split("```", 1)[0]


def test_code_of_the_page_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ingest(folder, "records", num_shards=2, num_workers=1)
    names: dict[str, Any] = {}
    exec(code_of_page("With tf.data:"), names)
    theirs = {image.numpy().tobytes(): int(label) for image, label in names["dataset"]}
    exec(code_of_page("With pixelmill:"), names)
    pipe = names["train"](batch_size=12)
    pipe.build()
    images, labels = (output.as_array() for output in pipe.run())
    assert images.shape == (12, 300, 300, 3)
    assert {image.tobytes(): int(label[0]) for image, label in zip(images, labels, strict=True)} == theirs
    assert len(theirs) == 12
    exec(code_of_page("## Writing your own job"), names)
    assert (tmp_path / "squares" / "squares-03.txt").read_text() == "".join(f"{n * n}\n" for n in range(3, 100, 10))


def test_a_file_that_is_too_large_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "in" / "a").mkdir(parents=True)
    Image.fromarray(photo(1, 0, height=40, width=40)).save(tmp_path / "in" / "a" / "good.JPEG")
    with (tmp_path / "in" / "a" / "huge.JPEG").open("wb") as stream:
        stream.truncate(storage.MAX_FILE_BYTES + 1)  # a hole: it takes no room on the disk
    report = ingest(tmp_path / "in", tmp_path / "out", on_error="skip", img_size=16, num_shards=1, num_workers=1)
    assert (report.samples, report.errors) == (1, 1)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert [event["kind"] for entry in manifest["entries"] for event in entry["errors"]] == ["too_large"]
