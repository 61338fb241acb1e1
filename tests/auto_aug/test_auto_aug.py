"""AutoAugment, RandAugment and TrivialAugment: DALI's augmentations, magnitudes, policies and pixels."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from itertools import product, repeat

import numpy as np
import pytest
from dali_runs import DALI, HERE, close, noise, numpy_batch

import pixelmill
from pixelmill import ArgumentError, auto_aug, fn, types
from pixelmill.auto_aug import augmentations, auto_augment, core, rand_augment, trivial_augment
from pixelmill.create import photo

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.auto_aug.augmentations
    import nvidia.dali.auto_aug.auto_augment
    import nvidia.dali.auto_aug.core
    import nvidia.dali.auto_aug.rand_augment
    import nvidia.dali.auto_aug.trivial_augment

THEIRS = nvidia.dali.auto_aug
BINS = 31
NAMES = [
    *("shear_x", "shear_y", "translate_x", "translate_y", "translate_x_no_shape", "translate_y_no_shape", "rotate"),
    *("brightness", "contrast", "color", "sharpness", "posterize", "solarize", "solarize_add", "invert", "equalize"),
    *("auto_contrast", "identity"),
]
# Dark and light, nearly one color, noise: 24 x 30 pixels so that shifts of some pixels matter.
IMAGES = [
    photo(1, 0, height=24, width=30),
    photo(1, 1, height=31, width=17) // 2,
    noise((20, 25, 3)),
    np.full((12, 14, 3), (7, 200, 255), np.uint8),
    noise((9, 8, 3), seed=4) // 4 + 90,
    photo(1, 2, height=40, width=40),
]
SAMPLES = len(IMAGES)


def run(module, graph, *inputs, conditionals=True, layout="HWC"):
    """Run a graph of nodes; `layout` names the axes of the first."""
    size = len(inputs[0])

    @module.pipeline_def(
        batch_size=size, num_threads=2, device_id=None, seed=3, enable_conditionals=conditionals, prefetch_queue_depth=1
    )
    def pipeline():
        nodes = [module.fn.external_source(source=repeat(inputs[0]), layout=layout)]
        nodes += [module.fn.external_source(source=repeat(batch)) for batch in inputs[1:]]
        return graph(module, *nodes)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe = pipeline()
        pipe.build()
        return [numpy_batch(batch) for batch in pipe.run()]


def same_pixels(graph, *inputs, layout="HWC"):
    mine, theirs = (run(module, graph, *inputs, layout=layout) for module in (HERE, DALI))
    assert len(mine) == len(theirs)
    for here, there in zip(mine, theirs, strict=True):
        for got, wanted in zip(here, there, strict=True):
            close(got, wanted, level=1)
    return mine


def numbers(values):
    return [np.array(value, np.int32) for value in values]


# Facts


def public(module):
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", "").endswith(module.__name__)
    ]


@pytest.mark.parametrize("name", ["auto_augment", "rand_augment", "trivial_augment", "core", "augmentations"])
def test_signatures_are_dalis(name):
    mine, theirs = getattr(auto_aug, name), getattr(THEIRS, name)
    for key in [key for key in dir(theirs) if not key.startswith("_")]:
        other = getattr(theirs, key)
        if not inspect.isfunction(other) or "auto_aug" not in other.__module__:
            continue
        own = getattr(mine, key)
        assert [(p.name, p.default) for p in inspect.signature(own).parameters.values()] == [
            (p.name, p.default) for p in inspect.signature(other).parameters.values()
        ], key


def described(augmentation, bins):
    """Return name, sign rule and the parameters of all bins."""
    if hasattr(augmentation, "_get_magnitudes"):  # DALI's
        magnitudes = augmentation._get_magnitudes(bins)
    else:
        magnitudes = augmentation.magnitudes(bins)
    assert augmentation.name is not None
    if magnitudes is None:
        return augmentation.name, augmentation.randomly_negate, None
    signs = (1, -1) if augmentation.randomly_negate else (1,)
    params = [np.asarray(augmentation.mag_to_param(m * sign), np.float64) for m in magnitudes for sign in signs]
    return augmentation.name, augmentation.randomly_negate, np.stack(params).round(5).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_magnitudes_are_dalis(name):
    mine, theirs = getattr(augmentations, name), getattr(THEIRS.augmentations, name)
    for bins in (1, 11, BINS):
        assert described(mine, bins) == described(theirs, bins)


@pytest.mark.parametrize(
    "name",
    [
        "rand_augment.get_rand_augment_suite",
        "rand_augment.get_rand_augment_non_monotonic_suite",
        "trivial_augment.get_trivial_augment_wide_suite",
    ],
)
@pytest.mark.parametrize("arguments", [(), (False, 10), (False, (10, 20)), (True,), (True, None, (0.5, 0.25))])
def test_suites_are_dalis(name, arguments):
    module, function = name.split(".")
    mine = getattr(getattr(auto_aug, module), function)(*arguments)
    theirs = getattr(getattr(THEIRS, module), function)(*arguments)
    assert [described(each, BINS) for each in mine] == [described(each, BINS) for each in theirs]


POLICIES = ["image_net", "reduced_cifar10", "svhn", "reduced_image_net"]


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_dalis(name):
    mine, theirs = (getattr(module.auto_augment, f"get_{name}_policy")() for module in (auto_aug, THEIRS))
    assert (mine.name, mine.num_magnitude_bins) == (theirs.name, theirs.num_magnitude_bins)
    flat = [
        [[(described(op, policy.num_magnitude_bins), p, m) for op, p, m in sub] for sub in policy.sub_policies]
        for policy in (mine, theirs)
    ]
    assert flat[0] == flat[1]
    assert list(mine.augmentations) == list(theirs.augmentations)


# Pixels


@pytest.mark.parametrize("name", NAMES)
def test_pixels_are_dalis(name):
    """All bins of every augmentation, both signs, several per batch."""

    def graph(m, data, bins, signs, shape):
        library = auto_aug if m is HERE else THEIRS
        augmentation = getattr(library.augmentations, name)
        number = library.core.signed_bin(bins, random_sign=signs)
        outputs = [augmentation(data, magnitude_bin=number, num_magnitude_bins=BINS, shape=shape)]
        if "fill_value" in inspect.signature(augmentation.op).parameters:
            for options in ({"fill_value": None}, {"interp_type": m.types.INTERP_NN, "fill_value": 3}):
                outputs.append(
                    augmentation(data, magnitude_bin=number, num_magnitude_bins=BINS, shape=shape, **options)
                )
        return tuple(outputs)

    cases = list(product(range(BINS), (0, 1)))[:: 1 if name != "identity" else 20]
    pictures = [IMAGES[place % SAMPLES] for place in range(len(cases))]
    shapes = [np.array(picture.shape, np.int64) for picture in pictures]
    bins, signs = (numbers([case[i] for case in cases]) for i in (0, 1))
    same_pixels(graph, pictures, bins, signs, shapes)


def test_fixed_magnitudes_give_dalis_pixels():
    def graph(m, data, signs):
        library = auto_aug if m is HERE else THEIRS
        suite = library.rand_augment.get_rand_augment_suite()
        number = library.core.signed_bin(9, random_sign=signs)
        return tuple(each(data, magnitude_bin=number, num_magnitude_bins=BINS) for each in suite)

    same_pixels(graph, IMAGES, numbers([0, 1, 0, 1, 0, 1]))


def test_videos_give_dalis_pixels():
    def graph(m, data, signs):
        library = auto_aug if m is HERE else THEIRS
        number = library.core.signed_bin(12, random_sign=signs)
        options = {"magnitude_bin": number, "num_magnitude_bins": BINS, "shape": (20, 26)}
        return tuple(getattr(library.augmentations, name)(data, **options) for name in NAMES)

    videos = [np.stack([photo(5, 3 * clip + frame, height=20, width=26) for frame in range(3)]) for clip in range(2)]
    same_pixels(graph, videos, numbers([0, 1]), layout="FHWC")


@pytest.mark.parametrize("scheme", ["rand", "rand_non_monotonic", "trivial"])
def test_schemes_give_dalis_pixels_for_the_same_choices(scheme):
    """Two rounds of choices, signs and bins from outside; shifts are shares of the images' extents."""

    def graph(m, data, first, second, bins, signs, shape):
        library = auto_aug if m is HERE else THEIRS
        suites = {
            "rand": library.rand_augment.get_rand_augment_suite,
            "rand_non_monotonic": library.rand_augment.get_rand_augment_non_monotonic_suite,
            "trivial": library.trivial_augment.get_trivial_augment_wide_suite,
        }
        suite = suites[scheme](use_shape=True)
        options = {"num_magnitude_bins": BINS, "fill_value": 128, "interp_type": None, "shape": shape}
        for chosen in (first, second):
            number = library.core.signed_bin(bins, random_sign=signs)
            data = library.core.select(suite, chosen, data=data, magnitude_bin=number, **options)
        return data

    random = np.random.default_rng(7)
    count = 84
    pictures = [IMAGES[place % SAMPLES] for place in range(count)]
    choices = [numbers(random.integers(0, 14, count)) for _ in range(2)]
    bins, signs = numbers(random.integers(0, BINS, count)), numbers(random.integers(0, 2, count))
    shapes = [np.array(picture.shape, np.int32) for picture in pictures]
    mine, theirs = (run(m, graph, pictures, *choices, bins, signs, shapes)[0] for m in (HERE, DALI))
    shares = []
    for got, wanted in zip(mine, theirs, strict=True):
        assert got.shape == wanted.shape
        shares.append((np.abs(got.astype(int) - wanted.astype(int)) > 1).mean())
    # A difference of one level before a threshold or an equalization is a larger one after it, in few places.
    assert sum(share > 0 for share in shares) <= 0.2 * count and max(shares) < 0.03


