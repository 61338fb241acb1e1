"""Operators as classes: `ops.Resize(size=224)(images)`. They come from the registry, see docs/operators.md."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from pixelmill.graph import call, family
from pixelmill.operators import Operator, public_operators


class OperatorClass:
    """An operator with its constant arguments, to be called with its inputs.

    Args:
        device: Where it should run.
        name: The name of its node.
        seed: A seed for its random numbers.
        arguments: The arguments of the operator.
    """

    spec: ClassVar[Operator]

    def __init__(
        self, *, device: str | None = None, name: str | None = None, seed: int | None = None, **arguments: Any
    ) -> None:
        self._options: dict[str, Any] = {"device": device, "name": name, "seed": seed}
        self._arguments = arguments

    def __call__(self, *inputs: Any, name: str | None = None, **arguments: Any) -> Any:
        """Add the operator to the graph; arguments that differ from sample to sample are given here."""
        given = {key: value for key, value in arguments.items() if value is not None}
        twice = sorted(given.keys() & self._arguments.keys())
        if twice:
            raise ValueError(f"{self.spec.name}: {', '.join(twice)} was given to the constructor already")
        options = {**self._options, "name": name or self._options["name"]}
        return call(self.spec, inputs, {**self._arguments, **given}, **options)


def _class(spec: Operator, name: str, module: str) -> type[OperatorClass]:
    return type(name, (OperatorClass,), {"spec": spec, "__doc__": spec.body.__doc__, "__module__": module})


for _name, _spec in public_operators().items():
    _module = family(__name__, _name.split(".")[:-1])
    setattr(_module, _spec.class_name, _class(_spec, _spec.class_name, _module.__name__))
    for _alias in _spec.aliases:
        setattr(sys.modules[__name__], _alias, _class(_spec, _alias, __name__))
