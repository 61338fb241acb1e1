"""Steps: the instructions of a program, connected by values. Each kind is declared once.

A declaration names the inputs and the typed parameters of a kind of step. The native core gets a C++ struct of the same
fields from it (scripts/write_api.py writes native/core/steps/declared.h), so neither side counts positions or spells
keys.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol, Self, TypeVar, dataclass_transform

from pixelmill.errors import EngineError
from pixelmill.steps.fields import Declaration, declaration_of


class Origin(Protocol):
    """The operator of the graph that a step belongs to."""

    @property
    def operator(self) -> str: ...

    @property
    def line(self) -> str | None: ...


@dataclass(frozen=True, eq=False)
class Expr:
    """One output of a step, and the names of its axes."""

    step: Step
    index: int = 0
    layout: str = ""


# What a declaration calls its inputs: `Input`, `Input | None`, or as its last one `tuple[Input, ...]`.
Input = Expr

# When a step has to run: for samples whose value equals this number, or (False) differs from it.
Guard = tuple[Expr, int, bool]


@dataclass(frozen=True)
class RandomKey:
    """The random numbers of an operator; the compiler replaces it by a number."""

    origin: Origin


_origin: ContextVar[Origin | None] = ContextVar("origin", default=None)
_branch: ContextVar[tuple[Guard, ...]] = ContextVar("branch", default=())

# Every kind of step by its name.
STEPS: dict[str, type[Step]] = {}

StepClass = TypeVar("StepClass", bound="type[Step]")


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(field,))
def family(kind: StepClass) -> StepClass:
    """Declare fields that several kinds of steps have in common.

    The class becomes a frozen dataclass when the first step of its kind is created: programs use few of a hundred kinds
    and start 40 ms sooner this way.
    """
    return kind


@dataclass_transform(frozen_default=True, kw_only_default=True, eq_default=False, field_specifiers=(field,))
def declared(kind: StepClass) -> StepClass:
    """Declare a kind of step: a frozen dataclass whose constructor checks names and types."""
    kind.kind = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
    STEPS[kind.kind] = kind
    return family(kind)


@family
class Step:
    """One instruction of a program; `declared` makes a kind of step of a subclass.

    Attributes:
        kind: The name of the kind, made from that of the class.
        native: Whether the core runs it; others run in Python, or need not run.
        output_counts: How many outputs a step of the kind can have.
        origin: The operator that the step was created for.
    """

    kind: ClassVar[str] = ""
    native: ClassVar[bool] = True
    output_counts: ClassVar[range] = range(1, 2)

    origin: Origin | None = field(default_factory=_origin.get)

    def __init__(self, **given: object) -> None:
        self.__dict__.update(self.declaration().checked(self.kind, given))

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"{self.kind}: a step cannot be changed; replace() makes another one")

    @classmethod
    def declaration(cls) -> Declaration:
        """Return the fields of the kind."""
        return declaration_of(cls, is_value)

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self.output_counts.start

    @cached_property
    def own_inputs(self) -> tuple[Expr | None, ...]:
        """The inputs in the order of the declaration; those of a tuple field come one after the other."""
        found: list[Expr | None] = []
        for entry in self.declaration().inputs:
            value = self.__dict__[entry.name]
            found += value if entry.many else [value]
        return tuple(found)

    @property
    def inputs(self) -> tuple[Expr | None, ...]:
        """All values that must be computed before it runs."""
        return self.own_inputs

    def named_inputs(self) -> list[tuple[str, Expr | None]]:
        """Return the inputs with the names of their fields."""
        names = [entry.name for entry in self.declaration().inputs]
        names += names[-1:] * (len(self.own_inputs) - len(names))
        return list(zip(names, self.own_inputs, strict=False))

    def with_inputs(self, inputs: Sequence[Expr | None]) -> Self:
        """Return the same step on other inputs, given in the order of `inputs`."""
        made = object.__new__(type(self))  # everything but the inputs was checked before
        made.__dict__.update(self.__dict__, own_inputs=tuple(inputs))
        rest = list(inputs)
        for entry in self.declaration().inputs:
            made.__dict__[entry.name] = tuple(rest) if entry.many else rest.pop(0)
        return made

    def parameters(self) -> dict[str, object]:
        """Return the parameters by name."""
        return {entry.name: self.__dict__[entry.name] for entry in self.declaration().parameters}

    def value(self, layout: str = "") -> Expr:
        """Return its only output, with the names of its axes."""
        return self.values(layout)[0]

    def values(self, *layouts: str) -> tuple[Expr, ...]:
        """Return its outputs, with the names of the axes of each."""
        if len(layouts) != self.outputs:
            raise EngineError(f"{self.kind}: {len(layouts)} layouts for {self.outputs} outputs")
        return tuple(Expr(self, index, layout) for index, layout in enumerate(layouts))

    def pair(self) -> tuple[Expr, Expr]:
        """Return both outputs of a step that has two without names for their axes, such as a start and an extent."""
        first, second = self.values("", "")
        return first, second

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self.parameters().items()]
        return f"{type(self).__name__}({', '.join(shown)})"


@family
class BatchStep(Step):
    """A step that sees the whole batch; inside of a branch, the samples that take it.

    Attributes:
        branch: The conditions of the branch it was created in, which decide for which samples it runs.
    """

    native: ClassVar[bool] = False

    branch: tuple[Guard, ...] = ()

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        known = any(value is not None and value.step.kind != "constant" for value in self.own_inputs)
        if "branch" not in given and known:
            self.__dict__["branch"] = _branch.get()

    @property
    def inputs(self) -> tuple[Expr | None, ...]:
        """The inputs, followed by the conditions of its branch."""
        return (*self.own_inputs, *(condition for condition, _, _ in self.branch))

    def with_inputs(self, inputs: Sequence[Expr | None]) -> Self:
        """Return the same step on other inputs and conditions, given in the order of `inputs`."""
        first = len(inputs) - len(self.branch)
        made = super().with_inputs(inputs[:first])
        pairs = zip(inputs[first:], self.branch, strict=True)
        made.__dict__["branch"] = tuple((value, number, equal) for value, (_, number, equal) in pairs)
        return made

    def parameters(self) -> dict[str, object]:
        """Return the parameters by name, and the numbers that the conditions of its branch are compared with."""
        return {**super().parameters(), "branch": tuple((number, equal) for _, number, equal in self.branch)}


def is_value(hint: object) -> bool:
    """Whether the type of a field marks it as an input."""
    return hint is Expr


@contextlib.contextmanager
def lowering(origin: Origin, branch: tuple[Guard, ...] = ()) -> Iterator[None]:
    """Make `origin` the owner of all steps created inside, and `branch` the conditions that its samples meet."""
    tokens = _origin.set(origin), _branch.set(branch)
    try:
        yield
    finally:
        _origin.reset(tokens[0])
        _branch.reset(tokens[1])


def operator_key() -> RandomKey:
    """Return the random numbers of the operator being lowered."""
    origin = _origin.get()
    if origin is None:
        raise LookupError("no operator is being lowered")
    return RandomKey(origin)
