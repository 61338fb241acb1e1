"""TFRecords: augment a dataset offline and read it back for training.

    python examples/augment_tfrecords.py [--images 200] [--variants 3]

Creates images with boxes directly as TFRecords, writes variants of each with the recipe `detection`, which transforms
the boxes with their image, and reads the new records in a pipeline. TensorFlow is not needed.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

import pixelmill.tfrecord as tfrec
from pixelmill import DataNode, Loader, augment, fn, pipeline_def
from pixelmill.create import create_images

SIDES = ("ymin", "xmin", "ymax", "xmax")


@pipeline_def(batch_size=16, num_threads=2, device_id=None, seed=7)
def load(records: list[str]) -> tuple[DataNode, DataNode, DataNode]:
    """Return images, their boxes, padded to the largest number of boxes in the batch, and labels."""
    features: dict[str, tfrec.FixedLenFeature | tfrec.VarLenFeature] = {
        f"image/object/bbox/{side}": tfrec.VarLenFeature(tfrec.float32, 0.0) for side in SIDES
    }
    features |= {
        "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
        "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
    }
    record = fn.readers.tfrecord(path=records, features=features, random_shuffle=True, name="Reader")
    images = fn.resize(fn.decoders.image(record["image/encoded"]), size=(64, 64))
    boxes = fn.stack(*(record[f"image/object/bbox/{side}"] for side in SIDES), axis=1)
    return images, fn.pad(boxes, axes=[0], fill_value=-1), record["image/class/label"]


def main(arguments: list[str] | None = None) -> dict[str, int]:
    """Augment, read back, and return the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--variants", type=int, default=3)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        made, new = Path(temporary) / "made", Path(temporary) / "new"
        shapes = partial(create_images, content="shapes", classes=4, boxes=True, objects=(1, 3))
        shapes(made, "s", 96, 80, options.images, "jpg", container="tfrecord", img_per_file=64)
        augment(made, new, recipe="detection", variants=options.variants, seed=3)
        records = sorted(str(path) for path in new.glob("*.tfrecord*") if path.suffix != ".idx")
        counted = {"files": len(records), "images": 0, "boxes": 0}
        for batch in Loader(load(records), ["images", "boxes", "labels"]):
            real = batch["boxes"][..., 0] >= 0
            assert np.all(batch["boxes"][real] <= 1.001), "box coordinates are fractions of the image size"
            counted["images"] += len(batch["images"])
            counted["boxes"] += int(real.sum())
        print(f"{counted['images']} images with {counted['boxes']} boxes in {counted['files']} files")
    return counted


if __name__ == "__main__":
    main()
