"""Contact sheets show the images they were given, whole and at their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from pixelmill.errors import ArgumentError
from pixelmill.inspect import contact_sheet

RED, GREEN = (200, 30, 20), (20, 180, 40)


def plain(colour: tuple[int, ...], *, height: int = 20, width: int = 20) -> npt.NDArray[np.uint8]:
    return np.full((height, width, len(colour)), colour, np.uint8)


def cells_of(sheet: Any, colour: tuple[int, int, int]) -> tuple[int, int, int, int]:
    """Return first row, last row, first column and last column of a color."""
    rows, columns = np.nonzero((np.asarray(sheet) == colour).all(axis=2))
    return int(rows.min()), int(rows.max()), int(columns.min()), int(columns.max())


def test_images_stand_side_by_side_with_even_margins() -> None:
    sheet = contact_sheet([plain(RED), plain(GREEN)], columns=2, cell=(64, 64))
    top, bottom, left, right = cells_of(sheet, RED)
    assert (bottom - top + 1, right - left + 1) == (64, 64)
    assert top == left == sheet.height - 1 - bottom
    _, _, second_left, second_right = cells_of(sheet, GREEN)
    assert 0 < second_left - right - 1 < left
    assert sheet.width - 1 - second_right == left


def test_rows_fill_up_and_groups_stand_apart() -> None:
    images = [plain((i * 20, 0, 0)) for i in range(8)]
    tops = [cells_of(contact_sheet(images, columns=2, cell=(32, 32), group=2), (i * 20, 0, 0))[0] for i in (0, 2, 4, 6)]
    within, between, again = np.diff(tops)
    assert within == again < between


def test_image_keeps_its_shape() -> None:
    top, bottom, left, right = cells_of(contact_sheet([plain(RED, height=30, width=60)], cell=(100, 100)), RED)
    assert (bottom - top + 1, right - left + 1) == (50, 100)


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_normalization_is_undone(layout: str) -> None:
    mean, std = [120.0, 110.0, 100.0], [50.0, 60.0, 70.0]
    image = ((plain(RED).astype(np.float32) - mean) / std).astype(np.float32)
    if layout == "CHW":
        image = image.transpose(2, 0, 1)
    cells_of(contact_sheet([image], mean=mean, std=std), RED)  # fails if the color is nowhere


@pytest.mark.parametrize("shape", [(20, 20), (20, 20, 1)])
def test_gray_images_are_shown_gray(shape: tuple[int, ...]) -> None:
    cells_of(contact_sheet([np.full(shape, 77, np.uint8)]), (77, 77, 77))


def test_transparent_images_show_the_cell() -> None:
    transparent, empty = contact_sheet([plain((*RED, 0))]), contact_sheet([plain((0, 0, 0, 0))])
    assert transparent.tobytes() == empty.tobytes()


def test_labels_are_written_below_and_cut_to_the_cell() -> None:
    bare = contact_sheet([plain(RED), plain(RED)], columns=2)
    labeled = contact_sheet([plain(RED), plain(RED)], columns=2, labels=["cat", "a very long caption " * 5])
    assert labeled.height > bare.height
    below = np.asarray(labeled)[cells_of(labeled, RED)[1] + 1 :]
    ink = np.nonzero((below < 150).any(axis=(0, 2)))[0]
    assert cells_of(labeled, RED)[2] <= ink.min() <= ink.max() <= cells_of(labeled, RED)[3]


def test_wrong_input_is_named() -> None:
    with pytest.raises(ArgumentError, match="empty"):
        contact_sheet([])
    with pytest.raises(ArgumentError, match="labels"):
        contact_sheet([plain(RED)], labels=["a", "b"])
    with pytest.raises(ArgumentError, match="mean and std"):
        contact_sheet([np.zeros((4, 4, 3), np.float32)])
    with pytest.raises(ArgumentError, match="int64"):
        contact_sheet([np.zeros((4, 4, 3), np.int64)])
    with pytest.raises(ArgumentError, match=r"\(4, 4, 2\)"):
        contact_sheet([np.zeros((4, 4, 2), np.uint8)])
    with pytest.raises(ArgumentError, match="columns"):
        contact_sheet([plain(RED)], columns=0)
