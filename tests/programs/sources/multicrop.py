"""Self-supervised views: two large and several small crops, with blur, gray and solarization by conditionals."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def coin(probability):
    return fn.random.coin_flip(probability=probability, dtype=types.BOOL)


def color_jitter(images, probability, strength):
    if coin(probability):
        return fn.color_twist(
            images,
            brightness=1 + strength * fn.random.uniform(range=[-0.4, 0.4]),
            contrast=1 + strength * fn.random.uniform(range=[-0.4, 0.4]),
            saturation=1 + strength * fn.random.uniform(range=[-0.2, 0.2]),
            hue=strength * fn.random.uniform(range=[-18, 18]),
        )
    return images


def to_gray(images, probability):
    if coin(probability):
        return fn.hsv(images, saturation=0.0)
    return images


def blur(images, probability):
    if coin(probability):
        return fn.gaussian_blur(images, sigma=fn.random.uniform(range=[0.1, 2.0]) * 0 + 1.1)
    return images


def solarize(images, probability, threshold=128):
    if coin(probability):
        inverted = fn.cast(255 - images, dtype=types.UINT8)
        mask = images >= types.Constant(threshold, dtype=types.UINT8)
        return mask * inverted + (mask ^ True) * images
    else:
        return images


def view(images, size, area, blur_probability, solarize_probability):
    images = fn.random_resized_crop(images, size=size, random_area=area, interp_type=types.INTERP_CUBIC)
    images = fn.flip(images, horizontal=fn.random.coin_flip(probability=0.5))
    images = color_jitter(images, 0.8, 1.0)
    images = to_gray(images, 0.2)
    images = blur(images, blur_probability)
    images = solarize(images, solarize_probability)
    return fn.crop_mirror_normalize(images, mean=[127.5], std=[127.5], dtype=types.FLOAT)


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=11, enable_conditionals=True)
def multicrop(data, areas, probabilities):
    encoded, labels = fn.readers.file(file_root=os.path.join(data, "classes"), name="Reader")
    images = fn.decoders.image(encoded, output_type=types.RGB)
    views = []
    for size, area, (blurred, solarized) in zip([48, 48, 24, 24], areas, probabilities):
        views.append(view(images, size, area, blurred, solarized))
    return (*views, labels)


def batches(pipe, count):
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def main(data):
    found = {}
    areas = [[0.25, 1.0]] * 2 + [[0.05, 0.25]] * 2
    pipe = multicrop(data, areas, [(1.0, 0.0), (0.1, 0.2), (0.5, 0.0), (0.5, 0.2)])
    random = batches(pipe, 40)
    found["labels"] = [batch[4] for batch in random]
    for number in range(4):
        found[f"drawn_view_{number}"] = [x for batch in random for x in batch[number]]
        found[f"shapes of view {number}"] = sorted({x.shape for batch in random for x in batch[number]})
    return found


def steps(data):
    """Run each conditional step alone with a certain coin, so that pixels can be compared."""

    @pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=11, enable_conditionals=True)
    def certain(probability):
        encoded, _ = fn.readers.file(file_root=os.path.join(data, "classes"))
        images = fn.resize(fn.decoders.image(encoded), size=[40, 40])
        return (
            to_gray(images, probability),
            blur(images, probability),
            solarize(images, probability),
            color_jitter(images, probability, 0.0),
        )

    return {p: batches(certain(p), 2) for p in (0.0, 1.0)}
