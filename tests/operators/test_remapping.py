"""Perspective warps against DALI, maps and morphology against OpenCV, sequences against DALI."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE, noise, numpy_batch
from operator_comparison import on_each_level
from peers import peer

from pixelmill import ArgumentError, DataError, types

cv2 = peer("cv2")

MATRIX = [1.1, 0.1, -3.3, 0.05, 0.9, 2.2, 0.0005, -0.0008, 1.0]
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "replicate": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "reflect_101": cv2.BORDER_REFLECT_101,
}


def smooth(shape, dtype=np.uint8, seed=0):
    """Make an image in which neighbors are alike, so that a small error of a place is a small error of a level."""
    image = cv2.GaussianBlur(noise((*shape, 3), seed=seed), (5, 5), 0)
    return image.astype(dtype) * (100 if dtype == np.uint16 else 1)


def outputs(module, graph, samples, layout="HWC"):
    """Run a graph on samples of one package."""

    @module.pipeline_def(batch_size=len(samples), num_threads=2, device_id=None)
    def pipeline():
        made = graph(module, module.fn.external_source(source=lambda: samples, layout=layout))
        return tuple(made) if isinstance(made, (list, tuple)) else made

    pipe = pipeline()
    return [numpy_batch(output) for output in pipe.run()]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"inverse_map": False},
        {"pixel_origin": "center"},
        {"size": [40, 100]},
        {"fill_value": [77.0]},
        {"fill_value": [10.0, 20.0, 30.0]},
        *({"border_mode": mode} for mode in (*BORDERS, "wrap")),
    ],
    ids=str,
)
@pytest.mark.parametrize("interpolation", ["INTERP_NN", "INTERP_LINEAR", "INTERP_CUBIC"])
def test_perspective_is_dalis(interpolation, options):
    samples = [smooth((60, 80)), smooth((3, 9), seed=1), smooth((33, 4), seed=2)]  # DALI hangs on extents of 1

    def graph(m, x):
        chosen = getattr(m.types, interpolation)
        return m.fn.experimental.warp_perspective(x, matrix=MATRIX, interp_type=chosen, **options)

    (ours,), (theirs,) = outputs(HERE, graph, samples), outputs(DALI, graph, samples)
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert np.abs(one.astype(int) - other.astype(int)).max(initial=0) <= (interpolation != "INTERP_NN")


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_perspective_knows_other_types_and_an_input_for_the_matrix(dtype):
    samples = [smooth((30, 40), dtype)]

    def graph(m, x):
        matrix = m.types.Constant(np.float32(MATRIX).reshape(3, 3))
        return m.fn.experimental.warp_perspective(x, matrix, border_mode="replicate")

    (ours,), (theirs,) = outputs(HERE, graph, samples), outputs(DALI, graph, samples)
    assert ours[0].dtype == theirs[0].dtype
    np.testing.assert_allclose(
        ours[0].astype(float), theirs[0].astype(float), atol=1.01 if dtype == np.uint16 else 0.01
    )


def test_every_sample_has_its_own_perspective():
    samples = [smooth((20, 30), seed=seed) for seed in range(3)]
    matrices = [np.float32(MATRIX) + np.float32(0.01) * number for number in range(3)]

    def graph(m, x):
        matrix = m.fn.external_source(source=lambda: matrices)
        return m.fn.experimental.warp_perspective(x, matrix=m.fn.reshape(matrix, shape=[3, 3]))

    (ours,), (theirs,) = outputs(HERE, graph, samples), outputs(DALI, graph, samples)
    for one, other in zip(ours, theirs, strict=True):
        assert np.abs(one.astype(int) - other.astype(int)).max() <= 1


@pytest.mark.parametrize(
    ("interpolation", "opencv"),
    [("INTERP_NN", cv2.INTER_NEAREST), ("INTERP_LINEAR", cv2.INTER_LINEAR), ("INTERP_CUBIC", cv2.INTER_CUBIC)],
)
def test_remap_is_opencvs(interpolation, opencv):
    image = smooth((40, 50)).astype(np.float32)
    random = np.random.default_rng(5)
    across = random.uniform(-4, 54, (23, 31)).astype(np.float32)
    down = random.uniform(-4, 44, (23, 31)).astype(np.float32)
    if opencv != cv2.INTER_NEAREST:  # OpenCV rounds places to 1/32 of a pixel
        across, down = (np.round(places * 32).astype(np.float32) * np.float32(1 / 32) for places in (across, down))

    def graph(m, x):
        maps = m.types.Constant(across), m.types.Constant(down)
        return m.fn.experimental.remap(x, *maps, interp=getattr(m.types, interpolation), pixel_origin="center")

    ((ours,),) = outputs(HERE, graph, [image])
    theirs = cv2.remap(image, across, down, opencv, borderMode=cv2.BORDER_CONSTANT)
    np.testing.assert_allclose(ours, theirs, atol=0.01)


def test_places_far_outside_and_not_a_number_are_outside():
    places = np.float32([[np.nan, np.inf, -np.inf, 3e38, -3e38, 1.0]])

    def graph(m, x):
        return m.fn.experimental.remap(x, m.types.Constant(places), m.types.Constant(np.ones_like(places)))

    ((ours,),) = outputs(HERE, graph, [np.full((4, 4, 3), 9, np.uint8)])
    assert ours[0, :, 0].tolist() == [0, 0, 0, 0, 0, 9]


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(
    ("size", "anchor"), [((3, 3), (-1, -1)), ((5, 2), (0, 1)), ((1, 7), (-1, 6)), ((4, 4), (-1, -1))]
)
@pytest.mark.parametrize("operator", ["dilate", "erode"])
def test_extremes_are_opencvs(operator, size, anchor, border):
    samples = [noise((21, 34, 3)), noise((21, 34, 3), np.float32), noise((21, 34, 3), np.uint16)]
    kernel = np.ones(size[::-1], np.uint8)
    for image in samples:
        (ours,) = on_each_level(
            lambda m, x: getattr(m.fn.experimental, operator)(x, mask_size=size, anchor=anchor, border_mode=border),
            [image],
        )
        theirs = getattr(cv2, operator)(image, kernel, anchor=anchor, borderType=BORDERS[border])
        np.testing.assert_array_equal(ours, theirs)


def test_iterations_are_one_after_the_other():
    image = noise((21, 34, 3))
    ((ours,),) = outputs(HERE, lambda m, x: m.fn.experimental.dilate(x, mask_size=[3, 5], iterations=3), [image])
    np.testing.assert_array_equal(ours, cv2.dilate(image, np.ones((5, 3), np.uint8), iterations=3))


@pytest.mark.parametrize("order", [[2, 0, 0, 3], [1]])
def test_frames_are_rearranged_and_extracted_as_in_dali(order):
    samples = [noise((4, 3, 2)), noise((5, 6, 2), seed=1)]

    def graph(m, x):
        extracted = m.fn.element_extract(x, element_map=order)
        marked = m.fn.per_frame(m.fn.reshape(x, layout="HWC"), replace=True)
        return m.fn.sequence_rearrange(x, new_order=order), marked, *(extracted if len(order) > 1 else [extracted])

    ours, theirs = (outputs(module, graph, samples, "FHW") for module in (HERE, DALI))
    assert len(ours) == len(theirs) == 2 + len(order)
    for one, other in zip(ours, theirs, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (lambda m, x: m.fn.experimental.warp_perspective(x), "matrix is missing"),
        (lambda m, x: m.fn.experimental.warp_perspective(x, matrix=[1.0] * 6), "matrix must be 9 numbers"),
        (lambda m, x: m.fn.experimental.warp_perspective(x, matrix=MATRIX, size=[0, 4]), "size must be two positive"),
        (
            lambda m, x: m.fn.experimental.warp_perspective(x, matrix=MATRIX, interp_type=types.INTERP_LANCZOS3),
            "INTERP_NN, INTERP_LINEAR or INTERP_CUBIC",
        ),
        (lambda m, x: m.fn.experimental.dilate(x, mask_size=[0, 3]), "mask_size"),
        (lambda m, x: m.fn.experimental.erode(x, mask_size=[300, 3]), "at most 255"),
        (lambda m, x: m.fn.sequence_rearrange(x, new_order=[0]), "starts with F"),
        (lambda m, x: m.fn.per_frame(x), "replace=True"),
    ],
)
def test_wrong_arguments_are_refused(graph, message):
    with pytest.raises(ArgumentError, match=message):
        outputs(HERE, graph, [noise((4, 5, 3))])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            lambda m, x: m.fn.experimental.warp_perspective(x, matrix=MATRIX, fill_value=[1.0, 2.0]),
            "2 values for 3 channels",
        ),
        (lambda m, x: m.fn.experimental.warp_perspective(x, matrix=MATRIX, size=[60000, 60000]), "above the limit"),
        (lambda m, x: m.fn.experimental.dilate(x, anchor=[3, 0]), "outside of the mask"),
        (lambda m, x: m.fn.experimental.remap(x, x, x), "must be float"),
        (
            lambda m, x: m.fn.sequence_rearrange(m.fn.reshape(x, layout="FWC"), new_order=[4]),
            r"new_order\[0\] must be between 0 and the length of the sequence, 4, got 4",
        ),
    ],
)
def test_samples_that_do_not_fit_are_named(graph, message):
    with pytest.raises(DataError, match=message):
        outputs(HERE, graph, [noise((4, 5, 3))])


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("border", ["constant", "replicate"])
def test_every_level_takes_the_same_pixels_between_others(dtype, border):
    """Places inside, near every edge, outside and nowhere; rows of any length."""
    image = noise((37, 53, 3), dtype=np.uint8).astype(dtype)
    for width in (1, 8, 9, 60, 67):
        y, x = np.mgrid[:41, :width].astype(np.float32)
        map_x, map_y = x * np.float32(0.93) - np.float32(2.3) + y * np.float32(0.1), y - np.float32(1.7) + x / 16
        map_x[5, width // 2], map_y[7, width // 3] = np.nan, np.inf
        (made,) = on_each_level(
            lambda m, i, a, b: m.fn.experimental.remap(i, a, b, pixel_origin="center"), [image], [map_x], [map_y]
        )
        wanted = cv2.remap(image, map_x, map_y, cv2.INTER_LINEAR)
        inside = (map_x >= 0) & (map_x <= 52) & (map_y >= 0) & (map_y <= 36)
        np.testing.assert_allclose(made[inside].astype(float), wanted[inside].astype(float), atol=9)  # OpenCV: 32nds
    for scale in (0.7, 1.3):
        matrix = [scale, 0.1, -3.3, 0.05, scale, 2.2, 0.0005, -0.0008, 1.0]
        warp = lambda m, i: m.fn.experimental.warp_perspective(i, matrix=matrix, border_mode=border)  # noqa: E731,B023
        on_each_level(warp, [image])
