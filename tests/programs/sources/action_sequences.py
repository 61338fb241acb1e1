"""Action recognition from folders of frames: sequences, per-frame arguments, rearranged and extracted frames."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def frames(data):
    root = os.path.join(data, "clips")
    if not os.path.isdir(root):
        from PIL import Image

        for c in range(3):
            os.makedirs(os.path.join(root, f"clip_{c}"))
            for f in range(7):
                yy, xx = np.mgrid[:40, :48]
                img = np.stack([(xx * 3 + f * 10) % 256, (yy * 4 + c * 20) % 256, (xx + yy + 7 * f) % 256], -1).astype(
                    np.uint8
                )
                Image.fromarray(img).save(os.path.join(root, f"clip_{c}", f"{f:04d}.png"))
    return root


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
def clips(root, length=4, step=1, stride=1):
    return fn.readers.sequence(file_root=root, sequence_length=length, step=step, stride=stride, name="r")


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
def train(root):
    video = fn.readers.sequence(file_root=root, sequence_length=4)
    angle = fn.external_source(lambda i: [np.float32([0, 10, 20, 30]) + s for s in range(3)])
    rotated = fn.rotate(video, angle=fn.per_frame(angle), fill_value=0, keep_size=True)
    bright = fn.brightness_contrast(video, brightness=fn.per_frame(np.float32([0.5, 1.0, 1.5, 1.2])), contrast=1.1)
    reversed_ = fn.sequence_rearrange(video, new_order=[3, 2, 1, 0])
    first, last = fn.element_extract(video, element_map=[0, 3])
    small = fn.resize(video, resize_shorter=24)
    out = fn.crop_mirror_normalize(
        small,
        crop=[20, 20],
        mean=[128.0],
        std=[64.0],
        dtype=types.FLOAT,
        output_layout="CFHW",
        mirror=fn.random.coin_flip(probability=1.0),
    )
    return rotated, bright, reversed_, first, last, small, out


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=1)
def perframe(root):
    video = fn.readers.sequence(file_root=root, sequence_length=3)
    shift = fn.per_frame(fn.external_source(lambda: [np.float32([[0, 0], [3, 1], [6, 2]])] * 3, batch=True))
    mt = fn.transforms.translation(offset=shift)
    warped = fn.warp_affine(video, matrix=mt, fill_value=1, inverse_map=False)
    sigma = fn.per_frame(np.float32([0.5, 1.0, 2.0]))
    blurred = fn.gaussian_blur(video, sigma=sigma)
    mult = fn.brightness(video, brightness=fn.per_frame(fn.random.uniform(range=[1.0, 1.000001], shape=[3])))
    hued = fn.hue(video, hue=fn.per_frame(np.float32([0.0, 30.0, 60.0])))
    coords = fn.coord_transform(fn.per_frame(np.float32([[[1, 2]], [[3, 4]], [[5, 6]]])), MT=mt)
    resized = fn.resize(video, size=(12, 14))
    return (
        warped,
        blurred,
        mult,
        hued,
        mt,
        fn.transforms.rotation(mt, angle=20.0),
        fn.warp_affine(video, mt),
        coords,
        resized,
    )


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
def more(root):
    video = fn.readers.sequence(file_root=root, sequence_length=3)
    mean = fn.reductions.mean(fn.cast(video, dtype=types.FLOAT), axis_names="F", keep_dims=False)
    gray = fn.color_space_conversion(video, image_type=types.RGB, output_type=types.GRAY)
    diff = fn.cast(video[1:], dtype=types.INT16) - fn.cast(video[:-1], dtype=types.INT16)
    padded = fn.pad(video, axis_names="F", shape=[5])
    chw = fn.transpose(video, perm=[3, 0, 1, 2])
    twisted = fn.color_twist(video, hue=20.0, saturation=fn.per_frame(np.float32([0.5, 1, 1.5])))
    persp = fn.warp_affine(video, matrix=(1.0, 0.1, 2.0, 0.0, 0.9, 1.0), size=(32, 32))
    stacked = fn.stack(*fn.element_extract(video, element_map=[2, 0]), axis=0)
    return mean, gray, diff, padded, chw, twisted, persp, stacked


def run(pipe, count=2):
    pipe.build()
    outs = [pipe.run() for _ in range(count)]
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in batch] for batch in outs], [
        out.layout() for out in outs[0]
    ]


def main(data):
    root = frames(data)
    found = {}
    for kw in ({}, {"length": 3, "step": 3}, {"length": 2, "step": 2, "stride": 3}):
        found[f"clips {sorted(kw.items())}"] = run(clips(root, **kw), 4)
    for f in (train, perframe, more):
        for k, (out, layout) in enumerate(zip(zip(*run(f(root))[0]), run(f(root))[1])):
            found[f"{f.__name__} {k}"] = [list(out), layout]
    return found
