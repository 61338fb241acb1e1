"""Where the names of boxes stand, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pixelmill.formats.sample import Boxes
from pixelmill.inspect.overlays import Rectangle, Tag, place_tags

SIZE = (100, 100)
WIDTH, HEIGHT = 12, 5
# A box over the columns 10 to 39 and the rows 20 to 59, and the places for its name in the order of preference.
BOX = (0.1, 0.2, 0.4, 0.6)
PLACES: list[tuple[Rectangle, str, bool]] = [
    ((10, 15, 21, 19), "above", False),
    ((10, 20, 21, 24), "top", False),
    ((10, 60, 21, 64), "below", False),
    ((10, 55, 21, 59), "bottom", False),
    ((28, 15, 39, 19), "above", True),
    ((28, 20, 39, 24), "top", True),
    ((28, 60, 39, 64), "below", True),
    ((28, 55, 39, 59), "bottom", True),
]


def boxes_of(*ltrb: tuple[float, ...]) -> Boxes:
    return Boxes(np.array(ltrb, np.float32), np.arange(len(ltrb)))


def test_names_of_equal_boxes_take_all_places_in_turn_and_the_first_again() -> None:
    count = len(PLACES) + 1
    tags = place_tags(boxes_of(*[BOX] * count), [WIDTH] * count, HEIGHT, SIZE)
    expected = [Tag(number, *place) for number, place in enumerate([*PLACES, PLACES[0]])]
    assert tags == expected


@pytest.mark.parametrize(
    ("box", "side", "at_end"),
    [
        ((0.1, 0.05, 0.4, 0.6), "above", False),  # five rows are just enough
        ((0.1, 0.04, 0.4, 0.6), "top", False),
        ((0.88, 0.2, 1.0, 0.6), "above", False),  # twelve columns are just enough
        ((0.89, 0.2, 1.0, 0.6), "above", True),
    ],
)
def test_a_name_stays_on_the_image(box: tuple[float, ...], side: str, at_end: bool) -> None:
    (tag,) = place_tags(boxes_of(box), [WIDTH], HEIGHT, SIZE)
    assert (tag.side, tag.at_end) == (side, at_end)


def test_a_name_that_is_larger_than_the_image_is_omitted() -> None:
    assert place_tags(boxes_of(BOX), [SIZE[0] + 1], HEIGHT, SIZE) == []
    assert len(place_tags(boxes_of((0, 0, 1, 1)), [SIZE[0]], HEIGHT, SIZE)) == 1
