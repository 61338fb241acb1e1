"""Images in one call: the same pixels, errors and limits as pipelines, from any thread and any process."""

from __future__ import annotations

import io
import mmap
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dali_runs import run
from encoded_images import HEIGHT, WIDTH, color, encode, kinds, pillow, png, ramp, rotated
from hypothesis import given, settings
from hypothesis import strategies as st
from locations import ROOT
from peers import peer
from PIL import Image, ImageOps

import pixelmill
from pixelmill import ArgumentError, DataError, _core, fn, types
from pixelmill.create import photo

cv2 = peer("cv2")

OUTPUT_TYPES = {"RGB": types.RGB, "BGR": types.BGR, "GRAY": types.GRAY, "unchanged": types.ANY_DATA}
MODES = pytest.mark.parametrize("mode", OUTPUT_TYPES)
KINDS = pytest.mark.parametrize("kind", kinds())
LEVELS = pytest.mark.parametrize("level", ["base", "avx2"])


@pytest.fixture
def at_level(request):
    before = _core.simd_level()
    _core.force_simd_level(request.getfixturevalue("level"))
    yield
    _core.force_simd_level(before)


def through_a_pipeline(data, **options):
    return run(lambda _, x: fn.decoders.image(x, **options), [data], layouts="")[0][0]


# Pixels


@MODES
@KINDS
def test_results_are_those_of_a_pipeline(kind, mode):
    data = kinds()[kind]
    got = pixelmill.decode_image(data, mode)
    deep = mode == "unchanged" and "16 bit" in kind
    wanted = through_a_pipeline(data, output_type=OUTPUT_TYPES[mode], dtype=types.UINT16 if deep else types.UINT8)
    assert got.dtype == (np.uint16 if deep else np.uint8)
    np.testing.assert_array_equal(got, wanted)


@LEVELS
@pytest.mark.parametrize("kind", ["jpeg", "jpeg 4:4:4", "jpeg progressive", "png", "png palette", "png rgba", "webp"])
def test_rgb_and_bgr_are_those_of_pillow_and_opencv(kind, level, at_level):
    data = kinds()[kind]
    wanted = pillow(data)
    np.testing.assert_array_equal(pixelmill.decode_image(data), wanted)
    np.testing.assert_array_equal(pixelmill.decode_image(data, "BGR"), wanted[..., ::-1])
    if kind == "png":
        np.testing.assert_array_equal(pixelmill.decode_image(data, "BGR"), cv2.imdecode(data, cv2.IMREAD_COLOR))


def test_gray_jpeg_pixels_are_those_of_pillow():
    for kind in ("jpeg", "jpeg gray"):
        gray = Image.open(io.BytesIO(bytes(kinds()[kind])))
        gray.draft("L", None)  # the luma of the file, as decoders give it
        np.testing.assert_array_equal(pixelmill.decode_image(kinds()[kind], "GRAY")[..., 0], np.asarray(gray))


def test_unchanged_keeps_alpha_and_16_bits():
    for kind, channels in (("png rgba", 4), ("png la", 2), ("png gray", 1), ("png", 3)):
        got = pixelmill.decode_image(kinds()[kind], "unchanged")
        np.testing.assert_array_equal(got, pillow(kinds()[kind], None).reshape(HEIGHT, WIDTH, channels))
    deep = pixelmill.decode_image(kinds()["png 16 bit"], "unchanged")
    assert deep.dtype == np.uint16
    np.testing.assert_array_equal(deep[..., 0], ramp(np.uint16, 31))


@pytest.mark.parametrize("kind", ["jpeg", "png"])
def test_every_kind_of_bytes_is_taken(kind, tmp_path):
    array = kinds()[kind]
    wanted = pixelmill.decode_image(array)
    path = tmp_path / "image"
    path.write_bytes(array.tobytes())
    for data in (bytes(array), bytearray(array), memoryview(bytes(array)), np.array(array)):
        np.testing.assert_array_equal(pixelmill.decode_image(data), wanted)
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        np.testing.assert_array_equal(pixelmill.decode_image(memoryview(mapped)), wanted)
    for name in (path, str(path)):
        np.testing.assert_array_equal(pixelmill.imread(name), wanted)