@pytest.mark.parametrize("name", POLICIES)
def test_sub_policies_give_dalis_pixels(name):
    """Ours draws the signs; the result must be DALI's for one of the four possibilities."""
    policy, other = (getattr(module.auto_augment, f"get_{name}_policy")() for module in (auto_aug, THEIRS))

    def sure(library, sub_policy):
        return library.core.Policy("sure", 11, [[(op, 1.0, number) for op, _, number in sub_policy]])

    def mine(m, data):
        return tuple(auto_augment.apply_auto_augment(sure(auto_aug, sub), data) for sub in policy.sub_policies)

    def theirs(m, data, *signs):
        made = []
        for sub in other.sub_policies:
            moved = data
            for place, (op, _, number) in enumerate(sub):
                signed = None if number is None else THEIRS.core.signed_bin(number, random_sign=signs[place])
                moved = op(moved, magnitude_bin=signed, num_magnitude_bins=11)
            made.append(moved)
        return tuple(made)

    got = run(HERE, mine, IMAGES)
    wanted = [
        run(DALI, theirs, IMAGES, numbers([a] * SAMPLES), numbers([b] * SAMPLES)) for a, b in product((0, 1), (0, 1))
    ]
    wrong = 0
    for place, sample in product(range(len(got)), range(SAMPLES)):
        differences = [np.abs(got[place][sample].astype(int) - each[place][sample].astype(int)) for each in wanted]
        wrong += min((difference > 1).mean() for difference in differences) > 0.02
    assert wrong <= 0.02 * len(got) * SAMPLES


