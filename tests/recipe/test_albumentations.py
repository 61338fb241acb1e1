"""Pipelines of Albumentations as recipes: the same images within a stated tolerance, and what has no translation."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from command_runner import CliRunner
from peers import peer

from pixelmill import ArgumentError
from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.program import Failure, ProgramInput, RecipeProgram
from pixelmill.cli import main
from pixelmill.options.augment import VariantOptions
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, check_recipe
from pixelmill.recipe.albumentations import TRANSLATIONS, import_albumentations

cv2 = peer("cv2")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    A = pytest.importorskip("albumentations")

y, x = np.mgrid[:150, :200]
IMAGE = np.stack([127 + 110 * wave for wave in (np.sin(x / 9 + y / 31), np.cos(y / 11), np.sin((x + 2 * y) / 19))], -1)
IMAGE = cv2.add(IMAGE.astype(np.uint8), np.random.default_rng(1).integers(0, 12, IMAGE.shape, np.uint8))


def saved(tmp_path, *transforms, **options):
    path = tmp_path / "pipeline.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = A.Compose([make() for make in transforms], **options)
    path.write_text(json.dumps(pipeline.to_dict()))
    return pipeline, str(path)


def ours(steps):
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        program = RecipeProgram(Recipe("x", steps=tuple(steps)), SampleShape(True, ""), VariantOptions(), threads=1)
    batch = [ProgramInput(0, 1, IMAGE, None)]
    (made,) = program.take(program.submit(batch), batch)
    program.close()
    assert not isinstance(made, Failure), made
    return made.image


# Transforms without anything random left, and by how much levels may differ in the mean: geometry is interpolated with
# other precision, colors are rounded once instead of several times.
SAME = {
    "HorizontalFlip": (lambda: A.HorizontalFlip(p=1), 0),
    "VerticalFlip": (lambda: A.VerticalFlip(p=1), 0),
    "Transpose": (lambda: A.Transpose(p=1), 0),
    "Resize": (lambda: A.Resize(210, 260, p=1), 0.7),
    "LongestMaxSize": (lambda: A.LongestMaxSize(max_size=300, p=1), 0.7),
    "SmallestMaxSize": (lambda: A.SmallestMaxSize(max_size=220, p=1), 0.7),
    "PadIfNeeded": (lambda: A.PadIfNeeded(200, 256, fill=7, p=1), 0),
    "CenterCrop": (lambda: A.CenterCrop(100, 120, p=1), 0),
    "Rotate": (lambda: A.Rotate((20, 20), p=1), 1.5),
    "ShiftScaleRotate": (
        lambda: A.ShiftScaleRotate((0.1, 0.1), (0.2, 0.2), (15, 15), border_mode=0, p=1),
        1.5,
    ),
    "Affine": (lambda: A.Affine(scale=1.2, rotate=(10, 10), translate_percent={"x": 0.05, "y": -0.1}, p=1), 1.5),
    "RandomBrightnessContrast": (lambda: A.RandomBrightnessContrast((0.1, 0.1), (0.2, 0.2), p=1), 0.7),
    "RGBShift": (lambda: A.RGBShift((20, 20), (-10, -10), (5, 5), p=1), 0),
    "RandomGamma": (lambda: A.RandomGamma((150, 150), p=1), 0.7),
    "Equalize": (lambda: A.Equalize(p=1), 0),
    "Posterize": (lambda: A.Posterize(3, p=1), 0),
    "Solarize": (lambda: A.Solarize((0.5, 0.5), p=1), 0.1),
    "InvertImg": (lambda: A.InvertImg(p=1), 0),
    "ToGray": (lambda: A.ToGray(p=1), 0.6),
    "ToSepia": (lambda: A.ToSepia(p=1), 0.7),
    "Blur": (lambda: A.Blur((5, 5), p=1), 0.6),
    "GaussianBlur": (lambda: A.GaussianBlur(sigma_limit=(1.5, 1.5), p=1), 0.6),
    "MedianBlur": (lambda: A.MedianBlur((5, 5), p=1), 0.05),
    "Sharpen": (lambda: A.Sharpen((0.3, 0.3), (0.8, 0.8), p=1), 0.6),
    "Emboss": (lambda: A.Emboss((0.4, 0.4), (0.6, 0.6), p=1), 0.6),
}


@pytest.mark.parametrize("name", SAME)
def test_translated_transforms_give_the_same_image(tmp_path, name):
    make, tolerance = SAME[name]
    pipeline, path = saved(tmp_path, make)
    made = import_albumentations(path)
    assert made.steps and not made.untranslated and not made.approximate
    expected = pipeline(image=IMAGE)["image"].astype(int)
    found = ours(made.steps).astype(int)
    assert found.shape == expected.shape
    assert np.abs(found - expected).mean() <= tolerance


def test_every_translation_is_a_valid_step(tmp_path):
    needed = {
        **{
            key: {"height": 60, "width": 70}
            for key in ("Resize", "CenterCrop", "RandomCrop", "RandomSizedBBoxSafeCrop")
        },
        "RandomResizedCrop": {"size": (60, 70)},
        **{key: {"max_size": 100} for key in ("LongestMaxSize", "SmallestMaxSize")},
    }
    boxed = {"bbox_params": A.BboxParams("albumentations", label_fields=["labels"])}
    for name in TRANSLATIONS:
        options = boxed if "BBox" in name else {}
        _, path = saved(tmp_path, lambda name=name: getattr(A, name)(**needed.get(name, {})), **options)
        made = import_albumentations(path)
        assert not made.untranslated, name
        check_recipe(Recipe(name, steps=tuple(made.steps)))


def test_both_kinds_of_compression_are_translated(tmp_path):
    for kind in ("jpeg", "webp"):
        _, path = saved(tmp_path, lambda kind=kind: A.ImageCompression(kind, (40, 60), p=1))
        made = import_albumentations(path)
        assert made.steps == [{f"{kind}_compression_distortion": {"quality": {"integers": [40, 60]}}}]
        assert made.approximate  # it encodes red as blue
    Path(path).write_text(Path(path).read_text().replace('"webp"', '"avif"'))
    with pytest.raises(ArgumentError, match="compression_type='avif' has no step"):
        import_albumentations(path)


def test_the_ranges_of_superpixels_are_kept(tmp_path):
    _, path = saved(tmp_path, lambda: A.Superpixels((0.2, 0.4), (50, 80), p=1))
    step = {"segments": {"integers": [50, 80]}, "probability": {"uniform": [0.2, 0.4]}}
    assert import_albumentations(path).steps == [{"superpixels": step}]


def test_choices_become_choices(tmp_path):
    _, path = saved(
        tmp_path,
        lambda: A.OneOf([A.Blur(p=0.75), A.Sequential([A.ToGray(p=1), A.InvertImg(p=0.5)], p=0.25)], p=0.3),
        lambda: A.SomeOf([A.HorizontalFlip(p=1), A.Transpose(p=1)], n=1, replace=False),
    )
    made = import_albumentations(path)
    first, second = made.steps
    assert first["one_of"]["p"] == 0.3 and first["one_of"]["weights"] == [0.75, 0.25]
    assert first["one_of"]["steps"][1] == {"sequential": {"steps": [{"to_gray": {}}, {"invert": {"p": 0.5}}]}}
    assert second == {"some_of": {"steps": [{"flip": {"horizontal": 1}}, {"transpose": {}}], "count": 1}}
    check_recipe(Recipe("x", steps=tuple(made.steps)))


def test_the_command_names_what_it_leaves_out(tmp_path):
    _, path = saved(
        tmp_path,
        lambda: A.Rotate(border_mode=4, p=1),
        lambda: A.RandomGravel(p=1),
        lambda: A.Perspective(p=1),
        lambda: A.Normalize(),
        lambda: A.HorizontalFlip(p=0.5),
    )
    result = CliRunner().invoke(main, ["recipe", "import", path, "--name", "mine"])
    assert result.exit_code == 0, result.output
    assert "left out: transform.transforms[0] (Rotate): only constant borders" in result.stderr
    assert "left out: transform.transforms[1] (RandomGravel)" in result.stderr
    assert "approximate: transform.transforms[2] (Perspective)" in result.stderr
    assert "not part of a recipe, see the loader: transform.transforms[3] (Normalize)" in result.stderr
    (tmp_path / "mine.yaml").write_text(result.stdout)
    assert CliRunner().invoke(main, ["recipe", "validate", str(tmp_path / "mine.yaml")]).exit_code == 0
    assert CliRunner().invoke(main, ["recipe", "import", path, "--strict"]).exit_code != 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"transform": 3}',
        '{"transform": {"__class_fullname__": "Compose"}}',
        '{"transform": {"__class_fullname__": "Compose", "transforms": [3]}}',
        '{"transform": {"__class_fullname__": "Blur", "blur_limit": "x"}}',
        "[" * 100000,
        '{"transform":' * 1000,
    ],
)
def test_files_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ArgumentError, match="recipe"):
        import_albumentations(str(tmp_path / "x.json"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArgumentError, match=r"nowhere\.json"):
        import_albumentations(str(tmp_path / "nowhere.json"))
