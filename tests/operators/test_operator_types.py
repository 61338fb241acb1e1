"""Element types: whatever type of input and of result DALI's operators take, ours take with the same results.

The tables say what DALI 2.4 takes on the CPU; they were found by trying all types. Ours take more.
"""

from __future__ import annotations

import warnings
from itertools import repeat

import numpy as np
import pytest
from dali_runs import DALI, HERE, numpy_batch
from reference import ENTRIES

WHOLE = "u1 u2 u4 u8 i1 i2 i4 i8"
ALL = f"{WHOLE} f2 f4 f8 b1"
INPUTS = {
    ALL: "transpose cast random.uniform random.normal random.coin_flip random.beta random.choice shapes reshape "
    "reinterpret expand_dims squeeze copy full_like zeros_like ones_like cast_like permute_batch get_property "
    "per_frame sequence_rearrange",
    f"{WHOLE} f2 f4 f8": "crop slice gaussian_blur",
    f"{WHOLE} f4 f8": "flip stack cat element_extract one_hot",
    f"{WHOLE} f2 f4 b1": "pad",
    "u1 u2 i2 i4 f2 f4": "crop_mirror_normalize",
    "u1 u2 i2 f4": "resize resize_crop_mirror random_resized_crop filter tensor_resize",
    "u1 i2 i4 f2 f4": "hue saturation hsv color_twist",
    "u1": "color_space_conversion equalize paste clahe jpeg_compression_distortion",
    f"{WHOLE} f2 f4": "laplacian erase",
    "u1 f4": "sphere water",
    f"{WHOLE} f4": "noise.gaussian noise.salt_and_pepper noise.shot reductions.max reductions.min reductions.sum "
    "reductions.mean reductions.mean_square reductions.rms reductions.variance reductions.std_dev",
    "u1 i2 i4 f4": "rotate warp_affine grid_mask multi_paste brightness contrast brightness_contrast",
    "u1 u2 i2 i4 f4": "coord_transform",
    "u1 u2 u4 i1 i2 i4 i8": "random_crop_generator",
    WHOLE: "lookup_table",
    "u1 u2 u4 i1 i2 i4 f4": "normalize",
    "f4": "bb_flip bbox_paste bbox_rotate box_encoder random_bbox_crop coord_flip",
    "u1 u2 u4 i1 i2 i4 b1": "segmentation.random_object_bbox",
    f"{WHOLE} f4 b1": "segmentation.random_mask_pixel",
}
TAKEN = {name: types for types, names in INPUTS.items() for name in names.split()}
# No type of theirs comes from an input of many types.
WITHOUT = {
    *("constant", "full", "zeros", "ones", "batch_permutation", "roi_random_crop", "segmentation.select_masks"),
    *(name for name in ENTRIES if name.startswith(("transforms.", "experimental."))),
    *("external_source", "python_function", "dl_tensor_python_function"),
}

