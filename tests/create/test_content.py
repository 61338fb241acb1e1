"""The contents of made images and their encoders, against Pillow, NumPy and the reference Philox."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from locations import ROOT
from PIL import Image

from pixelmill import _core
from pixelmill.create import PictureOptions, draw
from pixelmill.create.rendering import create_image
from pixelmill.errors import ArgumentError

sys.path.insert(0, str(ROOT / "tests" / "golden"))

import write_created

CONTENTS = ["noise", "photo", "shapes", "gradient"]


def encoded(index: int = 0, **options: Any) -> bytes:
    size = {"height": 40, "width": 50}
    return create_image(PictureOptions(**(size | options)).maker(), index).image


def decoded(data: bytes) -> np.ndarray[Any, Any]:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB"))


@settings(max_examples=40, deadline=None)
@given(
    content=st.sampled_from(CONTENTS),
    image_format=st.sampled_from(["png", "bmp"]),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    index=st.integers(0, 1 << 40),
)
def test_lossless_files_hold_the_drawn_pixels(
    content: str, image_format: str, height: int, width: int, index: int
) -> None:
    options = PictureOptions(height, width, content=content, image_format=image_format)
    pixels, _, _, _ = draw(options, index)
    np.testing.assert_array_equal(decoded(create_image(options.maker(), index).image), pixels)


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 33), (70, 1), (3, 2), (128, 97)])
def test_jpeg_of_every_size(content: str, height: int, width: int) -> None:
    assert decoded(encoded(content=content, height=height, width=width)).shape == (height, width, 3)


def test_jpeg_is_what_the_same_library_makes_of_the_pixels() -> None:
    options = PictureOptions(90, 121, content="photo", quality=(88, 88))
    ours = decoded(create_image(options.maker(), 4).image).astype(int)
    buffer = io.BytesIO()
    Image.fromarray(draw(options, 4)[0]).save(buffer, "JPEG", quality=88)
    assert np.abs(ours - decoded(buffer.getvalue())).mean() < 0.5


@settings(max_examples=25, deadline=None)
@given(height=st.integers(1, 70), width=st.integers(1, 70))
def test_noise_is_the_same_whether_drawn_at_once_or_while_it_is_encoded(height: int, width: int) -> None:
    options = PictureOptions(height, width, quality=(100, 100), full_colour=1.0)
    file = decoded(create_image(options.maker(), 3).image).astype(int)
    # The rounding of JPEG: others' noise would differ by 85 on average.
    assert np.abs(file - draw(options, 3)[0]).mean() < 1.5


def test_noise_is_the_philox_stream() -> None:
    pixels, _, _, _ = draw(PictureOptions(5, 7, seed=3), 11)
    key = _core.operator_key(3, int.from_bytes(b"create", "big"))
    words = [word for block in range(7) for word in _core.philox([block, 11, 0, 1], key)]
    np.testing.assert_array_equal(pixels.reshape(-1), np.array(words, "<u4").view(np.uint8)[:105])


def test_noise_is_uniform() -> None:
    pixels, _, _, _ = draw(PictureOptions(400, 400), 0)
    counts = np.bincount(pixels.reshape(-1), minlength=256)
    assert counts.sum() == 480000
    assert ((counts - 1875) ** 2 / 1875).sum() < 350  # chi squared of 255 degrees: above 350 with p < 1e-4


@pytest.mark.parametrize("content", CONTENTS)
def test_every_simd_level_gives_the_same_bytes(content: str) -> None:
    level = _core.simd_level()
    try:
        fast = [encoded(i, content=content, image_format="png") for i in range(3)]
        _core.force_simd_level("base")
        assert [encoded(i, content=content, image_format="png") for i in range(3)] == fast
    finally:
        _core.force_simd_level(level)


@pytest.mark.parametrize("content", CONTENTS)
def test_images_are_those_of_earlier_versions_and_other_machines(content: str) -> None:
    """The same options make the same images anywhere and forever; tests/golden/write_created.py writes the hashes."""
    assert write_created.digests(content) == json.loads(write_created.PATH.read_text("utf-8"))[content]


@pytest.mark.parametrize("content", CONTENTS)
def test_threads_do_not_matter(content: str) -> None:
    maker = PictureOptions(60, 60, content=content, classes=10).maker()
    alone = [maker.make(i)[0] for i in range(24)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda i: maker.make(i)[0], range(24))) == alone


@pytest.mark.parametrize("content", CONTENTS)
def test_seeds_share_no_image_and_no_two_are_equal(content: str) -> None:
    # Imageinary's seed 1 gives the images of seed 0 moved by one.
    digests = set()
    for seed in (0, 1):
        maker = PictureOptions(16, 16, content=content, image_format="bmp", seed=seed, classes=10).maker()
        digests |= {hashlib.sha256(maker.make(i)[0]).digest() for i in range(1000)}
    assert len(digests) == 2000


def test_a_hundred_thousand_jpegs_are_distinct() -> None:
    maker = PictureOptions(32, 32).maker()
    assert len({hashlib.sha256(maker.make(i)[0]).digest() for i in range(100_000)}) == 100_000


@pytest.mark.parametrize("wanted", [30000, 30001, 30002, 30003, 114660, 300001])
def test_jpeg_of_an_exact_size(wanted: int) -> None:
    data = encoded(content="photo", height=400, width=470, bytes=wanted)
    assert len(data) == wanted
    assert decoded(data).shape == (400, 470, 3)


@settings(max_examples=60, deadline=None)
@given(more=st.integers(0, 200_000))
def test_padding_of_any_length(more: int) -> None:
    plain = PictureOptions(24, 24, content="gradient")
    pixels = decoded(encoded(content="gradient", height=24, width=24, quality=(100, 100)))
    largest = len(create_image(PictureOptions(24, 24, content="gradient", quality=(100, 100)).maker(), 0).image)
    data = encoded(content="gradient", height=plain.height, width=plain.width, bytes=largest + more)
    assert len(data) == largest + more
    np.testing.assert_array_equal(decoded(data), pixels)


@pytest.mark.parametrize("image_format", ["png", "bmp"])
def test_lossless_files_are_padded_too(image_format: str) -> None:
    options: dict[str, Any] = {"content": "gradient", "image_format": image_format}
    plain = encoded(**options)
    for more in (0, 12, 13, 70000):
        data = encoded(**options, bytes=len(plain) + more)
        assert len(data) == len(plain) + more
        np.testing.assert_array_equal(decoded(data), decoded(plain))


@pytest.mark.parametrize(("image_format", "wanted"), [("jpg", 400), ("png", 200), ("bmp", 6053)])
def test_impossible_sizes_are_refused(image_format: str, wanted: int) -> None:
    with pytest.raises(ArgumentError, match=f"exactly {wanted} bytes is not possible"):
        encoded(image_format=image_format, bytes=wanted)


def test_bytes_vary_around_their_mean() -> None:
    maker = PictureOptions(64, 64, content="photo", bytes=9000, bytes_spread=0.2).maker()
    sizes = np.array([len(maker.make(i)[0]) for i in range(300)])
    assert abs(sizes.mean() - 9000) < 350
    assert 0.15 < np.log(sizes).std() < 0.25


def test_sides_vary_around_their_mean() -> None:
    maker = PictureOptions(100, 150, content="gradient", spread=0.2).maker()
    sizes = np.array([maker.make(i)[4:] for i in range(400)])
    np.testing.assert_allclose(sizes.mean(axis=0), [100, 150], rtol=0.05)
    np.testing.assert_allclose(np.log(sizes).std(axis=0), 0.2, rtol=0.15)


@pytest.mark.parametrize("image_format", ["jpg", "png", "bmp"])
def test_compress_ratio(image_format: str) -> None:
    data = encoded(content="noise", height=80, width=80, image_format=image_format, compress_ratio=3)
    assert decoded(data).shape == (80, 80, 3)
    assert 2.8 < len(data) / len(zlib.compress(data)) < 3.3


def test_padding_does_not_compress_unless_asked() -> None:
    data = encoded(content="noise", bytes=200_000)
    assert len(zlib.compress(data)) > 0.98 * len(data)


def test_dedup_ratio_repeats_images_of_the_same_class() -> None:
    maker = PictureOptions(8, 8, dedup_ratio=2.5, classes=4).maker()
    files: dict[bytes, list[int]] = {}
    for index in range(2000):
        files.setdefault(maker.make(index)[0], []).append(index)
    assert 2000 / len(files) == pytest.approx(2.5, rel=0.08)
    assert all(len({index % 4 for index in same}) == 1 for same in files.values())


def test_stored_png_is_no_larger_than_pillows() -> None:
    data = encoded(image_format="png", height=300, width=400)
    buffer = io.BytesIO()
    Image.fromarray(decoded(data)).save(buffer, "PNG")
    assert len(data) <= buffer.tell()


def test_masks_and_boxes_are_exact() -> None:
    options = PictureOptions(90, 110, content="shapes", image_format="png", classes=12, objects=(1, 5), masks=True)
    maker = options.maker()
    counts = []
    for index in range(60):
        picture = create_image(maker, index)
        pixels, mask, objects, label = draw(options, index)
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(picture.mask or b""))), mask)
        np.testing.assert_array_equal(picture.objects, objects)
        assert picture.label == label == index % 12
        assert objects[0, 0] == label  # the first object, which nothing hides, gives the class
        counts.append(len(objects))
        for number in np.unique(objects[:, 0]):
            rows = objects[objects[:, 0] == number]
            where = np.argwhere(mask == number + 1)
            assert where.min(axis=0).tolist() == rows[:, 1:3].min(axis=0).tolist()
            assert (where.max(axis=0) + 1).tolist() == rows[:, 3:5].max(axis=0).tolist()
            assert len(where) == rows[:, 5].sum()
        assert set(np.unique(mask)) - {0} == {number + 1 for number in objects[:, 0]}
        # Objects are of full colors on a dull ground: the mask is where the colors are.
        strength = pixels.max(axis=2).astype(int) - pixels.min(axis=2)
        assert strength[mask > 0].mean() > 2 * strength[mask == 0].mean()
    assert min(counts) == 1
    assert max(counts) >= 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"height": 0}, "height is 0, for jpg files it is from 1 to 65500"),
        ({"width": -3}, "width is -3"),
        ({"width": 65501}, "from 1 to 65500"),
        ({"width": 65536, "image_format": "png"}, "from 1 to 65535"),
        ({"width": 60000, "height": 60000}, "the maximum is 134,217,728"),
        ({"image_format": "tiff"}, "image_format must be one of jpg, jpeg, png, bmp, bitmap, got 'tiff'"),
        ({"content": "cats"}, "content must be one of noise, photo"),
        ({"masks": True}, "masks need content='shapes'"),
        ({"classes": 0}, "classes must be"),
        ({"quality": (80, 70)}, "quality must be"),
        ({"dedup_ratio": 0.5}, "dedup_ratio must be at least 1"),
        ({"bytes_spread": 0.2}, "needs a mean"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        PictureOptions(**({"height": 10, "width": 10} | options))


def test_spellings_of_formats() -> None:
    found = [PictureOptions(1, 1, image_format=name).image_format for name in ("JPEG", "jpg", "Bitmap", "bmp", "PNG")]
    assert found == ["jpg", "jpg", "bmp", "bmp", "png"]
