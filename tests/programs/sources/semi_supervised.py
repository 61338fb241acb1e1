"""Semi-supervised training: weak and strong views of unlabeled images beside labeled ones, by two pipelines."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy, augmentation
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

MEAN, STD = [125.3, 123.0, 113.9], [63.0, 62.1, 66.7]


def weak(images):
    images = fn.flip(images, horizontal=fn.random.coin_flip())
    padded = fn.crop(images, crop=[40, 40], out_of_bounds_policy="pad", fill_values=128)
    return fn.crop(
        padded, crop=[32, 32], crop_pos_x=fn.random.uniform(range=[0, 1]), crop_pos_y=fn.random.uniform(range=[0, 1])
    )


def normalize(images):
    return fn.crop_mirror_normalize(images, mean=MEAN, std=STD, dtype=types.FLOAT, output_layout="CHW")


@augmentation(mag_range=(0.0, 0.5), randomly_negate=True, mag_to_param=lambda m: np.array([m, 0], dtype=np.float32))
def slide(data, shift, fill_value=128, interp_type=None):
    mt = fn.transforms.translation(offset=shift * 10)
    return fn.warp_affine(data, matrix=mt, fill_value=fill_value, interp_type=interp_type, inverse_map=False)


@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=2, device_id=None)
def labeled(data):
    encoded, labels = fn.readers.file(
        files=[os.path.join(data, "flat", f"{i:02d}.jpg") for i in range(4)],
        labels=[3, 1, 2, 0],
        random_shuffle=False,
        name="labeled",
    )
    images = fn.resize(fn.decoders.image(encoded), size=[32, 32])
    return normalize(images), labels


@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=2, device_id=None)
def unlabeled(data, kind):
    encoded, _ = fn.readers.file(
        file_root=os.path.join(data, "classes"), random_shuffle=True, initial_fill=16, name="unlabeled"
    )
    shape = fn.peek_image_shape(encoded)
    images = fn.resize(fn.decoders.image(encoded), size=[32, 32])
    strong = weak(images)
    if kind == "rand":
        strong = rand_augment.rand_augment(strong, n=2, m=10, fill_value=0)
    elif kind == "trivial":
        strong = trivial_augment.trivial_augment_wide(strong, shape=[32, 32])
    elif kind == "own":
        policy = Policy(
            name="own",
            num_magnitude_bins=11,
            sub_policies=[
                [(slide, 0.5, 4), (augmentations.invert, 0.3, None)],
                [(augmentations.posterize.augmentation((1, 4)), 0.5, 3)],
            ],
        )
        strong = auto_augment.apply_auto_augment(policy, strong)
    strong = fn.erase(
        strong,
        anchor=fn.random.uniform(range=[0, 0.7], shape=2),
        shape=[0.3, 0.3],
        normalized=True,
        axis_names="HW",
        fill_value=127,
    )
    return normalize(weak(images)), normalize(strong), shape


def main(data):
    found = {}
    sup = DALIGenericIterator(
        labeled(data, seed=3),
        ["x", "y"],
        reader_name="labeled",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.DROP,
    )
    for kind in ("rand", "trivial", "own"):
        uns = DALIGenericIterator([unlabeled(data, kind, seed=4)], output_map=["weak", "strong", "shape"], size=-1)
        steps = []
        labeled_batches = []
        for _step in range(30):
            try:
                a = next(sup)[0]
            except StopIteration:
                a = next(sup)[0]
            b = next(uns)[0]
            labeled_batches.append((a["x"].numpy().copy(), a["y"].numpy().copy()))
            steps.append((b["weak"].numpy().copy(), b["strong"].numpy().copy(), b["shape"].numpy().copy()))
        found[f"labeled {kind}"] = labeled_batches[:2]
        found[f"drawn_weak {kind}"] = [s[0] for s in steps]
        found[f"drawn_strong {kind}"] = [s[1] for s in steps]
        found[f"shapes {kind}"] = [[x.shape for x in s] for s in steps] + [str(steps[0][2].dtype)]
    return found