KERNEL = np.float32([[0.5, -0.25], [0.25, 0.5]])
OWN_OR_FLOAT = {kind: f"{kind} f4" for kind in WHOLE.split()}
CALLS = {
    "brightness": (lambda m, x, t: m.fn.brightness(x, brightness=1.5, dtype=t), {"u1 i2 i4 f4": "u1 i2 i4 f4"}),
    "contrast": (lambda m, x, t: m.fn.contrast(x, contrast=0.7, dtype=t), {"u1 i2 i4 f4": "u1 i2 i4 f4"}),
    "brightness_contrast": (
        lambda m, x, t: m.fn.brightness_contrast(x, brightness=1.2, contrast=0.7, dtype=t),
        {"u1 i2 i4 f4": "u1 i2 i4 f4"},
    ),
    "hue": (lambda m, x, t: m.fn.hue(x, hue=60.0, dtype=t), {"u1 i2 i4 f2 f4": "u1 i2 i4 f2 f4"}),
    "saturation": (lambda m, x, t: m.fn.saturation(x, saturation=0.4, dtype=t), {"u1 i2 i4 f2 f4": "u1 i2 i4 f2 f4"}),
    "hsv": (lambda m, x, t: m.fn.hsv(x, hue=-30.0, value=1.2, dtype=t), {"u1 i2 i4 f2 f4": "u1 i2 i4 f2 f4"}),
    "color_twist": (
        lambda m, x, t: m.fn.color_twist(x, hue=10.0, brightness=0.8, dtype=t),
        {"u1 i2 i4 f2 f4": "u1 i2 i4 f2 f4"},
    ),
    # DALI blurs halves in half precision on the way to floats.
    "gaussian_blur": (
        lambda m, x, t: m.fn.gaussian_blur(x, sigma=1.5, dtype=t),
        {**OWN_OR_FLOAT, "f2": "f2", "f4": "f4", "f8": "f4 f8"},
    ),
    "laplacian": (lambda m, x, t: m.fn.laplacian(x, scale=0.25, dtype=t), {**OWN_OR_FLOAT, "f2": "f2 f4", "f4": "f4"}),
    "filter": (
        lambda m, x, t: m.fn.filter(x, m.types.Constant(KERNEL), border="clamp", dtype=t),
        {"u1": "u1 f4", "u2": "u2 f4", "i2": "i2 f4", "f4": "f4"},
    ),
    "crop": (
        lambda m, x, t: m.fn.crop(x, crop=(5, 5), dtype=t),
        {kind: f"u1 {kind} f2 f4" for kind in [*WHOLE.split(), "f8"]},
    ),
    "slice": (
        lambda m, x, t: m.fn.slice(x, start=[1, 2], shape=[4, 5], dtype=t),
        {kind: f"u1 {kind} f2 f4" for kind in [*WHOLE.split(), "f8"]},
    ),
    "crop_mirror_normalize": (
        lambda m, x, t: m.fn.crop_mirror_normalize(x, mean=[10, 20, 30], std=[4, 5, 6], dtype=t),
        {"u1 u2 i2 i4 f2 f4": "u1 i1 f2 f4"},
    ),
    "resize": (
        lambda m, x, t: m.fn.resize(x, size=(9, 11), dtype=t),
        {"u1": "u1 f4", "u2": "u2 f4", "i2": "i2 f4", "f4": "f4"},
    ),
    "tensor_resize": (
        lambda m, x, t: m.fn.tensor_resize(x, sizes=[7, 8], axes=[0, 1], dtype=t),
        {"u1": "u1 f4", "u2": "u2 f4", "i2": "i2 f4", "f4": "f4"},
    ),
    "resize_crop_mirror": (
        lambda m, x, t: m.fn.resize_crop_mirror(x, size=(12, 14), crop=(6, 5), mirror=1, dtype=t),
        {"u1": "u1 f4", "u2": "u2 f4", "i2": "i2 f4", "f4": "f4"},
    ),
    "rotate": (
        lambda m, x, t: m.fn.rotate(x, angle=30.0, fill_value=7, dtype=t),
        {"u1": "u1 f4", "i2": "i2 f4", "i4": "i4 f4", "f4": "u1 i2 i4 f4"},
    ),
    "warp_affine": (
        lambda m, x, t: m.fn.warp_affine(x, matrix=[1, 0.1, 1, 0, 1, 0], fill_value=7, dtype=t),
        {"u1": "u1 f4", "i2": "i2 f4", "i4": "i4 f4", "f4": "u1 i2 i4 f4"},
    ),
    "coord_transform": (
        lambda m, x, t: m.fn.coord_transform(x, M=2.0, T=[1, 2, 3], dtype=t),
        {"u1": "u1 f4", "u2": "u2 f4", "i2": "i2 f4", "i4": "i4 f4", "f4": "f4"},
    ),
    "multi_paste": (lambda m, x, t: m.fn.multi_paste(x, x, dtype=t), {"u1 i2 i4 f4": "u1 i2 i4 f4"}),
    "normalize": (
        lambda m, x, t: m.fn.normalize(x, mean=50.0, stddev=20.0, dtype=t),
        {"u1 u2 u4 i1 i2 i4 f4": "u1 u2 u4 i1 i2 i4 f4"},
    ),
    "one_hot": (
        lambda m, x, t: m.fn.one_hot(x, num_classes=9, dtype=t),
        {f"{WHOLE} f4 f8": f"{WHOLE} f4 f8"},
    ),
    "lookup_table": (
        lambda m, x, t: m.fn.lookup_table(x, keys=[1, 20], values=[0.5, 3.0], default_value=-1.0, dtype=t),
        {WHOLE: ALL},
    ),
    "zeros_like": (lambda m, x, t: m.fn.zeros_like(x, dtype=t), {ALL: ALL}),
    "ones_like": (lambda m, x, t: m.fn.ones_like(x, dtype=t), {ALL: ALL}),
    "shapes": (lambda m, x, t: m.fn.shapes(x, dtype=t), {ALL: "u4 u8 i4 i8 f4 f8"}),
    "reductions.sum": (
        lambda m, x, t: m.fn.reductions.sum(x, axes=[0], dtype=t),
        {
            **{kind: f"{kind} u8 f4" for kind in ("u2", "u4")},
            **{kind: f"{kind} i8 f4" for kind in ("i2", "i4")},
            **{kind: kind for kind in ("u8", "i8", "f4")},
        },
    ),
    # DALI adds bytes and short integers up in their own type, where sums do not fit.
    "reductions.mean": (
        lambda m, x, t: m.fn.reductions.mean(x, axes=[0, 1], dtype=t),
        {"u1 i1": "f4", **{kind: f"{kind} f4" for kind in ("u2", "u4", "u8", "i2", "i4", "i8")}, "f4": "f4"},
    ),
    "reductions.mean_square": (
        lambda m, x, t: m.fn.reductions.mean_square(x, axes=[0, 1], dtype=t),
        {"u1 u2 u4 u8": "u8 f4", "i1 i2 i4 i8": "i8 f4", "f4": "f4"},
    ),
    "reductions.rms": (
        lambda m, x, t: m.fn.reductions.rms(x, axes=[0, 1], dtype=t),
        {"u1 u2 i1 i2": "f4", **{kind: f"{kind} f4" for kind in ("u4", "u8", "i4", "i8")}, "f4": "f4"},
    ),
    "random.uniform": (lambda m, x, t: m.fn.random.uniform(x, range=[0.0, 9.0], dtype=t), {"u1": f"{WHOLE} f4 f8"}),
    "random.normal": (lambda m, x, t: m.fn.random.normal(x, mean=50.0, dtype=t), {"u1": f"{WHOLE} f4 f8"}),
    "random.coin_flip": (lambda m, x, t: m.fn.random.coin_flip(x, dtype=t), {"u1": "u1 i4 b1"}),
    "random.beta": (lambda m, x, t: m.fn.random.beta(x, dtype=t), {"u1": "f4 f8"}),
}


