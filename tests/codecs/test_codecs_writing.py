"""Arrays to files: every format reads back, files appear whole, and what a format cannot hold is refused."""

from __future__ import annotations

import io
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dali_runs import noise, run
from peers import peer
from PIL import Image

import pixelmill
from pixelmill import ArgumentError, fn
from pixelmill.create import photo
from pixelmill.errors import OutputError

cv2 = peer("cv2")

PHOTO = photo(3, 0, height=45, width=67)
GRAY = np.ascontiguousarray(PHOTO[..., 1])


def names(folder):
    return [path.name for path in folder.iterdir()]


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


# JPEG


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("quality", [1, 75, 100])
def test_jpeg_bytes_are_those_of_a_pipeline(subsampling, quality):
    options = {"quality": quality, "subsampling": subsampling}
    (wanted,) = run(lambda _, x: fn.encoders.image(x, **options), [PHOTO])[0]
    data = pixelmill.encode_jpeg(PHOTO, **options)
    assert type(data) is bytes and data == wanted.tobytes()
    np.testing.assert_array_equal(pixelmill.decode_image(data), opened(data))


def test_the_defaults_of_jpeg_are_those_of_its_documentation():
    assert pixelmill.encode_jpeg(PHOTO) == pixelmill.encode_jpeg(PHOTO, quality=90, subsampling="4:2:0", order="RGB")
    assert pixelmill.encode_jpeg(PHOTO) != pixelmill.encode_jpeg(PHOTO, quality=91)


def test_jpeg_is_near_the_image():
    for image in (PHOTO, GRAY, GRAY[..., None]):
        data = pixelmill.encode_jpeg(image, quality=95, subsampling="4:4:4")
        assert np.abs(opened(data).astype(int) - image.reshape(opened(data).shape)).mean() < 3
    best, worst = pixelmill.encode_jpeg(PHOTO, quality=100), pixelmill.encode_jpeg(PHOTO, quality=5)
    assert len(best) > 3 * len(worst)


# PNG


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("level", [0, 1, 4, 9])
def test_png_reads_back_bit_for_bit(dtype, channels, level):
    for image in (noise((23, 31, channels), dtype), np.full((5, 3, channels), 7, dtype)):
        data = pixelmill.encode_png(image, level=level)
        got = pixelmill.decode_image(data, "unchanged")
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, image)
        if channels != 2:  # OpenCV has no gray with alpha
            theirs = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
            order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
            assert theirs is not None
            np.testing.assert_array_equal(theirs.reshape(image.shape)[..., order], image)


def test_higher_levels_make_smaller_files():
    pattern = np.tile(noise((16, 16, 3)), (8, 8, 1)) // 3
    sizes = [len(pixelmill.encode_png(pattern, level=level)) for level in (0, 1, 9)]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


# Both, and BMP


def test_arrays_may_lie_in_memory_in_any_way():
    views = {
        "mirrored": PHOTO[:, ::-1],
        "turned": PHOTO.transpose(1, 0, 2),
        "thinned": PHOTO[::2, ::3],
        "planes": np.ascontiguousarray(PHOTO.transpose(2, 0, 1)).transpose(1, 2, 0),
        "read-only": np.frombuffer(PHOTO.tobytes(), np.uint8).reshape(PHOTO.shape),
    }
    for name, view in views.items():
        copy = np.ascontiguousarray(view)
        assert pixelmill.encode_png(view) == pixelmill.encode_png(copy), name
        assert pixelmill.encode_jpeg(view) == pixelmill.encode_jpeg(copy), name
    swapped = noise((9, 9, 3), np.uint16)
    assert pixelmill.encode_png(swapped.astype(swapped.dtype.newbyteorder())) == pixelmill.encode_png(swapped)


def test_the_order_of_channels_may_be_that_of_opencv():
    assert pixelmill.encode_png(PHOTO[..., ::-1], order="BGR") == pixelmill.encode_png(PHOTO)
    assert pixelmill.encode_jpeg(PHOTO[..., ::-1], order="BGR") == pixelmill.encode_jpeg(PHOTO)
    rgba = noise((6, 7, 4))
    assert pixelmill.encode_png(rgba[..., [2, 1, 0, 3]], order="BGR") == pixelmill.encode_png(rgba)
    assert pixelmill.encode_png(GRAY, order="BGR") == pixelmill.encode_png(GRAY)


