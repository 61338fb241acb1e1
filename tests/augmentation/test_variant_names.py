"""The files of variants: images of one name and of different kinds stay apart."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from pixelmill import augment
from pixelmill.formats.registry import open_dataset


def test_images_that_become_the_same_kind_of_file(tmp_path: Path) -> None:
    folder = tmp_path / "photos/cat"
    folder.mkdir(parents=True)
    for number, ending in enumerate(("bmp", "png", "jpg", "jpeg", "webp")):
        Image.new("RGB", (8, 6), (number, 0, 0)).save(folder / f"a.{ending}")
    augment(tmp_path / "photos", tmp_path / "out", recipe="gentle")
    names = sorted(path.name for path in (tmp_path / "out").rglob("*.*g"))
    assert names == ["a.jpeg", "a.jpg", "a.png", *(name for name in names if name.startswith("sample-"))]
    assert len(names) == 5
    assert [sample.class_name for sample in open_dataset(tmp_path / "out")] == ["cat"] * 5
