"""Arithmetic on nodes: what `+`, `<` and `math.sqrt` lower to. Chains are fused, see engine/fusion.py."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.operators.declare import COMMON_IGNORED, Operator, Tensor
from pixelmill.steps.elements import Arithmetic
from pixelmill.steps.sources import constant_array

# Operations and the names of their operands; native/ uses the same names.
OPERANDS = {
    **dict.fromkeys(("minus", "abs", "fabs", "floor", "ceil", "sqrt", "rsqrt", "cbrt", "exp"), ("x",)),
    **dict.fromkeys(("log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"), ("x",)),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "bitnot"), ("x",)),
    **dict.fromkeys(("add", "sub", "mul", "div", "fdiv", "mod", "min", "max", "atan2"), ("a", "b")),
    **dict.fromkeys(("eq", "neq", "lt", "leq", "gt", "geq"), ("a", "b")),
    **dict.fromkeys(("bitand", "bitor", "bitxor", "lshift", "rshift"), ("a", "b")),
    **dict.fromkeys(("pow", "fpow"), ("base", "exponent")),
    "clamp": ("value", "lo", "hi"),
}
ON_BITS = frozenset({"bitand", "bitor", "bitxor", "bitnot", "lshift", "rshift"})


def arithmetic(operation: str, *operands: Tensor) -> Tensor:
    """Add one operation. Types follow DALI's promotion rules, shapes broadcast as in NumPy."""
    for operand in operands:
        if operand is None:
            raise ArgumentTypeError(f"{operation}: operands must be nodes or constants, got None")
        array = constant_array(operand)
        if operation in ON_BITS and array is not None and array.dtype.kind == "f":
            raise ArgumentError(f"{operation}: bitwise operations work on integers only, got {array.tolist()}")
    return Arithmetic(operands=operands, operation=operation).value(common_layout(operation, operands))


def common_layout(operation: str, operands: Sequence[Tensor]) -> str:
    """Return the layout of the result: that of the longest operand, whose last axes the others match."""
    layout = ""
    for operand in operands:
        shorter, longer = sorted((layout, operand.layout), key=len)
        if not longer.endswith(shorter):
            raise ArgumentError(
                f"{operation}: the layouts {layout!r} and {operand.layout!r} do not match; they must be equal, "
                "or one the last axes of the other"
            )
        layout = longer
    arrays = map(constant_array, operands)
    most = max((array.ndim for array in arrays if array is not None), default=0)
    return layout if most <= len(layout) else ""


def _operation(name: str, operands: tuple[str, ...]) -> Operator:
    return Operator(
        name=name,
        body=partial(arithmetic, name),
        inputs=operands,
        optional_inputs=0,
        many_inputs=False,
        input_docs=dict.fromkeys(operands, "A node or a constant."),
        arguments={},
        summary=f"Arithmetic: {name}.",
        details="",
        draws=False,
        outputs=1,
        renamed={},
        ignored=COMMON_IGNORED,
        aliases=(),
        class_name=name.capitalize(),
    )


# Not offered as functions of `fn`: nodes have them as Python operators, and `math` as functions.
OPERATIONS = {name: _operation(name, operands) for name, operands in OPERANDS.items()}
