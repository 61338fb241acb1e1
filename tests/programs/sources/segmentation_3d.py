"""3-D medical segmentation: volumes, crops around objects, zoom, flips in three directions."""

import glob
import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

PATCH = [12, 16, 20]


def load(data):
    folder = os.path.join(data, "volumes")
    img = fn.readers.numpy(files=sorted(glob.glob(os.path.join(folder, "*_x.npy"))), name="ReaderX")
    lbl = fn.readers.numpy(files=sorted(glob.glob(os.path.join(folder, "*_y.npy"))), name="ReaderY")
    return fn.reshape(img, layout="CDHW"), fn.reshape(lbl, layout="CDHW")


def biased_crop(img, lbl, patch):
    roi_start, roi_end = fn.segmentation.random_object_bbox(
        lbl, format="start_end", foreground_prob=0.9, k_largest=2, device="cpu", cache_objects=True, background=0
    )
    anchor = fn.roi_random_crop(lbl, roi_start=roi_start, roi_end=roi_end, crop_shape=[1, *patch])
    anchor = fn.slice(anchor, 1, 3, axes=[0])  # drop the channel
    shape = types.Constant(np.array(patch), dtype=types.INT64)
    return (
        fn.slice(item, anchor, shape, axis_names="DHW", out_of_bounds_policy="pad", device="cpu") for item in (img, lbl)
    )


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=2)
def fixed(data):
    img, lbl = load(data)
    img, lbl = (fn.crop(x, crop=PATCH, crop_pos_x=0.1, crop_pos_y=0.5, crop_pos_z=0.9) for x in (img, lbl))
    img = fn.resize(img, interp_type=types.INTERP_LINEAR, size=[15, 18, 22])
    lbl = fn.resize(lbl, interp_type=types.INTERP_NN, size=[15, 18, 22])
    img, lbl = (fn.flip(x, horizontal=1, vertical=1, depthwise=1) for x in (img, lbl))
    img = fn.gaussian_blur(img, sigma=0.8)
    normalized = fn.normalize(img, axes=[1, 2, 3])
    return img, lbl, normalized, fn.transpose(lbl, perm=[1, 2, 3, 0])


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=2)
def drawn(data):
    img, lbl = load(data)
    img, lbl = biased_crop(img, lbl, PATCH)
    flips = {axis: fn.random.coin_flip(probability=0.33) for axis in ("horizontal", "vertical", "depthwise")}
    return fn.flip(img, **flips), fn.flip(lbl, **flips)


def batches(pipe, count):
    pipe.build()
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def main(data):
    random = batches(drawn(data), 40)
    images, labels = ([x for batch in random for x in batch[n]] for n in (0, 1))
    return {
        "fixed": batches(fixed(data), 2),
        "shapes": sorted({x.shape for x in images + labels}),
        "drawn_images": images,
        "drawn_labels": labels,
        "most crops hold an object": float(np.mean([(x > 0).any() for x in labels])) > 0.85,
    }
