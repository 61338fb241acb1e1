"""Every SIMD level resizes, mirrors, normalizes and converts random images to the same bytes."""

from typing import Any

import numpy as np
import pytest

from pixelmill import Pipeline, _core, fn, types

FILTERS = ["linear", "cubic", "lanczos3", "triangular", "gaussian"]


def random_images(rng: np.random.Generator, channels: int) -> list[Any]:
    """Return noise, half of it at the ends of the range, where filters overshoot."""
    shapes = [(*rng.integers(1, 90, 2), channels) for _ in range(2)]
    noise = [rng.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    return [noise[0], np.where(noise[1] > 128, 255, 0).astype(np.uint8)]


def outputs(level: str, images: list[Any], size: list[int], choices: dict[str, Any], layout: str) -> list[bytes]:
    _core.force_simd_level(level)
    channels = images[0].shape[2]
    pipe = Pipeline(batch_size=len(images), num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        source = fn.external_source(source=lambda: images, layout="HWC")
        resized = fn.resize(source, size=size, **choices)
        scaling = {"mean": [100.5] * channels, "std": [57.3] * channels, "output_layout": layout, "mirror": 1}
        pipe.set_outputs(
            resized,
            fn.flip(resized, horizontal=1),
            fn.resize(source, size=size, dtype=types.FLOAT, **choices),
            fn.crop_mirror_normalize(resized, dtype=types.FLOAT, **scaling),
            fn.cast(fn.cast(resized, dtype=types.FLOAT) * 1.37 - 20.25, dtype=types.UINT8),
        )
    pipe.build()
    return [np.array(batch.at(i)).tobytes() for batch in pipe.run() for i in range(len(images))]


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("name", FILTERS)
def test_levels_give_the_same_bytes(name: str, channels: int) -> None:
    rng, best = np.random.default_rng([channels, FILTERS.index(name)]), _core.simd_level()
    try:
        for turn in range(4):
            images, size = random_images(rng, channels), [int(side) for side in rng.integers(1, 70, 2)]
            choices = {"interp_type": getattr(types, f"INTERP_{name.upper()}"), "antialias": turn % 2 == 0}
            layout = "CHW" if turn < 2 else "HWC"
            plain, fast = (outputs(level, images, size, choices, layout) for level in ("base", best))
            assert plain == fast
    finally:
        _core.force_simd_level(best)
