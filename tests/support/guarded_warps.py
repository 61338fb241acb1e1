"""Warps images between two pages that must not be read: a read beyond them ends this program."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from itertools import product

import numpy as np
from dali_runs import noise

from pixelmill import Pipeline, _core, fn, types

MATRICES = (
    [1, 0, 0.25, 0, 1, 0.25],
    [0.99, 0.1, -1, -0.1, 0.99, 1],
    [-1, 0, 60, 0, -1, 12.5],
    [1, 0, -0.3, 0, 1, -0.3],
)


def guarded(array: np.ndarray, *, at_end: bool) -> np.ndarray:
    """Copy an array to the end, or to the start, of the memory between two pages that must not be read."""
    page = mmap.PAGESIZE
    size = -(-array.nbytes // page) * page
    memory = np.frombuffer(mmap.mmap(-1, size + 2 * page), np.uint8)
    start = page + size - array.nbytes if at_end else page
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for place in (memory.ctypes.data, memory.ctypes.data + page + size):
        if protect(ctypes.c_void_p(place), ctypes.c_size_t(page), 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    return copy


def batches() -> Iterator[list[np.ndarray]]:
    for channels, dtype in product((1, 3, 4), (np.uint8, np.float32)):
        pictures = [noise((height, width, channels), dtype) for height, width in ((2, 2), (5, 9), (13, 61), (20, 130))]
        yield pictures
        yield [guarded(picture, at_end=True) for picture in pictures]
        yield [guarded(picture, at_end=False) for picture in pictures]


def warps(batch: list[np.ndarray]) -> list[bytes]:
    pipe = Pipeline(batch_size=len(batch), num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pictures = fn.external_source(source=lambda: batch, layout="HWC", no_copy=True)
        views = [fn.flip(pictures, horizontal=x, vertical=y) for x, y in product((0, 1), (0, 1))]
        kinds = product(views, MATRICES, ({}, {"fill_value": 3}), (types.INTERP_LINEAR, types.INTERP_NN))
        pipe.set_outputs(*(fn.warp_affine(x, matrix=m, interp_type=how, **fill) for x, m, fill, how in kinds))
    pipe.build()
    return [np.array(output.at(i)).tobytes() for output in pipe.run() for i in range(len(batch))]


def main() -> None:
    for level in {"base", _core.simd_level()}:
        _core.force_simd_level(level)
        free = None
        for number, batch in enumerate(batches()):
            made = warps(batch)
            if number % 3 == 0:
                free = made
            elif made != free:
                raise SystemExit(f"{level}: guarded memory gives other pixels")


if __name__ == "__main__":
    main()
