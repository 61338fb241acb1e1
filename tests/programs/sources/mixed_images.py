"""MixUp, CutMix, CutOut, GridMask, mosaic and Random Erasing inside the pipeline."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.math as dmath
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

SIZE = 32


def load(data):
    encoded, labels = fn.readers.file(file_root=os.path.join(data, "classes"), name="Reader")
    images = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
    images = fn.resize(images, size=[SIZE, SIZE])
    return images, fn.one_hot(labels, num_classes=3)


@pipeline_def
def mixup(data, lam):
    images, targets = load(data)
    lam = lam if lam is not None else fn.random.beta(alpha=0.4, beta=0.4)
    order = fn.batch_permutation(no_fixed_points=True)
    other, other_targets = fn.permute_batch(images, indices=order), fn.permute_batch(targets, indices=order)
    mixed = lam * images + (1.0 - lam) * other
    target = lam * targets + (1.0 - lam) * other_targets
    return fn.crop_mirror_normalize(
        fn.cast(mixed, dtype=types.FLOAT), std=[255.0], dtype=types.FLOAT, output_layout="CHW"
    ), target


@pipeline_def
def fixed_mixup(data):
    images, targets = load(data)
    order = [1, 2, 3, 0]
    other, other_targets = fn.permute_batch(images, indices=order), fn.permute_batch(targets, indices=order)
    lam = np.float32(0.3)
    return fn.cast(lam * images + (1 - lam) * other, dtype=types.UINT8), lam * targets + (
        np.float32(1) - lam
    ) * other_targets


@pipeline_def
def cutmix(data, random=True):
    images, targets = load(data)
    lam = fn.random.beta(alpha=1.0, beta=1.0) if random else fn.constant(fdata=0.36, shape=[])
    ratio = dmath.sqrt(1 - lam)
    cx = fn.random.uniform(range=[0.0, 1.0]) if random else fn.full(0.4, shape=[])
    cy = fn.random.uniform(range=[0.0, 1.0]) if random else fn.full(0.7, shape=())
    x0, y0 = dmath.clamp(cx - ratio / 2, 0.0, 1.0), dmath.clamp(cy - ratio / 2, 0.0, 1.0)
    x1, y1 = dmath.clamp(cx + ratio / 2, 0.0, 1.0), dmath.clamp(cy + ratio / 2, 0.0, 1.0)
    x0, y0, x1, y1 = (fn.cast(dmath.floor(v * SIZE), dtype=types.INT32) for v in (x0, y0, x1, y1))
    types.Constant([0, 1], dtype=types.INT32)
    anchors = fn.stack(fn.stack(y0 * 0, x0 * 0), fn.stack(y0, x0))
    shapes = fn.stack(fn.stack(y0 * 0 + SIZE, x0 * 0 + SIZE), fn.stack(y1 - y0, x1 - x0))
    order = [1, 2, 3, 0]
    other = fn.permute_batch(images, indices=order)
    outputs = fn.multi_paste(
        images,
        in_ids=fn.stack(
            *[fn.external_source(lambda k=k: [np.int32((i + k) % 4) for i in range(4)], batch=True) for k in (0, 1)]
        ),
        output_size=(SIZE, SIZE),
        in_anchors=anchors,
        out_anchors=anchors,
        shapes=shapes,
    )
    share = 1.0 - fn.cast((y1 - y0) * (x1 - x0), dtype=types.FLOAT) / float(SIZE * SIZE)
    return (
        outputs,
        other,
        share * targets + (1.0 - share) * fn.permute_batch(targets, indices=order),
        fn.stack(x0, y0, x1, y1),
    )


@pipeline_def
def erasing(data):
    images, _ = load(data)
    area = fn.random.uniform(range=[0.02, 0.33])
    aspect = dmath.exp(fn.random.uniform(range=[-1.2, 1.2]))
    h, w = dmath.sqrt(area / aspect), dmath.sqrt(area * aspect)
    anchor = fn.random.uniform(range=[0.0, 1.0], shape=[2]) * fn.stack(1.0 - dmath.min(h, 1.0), 1.0 - dmath.min(w, 1.0))
    erased = fn.erase(
        images, anchor=anchor, shape=fn.stack(h, w), axis_names="HW", normalized=True, fill_value=[124, 117, 104]
    )
    fixed = fn.erase(images, anchor=[4, 6, 20, 20], shape=[5, 7, 8, 3], axes=(0, 1), fill_value=0)
    grid = fn.grid_mask(images, tile=12, ratio=0.4, angle=0.3, shift_x=3.0, shift_y=2.0)
    return erased, fixed, grid


@pipeline_def
def mosaic(data):
    encoded, _labels = fn.readers.file(file_root=os.path.join(data, "classes"))
    images = fn.decoders.image(encoded)
    parts = [
        fn.resize(fn.permute_batch(images, indices=[(i + k) % 4 for i in range(4)]), size=[20, 24]) for k in range(4)
    ]
    rows = fn.cat(parts[0], parts[1], axis=1), fn.cat(parts[2], parts[3], axis=1)
    return fn.cat(*rows, axis_name="H"), fn.stack(*parts, axis=0, axis_name="F")


def run(pipe, count):
    pipe.build()
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def main(data):
    kw = {"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 5}
    found = {}
    found["fixed mixup"] = run(fixed_mixup(data, **kw), 3)
    found["mixup one"] = run(mixup(data, 1.0, **kw), 2)
    found["cutmix fixed"] = run(cutmix(data, random=False, **kw), 2)
    found["mosaic"] = run(mosaic(data, **kw), 3)
    erased = run(erasing(data, **kw), 25)
    found["fixed erase"] = [b[1:] for b in erased[:2]]
    found["drawn_erased"] = [x for b in erased for x in b[0]]
    mixed = run(mixup(data, None, **kw), 40)
    found["drawn_mixup"] = [x for b in mixed for x in b[0]]
    found["drawn_targets"] = [x for b in mixed for x in b[1]]
    cut = run(cutmix(data, **kw), 60)
    found["drawn_cutmix"] = [x for b in cut for x in b[0]]
    found["drawn_cut_targets"] = [x for b in cut for x in b[2]]
    found["target sums"] = [round(float(x.sum()), 4) for b in cut for x in b[2]]
    return found