# What is drawn


def painters(count):
    """Make augmentations that leave their number in the image."""

    def painter(number):
        def paint(data, _):
            return fn.full_like(data, types.Constant(number, dtype=types.UINT8))

        return core.augmentation(paint, name=f"paint{number}")

    return [painter(number) for number in range(count)]


def drawn(graph, samples=4000, seed=1):
    pipe = pixelmill.Pipeline(samples, 2, None, seed)
    with pipe:
        made = graph(fn.full(types.Constant(0, dtype=types.UINT8), shape=[1, 1, 3]))
        pipe.set_outputs(*(made if isinstance(made, tuple) else [made]))
    return [batch.as_array() for batch in pipe.run()]


def equally_likely(values, count):
    found = Counter(np.asarray(values).ravel().tolist())
    assert len(found) == count
    expected = sum(found.values()) / count
    assert all(abs(times - expected) < 5 * expected**0.5 for times in found.values())


def test_operations_are_equally_likely():
    (values,) = drawn(lambda data: rand_augment.apply_rand_augment(painters(7), data, n=1, m=0))
    equally_likely(values[:, 0, 0, 0], 7)


def test_operations_of_one_sample_are_chosen_independently():
    def graph(data):
        first = core.augmentation(lambda data, _: data * types.Constant(2, dtype=types.UINT8), name="a")
        second = core.augmentation(lambda data, _: data * types.Constant(3, dtype=types.UINT8), name="b")
        one = data + types.Constant(1, dtype=types.UINT8)
        return rand_augment.apply_rand_augment([first, second], one, n=3, m=0)

    (values,) = drawn(graph)
    counts = Counter(values[:, 0, 0, 0].tolist())
    for value, share in {8: 1 / 8, 12: 3 / 8, 18: 3 / 8, 27: 1 / 8}.items():
        assert abs(counts[value] / 4000 - share) < 0.04


