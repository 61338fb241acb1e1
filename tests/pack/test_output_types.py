"""Training from packs with smaller outputs: half precision and bytes, which are what float32 outputs become."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from encoded_images import encode
from PIL import Image

import pixelmill as pm
from pixelmill import fn, pipeline_def, types
from pixelmill.create import photo

MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    for number in range(4):
        image = Image.fromarray(photo(5, number, height=90 + 7 * number, width=120 - 9 * number))
        (folder / f"{number}.jpg").write_bytes(encode(image, "JPEG", subsampling=number % 3))
    made = tmp_path_factory.mktemp("packs") / "pack"
    pm.convert(folder, made, to="pack", codebook="default", workers=1)
    return made


def trained(pack: Path, dtype: types.DALIDataType) -> np.ndarray:
    """Return a batch of a training pipeline: random windows, normalized unless they are bytes."""

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
    def graph():
        images = fn.decoders.image_random_crop(fn.readers.dataset(path=str(pack), name="r")["image"], seed=1)
        images = fn.resize(images, size=(64, 64))
        mirror = fn.random.coin_flip(seed=2)
        if dtype == types.UINT8:
            return fn.crop_mirror_normalize(images, mirror=mirror, dtype=dtype, output_layout="CHW")
        return fn.crop_mirror_normalize(images, mirror=mirror, dtype=dtype, mean=MEAN, std=STD, output_layout="CHW")

    (batch,) = graph().run()
    return np.asarray(batch.as_array())


def test_half_precision_is_the_rounded_float(pack):
    whole, half = trained(pack, types.FLOAT), trained(pack, types.FLOAT16)
    assert half.dtype == np.float16 and half.shape == (4, 3, 64, 64)
    np.testing.assert_array_equal(half, whole.astype(np.float16))


def test_bytes_become_the_floats_when_they_are_normalized_later(pack):
    whole, small = trained(pack, types.FLOAT), trained(pack, types.UINT8)
    assert small.dtype == np.uint8 and small.shape == (4, 3, 64, 64)
    later = (small - np.reshape(MEAN, (3, 1, 1))) / np.reshape(STD, (3, 1, 1))
    np.testing.assert_allclose(later, whole, rtol=0, atol=1e-5)
