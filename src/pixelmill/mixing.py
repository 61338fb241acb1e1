"""MixUp and CutMix: mix each image, and its label, with another one of its batch.

    images, labels = mixing.mixup(images, labels, alpha=0.2, num_classes=1000)

The fraction that a sample keeps depends only on the seed, the epoch and the sample, like everything random here. Its
partner also depends on which other samples are in the batch. This is the only place where the batch size or the number
of shards changes the result. The order of the samples within the batch, the number of threads and restarts do not.
"""

from __future__ import annotations

from typing import cast

from pixelmill import fn, types
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import merge
from pixelmill.graph.calls import call
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY, Operator
from pixelmill.pipeline.permutation import fold

__all__ = ["cutmix", "mixup"]


def mixup(
    images: DataNode,
    labels: DataNode,
    *,
    alpha: float = 0.2,
    num_classes: int | None = None,
    probability: float = 1.0,
    seed: int | None = None,
) -> tuple[DataNode, DataNode]:
    """Blend each image with another one of its batch (https://arxiv.org/abs/1710.09412).

    Args:
        images: Images of the same shape and type.
        labels: Class indices or, without `num_classes`, vectors with one weight per class.
        alpha: Parameter of the beta distribution (alpha, alpha) of the fractions; smaller values mix less.
        num_classes: The number of classes.
        probability: Probability that a sample is mixed.
        seed: Seed of the random numbers.

    Returns:
        The images, in their original type, and for each a float per class.
    """
    _check("mixup", alpha, num_classes, probability)
    fraction = _fraction(alpha, probability, seed)
    others, other_labels = _partners(seed, images, labels)
    mixed = fn.cast_like(images * fraction + others * (1.0 - fraction), images)
    return mixed, _soft(labels, other_labels, fraction, num_classes)


def cutmix(
    images: DataNode,
    labels: DataNode,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    probability: float = 1.0,
    seed: int | None = None,
) -> tuple[DataNode, DataNode]:
    """Paste a window of another image of the batch into each image (https://arxiv.org/abs/1905.04899).

    Args:
        images: Images of the same shape and type.
        labels: Class indices or, without `num_classes`, vectors with one weight per class.
        alpha: Parameter of the beta distribution (alpha, alpha) of the fractions; 1 makes it uniform.
        num_classes: The number of classes.
        probability: Probability that a sample is mixed.
        seed: Seed of the random numbers.

    Returns:
        The images, and for each a float per class: the fractions of the area.
    """
    _check("cutmix", alpha, num_classes, probability)
    fraction = _fraction(alpha, probability, seed)
    center = fn.random.uniform(range=[0.0, 1.0], shape=[2], seed=_seed(seed, 2))
    others, other_labels = _partners(seed, images, labels)
    pasted, own = _outputs(REGISTRY["_mixing.cut_paste"], [images, others], fraction=fraction, center=center)
    return pasted, _soft(labels, other_labels, own, num_classes)


def _check(name: str, alpha: float, num_classes: int | None, probability: float) -> None:
    if not alpha > 0:
        raise ArgumentError(f"{name}: alpha must be above 0, got {alpha!r}")
    if num_classes is not None and num_classes < 1:
        raise ArgumentError(f"{name}: num_classes must be at least 1, got {num_classes!r}")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"{name}: probability must be from 0 to 1, got {probability!r}")


def _seed(seed: int | None, number: int) -> int | None:
    # A separate seed per draw; with the same one, the fraction and the partner of a sample would be correlated.
    return None if seed is None or seed < 0 else fold(seed, number) >> 1


def _fraction(alpha: float, probability: float, seed: int | None) -> DataNode:
    """Draw the fraction of itself that each sample keeps."""
    fraction = fn.random.beta(alpha=alpha, beta=alpha, seed=_seed(seed, 0))
    if probability == 1:
        return fraction
    mixes = fn.random.coin_flip(probability=probability, seed=_seed(seed, 3))
    return cast("DataNode", merge(mixes, fraction, 1.0))


def _partners(seed: int | None, *values: DataNode) -> list[DataNode]:
    # In double precision, so that equal keys, whose order depends on the batch, practically never occur.
    key = fn.random.uniform(range=[0.0, 1.0], dtype=types.FLOAT64, seed=_seed(seed, 1))
    return _outputs(REGISTRY["_mixing.partners"], [key, *values])


def _outputs(spec: Operator, inputs: list[DataNode], **arguments: object) -> list[DataNode]:
    """Call an operator that has several outputs."""
    return cast("list[DataNode]", call(spec, inputs, arguments))


def _soft(labels: DataNode, others: DataNode, fraction: DataNode, num_classes: int | None) -> DataNode:
    if num_classes is not None:
        labels, others = (fn.one_hot(each, num_classes=num_classes) for each in (labels, others))
    return fn.cast(labels * fraction + others * (1.0 - fraction), dtype=types.FLOAT)
