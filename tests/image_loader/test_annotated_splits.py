"""Detection from YOLO and COCO folders: a split that annotations name, in the loader and in the reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dataset_cases import encoded

import pixelmill
from pixelmill import ArgumentError, ImageLoader


@pytest.fixture
def yolo(tmp_path: Path) -> Path:
    root = tmp_path / "yolo"
    for split, label in (("train", 0), ("val", 1)):
        for number in range(4):
            for folder, data in (("images", encoded("jpeg", seed=number, size=(64, 80))), ("labels", b"")):
                path = root / folder / split / f"{number}.{'jpg' if data else 'txt'}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data or f"{label} 0.5 0.5 0.5 0.25\n".encode())
    (root / "data.yaml").write_text("train: images/train\nval: images/val\nnames: [cat, dog]\n")
    return root


@pytest.mark.parametrize("format", ["yolo", "coco", "voc"])
def test_a_split_of_annotations_is_loaded(format: str, yolo: Path, tmp_path: Path) -> None:
    root = yolo
    if format != "yolo":
        root = tmp_path / format
        pixelmill.convert(yolo, root, to=format)
    dataset = pixelmill.open_dataset(root, split="validation")
    assert (len(dataset), tuple(dataset.classes)) == (4, ("cat", "dog"))
    loader = ImageLoader(str(root), split="val", size=32, batch_size=4, train=False, framework="numpy")
    ((images, targets),) = list(loader)
    assert images.shape[0] == 4
    for target in targets:
        assert np.allclose(target["boxes"], [[8, 12, 24, 20]], atol=1e-4) and target["labels"].tolist() == [1]
    with pytest.raises(ArgumentError, match="has no split 'test'; it has train, val"):
        pixelmill.open_dataset(root, split="test")
