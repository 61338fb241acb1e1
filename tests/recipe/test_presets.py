"""All built-in recipes: valid by the schema, and the same bytes in `augment`, `preview` and a pipeline."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from locations import ROOT
from peers import peer
from PIL import Image

from pixelmill import augment, fn, pipeline_def
from pixelmill.augmentation.variants import VariantMaker
from pixelmill.formats.registry import open_dataset
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import load_recipe, recipe_names
from pixelmill.recipe.schema import recipe_schema

jsonschema = peer("jsonschema")

SCHEMA = recipe_schema()
BUILTIN = ROOT / "src" / "pixelmill" / "recipe" / "builtin"


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads((ROOT / "docs" / "recipe.schema.json").read_text()) == SCHEMA


@pytest.mark.parametrize("name", recipe_names())
def test_presets_are_valid_by_the_schema(name):
    jsonschema.validate(yaml.safe_load((BUILTIN / f"{name}.yaml").read_text()), SCHEMA)


@pytest.mark.parametrize(
    "step",
    [
        {"explode": {}},
        {"rotate": {}},
        {"rotate": {"angle": {"poisson": 3}}},
        {"flip": {"diagonal": 1}},
        {"posterize": {"bits": 9}},
        {"brightness": {"p": 2}},
        {"one_of": []},
        {"some_of": {"count": 1}},
        {"flip": {}, "crop": {"size": [1, 1]}},
    ],
)
def test_the_schema_refuses_mistakes(step):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"steps": [step]}, SCHEMA)


def test_the_schema_takes_what_the_language_has():
    steps = [
        "transpose",
        {"invert": None},
        {"one_of": [{"flip": {"horizontal": 1}}, {"sequential": ["invert"]}]},
        {"some_of": {"count": [1, 2], "steps": ["invert", "sepia"], "weights": [1, 2], "p": 0.5}},
        {"per_class": {"classes": {"3": ["invert"]}, "otherwise": ["sepia"]}},
        {"rotate": {"angle": {"uniform": [0, 1], "as": "turn"}, "p": 0.2}},
        {"shear": {"x": {"ref": "turn", "times": 2}}},
        {"channel_shuffle": {"order": {"permutation": 3}}},
        {"resize": {"size": [10, 10], "mode": "not_larger", "antialias": False}},
    ]
    jsonschema.validate({"steps": steps, "keypoint_pairs": [[1, 2]]}, SCHEMA)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Three images that compress well, so that the decoded pixels are the same everywhere."""
    root = tmp_path_factory.mktemp("presets") / "a"
    root.mkdir()
    y, x = np.mgrid[:330, :420]
    for number in range(3):
        waves = [np.sin(x / (9 + number)), np.cos(y / 13), np.sin((x + y) / 21)]
        pixels = np.stack([127 + 120 * wave for wave in waves], -1).astype(np.uint8)
        Image.fromarray(pixels).save(root / f"{number}.png")
    return root.parent


@pytest.mark.parametrize("name", [name for name in recipe_names() if name not in ("detr", "cityscapes")])
def test_presets_have_the_same_bytes_everywhere(folder: Path, tmp_path: Path, name: str):
    recipe = load_recipe(name)

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=8)
    def online():
        files, _ = fn.readers.file(file_root=str(folder), pad_last_batch=True)
        return recipe.apply(fn.decoders.image(files), seed=6).image

    pipeline = online()
    (epoch,) = pipeline.run()
    augment(folder, tmp_path / "out", recipe=name, seed=6, format="png", workers=1)
    offline = [np.asarray(Image.open(path)) for path in sorted((tmp_path / "out").rglob("*.png"))]
    with VariantMaker(recipe, VariantOptions(seed=6, format="png")) as maker:
        shown = [maker.make(sample, number, count=1)[0] for number, sample in enumerate(open_dataset(folder))]
    written = [sample.image for sample in open_dataset(tmp_path / "out")]
    assert [sample.image for sample in shown] == written
    for number in range(3):
        np.testing.assert_array_equal(epoch.at(number), offline[number])
    pipeline.close()
