"""Python's operators on nodes, constants and tensors: each is a call of an operator by its name."""

from __future__ import annotations

from typing import Self


class Arithmetic:
    """Arithmetic and comparisons. Types follow DALI's promotion rules, shapes NumPy's broadcasting."""

    __slots__ = ()
    __array_ufunc__ = None  # makes NumPy leave `array + node` to the node
    __hash__ = object.__hash__

    def _operate(self, operation: str, *operands: object, **arguments: object) -> Self:
        """Call the operator with this name."""
        raise NotImplementedError

    def __add__(self, other: object) -> Self:
        return self._operate("add", self, other)

    def __radd__(self, other: object) -> Self:
        return self._operate("add", other, self)

    def __sub__(self, other: object) -> Self:
        return self._operate("sub", self, other)

    def __rsub__(self, other: object) -> Self:
        return self._operate("sub", other, self)

    def __mul__(self, other: object) -> Self:
        return self._operate("mul", self, other)

    def __rmul__(self, other: object) -> Self:
        return self._operate("mul", other, self)

    def __truediv__(self, other: object) -> Self:
        return self._operate("fdiv", self, other)

    def __rtruediv__(self, other: object) -> Self:
        return self._operate("fdiv", other, self)

    def __floordiv__(self, other: object) -> Self:
        return self._operate("div", self, other)

    def __rfloordiv__(self, other: object) -> Self:
        return self._operate("div", other, self)

    def __mod__(self, other: object) -> Self:
        return self._operate("mod", self, other)

    def __rmod__(self, other: object) -> Self:
        return self._operate("mod", other, self)

    def __pow__(self, other: object) -> Self:
        return self._operate("pow", self, other)

    def __rpow__(self, other: object) -> Self:
        return self._operate("pow", other, self)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self._operate("eq", self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._operate("neq", self, other)

    def __lt__(self, other: object) -> Self:
        return self._operate("lt", self, other)

    def __le__(self, other: object) -> Self:
        return self._operate("leq", self, other)

    def __gt__(self, other: object) -> Self:
        return self._operate("gt", self, other)

    def __ge__(self, other: object) -> Self:
        return self._operate("geq", self, other)

    def __and__(self, other: object) -> Self:
        return self._operate("bitand", self, other)

    def __rand__(self, other: object) -> Self:
        return self._operate("bitand", other, self)

    def __or__(self, other: object) -> Self:
        return self._operate("bitor", self, other)

    def __ror__(self, other: object) -> Self:
        return self._operate("bitor", other, self)

    def __xor__(self, other: object) -> Self:
        return self._operate("bitxor", self, other)

    def __rxor__(self, other: object) -> Self:
        return self._operate("bitxor", other, self)

    def __lshift__(self, other: object) -> Self:
        return self._operate("lshift", self, other)

    def __rlshift__(self, other: object) -> Self:
        return self._operate("lshift", other, self)

    def __rshift__(self, other: object) -> Self:
        return self._operate("rshift", self, other)

    def __rrshift__(self, other: object) -> Self:
        return self._operate("rshift", other, self)

    def __neg__(self) -> Self:
        return self._operate("minus", self)

    def __pos__(self) -> Self:
        return self

    def __invert__(self) -> Self:
        return self._operate("bitnot", self)

    def __abs__(self) -> Self:
        return self._operate("abs", self)


class NodeOperators(Arithmetic):
    """All operators of a node, whose elements are known only when the pipeline runs."""

    __slots__ = ()
    __iter__ = None  # with __getitem__ alone, Python would iterate forever: the length is unknown

    def __getitem__(self, key: object) -> Self:
        """Return a part of each sample: numbers, nodes and slices select along axes, and `newaxis` adds one."""
        return self._operate("subscript", self, key)

    def shape(self, *, dtype: object = None, device: str = "cpu") -> Self:
        """Return the shape of each sample.

        Args:
            dtype: The type of the extents, int64 by default.
            device: The device to request the shapes on.
        """
        return self._operate("shapes", self, dtype=dtype, device=device)

    def property(self, key: str, *, device: str = "cpu") -> Self:
        """Return a property of each sample, as bytes.

        Args:
            key: `"source_info"` for where the sample came from, `"layout"` for the names of its axes.
            device: The device to request the property on.
        """
        return self._operate("get_property", self, key=key, device=device)

    def source_info(self, *, device: str = "cpu") -> Self:
        """Return where each sample came from, as bytes."""
        return self.property("source_info", device=device)
