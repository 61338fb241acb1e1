"""Operators at once: called on arrays, they give arrays. For notebooks and for looking into things.

    import pixelmill.experimental.dynamic as pmd

    small = pmd.resize(picture, size=[64, 64])          # a NumPy array in, a Tensor out
    turned = pmd.flip(pmd.batch([a, b]), horizontal=1)  # a Batch in, a Batch out

The functions come from the registry, like those of `fn`; readers are classes with `next_epoch`.
"""

from __future__ import annotations

from typing import Any

from pixelmill.experimental.dynamic.readers import reader_class
from pixelmill.experimental.dynamic.run import RNG, run
from pixelmill.experimental.dynamic.values import Batch, Tensor, as_batch, as_tensor
from pixelmill.graph import family
from pixelmill.operators import Operator, public_operators

tensor, batch = as_tensor, as_batch

# Operators that only make sense inside of a pipeline.
_NOT_EAGER = {"external_source", "python_function"}


def _function(spec: Operator) -> Any:
    def function(*inputs: Any, batch_size: int | None = None, rng: RNG | None = None, **arguments: Any) -> Any:
        return run(spec, inputs, arguments, batch_size=batch_size, rng=rng)

    function.__name__ = function.__qualname__ = spec.name.rsplit(".", 1)[-1]
    function.__doc__ = spec.body.__doc__
    return function


for _name, _spec in public_operators().items():
    if _name in _NOT_EAGER:
        continue
    *_path, _last = _name.split(".")
    _module = family(__name__, _path)
    if _path == ["readers"]:
        setattr(_module, _spec.class_name, reader_class(_spec))
    else:
        setattr(_module, _last, _function(_spec))
family(__name__, ["random"]).RNG = RNG  # type: ignore[attr-defined]

__all__ = ["RNG", "Batch", "Tensor", "as_batch", "as_tensor", "batch", "tensor"]
