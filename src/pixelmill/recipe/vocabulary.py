"""The names of the steps of a recipe, and their structure: which step has which steps in it, and where it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pixelmill.errors import ArgumentError, suggestion

# Geometric steps: methods of the scene.
GEOMETRY = (
    *("resize", "rescale", "longest_side", "smallest_side", "letterbox", "pad", "expand", "zoom"),
    *("crop", "crop_part", "random_resized_crop", "iou_crop", "box_safe_crop"),
    *("flip", "transpose", "rotate90", "rotate", "affine", "shift_scale_rotate", "shear", "perspective"),
    *("elastic", "grid_distortion", "optical_distortion", "thin_plate"),
)
# Those of them that depend on the boxes of the image, and those that draw on their own.
BOXED = ("iou_crop", "box_safe_crop")
DRAWING = ("random_resized_crop", *BOXED, "perspective", "elastic", "grid_distortion", "thin_plate")
# Steps that join the image with other samples.
JOINING = ("mosaic", "mixup", "cutmix", "copy_paste")
# All other steps change pixel values only; masks and boxes are unchanged.
PIXELS = (
    *("brightness", "contrast", "brightness_contrast", "hue", "saturation", "hsv", "color_twist"),
    *("gaussian_blur", "laplacian", "median_blur", "experimental.equalize", "clahe", "jpeg_compression_distortion"),
    *("noise.gaussian", "noise.salt_and_pepper", "noise.shot", "erase", "grid_mask"),
    *("gamma", "posterize", "solarize", "invert", "tone_curve"),
    *("color_jitter", "to_gray", "sepia", "channel_shuffle", "channel_dropout", "rgb_shift", "pca_lighting"),
    *("noise.speckle", "noise.iso"),
    *("box_blur", "motion_blur", "defocus", "zoom_blur", "glass_blur", "sharpen", "emboss", "downscale"),
    *("superpixels", "webp_compression_distortion"),
    *("coarse_dropout", "random_erasing", "rain", "snow", "fog", "sun_flare", "shadow", "spatter"),
)
SHORT_NAMES = {"equalize": "experimental.equalize", "median_blur": "experimental.median_blur"}
# Steps that hold other steps, and their arguments beside `steps` and `p`.
CONTROL: dict[str, tuple[str, ...]] = {
    "one_of": ("weights",),
    "some_of": ("count", "weights"),
    "sequential": (),
    "per_class": ("classes", "otherwise"),
}


@dataclass(frozen=True)
class StepEntry:
    """One step of a recipe.

    Attributes:
        path: Where it is, for messages: `steps[3].one_of[1]`.
        label: The same for seeds, by numbers from 1: `4.2`.
        name: Its name.
        arguments: Its arguments without `p`.
        probability: The probability that a sample gets it.
    """

    path: str
    label: str
    name: str
    arguments: Mapping[str, object]
    probability: float | None = None

    def error(self, message: object) -> ArgumentError:
        """Return an error about it."""
        return ArgumentError(f"{self.path} ({self.name}): {message}")

    def members(self) -> list[StepEntry]:
        """Return the steps that it holds, for all but `per_class`."""
        return entries(self.arguments["steps"], self.path + f".{self.name}", self.label)

    def classes(self) -> list[tuple[int | None, list[StepEntry]]]:
        """Return the steps of `per_class` for each class, and under None those for all other classes."""
        given = self.arguments.get("classes")
        if not isinstance(given, Mapping) or not given:
            raise self.error("classes must map class numbers to lists of steps")
        found: list[tuple[int | None, list[StepEntry]]] = []
        for place, (key, steps) in enumerate(given.items(), start=1):
            try:
                number = int(key)
            except (TypeError, ValueError):
                raise self.error(f"classes must be numbers, got {key!r}") from None
            found.append((number, entries(steps, f"{self.path}.classes[{number}]", f"{self.label}.{place}")))
        if "otherwise" in self.arguments:
            rest = entries(self.arguments["otherwise"], f"{self.path}.otherwise", f"{self.label}.0")
            found.append((None, rest))
        return found


def entries(steps: object, path: str = "steps", label: str = "") -> list[StepEntry]:
    """Read a list of steps and everything in it. Raises ArgumentError that names the invalid step."""
    if not isinstance(steps, Sequence) or isinstance(steps, str) or not steps:
        raise ArgumentError(f"{path}: expected a list of steps, got {steps!r}")
    found = []
    for place, step in enumerate(steps):
        number = str(place + 1)
        found.append(_entry(step, f"{path}[{place}]", f"{label}.{number}" if label else number))
    return found


def walk(steps: Sequence[StepEntry]) -> Iterator[StepEntry]:
    """Yield all steps, those that hold others before those in them."""
    for step in steps:
        yield step
        if step.name == "per_class":
            for _, inner in step.classes():
                yield from walk(inner)
        elif step.name in CONTROL:
            yield from walk(step.members())


def step_names() -> list[str]:
    """Return the names that recipes use, sorted."""
    return sorted({*GEOMETRY, *JOINING, *PIXELS, *SHORT_NAMES, *CONTROL} - set(SHORT_NAMES.values()))


def _entry(step: object, path: str, label: str) -> StepEntry:
    if isinstance(step, str):
        step = {step: {}}
    if not isinstance(step, Mapping) or len(step) != 1:
        raise ArgumentError(f"{path}: expected a name with arguments, such as `flip: {{horizontal: 1}}`")
    ((name, arguments),) = step.items()
    if not any(name in known for known in (GEOMETRY, JOINING, PIXELS, SHORT_NAMES, CONTROL)):
        # All names, some sixty of them, only if none is meant for certain.
        hint = suggestion(str(name), step_names()) or f"; available steps: {', '.join(step_names())}"
        raise ArgumentError(f"{path}: there is no step {name!r}{hint}")
    if name in CONTROL and isinstance(arguments, Sequence) and not isinstance(arguments, str):
        arguments = {"steps": arguments}
    arguments = {} if arguments is None else arguments
    if not isinstance(arguments, Mapping):
        raise ArgumentError(f"{path}: the arguments of {name!r} must have names, got {arguments!r}")
    rest = dict(arguments)
    probability = rest.pop("p", None)
    entry = StepEntry(path, label, str(name), rest, probability)
    if probability is not None and (not isinstance(probability, (int, float)) or not 0 <= probability <= 1):
        raise entry.error(f"p must be a number from 0 to 1, got {probability!r}")
    if name in CONTROL:
        _check_control(entry)
    return entry


def _check_control(entry: StepEntry) -> None:
    allowed = {*CONTROL[entry.name], *([] if entry.name == "per_class" else ["steps"])}
    unknown = sorted(str(key) for key in entry.arguments.keys() - allowed)
    if unknown:
        raise entry.error(f"unknown argument {unknown[0]!r}; it takes p, {', '.join(sorted(allowed))}")
    if entry.name == "per_class":
        list(walk([entry]))
        return
    if "steps" not in entry.arguments:
        raise entry.error("it needs a list of steps")
    list(walk(entry.members()))
