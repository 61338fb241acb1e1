"""Compile a graph to native programs: one, or several with the steps between them that see the whole batch."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from pixelmill import _core
from pixelmill.engine import rules
from pixelmill.engine.barriers import Barrier, runs_on_subset
from pixelmill.formats.index import NO_NUMBERS, Index, Ragged
from pixelmill.graph.nodes import OperatorNode
from pixelmill.operators.sources import ExternalSource
from pixelmill.steps.batch import BatchPermutation
from pixelmill.steps.random import RandomStep
from pixelmill.steps.shapes import Choose, Merge
from pixelmill.steps.sources import Constant, ExternalInput, Features, Reader, ReaderStep, Records, TableColumn
from pixelmill.steps.step import BatchStep, Expr, Guard, RandomKey, Step

# A value: a step, and the number of the output.
Key = tuple[Step, int]

# A value that comes from outside of the program.
InputKey = tuple[ExternalInput, int]

Guards = dict[Step, list[Guard]]


@dataclass(eq=False)
class Segment:
    """One native program with its inputs and outputs, and the barriers that run after it."""

    program: _core.Program
    inputs: list[Key]
    outputs: list[Key]
    steps: list[Step]
    barriers: list[Barrier] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Plan:
    """A compiled graph.

    Attributes:
        segments: The native programs, in the order they run in.
        outputs: The outputs of the graph.
        layouts: Their layouts.
        readers: The readers; samples have an item for each.
        sources: The external sources.
        inputs: The values that the external sources provide.
        keys: The random key of each operator that draws random numbers.
        ranges: The byte ranges of the records that readers read.
    """

    segments: list[Segment]
    outputs: list[Key]
    layouts: list[str]
    readers: list[Reader]
    sources: list[ExternalSource]
    inputs: list[InputKey]
    keys: dict[OperatorNode, int]
    ranges: dict[Records, _core.ByteRanges]


def compile_graph(
    outputs: Sequence[Expr],
    *,
    seed: int,
    optimize: bool = True,
    decode_scaling: bool = True,
    whole: Plan | None = None,
) -> Plan:
    """Compile the program that computes `outputs`.

    Args:
        outputs: The outputs of the graph.
        seed: The seed that random keys are derived from.
        optimize: Whether to apply the rewrite rules.
        decode_scaling: Whether JPEGs that are downscaled may be decoded at a lower resolution.
        whole: The graph that this is a part of; its readers, random keys and open files are used.
    """
    layouts = [expr.layout for expr in outputs]
    if optimize:
        outputs = rules.optimize(outputs, decode_scaling=decode_scaling)
    outputs = _deduplicated(outputs)
    order = _topological(outputs)
    found = dict.fromkeys(step.reader for step in order if isinstance(step, ReaderStep))
    readers = sorted(found, key=lambda reader: reader.partner is not None)  # samples count by the first one
    keys = _random_keys(order, seed)
    if whole is not None:
        readers, keys = whole.readers, {**keys, **whole.keys}
    inputs = [(step, 0) for step in order if isinstance(step, ExternalInput)]
    feeds = dict.fromkeys(step.source for step, _ in inputs)
    sources = [feed for feed in feeds if isinstance(feed, ExternalSource)]
    wanted = [(expr.step, expr.index) for expr in outputs]
    builder = _Builder(readers, keys, {} if whole is None else whole.ranges)
    segments = builder.segments(order, wanted)
    return Plan(segments, wanted, layouts, readers, sources, inputs, keys, builder.ranges)


def _topological(outputs: Iterable[Expr]) -> list[Step]:
    """List all steps so that each comes after the steps it depends on. Not recursive, as graphs may be deep."""
    order: dict[Step, None] = {}
    stack = [(expr.step, False) for expr in reversed(list(outputs))]
    while stack:
        step, ready = stack.pop()
        if ready:
            order[step] = None
        elif step not in order:
            stack.append((step, True))
            stack += [(value.step, False) for value in reversed(step.inputs) if value is not None]
    return list(order)


def _deduplicated(outputs: Sequence[Expr]) -> list[Expr]:
    """Merge equal steps (common subexpression elimination).

    Steps are compared from the sources on, so the inputs of equal steps have been merged before the steps are compared.
    A random step is equal to another one only if it has the same key, which the same operator gave to both: merging
    never makes two operators draw the same numbers.
    """
    merged: dict[Step, Step] = {}
    known: dict[object, Step] = {}
    for step in _topological(outputs):
        inputs = [None if value is None else (merged[value.step], value.index) for value in step.inputs]
        identity = (step.kind, *inputs, *map(_hashable, step.parameters().values()))
        if identity not in known:
            values = [v and Expr(merged[v.step], v.index, v.layout) for v in step.inputs]
            moved = any(v is not None and merged[v.step] is not v.step for v in step.inputs)
            known[identity] = step.with_inputs(values) if moved else step
        merged[step] = known[identity]
    return [Expr(merged[expr.step], expr.index, expr.layout) for expr in outputs]


def _hashable(value: object) -> object:
    """Return a hashable object that is equal for equal parameters, including arrays."""
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value


def _random_keys(order: Sequence[Step], seed: int) -> dict[OperatorNode, int]:
    """Return the random key of each operator that draws random numbers.

    A key is the seed combined with the name of the operator and its number among the operators of that name. So adding
    an operator to a graph changes the random numbers only of later operators of the same name. An operator with a seed
    of its own depends on that seed alone.
    """
    drawing = {_node_of(step.key) for step in order if isinstance(step, (RandomStep, BatchPermutation))}
    keys: dict[OperatorNode, int] = {}
    counted: dict[str, int] = {}
    for node in sorted({node.same_draws_as or node for node in drawing}, key=lambda node: node.number):
        count = counted.setdefault(node.operator, 0)
        counted[node.operator] += 1
        label = "" if node.seed is not None else f"{node.operator}/{count}"
        identity = int.from_bytes(hashlib.blake2b(label.encode(), digest_size=8).digest(), "little")
        keys[node] = _core.operator_key(seed if node.seed is None else node.seed, identity)
    return {node: keys[node.same_draws_as or node] for node in drawing}


def _node_of(key: RandomKey) -> OperatorNode:
    assert isinstance(key.origin, OperatorNode)
    return key.origin


def _guards(order: Sequence[Step], wanted: Iterable[Key], level: dict[Step, int]) -> Guards:
    """Return the conditions under which each step has to run; none for steps that run for every sample.

    Skipping a branch that a sample does not take is what makes conditionals cheap. Walking from the outputs to the
    sources, a step needs the guards that all of its users have in common: if one user runs for every sample, so must
    the step. An input of a merge gets the condition of its branch in addition. Outputs of the graph have no guards.

    A step that sees the whole batch must see all samples of the branch it was created in, whether or not their results
    are used: its result for one sample depends on the others. It runs under exactly the conditions of that branch.

    A guard is dropped if its condition is computed in a later segment than the step: the step cannot wait for it.
    """
    guards: dict[Step, dict[tuple[Step, int, int, bool], Guard]] = {step: {} for step, _ in wanted}
    for step in reversed(order):
        own = guards.setdefault(step, {})
        if isinstance(step, BatchStep) and not runs_on_subset(step):
            branch = {(guard[0].step, guard[0].index, *guard[1:]): guard for guard in step.branch}
            own = guards[step] = branch if branch.keys() <= own.keys() else {}
        for place, value in enumerate(step.inputs):
            if value is None:
                continue
            # A batch step of level n runs directly after segment n - 1, so only the conditions up to there are known.
            known = level[value.step] - isinstance(value.step, BatchStep)
            here = {key: guard for key, guard in own.items() if level[key[0]] <= known}
            taken = _branch_condition(step, place)
            if taken is not None and level[taken[0].step] <= known:
                condition, number, equal = taken
                here[condition.step, condition.index, number, equal] = taken
            before = guards.get(value.step)
            guards[value.step] = here if before is None else {key: here[key] for key in before if key in here}
    return {step: list(found.values()) for step, found in guards.items()}


def _branch_condition(step: Step, place: int) -> Guard | None:
    """Return the condition under which a step uses one of its inputs; None if it always does."""
    if isinstance(step, Merge) and place > 0:
        return step.condition, 0, place == 2
    return (step.number, place - 1, True) if isinstance(step, Choose) and place > 0 else None


class _Builder:
    """Builds native programs from ordered steps."""

    def __init__(
        self,
        readers: list[Reader],
        keys: dict[OperatorNode, int],
        ranges: dict[Records, _core.ByteRanges],
    ) -> None:
        self.readers = readers
        self.keys = keys
        self.ranges = ranges

    def segments(self, order: Sequence[Step], wanted: Sequence[Key]) -> list[Segment]:
        """Cut the steps into native programs, with a cut before every step that sees the whole batch."""
        level = self._levels(order)
        count = max(level.values(), default=0) + 1
        crossing = self._crossing(order, level, wanted)
        guards = _guards(order, wanted, level)
        segments = []
        for number in range(count):
            steps = [step for step in order if level[step] == number and not isinstance(step, BatchStep)]
            segment = self._segment(number, steps, level, crossing, wanted, guards)
            barriers = [step for step in order if isinstance(step, BatchStep) and level[step] == number + 1]
            segment.barriers.extend(Barrier(step, self._key(step), tuple(guards[step])) for step in barriers)
            segments.append(segment)
        return segments

    @staticmethod
    def _levels(order: Sequence[Step]) -> dict[Step, int]:
        """Return for each step how many batch steps are on the longest path to it, itself included."""
        level: dict[Step, int] = {}
        for step in order:
            before = max((level[value.step] for value in step.inputs if value is not None), default=0)
            level[step] = before + isinstance(step, BatchStep)
        return level

    @staticmethod
    def _crossing(order: Sequence[Step], level: dict[Step, int], wanted: Sequence[Key]) -> set[Key]:
        """Return the values that are needed after the program that computes them."""
        last = max(level.values(), default=0)
        crossing = {key for key in wanted if level[key[0]] < last or isinstance(key[0], BatchStep)}
        for step in order:
            for value in step.inputs:
                if value is None or isinstance(value.step, (Constant, ExternalInput)):
                    continue
                if level[step] > level[value.step] or isinstance(value.step, BatchStep):
                    crossing.add((value.step, value.index))
        return crossing

    def _segment(
        self,
        number: int,
        steps: list[Step],
        level: dict[Step, int],
        crossing: set[Key],
        wanted: Sequence[Key],
        guards: Guards,
    ) -> Segment:
        program = _core.Program()
        slots: dict[Key, int] = {}
        segment = Segment(program, [], [], [])

        def slot_of(key: Key) -> int:
            if key not in slots:
                slots[key] = len(slots)
                if isinstance(key[0], Constant):
                    program.add_constant(slots[key], key[0].array)
                elif isinstance(key[0], (ExternalInput, BatchStep)) or level[key[0]] < number:
                    program.add_input(slots[key], len(segment.inputs))
                    segment.inputs.append(key)
            return slots[key]

        for step in steps:
            if isinstance(step, (Constant, ExternalInput)):
                continue
            inputs = [
                (name, -1 if value is None else slot_of((value.step, value.index)))
                for name, value in step.named_inputs()
            ]
            outputs = [slot_of((step, index)) for index in range(step.outputs)]
            conditions = [(slot_of((value.step, value.index)), number, equal) for value, number, equal in guards[step]]
            program.add_step(step.kind, self._parameters(step), inputs, outputs, conditions)
            segment.steps.append(step)
        made_here = set(steps)
        for key in dict.fromkeys([*wanted, *crossing]):
            if key[0] in made_here and not isinstance(key[0], ExternalInput):
                slot_of(key)
                segment.outputs.append(key)
        program.set_outputs([slots[key] for key in segment.outputs])
        return segment

    def _key(self, step: BatchStep) -> int | None:
        """Return the random key of a step that draws for the whole batch."""
        return self.keys[_node_of(step.key)] if isinstance(step, BatchPermutation) else None

    def _parameters(self, step: Step) -> dict[str, object]:
        return {name: self._parameter(value) for name, value in step.parameters().items()}

    def _parameter(self, value: object) -> object:
        """Return a parameter in the form that the core accepts."""
        match value:
            case RandomKey():
                return int(np.uint64(self.keys[_node_of(value)]).astype(np.int64))
            case Reader():
                return self.readers.index(value)
            case Records():
                return self._ranges(value)
            case TableColumn():
                column = value.reader.index.columns[value.name]
                rows, starts = (column.rows, column.starts) if isinstance(column, Ragged) else (column, NO_NUMBERS)
                return _core.Table(np.ascontiguousarray(rows), starts)
            case Features():
                return _core.ExampleFeatures(value.rows)
            case Enum():
                return value.value
        return value

    def _ranges(self, records: Records) -> _core.ByteRanges:
        if records not in self.ranges:
            part = part_of(records)
            lost = [(item, kind, message) for item, (kind, message) in records.reader.index.lost.items()]
            number = sum(map(is_fetched, self.ranges)) if is_fetched(records) else -1
            paths = part.anchored_paths()
            prefix, where = os.fsencode(paths.prefix), (part.files, part.offsets, part.lengths)
            ranges = _core.ByteRanges(prefix, paths.names, paths.starts, *where, lost, number)
            self.ranges[records] = ranges
        return self.ranges[records]


def part_of(records: Records) -> Index:
    """Return the index of the byte ranges of a reader's items."""
    index = records.reader.index
    return index if records.part is None else index.parts[records.part]


def is_fetched(records: Records) -> bool:
    """Whether some of the byte ranges are at addresses; all files of a dataset usually are, or none."""
    return part_of(records).is_remote()
