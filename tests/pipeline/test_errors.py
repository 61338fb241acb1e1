"""Bad samples: every kind of damage, what is said about it, and what becomes of the batch under each policy."""

from __future__ import annotations

import os
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from dali_runs import HERE, make, numpy_batch, run
from encoded_images import color, encode, kinds, pillow, png, png_chunk, rotated
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import ArgumentError, DataError, fn, types
from pixelmill.create import photo
from pixelmill.errors import MissingDependency, PixelmillError
from pixelmill.types import Limits

GOOD = encode(color(0, 40, 60), "JPEG", quality=90)
HTML = np.frombuffer(b"<!DOCTYPE html><html><body>404 Not Found</body></html>" * 9, np.uint8)


def memory():
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def failure(data, **options):
    """Decode one bad image; give the event."""
    with pytest.raises(DataError) as error:
        run(lambda m, x: fn.decoders.image(x), [np.asarray(data, np.uint8)], layouts="", **options)
    (event,) = error.value.events
    assert str(event) in str(error.value)
    return event


def notes(data):
    """Decode one odd image; give the result and the kinds of notes about it."""
    pipe = make(HERE, lambda m, x: fn.decoders.image(x), [np.asarray(data, np.uint8)], layouts="")
    (decoded,) = pipe.run()
    return np.array(decoded.at(0)), dict(pipe.errors.counts)


def sized(data, height, width):
    """Change the extents in the header of a JPEG."""
    changed = np.array(data)
    start = next(at for at in (bytes(changed).find(b"\xff\xc0"), bytes(changed).find(b"\xff\xc2")) if at >= 0)
    changed[start + 5 : start + 9] = np.frombuffer(struct.pack(">HH", height, width), np.uint8)
    return changed


# Kinds of damage


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_cut_anywhere_is_never_taken_for_whole(progressive):
    whole = encode(color(0, 40, 60), "JPEG", quality=90, progressive=progressive)
    lengths = sorted({*range(24), *range(24, len(whole) - 2, 37), len(whole) - 3})
    batch = [whole[:length] for length in lengths]
    with pytest.raises(DataError) as error:
        run(lambda m, x: fn.decoders.image(x), batch, layouts="")
    events = {event.sample: event for event in error.value.events}
    assert len(events) == len(lengths)
    assert {event.kind for event in events.values()} <= {"truncated", "not_an_image", "corrupt"}
    assert all(events[i].kind == "truncated" for i, length in enumerate(lengths) if length > len(whole) // 2)


def test_the_end_marker_alone_may_be_missing_and_is_noted():
    decoded, counted = notes(GOOD[:-2])
    np.testing.assert_array_equal(decoded, pillow(GOOD))
    assert counted == {"decoder_warning": 1}


@pytest.mark.parametrize("kind", ["png", "bmp", "tiff", "webp", "gif", "ppm", "png 16 bit"])
def test_other_files_cut_anywhere_are_refused(kind):
    whole = kinds()[kind]
    for length in (0, 1, 7, len(whole) // 4, len(whole) // 2, len(whole) * 3 // 4):
        assert failure(whole[:length]).kind in ("truncated", "not_an_image", "corrupt")


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "empty"), (bytes(5000), "00 00 00 00"), (bytes(HTML), "<!DOCTYPE"), (b"\xff\xd8", ""), (b"GIF8", "")],
    ids=["empty", "zeros", "html", "jpeg start", "gif start"],
)
def test_what_is_no_image_is_named_and_its_first_bytes_shown(data, words):
    event = failure(np.frombuffer(data, np.uint8))
    assert event.kind in ("not_an_image", "truncated")
    assert words in event.message


def test_huge_extents_in_a_header_are_refused_before_memory_moves():
    before = memory()
    for data in (sized(GOOD, 65500, 65500), png_header(65535, 65535), png_header(2**31 - 1, 2**31 - 1)):
        event = failure(data)
        assert event.kind == "too_large"
        assert "limit" in event.message or "at most" in event.message
    assert memory() - before < 16


