"""Decoding, bit for bit: against Pillow, in windows, scaled, turned, and out of every kind of file."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from dali_runs import run
from encoded_images import (
    PNG_CHANNELS,
    color,
    encode,
    kinds,
    pillow,
    png,
    ramp,
    rotated,
    sampled,
    with_adobe_transform,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from locations import ROOT
from PIL import Image, ImageOps

from pixelmill import fn, types
from pixelmill.create import photo

PHOTOS = ROOT.parent / "shared" / "photos"
SUBSAMPLINGS = {"4:4:4": 0, "4:2:2": 1, "4:2:0": 2}
SIDES = range(1, 34)


def decode(files, **options):
    """Decode files by a pipeline."""
    return run(lambda m, data: fn.decoders.image(data, **options), files, layouts="")[0]


def same(got, wanted, *, level=0):
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    assert np.abs(got.astype(np.int64) - wanted.astype(np.int64)).max() <= level


# JPEG


@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=["baseline", "progressive"])
def test_jpeg_is_pillows_at_every_size(subsampling, options):
    whole = color(1, 33, 33)
    sizes = [
        (height, width) for height, width in product(SIDES, SIDES) if (height * 7 + width) % 4 == 0 or height == 33
    ]
    options = {**options, "subsampling": SUBSAMPLINGS[subsampling], "quality": 85}
    files = [encode(whole.crop((0, 0, width, height)), "JPEG", **options) for height, width in sizes]
    for file, got in zip(files, decode(files), strict=True):
        same(got, pillow(file))


def test_gray_jpeg_is_pillows_at_every_size():
    whole = color(2, 33, 33).convert("L")
    files = [encode(whole.crop((0, 0, width, height)), "JPEG") for height, width in product(SIDES, (1, 8, 9, 17, 33))]
    grays = decode(files, output_type=types.GRAY)
    colors = decode(files)
    for file, gray, rgb in zip(files, grays, colors, strict=True):
        same(gray, pillow(file, "L")[..., None])
        same(rgb, pillow(file))


@pytest.mark.parametrize(("horizontal", "vertical", "source"), [(1, 2, "4:2:2"), (4, 1, "4:2:0"), (1, 4, "4:2:0")])
def test_rare_subsamplings_are_pillows(horizontal, vertical, source):
    def blocks(h, v, height, width):
        return -(-width // (8 * h)) * -(-height // (8 * v))

    of_source = {"4:2:2": (2, 1), "4:2:0": (2, 2)}[source]
    sizes = [(h, w) for h, w in product(SIDES, SIDES) if blocks(*of_source, h, w) == blocks(horizontal, vertical, h, w)]
    picture = photo(3, 0, height=33, width=33)
    files = [
        sampled(encode(picture[:height, :width], "JPEG", subsampling=SUBSAMPLINGS[source]), horizontal, vertical)
        for height, width in sizes[:: max(1, len(sizes) // 60)]
    ]
    assert len(files) >= 30
    for file, got in zip(files, decode(files), strict=True):
        same(got, pillow(file))


@pytest.mark.parametrize(
    "options", [{"restart_marker_blocks": 1}, {"restart_marker_rows": 1}, {"optimize": True}], ids=str
)
@pytest.mark.parametrize("quality", [1, 30, 95, 100])
def test_jpeg_variants_are_pillows(options, quality):
    file = encode(photo(4, 0, height=67, width=90), "JPEG", quality=quality, **options)
    same(decode([file])[0], pillow(file))


@pytest.mark.parametrize("transform", [0, 2])
def test_cmyk_and_ycck_are_pillows_within_a_level(transform):
    file = with_adobe_transform(kinds()["jpeg cmyk"], transform)
    same(decode([file])[0], pillow(file), level=1)


def test_data_after_a_jpeg_does_not_matter():
    file = kinds()["jpeg"]
    same(decode([np.append(file, np.arange(99, dtype=np.uint8))])[0], pillow(file))


# PNG


def png_samples(colour_type, depth):
    """Make samples in which every value occurs."""
    shape = (19, 23, PNG_CHANNELS[colour_type])
    return (np.arange(np.prod(shape)) * 37 % 2**depth).reshape(shape)


def png_rgb(samples, colour_type, depth, palette):
    """Return the 8-bit RGB pixels of PNG samples."""
    if colour_type == 3:
        return palette[samples[..., 0]]
    eight = samples >> 8 if depth == 16 else samples * (255 // (2**depth - 1))
    colors = eight[..., :1] if colour_type in (0, 4) else eight[..., :3]
    return np.broadcast_to(colors, (*samples.shape[:2], 3)).astype(np.uint8)


PNG_TYPES = [
    (0, 1),
    (0, 2),
    (0, 4),
    (0, 8),
    (0, 16),
    (2, 8),
    (2, 16),
    (3, 1),
    (3, 2),
    (3, 4),
    (3, 8),
    (4, 8),
    (4, 16),
    (6, 8),
    (6, 16),
]


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("colour_type", "depth"), PNG_TYPES)
def test_every_type_of_png_gives_its_colors(colour_type, depth, interlaced):
    samples = png_samples(colour_type, depth)
    palette = np.arange(3 * 256, dtype=np.int64).reshape(256, 3).astype(np.uint8) * 5
    chunks = [(b"PLTE", palette[: 2**depth].tobytes())] if colour_type == 3 else []
    file = png(samples, colour_type, depth, interlaced=interlaced, chunks=chunks)
    wanted = png_rgb(samples, colour_type, depth, palette)
    same(decode([file])[0], wanted, level=int(depth == 16))
    if depth < 16:
        same(wanted, pillow(file))


@pytest.mark.parametrize("interlaced", [False, True])
def test_sixteen_bits_are_kept_when_asked_for(interlaced):
    samples = png_samples(2, 16)
    same(decode([png(samples, 2, 16, interlaced=interlaced)], dtype=types.UINT16)[0], samples.astype(np.uint16))


@pytest.mark.parametrize("transparency", ["gray", "rgb", "palette"])
def test_transparent_colors_are_alpha_only_where_channels_are_kept(transparency):
    colour_type = {"gray": 0, "rgb": 2, "palette": 3}[transparency]
    samples = png_samples(colour_type, 8)
    chunks = [(b"PLTE", bytes(range(256)) * 3)] if colour_type == 3 else []
    chunks.append((b"tRNS", {"gray": b"\0\5", "rgb": b"\0\5\0\6\0\7", "palette": b"\0\1\2"}[transparency]))
    file = png(samples, colour_type, 8, chunks=chunks)
    same(decode([file])[0], pillow(file, "RGBA")[..., :3])
    assert decode([file], output_type=types.ANY_DATA)[0].shape[2] in (2, 4)


# Other files


@pytest.mark.parametrize("kind", sorted(set(kinds()) - {"jpeg cmyk", "png 16 bit", "tiff 16 bit"}))
def test_every_kind_of_file_gives_pillows_colors(kind):
    same(decode([kinds()[kind]])[0], pillow(kinds()[kind]))


@pytest.mark.parametrize("kind", ["png 16 bit", "tiff 16 bit"])
def test_sixteen_bit_gray_is_scaled_to_eight(kind):
    samples = ramp(np.uint16, 31)
    same(decode([kinds()[kind]], output_type=types.GRAY)[0][..., 0], (samples >> 8).astype(np.uint8), level=1)
    same(decode([kinds()[kind]], output_type=types.GRAY, dtype=types.UINT16)[0][..., 0], samples)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
@pytest.mark.parametrize("kind", ["BMP", "GIF", "TIFF"])
def test_modes_of_other_formats_give_pillows_colors(kind, mode):
    file = encode(color(5).convert(mode), kind)
    same(decode([file])[0], pillow(file))


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw", "tiff_deflate", "packbits", "group4"])
def test_compressed_tiff_gives_pillows_colors(compression):
    picture = color(6).convert("1" if compression == "group4" else "RGB")
    file = encode(picture, "TIFF", compression=compression)
    same(decode([file])[0], pillow(file))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF", "PNG"])
def test_the_first_of_many_frames_is_taken(kind):
    frames = [color(seed).quantize(32) if kind == "GIF" else color(seed) for seed in range(3)]
    options = {"lossless": True} if kind == "WEBP" else {}
    file = encode(frames[0], kind, save_all=True, append_images=frames[1:], **options)
    same(decode([file])[0], np.asarray(frames[0].convert("RGB")))


# Orientation


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(("kind", "options"), [("JPEG", {}), ("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {})])
def test_images_are_turned_as_their_exif_data_says(kind, options, orientation):
    file = rotated(kind, orientation, **options)
    plain = np.asarray(color()) if kind != "JPEG" else pillow(encode(color(), "JPEG"))
    exif = Image.Exif()
    exif[0x112] = orientation
    picture = Image.fromarray(plain)
    picture.info["exif"] = exif.tobytes()
    same(decode([file])[0], np.asarray(ImageOps.exif_transpose(picture)))
    same(decode([file], adjust_orientation=False)[0], plain)


@pytest.mark.parametrize("orientation", range(2, 9))
@pytest.mark.parametrize("mode", ["RGB", "GRAY"])
def test_a_turned_file_is_resized_to_the_bytes_of_an_upright_one(orientation, mode):
    """How an image lies in memory does not show in its pixels, so the same kernel has to resample it."""
    options = {"output_type": getattr(types, mode)}
    images = [Image.fromarray(photo(3, i, height=150 - 9 * i, width=131 + 40 * i)) for i in range(3)]
    files = [rotated("JPEG", orientation, image) for image in images]
    upright = [np.ascontiguousarray(image) for image in decode(files, **options)]

    def resized(image):
        return fn.resize(image[3:, 5:], size=(70, 90)), fn.crop_mirror_normalize(image, std=[7.0])

    by_file = run(lambda m, data: resized(fn.decoders.image(data, **options)), files, layouts="", decode_scaling=False)
    by_array = run(lambda m, image: resized(image), upright, layouts="HWC")
    for turned, wanted in zip(by_file, by_array, strict=True):
        for got, array in zip(turned, wanted, strict=True):
            np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("orientation", [0, 9, 77])
def test_an_orientation_that_does_not_exist_is_none(orientation):
    same(decode([rotated("JPEG", orientation)])[0], pillow(encode(color(), "JPEG")))


# Windows


windows = st.tuples(*[st.floats(0, 1, width=32)] * 4)


@given(st.data())
@settings(max_examples=150)
def test_a_window_has_the_bits_of_the_whole_image(data):
    draw = data.draw
    height, width = draw(st.integers(1, 90)), draw(st.integers(1, 90))
    picture = Image.fromarray(photo(7, 0, height=height, width=width))
    subsampling = draw(st.sampled_from([0, 1, 2]))
    kind = draw(st.sampled_from(["JPEG", "JPEG", "JPEG", "PNG", "WEBP"]))
    options = {"subsampling": subsampling, "progressive": draw(st.booleans())} if kind == "JPEG" else {"lossless": True}
    if kind == "JPEG" and draw(st.booleans()):
        options["restart_marker_blocks"] = draw(st.integers(1, 5))
    file = rotated(kind, draw(st.integers(1, 8)), picture if draw(st.booleans()) else picture.convert("L"), **options)
    (whole,) = decode([file])
    extent = [draw(st.integers(1, side)) for side in whole.shape[:2]]
    start = [draw(st.integers(0, side - size)) for side, size in zip(whole.shape[:2], extent, strict=True)]
    output = draw(st.sampled_from([types.RGB, types.BGR, types.GRAY, types.YCbCr]))

    def graph(m, bytes_):
        picture = fn.decoders.image(bytes_, output_type=output)
        return fn.slice(picture, start=start, shape=extent, axes=[0, 1])

    (fused,), (apart,) = (run(graph, [file], layouts="", optimize=optimize)[0] for optimize in (True, False))
    np.testing.assert_array_equal(fused, apart)
    if output == types.RGB:
        np.testing.assert_array_equal(fused, whole[start[0] :, start[1] :][: extent[0], : extent[1]])


@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
@pytest.mark.parametrize("progressive", [False, True])
def test_every_window_of_a_small_image_has_the_bits_of_the_whole(subsampling, progressive):
    picture = photo(8, 0, height=34, width=37)
    file = encode(picture, "JPEG", subsampling=SUBSAMPLINGS[subsampling], progressive=progressive)
    whole = pillow(file)
    corners = list(product(range(0, 34, 3), range(0, 37, 2)))
    starts = [np.array(corner, np.int32) for corner in corners]
    extents = [np.array([1 + (y * 5 + x) % (34 - y), 1 + (y + x * 3) % (37 - x)], np.int32) for y, x in corners]

    def graph(m, data, start, extent):
        return fn.decoders.image_slice(data, start, extent, axes=[0, 1])

    for got, (y, x), (h, w) in zip(
        run(graph, [file] * len(corners), starts, extents, layouts=[""] * 3)[0], starts, extents, strict=True
    ):
        np.testing.assert_array_equal(got, whole[y : y + h, x : x + w])


# Scaled decoding


def psnr(got, wanted):
    error = np.mean((got.astype(float) - wanted.astype(float)) ** 2)
    return 99.0 if error == 0 else 10 * np.log10(255**2 / error)


def scaled_and_exact(files, graph):
    return [
        run(lambda m, data: graph(fn.decoders.image(data)), files, layouts="", decode_scaling=scaling)[0]
        for scaling in (True, False)
    ]


SHRINKING = {
    "train": lambda picture: fn.resize(picture, size=(224, 224)),
    "shorter": lambda picture: fn.resize(picture, resize_shorter=256),
    "small": lambda picture: fn.resize(picture, size=(96, 96)),
    "cubic": lambda picture: fn.resize(picture, size=(128, 160), interp_type=types.INTERP_CUBIC),
    "random": lambda picture: fn.random_resized_crop(picture, size=(112, 112), random_area=[0.5, 1.0]),
}


@pytest.mark.parametrize("graph", SHRINKING)
def test_scaled_decoding_shows_the_same_image(graph):
    subsamplings = [0, 1, 2, 2]
    files = [
        encode(photo(9, i, height=900 + 61 * i, width=1200 - 37 * i), "JPEG", quality=90, subsampling=subsamplings[i])
        for i in range(4)
    ]
    scaled, exact = scaled_and_exact(files, SHRINKING[graph])
    figures = [psnr(got, wanted) for got, wanted in zip(scaled, exact, strict=True)]
    assert min(figures) >= 38, figures
    assert min(figures) < 99, "nothing was scaled, so nothing was tested"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_scaled_decoding_keeps_rotated_files_in_place(orientation):
    """Sides are no multiples of the scale, so the last scaled pixel, the first of a flipped axis, covers less."""
    y, x = np.mgrid[:513, :529]
    waves = 127 + 100 * np.sin(2 * np.pi / 90 * np.stack([x, y, x + y], axis=-1))
    file = rotated("JPEG", orientation, Image.fromarray(waves.astype(np.uint8)), quality=95, subsampling=0)
    scaled, exact = scaled_and_exact([file], lambda image: fn.resize(image, size=(64, 64)))
    same(scaled[0], exact[0], level=3)  # without the offset of a flipped axis they differ by up to 20
    assert (scaled[0] != exact[0]).any(), "nothing was scaled, so nothing was tested"


@pytest.mark.skipif(not PHOTOS.is_dir(), reason="the project's photographs are not beside this checkout")
@pytest.mark.parametrize("folder", ["small", "camera"])
def test_scaled_decoding_shows_the_same_photograph(folder):
    paths = sorted((PHOTOS / folder).glob("*.jpg"))[:: 8 if folder == "small" else 2]
    files = [np.frombuffer(path.read_bytes(), np.uint8) for path in paths]
    for name in ("train", "small"):
        scaled, exact = scaled_and_exact(files, SHRINKING[name])
        figures = {path.name: psnr(got, wanted) for path, got, wanted in zip(paths, scaled, exact, strict=True)}
        assert min(figures.values()) >= 38, figures


@pytest.mark.parametrize("interp", ["INTERP_NN", "INTERP_LINEAR"])
def test_what_leaves_pixels_out_is_never_decoded_scaled(interp):
    files = [encode(photo(10, 0, height=900, width=1200), "JPEG")]
    graph = lambda picture: fn.resize(picture, size=(100, 100), interp_type=getattr(types, interp), antialias=False)  # noqa: E731
    scaled, exact = scaled_and_exact(files, graph)
    np.testing.assert_array_equal(scaled[0], exact[0])
