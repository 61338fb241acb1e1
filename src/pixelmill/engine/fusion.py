"""Fuse arithmetic: trees of arithmetic steps, and the casts between them, become one pass over the elements.

The core evaluates a fused expression tile by tile, so each input is read once, the result is written once, and results
in between never leave the cache. A step joins the expression of its users only if all of its users are in it.
Otherwise its result would be needed in memory as well, and fusing would compute it twice.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from pixelmill.steps.elements import Arithmetic, Cast, Expression
from pixelmill.steps.step import Expr, Step

FUSIBLE = (Arithmetic, Cast)
MAX_VALUES = 48  # inputs and results of one expression; the core accepts 64

Users = dict[Step, set[Step]]


def fuse(outputs: Sequence[Expr]) -> list[Expr]:
    """Replace arithmetic steps with expressions that compute the same bits."""
    order, users = users_of(outputs)
    place = {step: number for number, step in enumerate(order)}
    wanted = {expr.step for expr in outputs}
    inner: set[Step] = set()
    regions: dict[Step, list[Step]] = {}
    # From the outputs to the sources, so that a region starts at its root and is as large as it can be.
    for root in reversed(order):
        if isinstance(root, FUSIBLE) and root not in inner:
            region = _region(root, users, wanted, place)
            if len(region) > 1:
                regions[root] = region
                inner.update(region)
    return _rebuilt(outputs, order, regions) if regions else list(outputs)


def users_of(outputs: Sequence[Expr]) -> tuple[list[Step], Users]:
    """List all steps, each after its inputs, and return the users of each step."""
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
    """Return the steps that can be fused with `root`, in the order to run them.

    Candidates are visited in reverse topological order, hence the heap. So all users of a step have been accepted or
    rejected when the step is visited, and `users <= region` is final. A plain depth-first search would reject a step
    that two branches of the region use, because it would reach it before the second branch.
    """
    region = {root}
    seen = {root}
    queue: list[tuple[int, Step]] = []  # the negated place comes first: places differ, so steps are never compared

    def add_candidates(step: Step) -> None:
        for value in step.inputs:
            if value is not None and value.step not in seen and isinstance(value.step, FUSIBLE):
                seen.add(value.step)
                heapq.heappush(queue, (-place[value.step], value.step))

    add_candidates(root)
    while queue:
        _, step = heapq.heappop(queue)
        if step not in wanted and users[step] <= region and _value_count(region | {step}) <= MAX_VALUES:
            region.add(step)
            add_candidates(step)
    return sorted(region, key=place.__getitem__)


def _value_count(region: set[Step]) -> int:
    return len(region) + len(_inputs(list(region)))


def _inputs(region: Sequence[Step]) -> list[Expr]:
    """List the values that a region takes from outside, each once."""
    inside = set(region)
    values = (value for step in region for value in step.inputs if value is not None and value.step not in inside)
    return list({(value.step, value.index): value for value in values}.values())


def _rebuilt(outputs: Sequence[Expr], order: Sequence[Step], regions: dict[Step, list[Step]]) -> list[Expr]:
    """Build the steps again from the sources on, with an expression in the place of each region."""
    done: dict[Step, Step] = {}

    def rebuilt(value: Expr) -> Expr:
        step = done[value.step]
        return value if step is value.step else Expr(step, value.index, value.layout)

    inner = {step for root, region in regions.items() for step in region if step is not root}
    for step in order:
        if step in inner:
            continue
        if step in regions:
            inputs = _inputs(regions[step])
            code = _code(regions[step], inputs)
            done[step] = Expression(operands=tuple(map(rebuilt, inputs)), code=code, origin=step.origin)
            continue
        new = tuple(None if value is None else rebuilt(value) for value in step.inputs)
        same = all(a is b for a, b in zip(new, step.inputs, strict=True))
        done[step] = step if same else step.with_inputs(new)
    return [rebuilt(expr) for expr in outputs]


def _code(region: Sequence[Step], inputs: Sequence[Expr]) -> str:
    """Return a region as the text that the core parses: `operation operand...`, separated by `;`.

    Operands are numbers of values: the inputs first, then the results in order.
    """
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
