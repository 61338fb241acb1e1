"""EfficientNet-style training: AutoAugment, RandAugment or TrivialAugment, then mixing of pairs of images."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment


@pipeline_def(enable_conditionals=True, batch_size=8, num_threads=2, device_id=None, seed=9)
def training_pipe(data, automatic_augmentation):
    jpegs, labels = fn.readers.file(name="Reader", file_root=os.path.join(data, "classes"), random_shuffle=False)
    images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
    images = fn.resize(images, size=[48, 48])
    if automatic_augmentation == "autoaugment":
        shapes = fn.peek_image_shape(jpegs)
        images = auto_augment.auto_augment_image_net(images, shape=shapes)
    elif automatic_augmentation == "trivialaugment":
        images = trivial_augment.trivial_augment_wide(images, shape=[48, 48])
    elif automatic_augmentation == "randaugment":
        images = rand_augment.rand_augment(images, n=2, m=9, shape=[48, 48])
    output = fn.crop_mirror_normalize(images, mean=[128.0] * 3, std=[64.0] * 3, dtype=types.FLOAT16)
    one_hot = fn.one_hot(labels, num_classes=3)
    order = fn.batch_permutation()
    ratio = fn.random.uniform(range=[0.3, 0.7])
    mixed = ratio * one_hot + (1 - ratio) * fn.permute_batch(one_hot, indices=order)
    return output, labels, mixed


def main(data):
    found = {}
    for name in ("disabled", "autoaugment", "trivialaugment", "randaugment"):
        pipe = training_pipe(data, name)
        pipe.build()
        batches = [[np.array(out.as_array()) for out in pipe.run()] for _ in range(1 if name == "disabled" else 25)]
        key = name if name == "disabled" else f"drawn_{name}"
        found[key] = [images for images, _, _ in batches]
        found[f"labels, {name}"] = [labels for _, labels, _ in batches]
    found["mixed labels"] = bool(np.allclose(batches[0][2].sum(axis=1), 1, atol=1e-5))
    found["shape of mixed labels"] = batches[0][2].shape
    return found
