"""Whole presets from JPEG files to batches of CHW floats beside Albumentations in a DataLoader, on two processors.

    python benchmarks/augmentation_presets.py [--images 320] [--rounds 5] [--json FILE]

pixelmill runs the preset of a recipe in a pipeline with 2 threads. Albumentations runs transforms of the same kind,
sizes and probabilities in a torch DataLoader with 2 worker processes that persist, after cv2.imread, with OpenCV's own
threads off, and converts to floats in the worker. Both read the same files and deliver batches of 16. A round measures
one epoch of each in turn by wall-clock time; the ratio is the median of the ratios of the rounds, its spread the
distance of their quartiles divided by it.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from augmentation_cases import A
from augmentation_transforms import IMAGES
from machine import describe
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from pixelmill import fn, pipeline_def, types
from pixelmill.recipe import load_recipe

BATCH = 16


def yolo_of_albumentations() -> Any:
    """Return the transforms of the preset yolo."""
    return A.Compose(
        [
            A.Mosaic(
                grid_yx=(2, 2),
                target_size=(1280, 1280),
                cell_shape=(640, 640),
                center_range=(0.25, 0.75),
                fit_mode="contain",
                fill=114,
                metadata_key="others",
                p=1,
            ),
            A.Affine(scale=(0.5, 1.5), translate_percent=(-0.05, 0.05), fill=114, p=1),
            A.CenterCrop(640, 640),
            A.HorizontalFlip(p=0.5),
            A.HueSaturationValue(p=1),
        ]
    )


def segmentation_of_albumentations() -> Any:
    """Return the transforms of the preset nnunet."""
    return A.Compose(
        [
            A.Resize(512, 512),
            A.Affine(rotate=(-180, 180), scale=(0.7, 1.4), p=0.4),
            A.ElasticTransform(p=0.2),
            A.HorizontalFlip(p=0.5),
            A.VerticalFlip(p=0.5),
            A.GaussNoise(std_range=(0, 0.1), p=0.1),
            A.GaussianBlur(sigma_limit=(0.5, 1.0), p=0.2),
            A.RandomBrightnessContrast(contrast_limit=0, p=0.15),
            A.RandomBrightnessContrast(brightness_limit=0, p=0.15),
            A.Downscale((0.5, 0.99), p=0.25),
            A.RandomGamma((70, 150), p=0.3),
        ]
    )


class Files(TorchDataset[Any]):
    """Images and masks of files, transformed by Albumentations."""

    def __init__(self, files: list[str], masks: list[str], make: Callable[[], Any]) -> None:
        self._files, self._masks = files, masks
        self._transform = make()

    def __len__(self) -> int:
        return len(self._files)

    def _image(self, number: int) -> Any:
        image = cv2.imread(self._files[number])
        assert image is not None
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

    def __getitem__(self, number: int) -> Any:
        cv2.setNumThreads(0)
        given: dict[str, Any] = {"image": self._image(number)}
        if "others" in self._transform.available_keys:  # a mosaic takes three more images
            given["others"] = [{"image": self._image(other)} for other in random.sample(range(len(self)), 3)]
        if self._masks:
            given["mask"] = cv2.imread(self._masks[number], cv2.IMREAD_GRAYSCALE)
        made = self._transform(**given)
        pixels = torch.from_numpy(np.ascontiguousarray(made["image"].transpose(2, 0, 1))).float() / 255
        return (pixels, torch.from_numpy(made["mask"])) if self._masks else pixels


def theirs(files: list[str], masks: list[str], make: Callable[[], Any]) -> Callable[[], None]:
    """Return a function that runs one epoch of a DataLoader."""
    loader = DataLoader(Files(files, masks, make), batch_size=BATCH, num_workers=2, persistent_workers=True)

    def epoch() -> None:
        for _ in loader:
            pass

    return epoch


@contextmanager
def ours(name: str, files: list[str], masks: list[str]) -> Iterator[Callable[[], None]]:
    """Yield a function that runs one epoch of a pipeline."""

    @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=1)
    def program() -> Any:
        encoded, _ = fn.readers.file(files=files, name="r")
        mask = fn.decoders.image(fn.readers.file(files=masks)[0], output_type=types.GRAY) if masks else None
        scene = load_recipe(name).apply(fn.decoders.image(encoded), mask)
        pixels = fn.crop_mirror_normalize(scene.image, std=[255.0], output_layout="CHW")
        return (pixels, scene.mask) if masks else pixels

    pipeline = program()

    def epoch() -> None:
        for _ in range(len(files) // BATCH):
            pipeline.run()

    yield epoch
    pipeline.close()


def rate(epoch: Callable[[], None], images: int) -> float:
    """Return the images per second of an epoch."""
    start = time.perf_counter()
    epoch()
    return images / (time.perf_counter() - start)


def measure(name: str, make: Callable[[], Any], *, has_masks: bool, images: int, rounds: int) -> dict[str, Any]:
    """Measure a preset."""
    with tempfile.TemporaryDirectory() as folder:
        files, masks = write_images(Path(folder), images)
        masks = masks if has_masks else []
        other = theirs(files, masks, make)
        with ours(name, files, masks) as own:
            own()
            other()  # starts the workers
            rates = [(rate(own, images), rate(other, images)) for _ in range(rounds)]
    low, ratio, high = statistics.quantiles([fast / slow for fast, slow in rates], n=4)
    row = {
        "preset": name,
        "pixelmill": round(statistics.median(fast for fast, _ in rates), 1),
        "albumentations": round(statistics.median(slow for _, slow in rates), 1),
        "ratio": round(ratio, 2),
        "spread": round((high - low) / ratio, 3),
    }
    print(row, flush=True)
    return row


def write_images(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """Write JPEG files of 640 x 480 with masks."""
    big = cv2.resize(IMAGES[0], (640, 480))
    files, labels = [], []
    for number in range(count):
        files.append(str(folder / f"{number}.jpg"))
        labels.append(str(folder / f"{number}.png"))
        moved = np.roll(big, 13 * number, axis=1)
        cv2.imwrite(files[-1], moved, [cv2.IMWRITE_JPEG_QUALITY, 90])
        cv2.imwrite(labels[-1], moved[:, :, 0] // 64)
    return files, labels


def main() -> None:
    """Measure both presets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=320, help="images of an epoch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the results here")
    given = parser.parse_args()
    facts, how = describe(), {"images": given.images, "rounds": given.rounds}
    presets = [
        measure("yolo", yolo_of_albumentations, has_masks=False, **how),
        measure("nnunet", segmentation_of_albumentations, has_masks=True, **how),
    ]
    if given.json:
        given.json.write_text(
            json.dumps({"machine": facts, **how, "augmentation_presets": presets}, indent=1) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()