@pytest.mark.parametrize("seed", [None, 11])
def test_bins_signs_and_operations_are_independent(seed):
    """With one seed for all draws DALI's signs follow from the chosen operation."""

    def graph(data):
        suite = [
            core.augmentation(
                lambda data, parameter, k=k: data * 0.0 + parameter * 10.0 + float(k),
                mag_range=(1, 5),
                randomly_negate=True,
                name=str(k),
            )
            for k in range(4)
        ]
        return trivial_augment.apply_trivial_augment(suite, data, num_magnitude_bins=5, seed=seed)

    (values,) = drawn(graph, samples=8000)
    equally_likely(values[:, 0, 0, 0], 40)


def test_sub_policies_are_equally_likely_and_probabilities_are_kept():
    suite = painters(3)
    policy = core.Policy("paint", 2, [[(suite[0], 0.5, None)], [(suite[1], 1.0, None)], [(suite[2], 0.25, None)]])

    def graph(data):
        return auto_augment.apply_auto_augment(policy, data + types.Constant(9, dtype=types.UINT8))

    (values,) = drawn(graph, samples=12000)
    counts = Counter(values[:, 0, 0, 0].tolist())
    for value, share in {0: 1 / 6, 1: 1 / 3, 2: 1 / 12, 9: 1 / 6 + 1 / 4}.items():
        assert abs(counts[value] / 12000 - share) < 0.02


# Like everything else


@pytest.mark.parametrize("scheme", ["auto_augment", "rand_augment", "trivial_augment"])
def test_results_depend_on_the_sample_alone(scheme):
    def graph(data):
        if scheme == "auto_augment":
            return auto_augment.auto_augment(data)
        if scheme == "rand_augment":
            return rand_augment.rand_augment(data, n=2, m=17)
        return trivial_augment.trivial_augment_wide(data)

    def batches(size, threads, count, **options):
        pipe = pixelmill.Pipeline(size, threads, None, 4, **options)
        with pipe:
            pictures = [photo(2, index, height=32, width=32) for index in range(24)]
            data = fn.external_source(source=lambda info: pictures[info.idx_in_epoch % 24], batch=False, layout="HWC")
            pipe.set_outputs(graph(data))
        return np.concatenate([pipe.run()[0].as_array() for _ in range(count)])

    one = batches(24, 2, 1)
    np.testing.assert_array_equal(one, batches(8, 1, 3))
    np.testing.assert_array_equal(one, batches(6, 2, 4, optimize=False))
    assert len({sample.tobytes() for sample in one}) > 16  # some are shifted out of sight


