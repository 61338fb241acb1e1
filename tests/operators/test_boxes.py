"""Boxes against DALI: mirrored, rotated, pasted, encoded; and windows drawn around them, by their distribution."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, equal, noise, run
from distributions import MANY, drawn_alike
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import SAMPLES, compare, each, graph_of, ours, seeds

from pixelmill import ArgumentError, DataError, Pipeline, fn

SLACK = 1.5  # pixels that a mark may stick out of its box, where places are brought to whole pixels


def some_boxes(seed, count, axes=2, smallest=0.05):
    """Make corners of boxes inside of an image."""
    random = np.random.default_rng(seed)
    low = random.random((count, axes)) * (1 - smallest)
    high = low + smallest + random.random((count, axes)) * (1 - smallest - low)
    return np.concatenate([low, np.minimum(high, 1)], axis=1).astype(np.float32)


def as_extents(boxes):
    half = boxes.shape[1] // 2
    return np.concatenate([boxes[:, :half], boxes[:, half:] - boxes[:, :half]], axis=1)


def drawn_boxes(draw, extents=False):
    made = [some_boxes(draw(seeds), draw(st.integers(0, 6))) for _ in range(SAMPLES)]
    return [as_extents(boxes) for boxes in made] if extents else made


# Boxes that follow an image


@given(st.data())
@settings(max_examples=25)
def test_bb_flip_and_bbox_paste_are_dalis(data):
    draw = data.draw
    corners = draw(st.booleans())
    boxes = drawn_boxes(draw, extents=not corners)
    flips = {name: each(draw, st.integers(0, 1), np.int32) for name in ("horizontal", "vertical")}
    compare("bb_flip", boxes, "", flips, relative=1e-6, ltrb=corners)
    places = {name: each(draw, st.floats(0, 1, width=32)) for name in ("paste_x", "paste_y")}
    places["ratio"] = each(draw, st.floats(1, 4, width=32))
    compare("bbox_paste", boxes, "", places, relative=1e-6, ltrb=corners)


def test_a_single_box_is_a_box():
    for name, arguments in (("bb_flip", {}), ("bbox_paste", {"ratio": 1.5})):
        compare(name, [some_boxes(1, 1)[0]], "", relative=1e-6, **arguments)


@given(st.data())
@settings(max_examples=50)
def test_bbox_rotate_is_dalis(data):
    draw = data.draw
    layout, normalized = draw(st.sampled_from(["xyXY", "xyWH"])), draw(st.booleans())
    shape = draw(st.tuples(st.integers(10, 99), st.integers(10, 99)))
    boxes = drawn_boxes(draw, extents=layout == "xyWH")
    if not normalized:
        boxes = [box * np.float32([shape[1], shape[0]] * 2) for box in boxes]
    labels = [np.arange(len(box), dtype=np.int32) for box in boxes]
    constants = {"bbox_layout": layout, "bbox_normalized": normalized, "input_shape": [*shape, 3]}
    constants |= {"mode": draw(st.sampled_from(["expand", "fixed", "halfway"]))}
    constants |= draw(st.sampled_from([{}, {"keep_size": True}, {"size": [50.5, 40]}]))

    def graph(m, boxes, labels, angle):
        return m.fn.bbox_rotate(boxes, labels, angle=angle, remove_threshold=0.0, **constants)

    equal(graph, boxes, labels, each(draw, st.floats(-400, 400, width=32)), layouts=["", "", ""], real=2e-3, level=0)


def test_boxes_that_leave_the_image_take_their_labels_along():
    boxes, labels = [np.float32([[0, 0, 0.1, 0.1], [0.4, 0.4, 0.6, 0.6]])], [np.int32([[5], [6]])]
    arguments = {"angle": 45.0, "input_shape": [50, 80], "keep_size": True, "remove_threshold": 0.5}
    (kept, kept_labels) = equal(lambda m, b, n: m.fn.bbox_rotate(b, n, **arguments), boxes, labels, layouts="")
    assert kept[0].shape == (1, 4) and kept_labels[0].tolist() == [[6]]


@given(st.data())
@settings(max_examples=25)
def test_box_encoder_is_dalis(data):
    draw = data.draw
    boxes = drawn_boxes(draw)
    labels = [np.arange(1, len(box) + 1, dtype=np.int32) for box in boxes]
    constants = {"anchors": some_boxes(draw(seeds), 40).ravel().tolist(), "criteria": draw(st.floats(0, 1))}
    constants |= draw(
        st.sampled_from([{}, {"offset": True, "scale": 2.0, "means": [0.1, 0.2, 0.3, 0.4], "stds": [1, 2, 3, 4]}])
    )
    equal(lambda m, b, n: m.fn.box_encoder(b, n, **constants), boxes, labels, layouts=["", ""], real=1e-5, level=0)


# Windows that are drawn


@pytest.mark.parametrize(
    "arguments",
    [
        {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "num_attempts": 20},
        {"scaling": [0.3, 1.0], "aspect_ratio": [0.5, 2.0], "thresholds": [0.1, 0.3], "allow_no_crop": False},
        {"scaling": [0.3, 1.0], "thresholds": [0.0, 0.5], "threshold_type": "overlap", "num_attempts": 5},
        {
            "scaling": [0.2, 0.6],
            "all_boxes_above_threshold": False,
            "bbox_prune_threshold": 0.3,
            "allow_no_crop": False,
        },
        {"scaling": [0.2, 0.8], "aspect_ratio": [1.5, 3.0], "input_shape": [60, 90], "num_attempts": 50},
        {"crop_shape": [40, 30], "input_shape": [60, 90], "shape_layout": "WH"},
        {"crop_shape": [40, 30], "input_shape": [90, 60], "shape_layout": "HW"},
        {"aspect_ratio": [1.5, 1.5], "scaling": [0.3, 0.9], "allow_no_crop": False},
    ],
    ids=str,
)
def test_random_bbox_crop_draws_windows_as_dali_does(arguments):
    boxes = [some_boxes(3, 3, smallest=0.3)] * MANY

    def window(m, boxes):
        anchor, shape, left = m.fn.random_bbox_crop(boxes, bbox_layout="xyXY", **arguments)[:3]
        return anchor, shape, left.shape()

    drawn_alike(window, boxes, layouts="")


def test_random_bbox_crop_of_volumes_draws_as_dali_does():
    boxes = [np.float32([[0.2, 0.3, 0.4, 0.7, 0.6, 0.8]])] * MANY
    arguments = {"scaling": [0.4, 1.0], "aspect_ratio": [0.5, 2, 0.7, 1.5, 0.3, 3], "num_attempts": 20}
    drawn_alike(lambda m, b: m.fn.random_bbox_crop(b, **arguments)[:2], boxes, layouts="")


def moved(boxes, anchor, shape):
    """Boxes whose center lies in a window, in the coordinates of the window."""
    half = len(anchor)
    centre = (boxes[:, :half] + boxes[:, half:]) / 2
    kept = ((centre >= anchor) & (centre < anchor + shape)).all(axis=1)
    corners = (boxes[kept].reshape(-1, 2, half) - anchor) / shape
    return np.clip(corners, 0, 1).reshape(-1, 2 * half), np.flatnonzero(kept)


@pytest.mark.parametrize("layout", ["xyXY", "xyWH", "yXxY", "WyxH"])
def test_boxes_labels_and_numbers_belong_to_the_window(layout):
    corners = [some_boxes(i, 6) for i in range(40)]
    columns = {"x": 0, "y": 1, "X": 2, "Y": 3, "W": 2, "H": 3}
    order = [columns[letter] for letter in layout]
    given_ = [np.ascontiguousarray((as_extents(b) if "W" in layout else b)[:, order]) for b in corners]
    labels = [np.arange(10, 16, dtype=np.int32) for _ in corners]

    def graph(m, boxes, labels):
        options = {"scaling": [0.3, 0.9], "aspect_ratio": [0.5, 2.0], "all_boxes_above_threshold": False}
        return m.fn.random_bbox_crop(
            boxes, labels, bbox_layout=layout, output_bbox_indices=True, num_attempts=9, **options
        )

    for i, (anchor, shape, left, names, numbers) in enumerate(
        zip(*run(graph, given_, labels, layouts=""), strict=True)
    ):
        back = np.empty_like(left)
        back[:, order] = left
        if "W" in layout:
            back[:, 2:] += back[:, :2]
        wanted, kept = moved(corners[i], anchor, shape)
        if (shape == 1).all():
            wanted, kept = corners[i], np.arange(6)
        np.testing.assert_allclose(back, wanted, atol=1e-5)
        assert numbers.tolist() == kept.tolist() and names.tolist() == (10 + kept).tolist()


def test_images_without_boxes_are_cropped_as_dali_does():
    empty = [np.zeros((0, 4), np.float32)] * MANY
    drawn_alike(lambda m, b: m.fn.random_bbox_crop(b, scaling=[0.3, 0.6])[:2], empty, layouts="")
    arguments = {"scaling": [0.3, 0.6], "thresholds": [0.5], "allow_no_crop": False}
    anchor, shape, _ = run(
        lambda m, b: m.fn.random_bbox_crop(b, **arguments), empty[:2], layouts=""
    )  # DALI would not end
    assert (shape[0] <= 0.6).all() and (anchor[0] + shape[0] <= 1).all()


def test_a_search_that_cannot_succeed_ends():
    boxes = [np.float32([[0, 0, 0.1, 0.1], [0.9, 0.9, 1, 1]])]
    arguments = {"scaling": [0.3, 0.4], "thresholds": [0.9], "allow_no_crop": False}
    anchor, shape, _ = run(lambda m, b: m.fn.random_bbox_crop(b, **arguments), boxes, layouts="")
    assert (shape[0] <= 0.4).all() and (anchor[0] + shape[0] <= 1).all()
    arguments |= {"aspect_ratio": [5.0, 6.0]}  # no window at all has this shape
    anchor, shape, _ = run(lambda m, b: m.fn.random_bbox_crop(b, **arguments), boxes, layouts="")
    assert (shape[0] == 1).all()


def test_equal_ratios_of_pixels_stay_inside_of_the_image():
    """DALI gives windows that are wider than the image here."""
    boxes = [np.float32([[0.4, 0.4, 0.6, 0.6]])] * 100
    arguments = {"input_shape": [100, 200], "scaling": [0.3, 1.0], "allow_no_crop": False}
    anchors, shapes, _ = run(lambda m, b: m.fn.random_bbox_crop(b, **arguments), boxes, layouts="")
    for anchor, shape in zip(anchors, shapes, strict=True):
        assert shape[0] * 100 == pytest.approx(shape[1] * 200, rel=1e-4)
        assert (anchor >= 0).all() and (anchor + shape <= 1 + 1e-6).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"crop_shape": [3, 9], "roi_start": [2, 3], "roi_end": [10, 6]},
        {"crop_shape": [3, 9], "roi_start": [2, 3], "roi_shape": [10, 3], "in_shape": [20, 10]},
        {"crop_shape": [5, 5], "roi_start": [2, 3], "roi_shape": [5, 5]},
    ],
    ids=str,
)
def test_roi_random_crop_draws_as_dali_does(arguments):
    like = [np.zeros(1, np.float32)] * MANY  # for the size of the batch
    drawn_alike(
        lambda m, x: m.fn.roi_random_crop(**arguments) + m.fn.cast(x * 0, dtype=m.types.INT64), like, layouts=""
    )


def test_roi_random_crop_stays_in_the_image():
    batch = [noise((12, 11, 3))] * MANY
    drawn_alike(
        lambda m, x: m.fn.roi_random_crop(x, crop_shape=[8, 9], roi_start=[1, 1], roi_end=[3, 4]), batch, layouts="HWC"
    )


def test_windows_depend_on_the_seed_and_the_sample_alone():
    boxes = [some_boxes(i, 3) for i in range(8)]
    graph = graph_of("random_bbox_crop", scaling=[0.3, 0.9], aspect_ratio=[0.5, 2.0], num_attempts=9, seed=4)
    first = lambda m, b: graph(m, b)[0]  # noqa: E731
    one, other = ours(first, boxes, layouts="", num_threads=1), ours(first, boxes, layouts="", num_threads=4)
    assert [x.tobytes() for x in one] == [x.tobytes() for x in other]
    assert len({x.tobytes() for x in one}) > 1


# A mark that is found again


def marked(seed, height=90, width=120):
    """Make a dark image with a bright square, its mask of class 7, and its box."""
    random = np.random.default_rng(seed)
    size = int(random.integers(8, 16))
    y, x = int(random.integers(20, height - 20 - size)), int(random.integers(20, width - 20 - size))
    picture, mask = np.zeros((height, width, 3), np.uint8), np.zeros((height, width, 1), np.uint8)
    picture[y : y + size, x : x + size] = 255
    mask[y : y + size, x : x + size] = 7
    box = np.float32([[x / width, y / height, (x + size) / width, (y + size) / height]])
    return picture, mask, box


def flipped(m, picture, mask, box, number):
    across, down = m.fn.cast(number > 0.3, dtype=m.types.INT32), m.fn.cast(number < 0.6, dtype=m.types.INT32)
    moved_box = m.fn.bb_flip(box, ltrb=True, horizontal=across, vertical=down)
    return *(m.fn.flip(x, horizontal=across, vertical=down) for x in (picture, mask)), moved_box


def cropped(m, picture, mask, box, number):
    options = {"thresholds": [1.0], "threshold_type": "overlap", "scaling": [0.5, 0.9], "aspect_ratio": [0.5, 2.0]}
    anchor, shape, left = m.fn.random_bbox_crop(
        box, allow_no_crop=False, bbox_layout="xyXY", num_attempts=50, **options
    )
    return *(m.fn.slice(x, anchor, shape) for x in (picture, mask)), left


def resized(m, picture, mask, box, number):
    nearest = m.types.INTERP_NN
    size = (67, 155)
    return m.fn.resize(picture, size=size), m.fn.resize(mask, size=size, interp_type=nearest), box


def rotated(m, picture, mask, box, number):
    angle, nearest = number * 360.0, m.types.INTERP_NN
    images = (
        m.fn.rotate(picture, angle=angle, fill_value=0),
        m.fn.rotate(mask, angle=angle, fill_value=0, interp_type=nearest),
    )
    return *images, m.fn.bbox_rotate(box, angle=angle, input_shape=[90, 120])


def pasted(m, picture, mask, box, number):
    options = {"ratio": 1.0 + number, "paste_x": number, "paste_y": 1.0 - number}
    return *(m.fn.paste(x, fill_value=0, **options) for x in (picture, mask)), m.fn.bbox_paste(
        box, ltrb=True, **options
    )


def warped(m, picture, mask, box, number):
    """The corners of the box go through the matrix that moves the image."""
    t = m.fn.transforms
    matrix = t.rotation(t.shear(t.scale(scale=[1.2, 0.8], center=[60, 45]), shear=[0.2, -0.1]), angle=number * 40.0)
    options = {"inverse_map": False, "fill_value": 0}
    images = (
        m.fn.warp_affine(picture, matrix, **options),
        m.fn.warp_affine(mask, matrix, interp_type=m.types.INTERP_NN, **options),
    )
    pixels = m.fn.reshape(box, shape=[2, 2]) * np.float32([120, 90])
    left, top, right, bottom = (pixels[i, j] for i in (0, 1) for j in (0, 1))
    points = m.fn.stack(*(m.fn.stack(x, y) for x in (left, right) for y in (top, bottom)))
    corners = m.fn.coord_transform(points, MT=matrix) / np.float32([120, 90])
    hull = (m.fn.reductions.min(corners, axes=[0]), m.fn.reductions.max(corners, axes=[0]))
    return *images, m.fn.reshape(m.fn.cat(*hull), shape=[1, 4])


@pytest.mark.parametrize("change", [flipped, cropped, resized, rotated, pasted, warped])
def test_a_mark_its_mask_and_its_box_stay_together(change):
    samples = [marked(seed) for seed in range(24)]
    numbers = [np.array(x, np.float32) for x in np.random.default_rng(1).random(24)]
    graph = lambda m, *nodes: change(m, *nodes)  # noqa: E731
    inputs = [list(column) for column in zip(*samples, strict=True)]
    for picture, mask, boxes in zip(*run(graph, *inputs, numbers, layouts=["HWC", "HWC", "", ""]), strict=True):
        assert set(np.unique(mask)) <= {0, 7}, "classes are blended"
        seen, masked = np.argwhere(picture[..., 0] > 127), np.argwhere(mask[..., 0] == 7)
        assert len(seen) and len(masked), "the mark is lost"
        assert picture.shape[:2] == mask.shape[:2]
        np.testing.assert_allclose(seen.mean(axis=0), masked.mean(axis=0), atol=1)
        left, top, right, bottom = boxes[0] * np.float32([picture.shape[1], picture.shape[0]] * 2)
        for places in (seen, masked):
            assert top - SLACK <= places[:, 0].min() and places[:, 0].max() + 1 <= bottom + SLACK
            assert left - SLACK <= places[:, 1].min() and places[:, 1].max() + 1 <= right + SLACK
        assert (bottom - top) * (right - left) < 4.5 * max(len(seen), 1), "the box says nothing"


# What is refused


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("bbox_paste", {"ratio": 0.5}),
        ("bbox_rotate", {"angle": 1.0}),
        ("bbox_rotate", {"angle": 1.0, "input_shape": [5, 5], "keep_size": True, "size": [5, 5]}),
        ("bbox_rotate", {"angle": 1.0, "input_shape": [5, 5], "size": [5]}),
        ("bbox_rotate", {"angle": 1.0, "input_shape": [5, 5], "bbox_layout": "yxYX"}),
        ("bbox_rotate", {"angle": 1.0, "input_shape": [5, 5], "shape_layout": "HC"}),
        ("bbox_rotate", {"angle": 1.0, "input_shape": [5, 5], "mode": "shrink"}),
        ("random_bbox_crop", {"thresholds": [1.5]}),
        ("random_bbox_crop", {"thresholds": []}),
        ("random_bbox_crop", {"scaling": [1.0, 0.5]}),
        ("random_bbox_crop", {"aspect_ratio": [1.0]}),
        ("random_bbox_crop", {"num_attempts": 0}),
        ("random_bbox_crop", {"threshold_type": "touch"}),
        ("random_bbox_crop", {"bbox_layout": "abcd"}),
        ("random_bbox_crop", {"bbox_layout": "xyXY", "ltrb": True}),
        ("random_bbox_crop", {"crop_shape": [5, 5]}),
        ("random_bbox_crop", {"crop_shape": [5, 5], "input_shape": [9, 9], "scaling": [0.1, 0.2]}),
        ("random_bbox_crop", {"input_shape": [9, 9], "shape_layout": "HWC"}),
        ("random_bbox_crop", {"bbox_prune_threshold": 1.5}),
        ("roi_random_crop", {"crop_shape": [5, 5], "roi_start": [1, 1]}),
        ("roi_random_crop", {"crop_shape": [5, 5], "roi_start": [1, 1], "roi_end": [3, 3], "in_shape": [9, 9]}),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_where_they_are_written(operator, arguments):
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        boxes = fn.external_source(source=[[some_boxes(1, 2)]])
        with pytest.raises(ArgumentError, match=rf"^{operator}: (?s:.*)created at test_boxes\.py:"):
            getattr(fn, operator)(boxes, **arguments)


@pytest.mark.parametrize(
    "arguments", [{"anchors": [1, 2, 3]}, {"anchors": [0, 0, 1, 1], "stds": [0, 1, 1, 1]}, {}], ids=str
)
def test_box_encoder_refuses_what_is_no_anchor(arguments):
    with pytest.raises(ArgumentError, match=r"box_encoder: (?s:.*)created at"):
        fn.box_encoder(np.zeros((1, 4), np.float32), np.int32([1]), **arguments)


@pytest.mark.parametrize(
    ("graph", "boxes"),
    [
        (lambda m, b: m.fn.bb_flip(b), np.zeros((2, 5), np.float32)),
        (lambda m, b: m.fn.bb_flip(b), np.zeros((2, 4), np.float64)),
        (lambda m, b: m.fn.bbox_rotate(b, angle=1.0, input_shape=[5]), np.zeros((2, 4), np.float32)),
        (lambda m, b: m.fn.random_bbox_crop(b)[0], np.float32([[0, 0, 2, 2]])),
        (lambda m, b: m.fn.random_bbox_crop(b, crop_shape=[9], input_shape=[5])[0], np.zeros((2, 4), np.float32)),
        (
            lambda m, b: m.fn.roi_random_crop(b, crop_shape=[9, 9], roi_start=[0, 0], roi_end=[1, 1]),
            np.zeros((2, 4), np.float32),
        ),
        (lambda m, b: m.fn.box_encoder(b, np.int32([1]), anchors=[0, 0, 1, 1])[0], np.zeros((2, 4), np.float32)),
    ],
)
def test_samples_that_do_not_fit_are_named(graph, boxes):
    with pytest.raises(DataError, match="argument"):
        run(graph, [boxes], layouts="")


def test_older_names_are_there():
    for name in ("BbFlip", "BBoxPaste", "BBoxRotate", "RandomBBoxCrop", "ROIRandomCrop", "BoxEncoder"):
        assert hasattr(DALI.ops, name) and hasattr(HERE.ops, name)
