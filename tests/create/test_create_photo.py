"""The photo-like images: reproducible, of natural statistics, of the file sizes the benchmarks assume."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pixelmill.create import create_photo_folder, photo
from pixelmill.errors import ArgumentError


def test_pixels_depend_on_the_arguments_alone() -> None:
    alone = photo(3, 8, height=60, width=90)
    photo(3, 7, height=60, width=90)
    assert alone.shape == (60, 90, 3)
    assert alone.dtype == np.uint8
    np.testing.assert_array_equal(alone, photo(3, 8, height=60, width=90))
    assert (alone != photo(3, 9, height=60, width=90)).any()
    assert (alone != photo(4, 8, height=60, width=90)).any()


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 50), (50, 1), (2, 3), (61, 127), (400, 470)])
def test_every_size_works(height: int, width: int) -> None:
    assert photo(0, 0, height=height, width=width).shape == (height, width, 3)


def test_spectrum_falls_as_in_photographs() -> None:
    slopes = []
    for index in range(12):
        gray = photo(1, index, height=256, width=256).mean(axis=2)
        window = np.hanning(256)[:, None] * np.hanning(256)[None, :]
        power = np.abs(np.fft.fft2((gray - gray.mean()) * window)) ** 2
        frequency = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.fftfreq(256)[None, :])
        bands = np.geomspace(0.015, 0.25, 9)
        middle = np.sqrt(bands[1:] * bands[:-1])
        mean = [power[(frequency >= a) & (frequency < b)].mean() for a, b in pairwise(bands)]
        slopes.append(np.polyfit(np.log(middle), np.log(mean), 1)[0])
    assert -3.2 < np.mean(slopes) < -1.6  # photographs: about -2


def test_colors_vary_less_than_brightness() -> None:
    pixels = np.concatenate([photo(1, i, height=100, width=100).reshape(-1, 3) for i in range(12)]).astype(float)
    correlation = np.corrcoef(pixels.T)
    assert correlation[~np.eye(3, dtype=bool)].min() > 0.6
    assert 60 < pixels.mean() < 190
    assert pixels.std() > 35


@pytest.mark.parametrize("arguments", [{"seed": -1}, {"index": -1}, {"height": 0}, {"width": 0}, {"seed": 2**64}])
def test_wrong_arguments_are_named(arguments: dict[str, int]) -> None:
    (name,) = arguments
    complete = {"seed": 0, "index": 0, "height": 4, "width": 4} | arguments
    with pytest.raises(ArgumentError, match=name):
        photo(complete["seed"], complete["index"], height=complete["height"], width=complete["width"])


def test_folder_has_classes_and_usual_file_sizes(tmp_path: Path) -> None:
    files = create_photo_folder(tmp_path / "photos", 40, classes=4)
    assert sorted(path.name for path in (tmp_path / "photos").iterdir()) == [f"class_{i:03d}" for i in range(4)]
    assert sorted((tmp_path / "photos").rglob("*.jpg")) == sorted(files)
    assert [path.parent.name for path in files[:5]] == ["class_000", "class_001", "class_002", "class_003", "class_000"]
    pixels = 0
    for path in files:
        with Image.open(path) as image:
            assert image.mode == "RGB"
            pixels += image.width * image.height
    assert 0.5 < sum(path.stat().st_size for path in files) / pixels < 0.65
    assert pixels / len(files) == pytest.approx(400 * 470, rel=0.2)


def test_file_does_not_depend_on_count_or_workers(tmp_path: Path) -> None:
    size = (50, 60)
    few = create_photo_folder(tmp_path / "few", 3, seed=5, size_mean=size, workers=1)
    seen: list[Path] = []
    many = create_photo_folder(tmp_path / "many", 9, seed=5, size_mean=size, workers=4, on_image=seen.append)
    assert [a.read_bytes() for a in few] == [b.read_bytes() for b in many[:3]]
    assert sorted(seen) == sorted(many)


def test_subsampling_and_size_follow_the_options(tmp_path: Path) -> None:
    for share, factor in ((1.0, 1), (0.0, 2)):
        path = tmp_path / str(share)
        for file in create_photo_folder(path, 3, size_mean=(33, 20), spread=0, full_colour=share):
            with Image.open(file) as image:
                assert image.size == (20, 33)
                assert image.layer[0][1:3] == (factor, factor)  # type: ignore[attr-defined]


def test_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(ArgumentError, match="not an empty folder"):
        create_photo_folder(tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_wrong_folder_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="count"):
        create_photo_folder(tmp_path, -1)
    with pytest.raises(ArgumentError, match="height"):
        create_photo_folder(tmp_path, 1, size_mean=(0, 5))
    with pytest.raises(ArgumentError, match="spread"):
        create_photo_folder(tmp_path, 1, spread=2)
    with pytest.raises(ArgumentError, match="classes"):
        create_photo_folder(tmp_path, 1, classes=0)
    with pytest.raises(ArgumentError, match="quality"):
        create_photo_folder(tmp_path, 1, quality_range=(90, 80))
