"""MixUp and CutMix: images and labels are mixed by the same share, with partners that follow from the batch."""

from __future__ import annotations

import functools
from itertools import repeat

import numpy as np
import pytest
from dali_runs import DALI, noise

import pixelmill
from pixelmill import ArgumentError, DataError, fn, mixing, types
from pixelmill.create import create_photo_folder
from pixelmill.graph import branches

CLASSES = 12
# The value of an image tells its class, so that a mixture tells its shares.
FLAT = [np.full((16, 24, 3), 20 * number, np.float32) for number in range(CLASSES)]
LABELS = [np.array([number], np.int32) for number in range(CLASSES)]


def run(graph, *inputs, layout="HWC", seed=2, batches=1, **options):
    """Run a graph on inputs that come again with every batch."""
    pipe = pixelmill.Pipeline(len(inputs[0]), 2, None, seed, **options)
    with pipe:
        nodes = [fn.external_source(source=repeat(inputs[0]), layout=layout)]
        nodes += [fn.external_source(source=repeat(batch)) for batch in inputs[1:]]
        made = graph(*nodes)
        pipe.set_outputs(*made)
    results = [[batch.as_array().copy() for batch in pipe.run()] for _ in range(batches)]
    return [np.concatenate(parts) for parts in zip(*results, strict=True)]


def partners_of(labels):
    """Find whom each sample was mixed with, from labels with two classes."""
    others = labels.copy()
    others[np.arange(len(labels)), np.arange(len(labels)) % CLASSES] = -1
    return others.argmax(1)


@pytest.mark.parametrize("mix", [mixing.mixup, mixing.cutmix])
@pytest.mark.parametrize("optimize", [True, False])
def test_images_and_labels_are_mixed_alike(mix, optimize):
    graph = functools.partial(mix, alpha=1.0, num_classes=CLASSES)
    images, labels = run(graph, FLAT, LABELS, batches=3, optimize=optimize)
    assert images.dtype == labels.dtype == np.float32 and labels.shape == (3 * CLASSES, CLASSES)
    np.testing.assert_allclose(labels.sum(1), 1, atol=1e-6)
    assert ((labels > 0).sum(1) <= 2).all()
    np.testing.assert_allclose(images.mean((1, 2, 3)), labels @ (20.0 * np.arange(CLASSES)), atol=2e-3)
    if mix is mixing.mixup:
        assert np.ptp(images, axis=(1, 2, 3)).max() == 0


def test_mixup_blends_bytes_and_rounds():
    pictures = [noise((7, 5, 3), seed=number) for number in range(CLASSES)]
    images, labels = run(lambda x, y: mixing.mixup(x, y, alpha=1.0, num_classes=CLASSES), pictures, LABELS)
    assert images.dtype == np.uint8
    for place, partner in enumerate(partners_of(labels)):
        share = labels[place, place]
        wanted = share * pictures[place] + (1 - share) * pictures[partner].astype(np.float64)
        assert np.abs(images[place] - wanted).max() <= 0.51


@pytest.mark.parametrize("layout", ["HWC", "CHW"])
def test_cutmix_replaces_one_window(layout):
    pictures = [noise((16, 24, 3), seed=number) for number in range(CLASSES)]
    given = pictures if layout == "HWC" else [np.ascontiguousarray(p.transpose(2, 0, 1)) for p in pictures]
    graph = functools.partial(mixing.cutmix, num_classes=CLASSES)
    images, labels = run(graph, given, LABELS, layout=layout, batches=4)
    if layout == "CHW":
        images = images.transpose(0, 2, 3, 1)
    for place, partner in enumerate(partners_of(labels)):
        own = pictures[place % CLASSES]
        changed = (images[place] != own).any(-1)
        rows, columns = (np.flatnonzero(changed.any(axis)) for axis in (1, 0))
        area = len(rows) * len(columns)
        assert np.isclose(labels[place, place % CLASSES], 1 - area / changed.size, atol=1e-6)
        if area:
            window = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            np.testing.assert_array_equal(images[place][window], pictures[partner][window])


