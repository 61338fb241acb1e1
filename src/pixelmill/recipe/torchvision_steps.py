"""Transforms of torchvision, each with its arguments and the steps that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pixelmill.recipe.translation import Step, UntranslatableError

Arguments = Mapping[str, Any]

# They prepare tensors, annotations or batches, which a loader does.
OUTSIDE = {
    *("ToTensor", "ToImage", "ToPILImage", "PILToTensor", "ConvertImageDtype", "ToDtype", "ToPureTensor", "Normalize"),
    *("SanitizeBoundingBoxes", "ClampBoundingBoxes", "ConvertBoundingBoxFormat", "Identity", "MixUp", "CutMix"),
}


@dataclass(frozen=True)
class Transform:
    """A transform.

    Attributes:
        translate: Returns its steps for its arguments.
        defaults: Its arguments in order, with their defaults; None for those that must be given.
        exact: Whether the steps are the same arithmetic up to rounding.
    """

    translate: Callable[[Arguments], list[Step]]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = True


def _uniform(low: float, high: float) -> Any:
    return low if low == high else {"uniform": [low, high]}


def _both_ways(value: Any) -> Any:
    """Return a draw for a number that stands for the range around 0, or for a range."""
    low, high = value if isinstance(value, list) else (-value, value)
    return _uniform(low, high)


def _pair(size: Any) -> list[int]:
    if isinstance(size, list):
        return [size[0], size[-1]]
    if not isinstance(size, int):
        raise UntranslatableError(f"size must be a number or two, got {size!r}")
    return [size, size]


def _fill(a: Arguments) -> Step:
    value = a.get("fill", 0)
    value = value[0] if isinstance(value, list) and len(set(value)) == 1 else value
    if not isinstance(value, (int, float)):
        raise UntranslatableError("fill must be one number")
    return {"fill_value": value} if value else {}


def _resize(a: Arguments) -> list[Step]:
    size = a["size"]
    if isinstance(size, list) and len(size) == 2:
        return [{"resize": {"size": size}}]
    side = size[0] if isinstance(size, list) else size
    if side is None:
        return [{"longest_side": {"size": a["max_size"]}}]
    steps: list[Step] = [{"smallest_side": {"size": side}}]
    if a["max_size"] is not None:
        steps.append({"longest_side": {"size": a["max_size"], "enlarge": False}})
    return steps


def _random_crop(a: Arguments) -> list[Step]:
    if a["padding_mode"] != "constant":
        raise UntranslatableError(f"padding_mode={a['padding_mode']!r} has no step")
    size, steps = _pair(a["size"]), []
    if a["padding"]:
        steps.append({"pad": {"border": _border(a["padding"]), **_fill(a)}})
    if a["pad_if_needed"]:
        steps.append({"pad": {"size": size, **_fill(a)}})
    return [*steps, {"crop": {"size": size, "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}}}]


def _border(padding: Any) -> Any:
    """Return the border above, left, below and right, of which torchvision begins with the left one."""
    if not isinstance(padding, list):
        return padding
    left, top, right, bottom = padding * (4 // len(padding))
    return [top, left, bottom, right]


def _pad(a: Arguments) -> list[Step]:
    if a["padding_mode"] != "constant":
        raise UntranslatableError(f"padding_mode={a['padding_mode']!r} has no step")
    return [{"pad": {"border": _border(a["padding"]), **_fill(a)}}]


def _random_resized_crop(a: Arguments) -> list[Step]:
    return [
        {
            "random_resized_crop": {
                "size": _pair(a["size"]),
                "random_area": a["scale"],
                "random_aspect_ratio": a["ratio"],
            }
        }
    ]


def _rotation(a: Arguments) -> list[Step]:
    keep = {"keep_size": False} if a["expand"] else {}
    return [{"rotate": {"angle": _both_ways(a["degrees"]), **keep, **_fill(a)}}]


def _affine(a: Arguments) -> list[Step]:
    made: Step = {"angle": _both_ways(a["degrees"])}
    for axis, most in zip(("shift_x", "shift_y"), a["translate"] or [0, 0], strict=True):
        made[axis] = _uniform(-most, most)
    if a["scale"] is not None:
        made["scale"] = _uniform(*a["scale"])
    shear = a["shear"]
    if isinstance(shear, list) and len(shear) == 4:
        made |= {"shear_x": _uniform(*shear[:2]), "shear_y": _uniform(*shear[2:])}
    elif shear is not None:
        made["shear_x"] = _both_ways(shear)
    return [{"affine": {**{key: value for key, value in made.items() if value != 0}, **_fill(a)}}]


def _factor(value: Any) -> Any:
    if isinstance(value, list):
        return _uniform(*value)
    return 1.0 if not value else _uniform(max(0.0, 1 - value), 1 + value)


def _color_jitter(a: Arguments) -> list[Step]:
    made: Step = {key: _factor(a[key]) for key in ("brightness", "contrast", "saturation") if a[key]}
    if a["hue"]:
        low, high = a["hue"] if isinstance(a["hue"], list) else (-a["hue"], a["hue"])
        made["hue"] = _uniform(low * 360, high * 360)
    return [{"color_jitter": {**made, "order": {"permutation": 4}}}]


def _photometric(a: Arguments) -> list[Step]:
    hue = _uniform(a["hue"][0] * 360, a["hue"][1] * 360)
    probability = {"p": a["each"]}
    return [
        {"brightness": {"brightness": _uniform(*a["brightness"]), **probability}},
        {"contrast": {"contrast": _uniform(*a["contrast"]), **probability}},
        {"saturation": {"saturation": _uniform(*a["saturation"]), **probability}},
        {"hue": {"hue": hue, **probability}},
        {"channel_shuffle": {"order": {"permutation": 3}, **probability}},
    ]


def _blur(a: Arguments) -> list[Step]:
    size = a["kernel_size"][0] if isinstance(a["kernel_size"], list) else a["kernel_size"]
    sigma = _uniform(*a["sigma"]) if isinstance(a["sigma"], list) else a["sigma"]
    return [{"gaussian_blur": {"sigma": sigma, "window_size": size}}]


def _zoom_out(a: Arguments) -> list[Step]:
    place = {"uniform": [0, 1]}
    return [{"expand": {"ratio": _uniform(*a["side_range"]), "y": place, "x": place, **_fill(a)}}]


def _scale_jitter(a: Arguments) -> list[Step]:
    fit = {"resize": {"size": a["target_size"], "mode": "not_larger"}}
    return [fit, {"rescale": {"factor": _uniform(*a["scale_range"])}}]


def _shortest(a: Arguments) -> list[Step]:
    sizes = a["min_size"] if isinstance(a["min_size"], list) else [a["min_size"]]
    steps: list[Step] = [{"smallest_side": {"size": sizes[0] if len(sizes) == 1 else {"choice": sizes}}}]
    if a["max_size"] is not None:
        steps.append({"longest_side": {"size": a["max_size"], "enlarge": False}})
    return steps


def _erasing(a: Arguments) -> list[Step]:
    value = a["value"]
    if isinstance(value, str):
        raise UntranslatableError(f"value={value!r} has no step")
    # It is applied to tensors from 0 to 1.
    value = [round(255 * level) for level in value] if isinstance(value, list) else round(255 * value)
    return [{"random_erasing": {"area": a["scale"], "aspect_ratio": a["ratio"], "fill_value": value}}]


def _jpeg(a: Arguments) -> list[Step]:
    low, high = a["quality"] if isinstance(a["quality"], list) else (a["quality"],) * 2
    return [{"jpeg_compression_distortion": {"quality": low if low == high else {"integers": [low, high]}}}]


def _grayscale(a: Arguments) -> list[Step]:
    if a["num_output_channels"] != 3:
        raise UntranslatableError("images keep their channels; use num_output_channels=3")
    return [{"to_gray": {}}]


def _plain(name: str, **arguments: Any) -> Callable[[Arguments], list[Step]]:
    return lambda a: [{name: dict(arguments)}]


def _elsewhere(advice: str) -> Callable[[Arguments], list[Step]]:
    def refuse(a: Arguments) -> list[Step]:
        raise UntranslatableError(advice)

    return refuse


_HALF = {"p": 0.5}
_FILLED = {"interpolation": None, "fill": 0}

TRANSFORMS: dict[str, Transform] = {
    "RandomHorizontalFlip": Transform(_plain("flip", horizontal=1), _HALF),
    "RandomVerticalFlip": Transform(_plain("flip", vertical=1), _HALF),
    "Resize": Transform(_resize, {"size": None, "interpolation": None, "max_size": None}),
    "CenterCrop": Transform(lambda a: [{"crop": {"size": _pair(a["size"])}}], {"size": None}),
    "RandomCrop": Transform(
        _random_crop,
        {"size": None, "padding": None, "pad_if_needed": False, "fill": 0, "padding_mode": "constant"},
    ),
    "RandomResizedCrop": Transform(_random_resized_crop, {"size": None, "scale": [0.08, 1.0], "ratio": [0.75, 4 / 3]}),
    "Pad": Transform(_pad, {"padding": None, "fill": 0, "padding_mode": "constant"}),
    "RandomRotation": Transform(
        _rotation, {"degrees": None, "interpolation": None, "expand": False, "center": None, "fill": 0}
    ),
    "RandomAffine": Transform(
        _affine, {"degrees": None, "translate": None, "scale": None, "shear": None, **_FILLED}, exact=False
    ),
    "RandomPerspective": Transform(
        lambda a: [{"perspective": {"strength": a["distortion_scale"] / 4, **_fill(a)}}],
        {"distortion_scale": 0.5, "p": 0.5, **_FILLED},
        exact=False,
    ),
    "ElasticTransform": Transform(
        lambda a: [{"elastic": {"strength": 0.0005 * a["alpha"], **_fill(a)}}],
        {"alpha": 50.0, "sigma": 5.0, **_FILLED},
        exact=False,
    ),
    "RandomZoomOut": Transform(_zoom_out, {"fill": 0, "side_range": [1.0, 4.0], "p": 0.5}),
    "ScaleJitter": Transform(_scale_jitter, {"target_size": None, "scale_range": [0.1, 2.0]}),
    "RandomShortestSize": Transform(_shortest, {"min_size": None, "max_size": None}),
    "RandomResize": Transform(
        lambda a: [{"smallest_side": {"size": {"integers": [a["min_size"], a["max_size"] - 1]}}}],
        {"min_size": None, "max_size": None},
    ),
    "RandomIoUCrop": Transform(
        lambda a: [{"iou_crop": {"overlaps": a["sampler_options"] or [0.0, 0.1, 0.3, 0.5, 0.7, 0.9]}}],
        {
            "min_scale": 0.3,
            "max_scale": 1.0,
            "min_aspect_ratio": 0.5,
            "max_aspect_ratio": 2.0,
            "sampler_options": None,
            "trials": 40,
        },
        exact=False,
    ),
    "ColorJitter": Transform(
        _color_jitter, {"brightness": None, "contrast": None, "saturation": None, "hue": None}, exact=False
    ),
    "RandomPhotometricDistort": Transform(
        _photometric,
        {
            "brightness": [0.875, 1.125],
            "contrast": [0.5, 1.5],
            "saturation": [0.5, 1.5],
            "hue": [-0.05, 0.05],
            "each": 0.5,
        },
        exact=False,
    ),
    "Grayscale": Transform(_grayscale, {"num_output_channels": 1}),
    "RandomGrayscale": Transform(_plain("to_gray"), {"p": 0.1}),
    "GaussianBlur": Transform(_blur, {"kernel_size": None, "sigma": [0.1, 2.0]}),
    "GaussianNoise": Transform(
        lambda a: [{"noise.gaussian": {"mean": 255 * a["mean"], "stddev": 255 * a["sigma"]}}],
        {"mean": 0.0, "sigma": 0.1, "clip": True},
    ),
    "RandomInvert": Transform(_plain("invert"), _HALF),
    "RandomPosterize": Transform(lambda a: [{"posterize": {"bits": a["bits"]}}], {"bits": None, "p": 0.5}),
    "RandomSolarize": Transform(lambda a: [{"solarize": {"threshold": a["threshold"]}}], {"threshold": None, "p": 0.5}),
    "RandomEqualize": Transform(_plain("equalize"), _HALF),
    "RandomChannelPermutation": Transform(_plain("channel_shuffle", order={"permutation": 3})),
    "RandomErasing": Transform(_erasing, {"p": 0.5, "scale": [0.02, 0.33], "ratio": [0.3, 3.3], "value": 0}),
    "JPEG": Transform(_jpeg, {"quality": None}, exact=False),
    "AutoAugment": Transform(_elsewhere("it is augment='auto_augment' of ImageLoader"), {"policy": None}),
    "RandAugment": Transform(_elsewhere("it is augment='rand_augment' of ImageLoader"), {"num_ops": 2, "magnitude": 9}),
    "TrivialAugmentWide": Transform(_elsewhere("it is augment='trivial_augment' of ImageLoader"), {"bins": 31}),
}