def png_header(height, width):
    samples = png(np.zeros((1, 1, 3), np.uint8), 2, 8)
    data = struct.pack(">II", width, height) + bytes(samples[24:29])
    return np.frombuffer(bytes(samples[:8]) + png_chunk((b"IHDR", data)) + bytes(samples[33:]), np.uint8)


@pytest.mark.parametrize(
    "data", [sized(GOOD, 40, 0), png_header(0, 5), png_header(5, 0)], ids=["jpeg", "png", "png wide"]
)
def test_a_image_without_pixels_is_an_error(data):
    assert failure(data).kind in ("corrupt", "unsupported", "not_an_image")


def test_limits_are_those_that_were_set():
    run(lambda m, x: fn.decoders.image(x), [GOOD], layouts="", limits=Limits(pixels=2400))
    assert failure(GOOD, limits=Limits(pixels=2399)).kind == "too_large"
    assert failure(GOOD, limits=Limits(side=59)).kind == "too_large"
    with pytest.raises(ArgumentError, match="Limits: pixels must be at least 1, got 0"):
        Limits(pixels=0)


def test_a_file_that_is_too_long_is_refused_unread(tmp_path):
    with (tmp_path / "long.jpg").open("wb") as file:
        file.truncate(300 << 20)
    before = memory()
    pipe = reading([tmp_path / "long.jpg"])
    with pytest.raises(DataError, match="too_large: 314572800 bytes; the limit encoded_bytes is 268435456"):
        pipe.run()
    assert memory() - before < 16


def scan_bomb(scans):
    """Repeat the last scan of a progressive JPEG, as little data as that takes."""
    data = bytes(encode(photo(0, 0, height=1000, width=1000), "JPEG", progressive=True, quality=30))
    last = data.rindex(b"\xff\xda")
    return np.frombuffer(data[:last] + data[last : last + 200] * scans + b"\xff\xd9", np.uint8)


def test_a_scan_bomb_is_refused_quickly():
    bomb = scan_bomb(5000)
    start = time.process_time()  # of all threads, whatever else the machine does
    event = failure(bomb)
    assert event.kind == "too_large" and "scans" in event.message
    assert time.process_time() - start < 0.5


def test_metadata_is_not_inflated():
    text = (b"zTXt", b"key\0\0" + zlib.compress(bytes(200 << 20), 9))
    file = png(np.arange(60, dtype=np.uint8).reshape(4, 5, 3), 2, 8, chunks=[text])
    before = memory()
    decoded, _ = notes(file)
    assert decoded.reshape(-1).tolist() == list(range(60))
    assert memory() - before < 32


def test_a_lossless_jpeg_is_refused_by_name():
    changed = np.array(GOOD)
    changed[bytes(changed).index(b"\xff\xc0") + 1] = 0xC3
    event = failure(changed)
    assert event.kind == "unsupported" and "lossless" in event.message.lower()


def test_a_tiff_that_points_to_itself_ends():
    entries = struct.pack("<H", 1) + struct.pack("<HHII", 256, 3, 1, 5) + struct.pack("<I", 8)
    start = time.process_time()
    assert failure(np.frombuffer(b"II*\0" + struct.pack("<I", 8) + entries, np.uint8)).kind in (
        "corrupt",
        "unsupported",
    )
    many = struct.pack("<H", 61457) + struct.pack("<HHII", 256, 3, 1, 5) * 61457
    failure(np.frombuffer(b"II*\0" + struct.pack("<I", 8) + many, np.uint8))
    assert time.process_time() - start < 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (1, 20000)])
def test_thin_images_go_through_everything(shape):
    def graph(m, data):
        picture = fn.decoders.image(data)
        return (
            fn.resize(picture, size=(7, 5)),
            fn.random_resized_crop(picture, size=(6, 4)),
            fn.flip(fn.crop(picture, crop=(1, 1))),
            fn.decoders.image_random_crop(data),
            fn.crop_mirror_normalize(picture, crop=(3, 3), out_of_bounds_policy="pad", mirror=1),
        )

    outputs = run(graph, [encode(np.full((*shape, 3), 77, np.uint8), "PNG")], layouts="")
    assert all((output[0] >= 0).all() and output[0].size for output in outputs)


