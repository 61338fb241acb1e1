"""MixUp and CutMix: pictures of a batch are mixed with each other, and their labels alike.

    images, labels = mixing.mixup(images, labels, alpha=0.2, num_classes=1000)

Each sample is mixed with another one of its batch. The share it keeps depends on the seed, the epoch and the sample
alone, as everything random does; who its partner is depends on who else is in the batch as well. So here, and only
here, another batch size or another number of shards gives other pictures. The order of the samples within the batch,
the number of threads and restarts change nothing.
"""

from __future__ import annotations

from typing import Any, cast

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
    """Blend each picture with another one of its batch (https://arxiv.org/abs/1710.09412).

    Args:
        images: Pictures of one shape and type.
        labels: Numbers of classes, or, without `num_classes`, a share for each class.
        alpha: Shares are drawn from the beta distribution (alpha, alpha); the smaller it is, the closer to 0 or 1.
        num_classes: How many classes there are.
        probability: How likely a sample is mixed at all.
        seed: A seed for the draws.

    Returns:
        The pictures, in the type they had, and for each a float for every class.
    """
    _check("mixup", alpha, num_classes, probability)
    share = _share(alpha, probability, seed)
    others, other_labels = _partners(seed, images, labels)
    mixed = fn.cast_like(images * share + others * (1.0 - share), images)
    return mixed, _soft(labels, other_labels, share, num_classes)


def cutmix(
    images: DataNode,
    labels: DataNode,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    probability: float = 1.0,
    seed: int | None = None,
) -> tuple[DataNode, DataNode]:
    """Replace a window of each picture by that of another one of its batch (https://arxiv.org/abs/1905.04899).

    Args:
        images: Pictures of one shape and type.
        labels: Numbers of classes, or, without `num_classes`, a share for each class.
        alpha: Shares are drawn from the beta distribution (alpha, alpha); 1 makes all equally likely.
        num_classes: How many classes there are.
        probability: How likely a sample is mixed at all.
        seed: A seed for the draws.

    Returns:
        The pictures, and for each a float for every class: its shares of the area.
    """
    _check("cutmix", alpha, num_classes, probability)
    share = _share(alpha, probability, seed)
    centre = fn.random.uniform(range=[0.0, 1.0], shape=[2], seed=_seed(seed, 2))
    others, other_labels = _partners(seed, images, labels)
    pasted, own = _outputs(REGISTRY["_mixing.cut_paste"], [images, others], share=share, centre=centre)
    return pasted, _soft(labels, other_labels, own, num_classes)


def _check(name: str, alpha: float, num_classes: int | None, probability: float) -> None:
    if not alpha > 0:
        raise ArgumentError(f"{name}: alpha must be above 0, got {alpha!r}")
    if num_classes is not None and num_classes < 1:
        raise ArgumentError(f"{name}: num_classes must be at least 1, got {num_classes!r}")
    if not 0 <= probability <= 1:
        raise ArgumentError(f"{name}: probability must be from 0 to 1, got {probability!r}")


def _seed(seed: int | None, number: int) -> int | None:
    return None if seed is None or seed < 0 else fold(seed, number) >> 1


def _share(alpha: float, probability: float, seed: int | None) -> Any:
    """Draw how much of itself each sample keeps."""
    share = fn.random.beta(alpha=alpha, beta=alpha, seed=_seed(seed, 0))
    if probability == 1:
        return share
    return merge(fn.random.coin_flip(probability=probability, seed=_seed(seed, 3)), share, 1.0)


def _partners(seed: int | None, *values: DataNode) -> list[DataNode]:
    key = fn.random.uniform(range=[0.0, 1.0], dtype=types.FLOAT64, seed=_seed(seed, 1))
    return _outputs(REGISTRY["_mixing.partners"], [key, *values])


def _outputs(spec: Operator, inputs: list[DataNode], **arguments: object) -> list[DataNode]:
    """Call an operator that has several outputs."""
    return cast("list[DataNode]", call(spec, inputs, arguments))


def _soft(labels: DataNode, others: DataNode, share: DataNode, num_classes: int | None) -> DataNode:
    if num_classes is not None:
        labels, others = (fn.one_hot(each, num_classes=num_classes) for each in (labels, others))
    return fn.cast(labels * share + others * (1.0 - share), dtype=types.FLOAT)
