"""The language of recipes: choices, probabilities, references, conditions, and messages that name the place."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pixelmill import ArgumentError, fn
from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.program import Failure, ProgramInput, ProgramOutput, RecipeProgram
from pixelmill.options.augment import VariantOptions
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, check_recipe, load_recipe

GRAY = np.full((8, 8, 3), 100, np.uint8)


def levels(*steps, count=400, label=None, seed=3):
    """Run a recipe on a gray image for many samples, and return the level of each result."""
    pipeline = Pipeline(batch_size=50, num_threads=1, device_id=None, seed=1)
    labels = iter(np.arange(count) % 3)
    with pipeline:
        image = fn.external_source(source=lambda: [GRAY] * 50, layout="HWC")
        kinds = fn.external_source(source=lambda: [np.int32(next(labels)) for _ in range(50)])
        scene = Recipe("levels", steps=steps).apply(image, label=kinds if label else None, seed=seed)
        pipeline.set_outputs(scene.image)
    found = [int(image[0, 0, 0]) for _ in range(count // 50) for image in pipeline.run()[0].as_array()]
    pipeline.close()
    return np.array(found)


def scaled(factor, **more):
    return {"brightness": {"brightness": factor, **more}}


def test_one_of_applies_exactly_one_in_proportion_to_weights():
    found = levels({"one_of": {"steps": [scaled(0.5), scaled(2.0)], "weights": [3, 1]}})
    assert set(found) == {50, 200}
    assert 0.65 < (found == 50).mean() < 0.85


def test_one_of_takes_a_plain_list():
    found = levels({"one_of": [scaled(0.5), scaled(2.0), {"sequential": []}][:2]})
    assert 0.4 < (found == 50).mean() < 0.6


def test_probability_of_a_choice_leaves_samples_alone():
    found = levels({"one_of": {"steps": [scaled(0.5), scaled(2.0)], "p": 0.25}})
    assert set(found) == {50, 100, 200}
    assert 0.65 < (found == 100).mean() < 0.85


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_some_of_applies_as_many_as_it_says(count):
    # Each member multiplies by another prime-like factor, so the product names the members.
    found = levels({"some_of": {"count": count, "steps": [scaled(0.5), scaled(0.7), scaled(1.1)]}})
    allowed = {0: {100}, 1: {50, 70, 110}, 2: {35, 55, 77}, 3: {38, 39}}[count]
    assert set(found) <= allowed
    if count in (1, 2):
        shares = [(found == level).mean() for level in sorted(allowed)]
        assert min(shares) > 0.25


def test_some_of_takes_a_range_and_weights():
    found = levels({"some_of": {"count": [1, 2], "steps": [scaled(0.5), scaled(0.7)], "weights": [1, 0]}})
    assert set(found) == {50, 35}  # the member without weight comes second, if at all


def test_a_sequence_is_applied_as_a_whole():
    found = levels({"sequential": {"p": 0.5, "steps": [scaled(0.5), scaled(0.5)]}})
    assert set(found) == {25, 100}


def test_a_reference_is_the_earlier_draw():
    found = levels(
        {"brightness": {"brightness": {"choice": [0.5, 2.0], "as": "strength"}}},
        {"brightness": {"brightness": {"ref": "strength", "times": -1, "plus": 2.5}}},
    )
    assert set(found) == {100}  # 0.5 * 2 and 2 * 0.5


def test_draws():
    assert set(levels({"brightness": {"brightness": {"integers": [1, 2]}}})) == {100, 200}
    chosen = levels({"brightness": {"brightness": {"choice": [0.5, 2.0], "weights": [1, 9]}}})
    assert 0.04 < (chosen == 50).mean() < 0.17
    spread = levels({"brightness": {"brightness": {"log_uniform": [0.25, 2.0]}}})
    assert 0.55 < (spread < 100).mean() < 0.78  # log(4) of log(8)


def test_steps_depend_on_the_class():
    steps = {"per_class": {"classes": {0: [scaled(0.5)], "1": [scaled(2.0)]}, "otherwise": [scaled(0.1)]}}
    found = levels(steps, label=True, count=300)
    assert found.tolist() == [[50, 200, 10][number % 3] for number in range(300)]


def test_a_condition_on_the_class_needs_the_class():
    with pytest.raises(ArgumentError, match="the class of the image is not known"):
        check_recipe(Recipe("x", steps=({"per_class": {"classes": {0: [scaled(0.5)]}}},)))


def test_geometric_steps_have_a_probability_and_can_be_chosen():
    wide = np.zeros((10, 30, 3), np.uint8)
    steps = ({"one_of": {"steps": [{"rotate90": {}}, {"crop": {"size": [5, 5]}}], "p": 0.6}}, {"transpose": {"p": 0.5}})
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        program = RecipeProgram(Recipe("x", steps=steps), SampleShape(True, ""), VariantOptions(), threads=1)
    batch = [ProgramInput(number, 1, wide, None) for number in range(200)]
    found = []
    for first in range(0, 200, 8):
        made = program.take(program.submit(batch[first : first + 8]), batch[first : first + 8])
        assert not any(isinstance(one, Failure) for one in made)
        found += [one.image.shape[:2] for one in made if isinstance(one, ProgramOutput)]
    program.close()
    assert set(found) == {(10, 30), (30, 10), (5, 5)}
    assert 0.2 < np.mean([shape == (5, 5) for shape in found]) < 0.4


BAD = {
    "empty choice": ({"one_of": []}, "steps[0].one_of: expected a list of steps"),
    "unknown inner step": ({"one_of": [scaled(1), {"explode": {}}]}, "steps[0].one_of[1]: there is no step 'explode'"),
    "bad inner argument": (
        {"some_of": {"count": 1, "steps": [{"sequential": [{"flip": {"diagonal": 1}}]}]}},
        "steps[0].some_of[0].sequential[0] (flip)",
    ),
    "weights": ({"one_of": {"steps": [scaled(1)], "weights": [1, 2]}}, "steps[0] (one_of): weights must be 1 numbers"),
    "negative weights": ({"one_of": {"steps": [scaled(1)], "weights": [-1]}}, "not negative"),
    "count": ({"some_of": {"count": 3, "steps": [scaled(1)]}}, "steps[0] (some_of): count must be"),
    "unknown argument": ({"one_of": {"steps": [scaled(1)], "weight": 1}}, "unknown argument 'weight'"),
    "no steps": ({"one_of": {"p": 0.5}}, "it needs a list of steps"),
    "unknown reference": ({"rotate": {"angle": {"ref": "turn"}}}, "no earlier random value named 'turn'"),
    "reference with more": ({"rotate": {"angle": {"ref": "turn", "over": 2}}}, "takes ref, times and plus"),
    "class": ({"per_class": {"classes": {"dog": [scaled(1)]}}}, "classes must be numbers"),
    "integers": ({"rotate": {"angle": {"integers": [1.5, 2]}}}, "two integers"),
    "log of zero": ({"rotate": {"angle": {"log_uniform": [0, 2]}}}, "above 0"),
    "name of a draw": ({"rotate": {"angle": {"uniform": [0, 2], "as": "two words"}}}, "must be a word"),
    "infinite": ({"rotate": {"angle": {"uniform": [0, float("inf")]}}}, "two numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes_are_named_with_their_place(case):
    step, message = BAD[case]
    with pytest.raises(ArgumentError) as caught:
        check_recipe(Recipe("mine", steps=(step,)))
    assert message in str(caught.value)


def test_two_draws_cannot_have_one_name():
    steps = tuple({"rotate": {"angle": {"uniform": [0, 1], "as": "turn"}}} for _ in range(2))
    with pytest.raises(ArgumentError, match=r"steps\[1\] \(rotate\): two random values are named 'turn'"):
        check_recipe(Recipe("mine", steps=steps))


# Images, masks and moves of the first recipes, as they were before steps could be composed.
BYTES = {
    "classification": "9f8fd13aad731e9103f50f22",
    "detection": "2e8d799061d099d580db5896",
    "gentle": "b8e4669f65928d5e05e6ee13",
    "heavy": "87ff77ad88b4a0d317992ac4",
    "segmentation": "6eb083032f6f77c47da2e909",
    "tfdali": "b351e4903d08a3bc8b811272",
}


@pytest.mark.parametrize("name", BYTES)
def test_recipes_keep_their_bytes(name):
    y, x = np.mgrid[:300, :400]
    image = np.stack([x * 255 // 399, y * 255 // 299, (x * y) % 256], -1).astype(np.uint8)
    mask = ((x // 40 + y // 30) % 7).astype(np.uint8)[:, :, None]
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        shape = SampleShape(True, "array", has_boxes=True)
        program = RecipeProgram(load_recipe(name), shape, VariantOptions(seed=5), threads=1)
    batch = [ProgramInput(number, variant, image, mask) for number in range(3) for variant in (1, 2)]
    digest = hashlib.sha256()
    for made in program.take(program.submit(batch), batch):
        assert isinstance(made, ProgramOutput)
        digest.update(np.ascontiguousarray(made.image).tobytes())
        digest.update(np.ascontiguousarray(made.mask).tobytes())
        for step in made.path:
            assert isinstance(step, tuple)
            digest.update(np.round(step[0], 4).tobytes())
    program.close()
    assert digest.hexdigest()[:24] == BYTES[name]
