"""Counts the instructions of training on aarch64, by a plugin of qemu, at the SIMD levels `neon` and `base`.

    make platforms ARGS=aarch64                  # builds the package for aarch64, once
    python benchmarks/arm_instructions.py --output benchmarks/results/arm_instructions.json

A pipeline of one thread decodes random windows of JPEG files, resizes, mirrors and normalizes them. Start-up is
left out: two runs that differ only in the number of batches are subtracted. Counts, unlike times, hardly depend on the
machine; they say nothing about how long an instruction takes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
from platforms_arm import command  # noqa: E402  # type: ignore[import-not-found,unused-ignore]

HOME = ROOT / "build" / "platforms" / "aarch64"
PLUGIN = HOME / "qemu_instructions.so"
EMULATOR = "qemu-aarch64"  # the static one has no plugins
FILES, FEW, MANY = 8, 1, 3

PROGRAM = """
import sys
from pathlib import Path
from pixelmill import Pipeline, _core, fn, types
files, batches = sorted(map(str, Path(sys.argv[1]).iterdir())), int(sys.argv[2])
pipe = Pipeline(batch_size=len(files), num_threads=1, device_id=None, seed=7, prefetch_queue_depth=1)
with pipe:
    encoded, labels = fn.readers.file(files=files, name="Reader")
    windows = fn.decoders.image_random_crop(encoded, random_area=[0.08, 1.0], seed=3)
    pipe.set_outputs(fn.crop_mirror_normalize(
        fn.resize(windows, size=[224, 224]), mirror=fn.random.coin_flip(seed=5), dtype=types.FLOAT,
        mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0],
    ))
pipe.build()
for _ in range(batches):
    pipe.run()
print("level:", _core.simd_level())
"""


def main() -> None:
    """Count, print and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="where to write the JSON")
    options = parser.parse_args()
    if shutil.which(EMULATOR) is None:
        sys.exit("arm_instructions.py: apt install qemu-user")
    if not (HOME / "site").is_dir():
        sys.exit("arm_instructions.py: make platforms ARGS=aarch64")
    source = ROOT / "benchmarks" / "qemu_instructions.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(PLUGIN), str(source)], check=True)
    with tempfile.TemporaryDirectory() as folder:
        _write_photos(Path(folder))
        images = FILES * (MANY - FEW)
        counts = {
            level: (_count(level, folder, MANY) - _count(level, folder, FEW)) // images for level in ("neon", "base")
        }
    ratio = counts["neon"] / counts["base"]
    found = {"images": images, "instructions of an image": counts, "neon / base": round(ratio, 3)}
    print(json.dumps(found, indent=1))
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1) + "\n")


def _write_photos(folder: Path) -> None:
    """Write photo-like JPEG files of the sizes of ImageNet."""
    import pixelmill
    from pixelmill.create import create_images

    made = folder / "made"
    create_images(made, "i", 500, 375, FILES, "jpg", content="photo", seed=1, workers=1)
    for path in sorted(made.rglob("*.jpg")):
        assert pixelmill.imread(path).dtype == np.uint8
        path.rename(folder / path.name)
    shutil.rmtree(made)


def _count(level: str, folder: str, batches: int) -> int:
    run = command(HOME, EMULATOR, "-plugin", str(PLUGIN), "-d", "plugin")
    environment = os.environ | {"PIXELMILL_SIMD": level, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*run, "-c", PROGRAM, folder, str(batches)], env=environment, check=True, capture_output=True, text=True
    )
    if f"level: {level}" not in done.stdout:
        sys.exit(f"arm_instructions.py: asked for {level}, got {done.stdout!r}")
    (count,) = re.findall(r"instructions: (\d+)", done.stderr)
    return int(count)


if __name__ == "__main__":
    main()