def test_only_the_chosen_operation_is_run():
    broken = core.augmentation(lambda data, _: fn.crop(data, crop=(1000, 1000)), name="broken")

    def graph(m, data, chosen):
        return core.select([augmentations.identity, broken], chosen, data)

    (got,) = run(HERE, graph, IMAGES, numbers([0] * SAMPLES))
    np.testing.assert_array_equal(got[0], IMAGES[0])
    with pytest.raises(pixelmill.DataError):
        run(HERE, graph, IMAGES, numbers([1] * SAMPLES))


def test_conditionals_are_not_needed_but_do_no_harm():
    def graph(m, data):
        return rand_augment.rand_augment(data, n=2, m=9, seed=5), auto_augment.auto_augment_image_net(data, seed=6)

    for mine, other in zip(*(run(HERE, graph, IMAGES, conditionals=flag) for flag in (True, False)), strict=True):
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_users_augmentations_may_have_conditions():
    @core.augmentation(mag_range=(0, 10))
    def flip_if_strong(data, strength):
        if strength > 5:
            data = fn.flip(data)
        return data

    def graph(m, data, bins):
        return flip_if_strong(data, magnitude_bin=bins, num_magnitude_bins=11)

    for conditionals in (True, False):
        (got,) = run(HERE, graph, IMAGES, numbers([0, 6, 5, 10, 9, 1]), conditionals=conditionals)
        for picture, number, result in zip(IMAGES, [0, 6, 5, 10, 9, 1], got, strict=True):
            np.testing.assert_array_equal(result, picture[:, ::-1] if number > 5 else picture)


PROGRAM = """
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import augmentation

@augmentation(mag_range=(0, 90), randomly_negate=True)
def turn(data, angle, fill_value=None):
    return fn.rotate(data, angle=angle, keep_size=True, fill_value=fill_value)

@pipeline_def(enable_conditionals=True, batch_size=4, num_threads=2, device_id=None, seed=2)
def training_pipe(source, scheme):
    images = fn.external_source(source=source, layout="HWC")
    shape = [40, 40]
    if scheme == "auto":
        output = auto_augment.auto_augment(images, policy_name="svhn", shape=shape)
    elif scheme == "rand":
        output = rand_augment.rand_augment(images, n=2, m=17, shape=shape, fill_value=0, excluded=["rotate"])
    elif scheme == "trivial":
        output = trivial_augment.trivial_augment_wide(images)
    else:
        suite = rand_augment.get_rand_augment_suite() + [turn]
        output = rand_augment.apply_rand_augment(suite, images, n=3, m=10, num_magnitude_bins=20, fill_value=7)
    return fn.crop_mirror_normalize(output, dtype=types.FLOAT)
"""


