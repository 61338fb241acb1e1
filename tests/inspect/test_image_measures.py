"""Measures of images against NumPy; duplicates that are found, and images that are none."""

from __future__ import annotations

import io
import os
import time

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageFilter

from pixelmill.create.rendering import photo
from pixelmill.inspect.duplicates import duplicate_groups
from pixelmill.inspect.image_measures import Measures, measure
from pixelmill.inspect.split_names import split_of


def picture(number: int) -> Image.Image:
    return Image.fromarray(photo(5, number, height=180, width=240))


def encoded(image: Image.Image, quality: int) -> Image.Image:
    stream = io.BytesIO()
    image.save(stream, "jpeg", quality=quality)
    return Image.open(stream).convert("RGB")


def test_moments_are_those_of_the_pixels() -> None:
    image = picture(1)
    pixels, luma = np.asarray(image).reshape(-1, 3).astype(float), np.asarray(image.convert("L")).astype(float)
    found = measure(image)
    assert found.means == pytest.approx(pixels.mean(axis=0)) and found.squares == pytest.approx(
        (pixels**2).mean(axis=0)
    )
    assert (found.brightness, found.contrast) == pytest.approx((luma.mean(), luma.std()))


def test_gray_and_sharp_images_are_told_apart() -> None:
    image = picture(2)
    assert not measure(image).is_gray and measure(encoded(image.convert("L").convert("RGB"), 80)).is_gray
    blurred = image.filter(ImageFilter.GaussianBlur(4))
    assert measure(blurred).sharpness < measure(image).sharpness / 10
    assert measure(Image.new("RGBA", (1, 1), (9, 9, 9, 0))).sharpness == 0


def test_copies_of_an_image_are_found() -> None:
    images = [picture(number) for number in range(12)]
    first = images[3]
    copies = [
        first,
        encoded(first, 40),
        first.resize((500, 375)),
        first.resize((97, 71)),
        ImageEnhance.Brightness(first).enhance(1.05),
        first.crop((2, 2, 238, 178)),
    ]
    groups = duplicate_groups([measure(image) for image in [*images, *copies]])
    assert [place for place, group in enumerate(groups) if group] == [3, *range(12, 18)]
    assert set(groups) == {0, 1}


def test_other_images_are_no_copies() -> None:
    image = picture(4)
    others = [image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), image.rotate(90), ImageEnhance.Color(image).enhance(8)]
    flat = [Image.new("RGB", (64, 64), color) for color in ("red", "green", "gray", "black", "white")]
    assert duplicate_groups([measure(found) for found in [image, *others[:2], *flat]]) == [0] * 8
    assert duplicate_groups([]) == [] and duplicate_groups([None, measure(image), None]) == [0, 0, 0]


def test_chains_are_one_group_and_groups_are_counted_from_one() -> None:
    """Images whose neighbors differ by few bits belong together, even if the ends differ by many."""
    bits = np.zeros((20, 64), bool)
    for place in range(20):
        bits[place, : 3 * place] = True
    gray = np.full((4, 4, 3), 100, np.uint8)

    def made(hash_bits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Measures:
        return Measures((0, 0, 0), (0, 0, 0), 0, 0, 0, False, hash_bits, gray)

    chain = [made(row) for row in bits]
    order = np.random.default_rng(0).permutation(20)
    assert duplicate_groups([chain[place] for place in order]) == [1] * 20
    far = [made(np.arange(64) % 2 == 0), made(np.arange(64) % 3 == 0)]
    assert duplicate_groups([far[0], chain[0], far[1], chain[1], far[0]]) == [1, 2, 0, 2, 1]


def test_thousands_of_equal_images_take_little_time() -> None:
    same = measure(picture(6))
    began = time.process_time()
    assert set(duplicate_groups([same] * 5000)) == {1}
    assert time.process_time() - began < 20 * (os.cpu_count() or 1)


@pytest.mark.parametrize(
    ("path", "is_record", "split"),
    [
        ("data/train/cat/1.jpg", False, "train"),
        ("data/Val/1.jpg", False, "valid"),
        ("data/train.jpg", False, ""),
        ("data/train-00000-of-00010.tfrecord", True, "train"),
        ("data/validation_3.rec", True, "valid"),
        ("data/training.tar", True, "train"),
        ("data/trainers.tar", True, ""),
        ("data/test1.zip", True, "test"),
        ("elsewhere/train/1.jpg", False, ""),
        ("", False, ""),
    ],
)
def test_paths_name_splits(path: str, is_record: bool, split: str) -> None:
    assert split_of("data", path, is_record=is_record) == split
