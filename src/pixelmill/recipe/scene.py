"""An image and its masks, transformed together, with a record of the geometry so that everything else can follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

from pixelmill import fn, types
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import cond
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe import direct
from pixelmill.recipe.box_crops import BoxCrops
from pixelmill.recipe.composition import Request, drawn_window, settled
from pixelmill.recipe.direct import Layers, Move, Number, Part, node_of
from pixelmill.recipe.joins import Joins, other_sample
from pixelmill.recipe.warps import Warps

__all__ = ["Move", "Part", "Scene"]

_LARGEST = 1e30  # of arguments, which are held in single precision
_MODES = {"default": 0, "stretch": 0, "not_larger": 1, "not_smaller": 2}


class Scene(Warps, Joins, BoxCrops):
    """An image and its masks in a graph. Every method returns a new scene.

    Geometric steps are methods: they treat the masks like the image, without interpolating their values, and record
    the move for boxes, polygons and points. Consecutive ones are composed and made with one interpolation as soon as
    the image is looked at. What comes from outside of the image gets the `fill_value` of the composed steps, 0 if none
    has one. Steps that only change colors go through `apply`.

    Args:
        image: The image, HWC.
        mask: Class numbers, HWC with one channel and the size of the image; None if there is no mask.
        masks: Further masks.
        label: The class of the image, for steps that depend on it.
        boxes: The boxes of the image, (n, 4): left, top, right, bottom as fractions; for steps that depend on them.
        others: Returns another sample of the dataset for a number that names it; None if there are none.
    """

    def __init__(
        self,
        image: DataNode,
        mask: DataNode | None = None,
        *,
        masks: Sequence[DataNode] = (),
        label: DataNode | None = None,
        boxes: DataNode | None = None,
        others: Callable[[int], Scene] | None = None,
    ) -> None:
        self._layers = Layers(image, (*([] if mask is None else [mask]), *masks))
        self._requests: tuple[Request, ...] = ()
        self._active: DataNode | None = None
        self._composes = True
        self._others = others
        self._known: dict[int | None, tuple[DataNode, DataNode]] = {}
        if boxes is not None:
            self._known[None] = direct.shape_of(image), boxes
        self._seed: int | None = None
        self.label = label

    @cached_property
    def _settled(self) -> Layers:
        return settled(self._layers, self._requests, composes=self._composes)

    @property
    def image(self) -> DataNode:
        """The image, HWC."""
        return self._settled.image

    @property
    def masks(self) -> tuple[DataNode, ...]:
        """All masks."""
        return self._settled.masks

    @property
    def mask(self) -> DataNode | None:
        """The first mask; None if there is none."""
        return self.masks[0] if self.masks else None

    @property
    def moves(self) -> tuple[Move, ...]:
        """The geometric steps of the sample itself so far."""
        return self.parts[0].moves

    @property
    def parts(self) -> tuple[Part, ...]:
        """The samples in the image, each with its geometric steps so far; the sample itself is the first."""
        now = self._settled
        return tuple(replace(part, moves=(*part.moves, *now.moves)) for part in now.parts or [Part(self._seed)])

    def other(self, seed: int) -> Self:
        """Return another sample of the dataset, as it was before all steps.

        Args:
            seed: Which one: samples are paired differently for each seed, and in each epoch.
        """
        if self._others is None:
            raise ArgumentError(
                "it joins samples of a dataset, and here images come one by one; "
                "use it in augment, preview, ImageLoader or a pipeline with a reader"
            )
        made = self._others(seed)
        if None in made._known:
            self._known[seed] = made._known[None]
        return made._changed(_seed=seed, _others=self._others, _known=self._known)  # type: ignore[return-value]

    def soft_label(self, labels: DataNode, *, num_classes: int) -> DataNode:
        """Return a weight for each class: how much of it is in the image, if samples were blended.

        Args:
            labels: The class of the sample itself, from the same reader as the image.
            num_classes: The number of classes.
        """
        weighted: DataNode | None = None
        for part in self.parts:
            if part.weight is None and part.seed is not None:
                continue
            own = labels if part.seed is None else other_sample(labels, part.seed)
            hot = fn.one_hot(own, num_classes=num_classes) * node_of(1.0 if part.weight is None else part.weight)
            weighted = hot if weighted is None else weighted + hot
        return fn.cast(node_of(0.0) if weighted is None else weighted, dtype=types.FLOAT)

    def where(self, condition: DataNode | None) -> Self:
        """Apply the following steps only to samples whose condition is not 0; None for all samples."""
        return self._changed(_active=condition)

    def one_by_one(self) -> Self:
        """Make each geometric step on its own, for comparisons."""
        return self._changed(_composes=False)

    def apply(self, change: Callable[..., DataNode], **arguments: object) -> Self:
        """Change the image with an operator that moves nothing, such as `fn.brightness`; masks are unchanged."""
        now = self._settled
        active = self._active
        if active is None:
            image = change(now.image, **arguments)
        else:
            image = cond(active, lambda: change(now.image, **arguments), lambda: now.image)
        return self._changed(_layers=replace(now, image=image), _requests=())

    def resize(self, *, size: Sequence[float], mode: str = "default", **arguments: Any) -> Self:
        """Resize to (height, width).

        Args:
            size: Height and width; 0 for one of them keeps the proportions.
            mode: `default` or `stretch`, or `not_larger` and `not_smaller`, which keep the proportions.
            arguments: Further arguments of `fn.resize`.
        """
        if mode not in _MODES:
            raise ArgumentError(f"resize: mode must be one of {', '.join(_MODES)}, got {mode!r}")
        alone = partial(direct.resized, size=size, mode=mode, arguments=arguments)
        return self._moved("resize", *_pair("resize", size), _MODES[mode], 1, alone=alone)

    def longest_side(self, *, size: Number, enlarge: bool = True) -> Self:
        """Resize so that the longer side has this many pixels.

        Args:
            size: The longer side in pixels.
            enlarge: Whether smaller images are enlarged.
        """
        return self._moved("resize", size, size, _MODES["not_larger"], int(enlarge))

    def smallest_side(self, *, size: Number, enlarge: bool = True) -> Self:
        """Resize so that the shorter side has this many pixels.

        Args:
            size: The shorter side in pixels.
            enlarge: Whether smaller images are enlarged.
        """
        return self._moved("resize", size, size, _MODES["not_smaller"], int(enlarge))

    def rescale(self, *, factor: Number) -> Self:
        """Resize by a factor.

        Args:
            factor: Height and width of the result as a multiple of those of the image.
        """
        return self._moved("rescale", factor)

    def letterbox(
        self,
        *,
        size: Sequence[float],
        y: Number = 0.5,
        x: Number = 0.5,
        enlarge: bool = True,
        fill_value: float | None = 114.0,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Resize to fit into (height, width) with the proportions kept, and pad the rest.

        Args:
            size: Height and width of the result.
            y: Where the image lies: 0 is the top, 1 the bottom.
            x: Where the image lies: 0 is the left, 1 the right.
            enlarge: Whether smaller images are enlarged.
            fill_value: The value of the padding.
            mask_fill_value: The value of the padding of masks.
        """
        numbers = (*_pair("letterbox", size), y, x, int(enlarge))
        return self._moved("letterbox", *numbers, fill=(fill_value, mask_fill_value))

    def pad(
        self,
        *,
        size: Sequence[float] = (0, 0),
        multiple_of: int = 1,
        border: int | Sequence[int] = 0,
        y: Number = 0.5,
        x: Number = 0.5,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Pad by a border, to at least (height, width), and to multiples of a number.

        Args:
            size: The smallest height and width of the result.
            multiple_of: Height and width become multiples of it.
            border: Pixels to add on every side, or above, left, below and right.
            y: Where the image lies: 0 is the top, 1 the bottom.
            x: Where the image lies: 0 is the left, 1 the right.
            fill_value: The value of the padding.
            mask_fill_value: The value of the padding of masks.
        """
        fill = fill_value, mask_fill_value
        four = [border] * 4 if isinstance(border, int) else list(border)
        if len(four) != 4 or not all(isinstance(side, int) and side >= 0 for side in four):
            raise ArgumentError(f"pad: border must be a number of pixels, or four of them, got {border!r}")
        now = self._moved("pad", *four, fill=fill) if any(four) else self
        if any(four) and not any(size) and multiple_of == 1:
            return now
        return now._moved("pad_to", *_pair("pad", size), multiple_of, multiple_of, y, x, fill=fill)

    def expand(
        self,
        *,
        ratio: Number,
        y: Number = 0.5,
        x: Number = 0.5,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Put the image on a larger canvas.

        Args:
            ratio: Height and width of the canvas as a multiple of those of the image, at least 1.
            y: Where the image lies: 0 is the top, 1 the bottom.
            x: Where the image lies: 0 is the left, 1 the right.
            fill_value: The value of the rest of the canvas.
            mask_fill_value: The same for masks.
        """
        return self._moved("expand", ratio, y, x, fill=(fill_value, mask_fill_value))

    def flip(self, *, horizontal: Number = 0, vertical: Number = 0) -> Self:
        """Swap left and right, top and bottom, or both.

        Args:
            horizontal: Whether left and right are swapped.
            vertical: Whether top and bottom are swapped.
        """
        for name, flag in (("horizontal", horizontal), ("vertical", vertical)):
            if not isinstance(flag, DataNode) and flag not in (0, 1):
                chance = f"; for a chance write {name}: {{coin: {flag:g}}}" if 0 < flag < 1 else ""
                raise ArgumentError(f"flip: {name} is 0 or 1, got {flag!r}{chance}")
        alone = partial(direct.flipped, horizontal=horizontal, vertical=vertical)
        return self._moved("flip", horizontal, vertical, alone=alone)

    def transpose(self) -> Self:
        """Swap rows and columns."""
        return self._moved("transpose")

    def rotate90(self, *, times: Number = 1) -> Self:
        """Rotate by quarters of a turn, counterclockwise.

        Args:
            times: How many quarters.
        """
        return self._moved("rotate90", times)

    def rotate(
        self,
        *,
        angle: Number,
        keep_size: bool = True,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Rotate about the center, counterclockwise.

        Args:
            angle: The angle in degrees.
            keep_size: Whether the result has the size of the image; without, it is large enough for all corners.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        alone = partial(
            direct.rotated,
            angle=angle,
            keep_size=keep_size,
            fill_value=fill_value or 0.0,
            mask_fill_value=mask_fill_value or 0.0,
        )
        return self._moved("rotate", angle, int(keep_size), fill=(fill_value, mask_fill_value), alone=alone)

    def crop(self, *, size: Sequence[int], y: Number = 0.5, x: Number = 0.5) -> Self:
        """Crop to (height, width). A side that is shorter is kept.

        Args:
            size: Height and width.
            y: Where the window lies: 0 is the top, 1 the bottom.
            x: Where the window lies: 0 is the left, 1 the right.
        """
        if len(size) != 2 or min(size) < 1:
            raise ArgumentError(f"crop: size must be a height and a width of at least 1, got {tuple(size)}")
        alone = partial(direct.cropped, size=size, y=y, x=x)
        return self._moved("crop", *size, y, x, alone=alone)

    def crop_part(self, *, height: Number = 1.0, width: Number = 1.0, y: Number = 0.5, x: Number = 0.5) -> Self:
        """Crop to a part of the image.

        Args:
            height: Height of the window as a fraction of that of the image.
            width: Width of the window as a fraction of that of the image.
            y: Where the window lies: 0 is the top, 1 the bottom.
            x: Where the window lies: 0 is the left, 1 the right.
        """
        return self._moved("crop_part", height, width, y, x)

    def random_resized_crop(
        self,
        *,
        size: Sequence[int],
        random_area: Sequence[float] = (0.08, 1.0),
        random_aspect_ratio: Sequence[float] = (0.75, 4 / 3),
        seed: int | None = None,
    ) -> Self:
        """Crop a random window and resize it to (height, width).

        Args:
            size: Height and width of the result.
            random_area: The smallest and the largest area of the window, as a fraction of the image.
            random_aspect_ratio: The smallest and the largest width of the window as a multiple of its height.
            seed: Seed of the draws.
        """
        alone = partial(direct.cropped_at_random, area=random_area, aspect_ratio=random_aspect_ratio, seed=seed)
        window = drawn_window(random_area, random_aspect_ratio, seed)
        return self._requested(Request("window", window=window, active=self._active, direct=alone)).resize(size=size)

    def _moved(
        self,
        move: str,
        *numbers: Number | Sequence[float],
        fill: tuple[float | None, float | None] = (None, None),
        alone: Callable[[Layers], Layers] | None = None,
    ) -> Self:
        for number in numbers:
            if not isinstance(number, DataNode):
                _check_numbers(move, number)
        return self._requested(Request(move, numbers, fill[0], fill[1], self._active, alone))

    def _requested(self, request: Request) -> Self:
        return self._changed(_requests=(*self._requests, request))

    def _changed(self, **fields: object) -> Self:
        made = object.__new__(type(self))
        made.__dict__.update({name: value for name, value in vars(self).items() if name != "_settled"}, **fields)
        if "_settled" in vars(self) and fields.keys() <= {"_active"}:
            made.__dict__["_settled"] = self._settled
        return made


def _check_numbers(name: str, value: object) -> None:
    numbers = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if not all(isinstance(number, (int, float)) and abs(number) <= _LARGEST for number in numbers):
        raise ArgumentError(f"{name}: expected numbers of at most {_LARGEST:g}, got {value!r}")


def _pair(name: str, size: Sequence[float]) -> tuple[float, float]:
    if isinstance(size, str) or not isinstance(size, Sequence) or len(size) != 2:
        raise ArgumentError(f"{name}: size must be a height and a width, got {size!r}")
    return size[0], size[1]
