"""HEIC and AVIF: through the same gate as all images, compared with what the libraries themselves return."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pillow_heif
import pytest
from command_runner import CliRunner
from dataset_cases import encoded as other
from dataset_cases import write
from PIL import Image, ImageOps

import pixelmill
from pixelmill import ImageLoader, Pipeline, fn
from pixelmill.cli import main
from pixelmill.codecs import pillow_images
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import optional_images
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Sample, image_type, is_cut
from pixelmill.types import Limits

if pillow_heif.__version__.startswith("0."):
    pytest.skip("pillow-heif 0.22 decodes the same file to different pixels on each call", allow_module_level=True)

HEIGHT, WIDTH = 40, 66
ORIENTATION = 0x0112
KINDS = ("heic", "avif")


def picture(mode: str = "RGB", seed: int = 0) -> Image.Image:
    """Draw a smooth image: encoders keep it nearly as it is."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    channels = [(x * (3 + i + seed) + y * (5 - i)) % 256 for i in range(4)]
    smooth = np.stack(channels, -1).astype(np.uint8)
    return Image.fromarray(smooth, "RGBA").convert(mode)


def encoded(kind: str, mode: str = "RGB", *, orientation: int = 1, seed: int = 0) -> bytes:
    stream, exif = io.BytesIO(), Image.Exif()
    exif[ORIENTATION] = orientation
    image = picture(mode, seed)
    if kind == "avif":
        if find_spec("PIL._avif") is None:
            pytest.skip("Pillow before 11.3 has no AVIF")
        image.save(stream, "AVIF", quality=90, exif=exif.tobytes())
    else:
        heif = pillow_heif.from_pillow(image)
        heif.info["exif"] = exif.tobytes()
        heif.save(stream, quality=90)
    return stream.getvalue()


def by_library(kind: str, data: bytes, mode: str = "RGB") -> np.ndarray[Any, Any]:
    opened = Image.open(io.BytesIO(data)) if kind == "avif" else pillow_heif.HeifImageFile(io.BytesIO(data))
    return np.asarray(ImageOps.exif_transpose(opened).convert(mode))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_upright(kind: str, orientation: int) -> None:
    data = encoded(kind, orientation=orientation)
    sides = (WIDTH, HEIGHT) if orientation > 4 else (HEIGHT, WIDTH)
    info = pixelmill.image_info(data)
    assert (info.format, info.height, info.width, info.channels, info.bits) == (kind.upper(), *sides, 3, 8)
    np.testing.assert_array_equal(pixelmill.decode_image(data), by_library(kind, data))
    # Rotations belong to the image: whoever ignores EXIF gets the same.
    np.testing.assert_array_equal(pixelmill.decode_image(data, orientation=False), by_library(kind, data))
    window = pixelmill.decode_image(data, window=(3, 5, 20, 11))
    np.testing.assert_array_equal(window, by_library(kind, data)[3:23, 5:16])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("RGB", 3), ("RGBA", 4)])
def test_channels(kind: str, mode: str, channels: int) -> None:
    data = encoded(kind, mode)
    info = pixelmill.image_info(data)
    assert info.channels == channels
    found = pixelmill.decode_image(data, "unchanged")
    assert found.shape == (HEIGHT, WIDTH, channels)
    np.testing.assert_array_equal(found, by_library(kind, data, mode).reshape(HEIGHT, WIDTH, -1))
    assert pixelmill.decode_image(data).shape == (HEIGHT, WIDTH, 3)
    assert pixelmill.decode_image(data, "GRAY", size=(7, 9)).shape == (7, 9, 1)


def ten_bits() -> bytes:
    values = np.linspace(0, 65535, HEIGHT * WIDTH * 3).astype(np.uint16).reshape(HEIGHT, WIDTH, 3)
    stream = io.BytesIO()
    pillow_heif.from_bytes("RGB;16", (WIDTH, HEIGHT), values.tobytes()).save(stream, quality=-1)
    return stream.getvalue()


