"""`total`: the number of images, or their size, follows from the size of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from pixelmill.create import create_images
from pixelmill.create.images import images_job
from pixelmill.errors import ArgumentError
from pixelmill.options.create import CreateOptions


def options(count: int | None = None, **changes: object) -> CreateOptions:
    return CreateOptions("out", "a", 40, 30, count, "jpg", content="photo", **changes)


def test_two_of_the_three_are_enough() -> None:
    assert images_job(options()).count == 1
    assert images_job(options(total=100_000, bytes=4000)).count == 25
    assert images_job(options(total=3999, bytes=4000)).count == 1
    assert images_job(options(10, total=100_009)).options.bytes == 10_000
    with pytest.raises(ArgumentError, match="set two of the three"):
        images_job(options(10, total=100_000, bytes=4000))
    with pytest.raises(ArgumentError, match="a total of 9 bytes is too little for 10 images"):
        images_job(options(10, total=9))


def test_the_number_follows_from_the_first_images(tmp_path: Path) -> None:
    count = images_job(options(total=100_000)).count
    assert count == images_job(options(total=100_000)).count, "all hosts must agree"
    report = create_images(tmp_path, "a", 40, 30, None, "jpg", content="photo", total=100_000, workers=1)
    assert report.samples == count and 90_000 < report.bytes < 110_000
