"""The operators that `if` on a node consists of. Some programs for DALI call them themselves."""

from __future__ import annotations

from typing import cast

from pixelmill.graph.calls import as_node, call
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY


def split(data: object, *, predicate: DataNode) -> tuple[DataNode, DataNode]:
    """Split a batch into the samples whose predicate is true and the others.

    What is computed from either part is computed for its samples alone. `merge` puts the parts together again.

    Args:
        data: A node or a constant.
        predicate: A number for each sample; anything but 0 is true.
    """
    node = as_node(data)
    inside = node.within
    return node.with_condition((*inside, (predicate, 0, False))), node.with_condition((*inside, (predicate, 0, True)))


def merge(taken: object, otherwise: object, *, predicate: DataNode) -> DataNode:
    """Merge two parts of a batch that `split` returned, or what was computed from them.

    Args:
        taken: The part of the samples whose predicate is true.
        otherwise: The part of the others.
        predicate: The predicate that they were split by.
    """
    parts = [as_node(part).with_condition(predicate.within) for part in (taken, otherwise)]
    return cast("DataNode", call(REGISTRY["_branches.merge"], [predicate, *parts], {}))


def not_(data: DataNode) -> DataNode:
    """Return whether each sample, a number, is 0."""
    return cast("DataNode", call(REGISTRY["_branches.merge"], [data, False, True], {}))


def validate_logical(data: DataNode, *, expression_name: str = "", expression_side: str = "") -> DataNode:
    """Return `data`. Nodes are checked when they are used as a condition.

    Args:
        data: A node.
        expression_name: Accepted for compatibility.
        expression_side: Accepted for compatibility.
    """
    return data
