"""All built-in recipes are valid by the schema, which refuses mistakes."""

from __future__ import annotations

import json

import jsonschema
import pytest
import yaml
from locations import ROOT

from pixelmill.recipe import recipe_names
from pixelmill.recipe.schema import recipe_schema

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
