"""Created datasets: the same bytes whoever makes them, readable by others, refused in one clear line."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner
from PIL import Image

from pixelmill.cli import main
from pixelmill.create import create_images, create_recordio, create_tfrecords
from pixelmill.create.rendering import in_order
from pixelmill.errors import ArgumentError, OutputExists
from pixelmill.formats.registry import open_dataset

SMALL: dict[str, Any] = {"width": 40, "height": 30, "count": 50, "image_format": "jpg", "chunksize": 7}


def make(path: Path, **options: Any) -> Any:
    return create_images(path, **{"name": "i_", **SMALL, **options})


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("container", ["files", "tfrecord"])
def test_workers_and_shards_do_not_matter(tmp_path: Path, container: str) -> None:
    options = {"container": container, "img_per_file": 9, "content": "photo", "classes": 3}
    make(tmp_path / "threads", **options)
    expected = tree(tmp_path / "threads")
    assert len([name for name in expected if name.endswith(("jpg", "tfrecord"))]) == (50 if container == "files" else 6)
    for workers in (1, 2, 5):
        make(tmp_path / f"workers{workers}", workers=workers, **options)
        assert tree(tmp_path / f"workers{workers}") == expected
    for index in (2, 0, 1):
        make(tmp_path / "shards", shard_index=index, num_shards=3, **options)
    assert tree(tmp_path / "shards") == expected


def test_sizes_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path, content="shapes", boxes=True, classes=2, count=4, size=True)
    first = tmp_path / "class_000" / "i_0.jpg"
    total = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    expected = [f"first file: {first}, {first.stat().st_size} bytes", f"folder: {tmp_path}, {total} bytes"]
    assert capsys.readouterr().out.splitlines() == expected


def test_durable_files_have_the_same_bytes(tmp_path: Path) -> None:
    options = {"content": "shapes", "masks": True, "boxes": True, "classes": 3, "count": 12, "image_format": "png"}
    make(tmp_path / "plain", **options)
    make(tmp_path / "durable", durable=True, **options)
    assert len(tree(tmp_path / "plain")) == 26  # images, masks, boxes of two shards
    assert tree(tmp_path / "plain") == tree(tmp_path / "durable")


def test_a_longer_set_begins_with_the_shorter(tmp_path: Path) -> None:
    make(tmp_path / "short", count=10)
    make(tmp_path / "long", count=25, chunksize=4)
    short, long = tree(tmp_path / "short"), tree(tmp_path / "long")
    assert len(long) == 25
    assert short.items() <= long.items()


# Runs a command until so many images or records have their names, and waits there to be killed.
HELD = """
import signal, sys
from pixelmill.cli import main
from pixelmill.jobs.storage import LocalStorage

adopt, left = LocalStorage.adopt, int(sys.argv.pop(1))


def counted(storage, files):
    global left
    for name, path in files.items():
        if left == 0:
            print("held", flush=True)
            signal.pause()
        adopt(storage, {name: path})
        left -= name.endswith((".jpg", ".rec"))


