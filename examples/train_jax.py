"""JAX: a loop of compiled steps over a folder of images.

    python examples/train_jax.py [--images 2000] [--epochs 6]

Creates images of labeled shapes. The iterator returns dicts of `jax.Array`s that share the memory of the batches.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

from pixelmill import DataNode, fn, types
from pixelmill.create import create_images
from pixelmill.plugin.jax import data_iterator

CLASSES, SIDE, BATCH, RATE = 5, 40, 32, 0.002

Weights = list[jax.Array]


@data_iterator(output_map=["images", "labels"], reader_name="Reader")
def load(folder: Path) -> tuple[DataNode, DataNode]:
    """Read, decode, mirror at random and scale."""
    encoded, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
    images = fn.flip(fn.decoders.image(encoded), horizontal=fn.random.coin_flip())
    return fn.cast(images, dtype=types.FLOAT) / 255 - 0.5, labels


def first_weights(key: jax.Array) -> Weights:
    """Draw three convolutions and a linear layer."""
    shapes = [(3, 3, 3, 16), (3, 3, 16, 32), (3, 3, 32, 64), (64, CLASSES)]
    scales = [(2 / (shape[-2] * (9 if len(shape) == 4 else 1))) ** 0.5 for shape in shapes]
    keys = jax.random.split(key, len(shapes))
    return [scale * jax.random.normal(one, shape) for one, shape, scale in zip(keys, shapes, scales, strict=True)]


def logits(weights: Weights, images: jax.Array) -> jax.Array:
    """Return one logit per class."""
    axes = ("NHWC", "HWIO", "NHWC")
    for kernel in weights[:-1]:
        images = jax.nn.relu(jax.lax.conv_general_dilated(images, kernel, (2, 2), "SAME", dimension_numbers=axes))
    return images.max(axis=(1, 2)) @ weights[-1]


def loss_of(weights: Weights, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the cross entropy."""
    log_probabilities = jax.nn.log_softmax(logits(weights, images))
    return -jnp.take_along_axis(log_probabilities, labels, axis=1).mean()


@jax.jit
def step(
    weights: Weights, momenta: Weights, squares: Weights, images: jax.Array, labels: jax.Array
) -> tuple[Weights, Weights, Weights, jax.Array]:
    """Take a step of Adam, without bias correction."""
    loss, slopes = jax.value_and_grad(loss_of)(weights, images, labels)
    momenta = [0.9 * old + 0.1 * slope for old, slope in zip(momenta, slopes, strict=True)]
    squares = [0.99 * old + 0.01 * slope**2 for old, slope in zip(squares, slopes, strict=True)]
    moves = [momentum / (square**0.5 + 1e-8) for momentum, square in zip(momenta, squares, strict=True)]
    return [old - RATE * move for old, move in zip(weights, moves, strict=True)], momenta, squares, loss


def main(arguments: list[str] | None = None) -> list[float]:
    """Train, and return the loss of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=6)
    options = parser.parse_args(arguments)
    losses = []
    with tempfile.TemporaryDirectory() as temporary:
        create_images(temporary, "s", SIDE, SIDE, options.images, "png", content="shapes", classes=CLASSES)
        batches = load(Path(temporary), batch_size=BATCH, num_threads=2, device_id=None, seed=7)
        weights = first_weights(jax.random.key(0))
        momenta = squares = [jnp.zeros_like(weight) for weight in weights]
        for epoch in range(options.epochs):
            steps = []
            for batch in batches:
                weights, momenta, squares, loss = step(weights, momenta, squares, batch["images"], batch["labels"])
                steps.append(float(loss))
            losses.append(sum(steps) / len(steps))
            print(f"epoch {epoch + 1}: {len(steps)} steps, loss {losses[-1]:.3f}")
    return losses


if __name__ == "__main__":
    main()