@pytest.mark.parametrize("scheme", ["auto", "rand", "trivial", "own"])
@pytest.mark.parametrize("package", ["nvidia.dali", "pixelmill"])
def test_programs_for_dali_run(scheme, package, tmp_path, monkeypatch):
    name = f"program_{package.replace('.', '_')}_{scheme}"
    (tmp_path / f"{name}.py").write_text(PROGRAM.replace("nvidia.dali", package), "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    program = __import__(name)
    pictures = [photo(3, index, height=40, width=40) for index in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe = program.training_pipe(repeat(pictures), scheme)
        pipe.build()
        (batch,) = pipe.run()
    assert batch.shape() in ([(4, 3, 40, 40)], [(3, 40, 40)] * 4)


# Refused


def refused(message, graph):
    with pytest.raises(ArgumentError, match=message):
        run(HERE, lambda m, data: graph(data), IMAGES)


def test_wrong_arguments_are_named():
    rand, trivial, auto = rand_augment.rand_augment, trivial_augment.trivial_augment_wide, auto_augment.auto_augment
    refused("m must be an integer, from 0 to 30, got 31", lambda data: rand(data, n=1, m=31))
    refused("n must be an integer, at least 0, got -1", lambda data: rand(data, n=-1, m=3))
    refused("num_magnitude_bins must be", lambda data: trivial(data, num_magnitude_bins=0))
    refused(
        "excluded contains 'blur', which is not one of translate_x", lambda data: rand(data, 1, 1, excluded=["blur"])
    )
    refused("policy_name must be one of image_net", lambda data: auto(data, "cifar"))
    refused("has no translations", lambda data: auto(data, "reduced_image_net", shape=(3, 3)))
    refused("max_translate_rel needs the shape", lambda data: auto(data, max_translate_rel=1))
    refused("use max_translate_rel", lambda data: rand(data, 1, 1, shape=(9, 9), max_translate_abs=1))
    refused("list of augmentations is empty", lambda data: rand_augment.apply_rand_augment([], data, 1, 1))
    refused(
        "no augmentation takes colour",
        lambda data: rand_augment.apply_rand_augment([augmentations.rotate], data, 1, 1, colour=3),
    )
    refused(
        "translate_x: shape is missing; pass the height and width",
        lambda data: rand_augment.apply_rand_augment([augmentations.translate_x], data, 1, 1),
    )


def test_wrong_augmentations_are_named():
    with pytest.raises(ArgumentError, match="must take images and a parameter"):
        core.augmentation(lambda data: data)
    with pytest.raises(ArgumentError, match="already is one"):
        core.augmentation(augmentations.rotate)
    refused("magnitude_bin is missing", lambda data: augmentations.rotate(data, num_magnitude_bins=3))
    refused("num_magnitude_bins is missing", lambda data: augmentations.rotate(data, magnitude_bin=3))
    refused("from 0 to 2, got 3", lambda data: augmentations.rotate(data, magnitude_bin=3, num_magnitude_bins=3))
    table = augmentations.rotate.augmentation(np.array([1.0, 2.0]))
    refused("has 2 magnitudes", lambda data: table(data, magnitude_bin=1, num_magnitude_bins=3))
    wrong = augmentations.rotate.augmentation(mag_to_param=lambda m: fn.random.uniform())  # type: ignore[return-value]
    refused("returned a node", lambda data: wrong(data, magnitude_bin=1, num_magnitude_bins=3))
    with pytest.raises(ArgumentError, match="magnitudes must be below 128"):
        augmentations.solarize_add_shift(128)


def test_wrong_policies_are_named():
    rotate, invert = augmentations.rotate, augmentations.invert
    for entry, message in [
        ((rotate, 0.5), "must be \\(augmentation, probability, magnitude bin\\)"),
        ((len, 0.5, 1), "is not an augmentation"),
        ((rotate, 1.5, 1), "probability must be a number from 0 to 1, got 1.5"),
        ((rotate, 0.5, None), "a magnitude bin is required"),
        ((rotate, 0.5, 11), "must be from 0 to 10, got 11"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            core.Policy("mine", 11, [[entry]])  # type: ignore[list-item]
    with pytest.warns(UserWarning, match="has no magnitudes"):
        core.Policy("mine", 11, [[(invert, 1.0, 3)]])
    with pytest.warns(UserWarning, match="never applied"):
        core.Policy("mine", 11, [[(invert, 0.0, None)]])
    twice = core.Policy("mine", 11, [[(rotate, 1.0, 1)], [(rotate.augmentation((0, 5)), 1.0, 1)]])
    assert list(twice.augmentations) == ["0__rotate", "1__rotate"]
    assert repr(twice).startswith("Policy(name='mine', num_magnitude_bins=11, sub_policies=[[('0__rotate', 1.0, 1)]")
    with pytest.raises(ArgumentError, match="is empty"):
        auto_augment.apply_auto_augment(core.Policy("none", 3, []), None)


def test_nothing_to_do_is_told():
    with pytest.warns(UserWarning, match="n is 0"):
        data = fn.random.uniform()
        assert rand_augment.apply_rand_augment([], data, n=0, m=0) is data
