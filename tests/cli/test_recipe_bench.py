"""`pixelmill recipe bench` and `recipe schema`."""

from __future__ import annotations

import json

import numpy as np
from command_runner import CliRunner
from peers import peer
from PIL import Image

from pixelmill.cli import main

jsonschema = peer("jsonschema")


def test_every_step_has_its_cost(tmp_path):
    (tmp_path / "a").mkdir()
    for number in range(3):
        Image.fromarray(np.full((40, 60, 3), 40 * number, np.uint8)).save(tmp_path / "a" / f"{number}.jpg")
    arguments = ["recipe", "bench", "yolo", str(tmp_path), "--rounds", "1", "--json"]
    costs = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert [cost["step"] for cost in costs] == ["decode", "0 mosaic", "1 affine", "2 crop", "3 flip", "4 hsv"]
    assert all(cost["total_ms"] > 0 for cost in costs)
    assert abs(sum(cost["ms"] for cost in costs) - costs[-1]["total_ms"]) < 1e-6
    shown = CliRunner().invoke(main, arguments[:-1]).stdout
    assert shown.splitlines()[0].split() == ["step", "ms", "per", "image", "total"] and len(shown.splitlines()) == 7


def test_a_function_has_no_steps(tmp_path):
    (tmp_path / "mine.py").write_text("def same(scene):\n    return scene\n")
    result = CliRunner().invoke(main, ["recipe", "bench", f"{tmp_path}/mine.py:same", str(tmp_path)])
    assert result.exit_code != 0


def test_the_schema_is_printed():
    jsonschema.Draft202012Validator.check_schema(json.loads(CliRunner().invoke(main, ["recipe", "schema"]).stdout))
