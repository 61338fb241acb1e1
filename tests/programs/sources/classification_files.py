"""ImageNet classification: a training and a validation pipeline over class folders, read by the PyTorch iterator."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIClassificationIterator

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@pipeline_def(num_threads=2, device_id=None)
def create_dali_pipeline(data_dir, crop, size, shard_id, num_shards, dali_cpu=True, is_training=True):
    images, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=is_training,
        pad_last_batch=True,
        name="Reader",
    )
    dali_device = "cpu" if dali_cpu else "gpu"
    if is_training:
        images = fn.decoders.image_random_crop(
            images,
            device="cpu",
            output_type=types.RGB,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
        )
        images = fn.resize(
            images, device=dali_device, resize_x=crop, resize_y=crop, interp_type=types.INTERP_TRIANGULAR
        )
        mirror = fn.random.coin_flip(probability=0.5)
    else:
        images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
        images = fn.resize(
            images, device=dali_device, size=size, mode="not_smaller", interp_type=types.INTERP_TRIANGULAR
        )
        mirror = False
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mean=MEAN,
        std=STD,
        mirror=mirror,
    )
    return images, labels.gpu() if not dali_cpu else labels


def epoch(loader):
    images, labels = [], []
    for data in loader:
        images.append(data[0]["data"].numpy().copy())
        labels.append(data[0]["label"].squeeze(-1).long().numpy().copy())
    return images, labels


def main(data):
    folder = os.path.join(data, "classes")
    pipe = create_dali_pipeline(folder, 32, 40, 0, 1, is_training=False, batch_size=5, seed=12)
    loader = DALIClassificationIterator(
        pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    images, labels = epoch(loader)
    again = epoch(loader)[1]
    train = create_dali_pipeline(folder, 32, 40, 0, 1, is_training=True, batch_size=5, seed=12)
    loader = DALIClassificationIterator(
        train, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    epochs = [epoch(loader) for _ in range(3)]
    return {
        "images": images,
        "labels": labels,
        "second epoch": again,
        "length": len(loader),
        "labels of epochs": [np.sort(np.concatenate(labels)) for _, labels in epochs],
        "shapes": [[batch.shape for batch in images] for images, _ in epochs],
        "drawn_images": [batch for images, _ in epochs for batch in images],
    }
