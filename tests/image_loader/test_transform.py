"""The transforms of ImageLoader for single images."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from loader_datasets import class_mask, folder_of_classes, pixels, png
from peers import peer
from PIL import Image

from pixelmill import ArgumentError, DataError, ImageLoader, ImageTransform, fn

torch = peer("torch")


def brighter(images: Any) -> Any:
    return fn.brightness(images, brightness=2.0)


def jpeg(array: Any) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "jpeg", quality=90)
    return stream.getvalue()


def test_validation_is_what_the_loader_does(tmp_path: Path) -> None:
    source = folder_of_classes(tmp_path / "d")
    transform = ImageTransform(48)
    for images, _ in ImageLoader(source, size=48):
        for number, image in enumerate(images):
            assert torch.equal(transform(pixels(number)), image)
            assert torch.equal(transform(png(pixels(number))), image)


@pytest.mark.parametrize("augment", [None, "classification", "rand_augment", brighter])
def test_random_numbers_depend_on_the_seed_alone(augment: Any) -> None:
    transform = ImageTransform((24, 32), train=True, augment=augment)
    image = pixels(3)
    first = transform(image, seed=5)
    transform(image, seed=6)
    assert first.shape == (3, 24, 32) and torch.equal(first, transform(image, seed=5))
    assert torch.equal(first, ImageTransform((24, 32), train=True, augment=augment)(image, seed=5))
    drawn = {transform(image, seed=seed).numpy().tobytes() for seed in range(8)}
    assert len(drawn) == (1 if augment is brighter else 8)


def test_without_a_seed_pythons_random_numbers_decide() -> None:
    transform = ImageTransform(24, train=True)
    random.seed(1)
    first = [transform(pixels(0)) for _ in range(3)]
    random.seed(1)
    again = [transform(pixels(0)) for _ in range(3)]
    assert torch.equal(torch.stack(first), torch.stack(again)) and not torch.equal(first[0], first[1])


def test_inputs_that_people_have() -> None:
    transform = ImageTransform(32, train=True)
    image = pixels(1)
    expected = transform(image, seed=1)
    for same in (Image.fromarray(image), torch.from_numpy(image.transpose(2, 0, 1).copy()), image[:, ::-1][:, ::-1]):
        assert torch.equal(transform(same, seed=1), expected)
    encoded = jpeg(image)
    decoded = np.asarray(Image.open(io.BytesIO(encoded)))
    assert (transform(encoded, seed=1) - transform(decoded, seed=1)).abs().max() < 0.1
    gray = Image.fromarray(image[:, :, 0])
    assert transform(gray, seed=1).shape == (3, 32, 32)


def test_results_of_each_type() -> None:
    image = pixels(1)
    assert ImageTransform(16, framework="numpy")(image).shape == (16, 16, 3)
    assert ImageTransform(16, framework="numpy", layout="CHW")(image).shape == (3, 16, 16)
    assert ImageTransform(16, dtype="bfloat16")(image).dtype == torch.bfloat16
    plain = ImageTransform(56, framework="numpy", dtype="uint8")(image)
    assert np.array_equal(plain, image[4:60, 4:60])


def test_a_mask_follows_its_image() -> None:
    mask = class_mask(0)
    image = np.repeat(mask[:, :, None] * 100, 3, axis=2)
    transform = ImageTransform(96, train=True, framework="numpy", dtype="uint8")
    for seed in range(6):
        found, own = transform(image, mask, seed=seed)
        assert own.dtype == np.int64 and own.shape == (96, 96)
        assert (np.abs(found[:, :, 0].astype(int) - own * 100) > 30).mean() < 0.06
    shown, same = ImageTransform(64, framework="numpy", dtype="uint8")(image, mask)
    assert np.array_equal(same, mask) and np.array_equal(shown, image)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ("photo.jpg", "takes an array, a tensor, a PIL image or the bytes of a file, got str; pixelmill.imread reads"),
        (np.zeros((4, 4, 3), np.float32), "takes uint8 images with 3 channels, got float32, 4 x 4 x 3"),
        (np.zeros((4, 4), np.uint8), "takes uint8 images with 3 channels, got uint8, 4 x 4"),
        (np.zeros((0, 4, 3), np.uint8), "takes uint8 images with 3 channels, got uint8, 0 x 4 x 3"),
        (b"", "ImageTransform: "),
    ],
)
def test_what_is_not_an_image(image: Any, message: str) -> None:
    with pytest.raises((ArgumentError, DataError), match=message):
        ImageTransform(16)(image)


def test_wrong_masks_and_seeds() -> None:
    transform = ImageTransform(16)
    with pytest.raises(ArgumentError, match="mask: expected class numbers of the size of the image, got uint8"):
        transform(pixels(0), np.zeros((3, 3), np.uint8))
    with pytest.raises(ArgumentError, match="seed must be an integer from 0"):
        transform(pixels(0), seed=-1)
    with pytest.raises(ArgumentError, match="images are augmented with train=True only"):
        ImageTransform(16, augment="heavy")
