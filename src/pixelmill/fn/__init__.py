"""Operators as functions: `fn.resize(images, size=224)`. They come from the registry, see docs/operators.md."""

from __future__ import annotations

from typing import Any

from pixelmill.graph import call, family
from pixelmill.operators import OLDER_FUNCTIONS, Operator, public_operators


def _function(spec: Operator) -> Any:
    def function(
        *inputs: Any, device: str | None = None, name: str | None = None, seed: int | None = None, **arguments: Any
    ) -> Any:
        if spec.leading and not spec.inputs:
            inputs, arguments = (), {**dict(zip(spec.leading, inputs, strict=False)), **arguments}
        return call(spec, inputs, arguments, device=device, name=name, seed=seed)

    function.__name__ = function.__qualname__ = spec.name.rsplit(".", 1)[-1]
    function.__module__ = ".".join([__name__, *spec.name.split(".")[:-1]])
    function.__doc__ = spec.body.__doc__
    function.__signature__ = spec.signature()  # type: ignore[attr-defined]
    return function


for _name, _spec in public_operators().items():
    *_path, _last = _name.split(".")
    setattr(family(__name__, _path), _last, _function(_spec))
for _older, _name in OLDER_FUNCTIONS.items():
    (*_path, _last), (*_family, _current) = _older.split("."), _name.split(".")
    setattr(family(__name__, _path), _last, getattr(family(__name__, _family), _current))
