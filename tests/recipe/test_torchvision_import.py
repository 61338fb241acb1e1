"""Pipelines of torchvision as recipes: what each transform becomes, and what has no translation."""

from __future__ import annotations

import pytest
from command_runner import CliRunner

from pixelmill import ArgumentError
from pixelmill.cli import main
from pixelmill.recipe import Recipe, check_recipe
from pixelmill.recipe.torchvision import import_torchvision
from pixelmill.recipe.torchvision_steps import TRANSFORMS

REFERENCE = """
import torch
from torchvision.transforms import v2
from torchvision.transforms import InterpolationMode

SIZE = 224
mean = [0.485, 0.456, 0.406]
raise SystemExit("this file is never run")

train_transform = v2.Compose([
    v2.RandomResizedCrop(SIZE, scale=(0.08, 1), interpolation=InterpolationMode.BILINEAR, antialias=True),
    v2.RandomHorizontalFlip(),
    v2.RandomApply([v2.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8),
    v2.RandomGrayscale(p=0.2),
    v2.Lambda(lambda x: x),
    v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, [0.229, 0.224, 0.225]),
    v2.RandomErasing(p=0.25),
])

def evaluation(crop=224):
    return v2.Compose([v2.Resize(256), v2.CenterCrop(SIZE), v2.ToTensor()])
"""


def imported(tmp_path, text, name=None):
    path = tmp_path / "train.py"
    path.write_text(text)
    return import_torchvision(str(path), name)


def test_a_training_script_is_read_and_never_run(tmp_path):
    made = imported(tmp_path, REFERENCE, "train_transform")
    jitter = {
        "brightness": {"uniform": [0.6, 1.4]},
        "contrast": {"uniform": [0.6, 1.4]},
        "saturation": {"uniform": [0.6, 1.4]},
        "hue": {"uniform": [-36.0, 36.0]},
        "order": {"permutation": 4},
    }
    window = {"size": [224, 224], "random_area": [0.08, 1], "random_aspect_ratio": [0.75, 4 / 3]}
    erasing = {"area": [0.02, 0.33], "aspect_ratio": [0.3, 3.3], "fill_value": 0, "p": 0.25}
    assert made.steps == [
        {"random_resized_crop": window},
        {"flip": {"horizontal": 1, "p": 0.5}},
        {"sequential": {"steps": [{"color_jitter": jitter}], "p": 0.8}},
        {"to_gray": {"p": 0.2}},
        {"random_erasing": erasing},
    ]
    assert made.untranslated == ["Compose[4] (Lambda): there is no such step"]
    assert [entry.partition("(")[2] for entry in made.outside] == ["ToImage)", "ToDtype)", "Normalize)"]
    assert made.approximate == ["Compose[2][0] (ColorJitter)"]
    assert check_recipe(Recipe("x", steps=tuple(made.steps))) == (224, 224)
    assert imported(tmp_path, REFERENCE, "evaluation").steps == [
        {"smallest_side": {"size": 256}},
        {"crop": {"size": [224, 224]}},
    ]