def test_ten_bits_are_kept_or_noted() -> None:
    data = ten_bits()
    assert pixelmill.image_info(data).bits == 16
    deep = pixelmill.decode_image(data, "unchanged")
    wanted = np.array(pillow_heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False))
    assert deep.dtype == np.uint16
    np.testing.assert_array_equal(deep, wanted)
    shallow = pixelmill.decode_image(data)
    assert shallow.dtype == np.uint8
    assert np.abs(shallow - np.round(wanted / 257)).max() <= 1
    with pytest.raises(DataError, match="depth_reduced"):
        pixelmill.decode_image(data, strict=["depth_reduced"])


@pytest.mark.parametrize("kind", KINDS)
def test_limits_are_checked_before_anything_is_decoded(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelmill.formats.optional_images.is_readable", pytest.fail)
    data = encoded(kind)
    for limits in (Limits(side=WIDTH - 1), Limits(pixels=HEIGHT * WIDTH - 1), Limits(encoded_bytes=len(data) - 1)):
        with pytest.raises(DataError, match="too_large"):
            pixelmill.decode_image(data, limits=limits)


def forged(data: bytes, size: tuple[int, int]) -> bytes:
    """Replace the size in the header."""
    at = data.index(b"ispe") + 8
    return data[:at] + size[0].to_bytes(4, "big") + size[1].to_bytes(4, "big") + data[at + 8 :]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        (lambda data: data[:-20], {"truncated"}),
        (lambda data: data[: len(data) // 2], {"truncated"}),
        (lambda data: data[:60], {"truncated"}),
        (lambda data: data[:20], {"truncated"}),
        (lambda data: data[:-200] + bytes(200), {"corrupt", None}),
        (lambda data: data.replace(b"pitm", b"skip"), {"corrupt"}),
        (lambda data: data.replace(b"meta", b"skip"), {"corrupt"}),
        (lambda data: data.replace(b"ispe", b"skip"), {"corrupt"}),
        (lambda data: forged(data, (WIDTH, HEIGHT + 2)), {"corrupt", None}),  # libavif scales to the size of the header
        (lambda data: forged(data, (0, HEIGHT)), {"corrupt"}),
        (lambda data: forged(data, (2**31, 2**31)), {"too_large"}),
    ],
)
def test_damage_has_a_kind(kind: str, damage: Callable[[bytes], bytes], kinds: set[str | None]) -> None:
    found = None
    try:
        pixelmill.decode_image(damage(encoded(kind)))
    except DataError as error:
        found = error.events[0].kind
    assert found in kinds


@pytest.mark.parametrize("kind", KINDS)
def test_every_byte_of_the_header_damaged(kind: str) -> None:
    data = encoded(kind, "RGBA", orientation=6)
    end = data.index(b"mdat")
    random = np.random.default_rng(1)
    for place in range(0, end, 3):
        broken = bytearray(data)
        broken[place] ^= int(random.integers(1, 256))
        try:
            info = pixelmill.image_info(bytes(broken))
        except DataError as error:
            assert error.events[0].kind in ("corrupt", "truncated", "too_large", "not_an_image")
        else:
            assert min(info.height, info.width) > 0
    for length in range(0, end, 7):
        with pytest.raises(DataError):
            pixelmill.decode_image(data[:length])


def test_a_header_that_would_take_forever() -> None:
    """Associations of all items with all properties, many times over: read once."""
    one = b"\0\0\0\x08free"
    ipco = (8 + 60_000).to_bytes(4, "big") + b"ipco" + one * 7500
    entries = b"".join(b"\0\1\xff" + b"\x7f\xff" * 255 for _ in range(2000))
    ipma = (16 + len(entries)).to_bytes(4, "big") + b"ipma\0\0\0\1" + (2000).to_bytes(4, "big") + entries
    iprp = (8 + len(ipco) + len(ipma)).to_bytes(4, "big") + b"iprp" + ipco + ipma
    refs = b"\0\0\x01\x0eauxl\0\2\0\x81" + b"\0\1" * 129
    iref = (12 + 4000 * len(refs)).to_bytes(4, "big") + b"iref\0\0\0\0" + refs * 4000
    pitm = b"\0\0\0\x0epitm\0\0\0\0\0\1"
    meta = (12 + len(pitm) + len(iprp) + len(iref)).to_bytes(4, "big") + b"meta\0\0\0\0" + pitm + iprp + iref
    with pytest.raises(DataError, match="0 x 0"):
        pixelmill.image_info(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + meta)


@pytest.mark.parametrize("kind", KINDS)
def test_types_and_cuts(kind: str) -> None:
    data = encoded(kind)
    assert image_type(data) == kind
    assert not is_cut(data)
    assert is_cut(data[:-1])
    assert image_type(b"\0\0\0\x14ftypisom\0\0\0\0mp42") is None  # a film
    assert pillow_images.image_size(data) == (HEIGHT, WIDTH)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    root = tmp_path / "photos"
    for name in ("ant", "bee"):
        (root / name).mkdir(parents=True)
        for kind in KINDS:
            (root / name / f"1.{kind.upper()}").write_bytes(encoded(kind, orientation=6))
        (root / name / "2.jpg").write_bytes(other("jpeg", seed=1))
    return root


def test_folders_records_and_loaders(photos: Path, tmp_path: Path) -> None:
    dataset = open_dataset(photos)
    assert [sample.extension for sample in dataset] == ["AVIF", "HEIC", "jpg"] * 2
    assert dataset.remarks == ()
    assert pixelmill.imread(photos / "ant/1.HEIC").shape == (WIDTH, HEIGHT, 3)
    loader = ImageLoader(str(photos), size=16, batch_size=6, framework="numpy")
    images, labels = next(iter(loader))
    assert len(images) == 6
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    for format in ("tfrecord", "webdataset", "recordio", "zip"):
        path = write(tmp_path / format, format, [Sample("a", encoded("heic"), "heic", (0,), "x")])
        pipe = Pipeline(1, 1, 0)
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.readers.dataset(path=path, columns=["image"])["image"]))
        np.testing.assert_array_equal(pipe.run()[0].at(0), by_library("heic", encoded("heic")))
        assert open_dataset(path).sample(0).extension == "heic"


