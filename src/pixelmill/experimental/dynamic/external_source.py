"""Values from Python, one call after the other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.experimental.dynamic.values import Batch, Tensor, as_batch
from pixelmill.tensors import TensorListCPU

Value = Tensor | Batch


class ExternalSource:
    """Takes the next value from a callable or an iterable with each call.

    Args:
        source: A callable without parameters, or an iterable. An item is an array, a `Batch`, or with several
            outputs a tuple of these.
        num_outputs: The number of values in an item.
        cycle: What happens after the last item of an iterable: None or `"no"` raises StopIteration, `"quiet"` or True
            starts over, `"raise"` raises StopIteration once and starts over.
        device: Accepted for compatibility; values are in main memory.
        layout: The layout of the values: one for all or one for each.
        dtype: The type of the values, likewise.
    """

    def __init__(
        self,
        source: Callable[[], object] | Iterable[object],
        num_outputs: int = 1,
        *,
        cycle: Literal["no", "quiet", "raise"] | bool | None = None,
        device: object = "cpu",
        layout: str | Sequence[str] | None = None,
        dtype: Any = None,
    ) -> None:
        if num_outputs < 1:
            raise ArgumentError(f"ExternalSource: num_outputs must be at least 1, got {num_outputs}")
        self._source = source
        self._is_iterable = isinstance(source, Iterable)
        self._cycle = {None: "no", False: "no", True: "quiet"}.get(cycle, cycle)  # type: ignore[arg-type]
        if not self._is_iterable:
            self._check_callable()
        self._layouts, self._dtypes = (self._for_each(value, num_outputs) for value in (layout, dtype))
        self._iterator: Iterator[object] | None = None

    def __call__(self, *, batch_size: int | None = None) -> Value | tuple[Value, ...]:
        """Return the next value; a tuple of several if there are several outputs.

        Args:
            batch_size: The number of samples; a single array is repeated so often.
        """
        item = self._next()
        if len(self._layouts) == 1:
            return self._value(item, 0, batch_size)
        if not isinstance(item, Sequence) or len(item) != len(self._layouts):
            raise ArgumentError(f"ExternalSource: the source must return {len(self._layouts)} values")
        values = tuple(self._value(part, place, batch_size) for place, part in enumerate(item))
        if len({type(value) for value in values}) > 1:
            raise ArgumentTypeError("ExternalSource: the outputs must be all arrays or all batches")
        return values

    def _next(self) -> object:
        if not self._is_iterable:
            return self._source()  # type: ignore[operator]
        if self._iterator is None:
            self._iterator = iter(self._source)  # type: ignore[arg-type]
        try:
            return next(self._iterator)
        except StopIteration:
            if self._cycle == "no":
                raise
            self._iterator = None
            if self._cycle == "raise":
                raise
            self._iterator = iter(self._source)  # type: ignore[arg-type]
            return next(self._iterator)

    def _value(self, data: object, place: int, batch_size: int | None) -> Value:
        layout, dtype = self._layouts[place], self._dtypes[place]
        if isinstance(data, (Batch, TensorListCPU)):
            batch = as_batch(data, dtype=dtype, layout=layout)
            if batch_size not in (None, len(batch)):
                raise ArgumentError(f"ExternalSource: expected {batch_size} samples, the source returned {len(batch)}")
            return batch
        tensor = Tensor(data, layout, dtype)
        return tensor if batch_size is None else Batch([tensor] * batch_size)

    def _check_callable(self) -> None:
        if not callable(self._source):
            raise ArgumentTypeError(f"ExternalSource: source must be callable or iterable, got {self._source!r}")
        if self._cycle != "no":
            raise ArgumentError("ExternalSource: cycle applies to iterables only; a callable cannot start over")
        if inspect.signature(self._source).parameters:
            raise ArgumentError("ExternalSource: a callable must take no arguments")

    @staticmethod
    def _for_each(value: Any, count: int) -> Sequence[Any]:
        if not isinstance(value, (list, tuple)):
            return (value,) * count
        if len(value) != count:
            raise ArgumentError(f"ExternalSource: {len(value)} values given for {count} outputs")
        return value