CALLS = {
    "RandomHorizontalFlip": ("RandomHorizontalFlip(0.3)", [{"flip": {"horizontal": 1, "p": 0.3}}]),
    "RandomVerticalFlip": ("RandomVerticalFlip(p=1)", [{"flip": {"vertical": 1}}]),
    "Resize": (
        "Resize(200, max_size=300)",
        [{"smallest_side": {"size": 200}}, {"longest_side": {"size": 300, "enlarge": False}}],
    ),
    "CenterCrop": ("CenterCrop((90, 80))", [{"crop": {"size": [90, 80]}}]),
    "RandomCrop": (
        "RandomCrop(32, padding=4)",
        [
            {"pad": {"border": 4}},
            {"crop": {"size": [32, 32], "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}},
        ],
    ),
    "RandomResizedCrop": (
        "RandomResizedCrop((30, 40))",
        [{"random_resized_crop": {"size": [30, 40], "random_area": [0.08, 1.0], "random_aspect_ratio": [0.75, 4 / 3]}}],
    ),
    "Pad": ("Pad((1, 2, 3, 4), fill=9)", [{"pad": {"border": [2, 1, 4, 3], "fill_value": 9}}]),
    "RandomRotation": (
        "RandomRotation((-5, 15), expand=True)",
        [{"rotate": {"angle": {"uniform": [-5, 15]}, "keep_size": False}}],
    ),
    "RandomAffine": (
        "RandomAffine(10, translate=(0.1, 0.2), scale=(0.8, 1.2), shear=5)",
        [
            {
                "affine": {
                    "angle": {"uniform": [-10, 10]},
                    "shift_x": {"uniform": [-0.1, 0.1]},
                    "shift_y": {"uniform": [-0.2, 0.2]},
                    "scale": {"uniform": [0.8, 1.2]},
                    "shear_x": {"uniform": [-5, 5]},
                }
            }
        ],
    ),
    "RandomPerspective": ("RandomPerspective(0.4, p=1)", [{"perspective": {"strength": 0.1}}]),
    "ElasticTransform": ("ElasticTransform(alpha=20.0)", [{"elastic": {"strength": 0.01}}]),
    "RandomZoomOut": (
        "RandomZoomOut(side_range=(1, 2), fill=7, p=1)",
        [
            {
                "expand": {
                    "ratio": {"uniform": [1, 2]},
                    "y": {"uniform": [0, 1]},
                    "x": {"uniform": [0, 1]},
                    "fill_value": 7,
                }
            }
        ],
    ),
    "ScaleJitter": (
        "ScaleJitter((640, 640))",
        [
            {"resize": {"size": [640, 640], "mode": "not_larger"}},
            {"rescale": {"factor": {"uniform": [0.1, 2.0]}}},
        ],
    ),
    "RandomShortestSize": (
        "RandomShortestSize([200, 210], max_size=400)",
        [
            {"smallest_side": {"size": {"choice": [200, 210]}}},
            {"longest_side": {"size": 400, "enlarge": False}},
        ],
    ),
    "RandomResize": ("RandomResize(100, 121)", [{"smallest_side": {"size": {"integers": [100, 120]}}}]),
    "RandomIoUCrop": ("RandomIoUCrop()", [{"iou_crop": {"overlaps": [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]}}]),
    "ColorJitter": (
        "ColorJitter(brightness=(0.5, 1.5))",
        [{"color_jitter": {"brightness": {"uniform": [0.5, 1.5]}, "order": {"permutation": 4}}}],
    ),
    "RandomPhotometricDistort": ("RandomPhotometricDistort()", None),
    "Grayscale": ("Grayscale(num_output_channels=3)", [{"to_gray": {}}]),
    "RandomGrayscale": ("RandomGrayscale()", [{"to_gray": {"p": 0.1}}]),
    "GaussianBlur": (
        "GaussianBlur(5, sigma=(0.5, 1))",
        [{"gaussian_blur": {"sigma": {"uniform": [0.5, 1]}, "window_size": 5}}],
    ),
    "GaussianNoise": ("GaussianNoise(sigma=0.2)", [{"noise.gaussian": {"mean": 0.0, "stddev": 51.0}}]),
    "RandomInvert": ("RandomInvert()", [{"invert": {"p": 0.5}}]),
    "RandomPosterize": ("RandomPosterize(bits=3)", [{"posterize": {"bits": 3, "p": 0.5}}]),
    "RandomSolarize": ("RandomSolarize(threshold=128.0, p=1)", [{"solarize": {"threshold": 128.0}}]),
    "RandomEqualize": ("RandomEqualize(p=1)", [{"equalize": {}}]),
    "RandomChannelPermutation": ("RandomChannelPermutation()", [{"channel_shuffle": {"order": {"permutation": 3}}}]),
    "RandomErasing": (
        "RandomErasing(p=1, value=0.5)",
        [{"random_erasing": {"area": [0.02, 0.33], "aspect_ratio": [0.3, 3.3], "fill_value": 128}}],
    ),
    "JPEG": ("JPEG((50, 100))", [{"jpeg_compression_distortion": {"quality": {"integers": [50, 100]}}}]),
}


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if "Augment" not in name])
def test_each_transform_becomes_steps_that_run(tmp_path, name):
    call, expected = CALLS[name]
    made = imported(tmp_path, f"t = T.Compose([T.{call}])")
    assert not made.untranslated
    if expected is not None:
        assert made.steps == expected
    height, width = check_recipe(Recipe("x", steps=tuple(made.steps)))
    assert height > 0 and width > 0


def test_choices_and_policies(tmp_path):
    several = "RandomChoice([RandomInvert(p=1), RandomOrder([Pad(3), Resize((9, 8))])], p=[1, 3])"
    text = f"t = Compose([{several}, RandAugment()])"
    made = imported(tmp_path, text)
    inner = {"sequential": [{"pad": {"border": 3}}, {"resize": {"size": [9, 8]}}]}
    assert made.steps == [{"one_of": {"steps": [{"invert": {}}, inner], "weights": [1, 3]}}]
    assert made.approximate == ["Compose[0][1] (RandomOrder): in the order of the list"]
    assert made.untranslated == ["Compose[1] (RandAugment): it is augment='rand_augment' of ImageLoader"]
    check_recipe(Recipe("x", steps=tuple(made.steps)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 3", "no pipeline"),
        ("a = T.Compose([T.Resize(3)])\nb = T.Compose([T.Resize(4)])", r"several pipelines \(a, b\)"),
        ("def f(:", "not a Python file"),
        ("t = T.Compose([T.Lambda(f)])", "nothing could be translated"),
        ("t = T.Compose(steps())", "no list of transforms"),
        ("t = T.Compose([T.Resize(size())])", "known only when the file runs"),
        ("t = T.Compose([T.Pad(2, padding_mode='reflect')])", "padding_mode='reflect' has no step"),
        ("t = T.Compose([T.Resize(" + "(" * 150 + "1" + ",)" * 150 + ")])", "recipe"),
        ("a = b\nb = a\nt = T.Compose([T.Resize(a)])", "known only when the file runs"),
        ("t = T.Compose([T.Resize(2 / 0)])", "not understood"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, text, message):
    with pytest.raises(ArgumentError, match=message):
        imported(tmp_path, text)


def test_the_command_takes_python_files(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(REFERENCE)
    run = CliRunner().invoke(main, ["recipe", "import", f"{path}:evaluation"])
    assert run.exit_code == 0 and "smallest_side: {size: 256}" in run.stdout
    assert "not part of a recipe" in run.stderr
    run = CliRunner().invoke(main, ["recipe", "import", str(path)])
    assert run.exit_code != 0 and "evaluation, train_transform" in run.stderr
    run = CliRunner().invoke(main, ["recipe", "import", f"{path}:train_transform", "--strict"])
    assert run.exit_code != 0
