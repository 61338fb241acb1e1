"""Keras: `model.fit` on a folder of images.

    python examples/train_keras.py [--images 2000] [--epochs 6]

Creates images of labeled shapes. The training set is a `DALIDataset`, which never ends; the validation set comes from a
`Loader`, so it ends with its epoch. Neither copies a batch.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

from pixelmill import DataNode, Loader, fn, pipeline_def, types
from pixelmill.create import create_images
from pixelmill.plugin.tf import DALIDataset, from_loader

CLASSES, SIDE, BATCH = 5, 40, 32


@pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=7)
def load(folder: Path, training: bool) -> tuple[DataNode, DataNode]:
    """Read, decode and scale; training images are randomly mirrored and brightened."""
    encoded, labels = fn.readers.file(file_root=str(folder), random_shuffle=training, name="Reader")
    images = fn.decoders.image(encoded)
    if training:
        images = fn.flip(images, horizontal=fn.random.coin_flip())
        images = fn.brightness_contrast(images, brightness=fn.random.uniform(range=(0.8, 1.2)))
    return fn.cast(images, dtype=types.FLOAT) / 255, labels


def network() -> tf.keras.Model:
    """Return three convolutions and a linear layer."""
    layers: list[tf.keras.layers.Layer] = [tf.keras.Input((SIDE, SIDE, 3))]
    for width in (16, 32, 64):
        layers += [tf.keras.layers.Conv2D(width, 3, padding="same", activation="relu"), tf.keras.layers.MaxPool2D(2)]
    return tf.keras.Sequential([*layers, tf.keras.layers.GlobalMaxPool2D(), tf.keras.layers.Dense(CLASSES)])


def main(arguments: list[str] | None = None) -> dict[str, list[float]]:
    """Train, and return the history of Keras."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args(arguments)
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as temporary:
        folders = {name: Path(temporary) / name for name in ("train", "valid")}
        for seed, (name, count) in enumerate((("train", options.images), ("valid", options.images // 4))):
            create_images(folders[name], "s", SIDE, SIDE, count, "png", seed, content="shapes", classes=CLASSES)
        train = DALIDataset(
            load(folders["train"], training=True),
            output_dtypes=(tf.float32, tf.int32),
            output_shapes=((BATCH, SIDE, SIDE, 3), (BATCH,)),
            batch_size=BATCH,
            num_threads=2,
            device_id=None,
        )
        valid = from_loader(Loader(load(folders["valid"], training=False), ["images", "labels"]))
        model = network()
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss=loss, metrics=["accuracy"])
        history = model.fit(
            train,
            steps_per_epoch=options.images // BATCH,
            epochs=options.epochs,
            validation_data=valid.map(lambda batch: (batch["images"], batch["labels"])),
            verbose=2,
            shuffle=False,  # the reader shuffles
        )
    losses: dict[str, list[float]] = history.history
    return losses


if __name__ == "__main__":
    main()
