"""Elementwise mathematical functions on nodes. Integers are promoted to float32 where the result is not an integer."""

from __future__ import annotations

from pixelmill.graph.calls import operate
from pixelmill.graph.nodes import DataNode


def _operate(operation: str, *operands: object) -> DataNode:
    node: DataNode = operate(operation, *operands)
    return node


def sqrt(input: object) -> DataNode:
    """Return the square root."""
    return _operate("sqrt", input)


def rsqrt(input: object) -> DataNode:
    """Return one divided by the square root."""
    return _operate("rsqrt", input)


def cbrt(input: object) -> DataNode:
    """Return the cube root."""
    return _operate("cbrt", input)


def exp(input: object) -> DataNode:
    """Return e to the power of each element."""
    return _operate("exp", input)


def log(input: object) -> DataNode:
    """Return the natural logarithm."""
    return _operate("log", input)


def log2(input: object) -> DataNode:
    """Return the logarithm to the base 2."""
    return _operate("log2", input)


def log10(input: object) -> DataNode:
    """Return the logarithm to the base 10."""
    return _operate("log10", input)


def abs(input: object) -> DataNode:
    """Return the absolute value, in the type of the input."""
    return _operate("abs", input)


def fabs(input: object) -> DataNode:
    """Return the absolute value as a float."""
    return _operate("fabs", input)


def floor(input: object) -> DataNode:
    """Round down to an integer."""
    return _operate("floor", input)


def ceil(input: object) -> DataNode:
    """Round up to an integer."""
    return _operate("ceil", input)


def sin(input: object) -> DataNode:
    """Return the sine."""
    return _operate("sin", input)


def cos(input: object) -> DataNode:
    """Return the cosine."""
    return _operate("cos", input)


def tan(input: object) -> DataNode:
    """Return the tangent."""
    return _operate("tan", input)


def asin(input: object) -> DataNode:
    """Return the inverse sine, in radians."""
    return _operate("asin", input)


def acos(input: object) -> DataNode:
    """Return the inverse cosine, in radians."""
    return _operate("acos", input)


def atan(input: object) -> DataNode:
    """Return the inverse tangent, in radians."""
    return _operate("atan", input)


def sinh(input: object) -> DataNode:
    """Return the hyperbolic sine."""
    return _operate("sinh", input)


def cosh(input: object) -> DataNode:
    """Return the hyperbolic cosine."""
    return _operate("cosh", input)


def tanh(input: object) -> DataNode:
    """Return the hyperbolic tangent."""
    return _operate("tanh", input)


def asinh(input: object) -> DataNode:
    """Return the inverse hyperbolic sine."""
    return _operate("asinh", input)


def acosh(input: object) -> DataNode:
    """Return the inverse hyperbolic cosine."""
    return _operate("acosh", input)


def atanh(input: object) -> DataNode:
    """Return the inverse hyperbolic tangent."""
    return _operate("atanh", input)


def min(left: object, right: object) -> DataNode:
    """Return the smaller of two elements."""
    return _operate("min", left, right)


def max(left: object, right: object) -> DataNode:
    """Return the larger of two elements."""
    return _operate("max", left, right)


def pow(base: object, exponent: object) -> DataNode:
    """Return the power, in the promoted type of both operands."""
    return _operate("pow", base, exponent)


def fpow(base: object, exponent: object) -> DataNode:
    """Return the power as a float."""
    return _operate("fpow", base, exponent)


def atan2(x: object, y: object) -> DataNode:
    """Return the angle whose tangent is x / y, in radians, in the quadrant given by their signs."""
    return _operate("atan2", x, y)


def clamp(value: object, lo: object, hi: object) -> DataNode:
    """Clamp elements to the range from `lo` to `hi`."""
    return _operate("clamp", value, lo, hi)
