"""The program that jpeg_instructions.py watches: cases from standard input, counted between `start` and `stop`.

It runs with old builds as well, so it uses what they have too: pipelines.
"""

from __future__ import annotations

import ctypes
import json
import sys
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import Pipeline, fn, types


def run(case: dict[str, Any], files: list[Any], batches: int) -> None:
    """Take some batches through a pipeline of one thread."""
    pipe = Pipeline(batch_size=len(files), num_threads=1, device_id=None, seed=7, prefetch_queue_depth=1)
    with pipe:
        data = fn.external_source(source=repeat(files, batches), layout="HWC" if case["work"] == "encode" else None)
        if case["work"] == "encode":
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
        read = decoded if case["work"] == "encode" else lambda path: np.fromfile(Path(path), np.uint8)
        given = [read(path) for path in case["paths"]]
        run(case, given, 1)  # tables and memory that the process keeps
        for batches in (1, 3):
            callgrind.start()
            run(case, given, batches)
            callgrind.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
