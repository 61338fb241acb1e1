"""Mathematics on nodes, element by element. Integers give float32 where the result has fractions."""

from __future__ import annotations

from pixelmill.graph.calls import operate
from pixelmill.graph.nodes import DataNode


def _operate(operation: str, *operands: object) -> DataNode:
    node: DataNode = operate(operation, *operands)
    return node


def sqrt(input: object) -> DataNode:
    """Give the square root."""
    return _operate("sqrt", input)


def rsqrt(input: object) -> DataNode:
    """Give one divided by the square root."""
    return _operate("rsqrt", input)


def cbrt(input: object) -> DataNode:
    """Give the cube root."""
    return _operate("cbrt", input)


def exp(input: object) -> DataNode:
    """Give e to the power of each element."""
    return _operate("exp", input)


def log(input: object) -> DataNode:
    """Give the natural logarithm."""
    return _operate("log", input)


def log2(input: object) -> DataNode:
    """Give the logarithm to the base 2."""
    return _operate("log2", input)


def log10(input: object) -> DataNode:
    """Give the logarithm to the base 10."""
    return _operate("log10", input)


def abs(input: object) -> DataNode:
    """Give the absolute value, in the type of the input."""
    return _operate("abs", input)


def fabs(input: object) -> DataNode:
    """Give the absolute value as a float."""
    return _operate("fabs", input)


def floor(input: object) -> DataNode:
    """Round down to a whole number."""
    return _operate("floor", input)


def ceil(input: object) -> DataNode:
    """Round up to a whole number."""
    return _operate("ceil", input)


def sin(input: object) -> DataNode:
    """Give the sine."""
    return _operate("sin", input)


def cos(input: object) -> DataNode:
    """Give the cosine."""
    return _operate("cos", input)


def tan(input: object) -> DataNode:
    """Give the tangent."""
    return _operate("tan", input)


def asin(input: object) -> DataNode:
    """Give the angle that has this sine."""
    return _operate("asin", input)


def acos(input: object) -> DataNode:
    """Give the angle that has this cosine."""
    return _operate("acos", input)


def atan(input: object) -> DataNode:
    """Give the angle that has this tangent."""
    return _operate("atan", input)


def sinh(input: object) -> DataNode:
    """Give the hyperbolic sine."""
    return _operate("sinh", input)


def cosh(input: object) -> DataNode:
    """Give the hyperbolic cosine."""
    return _operate("cosh", input)


def tanh(input: object) -> DataNode:
    """Give the hyperbolic tangent."""
    return _operate("tanh", input)


def asinh(input: object) -> DataNode:
    """Give the inverse of the hyperbolic sine."""
    return _operate("asinh", input)


def acosh(input: object) -> DataNode:
    """Give the inverse of the hyperbolic cosine."""
    return _operate("acosh", input)


def atanh(input: object) -> DataNode:
    """Give the inverse of the hyperbolic tangent."""
    return _operate("atanh", input)


def min(left: object, right: object) -> DataNode:
    """Give the smaller of two elements."""
    return _operate("min", left, right)


def max(left: object, right: object) -> DataNode:
    """Give the larger of two elements."""
    return _operate("max", left, right)


def pow(base: object, exponent: object) -> DataNode:
    """Give the power, in the type that both are promoted to."""
    return _operate("pow", base, exponent)


def fpow(base: object, exponent: object) -> DataNode:
    """Give the power as a float."""
    return _operate("fpow", base, exponent)


def atan2(x: object, y: object) -> DataNode:
    """Give the angle whose tangent is x / y, in the quadrant that their signs tell."""
    return _operate("atan2", x, y)


def clamp(value: object, lo: object, hi: object) -> DataNode:
    """Bring elements into the range from `lo` to `hi`."""
    return _operate("clamp", value, lo, hi)
