"""CT slices: arrays read with regions of interest, windowing, one-hot masks, geometric augmentation."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.math as math
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator


def window(x, center, width):
    low = center - width / 2
    return math.clamp((x - low) / width, 0.0, 1.0)


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=9)
def slices(root):
    x = fn.readers.numpy(file_root=root, file_filter="*_x.npy", name="x")
    y = fn.readers.numpy(file_root=root, file_filter="*_y.npy", name="y")
    x, y = x[0], y[0]
    image = window(x, 0.5, 2.0)
    image = fn.reinterpret(fn.expand_dims(image, axes=2), layout="HWC")
    mask = fn.reinterpret(fn.expand_dims(y, axes=2), layout="HWC")
    matrix = fn.transforms.rotation(angle=15.0, center=[20.0, 20.0])
    matrix = fn.transforms.scale(matrix, scale=[1.1, 0.9])
    warped = fn.warp_affine(
        image, matrix=matrix, size=[36, 36], fill_value=0.0, interp_type=types.INTERP_LINEAR, inverse_map=True
    )
    wmask = fn.warp_affine(
        mask, matrix=matrix, size=[36, 36], fill_value=0, interp_type=types.INTERP_NN, inverse_map=True
    )
    blurred = fn.gaussian_blur(warped, sigma=0.8)
    z = fn.normalize(blurred, axes=(0, 1))
    onehot = fn.one_hot(fn.squeeze(wmask, axes=2), num_classes=2, axis=0)
    volume = fn.reductions.sum(fn.cast(wmask, dtype=types.FLOAT), axes=(0, 1))
    return (
        fn.transpose(z, perm=[2, 0, 1]),
        onehot,
        volume,
        fn.shapes(x),
        fn.reductions.max(image),
        fn.reductions.min(image),
    )


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=9)
def rois(root, roi):
    return fn.readers.numpy(file_root=root, file_filter="*_x.npy", **roi)


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=9)
def volumes(root):
    x = fn.readers.numpy(file_root=root, file_filter="*_x.npy")
    y = fn.readers.numpy(file_root=root, file_filter="*_y.npy")
    start = fn.roi_random_crop(y, roi_start=[0, 3, 4, 5], roi_shape=[1, 5, 5, 5], crop_shape=[1, 5, 5, 5])
    roi_start, roi_end = fn.segmentation.random_object_bbox(
        y, format="start_end", foreground_prob=1.0, k_largest=2, classes=[1], cache_objects=True, ignore_class=False
    )
    cut = fn.slice(x, start=fn.cast(start, dtype=types.INT32), shape=[1, 5, 5, 5], axes=(0, 1, 2, 3))
    padded = fn.pad(fn.reinterpret(x, layout="CDHW"), axes=(1, 2, 3), shape=(32, 32, 32), fill_value=-1)
    flipped = fn.flip(fn.reinterpret(x, layout="CDHW"), horizontal=1, vertical=0, depthwise=1)
    resized = fn.resize(fn.reinterpret(x, layout="CDHW"), size=[10, 12, 14])
    zoom = fn.crop(fn.reinterpret(x, layout="CDHW"), crop=(8, 8, 8), crop_pos_x=0.2, crop_pos_y=0.5, crop_pos_z=1.0)
    return cut, roi_start, roi_end, padded, flipped, resized, zoom


def run(pipe, count=2):
    pipe.build()
    outs = [pipe.run() for _ in range(count)]
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in batch] for batch in outs]


def main(data):
    found = {"slices": run(slices(os.path.join(data, "slices")))}
    for name, roi in {
        "start": {"roi_start": [0, 3, 4]},
        "both": {"roi_start": [0, 3, 4], "roi_end": [1, 20, 20]},
        "shape": {"rel_roi_start": [0.0, 0.25, 0.25], "rel_roi_shape": [1.0, 0.5, 0.5]},
        "axes": {"roi_start": [5], "roi_shape": [12], "roi_axes": [1]},
        "out": {
            "roi_start": [-3, 2],
            "roi_shape": [30, 60],
            "roi_axes": [1, 2],
            "out_of_bounds_policy": "pad",
            "fill_value": 7,
        },
        "trim": {
            "roi_start": [10, 2],
            "roi_shape": [60, 60],
            "roi_axes": [1, 2],
            "out_of_bounds_policy": "trim_to_shape",
        },
    }.items():
        found[f"roi {name}"] = run(rois(os.path.join(data, "slices"), roi))
    found["volumes"] = run(volumes(os.path.join(data, "volumes")))
    it = DALIGenericIterator(
        slices(os.path.join(data, "slices")), ["x", "y", "v", "s", "hi", "lo"], reader_name="x", dynamic_shape=True
    )
    found["torch"] = [{k: v.numpy().copy() for k, v in b[0].items()} for b in it]
    return found
