"""Overlays of images: boxes and masks, in one color per class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from pixelmill.formats.sample import Boxes
from pixelmill.inspect.fonts import drawable, font_for
from pixelmill.types import Array

Color = tuple[int, int, int]
Pixels = npt.NDArray[np.uint8]
Rectangle = tuple[int, int, int, int]  # first and last column and row: left, top, right, bottom

# Far from each other and from gray, black and white (each is the farthest from those before it in OKLab).
_COLORS: tuple[Color, ...] = (
    *((223, 32, 46), (19, 62, 255), (213, 20, 248), (101, 254, 58), (34, 119, 2), (113, 76, 166), (253, 213, 6)),
    *((240, 112, 190), (42, 249, 209), (138, 86, 25), (5, 147, 230), (254, 134, 15), (126, 14, 243), (167, 5, 147)),
    *((137, 190, 71), (191, 155, 252), (1, 141, 135), (165, 77, 108), (96, 212, 254), (251, 151, 151), (181, 148, 50)),
    *((115, 112, 250), (251, 2, 184), (207, 234, 161)),
)
_OPAQUE, _SHINE_THROUGH = 255, 110
_MANY_CLASSES = 65535


def color_of(number: int) -> Color:
    """Return the color of a class: 24 different ones, then the same darker, then lighter."""
    base = _COLORS[number % len(_COLORS)]
    turn = number // len(_COLORS) % 3
    if turn == 1:
        return base[0] * 6 // 10, base[1] * 6 // 10, base[2] * 6 // 10
    return base if turn == 0 else (128 + base[0] // 2, 128 + base[1] // 2, 128 + base[2] // 2)


def ink_on(color: Color) -> Color:
    """Return black or white, whichever is easier to read on a color."""
    linear = [(value / 255) ** 2.2 for value in color]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return (0, 0, 0) if light > 0.18 else (255, 255, 255)


def mask_overlay(mask: Array) -> Pixels:
    """Return a mask as RGBA: transparent where it is 0, else the color of the class, with a solid border."""
    numbers, places = _numbered_places(mask)
    colors = np.array([(*color_of(int(number)), _SHINE_THROUGH * (number != 0)) for number in numbers], np.uint8)
    overlay: Pixels = colors[places]
    padded = np.pad(mask, 1, mode="edge")
    middle = padded[1:-1, 1:-1]
    border = np.zeros(mask.shape, bool)
    for other in (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]):
        border |= middle != other
    overlay[border & (mask != 0), 3] = _OPAQUE
    return overlay


def _numbered_places(mask: Array) -> tuple[Array, Array]:
    """Return the distinct numbers of a mask, and for each pixel the place of its number among them."""
    if mask.size and mask.min() >= 0 and mask.max() <= _MANY_CLASSES:  # a table is quicker than sorting
        numbers = np.flatnonzero(np.bincount(mask.reshape(-1)))
        table = np.zeros(int(numbers[-1]) + 1, np.intp)
        table[numbers] = np.arange(len(numbers))
        return numbers, table[mask]
    numbers, places = np.unique(mask, return_inverse=True)
    return numbers, places.reshape(mask.shape)


def corners(box: Sequence[float], size: tuple[int, int]) -> Rectangle:
    """Return the first and last column and row of a box (left, top, right, bottom) in an image of (width, height)."""
    left, top, right, bottom = (min(max(float(side), 0.0), 1.0) for side in box)
    width, height = size
    first_x, first_y = min(round(left * width), width - 1), min(round(top * height), height - 1)
    return first_x, first_y, max(round(right * width) - 1, first_x), max(round(bottom * height) - 1, first_y)


@dataclass(frozen=True)
class Tag:
    """The position of the name of a box.

    Attributes:
        box: The number of the box.
        place: The rectangle of the tag.
        side: `above` the box, `below` it, or inside at its `top` or `bottom`.
        at_end: Whether it ends where the box ends, instead of beginning where the box begins.
    """

    box: int
    place: Rectangle
    side: str
    at_end: bool


def by_area(boxes: Boxes) -> list[int]:
    """Return the numbers of boxes, large ones first, so that small ones are drawn on top."""
    order: list[int] = np.argsort(-np.prod(boxes.ltrb[:, 2:] - boxes.ltrb[:, :2], axis=1), kind="stable").tolist()
    return order


def place_tags(boxes: Boxes, widths: Sequence[float], height: int, within: tuple[int, int]) -> list[Tag]:
    """Find places for the names of boxes, as far as possible where no other name is.

    Args:
        boxes: The boxes.
        widths: How wide the tag of each is.
        height: How high tags are.
        within: Width and height of the image; larger tags are omitted.
    """
    tags: list[Tag] = []
    for number in by_area(boxes):
        options = list(
            _options(number, corners(boxes.ltrb[number].tolist(), within), int(widths[number]), height, within)
        )
        free = (tag for tag in options if not any(_overlap(tag.place, other.place) for other in tags))
        found = next(free, options[0] if options else None)
        if found is not None:
            tags.append(found)
    return tags


def draw_boxes(image: Image.Image, boxes: Boxes, names: Sequence[str] | None, *, font_size: int) -> None:
    """Draw boxes and their class names into an image."""
    draw = ImageDraw.Draw(image)
    thick = max(2, min(image.size) // 100)
    turned = boxes.corners() * image.size
    for number in by_area(boxes):
        if boxes.oriented:
            draw.polygon([(x, y) for x, y in turned[number].tolist()], outline=box_color(boxes, number), width=thick)
            continue
        place = corners(boxes.ltrb[number].tolist(), image.size)
        draw.rectangle(place, outline=box_color(boxes, number), width=thick)
    if names is None:
        return
    names = [drawable(name) for name in names]
    widths = [draw.textlength(name, font_for(name, font_size)) + 6 for name in names]
    for tag in place_tags(boxes, widths, font_size + 3, image.size):
        name, color = names[tag.box], box_color(boxes, tag.box)
        draw.rectangle(tag.place, fill=color)
        middle = tag.place[0] + 3, (tag.place[1] + tag.place[3] + 1) / 2
        draw.text(middle, name, fill=ink_on(color), font=font_for(name, font_size), anchor="lm")


def box_color(boxes: Boxes, number: int) -> tuple[int, int, int]:
    """Return the color of a box; boxes without classes have that of class 0."""
    return color_of(0 if boxes.labels is None else int(boxes.labels[number]))


def _options(number: int, box: Rectangle, width: int, height: int, within: tuple[int, int]) -> Iterator[Tag]:
    tops = {"above": box[1] - height, "top": box[1], "below": box[3] + 1, "bottom": box[3] + 1 - height}
    lefts = {False: box[0], True: box[2] + 1 - width}
    for at_end, left in lefts.items():
        for side, top in tops.items():
            if 0 <= top <= within[1] - height and 0 <= left <= within[0] - width:
                yield Tag(number, (left, top, left + width - 1, top + height - 1), side, at_end)


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]
