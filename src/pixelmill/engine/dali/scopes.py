"""For which samples DALI runs an operator: those that take the branch it was created in, if that is possible.

DALI splits a batch by a condition, runs operators on each part, and merges the parts again. A scope is the list of
conditions that a part of the batch meets. The scope of an operator is the longest list that all of its users share,
because a value that is used outside of a branch must exist for all samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pixelmill.engine.dali.stages import Stage, values_of
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.steps.step import BatchStep, Step

# A condition: an operator, the number of its output, a number, and whether the output must equal it or differ from it.
Condition = tuple[OperatorNode, int, int, bool]

# The conditions that samples meet, outermost first; empty for all samples.
Scope = tuple[Condition, ...]

MERGE, CHOOSE = "_branches.merge", "_branches.choose"


def scopes(stages: Mapping[OperatorNode, Stage], outputs: Sequence[DataNode]) -> dict[OperatorNode, Scope]:
    """Return the scope of each operator that runs on DALI.

    Outputs of DALI are needed for all samples, and so is everything they are computed from.

    Args:
        stages: Where all operators of a graph run, in the order of their creation.
        outputs: The outputs of the graph.
    """
    found = {node: _created_in(node, stages) for node, stage in stages.items() if stage is Stage.INSIDE}
    for output in _dali_outputs(stages, outputs):
        _widen(found, output, ())
    # From the last operator to the first: the scopes of all users are final when an operator is visited.
    for node in reversed(list(found)):
        for place, value in enumerate(node.inputs):
            if value is not None:
                _widen(found, value, (*found[node], *_branch(node, place)))
        for argument in values_of(node):
            if not any(argument is other for other in node.inputs):
                _widen(found, argument, found[node])
        # A condition is evaluated for the samples that meet the conditions before it.
        for depth, condition in enumerate(found[node]):
            if condition[0] in found:
                found[condition[0]] = _common(found[condition[0]], found[node][:depth])
    return found


def widened(found: Mapping[OperatorNode, Scope], stages: Mapping[OperatorNode, Stage]) -> set[OperatorNode]:
    """Return the operators that see the whole batch and would see more samples than those of their branch."""
    return {
        node
        for node, scope in found.items()
        if len(scope) < len(_created_in(node, stages)) and any(isinstance(step, BatchStep) for step in _own_steps(node))
    }


def _own_steps(node: OperatorNode) -> set[Step]:
    todo = [expr.step for expr in node.exprs]
    own: set[Step] = set()
    while todo:
        step = todo.pop()
        if step.origin is node and step not in own:
            own.add(step)
            todo += [value.step for value in step.inputs if value is not None]
    return own


def _dali_outputs(stages: Mapping[OperatorNode, Stage], outputs: Sequence[DataNode]) -> list[DataNode]:
    after = [node for node, stage in stages.items() if stage is Stage.AFTER]
    return [*outputs, *(value for node in after for value in node.dependencies())]


def _created_in(node: OperatorNode, stages: Mapping[OperatorNode, Stage]) -> Scope:
    """Return the conditions of the branch an operator was created in, up to the first that is known after DALI."""
    scope: list[Condition] = []
    for condition, number, equal in node.branch:
        maker = condition.operator
        if maker is None or stages.get(maker, Stage.AFTER) is Stage.AFTER:
            break
        scope.append((maker, condition.index, number, equal))
    return tuple(scope)


def _branch(node: OperatorNode, place: int) -> Scope:
    """Return the condition, besides its own, under which an operator uses an input."""
    number = node.inputs[0]
    if place == 0 or number is None or number.operator is None:
        return ()
    if node.operator == MERGE:
        return ((number.operator, number.index, 0, place == 2),)
    return ((number.operator, number.index, place - 1, True),) if node.operator == CHOOSE else ()


def _widen(found: dict[OperatorNode, Scope], value: DataNode, wanted: Scope) -> None:
    """Drop the conditions from the scope of a value's operator that one of its users does not have."""
    if value.operator in found:
        found[value.operator] = _common(found[value.operator], wanted)


def _common(one: Scope, other: Scope) -> Scope:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]
