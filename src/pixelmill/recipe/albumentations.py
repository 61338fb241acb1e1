"""Recipes from pipelines of Albumentations: its JSON (`A.save`, `A.to_dict`) to steps, and what has no translation.

The library itself is not needed. Each translation is a function of the arguments of a transform; where the result looks
alike but is not the same arithmetic, it is listed as approximate.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pixelmill import storage
from pixelmill.errors import ArgumentError, unreadable
from pixelmill.recipe.translation import Step, Translation, UntranslatableError, with_probability

Arguments = Mapping[str, Any]

MOST_BYTES = 1 << 20
_MOST_LEVELS = 32
# They only prepare arrays for a framework, which a loader does.
_OUTSIDE = {"Normalize", "ToTensorV2", "ToFloat", "FromFloat", "NoOp"}


def import_albumentations(path: str) -> Translation:
    """Translate a JSON file of Albumentations. Raises ArgumentError if it is not one."""
    try:
        content = json.loads(storage.read_file(path, limit=MOST_BYTES))
    except OSError as error:
        raise unreadable("recipe", path, error) from None
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"recipe: {path} is not JSON: {error}") from None
    root = content.get("transform", content) if isinstance(content, dict) else None
    if not isinstance(root, dict) or "__class_fullname__" not in root:
        raise ArgumentError(f"recipe: {path} is not a pipeline of Albumentations, as A.save writes it")
    made = Translation()
    made.steps = _translated(root, "transform", made, level=0)
    if not made.steps:
        raise ArgumentError(f"recipe: {path}: nothing could be translated: {'; '.join(made.untranslated)}")
    return made


def _translated(entry: object, path: str, made: Translation, *, level: int) -> list[Step]:
    if not isinstance(entry, dict) or not isinstance(entry.get("__class_fullname__"), str) or level > _MOST_LEVELS:
        raise ArgumentError(f"recipe: {path} is not a transform of Albumentations")
    name = entry["__class_fullname__"].rpartition(".")[2]
    if name in ("Compose", "Sequential", "OneOf", "SomeOf", "RandomOrder"):
        return _group(name, entry, path, made, level=level)
    if name in _OUTSIDE:
        made.outside.append(f"{path} ({name})")
        return []
    if name not in TRANSLATIONS:
        made.untranslated.append(f"{path} ({name}): there is no such step")
        return []
    translate, exact = TRANSLATIONS[name]
    try:
        step = translate(entry)
    except UntranslatableError as error:
        made.untranslated.append(f"{path} ({name}): {error}")
        return []
    except (KeyError, TypeError, ValueError, IndexError) as error:
        made.untranslated.append(f"{path} ({name}): its arguments are not understood ({error!r})")
        return []
    if not exact:
        made.approximate.append(f"{path} ({name})")
    return [with_probability(step, entry.get("p", 1.0))]


def _group(name: str, entry: Arguments, path: str, made: Translation, *, level: int) -> list[Step]:
    members = entry.get("transforms")
    if not isinstance(members, list):
        raise ArgumentError(f"recipe: {path} ({name}) has no list of transforms")
    steps: list[Step] = []
    weights: list[float] = []
    for place, member in enumerate(members):
        found = _translated(member, f"{path}.transforms[{place}]", made, level=level + 1)
        if found and name in ("OneOf", "SomeOf", "RandomOrder"):
            # Members are applied for certain; their probabilities decide which ones.
            weights.append(float(member.get("p", 1.0)))
            found = [_without_probability(found[0])] if len(found) == 1 else [{"sequential": found}]
        steps += found
    if not steps:
        return []
    if name in ("Compose", "Sequential"):
        probability = entry.get("p", 1.0)
        return steps if probability in (1, 1.0) else [{"sequential": {"steps": steps, "p": probability}}]
    arguments: Step = {"steps": steps}
    if len(set(weights)) > 1:
        arguments["weights"] = weights
    if name == "OneOf":
        return [with_probability({"one_of": arguments}, entry.get("p", 1.0))]
    if entry.get("replace") or name == "RandomOrder":
        made.approximate.append(f"{path} ({name}): in the order of the list, each at most once")
    arguments["count"] = min(int(entry.get("n", len(steps))), len(steps))
    return [with_probability({"some_of": arguments}, entry.get("p", 1.0))]


def _without_probability(step: Step) -> Step:
    ((name, arguments),) = step.items()
    return {name: {key: value for key, value in arguments.items() if key != "p"}}


def _range(value: Any, *, plus: float = 0.0, times: float = 1.0) -> Any:
    """Return a draw for a range of Albumentations, or its number if both ends are equal."""
    low, high = value if isinstance(value, (list, tuple)) else (-value, value)
    low, high = low * times + plus, high * times + plus
    return low if low == high else {"uniform": [low, high]}


def _whole(value: Any) -> Any:
    low, high = value if isinstance(value, (list, tuple)) else (value, value)
    return int(low) if low == high else {"integers": [int(low), int(high)]}


def _odd(value: Any) -> Any:
    low, high = value if isinstance(value, (list, tuple)) else (3, value)
    sizes = [size for size in range(int(low), int(high) + 1) if size % 2 == 1]
    return sizes[0] if len(sizes) == 1 else {"choice": sizes}


def _fills(a: Arguments) -> Step:
    if a.get("border_mode", 0) != 0:
        raise UntranslatableError("only constant borders (border_mode=0) have a step")
    made: Step = {}
    for key, ours in (("fill", "fill_value"), ("fill_mask", "mask_fill_value")):
        value = a.get(key, 0)
        value = value[0] if isinstance(value, list) and len(set(value)) == 1 else value
        if isinstance(value, (list, str)):
            raise UntranslatableError("fill must be one number")
        if value:
            made[ours] = value
    return made


def _axes(value: Any, default: float) -> tuple[Any, Any]:
    """Return the ranges for x and y."""
    if value is None:
        return default, default
    if isinstance(value, dict):
        return _range(value["x"]), _range(value["y"])
    return _range(value), _range(value)


def _affine(a: Arguments) -> Step:
    if a.get("fit_output"):
        raise UntranslatableError("fit_output has no step")
    if any(_axes(a.get("translate_px"), 0)):
        raise UntranslatableError("translate_px has no step; use translate_percent")
    scale_x, scale_y = _axes(a.get("scale"), 1)
    shear_x, shear_y = _axes(a.get("shear"), 0)
    shift_x, shift_y = _axes(a.get("translate_percent"), 0)
    made: Step = {"scale": scale_x, "shear_x": shear_x, "shear_y": shear_y, "shift_x": shift_x, "shift_y": shift_y}
    if not a.get("keep_ratio") and scale_y != 1:
        made["scale_y"] = scale_y
    made["angle"] = _turn(a.get("rotate", 0))
    return {"affine": {**{key: value for key, value in made.items() if value not in (0, 0.0)}, **_fills(a)}}


def _turn(limit: Any) -> Any:
    low, high = limit if isinstance(limit, (list, tuple)) else (-limit, limit)
    return low if low == high else {"uniform": [low, high]}


def _rotate(a: Arguments) -> Step:
    if a.get("crop_border"):
        raise UntranslatableError("crop_border has no step")
    return {"rotate": {"angle": _turn(a["limit"]), **_fills(a)}}


def _shift_scale_rotate(a: Arguments) -> Step:
    arguments = {
        "shift_x": _range(a["shift_limit_x"]),
        "shift_y": _range(a["shift_limit_y"]),
        "scale": _range(a["scale_limit"], plus=1),
        "angle": _turn(a["rotate_limit"]),
    }
    return {"shift_scale_rotate": {**arguments, **_fills(a)}}


def _crop(a: Arguments, *, drawn: bool) -> Step:
    if a.get("pad_if_needed"):
        raise UntranslatableError("pad_if_needed has no step; put PadIfNeeded before it")
    places = {"y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}} if drawn else {}
    return {"crop": {"size": [a["height"], a["width"]], **places}}


def _box_safe(a: Arguments) -> Step:
    if a.get("erosion_rate"):
        raise UntranslatableError("erosion_rate has no step: boxes are never cut")
    if "height" not in a:
        return {"box_safe_crop": {}}
    return {"sequential": {"steps": [{"box_safe_crop": {}}, {"resize": {"size": [a["height"], a["width"]]}}]}}


def _mosaic(a: Arguments) -> Step:
    grid = list(a["grid_yx"])
    if grid not in ([2, 2], [3, 3]):
        raise UntranslatableError("only grids of 2 x 2 and 3 x 3 have a step")
    place = _range(a["center_range"])
    made = {"size": list(a["target_size"]), "grid": grid[0], "y": place, "x": place, "fit": a["fit_mode"]}
    return {"mosaic": {**made, "fill_value": _fills(a).get("fill_value", 0)}}


def _one_size(name: str, a: Arguments) -> Step:
    size = a.get("max_size")
    if isinstance(size, list):
        return {name: {"size": {"choice": size}}}
    if not isinstance(size, int):
        raise UntranslatableError("max_size must be a number")
    return {name: {"size": size}}


def _pad(a: Arguments) -> Step:
    if a.get("position", "center") != "center":
        raise UntranslatableError("only the position center has a step")
    divisor = a.get("pad_height_divisor")
    if divisor != a.get("pad_width_divisor"):
        raise UntranslatableError("both divisors must be equal")
    made: Step = {"size": [a.get("min_height") or 0, a.get("min_width") or 0], **_fills(a)}
    return {"pad": {**made, "multiple_of": divisor} if divisor else made}


def _brightness_contrast(a: Arguments) -> Step:
    if not a.get("brightness_by_max", True):
        raise UntranslatableError("brightness_by_max=False depends on the mean of the image")
    arguments = {
        "brightness_shift": _range(a["brightness_limit"]),
        "contrast": _range(a["contrast_limit"], plus=1),
        "contrast_center": 0.0,
    }
    return {"brightness_contrast": arguments}


def _color_jitter(a: Arguments) -> Step:
    factors = {key: _range(a[key]) for key in ("brightness", "contrast", "saturation")}
    return {"color_jitter": {**factors, "hue": _range(a["hue"], times=360), "order": {"permutation": 4}}}


def _hue_saturation_value(a: Arguments) -> Step:
    arguments = {
        "hue": _range(a["hue_shift_limit"], times=2),
        "saturation": _range(a["sat_shift_limit"], times=1 / 128, plus=1),
        "value": _range(a["val_shift_limit"], times=1 / 128, plus=1),
    }
    return {"hsv": arguments}


def _compression(a: Arguments) -> Step:
    kind = a.get("compression_type", "jpeg")
    if kind not in ("jpeg", "webp"):
        raise UntranslatableError(f"compression_type={kind!r} has no step")
    return {f"{kind}_compression_distortion": {"quality": _whole(a["quality_range"])}}


def _dropout(a: Arguments) -> Step:
    arguments: Step = {"holes": a["num_holes_range"], "height": a["hole_height_range"], "width": a["hole_width_range"]}
    if any(isinstance(size, int) and size > 1 for key in ("height", "width") for size in arguments[key]):
        raise UntranslatableError("sizes of holes in pixels have no step; use fractions")
    if isinstance(a.get("fill"), str):
        raise UntranslatableError(f"fill={a['fill']!r} has no step")
    return {"coarse_dropout": {**arguments, "fill_value": a.get("fill", 0)}}


def _erasing(a: Arguments) -> Step:
    if isinstance(a.get("fill"), str):
        raise UntranslatableError(f"fill={a['fill']!r} has no step")
    return {"random_erasing": {"area": a["scale"], "aspect_ratio": a["ratio"], "fill_value": a.get("fill", 0)}}


def _plain(name: str, **arguments: Any) -> Callable[[Arguments], Step]:
    return lambda a: {name: dict(arguments)}


def _ranges(name: str, **keys: str) -> Callable[[Arguments], Step]:
    return lambda a: {name: {ours: _range(a[theirs]) for ours, theirs in keys.items()}}


# Each transform with its translation, and whether the step is the same arithmetic up to rounding.
TRANSLATIONS: dict[str, tuple[Callable[[Arguments], Step], bool]] = {
    "HorizontalFlip": (_plain("flip", horizontal=1), True),
    "VerticalFlip": (_plain("flip", vertical=1), True),
    "Transpose": (_plain("transpose"), True),
    "RandomRotate90": (_plain("rotate90", times={"integers": [0, 3]}), True),
    "Resize": (lambda a: {"resize": {"size": [a["height"], a["width"]]}}, True),
    "LongestMaxSize": (lambda a: _one_size("longest_side", a), True),
    "SmallestMaxSize": (lambda a: _one_size("smallest_side", a), True),
    "PadIfNeeded": (_pad, True),
    "CenterCrop": (lambda a: _crop(a, drawn=False), True),
    "RandomCrop": (lambda a: _crop(a, drawn=True), True),
    "RandomResizedCrop": (
        lambda a: {
            "random_resized_crop": {
                "size": a["size"],
                "random_area": a.get("scale", [0.08, 1.0]),
                "random_aspect_ratio": a.get("ratio", [0.75, 4 / 3]),
            }
        },
        True,
    ),
    "BBoxSafeRandomCrop": (_box_safe, True),
    "RandomSizedBBoxSafeCrop": (_box_safe, True),
    "Mosaic": (_mosaic, False),
    "Rotate": (_rotate, True),
    "ShiftScaleRotate": (_shift_scale_rotate, True),
    "Affine": (_affine, True),
    "Perspective": (lambda a: {"perspective": {"strength": _range(a["scale"]), **_fills(a)}}, False),
    "ElasticTransform": (lambda a: {"elastic": {"strength": 0.0005 * a["alpha"], **_fills(a)}}, False),
    "GridDistortion": (
        lambda a: {"grid_distortion": {"steps": a["num_steps"], "strength": max(map(abs, a["distort_limit"]))}},
        False,
    ),
    "OpticalDistortion": (lambda a: {"optical_distortion": {"strength": _range(a["distort_limit"])}}, False),
    "RandomBrightnessContrast": (_brightness_contrast, True),
    "ColorJitter": (_color_jitter, False),
    "HueSaturationValue": (_hue_saturation_value, False),
    "RGBShift": (lambda a: {"rgb_shift": {"shift": [_range(a[f"{c}_shift_limit"]) for c in "rgb"]}}, True),
    "RandomGamma": (lambda a: {"gamma": {"gamma": _range(a["gamma_limit"], times=0.01)}}, True),
    "CLAHE": (
        lambda a: {
            "clahe": {
                "tiles_y": a["tile_grid_size"][0],
                "tiles_x": a["tile_grid_size"][1],
                "clip_limit": sum(a["clip_limit"]) / 2,
            }
        },
        False,
    ),
    "Equalize": (_plain("equalize"), True),
    "Posterize": (lambda a: {"posterize": {"bits": _whole(a["num_bits"])}}, True),
    "Solarize": (lambda a: {"solarize": {"threshold": _range(a["threshold_range"], times=255)}}, True),
    "InvertImg": (_plain("invert"), True),
    "ChannelShuffle": (_plain("channel_shuffle", order={"permutation": 3}), True),
    "ChannelDropout": (
        lambda a: {
            "one_of": {"steps": [{"channel_dropout": {"drop": [int(i == k) for i in range(3)]}} for k in range(3)]}
        },
        False,
    ),
    "ToGray": (_plain("to_gray"), True),
    "ToSepia": (_plain("sepia"), True),
    "RandomToneCurve": (
        lambda a: {"tone_curve": {"low": {"normal": [0.25, a["scale"]]}, "high": {"normal": [0.75, a["scale"]]}}},
        True,
    ),
    "FancyPCA": (lambda a: {"pca_lighting": {"alpha": [{"normal": [0, a["alpha"]]}] * 3}}, False),
    "GaussNoise": (lambda a: {"noise.gaussian": {"stddev": _range(a["std_range"], times=255)}}, True),
    "ISONoise": (_ranges("noise.iso", luma="intensity", color="color_shift"), False),
    "MultiplicativeNoise": (lambda a: {"brightness": {"brightness": _range(a["multiplier"])}}, False),
    "SaltAndPepper": (_ranges("noise.salt_and_pepper", prob="amount", salt_vs_pepper="salt_vs_pepper"), True),
    "ShotNoise": (lambda a: {"noise.shot": {"factor": _range(a["scale_range"], times=25)}}, False),
    "Blur": (lambda a: {"box_blur": {"size": _odd(a["blur_limit"])}}, True),
    "GaussianBlur": (lambda a: {"gaussian_blur": {"sigma": _range(a["sigma_limit"])}}, True),
    "MedianBlur": (lambda a: {"median_blur": {"window_size": _odd(a["blur_limit"])}}, True),
    "MotionBlur": (
        lambda a: {
            "motion_blur": {
                "size": _odd(a["blur_limit"]),
                "angle": _range(a.get("angle_range", [0, 360])),
                "direction": _range(a.get("direction_range", [-1, 1])),
            }
        },
        False,
    ),
    "Defocus": (_ranges("defocus", radius="radius"), False),
    "ZoomBlur": (_ranges("zoom_blur", factor="max_factor"), False),
    "GlassBlur": (lambda a: {"glass_blur": {"sigma": a["sigma"], "distance": a["max_delta"]}}, False),
    "Sharpen": (_ranges("sharpen", alpha="alpha", lightness="lightness"), True),
    "Emboss": (_ranges("emboss", alpha="alpha", strength="strength"), True),
    "ImageCompression": (_compression, False),
    "Downscale": (_ranges("downscale", scale="scale_range"), False),
    "Superpixels": (
        lambda a: {
            "superpixels": {"segments": {"integers": list(a["n_segments"])}, "probability": _range(a["p_replace"])}
        },
        False,
    ),
    "CoarseDropout": (_dropout, True),
    "Erasing": (_erasing, True),
    "GridDropout": (lambda a: {"grid_mask": {"ratio": a["ratio"], "tile": 64}}, False),
    "RandomRain": (_ranges("rain", slant="slant_range"), False),
    "RandomSnow": (_ranges("snow", amount="snow_point_range"), False),
    "RandomFog": (_ranges("fog", density="fog_coef_range"), False),
    "RandomSunFlare": (_plain("sun_flare", x={"uniform": [0, 1]}, y={"uniform": [0, 0.5]}), False),
    "RandomShadow": (_ranges("shadow", intensity="shadow_intensity_range"), False),
    "Spatter": (_ranges("spatter", amount="intensity"), False),
}