def samples(kind, dtype):
    """Make small numbers that every type holds."""
    random = np.random.default_rng(0)
    made = {
        "pictures": random.integers(0, 100, (2, 12, 10, 3)),
        "masks": random.integers(0, 3, (2, 12, 10, 1)),
        "boxes": random.random((2, 4, 4)) * 0.4 + [0, 0, 0.1, 0.1],
        "shapes": np.array([[40, 50, 3], [60, 20, 3]]),
    }[kind]
    return [sample.astype(dtype) for sample in made]


def results(module, graphs, kind):
    """Run several graphs, each on inputs of its own type, in one pipeline."""
    pipe = module.Pipeline(batch_size=2, num_threads=1, device_id=None, seed=1, prefetch_queue_depth=1)
    layout = "HWC" if kind == "pictures" else None
    with pipe, warnings.catch_warnings(record=True):  # DALI's, about its older names
        outputs = []
        for dtype, graph in graphs:
            node = graph(module, module.fn.external_source(source=repeat(samples(kind, dtype)), layout=layout))
            outputs += node if isinstance(node, (list, tuple)) else [node]
        pipe.set_outputs(*outputs)
        pipe.build()
        return [numpy_batch(batch) for batch in pipe.run()]


def compare(graphs, kind, *, level, real=0.0, draws=False):
    for mine, theirs in zip(results(HERE, graphs, kind), results(DALI, graphs, kind), strict=True):
        for got, wanted in zip(mine, theirs, strict=True):
            assert got.dtype == wanted.dtype
            if draws:
                assert got.ndim == wanted.ndim
                continue
            assert got.shape == wanted.shape
            largest = max(1.0, np.abs(wanted.astype(float)).max(initial=0))
            allowed = max(real, {"f2": 2**-9, "f4": 1e-4, "f8": 1e-4}.get(wanted.dtype.str[1:], 1e-6) * largest)
            allowed = allowed if wanted.dtype.kind == "f" else max(level, 1e-6 * largest)
            np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=0, atol=allowed)


def test_every_operator_has_its_types():
    named = {name for name, entry in ENTRIES.items() if entry.inputs in ("pictures", "masks", "boxes", "shapes")}
    named -= {name for name, entry in ENTRIES.items() if entry.unlike_dali}
    assert named - WITHOUT == set(TAKEN)


@pytest.mark.parametrize("name", TAKEN)
def test_inputs_may_have_every_type_that_dali_takes(name):
    entry = ENTRIES[name]
    graphs = [(np.dtype(kind), entry.graph) for kind in TAKEN[name].split()]
    compare(graphs, entry.inputs, level=entry.level, real=entry.real, draws=entry.draws)


def data_type(module, kind):
    dtype = np.dtype(kind)
    return getattr(module.types, {"float32": "FLOAT"}.get(dtype.name, dtype.name.upper()))


@pytest.mark.parametrize("name", CALLS)
def test_results_may_have_every_type_that_dali_takes(name):
    call, pairs = CALLS[name]
    graphs = [
        (np.dtype(kind), lambda m, x, out=out: call(m, x, data_type(m, out)))
        for kinds, outs in pairs.items()
        for kind in kinds.split()
        for out in outs.split()
    ]
    compare(graphs, "pictures", level=1, draws=name.startswith("random."))
