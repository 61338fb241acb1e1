"""Operators as classes: `ops.Resize(size=224)(images)`. Derived from the registry, see docs/operators.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import ClassVar

from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import CallResult, call
from pixelmill.operators import OLDER_FUNCTIONS, REGISTRY, Operator, public_operators
from pixelmill.operators.absent import ABSENT_CLASSES, refusal
from pixelmill.operators.families import family


class OperatorClass:
    """An operator with its constant arguments, to be called with its inputs.

    Args:
        leading: The first arguments of the operator, if it is one of the few that take them by position.
        device: The device to run on.
        name: The name of its node.
        seed: Seed of its random numbers.
        arguments: The arguments of the operator.
    """

    spec: ClassVar[Operator]

    def __init__(
        self,
        *leading: object,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
        **arguments: object,
    ) -> None:
        if len(leading) > len(self.spec.leading):
            raise TypeError(f"ops.{type(self).__name__}: arguments must be passed by keyword")
        arguments = {**dict(zip(self.spec.leading, leading, strict=False)), **arguments}
        arguments = {key: value for key, value in arguments.items() if value is not None}
        self._device, self._name, self._seed = device, name, seed
        self._arguments = arguments

    def __call__(self, *inputs: object, name: str | None = None, **arguments: object) -> CallResult:
        """Add the operator to the graph. Arguments that vary from sample to sample are passed here."""
        given = {key: value for key, value in arguments.items() if value is not None}
        twice = sorted(given.keys() & self._arguments.keys())
        if twice:
            raise ValueError(f"{self.spec.name}: {', '.join(twice)} was already passed to the constructor")
        arguments = {**self._arguments, **given}
        return call(self.spec, inputs, arguments, device=self._device, name=name or self._name, seed=self._seed)


class Compose:
    """A chain of operators, to be called like one.

    Args:
        op_list: Operators, or functions of nodes; each takes the outputs of the previous one.
    """

    def __init__(self, op_list: Sequence[Callable[..., object]]) -> None:
        self._ops = list(op_list)
        if not self._ops:
            raise ArgumentError("Compose: the list of operators is empty")

    def __call__(self, *inputs: object, **arguments: object) -> object:
        """Add the operators to the graph; the arguments are passed to the first."""
        values: Sequence[object] = inputs
        for operator in self._ops:
            made = operator(*values, **arguments)
            values = made if isinstance(made, (list, tuple)) else (made,)
            arguments = {}
        return values[0] if len(values) == 1 else values


def _class(spec: Operator, name: str, module: str) -> type[OperatorClass]:
    return type(name, (OperatorClass,), {"spec": spec, "__doc__": spec.body.__doc__, "__module__": module})


for _name, _spec in public_operators().items():
    _module = family(__name__, _name.split(".")[:-1])
    setattr(_module, _spec.class_name, _class(_spec, _spec.class_name, _module.__name__))
    for _alias in _spec.aliases:
        setattr(sys.modules[__name__], _alias, _class(_spec, _alias, __name__))
for _older, _name in OLDER_FUNCTIONS.items():
    if "." in _older:  # the others are aliases, in the spelling of classes
        _module, _spec = family(__name__, _older.split(".")[:-1]), REGISTRY[_name]
        setattr(_module, _spec.class_name, getattr(family(__name__, _name.split(".")[:-1]), _spec.class_name))


def _offer_absent(path: Sequence[str]) -> None:
    """Let classes of DALI that are not here be imported from a family; making an object is an error."""
    module = family(__name__, path)

    def make(name: str) -> type[object]:
        full = ".".join([*path, name])
        if full not in ABSENT_CLASSES:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        def refuse(self: object, *arguments: object, **options: object) -> None:
            raise refusal(ABSENT_CLASSES[full])

        return type(name, (), {"__init__": refuse, "__module__": module.__name__})

    module.__getattr__ = make


for _absent in {tuple(name.split(".")[:-1]) for name in ABSENT_CLASSES}:
    _offer_absent(_absent)
