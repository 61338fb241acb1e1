"""Geometric steps as one composition: against OpenCV and NumPy, stepwise, and for all that follows."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peers import peer

from pixelmill import ArgumentError, fn, pipeline_def
from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.program import Failure, ProgramInput, RecipeProgram
from pixelmill.options.augment import VariantOptions
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, geometry
from pixelmill.recipe.fields import Displacement

cv2 = peer("cv2")

HEIGHT, WIDTH = 300, 400
ARRAYS = SampleShape(True, "array", has_boxes=True)


def smooth_image(height=HEIGHT, width=WIDTH):
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / 17 + y / 29), np.cos(x / 23 - y / 13), np.sin((x + 2 * y) / 31)]
    return np.stack([127 + 100 * wave for wave in waves], -1).astype(np.uint8)


class OneByOne(Recipe):
    """A recipe whose geometric steps are made one after the other."""

    def apply(self, image, mask=None, *, seed=0, others=None, **_):
        from pixelmill.recipe.draws import Draws
        from pixelmill.recipe.scene import Scene
        from pixelmill.recipe.steps import Builder
        from pixelmill.recipe.vocabulary import entries

        builder = Builder(Scene(image, mask, others=others).one_by_one(), Draws(seed))
        builder.run(entries(self.steps), None)
        return builder.scene


def run_all(steps, image, masks, *, kind=Recipe, seed=0, number=0):
    with Pipeline(batch_size=8, num_threads=1, device_id=None):
        program = RecipeProgram(kind("test", steps=tuple(steps)), ARRAYS, VariantOptions(seed=seed), threads=1)
    # Samples that it is joined with are empty, so that masks show where the image itself has gone.
    others = [ProgramInput(number, 1, np.zeros_like(image), np.zeros_like(masks[0])) for _ in program.seeds]
    batch = [ProgramInput(number, 1, image, mask, others=others) for mask in masks]
    made = program.take(program.submit(batch), batch)
    program.close()
    assert not any(isinstance(one, Failure) for one in made), made
    return made


def run(steps, image, mask, **options):
    return run_all(steps, image, [mask], **options)[0]


def drawn_polygon(points, size):
    """Draw a polygon: the pixels whose centers lie inside, by counting edges to the right of them."""
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    inside = np.zeros(size, bool)
    for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > y) != (by > y)
            inside ^= crosses & (x < ax + (bx - ax) * (y - ay) / (by - ay))
    return inside


def overlap(a, b):
    union = (a | b).sum()
    return (a & b).sum() / union if union else 1.0


# Every move with the matrix that OpenCV, or a line of arithmetic, gives for it; (x, y) with the corner at (0, 0).
def about_center(matrix):
    to, back = np.eye(3), np.eye(3)
    to[:2, 2], back[:2, 2] = (WIDTH / 2, HEIGHT / 2), (-WIDTH / 2, -HEIGHT / 2)
    return to @ matrix @ back


def turned(degrees, scale=1.0):
    made = np.eye(3)
    made[:2] = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), degrees, scale)
    return made


EXTENTS = np.array([WIDTH, HEIGHT], np.float32)
CORNERS = np.array([[0.1, 0.05], [-0.2, 0.1], [-0.05, -0.1], [0.15, -0.2]], np.float32)
PLACES = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32) * EXTENTS
MOVES = {
    "rotate": ({"angle": 25, "p": 1}, turned(25), (HEIGHT, WIDTH)),
    "affine": (
        {"angle": 10, "scale": 1.2, "shear_x": 15, "shift_x": 0.1, "shift_y": -0.05},
        np.array([[1, 0, 40], [0, 1, -15], [0, 0, 1.0]])
        @ turned(10)
        @ about_center(np.array([[1, np.tan(np.radians(15)), 0], [0, 1, 0], [0, 0, 1]]))
        @ about_center(np.diag([1.2, 1.2, 1])),
        (HEIGHT, WIDTH),
    ),
    "shift_scale_rotate": ({"angle": -40, "scale": 0.8}, turned(-40, 0.8), (HEIGHT, WIDTH)),
    "shear": ({"y": 20}, about_center(np.array([[1, 0, 0], [np.tan(np.radians(20)), 1, 0], [0, 0, 1]])), (300, 400)),
    "perspective": (
        {"corners": CORNERS.reshape(-1).tolist()},
        cv2.getPerspectiveTransform(PLACES + CORNERS * EXTENTS, PLACES),
        (HEIGHT, WIDTH),
    ),
    "zoom": ({"factor": 0.6, "y": 0, "x": 1}, np.array([[0.6, 0, 160], [0, 0.6, 0], [0, 0, 1]]), (HEIGHT, WIDTH)),
    "expand": ({"ratio": 1.5, "y": 1}, np.array([[1, 0, 100], [0, 1, 150], [0, 0, 1.0]]), (450, 600)),
    "letterbox": (
        {"size": [320, 320], "fill_value": 0},
        np.array([[0.8, 0, 0], [0, 0.8, 40], [0, 0, 1.0]]),
        (320, 320),
    ),
    "longest_side": ({"size": 200}, np.diag([0.5, 0.5, 1]), (150, 200)),
    "rescale": ({"factor": 0.8}, np.diag([0.8, 0.8, 1]), (240, 320)),
    "smallest_side": ({"size": 450}, np.diag([1.5, 1.5, 1]), (450, 600)),
    "pad": ({"size": [0, 420], "multiple_of": 32}, np.array([[1, 0, 24], [0, 1, 10], [0, 0, 1.0]]), (320, 448)),
    "crop_part": (
        {"height": 0.5, "width": 0.25, "y": 1, "x": 0.2},
        np.array([[1, 0, -60], [0, 1, -150], [0, 0, 1.0]]),
        (150, 100),
    ),
    "crop": (
        {"size": [200, 300], "y": 0.25, "x": 0.75, "p": 1},
        np.array([[1, 0, -75], [0, 1, -25], [0, 0, 1.0]]),
        (200, 300),
    ),
    "transpose": ({}, np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1.0]]), (WIDTH, HEIGHT)),
    "rotate90": ({"times": 3}, np.array([[0, -1, HEIGHT], [1, 0, 0], [0, 0, 1.0]]), (WIDTH, HEIGHT)),
}


def sampled(image, matrix, size, *, nearest):
    """Warp with NumPy: the center of each pixel of the result is looked up in the image; outside is 0."""
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    places = np.linalg.inv(matrix) @ np.stack([x.ravel(), y.ravel(), np.ones(x.size)])
    px, py = (places[:2] / places[2]).reshape(2, *size)
    if nearest:
        rows, columns = np.floor(py).astype(int), np.floor(px).astype(int)
        inside = (rows >= 0) & (columns >= 0) & (rows < image.shape[0]) & (columns < image.shape[1])
        return np.where(
            inside[..., None], image[rows.clip(0, image.shape[0] - 1), columns.clip(0, image.shape[1] - 1)], 0
        )
    return cv2.remap(image, (px - 0.5).astype(np.float32), (py - 0.5).astype(np.float32), cv2.INTER_LINEAR)


@pytest.mark.parametrize("name", MOVES)
def test_each_move_is_what_its_matrix_says(name):
    arguments, matrix, size = MOVES[name]
    image = smooth_image()
    mask = (image[:, :, :1] // 64).astype(np.uint8)
    made = run([{name: arguments}], image, mask)
    assert made.after == size
    np.testing.assert_allclose(made.path[0][0] / made.path[0][0][2, 2], matrix / matrix[2, 2], atol=1e-4)
    expected = sampled(image, matrix, size, nearest=False).astype(int)
    inner = cv2.erode(
        (sampled(np.ones_like(image), matrix, size, nearest=True)[:, :, 0] > 0).astype(np.uint8), np.ones((7, 7))
    )
    inner[[0, 1, 2, -1, -2, -3]] = 0  # the border repeats in one and is blended with nothing in the other
    inner[:, [0, 1, 2, -1, -2, -3]] = 0
    difference = np.abs(made.image.astype(int) - expected)[inner > 0]
    assert difference.max() <= 3 and difference.mean() < 0.6
    assert (made.mask == sampled(mask, matrix, size, nearest=True)).mean() > 0.995


GEOMETRIC = st.lists(
    st.sampled_from(
        [
            {"flip": {"horizontal": {"coin": 0.5}, "vertical": {"coin": 0.5}}},
            {"rotate": {"angle": {"uniform": [-40, 40]}, "p": 0.8}},
            {"rotate": {"angle": {"uniform": [-180, 180]}, "keep_size": False}},
            {"resize": {"size": [350, 310]}},
            {"letterbox": {"size": [320, 320], "y": {"uniform": [0, 1]}, "fill_value": 0}},
            {"affine": {"angle": {"uniform": [-20, 20]}, "scale": {"uniform": [0.8, 1.3]}, "shear_x": 8}},
            {"perspective": {"strength": 0.06}},
            {"zoom": {"factor": {"uniform": [0.7, 1.4]}, "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}},
            {"expand": {"ratio": {"uniform": [1, 1.3]}}},
            {"crop": {"size": [280, 280], "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}},
            {"crop_part": {"height": 0.9, "width": {"uniform": [0.8, 1]}}},
            {"random_resized_crop": {"size": [300, 300], "random_area": [0.6, 1.0]}},
            {"rotate90": {"times": {"integers": [0, 3]}}},
            {"transpose": {"p": 0.5}},
            {"one_of": [{"shear": {"x": 10}}, {"longest_side": {"size": 330}}, {"pad": {"size": [380, 380]}}]},
            {"pad": {"border": [10, 30, 0, 5], "p": 0.7}},
        ]
    ),
    min_size=1,
    max_size=5,
)
_PLACE = {"uniform": [0.4, 0.6]}
JOINING = [
    {"mosaic": {"size": [700, 900], "y": _PLACE, "x": _PLACE, "fit": "contain", "fill_value": 0, "p": 0.8}},
    {"mosaic": {"size": [900, 1100], "grid": 3, "y": _PLACE, "x": _PLACE, "fit": "cover", "fill_value": 0}},
]
COMPOSED = st.builds(
    lambda before, join, after: [*before, *join, *after[:2]] if join else [*before, *after][:5],
    GEOMETRIC,
    st.sampled_from([[], [], [], [], [], *([step] for step in JOINING)]),
    GEOMETRIC,
)


POLYGON = np.array([[90.0, 60], [330, 80], [310, 250], [200, 200], [70, 240]])
POINTS = np.array([[150.0, 120], [250, 160], [60, 40], [340, 260]])


def most_shifted(steps):
    """Return by how many pixels a mask may differ from where its points are.

    A composed mask is looked up once. Steps that are made one after the other look it up each time, and each rounds to
    whole pixels again.
    """
    names = [name for step in steps for name in step]
    is_composed = any("p" in arguments for step in steps for arguments in step.values())
    if is_composed or not set(names) <= {"resize", "flip", "rotate", "crop", "random_resized_crop"}:
        return 1.0
    return max(1.0, 0.5 * sum(name in ("resize", "rotate", "random_resized_crop") for name in names) + 0.25)


def check_followers(steps, seed, number):
    """Follow a polygon and points, and find them again as pixels: points as the middle of small squares."""
    image = smooth_image()
    masks = [drawn_polygon(POLYGON, (HEIGHT, WIDTH)).astype(np.uint8)[:, :, None]]
    for x, y in POINTS.astype(int):
        masks.append(np.zeros_like(masks[0]))
        masks[-1][y - 3 : y + 3, x - 3 : x + 3] = 1
    made, *marked = run_all(steps, image, masks, seed=seed, number=number)
    assert geometry.size_after(made.path, made.before) == made.after == made.mask.shape[:2]
    found = made.mask[:, :, 0] > 0
    followed, visible = geometry.follow_polygon(POLYGON, made.path, made.before)
    assert 0 <= visible <= 1
    if found.sum() > 12000:
        assert overlap(drawn_polygon(followed, made.after), found) >= 0.98
    moved, inside = geometry.follow_points(POINTS, made.path, made.before)
    for point, place, stays, again in zip(POINTS, moved, inside, marked, strict=True):
        rows, columns = np.nonzero(again.mask[:, :, 0])
        square = point + np.array([[-3, -3], [3, -3], [3, 3], [-3, 3]])
        whole = geometry.follow_polygon(square, made.path, made.before)[1] > 0.999  # no step has cut off a part of it
        if stays and whole and len(rows) >= 30:
            shifts = abs(columns.mean() + 0.5 - place[0]), abs(rows.mean() + 0.5 - place[1])
            assert max(shifts) < most_shifted(steps)
        if not stays:
            assert len(rows) <= 80  # what is left of a square whose middle has left the image


@settings(max_examples=int(os.environ.get("PIXELMILL_COMPOSITIONS", "200")), deadline=None)
@given(steps=COMPOSED, seed=st.integers(0, 2**31), number=st.integers(0, 10**9))
def test_polygons_and_points_are_where_the_pixels_are(steps, seed, number):
    check_followers(steps, seed, number)


@settings(max_examples=40, deadline=None)
@given(steps=GEOMETRIC, seed=st.integers(0, 2**31))
def test_one_interpolation_shows_what_many_show(steps, seed):
    """Levels of a smooth image differ by what each further interpolation blurs, which is at most 2 levels in 255."""
    image = smooth_image()
    mask = (image[:, :, :1] // 64).astype(np.uint8)
    steps = [*steps, {"flip": {"p": 0.5}}]  # never only direct steps
    one, many = (run(steps, image, mask, seed=seed, kind=kind) for kind in (Recipe, OneByOne))
    assert one.after == many.after
    difference = np.abs(one.image.astype(int) - many.image)
    assert np.quantile(difference, 0.9) <= 4
    assert np.mean(one.mask == many.mask) > 0.93


def test_what_was_cropped_away_does_not_come_back():
    image = np.full((100, 100, 3), 200, np.uint8)
    mask = np.ones((100, 100, 1), np.uint8)
    made = run([{"crop": {"size": [40, 40]}}, {"expand": {"ratio": 2}}, {"rotate": {"angle": 90, "p": 1}}], image, mask)
    expected = np.zeros((80, 80), bool)
    expected[20:60, 20:60] = True
    assert ((made.image[:, :, 0] == 200) == expected).all() and ((made.mask[:, :, 0] == 1) == expected).all()


@pytest.mark.parametrize("name", ["elastic", "grid_distortion", "optical_distortion", "thin_plate"])
def test_distortions_move_everything_alike(name):
    image, polygon = smooth_image(), np.array([[90.0, 60], [330, 80], [310, 250], [70, 240]])
    mask = drawn_polygon(polygon, (HEIGHT, WIDTH)).astype(np.uint8)[:, :, None]
    made = run([{"rotate": {"angle": 10, "p": 1}}, {name: {}}, {"flip": {"horizontal": 1}}], image, mask, seed=4)
    followed, _ = geometry.follow_polygon(polygon, made.path, made.before)
    assert overlap(drawn_polygon(followed, made.after), made.mask[:, :, 0] > 0) >= 0.98
    (field,) = (step for step in made.path if isinstance(step, Displacement))
    assert np.abs(field.nodes).max() > 0.005
    # The image is where the field says: each pixel comes from its displaced place in the rotated image.
    before = run([{"rotate": {"angle": 10, "p": 1}}], image, mask).image
    y, x = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    places = field.source(np.stack([x.ravel(), y.ravel()], 1)).reshape(HEIGHT, WIDTH, 2) - 0.5
    columns, rows = np.moveaxis(places.astype(np.float32), -1, 0)
    expected = cv2.remap(before, columns, rows, cv2.INTER_LINEAR)[:, ::-1]
    difference = np.abs(made.image.astype(int) - expected)[40:-40, 40:-40]
    assert np.quantile(difference, 0.99) <= 4


@pytest.mark.parametrize("angle", [0, 33])
def test_a_distortion_does_not_bring_back_what_was_cut(angle):
    """A crop leaves much of the image outside; the distortion then looks beyond its edges."""
    mask = np.ones((HEIGHT, WIDTH, 1), np.uint8)
    moves = [{"affine": {"angle": angle, "scale": 0.8}}, {"crop": {"size": [150, 200], "p": 1}}]
    made = run([*moves, {"elastic": {"strength": 0.1}}], smooth_image(), mask, seed=2)
    (field,) = (step for step in made.path if isinstance(step, Displacement))
    y, x = np.mgrid[:150, :200] + 0.5
    places = field.source(np.stack([x.ravel(), y.ravel()], 1)).reshape(150, 200, 2)
    distance = np.minimum(places, (200, 150) - places).min(-1)  # from the edges, negative beyond them
    assert (distance < -2).mean() > 0.01
    assert not made.mask[distance < -0.1].any()
    assert not made.image[distance < -0.1].any()
    assert made.mask[(distance > 1) & (angle == 0)].all()


def test_a_field_is_inverted():
    rng = np.random.default_rng(1)
    field = Displacement(rng.normal(0, 0.01, (8, 8, 2)).astype(np.float32), (300, 400), smooth=True)
    points = rng.uniform([0, 0], [400, 300], (50, 2))
    np.testing.assert_allclose(field.source(field.moved(points)), points, atol=0.01)


@pytest.mark.parametrize("size", [(2400, 3200), (301, 517)])
def test_a_decode_is_restricted_to_what_is_looked_at(tmp_path, size):
    """The program that decodes a window, perhaps at a lower scale, shows the same image as the one that decodes all."""
    from PIL import Image

    (tmp_path / "a").mkdir()
    Image.fromarray(smooth_image(*size)).save(tmp_path / "a" / "x.jpg", quality=95)
    steps = (
        {"crop_part": {"height": 0.5, "width": 0.6}},
        {"rotate": {"angle": 20, "p": 1}},
        {"resize": {"size": [180, 200]}},
    )

    def shown(**options):
        @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        def pipeline():
            files, _ = fn.readers.file(file_root=str(tmp_path))
            return Recipe("x", steps=steps).apply(fn.decoders.image(files)).image

        made = pipeline(**options)
        (result,) = made.run()
        array = result.at(0).copy()
        made.close()
        return array

    whole = shown(optimize=False)
    np.testing.assert_array_equal(shown(decode_scaling=False), whole)
    difference = np.abs(shown().astype(int) - whole)
    assert difference.mean() < 1.5 and np.quantile(difference, 0.99) <= 8


def test_left_and_right_are_swapped_by_an_odd_number_of_flips():
    image, mask = smooth_image(), np.zeros((HEIGHT, WIDTH, 1), np.uint8)
    for steps, expected in (
        ([{"flip": {"horizontal": 1}}], True),
        ([{"flip": {"horizontal": 1, "vertical": 1}}], False),
        ([{"transpose": {}}, {"rotate": {"angle": 30}}], True),
        ([{"flip": {"horizontal": 1}}, {"elastic": {}}, {"transpose": {}}], False),
    ):
        assert geometry.is_mirrored(run(steps, image, mask).path) is expected


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.float32, np.int32])
@pytest.mark.parametrize(
    "step", [{"rotate": {"angle": 30, "p": 1}}, {"perspective": {}}, {"elastic": {}}, {"letterbox": {"size": [64, 64]}}]
)
def test_masks_of_any_type_follow(dtype, step):
    image = smooth_image(90, 120)
    mask = (np.arange(90 * 120).reshape(90, 120, 1) % 119).astype(dtype)
    made = run([step], image, mask)
    assert made.mask.dtype == dtype and set(np.unique(made.mask)) <= set(np.unique(mask)) | {0}
    same = run([step], image, mask.astype(np.uint8))
    np.testing.assert_array_equal(made.mask, same.mask.astype(dtype))


HOSTILE = [
    {"zoom": {"factor": 1e-12}},
    {"zoom": {"factor": 1e12}},
    {"zoom": {"factor": 1e300}},
    {"affine": {"scale": 1e-300}},
    {"affine": {"scale": 1e-9, "angle": 3}},
    {"affine": {"scale": 1e9, "angle": 3}},
    {"affine": {"shift_x": 1e30}},
    {"affine": {"shear_x": 88.9, "shear_y": 88.9}},
    {"affine": {"shear_x": 1e5}},
    {"rotate": {"angle": 1e30, "p": 1}},
    {"rotate": {"angle": {"choice": [float("1e38")]}, "p": 1}},
    {"perspective": {"corners": [0.49, 0.49, -0.49, 0.49, -0.49, -0.49, 0.49, -0.49]}},
    {"perspective": {"corners": [-0.49, -0.49, 0.49, -0.49, 0.49, 0.49, -0.49, 0.49]}},
    {"perspective": {"corners": [0.4999] * 8}},
    {"expand": {"ratio": 1e9}},
    {"rescale": {"factor": 1e9}},
    {"rescale": {"factor": 1e-9}},
    {"letterbox": {"size": [1e9, 1e9]}},
    {"letterbox": {"size": [1, 70]}},
    {"pad": {"size": [-5, -5], "multiple_of": 100000000}},
    {"crop_part": {"height": 1e-9, "width": 1e-9}},
    {"crop": {"size": [50, 50], "y": 7, "x": -3, "p": 1}},
    {"elastic": {"strength": 1e30}},
    {"optical_distortion": {"strength": -1e30}},
    {"rotate90": {"times": 1e17}},
]


@pytest.mark.parametrize("step", HOSTILE, ids=lambda step: str(step)[:60])
def test_extreme_moves_end_with_an_image_or_a_reason(tmp_path, step):
    """From files, so that the decode is restricted by what the move looks at."""
    from PIL import Image

    Image.fromarray(smooth_image(67, 83)).save(tmp_path / "x.jpg")
    encoded = np.fromfile(tmp_path / "x.jpg", np.uint8)
    steps = ({"flip": {"horizontal": 1, "p": 1}}, step, {"shear": {"x": 1}})
    for recipe in (Recipe("x", steps=steps), Recipe("x", steps=(step,))):
        try:
            with Pipeline(batch_size=1, num_threads=1, device_id=None):
                program = RecipeProgram(recipe, SampleShape(False, "", "png"), VariantOptions(), threads=1)
        except ArgumentError as error:
            assert next(iter(step)) in str(error)
            continue
        batch = [ProgramInput(0, 1, encoded, None)]
        (made,) = program.take(program.submit(batch), batch)
        program.close()
        assert not isinstance(made, Failure) or made.kind in ("argument", "too_large"), made
