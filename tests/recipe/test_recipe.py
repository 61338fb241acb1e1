"""Recipes: what they mean, that masks and boxes follow, and that offline and online are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import ArgumentError, fn, pipeline_def
from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.program import Failure, ProgramInput, RecipeProgram
from pixelmill.options.augment import VariantOptions
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, check_recipe, follow, load_recipe, recipe_names
from pixelmill.recipe.vocabulary import GEOMETRY, PIXELS, SHORT_NAMES

HEIGHT, WIDTH = 96, 128
ARRAYS = SampleShape(True, "array", has_boxes=True)


def marked(top, left, height, width):
    """Draw a white rectangle, and give it as image, mask and box."""
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[top : top + height, left : left + width] = 255
    box = np.array([[left / WIDTH, top / HEIGHT, (left + width) / WIDTH, (top + height) / HEIGHT]], np.float32)
    return image, (image[:, :, :1] > 0).astype(np.uint8) * 7, box


def run_arrays(steps, image, mask, *, seed=0, number=0, variant=1):
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        recipe = Recipe("test", steps=tuple(steps))
        program = RecipeProgram(recipe, ARRAYS, VariantOptions(seed=seed), threads=1)
    batch = [ProgramInput(number, variant, image, mask)]
    (made,) = program.take(program.submit(batch), batch)
    program.close()
    assert not isinstance(made, Failure), made
    return made


def hull(white):
    rows, columns = np.nonzero(white)
    return np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1], float)


GEOMETRIC_STEPS = st.lists(
    st.sampled_from(
        [
            {"flip": {"horizontal": {"coin": 0.5}, "vertical": {"coin": 0.5}}},
            {"rotate": {"angle": {"uniform": [-40, 40]}}},
            {"rotate": {"angle": {"uniform": [-180, 180]}, "keep_size": False}},
            {"resize": {"size": [150, 110]}},
            {"resize": {"size": [70, 120]}},
            {"crop": {"size": [80, 90], "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}},
            {"random_resized_crop": {"size": [100, 100], "random_area": [0.6, 1.0]}},
        ]
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(
    steps=GEOMETRIC_STEPS,
    seed=st.integers(0, 2**31),
    number=st.integers(0, 10**9),
    top=st.integers(0, 60),
    left=st.integers(0, 80),
    height=st.integers(12, 36),
    width=st.integers(12, 48),
)
def test_a_mark_is_found_inside_its_moved_box(steps, seed, number, top, left, height, width):
    image, mask, box = marked(top, left, height, width)
    made = run_arrays(steps, image, mask, seed=seed, number=number)
    (moved,), (visible,) = follow(box, made.path, made.before)
    assert made.image.shape[:2] == made.mask.shape[:2] == made.after
    assert set(np.unique(made.mask)) <= {0, 7}
    pixels = moved * [made.after[1], made.after[0], made.after[1], made.after[0]]
    if not (made.mask > 0).any():
        assert visible < 0.2
        return
    found = hull(made.mask[:, :, 0] > 0)
    slack = 2.0
    assert (found[:2] >= pixels[:2] - slack).all() and (found[2:] <= pixels[2:] + slack).all(), (found, pixels)
    rotations = sum("rotate" in step for step in steps)
    if rotations == 0:  # a rotated rectangle does not fill its box
        np.testing.assert_allclose(found, pixels, atol=slack)
    # The image is where the mask is, up to the blended border.
    bright = made.image[:, :, 0] > 127
    assert (bright != (made.mask[:, :, 0] > 0)).mean() < 0.06


def test_boxes_outside_are_told():
    matrix = np.array([[1.0, 0, -50], [0, 1.0, 0], [0, 0, 1]])
    boxes = np.array([[0.0, 0.0, 0.4, 1.0], [0.4, 0.0, 0.8, 1.0], [0.9, 0.0, 1.0, 1.0]], np.float32)
    moved, left = follow(boxes, [(matrix, (100, 50))], (100, 100))
    np.testing.assert_allclose(left, [0.0, 0.75, 1.0], atol=1e-6)
    np.testing.assert_allclose(moved[1], [0, 0, 0.6, 1], atol=1e-6)
    assert follow(np.zeros((0, 4)), [], (1, 1))[0].shape == (0, 4)
    # Out of the image and back again: the pixels are gone, and so is the box.
    back = np.array([[1.0, 0, 50], [0, 1.0, 0], [0, 0, 1]])
    assert follow(boxes, [(matrix, (100, 50)), (back, (100, 100))], (100, 100))[1][0] == 0


def test_draws_depend_on_seed_sample_and_variant_alone():
    image, mask, _ = marked(20, 30, 30, 40)
    steps = [{"rotate": {"angle": {"uniform": [-90, 90]}}}]
    same = [run_arrays(steps, image, mask, seed=5, number=17, variant=2).image for _ in range(2)]
    np.testing.assert_array_equal(*same)
    for other in ({"seed": 6}, {"number": 18}, {"variant": 3}):
        changed = run_arrays(steps, image, mask, **{"seed": 5, "number": 17, "variant": 2, **other}).image
        assert not np.array_equal(changed, same[0])


def test_offline_is_online(tmp_path):
    from PIL import Image

    rng = np.random.default_rng(3)
    images = [rng.integers(0, 256, (60 + 5 * i, 80, 3), np.uint8) for i in range(5)]
    (tmp_path / "a").mkdir()
    for i, picture in enumerate(images):
        Image.fromarray(picture).save(tmp_path / "a" / f"{i}.png")
    recipe = load_recipe("heavy")

    @pipeline_def(batch_size=5, num_threads=2, device_id=None, seed=99)
    def online():
        files, _ = fn.readers.file(file_root=str(tmp_path), pad_last_batch=True)
        return recipe.apply(fn.decoders.image(files), seed=12).image

    pipeline = online()
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        program = RecipeProgram(recipe, SampleShape(True, ""), VariantOptions(seed=12), threads=2)
    for variant in (1, 2):
        (epoch,) = pipeline.run()
        batch = [ProgramInput(number, variant, picture, None) for number, picture in enumerate(images)]
        for number, made in enumerate(program.take(program.submit(batch), batch)):
            np.testing.assert_array_equal(made.image, epoch.at(number))  # type: ignore[union-attr]
    program.close()


@pytest.mark.parametrize("name", recipe_names())
def test_our_recipes_are_sound(name):
    recipe = load_recipe(name)
    assert recipe.name == name and recipe.about.endswith(".")
    assert min(check_recipe(recipe)) >= 96


@pytest.mark.parametrize("name", [*PIXELS, *SHORT_NAMES])
def test_every_step_that_changes_pixels_runs(name):
    needed = {
        "gaussian_blur": {"sigma": 1.0},
        "erase": {"anchor": [0.1, 0.1], "shape": [0.2, 0.2], "normalized": True},
        "noise.gaussian": {"stddev": 5.0},
        "clahe": {"tiles_x": 4, "tiles_y": 4, "clip_limit": 2.0},
    }
    assert check_recipe(Recipe("one", steps=({name: needed.get(name, {})},))) == (480, 640)


BAD = {
    "no steps": ("name: x", "needs a list `steps`"),
    "unknown step": ("steps: [{explode: {}}]", "there is no step 'explode'"),
    "unknown field": ("steps: [{flip: {}}]\nauthor: me", "unknown field 'author'"),
    "alias": ("steps: &a [{flip: {}}]\nname: *a", "aliases"),
    "not YAML": ("steps: [", "not YAML"),
    "two names": ("steps: [{flip: {}, crop: {}}]", "expected a name with arguments"),
}
BAD_ARGUMENTS = {
    "unknown argument": ({"flip": {"diagonal": 1}}, "steps[0] (flip)"),
    "unknown draw": ({"rotate": {"angle": {"poisson": 3}}}, "is not a random value"),
    "draw without numbers": ({"rotate": {"angle": {"uniform": ["a", "b"]}}}, "two numbers"),
    "draw with one number": ({"rotate": {"angle": {"uniform": 3}}}, "two numbers"),
    "size of one number": ({"letterbox": {"size": 3}}, "a height and a width"),
    "unknown mode": ({"resize": {"size": [3, 3], "mode": "wide"}}, "not_larger"),
    "too many nodes": ({"elastic": {"nodes": 1000}}, "from 2 to 64"),
    "probability above one": ({"brightness": {"brightness": 2, "p": 3}}, "from 0 to 1"),
    "crop of nothing": ({"crop": {"size": [0, 5]}}, "at least 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_with_a_reason(tmp_path, case):
    text, message = BAD[case]
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=message):
        load_recipe(path)


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments_name_their_step(case):
    step, message = BAD_ARGUMENTS[case]
    with pytest.raises(ArgumentError) as caught:
        check_recipe(Recipe("mine", steps=(step,)))
    assert "recipe mine: steps[0]" in str(caught.value) and message in str(caught.value)


def test_a_function_is_a_recipe(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from pixelmill import fn\n"
        "def darker(scene):\n"
        "    'Half as bright.'\n"
        "    return scene.flip(horizontal=1).apply(fn.brightness, brightness=0.5)\n"
    )
    recipe = load_recipe(f"{path}:darker")
    assert recipe.about == "Half as bright." and check_recipe(recipe) == (480, 640)
    assert recipe.content()["function"] == "darker"
    with pytest.raises(ArgumentError, match="no function"):
        load_recipe(f"{path}:missing")
    with pytest.raises(ArgumentError, match="tfdali"):
        load_recipe("nowhere.yaml")


def test_every_geometric_step_is_a_method():
    from pixelmill.recipe import Scene

    assert all(callable(getattr(Scene, name)) for name in GEOMETRY)
