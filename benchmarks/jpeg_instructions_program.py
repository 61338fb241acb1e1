"""The program that jpeg_instructions.py watches: cases from standard input, counted between `start` and `stop`.

It runs with old builds as well, so it uses what they have too: pipelines.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import Pipeline, fn, types

# Operators on decoded images, by the names that jpeg_instructions.py gives them.
OPERATORS: dict[str, Callable[[Any], Any]] = {
    "resize": lambda images: fn.resize(images, size=[224, 224]),
    "resize, cubic": lambda images: fn.resize(images, size=[224, 224], interp_type=types.INTERP_CUBIC),
    "crop_mirror_normalize": lambda images: fn.crop_mirror_normalize(
        images, crop=[160, 160], mirror=1, mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0]
    ),
    "rotate": lambda images: fn.rotate(images, angle=7.0, fill_value=0),
    "warp_affine": lambda images: fn.warp_affine(images, matrix=[1.1, 0.1, 3.0, -0.1, 0.9, 5.0]),
    "color_twist": lambda images: fn.color_twist(images, hue=20.0, saturation=1.2, brightness=1.1, contrast=0.9),
    "brightness_contrast": lambda images: fn.brightness_contrast(images, brightness=1.1, contrast=0.9),
    "gaussian_blur": lambda images: fn.gaussian_blur(images, window_size=5),
    "noise.gaussian": lambda images: fn.noise.gaussian(images, stddev=10.0),
    "normalize": lambda images: fn.normalize(images, axes=[0, 1]),
    "flip": lambda images: fn.flip(images, horizontal=1, vertical=1),
    "cast": lambda images: fn.cast(images, dtype=types.FLOAT),
    "arithmetic": lambda images: images * 0.5 + 3.0,
}


def takes_pixels(case: dict[str, Any]) -> bool:
    """Whether a case is given decoded images."""
    return case["work"] == "encode" or case["work"] in OPERATORS


def run(case: dict[str, Any], files: list[Any], batches: int) -> None:
    """Take some batches through a pipeline of one thread."""
    pipe = Pipeline(batch_size=len(files), num_threads=1, device_id=None, seed=7, prefetch_queue_depth=1)
    with pipe:
        data = fn.external_source(source=repeat(files, batches), layout="HWC" if takes_pixels(case) else None)
        if case["work"] in OPERATORS:
            images = OPERATORS[case["work"]](data)
        elif case["work"] == "encode":
            images = fn.encoders.image(data, quality=90)
        elif case["work"] == "full":
            images = fn.decoders.image(data)
        else:
            windows = fn.decoders.image_random_crop(data, random_area=[0.08, 1.0], seed=3)
            images = fn.crop_mirror_normalize(
                fn.resize(windows, size=[224, 224]),
                dtype=types.FLOAT,
                mean=[124.0, 116.0, 104.0],
                std=[58.0, 57.0, 57.0],
            )
        pipe.set_outputs(images)
    pipe.build()
    for _ in range(batches):
        pipe.run()


def decoded(path: str) -> Any:
    from PIL import Image

    with Image.open(path) as image:
        return np.array(image.convert("RGB"))


def main(switches: str) -> None:
    """Count every case twice, with one batch and with three."""
    callgrind = ctypes.CDLL(switches)
    for case in json.load(sys.stdin):
        read = decoded if takes_pixels(case) else lambda path: np.fromfile(Path(path), np.uint8)
        given = [read(path) for path in case["paths"]]
        run(case, given, 1)  # tables and memory that the process keeps
        for batches in (1, 3):
            callgrind.start()
            run(case, given, batches)
            callgrind.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
