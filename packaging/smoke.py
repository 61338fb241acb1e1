"""Uses an installed pixelmill in a folder of its own: images, datasets, a pipeline, commands. Needs the wheel alone.

The release workflow runs it on every platform, and `make wheel` on this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np


def main() -> None:
    """Run every part; any failure is an exception."""
    if "PIXELMILL_NO_COMPILER" in os.environ:
        assert not any(shutil.which(name) for name in ("c++", "g++", "cmake")), "a compiler is on PATH"
    os.chdir(tempfile.mkdtemp())
    began = time.process_time()
    import pixelmill
    from pixelmill import Loader, _core, fn, pipeline_def

    seconds = time.process_time() - began
    image = np.random.default_rng(1).integers(0, 256, (61, 47, 3), np.uint8)
    assert np.array_equal(pixelmill.decode_image(pixelmill.encode_png(image)), image)
    assert pixelmill.decode_image(pixelmill.encode_jpeg(image, quality=95)).shape == image.shape

    command("create-images", "--path", "photos", "--name", "i", "--count", "24", "--preset", "imagenet")
    command("convert", "photos", "records", "--to", "tfrecord")
    command("convert", "records", "pack", "--to", "pack")
    command("verify", "pack")
    command("demo", "--count", "20")

    @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=7)
    def train(path: str):  # type: ignore[no-untyped-def]
        columns = fn.readers.dataset(path=path, random_shuffle=True, name="Reader")
        images = fn.random_resized_crop(fn.decoders.image(columns["image"]), size=64)
        return fn.crop_mirror_normalize(images, mean=[124, 116, 104], std=[58, 57, 57])

    batches = {path: [batch["images"] for batch in Loader(train(path), ["images"])] for path in ("records", "pack")}
    assert len(batches["pack"]) == 3
    for one, other in zip(batches["records"], batches["pack"], strict=True):
        assert np.array_equal(one, other)
    for plugin in ("pytorch", "tf", "jax", "lightning"):
        try:
            __import__(f"pixelmill.plugin.{plugin}")
        except pixelmill.MissingDependency:
            continue
    print(f"pixelmill {pixelmill.__version__} works: SIMD {_core.simd_level()}, {_core.codec_versions()}, ", end="")
    print(f"Python {sys.version.split()[0]}, import {seconds:.2f} s")


def command(*arguments: str) -> None:
    """Run a command of the installed package."""
    script = Path(sysconfig.get_path("scripts")) / ("pixelmill.exe" if sys.platform == "win32" else "pixelmill")
    # Under wine the wheel is only unpacked, and there are no scripts.
    unpacked = sys.platform == "win32" and not script.exists()
    program = [sys.executable, "-m", "pixelmill"] if unpacked else [str(script)]
    subprocess.run([*program, *arguments], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