LocalStorage.adopt = counted
main()
"""


@pytest.mark.parametrize(("container", "seen"), [("files", 15), ("recordio", 3)])
def test_a_killed_run_is_resumed_to_the_same_bytes(tmp_path: Path, container: str, seen: int) -> None:
    words = ["create-images", "--name", "k", "--width", "200", "--height", "200", "--count", "60"]
    words += ["--content", "photo", "--image_format", "jpg", "--chunksize", "5", "--workers", "1"]
    words += ["--container", container, "--img-per-file", "10", "--json"]
    command = [sys.executable, "-m", "pixelmill", *words, "--path"]
    # Three shards, of which two are noted down.
    held = [sys.executable, "-c", HELD, str(seen), *words, "--path", str(tmp_path / "killed")]
    with subprocess.Popen(held, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        process.kill()
    made = [path for path in (tmp_path / "killed").iterdir() if path.suffix in (".jpg", ".rec")]
    assert len(made) == seen
    for path in made:
        if path.suffix == ".jpg":
            with Image.open(path) as image:
                image.load()  # whatever has its name is complete

    refused = subprocess.run([*command, str(tmp_path / "killed")], capture_output=True, text=True)
    assert refused.returncode == 5
    assert "resume" in refused.stderr
    resumed = subprocess.run(
        [*command, str(tmp_path / "killed"), "--exists", "resume"], capture_output=True, text=True, check=True
    )
    report = json.loads(resumed.stdout)
    assert report["complete"]
    assert 0 < report["made"] < report["shards"]
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    assert tree(tmp_path / "killed") == tree(tmp_path / "whole")


def test_finished_output_is_refused_and_replaced_on_demand(tmp_path: Path) -> None:
    make(tmp_path, count=5)
    before = tree(tmp_path)
    with pytest.raises(OutputExists, match="overwrite"):
        make(tmp_path, count=5, seed=1)
    assert tree(tmp_path) == before
    make(tmp_path, count=5, seed=1, exists="overwrite")
    after = tree(tmp_path)
    assert after.keys() == before.keys()
    assert not set(after.values()) & set(before.values())


def test_classes_masks_and_boxes_in_folders(tmp_path: Path) -> None:
    make(tmp_path, content="shapes", classes=4, masks=True, boxes=True, image_format="png", count=20)
    dataset = open_dataset(tmp_path)
    assert len(dataset) == 20
    assert dataset.classes == tuple(f"class_{n:03d}" for n in range(4))
    labels = []
    for sample in dataset:
        mask = np.asarray(Image.open(io.BytesIO(sample.mask or b"")))
        assert sample.boxes is not None
        labels.append(sample.labels[0])
        left, top, right, bottom = np.rint(sample.boxes.ltrb[0] * [40, 30, 40, 30]).astype(int)
        inside = mask[top:bottom, left:right] == sample.labels[0] + 1
        assert inside.any(axis=0).all()
        assert inside.any(axis=1).all()
        assert sample.boxes.labels is not None and sample.boxes.labels[0] == sample.labels[0]
    assert sorted(labels) == sorted([0, 1, 2, 3] * 5)


@pytest.mark.parametrize("container", ["tfrecord", "recordio", "webdataset", "npy"])
def test_records_hold_what_files_hold(tmp_path: Path, container: str) -> None:
    options = {"content": "shapes", "classes": 4, "masks": True, "boxes": True, "count": 30, "image_format": "png"}
    make(tmp_path / "records", container=container, img_per_file=11, **options)
    make(tmp_path / "files", **options)
    files = {sample.key: sample for sample in open_dataset(tmp_path / "files")}
    records = {sample.key: sample for sample in open_dataset(tmp_path / "records", container)}
    assert records.keys() == files.keys()
    for key, sample in records.items():
        assert (sample.image, sample.mask, sample.labels) == (files[key].image, files[key].mask, files[key].labels)
        assert sample.boxes == files[key].boxes
    manifest = json.loads((tmp_path / "records" / "manifest.json").read_text())
    assert manifest["kind"] == "create"


def test_tensorflow_reads_the_records(tmp_path: Path) -> None:
    import tensorflow as tf

    make(tmp_path / "r", container="tfrecord", img_per_file=20, content="photo", classes=7)
    make(tmp_path / "f", content="photo", classes=7)
    names = sorted(map(str, (tmp_path / "r").glob("*.tfrecord")))
    assert len(names) == 3
    found = []
    for number, raw in enumerate(tf.data.TFRecordDataset(names).as_numpy_iterator()):
        features = tf.train.Example.FromString(raw).features.feature
        assert features["image/class/label"].int64_list.value[0] == number % 7
        found.append(features["image/encoded"].bytes_list.value[0])
    assert found == [(tmp_path / "f" / f"class_{n % 7:03d}" / f"i_{n}.jpg").read_bytes() for n in range(50)]


def test_dali_reads_the_recordio(tmp_path: Path) -> None:
    from nvidia.dali import fn, pipeline_def

    make(tmp_path, container="recordio", img_per_file=50, classes=7)

    @pipeline_def(batch_size=50, num_threads=1, device_id=None)
    def read():
        records = str(next(tmp_path.glob("*.rec")))
        data, labels = fn.readers.mxnet(path=[records], index_path=[records.replace(".rec", ".idx")])
        return fn.decoders.image(data), labels

    pipe = read()
    pipe.build()
    images, labels = pipe.run()
    assert [images.at(n).shape for n in range(50)] == [(30, 40, 3)] * 50
    assert np.asarray(labels.as_array()).ravel().tolist() == [n % 7 for n in range(50)]


def test_preset_of_exact_records(tmp_path: Path) -> None:
    words = ["create-images", "--path", str(tmp_path), "--name", "r", "--count", "5", "--preset", "mlperf-resnet50"]
    result = CliRunner().invoke(main, [*words, "--img_per_file", "2", "--json"])
    assert result.exit_code == 0, result.output
    dataset = open_dataset(tmp_path)
    assert [len(sample.image) for sample in dataset] == [114660] * 5
    assert len(list(tmp_path.glob("*.tfrecord"))) == 3


def test_estimate_is_near_and_writes_nothing(tmp_path: Path) -> None:
    words = ["create-images", "--path", str(tmp_path / "o"), "--name", "e", "--count", "60", "--content", "photo"]
    words += ["--width", "90", "--height", "80", "--image-format", "jpg", "--json"]
    found = json.loads(CliRunner().invoke(main, [*words, "--estimate"]).output)
    assert not (tmp_path / "o").exists()
    real = json.loads(CliRunner().invoke(main, words).output)
    assert found["files"] == found["images"] == 60
    assert found["bytes"] == pytest.approx(real["bytes"], rel=0.15)
    assert found["seconds"] > 0


@pytest.mark.parametrize("container", ["files", "tfrecord", "recordio", "webdataset", "npy"])
def test_estimate_counts_files(tmp_path: Path, container: str) -> None:
    words = ["create-images", "--path", str(tmp_path), "--name", "e", "--count", "25", "--content", "shapes", "--masks"]
    words += ["--width", "20", "--height", "20", "--image-format", "png", "--container", container]
    words += ["--img-per-file", "10", "--json"]
    found = json.loads(CliRunner().invoke(main, [*words, "--estimate"]).output)
    assert CliRunner().invoke(main, words).exit_code == 0
    assert found["files"] == len(tree(tmp_path))


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--width", "0"], 1, "width is 0"),
        (["--height", "-5"], 1, "height is -5"),
        (["--width", "70000", "--image_format", "jpg"], 1, "from 1 to 65500"),
        (["--image_format", "gif"], 1, "image_format must be one of"),
        (["--count", "0"], 1, "count must be at least 1"),
        (["--content", "cats"], 2, "'cats' is not one of"),
        (["--masks"], 1, "masks need --content shapes"),
        (["--boxes"], 1, "boxes need --content shapes"),
        (["--size-distribution", "wide"], 1, "size_distribution is fixed, sides:SPREAD"),
        (["--bytes", "100"], 1, "exactly 100 bytes is not possible"),
        (["--name", "../x"], 1, "name must be part of a file name"),
        (["--shard-index", "3", "--num-shards", "3"], 1, "shard_index must be from 0"),
        (["--img_per_file", "0", "--container", "tfrecord"], 1, "img_per_file must be at least 1"),
        (["--quality", "high"], 2, "is not a number or two"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, words: list[str], code: int, message: str) -> None:
    base = ["create-images", "--path", str(tmp_path / "o"), "--name", "a", "--width", "20", "--height", "20"]
    result = CliRunner().invoke(main, [*base, *words])
    assert result.exit_code == code
    assert message in result.output
    assert "Traceback" not in result.output
    assert not [name for name in tree(tmp_path) if not name.startswith("o/.")]


def test_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    # A limit on file sizes stands for the full disk: the operating system refuses to write on.
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))\n"
        "from pixelmill.cli import main; main(sys.argv[1:])"
    )
    words = ["create-images", "--path", str(tmp_path), "--name", "f", "--width", "300", "--height", "300"]
    result = subprocess.run(
        [sys.executable, "-c", program, *words, "--count", "3", "--image_format", "bmp"], capture_output=True, text=True
    )
    assert result.returncode == 1
    assert "cannot write" in result.stderr
    assert not list(tmp_path.glob("*.bmp"))
    images = tmp_path / "images"
    create_images(images, "i", 100, 100, 30, "png")
    words = ["create-tfrecords", "--source_path", str(images), "--dest_path", str(tmp_path / "t"), "--name", "r"]
    result = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert result.returncode == 1
    assert "cannot write" in result.stderr
    assert os.listdir(tmp_path / "t") == []  # noqa: PTH208


def test_wrapping_takes_labels_from_class_folders(tmp_path: Path) -> None:
    make(tmp_path / "i", classes=3, count=9)
    create_tfrecords(tmp_path / "i", tmp_path / "t", "a", 4)
    create_recordio(tmp_path / "i", tmp_path / "r", "a.b", 100)
    assert [sample.labels for sample in open_dataset(tmp_path / "t")] == [(0,)] * 3 + [(1,)] * 3 + [(2,)] * 3
    assert sorted(tree(tmp_path / "r")) == ["a.b0.idx", "a.b0.rec"]
    identifiers = [line.split()[0] for line in (tmp_path / "r" / "a.b0.idx").read_text().splitlines()]
    assert sorted(identifiers, key=int) == [str(n) for n in range(9)]
    with pytest.raises(OutputExists, match="a0 exists"):
        create_tfrecords(tmp_path / "i", tmp_path / "t", "a", 4)
    with pytest.raises(ArgumentError, match="img_per_file"):
        create_tfrecords(tmp_path / "i", tmp_path / "t", "b", 0)


def test_few_images_wait_at_any_time() -> None:
    begun = 0

    def work(number: int) -> int:
        nonlocal begun
        begun += 1
        return number

    with in_order(work, range(10_000), threads=3) as numbers:
        for done, number in enumerate(numbers):
            assert number == done
            assert begun - done <= 8


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_end_with_the_block(threads: int) -> None:
    """Not when the garbage collector finds the iterator, which then must not wait for anything."""
    before = threading.active_count()
    with pytest.raises(KeyError, match="consumer"), in_order(int, range(10_000), threads=threads) as numbers:
        for _ in numbers:
            raise KeyError("consumer")
    assert threading.active_count() <= before


def test_help_shows_examples() -> None:
    for command in ("create-images", "create-tfrecords", "create-recordio"):
        text = CliRunner().invoke(main, [command, "--help"]).output
        assert f"pixelmill {command} --" in text
