"""A pipeline for an inference server: stored, loaded where there is no definition, fed by the name of its input."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.triton import autoserialize


@autoserialize
@pipeline_def(batch_size=3, num_threads=1, device_id=None)
def preprocess():
    images = fn.external_source(device="cpu", name="DALI_INPUT_0")
    images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
    images = fn.resize(images, resize_x=40, resize_y=40)
    return fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(32, 32),
        mean=[128.0, 128.0, 128.0],
        std=[64.0, 64.0, 64.0],
    )


def main(data):
    folder = os.path.join(data, "flat")
    files = [np.fromfile(os.path.join(folder, name), dtype=np.uint8) for name in sorted(os.listdir(folder))[:3]]
    stored = os.path.join(data, "model.dali")
    preprocess().serialize(filename=stored)
    results = []
    for pipe in (
        Pipeline.deserialize(filename=stored, batch_size=3, num_threads=2, device_id=None, prefetch_queue_depth=1),
        Pipeline.deserialize(preprocess().serialize(), prefetch_queue_depth=1),
    ):
        pipe.build()
        (output,) = pipe.run(DALI_INPUT_0=files)
        results.append(np.array(output.as_array()))
    return {"results": results}
