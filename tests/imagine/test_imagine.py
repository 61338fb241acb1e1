"""Imageinary's documented commands and calls run as they are written and leave its files, and no others."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_runner import CliRunner
from PIL import Image

# The commands as Imageinary documents them; a test makes fewer and smaller images, elsewhere.
CREATE_IMAGES = r"""
imagine create-images \
    --path /mnt/nvme/test_dir \
    --name random_image_ \
    --width 3840 \
    --height 2160 \
    --count 1000 \
    --image_format jpg \
    --size
"""
CREATE_TFRECORDS = r"""
imagine create-tfrecords \
    --source_path /mnt/nvme/test_dir \
    --dest_path /mnt/nvme/tf_record_dir \
    --name random_tfrecord_ \
    --img_per_file 100
"""
CREATE_RECORDIO = r"""
imagine create-recordio \
    --source_path /mnt/nvme/test_dir \
    --dest_path /mnt/nvme/record_files \
    --name random_recordio_ \
    --img_per_file 100
"""
CALLS = """
from imagine import create_images

create_images('path/to/save/images',  # Path to save images
              'random_image_prefix_',  # Image name prefix
              3840,  # Width
              2160,  # Height
              1000,  # Number of images to create
              'png')  # Image format

from imagine import create_tfrecords

create_tfrecords('path/to/save/images',  # Path to saved images
                 'path/to/save/tfrecords',  # Path to save TFRecords
                 'random_tfrecord_',  # TFRecord file prefix
                 100)  # Number of images per file

from imagine import create_recordio

create_recordio('path/to/save/images',  # Path to saved images
                'path/to/save/recordio',  # Path to save RecordIO files
                'random_recordio_',  # RecordIO file prefix
                100)  # Number of images per file