def test_commands(photos: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["verify", str(photos)]).exit_code == 0
    done = run(main, ["convert", str(photos), str(tmp_path / "out"), "--to", "folder", "--format", "jpeg"])
    assert done.exit_code == 0, done.output
    made = sorted(path.name for path in (tmp_path / "out").rglob("*.jp*"))
    assert len(made) == 6
    with Image.open(next((tmp_path / "out/ant").glob("1*"))) as turned:
        assert turned.size == (HEIGHT, WIDTH)
    augmented = run(main, ["augment", str(photos), str(tmp_path / "more"), "--recipe", "gentle"])
    assert augmented.exit_code == 0, augmented.output


def test_what_is_not_installed_is_named(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("engine.pillow_decoder", "formats.foreign", "codecs.pillow_images"):
        monkeypatch.setattr(f"pixelmill.{place}.is_readable", lambda kind: False)
    monkeypatch.setattr("pixelmill.formats.folder.listing.ENDINGS", frozenset(["jpg"]))
    with pytest.raises(DataError, match=r"unsupported: HEIC: pip install 'pixelmill\[heif\]' reads it"):
        pixelmill.imread(photos / "ant/1.HEIC")
    with pytest.raises(DataError, match=r"AVIF: pip install 'pillow>=11.3' reads it"):
        pixelmill.imread(photos / "ant/1.AVIF")
    with pytest.raises(DataError, match=r"a HEIC image.*pixelmill\[heif\]"):
        monkeypatch.setattr(optional_images, "is_readable", lambda kind: False)
        pillow_images.decode(encoded("heic"))
    assert open_dataset(photos).remarks == (
        "2 .avif files are not read, such as ant/1.AVIF: an AVIF image; pip install 'pillow>=11.3' reads it",
        "2 .heic files are not read, such as ant/1.HEIC: a HEIC image; pip install 'pixelmill[heif]' reads it",
    )
    for path in [*photos.rglob("*.jpg"), *photos.rglob("*.AVIF")]:
        path.unlink()
    with pytest.raises(
        ArgumentError, match=r"folder: .*photos: 2 .heic files are not read.*pip install 'pixelmill\[heif\]'"
    ):
        open_dataset(photos)
