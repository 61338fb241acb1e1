"""Small jobs whose output must have the same bytes on every platform: create, convert, augment, verify, load.

    python portable_jobs.py FOLDER

It prints the hash of every file that the jobs wrote, and of a batch. Nothing here is rotated: the last bit of a sine is
that of the C library.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

CONTAINERS = ("tfrecord", "recordio", "webdataset", "zip", "pack", "folder")


def run_jobs(folder: Path) -> dict[str, str]:
    """Run the jobs in an empty folder; return the hash of each file."""
    import pixelmill
    from pixelmill.create import create_images

    images = folder / "images"
    create_images(images, "i_", 48, 40, 12, "jpg", content="photo", classes=3, seed=3, workers=1)
    source = images
    for number, container in enumerate(CONTAINERS):
        target = folder / container
        pixelmill.convert(source, target, to=container, workers=1 + number % 2)
        assert not pixelmill.verify(target).problems, container
        source = target
    pixelmill.augment(folder / "tfrecord", folder / "augmented", recipe="vit", variants=2, workers=1, seed=5)
    data = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".json")
    found = {path.relative_to(folder).as_posix(): _hash(path.read_bytes()) for path in data}
    return dict(sorted(found.items())) | {"a batch": _batch(str(folder / "pack"))}


def _batch(path: str) -> str:
    from pixelmill import fn, pipeline_def

    @pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=7)
    def train():
        columns = fn.readers.dataset(path=path, random_shuffle=True, name="Reader")
        images = fn.random_resized_crop(fn.decoders.image(columns["image"]), size=32)
        return fn.crop_mirror_normalize(images, mean=[124, 116, 104], std=[58, 57, 57])

    pipeline = train()
    pipeline.build()
    return _hash(np.ascontiguousarray(pipeline.run()[0].as_array()).tobytes())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    print(json.dumps(run_jobs(Path(sys.argv[1])), indent=0))