@pytest.mark.parametrize("name", ["a.jpg", "a.JPEG", "a.png", "a.bmp"])
@pytest.mark.parametrize("image", [PHOTO, GRAY], ids=["rgb", "gray"])
def test_files_read_back(name, image, tmp_path):
    path = tmp_path / name
    pixelmill.imwrite(path, image, quality=95, subsampling="4:4:4")
    with Image.open(path) as theirs:
        assert theirs.format == {"j": "JPEG", "p": "PNG", "b": "BMP"}[name[2].lower()]
        wanted = np.asarray(theirs.convert("RGB"))
    got = pixelmill.imread(path)
    np.testing.assert_array_equal(got, wanted)
    rgb = image if image.ndim == 3 else np.repeat(image[..., None], 3, 2)
    assert np.abs(got.astype(int) - rgb).mean() < (3 if name[2] in "jJ" else 1e-9)
    assert names(tmp_path) == [name]


def test_options_reach_the_file(tmp_path):
    pixelmill.imwrite(tmp_path / "a.jpg", PHOTO, quality=50, subsampling="4:2:2")
    assert (tmp_path / "a.jpg").read_bytes() == pixelmill.encode_jpeg(PHOTO, quality=50, subsampling="4:2:2")
    pixelmill.imwrite(str(tmp_path / "a.png"), PHOTO[..., ::-1], level=9, order="BGR")
    assert (tmp_path / "a.png").read_bytes() == pixelmill.encode_png(PHOTO, level=9)


# Files


def test_an_older_file_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OutputError, match=r"imwrite: No space left on device: '.*a\.png'") as caught:
        pixelmill.imwrite(path, PHOTO)
    assert caught.value.errno == 28
    assert path.read_bytes() == b"old" and names(tmp_path) == ["a.png"]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pixelmill.imwrite(tmp_path / "a.png", PHOTO)
    assert names(tmp_path) == []


def test_folders_that_are_missing_are_named(tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"):
        pixelmill.imwrite(tmp_path / "none" / "a.png", PHOTO)


def test_links_and_permissions_stay_usual(tmp_path):
    target = tmp_path / "real.png"
    target.write_bytes(b"old")
    link = tmp_path / "link.png"
    link.symlink_to(target)
    pixelmill.imwrite(link, PHOTO)
    assert link.is_symlink() and target.read_bytes() == pixelmill.encode_png(PHOTO)
    mask = os.umask(0o027)
    try:
        pixelmill.imwrite(tmp_path / "new.png", PHOTO)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.png").stat().st_mode) == 0o640


def test_threads_may_write_the_same_file(tmp_path):
    path = tmp_path / "a.png"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: pixelmill.imwrite(path, np.full((50, 50, 3), number, np.uint8)), range(40)))
    assert len(np.unique(pixelmill.imread(path))) == 1 and names(tmp_path) == ["a.png"]


# Refused


@pytest.mark.parametrize(
    "image",
    [
        PHOTO.astype(np.float32),
        PHOTO.astype(np.uint16),
        noise((4, 4, 2)),
        noise((4, 4, 4)),
        noise((4, 4, 5)),
        noise((4,)),
        np.zeros((0, 4, 3), np.uint8),
        "text",
    ],
    ids=str,
)
def test_what_jpeg_cannot_hold_is_refused(image):
    with pytest.raises(ArgumentError, match="encode_jpeg: JPEG holds uint8 of shape"):
        pixelmill.encode_jpeg(image)


def test_what_png_cannot_hold_is_refused():
    for image in (PHOTO.astype(np.int32), noise((4, 4, 5)), np.zeros((4, 0, 3), np.uint8)):
        with pytest.raises(ArgumentError, match="encode_png: PNG holds uint8 or uint16"):
            pixelmill.encode_png(image)
    with pytest.raises(ArgumentError, match="65500"):
        pixelmill.encode_jpeg(np.zeros((1, 70000, 3), np.uint8))


@pytest.mark.parametrize(
    "options", [{"quality": 0}, {"quality": 101}, {"subsampling": "4:1:1"}, {"level": 10}, {"order": "GBR"}], ids=str
)
def test_options_without_meaning_are_refused(options, tmp_path):
    with pytest.raises(ArgumentError, match=f"imwrite: {next(iter(options))} must be"):
        pixelmill.imwrite(tmp_path / "a.png", PHOTO, **options)
    assert names(tmp_path) == []


def test_the_extension_must_be_known(tmp_path):
    for name in ("a.gif", "a", "a.webp"):
        with pytest.raises(ArgumentError, match=r"one of \.jpg, \.jpeg, \.png, \.bmp"):
            pixelmill.imwrite(tmp_path / name, PHOTO)
    with pytest.raises(ArgumentError, match="on this machine"):
        pixelmill.imwrite("s3://bucket/a.png", PHOTO)
