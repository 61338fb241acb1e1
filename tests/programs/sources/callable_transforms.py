"""Views made by callable objects, lambdas, bound methods and partial functions, with conditions on nodes in them."""

import functools
import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


class RandomApply:
    """Apply a transform to some of the samples."""

    def __init__(self, transform, probability):
        self.transform, self.probability = transform, probability

    def __call__(self, images):
        if fn.random.coin_flip(probability=self.probability, dtype=types.BOOL):
            images = self.transform(images)
        return images


class Solarize:
    def __init__(self, threshold):
        self.threshold = threshold

    def apply(self, images):
        if fn.reductions.mean(images) > float(self.threshold):
            return fn.cast(255 - images, dtype=types.UINT8)
        return images


def darken(images, factor, invert):
    if invert:
        images = fn.cast(255 - images, dtype=types.UINT8)
    return fn.brightness(images, brightness=factor)


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, images):
        for transform in self.transforms:
            images = transform(images)
        return images


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=5, enable_conditionals=True)
def views(data, probability):
    encoded, labels = fn.readers.file(file_root=os.path.join(data, "classes"))
    images = fn.resize(fn.decoders.image(encoded), size=[32, 32])
    odd = fn.reshape(labels, shape=[]) % 2 == 1
    transform = Compose(
        [
            RandomApply(lambda x: fn.flip(x, horizontal=1), probability),
            RandomApply(functools.partial(fn.gaussian_blur, sigma=0.9), probability),
            Solarize(110).apply,
            functools.partial(darken, factor=0.7, invert=odd),
        ]
    )
    return transform(images), labels


def batches(pipe, count):
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def main(data):
    found = {f"probability {p}": batches(views(data, float(p)), 2) for p in (0, 1)}
    found["drawn_images"] = [x for batch in batches(views(data, 0.5), 40) for x in batch[0]]
    return found
