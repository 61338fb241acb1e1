"""The steps of a recipe: from a list of names and arguments to operators."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pixelmill import fn, types
from pixelmill.errors import ArgumentError, PixelmillError, suggestion
from pixelmill.graph.branches import apply_with_probability
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe.scene import Scene

# Geometric steps: methods of the scene.
GEOMETRY = ("resize", "flip", "rotate", "crop", "random_resized_crop")
# All other steps change pixel values only; masks and boxes are unchanged.
PIXELS = (
    *("brightness", "contrast", "brightness_contrast", "hue", "saturation", "hsv", "color_twist"),
    *("gaussian_blur", "laplacian", "median_blur", "experimental.equalize", "clahe", "jpeg_compression_distortion"),
    *("noise.gaussian", "noise.salt_and_pepper", "noise.shot", "erase", "grid_mask"),
)
SHORT_NAMES = {"equalize": "experimental.equalize", "median_blur": "experimental.median_blur"}
DRAWS = {
    "uniform": "two numbers, the smallest and the largest",
    "normal": "two numbers, the mean and the standard deviation",
    "coin": "one number, the probability of 1",
    "choice": "a list to choose from",
}


def apply_steps(scene: Scene, steps: Sequence[Mapping[str, object]], *, seed: int) -> Scene:
    """Add the steps of a recipe to a graph. Raises ArgumentError that names the invalid step."""
    for number, entry in enumerate(steps, start=1):
        name, arguments = named_step(entry, number)
        try:
            scene = _apply(scene, name, arguments, seed=seed, number=number)
        except (PixelmillError, TypeError, ValueError) as error:
            raise ArgumentError(f"step {number} ({name}): {error}") from error
    return scene


def named_step(entry: object, number: int) -> tuple[str, dict[str, object]]:
    """Split a step into its name and its arguments."""
    if isinstance(entry, str):
        entry = {entry: {}}
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise ArgumentError(f"step {number}: expected a name with arguments, such as `flip: {{horizontal: 1}}`")
    ((name, arguments),) = entry.items()
    if arguments is None:
        arguments = {}
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise ArgumentError(f"step {number}: the arguments of {name!r} must have names, got {arguments!r}")
    if name not in GEOMETRY and name not in PIXELS and name not in SHORT_NAMES:
        known = sorted({*GEOMETRY, *PIXELS, *SHORT_NAMES} - set(SHORT_NAMES.values()))
        hint = suggestion(name, known)
        raise ArgumentError(f"step {number}: there is no step {name!r}; available steps: {', '.join(known)}{hint}")
    return name, dict(arguments)


def _apply(scene: Scene, name: str, arguments: dict[str, object], *, seed: int, number: int) -> Scene:
    probability = arguments.pop("p", None)
    values = {key: drawn(value, _seed(seed, number, key)) for key, value in arguments.items()}
    if name in GEOMETRY:
        if probability is not None:
            raise ArgumentError("p cannot be used with a geometric step; draw its arguments instead")
        if name == "random_resized_crop":
            values["seed"] = _seed(seed, number, "window")
        moved: Scene = getattr(scene, name)(**values)
        return moved
    change = _pixel_change(SHORT_NAMES.get(name, name), values, seed=_seed(seed, number, "noise"))
    if probability is None:
        return scene.apply(change)
    if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
        raise ArgumentError(f"p must be a number from 0 to 1, got {probability!r}")
    return scene.apply(lambda image: apply_with_probability(probability, change, image, seed=_seed(seed, number, "p")))


def _pixel_change(name: str, values: dict[str, object], *, seed: int) -> Callable[[DataNode], DataNode]:
    operator: Any = fn
    for part in name.split("."):
        operator = getattr(operator, part)
    if name.startswith("noise."):
        values["seed"] = seed
    return lambda image: operator(image, **values)


def drawn(value: object, seed: int) -> object:
    """Return an argument: a constant unchanged, or a node for a random number such as `{uniform: [-10, 10]}`."""
    if not isinstance(value, Mapping):
        return value
    if len(value) != 1 or next(iter(value)) not in DRAWS:
        known = "; ".join(f"{name}: {what}" for name, what in DRAWS.items())
        raise ArgumentError(f"{dict(value)!r} is not a random value; available: {known}")
    ((kind, given),) = value.items()
    numbers = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not all(isinstance(item, (int, float)) for item in numbers) or len(numbers) < 1:
        raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
    if kind == "coin":
        return fn.random.coin_flip(probability=float(numbers[0]), seed=seed)
    if kind == "choice":
        whole = all(isinstance(item, int) for item in numbers)
        return fn.random.uniform(
            values=[float(item) for item in numbers], dtype=types.INT32 if whole else types.FLOAT, seed=seed
        )
    if len(numbers) != 2:
        raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
    first, second = (float(item) for item in numbers)
    if kind == "uniform":
        return fn.random.uniform(range=[first, second], seed=seed)
    return fn.random.normal(mean=first, stddev=second, seed=seed)


def _seed(seed: int, step: int, what: str) -> int:
    """Return a seed for one random argument, independent of the arguments of other steps."""
    # Not `hash()`, which differs from process to process.
    return int.from_bytes(hashlib.sha256(f"{seed}/{step}/{what}".encode()).digest()[:6], "little")