"""
IMAGINE = Path(sys.executable).with_name("imagine")
COUNT = 25


def small(text: str) -> str:
    for old, new in (("3840", "60"), ("2160", "40"), ("1000", str(COUNT)), ("100)", "10)"), ("file 100", "file 10")):
        text = text.replace(old, new)
    return text


def run(command: str, root: Path) -> str:
    words = shlex.split(small(command).replace("/mnt/nvme", str(root)).replace("\\\n", " "))
    assert words[0] == "imagine"
    return subprocess.run([str(IMAGINE), *words[1:]], check=True, capture_output=True, text=True, cwd=root).stdout


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_documented_commands(tmp_path: Path) -> None:
    text = run(CREATE_IMAGES, tmp_path)
    images = tmp_path / "test_dir"
    assert names(images) == sorted(f"random_image_{n}.jpg" for n in range(COUNT))
    for path in images.iterdir():
        with Image.open(path) as image:
            assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (60, 40))
    sizes = [int(number) for number in re.findall(r"(\d+) bytes", text)]
    total = sum(path.stat().st_size for path in images.iterdir())
    assert sizes == [(images / "random_image_0.jpg").stat().st_size, total]

    run(CREATE_TFRECORDS, tmp_path)
    assert names(tmp_path / "tf_record_dir") == [f"random_tfrecord_{n}" for n in range(3)]
    run(CREATE_RECORDIO, tmp_path)
    expected = sorted(f"random_recordio_{n}.{ending}" for n in range(3) for ending in ("rec", "idx"))
    assert names(tmp_path / "record_files") == expected
    assert names(images) == sorted(f"random_image_{n}.jpg" for n in range(COUNT))
    check_tfrecords(images, tmp_path / "tf_record_dir", "jpg", "random_image_")
    check_recordio(images, tmp_path / "record_files")


def check_tfrecords(images: Path, records: Path, ending: str, prefix: str) -> None:
    import tensorflow as tf

    found = []
    for path in sorted(records.iterdir()):
        for raw in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            features = tf.train.Example.FromString(raw).features.feature
            assert set(features) == {"image/encoded", "image/class/label"}
            assert list(features["image/class/label"].int64_list.value) == [0]
            found.append(features["image/encoded"].bytes_list.value[0])
    assert found == [(images / f"{prefix}{n}.{ending}").read_bytes() for n in range(COUNT)]


def check_recordio(images: Path, records: Path) -> None:
    from nvidia.dali import fn, pipeline_def

    @pipeline_def(batch_size=5, num_threads=1, device_id=None)
    def read(path: Path):
        data, labels = fn.readers.mxnet(path=str(path), index_path=str(path.with_suffix(".idx")))
        return data, labels

    found = []
    for path, batches in zip(sorted(records.glob("*.rec")), (2, 2, 1), strict=True):
        pipe = read(path)
        pipe.build()
        for _ in range(batches):
            data, labels = pipe.run()
            found += [bytes(data.at(n)) for n in range(5)]
            assert np.asarray(labels.as_array()).tolist() == [[0.0]] * 5
    assert found == [(images / f"random_image_{n}.jpg").read_bytes() for n in range(COUNT)]


def test_documented_calls(tmp_path: Path) -> None:
    script = tmp_path / "calls.py"
    script.write_text(small(CALLS))
    subprocess.run([sys.executable, "-W", "error", script.name], check=True, capture_output=True, cwd=tmp_path)
    root = tmp_path / "path/to/save"
    assert names(root / "images") == sorted(f"random_image_prefix_{n}.png" for n in range(COUNT))
    assert names(root / "tfrecords") == [f"random_tfrecord_{n}" for n in range(3)]
    assert len(names(root / "recordio")) == 6
    check_tfrecords(root / "images", root / "tfrecords", "png", "random_image_prefix_")


def test_neither_tensorflow_nor_mxnet_is_imported(tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text(
        small(CALLS) + "\nimport sys\nassert not {'tensorflow', 'mxnet', 'torch', 'nvidia'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "calls.py"], check=True, capture_output=True, cwd=tmp_path)


@pytest.mark.parametrize(("spelling", "ending", "kind"), [("jpeg", "jpg", "JPEG"), ("bitmap", "bmp", "BMP")])
def test_spellings_of_formats(tmp_path: Path, spelling: str, ending: str, kind: str) -> None:
    from imagine import main

    words = ["create-images", "--path", str(tmp_path / "new" / "folder"), "--name", "a", "--count", "2"]
    result = CliRunner().invoke(main, [*words, "--width", "9", "--height", "5", "--image_format", spelling])
    assert result.exit_code == 0, result.output
    assert names(tmp_path / "new" / "folder") == [f"a0.{ending}", f"a1.{ending}"]
    with Image.open(tmp_path / "new" / "folder" / f"a1.{ending}") as image:
        assert (image.format, image.size) == (kind, (9, 5))


def test_defaults_spellings_and_numbers_as_arguments(tmp_path: Path) -> None:
    from imagine import main

    runner = CliRunner()
    made = runner.invoke(main, ["create-images", "--path", str(tmp_path / "i"), "--name", "x_"])
    assert made.exit_code == 0, made.output
    with Image.open(tmp_path / "i" / "x_0.png") as image:
        assert image.size == (1920, 1080)
    for spelling in ("--img_per_file", "--img-per-file"):
        for command, ending in (("create-tfrecords", ""), ("create-tfrecord", ""), ("create-recordio", ".rec")):
            out = tmp_path / f"{command}{spelling}"
            words = [command, "--source_path", str(tmp_path / "i"), "--dest_path", str(out), "--name", "r"]
            assert runner.invoke(main, [*words, spelling, "1"]).exit_code == 0
            assert (out / f"r0{ending}").stat().st_size > 0


def test_files_that_are_there_are_written_over(tmp_path: Path) -> None:
    from imagine import create_images

    (tmp_path / "a1.jpg").write_text("old")
    (tmp_path / "mine.txt").write_text("precious")
    create_images(str(tmp_path), "a", 8, 8, 3, "jpg")
    first = (tmp_path / "a1.jpg").read_bytes()
    assert first[:2] == b"\xff\xd8"
    create_images(str(tmp_path), "a", 8, 8, 3, "jpg", 1)
    assert (tmp_path / "a1.jpg").read_bytes() != first
    assert names(tmp_path) == ["a0.jpg", "a1.jpg", "a2.jpg", "mine.txt"]
    assert (tmp_path / "mine.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["create-images", "--path", "o", "--name", "a", "--width", "0"], "width is 0"),
        (["create-images", "--path", "o", "--name", "a", "--image_format", "webp"], "image_format must be one of"),
        (["create-images", "--path", "o", "--name", "a", "--count", "-1"], "count must be at least 1"),
        (["create-tfrecords", "--source_path", "no", "--dest_path", "o", "--name", "a"], "no is not a folder"),
        (["create-recordio", "--source_path", ".", "--dest_path", "o", "--name", "a"], "no image files"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    from imagine import main

    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert message in result.output
    assert names(tmp_path) == []


def test_missing_option_is_a_usage_error() -> None:
    from imagine import main

    assert CliRunner().invoke(main, ["create-images", "--name", "a"]).exit_code == 2


def test_values_by_position(tmp_path: Path) -> None:
    """Later releases of Imageinary take paths, name and format by position."""
    from imagine import main

    images, records = tmp_path / "images", tmp_path / "records"
    run = CliRunner().invoke
    size = ["--width", "12", "--height", "8", "--count", "3"]
    made = run(main, ["create-images", str(images), "random_", "jpg", *size])
    assert made.exit_code == 0, made.output
    assert sorted(path.name for path in images.iterdir()) == [f"random_{number}.jpg" for number in range(3)]
    wrapped = run(main, ["create-tfrecord", str(images), str(records), "train_", "--img-per-file", "2"])
    assert wrapped.exit_code == 0, wrapped.output
    assert run(main, ["create-recordio", str(images), str(records), "rec_"]).exit_code == 0
    names = sorted(path.name for path in records.iterdir())
    assert names == ["rec_0.idx", "rec_0.rec", "train_0", "train_1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["images", "a_", "jpg", "more"], "unexpected argument 'more'"),
        (["images", "a_", "--name", "b_"], "name is given twice"),
        (["images"], "Missing option '--name'"),
    ],
)
def test_wrong_positions_are_usage_errors(arguments: list[str], message: str) -> None:
    from imagine import main

    found = CliRunner().invoke(main, ["create-images", *arguments])
    assert found.exit_code == 2 and message in found.output


def test_the_module_of_functions(tmp_path: Path) -> None:
    from imagine import imagine

    imagine.create_images(str(tmp_path / "images"), "a_", 12, 8, 2, "png")
    imagine.create_tfrecords(str(tmp_path / "images"), str(tmp_path / "records"), "t_", 1)
    imagine.create_recordio(str(tmp_path / "images"), str(tmp_path / "records"), "r_", 1)
    names = {path.name for path in (tmp_path / "records").iterdir()}
    assert names == {"t_0", "t_1", "r_0.rec", "r_0.idx", "r_1.rec", "r_1.idx"}
