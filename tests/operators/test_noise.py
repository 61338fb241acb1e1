"""Noise and large draws: the distributions, and that a number depends on nothing but its place."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dali_runs import DALI, make, noise, numpy_batch, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import graph_of, on_each_level, operator, ours

import pixelmill
from pixelmill import ArgumentError

TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float32]
ALARM = 2.0  # of the Kolmogorov-Smirnov statistic; chance passes it once in 1500 times, and our seeds are fixed

normal_cdf = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))


def distance(values, cdf):
    """Return the statistic of Kolmogorov and Smirnov against a distribution."""
    shares = cdf(np.sort(values.ravel().astype(np.float64)))
    count = len(shares)
    steps = np.arange(count + 1) / count
    return math.sqrt(count) * max((steps[1:] - shares).max(), (shares - steps[:-1]).max())


def distance_between(one, other):
    """Return the statistic of Kolmogorov and Smirnov between two samples."""
    one, other = np.sort(one.ravel()), np.sort(other.ravel())
    places = np.concatenate([one, other])
    shares = [np.searchsorted(values, places, side="right") / len(values) for values in (one, other)]
    return math.sqrt(len(one) * len(other) / (len(one) + len(other))) * np.abs(shares[0] - shares[1]).max()


def drawn(name, image, count=1, module=None, layout="HWC", **arguments):
    """Run a random operator on `count` equal images."""
    graph = graph_of(name, seed=5, **arguments)
    if module is None:
        return ours(graph, [image] * count, layouts=layout)
    return numpy_batch(make(module, graph, [image] * count, layouts=layout).run()[0])


# Large draws


def test_normals_and_uniforms_have_their_distributions():
    image = np.zeros((120, 130, 3), np.float32)
    (normals,) = drawn("random.normal", image, mean=2.0, stddev=3.0)
    (uniforms,) = drawn("random.uniform", image, range=[-1.0, 4.0])
    assert distance((normals - 2) / 3, normal_cdf) < ALARM
    assert distance(uniforms, lambda x: (x + 1) / 5) < ALARM
    standard = (normals.ravel().astype(float) - 2) / 3
    assert abs(standard.mean()) < 0.02 and abs(standard.std() - 1) < 0.02
    assert abs((standard**3).mean()) < 0.05 and abs((standard**4).mean() - 3) < 0.1
    for values in (standard, standard**2, np.abs(standard)):  # the two of a pair know nothing of each other
        assert abs(np.corrcoef(values[::2], values[1::2])[0, 1]) < 0.03


def test_a_number_depends_on_its_place_alone():
    shapes = [(7,), (2048,), (2049,), (5000,), (13, 17, 3)]
    for name in ("random.normal", "random.uniform", "random.coin_flip"):
        longest = None
        for shape in sorted(shapes, key=np.prod, reverse=True):
            draw = lambda m, x: operator(m, name)(shape=list(shape), seed=3)  # noqa: B023, E731
            values = ours(draw, [np.zeros(1)], layouts="")[0].ravel()
            longest = values if longest is None else longest
            np.testing.assert_array_equal(values, longest[: values.size])


def test_normals_are_those_of_box_and_muller():
    uniform = lambda m, x: m.fn.random.uniform(shape=[4000], range=[0.0, 1.0], seed=9, dtype=m.types.FLOAT)  # noqa: E731
    normal = lambda m, x: m.fn.random.normal(shape=[4000], seed=9)  # noqa: E731
    words = ours(uniform, [np.zeros(1)], layouts="")[0].astype(np.float64)  # an operator's own seed is its whole key
    radius, angle = np.sqrt(-2 * np.log(words[::2] + 2.0**-33)), 2 * np.pi * words[1::2]
    wanted = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).ravel()
    np.testing.assert_allclose(ours(normal, [np.zeros(1)], layouts="")[0], wanted, atol=2e-5)


@pytest.mark.parametrize("name", ["random.normal", "random.uniform", "random.coin_flip"])
def test_draws_are_the_same_on_each_level(name):
    on_each_level(graph_of(name, seed=2), [np.zeros((61, 47, 3), np.float32), np.zeros((1, 3, 1), np.float32)])


# Gaussian noise


@pytest.mark.parametrize("dtype", TYPES)
def test_gaussian_noise_is_normal(dtype):
    image = np.full((80, 90, 3), 100, dtype)
    (got,) = drawn("noise.gaussian", image, mean=1.5, stddev=6.0)
    assert got.dtype == dtype
    difference = got.astype(np.float64) - 101.5
    if dtype == np.float32:
        assert distance(difference / 6, normal_cdf) < ALARM
    assert abs(difference.mean()) < 0.2
    expected = 6.0 if dtype != np.int8 else 5.95  # what passes 127 is cut
    assert abs(difference.std() - expected) < 0.2


def test_gaussian_noise_is_distributed_as_dalis():
    image = np.full((100, 100, 3), 30, np.uint8)
    (mine,), (theirs,) = (drawn("noise.gaussian", image, module=m, stddev=20.0) for m in (None, DALI))
    assert distance_between(mine, theirs) < ALARM
    (mine,), (theirs,) = (drawn("noise.gaussian", image, module=m, mean=-3.6, stddev=0.0) for m in (None, DALI))
    np.testing.assert_array_equal(mine, theirs)


def test_each_sample_may_have_its_mean_and_deviation():
    batch = [np.zeros((60, 70, 1), np.float32)] * 3
    means, deviations = ([np.float32(x) for x in values] for values in ([0, 5, -5], [1, 0, 2]))
    got = ours(graph_of("noise.gaussian", ["mean", "stddev"]), batch, means, deviations, layouts=["HWC", "", ""])
    for values, mean, deviation in zip(got, means, deviations, strict=True):
        assert abs(values.mean() - mean) < 0.15 and abs(values.std() - deviation) < 0.1


# Salt and pepper


@given(st.data())
@settings(max_examples=20)
def test_salt_and_pepper_fall_as_often_as_they_should(data):
    draw = data.draw
    dtype = draw(st.sampled_from(TYPES))
    prob, salt = draw(st.sampled_from([0.0, 0.05, 0.5, 1.0])), draw(st.sampled_from([0.0, 0.3, 1.0]))
    values = {"salt_val": 77.0, "pepper_val": 3.0} if draw(st.booleans()) else {}
    image = np.full((70, 80, 3), 50, dtype)
    (got,) = drawn("noise.salt_and_pepper", image, prob=prob, salt_vs_pepper=salt, **values)
    whole = dtype != np.float32
    white = values.get("salt_val", np.iinfo(dtype).max if whole else 1)
    black = values.get("pepper_val", np.iinfo(dtype).min if whole else -1)
    assert got.dtype == dtype and (got == got[..., :1]).all()
    pixels = got[..., 0]
    shares = [(pixels == dtype(value)).mean() for value in (50, white, black)]
    for share, wanted in zip(shares, [1 - prob, prob * salt, prob * (1 - salt)], strict=True):
        assert abs(share - wanted) <= 4 * math.sqrt(wanted * (1 - wanted) / pixels.size)


@pytest.mark.parametrize(
    ("layout", "shape"), [("CHW", (3, 50, 60)), ("CFHW", (3, 2, 50, 60)), ("FHWC", (2, 50, 60, 3)), ("", (50, 3))]
)
def test_channels_share_salt_and_pepper_unless_told_otherwise(layout, shape):
    axis = layout.index("C") if layout else -1
    image = np.full(shape, 50, np.uint8)
    for module in (None, DALI):
        options = {"module": module, "layout": layout, "prob": 0.5}
        results = [drawn("noise.salt_and_pepper", image, **options, per_channel=each)[0] for each in (False, True)]
        shared, single = (np.moveaxis(values, axis, -1) for values in results)
        assert (shared == shared[..., :1]).all() and not (single == single[..., :1]).all()
        if layout in ("FHWC", "CFHW"):
            assert not (shared[0] == shared[1]).all()


# Shot noise


def poisson_cdf(mean):
    numbers = np.arange(int(mean + 12 * math.sqrt(mean) + 30))
    logarithms = numbers * math.log(mean) - mean - np.array([math.lgamma(n + 1) for n in numbers])
    return np.cumsum(np.exp(logarithms))


@pytest.mark.parametrize("mean", [0.05, 0.9, 5.0, 11.9, 12.0, 12.7, 40.5, 300.0, 999.0, 1000.0, 30000.0])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_grains_are_those_of_poisson(mean, dtype):
    factor = np.float32(4.0) if dtype == np.float32 else np.float32(1.0)
    image = np.full((100, 100, 3), mean * factor, dtype)
    expected = float(image[0, 0, 0]) / factor
    (got,) = drawn("noise.shot", image, factor=float(factor))
    if expected == 0:
        assert not got.any()
        return
    grains = np.rint(got / factor).astype(int)
    np.testing.assert_array_equal(grains * factor, got)
    # Steps of a discrete distribution only make the statistic smaller.
    shares = np.searchsorted(np.sort(grains.ravel()), np.arange(len(poisson_cdf(expected))), side="right") / grains.size
    assert math.sqrt(grains.size) * np.abs(shares - poisson_cdf(expected)).max() < ALARM
    assert abs(grains.mean() - expected) < 5 * math.sqrt(expected / grains.size)
    assert abs(grains.var() / expected - 1) < 0.05 + 4 * math.sqrt(1 / expected / grains.size)


@pytest.mark.parametrize("factor", [0.05, 0.1, 1.0, 7.5, 20.0])
@pytest.mark.parametrize("level", [1, 40, 128])
def test_bytes_have_their_grains_too(factor, level):
    (got,) = drawn("noise.shot", np.full((100, 100, 3), level, np.uint8), factor=factor)
    cdf = poisson_cdf(level / factor)
    levels = np.floor(np.arange(len(cdf)) * np.float32(factor) + 0.5).clip(0, 255)
    wanted = [cdf[levels <= limit].max(initial=0) for limit in range(256)]
    shares = np.searchsorted(np.sort(got.ravel()), np.arange(256), side="right") / got.size
    assert math.sqrt(got.size) * np.abs(shares - wanted).max() < ALARM


def test_shot_noise_is_distributed_as_dalis():
    for dtype in (np.uint8, np.float32):
        image = np.full((60, 60, 3), 60, dtype)
        (mine,), (theirs,) = (drawn("noise.shot", image, module=m, factor=2.0) for m in (None, DALI))
        assert distance_between(mine, theirs) < ALARM


def test_shot_noise_keeps_what_the_documentation_says():
    # DALI takes 12 for a factor that is left out, and makes everything 0 when it is 0.
    image = np.full((40, 40, 3), 100, np.uint8)
    assert set(np.unique(drawn("noise.shot", image)[0])) <= set(range(0, 256, 20)) | {255}
    np.testing.assert_array_equal(drawn("noise.shot", image, factor=0.0)[0], image)
    assert not drawn("noise.shot", np.full((4, 4, 1), -50, np.int16), factor=0.5)[0].any()


# What holds for all


SPECIMENS = {"noise.gaussian": {"stddev": 9.0}, "noise.salt_and_pepper": {"prob": 0.3}, "noise.shot": {"factor": 5.0}}


@pytest.mark.parametrize("name", SPECIMENS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_noise_is_the_same_on_each_level_and_for_each_view(name, dtype):
    graph = graph_of(name, seed=4, **SPECIMENS[name])
    image = (noise((31, 47, 3), np.float32) * 200).astype(dtype)
    (straight,) = on_each_level(graph, [image])
    flipped = lambda m, x: graph(m, m.fn.flip(x))  # noqa: E731
    np.testing.assert_array_equal(ours(flipped, [np.ascontiguousarray(image[:, ::-1])])[0], straight)


@pytest.mark.parametrize("name", SPECIMENS)
def test_threads_and_batches_change_nothing(name):
    graph = graph_of(name, **SPECIMENS[name])
    pictures = [noise((20, 25, 3), seed=i) for i in range(6)]

    def epoch(size, threads):
        pipe = make_pipeline(graph, pictures, size, threads)
        return [x for _ in range(6 // size) for x in numpy_batch(pipe.run()[0])]

    wanted = epoch(6, 1)
    assert not any(
        (wanted[0] - pictures[0] == other - image).all() for other, image in zip(wanted[1:], pictures[1:], strict=True)
    )
    for size, threads in [(6, 3), (2, 2), (1, 1), (3, 2)]:
        for got, expected in zip(epoch(size, threads), wanted, strict=True):
            np.testing.assert_array_equal(got, expected)


def make_pipeline(graph, pictures, size, threads):
    """Build a pipeline over images that come one after the other, `size` at a time."""
    pipe = pixelmill.Pipeline(batch_size=size, num_threads=threads, device_id=None, seed=11, prefetch_queue_depth=1)
    with pipe:
        data = pixelmill.fn.external_source(
            source=lambda info: pictures[info.idx_in_epoch % 6], batch=False, layout="HWC"
        )
        pipe.set_outputs(graph(pixelmill, data))
    return pipe


@pytest.mark.parametrize("name", SPECIMENS)
@pytest.mark.parametrize("shape", [(0, 4, 3), (4, 0, 3), (1, 1, 1), (5, 3, 2)])
def test_small_and_empty_images_keep_their_shape(name, shape):
    (got,) = drawn(name, np.zeros(shape, np.uint8))
    assert got.shape == shape and got.dtype == np.uint8


@pytest.mark.parametrize(
    ("name", "wrong", "text"),
    [
        ("noise.salt_and_pepper", {"prob": 1.5}, "prob must be from 0 to 1, got 1.5"),
        ("noise.salt_and_pepper", {"salt_vs_pepper": -1.0}, "salt_vs_pepper must be from 0 to 1"),
        ("noise.gaussian", {"stddev": "large"}, "stddev must be a number, got 'large'"),
        ("noise.shot", {"factor": "loud"}, "factor must be a number, got 'loud'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused_with_the_users_line(name, wrong, text):
    with pytest.raises(ArgumentError, match=f"(?s)^{name}: {text}.*created at operator_comparison.py"):
        ours(graph_of(name, **wrong), [noise((4, 5, 3))])


def test_arguments_that_do_not_exist_are_refused():
    with pytest.raises(TypeError, match=r"noise.shot: got an unexpected argument 'factors'; did you mean factor\?"):
        ours(graph_of("noise.shot", factors=3), [noise((4, 5, 3))])


def test_what_dali_refuses_is_refused():
    for name in SPECIMENS:
        assert refused(graph_of(name), [np.zeros((4, 5, 3), np.float64)]) == (True, True)
    assert refused(graph_of("noise.salt_and_pepper"), [noise((4, 5))], layouts="HW") == (True, True)
    graph, prob = graph_of("noise.salt_and_pepper", ["prob"]), [np.float32(1.5)]
    assert refused(graph, [noise((4, 5, 3))], prob, layouts=["HWC", ""]) == (True, True)
