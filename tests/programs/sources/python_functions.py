"""Python functions in a graph: by sample, by batch, with several outputs, and reading files by name."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def edit(image):
    inverted = 255 - image
    return inverted[::2, ::2], np.array(image.shape, np.int32)


def mix(first, second):
    common = [min(a.shape[0], b.shape[0]) for a, b in zip(first, second)]
    return [(a[:n] // 2 + b[:n] // 2).astype(np.uint8) for n, a, b in zip(common, first, second)]


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=4)
def with_functions(data):
    encoded, labels = fn.readers.file(file_root=os.path.join(data, "classes"))
    images = fn.decoders.image(encoded, device="cpu")
    edited, shapes = fn.python_function(images, function=edit, num_outputs=2)
    resized = fn.resize(images, size=[30, 40])
    permuted = fn.permute_batch(resized, indices=[1, 2, 0])
    mixed = fn.python_function(resized, permuted, function=mix, batch_processing=True)
    weight = fn.random.uniform(values=[0.25])
    blended = fn.cast(resized * (1 - weight) + permuted * weight, dtype=types.UINT8)
    one_hot = fn.one_hot(labels, num_classes=4)
    return (
        edited,
        shapes,
        mixed,
        blended,
        one_hot,
        fn.erase(resized, anchor=[0.25, 0.5], shape=[0.3, 0.3], normalized=True, axis_names="HW", fill_value=7),
    )


def main(data):
    pipe = with_functions(data)
    pipe.build()
    return {"batches": [[[np.array(out.at(i)) for i in range(3)] for out in pipe.run()] for _ in range(3)]}
