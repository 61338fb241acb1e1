"""Which samples DALI runs an operator for: those that take the branch it was made in, where that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pixelmill.engine.dali.stages import Stage, values_of
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.steps.step import BatchStep, Step

# A condition: an output of an operator, the number that it is or is not, and which of the two.
Condition = tuple[OperatorNode, int, int, bool]

# Conditions that the samples fulfil, the outermost first; all samples where there is none.
Scope = tuple[Condition, ...]

MERGE, CHOOSE = "_branches.merge", "_branches.choose"


def scopes(places: Mapping[OperatorNode, Stage], outputs: Sequence[DataNode]) -> dict[OperatorNode, Scope]:
    """Give the scope of each operator that runs inside of DALI.

    What is handed out of DALI is needed for all samples, and so is what it is made from.

    Args:
        places: Where all operators of a graph run, in the order of their creation.
        outputs: What the graph gives.
    """
    found = {node: _made_in(node, places) for node, place in places.items() if place is Stage.INSIDE}
    for handed in _handed_out(places, outputs):
        _narrow(found, handed, ())
    for node in reversed(list(found)):
        for place, value in enumerate(node.inputs):
            if value is not None:
                _narrow(found, value, (*found[node], *_branch(node, place)))
        for value in values_of(node):
            if not any(value is other for other in node.inputs):
                _narrow(found, value, found[node])
        for depth, condition in enumerate(found[node]):
            if condition[0] in found:
                found[condition[0]] = _common(found[condition[0]], found[node][:depth])
    return found


def widened(found: Mapping[OperatorNode, Scope], places: Mapping[OperatorNode, Stage]) -> set[OperatorNode]:
    """List operators that look at the whole batch, and would look at more of it than the branch they were made in."""
    return {
        node
        for node, scope in found.items()
        if len(scope) < len(_made_in(node, places)) and any(isinstance(step, BatchStep) for step in _own_steps(node))
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


def _handed_out(places: Mapping[OperatorNode, Stage], outputs: Sequence[DataNode]) -> list[DataNode]:
    behind = [node for node, place in places.items() if place is Stage.AFTER]
    conditions = [condition for node in behind for condition, _, _ in node.branch]
    return [*outputs, *conditions, *(value for node in behind for value in values_of(node))]


def _made_in(node: OperatorNode, places: Mapping[OperatorNode, Stage]) -> Scope:
    """Give the conditions of the branch that an operator was made in, up to the first that DALI does not know."""
    scope: list[Condition] = []
    for condition, number, equal in node.branch:
        maker = condition.operator
        if maker is None or places.get(maker, Stage.AFTER) is Stage.AFTER:
            break
        scope.append((maker, condition.index, number, equal))
    return tuple(scope)


def _branch(node: OperatorNode, place: int) -> Scope:
    """Give the condition under which an operator needs an input, beside its own."""
    number = node.inputs[0]
    if place == 0 or number is None or number.operator is None:
        return ()
    if node.operator == MERGE:
        return ((number.operator, number.index, 0, place == 2),)
    return ((number.operator, number.index, place - 1, True),) if node.operator == CHOOSE else ()


def _narrow(found: dict[OperatorNode, Scope], value: DataNode, wanted: Scope) -> None:
    """Let the scope of the maker of a value hold no condition that one of its users does not have."""
    if value.operator in found:
        found[value.operator] = _common(found[value.operator], wanted)


def _common(one: Scope, other: Scope) -> Scope:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]