def test_shares_follow_the_beta_distribution():
    """MixUp keeps a share that is drawn from beta(alpha, alpha)."""
    for alpha in (0.2, 1.0, 4.0):
        _, labels = run(
            lambda x, y, a=alpha: mixing.mixup(x, y, alpha=a, num_classes=CLASSES), FLAT, LABELS, batches=250
        )
        shares = np.sort(labels[np.arange(len(labels)), np.arange(len(labels)) % CLASSES])
        wanted = np.sort(np.random.default_rng(1).beta(alpha, alpha, 20_000))
        below = np.searchsorted(wanted, shares, side="right") / len(wanted)
        distance = np.abs(below - np.arange(1, len(shares) + 1) / len(shares)).max()
        assert distance < 1.95 * (1 / len(shares) + 1 / len(wanted)) ** 0.5


def test_every_sample_has_another_partner_and_is_one():
    _, labels = run(lambda x, y: mixing.mixup(x, y, alpha=2.0, num_classes=CLASSES), FLAT, LABELS, batches=20)
    different = set()
    for batch in labels.reshape(20, CLASSES, CLASSES):
        partners = partners_of(batch)
        assert sorted(partners) == list(range(CLASSES))
        assert (partners != np.arange(CLASSES)).all()
        different.add(tuple(partners))
    assert len(different) == 20


def test_partners_do_not_depend_on_the_order_of_the_batch(tmp_path):
    """The same samples of the same epoch in another order are mixed with the same partners by the same shares."""
    create_photo_folder(tmp_path, 8)

    def mixed(**options):
        pipe = pixelmill.Pipeline(8, options.pop("threads", 2), None, 6)
        with pipe:
            files = sorted(str(path) for path in tmp_path.rglob("*.jpg"))
            jpegs, labels = fn.readers.file(files=files, labels=list(range(8)), **options)
            images = fn.resize(fn.decoders.image(jpegs), size=(8, 8))
            made = mixing.mixup(images, labels, alpha=1.0, num_classes=8)
            pipe.set_outputs(*made, labels)
        images, soft, hard = (batch.as_array() for batch in pipe.run())  # type: ignore[assignment]
        order = np.argsort(hard[:, 0])
        return images[order], soft[order]

    plain, shuffled, alone = mixed(), mixed(random_shuffle=True), mixed(threads=1)
    for other in (shuffled, alone):
        np.testing.assert_array_equal(plain[0], other[0])
        np.testing.assert_array_equal(plain[1], other[1])


