"""Images with transparency: RGBA files of created images, read by Pillow."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from command_runner import CliRunner
from PIL import Image

import pixelmill
from imagine.command import main as imagine
from pixelmill.create import create_images
from pixelmill.create.image_options import PictureOptions
from pixelmill.create.rendering import draw
from pixelmill.errors import ArgumentError

CONTENTS = ["noise", "photo", "shapes", "gradient"]


def files(folder, ending):
    return {path.name: path.read_bytes() for path in sorted(folder.glob(f"*.{ending}"))}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("ending", ["png", "bmp"])
@pytest.mark.parametrize("width", [32, 33])
def test_pillow_reads_the_colors_of_the_plain_image_and_their_transparency(tmp_path, content, ending, width):
    for alpha in (False, True):
        create_images(tmp_path / str(alpha), "a_", width, 21, 3, ending, content=content, classes=1, alpha=alpha)
    planes = []
    for number in range(3):
        plain, clear = (Image.open(tmp_path / folder / f"a_{number}.{ending}") for folder in ("False", "True"))
        assert (plain.mode, clear.mode) == ("RGB", "RGBA")
        pixels = np.asarray(clear)
        assert np.array_equal(pixels[..., :3], np.asarray(plain))
        planes.append(pixels[..., 3])
        drawn = draw(PictureOptions(21, width, image_format=ending, content=content, alpha=True), number)[0]
        assert np.array_equal(drawn, pixels)
    assert len({plane.tobytes() for plane in planes}) == 3 and min(plane.std() for plane in planes) > 5


def test_files_are_reproducible_and_do_not_depend_on_workers_or_count(tmp_path):
    for name, count, workers in (("one", 5, 1), ("two", 5, 2), ("more", 9, 1)):
        options = {"content": "noise", "alpha": True, "seed": 3, "chunksize": 2, "workers": workers}
        create_images(tmp_path / name, "a_", 20, 16, count, "bmp", **options)
    one, two, more = (files(tmp_path / name, "bmp") for name in ("one", "two", "more"))
    assert one == two == {name: more[name] for name in one} and len(one) == 5


@pytest.mark.parametrize("ending", ["png", "bmp"])
def test_files_of_an_exact_size_have_transparency_too(tmp_path, ending):
    create_images(tmp_path, "a_", 20, 16, 2, ending, alpha=True, bytes=4000)
    for data in files(tmp_path, ending).values():
        assert len(data) == 4000
    with Image.open(tmp_path / f"a_1.{ending}") as image:
        assert image.mode == "RGBA" and np.asarray(image).shape == (16, 20, 4)


def test_a_bmp_says_where_its_channels_are(tmp_path):
    create_images(tmp_path, "a_", 3, 2, 1, "bmp", alpha=True)
    data = files(tmp_path, "bmp")["a_0.bmp"]
    assert struct.unpack("<2sIHHIIiiHHII", data[:38]) == (b"BM", 146, 0, 0, 122, 108, 3, 2, 1, 32, 3, 24)
    assert struct.unpack("<4I", data[54:70]) == (0xFF0000, 0xFF00, 0xFF, 0xFF000000)


def test_images_with_transparency_are_read_as_images(tmp_path):
    for ending in ("png", "bmp"):
        create_images(tmp_path, "a_", 20, 16, 1, ending, content="photo", alpha=True, exists="overwrite")
        assert pixelmill.imread(tmp_path / f"a_0.{ending}").shape == (16, 20, 3)


def test_the_command_has_the_option(tmp_path):
    result = CliRunner().invoke(
        imagine, ["create-images", str(tmp_path), "a_", "png", "--width=9", "--height=8", "--alpha"]
    )
    assert result.exit_code == 0, result.output
    with Image.open(tmp_path / "a_0.png") as image:
        assert image.mode == "RGBA"


def test_what_has_no_transparency_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="JPEG files have no transparency"):
        create_images(tmp_path, "a_", 9, 8, 1, "jpg", alpha=True)
    with pytest.raises(ArgumentError, match="arrays of container='npy' are RGB"):
        create_images(tmp_path, "a_", 9, 8, 1, "png", alpha=True, container="npy")