# Notes


def test_notes_are_counted_and_the_sample_is_delivered():
    start = bytes(GOOD).index(b"\xff\xdb")
    extraneous = np.concatenate([GOOD[:start], np.arange(1, 40, dtype=np.uint8), GOOD[start:]])
    decoded, counted = notes(extraneous)
    np.testing.assert_array_equal(decoded, pillow(GOOD))
    assert counted == {"decoder_warning": 1}
    assert notes(kinds()["png 16 bit"])[1] == {"depth_reduced": 1}


def test_several_frames_are_noted():
    frames = [color(seed).quantize(32) for seed in range(3)]
    assert notes(encode(frames[0], "GIF", save_all=True, append_images=frames[1:]))[1] == {"more_frames": 1}


def test_an_impossible_orientation_is_noted():
    assert notes(rotated("JPEG", 9))[1] == {"bad_orientation": 1}


def test_nothing_is_written_to_the_terminal(capfd):
    start = bytes(GOOD).index(b"\xff\xdb")
    for data in (np.concatenate([GOOD[:start], np.zeros(9, np.uint8), GOOD[start:]]), GOOD[:-2]):
        notes(data)
    for data in (GOOD[:200], kinds()["png"][:200], kinds()["tiff"][:99], HTML, scan_bomb(300)):
        failure(data)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