def test_shares_depend_on_the_sample_alone():
    """Another batch size gives other partners, but every sample keeps the same share of itself."""

    def shares(size):
        pipe = pixelmill.Pipeline(size, 2, None, 3)
        with pipe:
            source = lambda info: (FLAT[info.idx_in_epoch % CLASSES], LABELS[info.idx_in_epoch % CLASSES])  # noqa: E731
            images, labels = fn.external_source(source=source, num_outputs=2, batch=False, layout=["HWC", ""])
            pipe.set_outputs(*mixing.mixup(images, labels, alpha=1.0, num_classes=CLASSES))
        soft = np.concatenate([pipe.run()[1].as_array() for _ in range(24 // size)])
        return soft[np.arange(24), np.arange(24) % CLASSES]

    np.testing.assert_allclose(shares(12), shares(4), atol=1e-6)


def test_soft_labels_are_mixed_as_they_are():
    soft = [np.eye(CLASSES, dtype=np.float32)[number] * 0.9 + 0.1 / CLASSES for number in range(CLASSES)]
    _, labels = run(lambda x, y: mixing.mixup(x, y, alpha=1.0), FLAT, soft)
    np.testing.assert_allclose(labels.sum(1), 1, atol=1e-5)
    np.testing.assert_allclose(labels.min(), 0.1 / CLASSES, rtol=1e-4)


@pytest.mark.parametrize("mix", [mixing.mixup, mixing.cutmix])
def test_some_samples_are_left_alone(mix):
    graph = functools.partial(mix, alpha=1.0, num_classes=CLASSES, probability=0.25)
    images, labels = run(graph, FLAT, LABELS, batches=100)
    alone = labels.max(1) == 1
    np.testing.assert_array_equal(images[alone][:, 0, 0, 0], 20 * (np.flatnonzero(alone) % CLASSES))
    assert 0.68 < alone.mean() < 0.85


def test_a_seed_fixes_the_choices():
    def graph(x, y):
        return mixing.mixup(x, y, alpha=1.0, num_classes=CLASSES, seed=9)

    one, two = (run(graph, FLAT, LABELS, seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one[1], two[1])


def test_one_of_both_may_be_chosen_for_each_sample():
    def graph(x, y):
        mixes = [functools.partial(mix, alpha=1.0, num_classes=CLASSES) for mix in (mixing.mixup, mixing.cutmix)]
        return pixelmill.one_of(mixes, x, y)

    images, labels = run(graph, FLAT, LABELS, batches=30)
    np.testing.assert_allclose(images.mean((1, 2, 3)), labels @ (20.0 * np.arange(CLASSES)), atol=2e-3)
    cut = np.ptp(images, axis=(1, 2, 3)) > 0
    assert 0.3 < cut.mean() < 0.65


def test_a_batch_of_one_is_mixed_with_itself():
    images, labels = run(lambda x, y: mixing.mixup(x, y, num_classes=CLASSES), FLAT[3:4], LABELS[3:4])
    np.testing.assert_allclose(images[0], FLAT[3], atol=1e-4)
    np.testing.assert_allclose(labels[0], np.eye(CLASSES)[3], atol=1e-6)


def test_augmentations_before_mixing_run_for_their_samples_only():
    """Mixing needs the whole batch; branches before it stay lazy."""

    def graph(x, y):
        big = branches.merge(y, x, fn.crop(x, crop=(100, 100)))  # fails, but label 0 is not in this batch
        return mixing.cutmix(big, y, num_classes=CLASSES)

    images, _ = run(graph, FLAT[1:], LABELS[1:])
    assert images.shape == (CLASSES - 1, 16, 24, 3)


def test_mistakes_are_named():
    def refused(error, message, graph, *inputs):
        with pytest.raises(error, match=message):
            run(graph, *(inputs or (FLAT, LABELS)))

    refused(ArgumentError, "mixup: alpha must be above 0, got 0", lambda x, y: mixing.mixup(x, y, alpha=0))
    refused(ArgumentError, "cutmix: num_classes must be", lambda x, y: mixing.cutmix(x, y, num_classes=0))
    refused(ArgumentError, "probability must be from 0 to 1", lambda x, y: mixing.cutmix(x, y, probability=2))
    sizes = [noise((4 + number, 5, 3)) for number in range(3)]
    refused(DataError, "must have the same type and shape", lambda x, y: mixing.cutmix(x, y), sizes, LABELS[:3])


# The draw that it uses


def beta(module, alpha, beta, count=20_000, **options):
    pipe = module.Pipeline(1, 1, None, 1)
    with pipe:
        pipe.set_outputs(module.fn.random.beta(alpha=alpha, beta=beta, shape=[count], **options))
    pipe.build()
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize(("alpha", "gamma"), [(1, 1), (0.2, 0.2), (2, 5), (0.5, 3), (100, 40), (1, 8)])
def test_beta_is_dalis_distribution(alpha, gamma):
    mine, theirs = np.sort(beta(pixelmill, alpha, gamma)), np.sort(beta(DALI, alpha, gamma))
    assert mine.dtype == theirs.dtype == np.float32 and mine.min() >= 0 and mine.max() <= 1
    both = np.concatenate([mine, theirs])
    ranks = [np.searchsorted(values, both, side="right") / len(values) for values in (mine, theirs)]
    assert np.abs(ranks[0] - ranks[1]).max() < 1.95 * (2 / len(mine)) ** 0.5
    wanted = alpha / (alpha + gamma)
    assert abs(mine.mean() - wanted) < 0.02


def test_beta_has_shapes_types_and_limits():
    assert beta(pixelmill, 1, 1, 5, dtype=types.FLOAT64).dtype == np.float64
    pipe = pixelmill.Pipeline(3, 1, None, 1)
    with pipe:
        alphas = fn.external_source(source=repeat([np.array(a, np.float32) for a in (1, 1000, 0.001)]))
        pipe.set_outputs(fn.random.beta(alpha=alphas), fn.random.beta(types.Constant(np.zeros((2, 3)))))
    single, like = pipe.run()
    assert [sample.shape for sample in map(single.at, range(3))] == [()] * 3
    assert single.at(1) > 0.95 and single.at(2) < 0.5 and like.at(0).shape == (2, 3)
    with pytest.raises(ArgumentError, match="dtype must be FLOAT or FLOAT64"):
        beta(pixelmill, 1, 1, dtype=types.INT32)
    with pytest.raises(DataError, match="alpha and beta must be above 0"):
        beta(pixelmill, 0, 1)
