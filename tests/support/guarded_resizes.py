"""Resizes images between two pages that must not be read: a read beyond them ends this program."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from dali_runs import noise
from guarded_warps import guarded

from pixelmill import Pipeline, _core, fn

SOURCES = ((1, 1), (2, 2), (3, 15), (5, 16), (4, 22), (13, 61), (20, 130))
SIZES = ((7, 9), (16, 40), (2, 64))


def batches() -> Iterator[list[np.ndarray]]:
    for channels in (1, 3, 4):
        pictures = [noise((height, width, channels)) for height, width in SOURCES]
        yield pictures
        yield [guarded(picture, at_end=True) for picture in pictures]
        yield [guarded(picture, at_end=False) for picture in pictures]


def resizes(batch: list[np.ndarray]) -> list[bytes]:
    pipe = Pipeline(batch_size=len(batch), num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pictures = fn.external_source(source=lambda: batch, layout="HWC", no_copy=True)
        views = [fn.flip(pictures, horizontal=x, vertical=y) for x, y in product((0, 1), (0, 1))]
        pipe.set_outputs(*(fn.resize(x, size=list(size)) for x, size in product(views, SIZES)))
    pipe.build()
    return [np.array(output.at(i)).tobytes() for output in pipe.run() for i in range(len(batch))]


def main() -> None:
    for level in ("base", _core.simd_level(), "best"):
        _core.force_simd_level(level)
        free = None
        for number, batch in enumerate(batches()):
            made = resizes(batch)
            if number % 3 == 0:
                free = made
            elif made != free:
                raise SystemExit(f"{level}: guarded memory gives other pixels")


if __name__ == "__main__":
    main()