def test_results_are_arrays_of_their_own():
    first, second = (pixelmill.decode_image(kinds()["jpeg"]) for _ in range(2))
    kept = second.copy()
    first[:] = 0
    assert first.flags.c_contiguous and first.flags.writeable
    np.testing.assert_array_equal(second, kept)


# Orientation, windows, sizes


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_orientations_are_applied_as_by_pillow(kind, orientation):
    data = rotated(kind, orientation, **({"lossless": True} if kind == "WEBP" else {}))
    with Image.open(io.BytesIO(bytes(data))) as picture:
        upright = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    got = pixelmill.decode_image(data)
    np.testing.assert_array_equal(got, upright)
    info = pixelmill.image_info(data)
    assert (info.height, info.width, info.orientation) == (*upright.shape[:2], orientation)
    np.testing.assert_array_equal(pixelmill.decode_image(data, window=(3, 5, 20, 11)), upright[3:23, 5:16])
    stored = pixelmill.decode_image(data, orientation=False)
    assert stored.shape == (HEIGHT, WIDTH, 3)
    if orientation == 1:
        np.testing.assert_array_equal(stored, upright)
    else:
        assert stored.shape != upright.shape or not np.array_equal(stored, upright)


@settings(max_examples=40)
@given(st.data())
def test_a_window_is_a_part_of_the_whole(data):
    kind = data.draw(st.sampled_from(["jpeg", "jpeg 4:2:2", "jpeg progressive", "png", "png palette", "png la", "gif"]))
    mode = data.draw(st.sampled_from(list(OUTPUT_TYPES)))
    y, x = data.draw(st.integers(0, HEIGHT - 1)), data.draw(st.integers(0, WIDTH - 1))
    height, width = data.draw(st.integers(1, HEIGHT - y)), data.draw(st.integers(1, WIDTH - x))
    part = pixelmill.decode_image(kinds()[kind], mode, window=(y, x, height, width))
    whole = pixelmill.decode_image(kinds()[kind], mode)
    np.testing.assert_array_equal(part, whole[y : y + height, x : x + width])


SIZES = [(30, 40), (1, 1), (37, 50), (64, 91), (100, 20)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["png", "png gray", "webp", "bmp"])
def test_sizes_are_those_of_a_resize_where_nothing_is_scaled(kind, size):
    data = kinds()[kind]
    wanted = run(lambda _, x: fn.resize(fn.decoders.image(x), size=size), [data], layouts="")[0][0]
    np.testing.assert_array_equal(pixelmill.decode_image(data, size=size), wanted)
    part = run(
        lambda _, x: fn.resize(fn.crop(fn.decoders.image(x), crop=(20, 30), crop_pos_x=0, crop_pos_y=0), size=size),
        [data],
        layouts="",
    )[0][0]
    np.testing.assert_array_equal(pixelmill.decode_image(data, window=(0, 0, 20, 30), size=size), part)


