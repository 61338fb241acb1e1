"""Fusion of arithmetic: chains and trees of it, and the casts between, become one pass over the elements.

A step is taken into the expression of its users where all of them are in it, so that no other step needs its result.
The core works an expression out tile by tile: each input is read once, the result written once.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from pixelmill.steps.elements import Arithmetic, Cast, Expression
from pixelmill.steps.step import Expr, Step

FUSIBLE = (Arithmetic, Cast)
MOST_VALUES = 48  # inputs and results of one expression; the core takes 64

Users = dict[Step, set[Step]]


def fuse(outputs: Sequence[Expr]) -> list[Expr]:
    """Replace arithmetic by expressions, with the same bits as a result."""
    order, users = _graph(outputs)
    place = {step: number for number, step in enumerate(order)}
    wanted = {expr.step for expr in outputs}
    inner: set[Step] = set()
    regions: dict[Step, list[Step]] = {}
    for root in reversed(order):
        if isinstance(root, FUSIBLE) and root not in inner:
            region = _region(root, users, wanted, place)
            if len(region) > 1:
                regions[root] = region
                inner.update(region)
    return _rebuilt(outputs, order, regions) if regions else list(outputs)


def _graph(outputs: Sequence[Expr]) -> tuple[list[Step], Users]:
    """List all steps, each after those it needs, and the users of each."""
    order: dict[Step, None] = {}
    users: Users = {}
    stack = [(expr.step, False) for expr in outputs]
    while stack:
        step, ready = stack.pop()
        if ready:
            order[step] = None
        elif step not in order:
            stack.append((step, True))
            for value in step.inputs:
                if value is not None:
                    users.setdefault(value.step, set()).add(step)
                    stack.append((value.step, False))
    return list(order), users


def _region(root: Step, users: Users, wanted: set[Step], place: dict[Step, int]) -> list[Step]:
    """Give the steps that can become one with `root`, in an order to run them."""
    region = {root}
    seen = {root}
    # From the last step to the first, so that all users of a step are decided before the step is.
    queue: list[tuple[int, Step]] = []

    def look_at(step: Step) -> None:
        for value in step.inputs:
            if value is not None and value.step not in seen and isinstance(value.step, FUSIBLE):
                seen.add(value.step)
                heapq.heappush(queue, (-place[value.step], value.step))

    look_at(root)
    while queue:
        _, step = heapq.heappop(queue)
        if step not in wanted and users[step] <= region and _values(region | {step}) <= MOST_VALUES:
            region.add(step)
            look_at(step)
    return sorted(region, key=place.__getitem__)


def _values(region: set[Step]) -> int:
    return len(region) + len(_inputs(list(region)))


def _inputs(region: Sequence[Step]) -> list[Expr]:
    """List what a region takes from outside, each value once."""
    inside = set(region)
    values = (value for step in region for value in step.inputs if value is not None and value.step not in inside)
    return list({(value.step, value.index): value for value in values}.values())


def _rebuilt(outputs: Sequence[Expr], order: Sequence[Step], regions: dict[Step, list[Step]]) -> list[Expr]:
    done: dict[Step, Step] = {}

    def renewed(value: Expr) -> Expr:
        step = done[value.step]
        return value if step is value.step else Expr(step, value.index, value.layout)

    inner = {step for root, region in regions.items() for step in region if step is not root}
    for step in order:
        if step in inner:
            continue
        if step in regions:
            inputs = _inputs(regions[step])
            code = _code(regions[step], inputs)
            done[step] = Expression(operands=tuple(map(renewed, inputs)), code=code, origin=step.origin)
            continue
        new = tuple(None if value is None else renewed(value) for value in step.inputs)
        same = all(a is b for a, b in zip(new, step.inputs, strict=True))
        done[step] = step if same else step.with_inputs(new)
    return [renewed(expr) for expr in outputs]


def _code(region: Sequence[Step], inputs: Sequence[Expr]) -> str:
    """Write a region down: values are numbered, the inputs first, then the results in order."""
    numbers = {(value.step, value.index): number for number, value in enumerate(inputs)}
    words = []
    for step in region:
        operands = [numbers[value.step, value.index] for value in step.inputs if value is not None]
        if isinstance(step, Cast):
            words.append(f"cast {operands[0]} {int(step.dtype)}")
        else:
            assert isinstance(step, Arithmetic)
            words.append(" ".join([step.operation, *map(str, operands)]))
        numbers[step, 0] = len(numbers)
    return "; ".join(words)
