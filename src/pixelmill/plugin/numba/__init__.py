"""Functions compiled by Numba as operators of a graph: DALI's `NumbaFunction`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pixelmill.errors import MissingDependency

try:
    import numba  # noqa: F401 - compiled.py uses it; here its absence is reported
except ImportError:
    raise MissingDependency("numba", "numba") from None

from pixelmill.plugin.numba.compiled import numba_function

if TYPE_CHECKING:
    from pixelmill.graph.nodes import DataNode


class NumbaFunction:
    """A compiled function as an operator; call the object with the inputs.

    Args:
        run_fn: As for `fn.numba_function`, like all other arguments.
        out_types: The types of the outputs.
        in_types: The types of the inputs.
        outs_ndim: The numbers of axes of the outputs.
        ins_ndim: The numbers of axes of the inputs.
        options: The other arguments.
    """

    def __init__(
        self, run_fn: Any, out_types: Any, in_types: Any, outs_ndim: Any, ins_ndim: Any, **options: Any
    ) -> None:
        self._add = functools.partial(
            numba_function,
            run_fn=run_fn,
            out_types=out_types,
            in_types=in_types,
            outs_ndim=outs_ndim,
            ins_ndim=ins_ndim,
            **options,
        )

    def __call__(self, *inputs: DataNode) -> DataNode | list[DataNode]:
        """Add the function to the graph."""
        return self._add(*inputs)


__all__ = ["NumbaFunction", "numba_function"]