@pytest.mark.parametrize(("size", "denominator"), [((300, 400), 1), ((150, 200), 2), ((151, 150), 1), ((80, 90), 2)])
@pytest.mark.parametrize(("orientation", "mode"), [(1, "RGB"), (6, "GRAY"), (3, "BGR")])
def test_a_jpeg_is_decoded_at_the_smallest_scale_that_is_large_enough(size, denominator, orientation, mode):
    picture = Image.fromarray(photo(5, 0, height=300, width=400))
    data = rotated("JPEG", orientation, picture, quality=90, subsampling=0)
    height, width = size if orientation < 5 else size[::-1]
    scaled = Image.open(io.BytesIO(bytes(data)))
    colors = "L" if mode == "GRAY" else "RGB"
    scaled.draft(colors, (400 // denominator, 300 // denominator))  # libjpeg's scale, and its luma
    assert scaled.size == (400 // denominator, 300 // denominator)
    upright = np.asarray(ImageOps.exif_transpose(scaled).convert(colors))
    upright = upright[..., None] if mode == "GRAY" else upright[..., ::-1] if mode == "BGR" else upright
    wanted = run(lambda _, x: fn.resize(x, size=(height, width)), [np.ascontiguousarray(upright)])[0][0]
    got = pixelmill.decode_image(data, mode, size=(height, width))
    assert got.shape == (height, width, 1 if mode == "GRAY" else 3)
    assert np.abs(got.astype(int) - wanted).max() <= 1


def test_a_small_size_stays_near_the_image():
    whole = photo(6, 0, height=640, width=800)
    data = encode(whole, "JPEG", quality=95)
    for size in ((40, 50), (100, 100), (200, 250)):
        small = pixelmill.decode_image(data, size=size).astype(float)
        reference = np.asarray(Image.fromarray(whole).resize(size[::-1], Image.Resampling.BILINEAR), float)
        assert np.sqrt(np.mean((small - reference) ** 2)) < 2


def test_sizes_of_two_channels_and_of_16_bits():
    for kind, channels in (("png la", 2), ("png 16 bit", 1), ("png rgba", 4)):
        whole = pixelmill.decode_image(kinds()[kind], "unchanged")
        small = pixelmill.decode_image(kinds()[kind], "unchanged", size=(9, 13))
        assert small.shape == (9, 13, channels) and small.dtype == whole.dtype
        wanted = run(lambda _, x: fn.resize(x, size=(9, 13)), [whole])[0][0]
        np.testing.assert_array_equal(small, wanted)


# What the header says


@KINDS
def test_information_comes_from_the_header(kind, tmp_path):
    data = kinds()[kind]
    info = pixelmill.image_info(data)
    format = {"ppm": "PNM", "pgm": "PNM", "jp2": "JPEG 2000", "webp": "WebP"}.get(
        kind.split()[0], kind.split()[0].upper()
    )
    assert (info.format, info.height, info.width, info.orientation) == (format, HEIGHT, WIDTH, 1)
    assert info.bits == (16 if "16 bit" in kind else 8) and not info.has_more_frames
    path = tmp_path / "image"
    path.write_bytes(bytes(data))
    assert pixelmill.image_info(path) == pixelmill.image_info(str(path)) == info


def test_only_the_first_frame_is_read_and_the_others_are_told():
    frames = [color(seed) for seed in (1, 2)]
    data = encode(frames[0], "PNG", save_all=True, append_images=frames[1:])
    assert pixelmill.image_info(data).has_more_frames
    np.testing.assert_array_equal(pixelmill.decode_image(data), np.asarray(frames[0]))


# Errors


def kind_of(call):
    with pytest.raises(DataError) as caught:
        call()
    (event,) = caught.value.events
    assert f"{event.kind}: {event.message}" in str(caught.value)
    return event.kind


BAD = {
    "not_an_image": b"<html>404</html>",
    "truncated": bytes(kinds()["jpeg"])[:400],
    "corrupt": b"\x89PNG\r\n\x1a\x00" + bytes(kinds()["png"])[8:],
    "too_large": bytes(png(np.zeros((1, 1, 1), np.uint8), 0, 8)).replace(
        b"\0\0\0\x01\0\0\0\x01", b"\0\0\xff\xff\0\0\xff\xff", 1
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_damaged_files_are_refused_as_by_a_pipeline(kind, tmp_path):
    with pytest.raises(DataError) as theirs:
        through_a_pipeline(np.frombuffer(BAD[kind], np.uint8))
    assert theirs.value.events[0].kind == kind
    assert kind_of(lambda: pixelmill.decode_image(BAD[kind])) == kind
    path = tmp_path / "bad.jpg"
    path.write_bytes(BAD[kind])
    with pytest.raises(DataError) as caught:
        pixelmill.imread(path)
    (event,) = caught.value.events
    assert event.message == theirs.value.events[0].message
    assert event.path == str(path) and str(path) in str(caught.value) and event.operator == "imread"
    assert "\n  " in str(caught.value)  # what to do


def test_missing_files_and_folders_are_named(tmp_path):
    for path in (tmp_path / "none.jpg", tmp_path):
        assert kind_of(lambda path=path: pixelmill.imread(path)) == "io"
        assert kind_of(lambda path=path: pixelmill.image_info(path)) == "io"
    assert kind_of(lambda: pixelmill.decode_image(b"")) == "not_an_image"


def test_limits_hold():
    data = kinds()["png"]
    for limits in (types.Limits(pixels=100), types.Limits(side=40), types.Limits(encoded_bytes=50)):
        assert kind_of(lambda limits=limits: pixelmill.decode_image(data, limits=limits)) == "too_large"
        assert kind_of(lambda limits=limits: pixelmill.image_info(data, limits=limits)) == "too_large"
    assert pixelmill.decode_image(data, limits=types.Limits(pixels=HEIGHT * WIDTH)).shape == (HEIGHT, WIDTH, 3)
    assert kind_of(lambda: pixelmill.decode_image(data, size=(70000, 10))) == "too_large"
    assert kind_of(lambda: pixelmill.decode_image(data, size=(60000, 60000))) == "too_large"


def test_notes_are_errors_where_that_is_asked_for():
    warned = kinds()["jpeg"][:-2]  # the end marker is missing
    deep = kinds()["png 16 bit"]
    assert pixelmill.decode_image(deep).dtype == np.uint8
    assert kind_of(lambda: pixelmill.decode_image(deep, strict=["depth_reduced"])) == "depth_reduced"
    assert pixelmill.decode_image(deep, strict=["decoder_warning"]).shape == (HEIGHT, WIDTH, 3)
    assert pixelmill.decode_image(warned).shape == (HEIGHT, WIDTH, 3)
    assert kind_of(lambda: pixelmill.decode_image(warned, strict=["decoder_warning"])) == "decoder_warning"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mode": "rgb"}, "mode must be one of RGB, BGR, GRAY, unchanged, got 'rgb'"),
        ({"size": 224}, "size must be 2 positive integers (height, width), got 224"),
        ({"size": (0, 5)}, "size must be"),
        ({"size": (1.5, 5)}, "size must be"),
        ({"window": (1, 2, 3)}, "window must be 4 integers from 0 (row, column, height, width)"),
        ({"window": (-1, 0, 5, 5)}, "window must be"),
        ({"window": (0, 0, 38, 5)}, "does not lie inside the image of 37 x 50"),
        ({"window": (0, 0, 0, 5)}, "does not lie inside"),
        ({"window": (0, 0, 99, 99), "size": (4, 4)}, "does not lie inside"),
        ({"strict": ["no such note"]}, "there is no note 'no such note'"),
    ],
)
def test_arguments_without_meaning_are_refused(options, said):
    with pytest.raises(ArgumentError, match=re.escape(said)):
        pixelmill.decode_image(kinds()["jpeg"], **options)


@pytest.mark.parametrize("data", ["text", None, 5, np.zeros((2, 2), np.uint8), np.zeros(9, np.int32), object()])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(ArgumentError, match="decode_image"):
        pixelmill.decode_image(data)


def test_bytes_are_no_path():
    with pytest.raises(ArgumentError, match="decode_image"):
        pixelmill.imread(bytes(kinds()["jpeg"]))


# Threads and processes


def test_many_threads_decode_what_one_does():
    files = [bytes(data) for kind, data in kinds().items()] * 4
    alone = [pixelmill.decode_image(data) for data in files]
    with ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            for got, wanted in zip(pool.map(pixelmill.decode_image, files), alone, strict=True):
                np.testing.assert_array_equal(got, wanted)


def test_a_call_inside_of_a_call_has_memory_of_its_own(monkeypatch):
    """Pillow's decoder runs Python, and Python may run anything: finalizers, signal handlers."""
    webp, wanted = kinds()["webp"], pillow(kinds()["webp"])
    inner = []
    opened = Image.open

    def nested(*arguments, **options):
        if not inner:
            inner.append(pixelmill.decode_image(kinds()["jpeg"], size=(90, 90)))
        return opened(*arguments, **options)

    monkeypatch.setattr(Image, "open", nested)
    np.testing.assert_array_equal(pixelmill.decode_image(webp, window=(0, 0, HEIGHT, WIDTH)), wanted)
    assert len(inner) == 1


def test_a_failed_call_leaves_the_thread_ready():
    data = bytes(kinds()["jpeg"])
    wanted = pixelmill.decode_image(data)
    for length in range(2, len(data) - 2, 41):
        with pytest.raises(DataError):
            pixelmill.decode_image(data[:length])
        np.testing.assert_array_equal(pixelmill.decode_image(data), wanted)


LOADING = """
import sys
import numpy as np, torch
import pixelmill

class Images(torch.utils.data.Dataset):
    def __init__(self, paths): self.paths = paths
    def __len__(self): return len(self.paths)
    def __getitem__(self, number): return torch.from_numpy(pixelmill.imread(self.paths[number]))

if __name__ == "__main__":
    paths = sys.argv[2:]
    wanted = [pixelmill.imread(path) for path in paths]
    loader = torch.utils.data.DataLoader(
        Images(paths), batch_size=2, num_workers=2, multiprocessing_context=sys.argv[1], collate_fn=list
    )
    got = [image.numpy() for batch in loader for image in batch]
    assert len(got) == len(wanted) and all(map(np.array_equal, got, wanted))
    print("equal")
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_torch_loader_read_the_same(method, tmp_path):
    paths = []
    for kind in ("jpeg", "png", "webp", "png 16 bit", "jpeg progressive"):
        paths.append(tmp_path / kind.replace(" ", "-"))
        paths[-1].write_bytes(bytes(kinds()[kind]))
    script = tmp_path / "loading.py"
    script.write_text(LOADING, "utf-8")
    done = subprocess.run([sys.executable, script, method, *paths], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


def test_the_environment_chooses_the_plain_code(tmp_path):
    path = tmp_path / "image.jpg"
    path.write_bytes(bytes(kinds()["jpeg"]))
    program = "import sys, pixelmill; sys.stdout.buffer.write(pixelmill.imread(sys.argv[1], size=(20, 30)).tobytes())"
    environment = {**os.environ, "PIXELMILL_SIMD": "base"}
    done = subprocess.run([sys.executable, "-c", program, path], env=environment, capture_output=True, check=True)
    assert done.stdout == pixelmill.imread(path, size=(20, 30)).tobytes()


def test_reading_imports_no_graph():
    program = "import sys, pixelmill; pixelmill.decode_image; print('pixelmill.graph.nodes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "False\n"


def test_addresses_are_read_too():
    import fsspec

    with fsspec.filesystem("memory").open("/images/photo.jpg", "wb") as stream:
        stream.write(bytes(kinds()["jpeg"]))
    wanted = pixelmill.decode_image(kinds()["jpeg"])
    np.testing.assert_array_equal(pixelmill.imread("memory://images/photo.jpg"), wanted)
    assert pixelmill.image_info("memory://images/photo.jpg").width == WIDTH


def test_the_page_does_what_it_says(tmp_path):
    page = (ROOT / "docs" / "codecs.md").read_text("utf-8")
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", page, re.M | re.S)
    (tmp_path / "photo.jpg").write_bytes(bytes(encode(photo(1, 0, height=480, width=640), "JPEG", quality=90)))
    script = tmp_path / "page.py"
    script.write_text("".join(code for kind, code in blocks if kind == "python"), "utf-8")
    done = subprocess.run([sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(output for kind, output in blocks if kind == "text")