# Folders with bad files in them


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty images of one color each, six of them bad, one named wrongly."""
    root = tmp_path_factory.mktemp("mixed")
    for number in range(40):
        data = encode(np.full((12, 15, 3), 6 * number, np.uint8), "JPEG", quality=95, subsampling=0)
        bad = {
            5: data[: len(data) // 2],
            11: data[:0],
            12: HTML,
            20: sized(data, 65000, 65000),
            33: data[:600],
            38: data[:1],
        }
        kind = "PNG" if number == 7 else "JPEG"
        data = encode(np.full((12, 15, 3), 6 * number, np.uint8), kind) if number == 7 else bad.get(number, data)
        (root / f"{number:02}.jpg").write_bytes(bytes(data))
    return sorted(root.iterdir())


BAD = [5, 11, 12, 20, 33, 38]


def reading(files, *, batch_size=8, shuffle=False, **options):
    def graph(m):
        data, label = fn.readers.file(files=[str(path) for path in files], random_shuffle=shuffle, pad_last_batch=True)
        return fn.resize(fn.decoders.image(data), size=(4, 4)), label  # the line in question

    given = {"batch_size": batch_size, "num_threads": 2, "prefetch_queue_depth": 2, **options}
    return make(HERE, graph, **given)


def epoch(pipe, steps=5):
    """Return (label, level, valid) of every sample of an epoch."""
    rows = []
    for _ in range(steps):
        pictures, labels = (numpy_batch(batch) for batch in pipe.run())
        rows += [(int(n[0]), int(x[0, 0, 0]), bool(ok)) for x, n, ok in zip(pictures, labels, pipe.valid, strict=True)]
    return rows


def test_raise_says_everything_and_continues_after_the_batch(folder):
    pipe = reading(folder, batch_size=10)
    with pytest.raises(DataError) as error:
        pipe.run()
    (event,) = error.value.events
    assert (event.kind, event.sample, event.epoch, event.path) == ("truncated", 5, 0, str(folder[5]))
    assert (event.operator, event.offset, event.fatal) == ("decoders.image", None, True)
    text = str(error.value)
    assert f"(sample 5, {folder[5]})" in text
    assert "created at test_errors.py:" in text and "# the line in question" in text
    assert "on_error='skip'" in text
    labels = [int(label[0]) for label in numpy_batch(pipe.run()[1])]  # the same batch, the bad sample replaced
    assert labels[:5] + labels[6:] == [0, 1, 2, 3, 4, 6, 7, 8, 9] and labels[5] not in BAD
    with pytest.raises(DataError) as error:
        pipe.run()
    assert [event.sample for event in error.value.events] == [11, 12]
    assert len(pipe.run()[0]) == 10


def test_skip_puts_another_sample_in_the_place_and_lists_it(folder):
    pipe = reading(folder, on_error="skip")
    rows = epoch(pipe)
    assert len(rows) == 40 and all(valid for *_, valid in rows)
    for place, (label, level, _) in enumerate(rows):
        assert abs(level - 6 * label) <= 2
        assert (label == place) == (place not in BAD)
        assert label not in BAD
    assert sorted(event.sample for event in pipe.errors.events if event.fatal) == BAD
    assert pipe.errors.counts == {"truncated": 2, "not_an_image": 3, "too_large": 1, "extension_mismatch": 1}
    assert len(pipe.errors) == 7


def test_skip_chooses_the_same_others_for_any_threads_and_batches(folder):
    def stream(**options):
        pipe = reading(folder, on_error="skip", shuffle=True, **options)
        return [row for _ in range(3) for row in epoch(pipe, -(-40 // pipe.max_batch_size))]

    whole = stream(batch_size=8)
    assert stream(batch_size=8, num_threads=1) == whole
    assert stream(batch_size=4, num_threads=5) == whole
    assert stream(batch_size=40) == whole
    assert stream(batch_size=8, optimize=False) == whole


def test_fill_keeps_the_place_gray_and_marked(folder):
    pipe = reading(folder, on_error="fill")
    rows = epoch(pipe)
    for place, (label, level, valid) in enumerate(rows):
        assert label == place
        assert valid == (place not in BAD)
        assert abs(level - (6 * label if valid else 128)) <= 2


def test_fill_gives_the_shape_the_image_would_have_had():
    batch = [GOOD, GOOD[: len(GOOD) // 2], HTML]

    def graph(m, data):
        return fn.decoders.image(data), fn.decoders.image(data, output_type=types.GRAY, dtype=types.FLOAT)

    pictures, grays = run(graph, batch, layouts="", on_error="fill")
    assert [x.shape[:2] for x in pictures[:2]] == [(40, 60)] * 2 and pictures[2].shape[2] == 3
    assert (pictures[1] == 128).all()
    assert np.allclose(grays[1], 128 / 255) and grays[1].shape == (40, 60, 1)


def test_a_callable_decides_for_each_sample(folder):
    seen = []

    def decide(event):
        seen.append(event.sample)
        return "fill" if event.kind == "truncated" else "skip"

    rows = epoch(reading(folder, on_error=decide))
    assert seen == BAD
    filled = [place for place, (_, _, valid) in enumerate(rows) if not valid]
    assert filled == [5, 33]


def test_a_callable_that_decides_nothing_is_an_error(folder):
    with pytest.raises(ArgumentError, match="on_error: the callable must return one of raise, skip, fill, got None"):
        epoch(reading(folder, on_error=lambda event: None))


@pytest.mark.parametrize(
    ("most", "fails"), [(6, False), (5, True), (0, True), (0.15, False), (0.1, True), (None, False)]
)
def test_more_bad_samples_than_allowed_end_the_run(folder, most, fails):
    pipe = reading(folder, on_error="skip", max_errors=most)
    if fails:
        with pytest.raises(DataError, match=r"bad samples in epoch 0, but max_errors allows"):
            epoch(pipe)
    else:
        assert len(epoch(pipe)) == len(epoch(pipe)) == 40  # counted again in every epoch


def test_notes_become_errors_where_that_is_wanted(folder):
    pipe = reading(folder[6:9], batch_size=3, strict=["extension_mismatch"])
    with pytest.raises(DataError, match=r"extension_mismatch: the content is PNG, not \.jpg"):
        pipe.run()
    rows = epoch(reading(folder[6:9], batch_size=3, strict=["extension_mismatch"], on_error="skip"), 1)
    assert 1 not in [label for label, *_ in rows]


def test_only_samples_of_readers_can_be_replaced():
    with pytest.raises(DataError, match="without a reader, samples cannot be skipped; use on_error='fill'"):
        run(lambda m, x: fn.decoders.image(x), [HTML], layouts="", on_error="skip")


def test_a_batch_without_a_reader_is_left_behind_when_it_was_bad():
    batches = iter([[HTML, GOOD], [GOOD, GOOD], [GOOD, HTML], [GOOD, GOOD]])
    pipe = make(HERE, lambda m: fn.decoders.image(fn.external_source(source=batches)), batch_size=2)
    for _ in range(2):
        with pytest.raises(DataError):
            pipe.run()
        assert pipe.run()[0].shape() == [(40, 60, 3)] * 2


def test_a_folder_of_nothing_but_bad_files_gives_up(folder):
    pipe = reading([folder[place] for place in BAD], batch_size=3, on_error="skip")
    with pytest.raises(DataError, match="16 other samples were tried in its place, and all are bad"):
        pipe.run()


def test_arguments_that_do_not_fit_a_sample_are_never_skipped():
    def graph(m, x):
        return fn.crop(x, crop=(30, 3))

    pictures = [np.zeros((40, 9, 3), np.uint8), np.zeros((20, 9, 3), np.uint8)]
    with pytest.raises(DataError) as error:
        run(graph, pictures, on_error="fill")
    assert [event.kind for event in error.value.events] == ["argument"]
    text = str(error.value)
    assert text.startswith("crop: window at (-5, 3, 0) of size (30, 3, 3) does not fit into (20, 9, 3) (sample 1)")
    assert "return fn.crop(x, crop=(30, 3))" in text


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    pipe = reading([tmp_path / "gone.jpg"])
    with pytest.raises(DataError, match=r"readers.file: io: No such file or directory \(sample 0, .*gone.jpg\)"):
        pipe.run()


def test_damage_in_the_middle_of_a_graph_with_a_callback_is_mended(folder):
    def graph(m):
        data, label = fn.readers.file(files=[str(path) for path in folder], pad_last_batch=True)
        small = fn.resize(fn.decoders.image(data), size=(4, 4))
        return fn.python_function(small, function=lambda x: 255 - x), label

    for policy in ("skip", "fill"):
        pipe = make(HERE, graph, batch_size=8, on_error=policy)
        rows = epoch(pipe)
        assert [valid for *_, valid in rows] == [policy == "skip" or place not in BAD for place in range(40)]
        assert all(abs(255 - level - 6 * label) <= 2 for label, level, valid in rows if valid)


# Arguments that contradict each other


extremes = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.5, 7.0, 1e-30, 3e9, -3e9, 1e19, 1e30, -1e30, np.inf, -np.inf, np.nan]
)
wholes = st.sampled_from([0, 1, -1, 5, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63)])
ABSURD = {
    "resize size": (lambda x, v: fn.resize(x, size=v), extremes, 2),
    "resize x": (lambda x, v: fn.resize(x, resize_x=v), extremes, 0),
    "resize longer": (lambda x, v: fn.resize(x, resize_longer=v, subpixel_scale=False), extremes, 0),
    "resize from": (lambda x, v: fn.resize(x, size=5, roi_start=v, roi_end=[3, 3]), extremes, 2),
    "resize to": (lambda x, v: fn.resize(x, size=5, roi_start=[0, 0], roi_end=v, roi_relative=True), extremes, 2),
    "resize filter": (lambda x, v: fn.resize(x, size=5, interp_type=v), wholes, 0),
    "mirror": (lambda x, v: fn.resize_crop_mirror(x, size=9, crop=v), extremes, 2),
    "mirror bits": (lambda x, v: fn.resize_crop_mirror(x, size=9, mirror=v), wholes, 0),
    "crop": (lambda x, v: fn.crop(x, crop=v, out_of_bounds_policy="pad"), extremes, 2),
    "crop trim": (lambda x, v: fn.crop(x, crop_h=v, crop_w=3, out_of_bounds_policy="trim_to_shape"), extremes, 0),
    "crop place": (lambda x, v: fn.crop(x, crop=(2, 2), crop_pos_x=v), extremes, 0),
    "slice start": (lambda x, v: fn.slice(x, start=v, shape=[2, 2], out_of_bounds_policy="pad"), wholes, 2),
    "slice end": (lambda x, v: fn.slice(x, start=[1, 1], end=v, out_of_bounds_policy="trim_to_shape"), wholes, 2),
    "slice both": (lambda x, v: fn.slice(x, v, v, out_of_bounds_policy="pad"), extremes, 2),
    "slice share": (
        lambda x, v: fn.slice(x, rel_start=v, rel_shape=v, out_of_bounds_policy="trim_to_shape"),
        extremes,
        2,
    ),
    "slice shape": (lambda x, v: fn.slice(x, start=[0, 0], shape=v, out_of_bounds_policy="pad"), wholes, 2),
    "pad shape": (lambda x, v: fn.pad(x, shape=v), wholes, 3),
    "pad align": (lambda x, v: fn.pad(x, align=v), wholes, 3),
    "pad value": (lambda x, v: fn.pad(x, shape=[9, 9, 3], fill_value=v), extremes, 0),
    "mean": (lambda x, v: fn.crop_mirror_normalize(x, mean=v, dtype=types.UINT8), extremes, 3),
    "std": (lambda x, v: fn.crop_mirror_normalize(x, std=v, dtype=types.FLOAT16), extremes, 3),
    "window": (lambda x, v: fn.random_crop_generator(v), wholes, 3),
    "uniform": (lambda x, v: fn.random.uniform(range=v, dtype=types.INT32), extremes, 2),
    "normal": (lambda x, v: fn.random.normal(mean=v, stddev=v, dtype=types.INT8), extremes, 0),
    "coin": (lambda x, v: fn.random.coin_flip(probability=v), extremes, 0),
    "choice": (lambda x, v: fn.random.choice(3, p=v), extremes, 3),
    "shape": (lambda x, v: fn.random.uniform(shape=v), wholes, 2),
    "decode": (lambda x, v: fn.decoders.image_crop(np.array(GOOD), crop=v), extremes, 2),
    "decode slice": (lambda x, v: fn.decoders.image_slice(np.array(GOOD), v, [3, 3]), wholes, 2),
    "cast": (
        lambda x, v: [fn.cast(v, dtype=t) for t in (types.UINT8, types.INT64, types.BOOL, types.FLOAT16)],
        extremes,
        3,
    ),
}


@pytest.mark.parametrize("case", ABSURD)
@given(st.data())
@settings(max_examples=12)
def test_absurd_arguments_give_a_result_or_an_error_in_words(case, data):
    """Never a crash, never all the memory, and errors that a person can read."""
    graph, values, count = ABSURD[case]
    drawn = [data.draw(values) for _ in range(max(count, 1))]
    kind = np.int64 if values is wholes else np.float64
    argument = np.array(drawn if count else drawn[0], kind)
    before = memory()
    try:
        batch = [np.ones((4, 6, 3), np.uint8)]
        results = run(lambda m, x, v: graph(x, v), batch, [argument], limits=Limits(pixels=1 << 20))
        assert all(result[0].size <= 4 << 20 for result in results)
    except DataError as error:
        assert {event.kind for event in error.events} <= {"argument", "too_large"}
        assert "internal error" not in str(error)
    assert memory() - before < 64


@pytest.mark.parametrize("value", [[1, 0], []], ids=str)
def test_a_vector_in_the_place_of_a_number_is_an_error(value):
    with pytest.raises(DataError, match=r"flip: horizontal must be one number for each sample, got int32 \(.,\)"):
        run(lambda m, x, v: fn.flip(x, horizontal=v), [np.ones((4, 6, 3), np.uint8)], [np.array(value, np.int32)])


# Policies themselves


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "on_error must be one of raise, skip, fill or a callable, got 'ignore'"),
        ({"max_errors": -1}, "max_errors must not be negative, got -1"),
        ({"strict": ["typo"]}, "strict must contain only .*, got 'typo'"),
    ],
    ids=str,
)
def test_policies_are_checked(options, message):
    with pytest.raises(ArgumentError, match=message):
        make(HERE, lambda m: fn.random.coin_flip(), **options)


def test_errors_are_caught_by_python_names():
    assert issubclass(ArgumentError, ValueError) and issubclass(ArgumentError, PixelmillError)
    assert issubclass(MissingDependency, ImportError)
    assert "pip install 'pixelmill[torch]'" in str(MissingDependency("torch", "torch"))
