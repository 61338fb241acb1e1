"""Readers and operators of dynamic mode as nodes of torchdata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch

from pixelmill.errors import ArgumentError, EngineError, MissingDependency
from pixelmill.experimental.dynamic.readers import Reader as DynamicReader
from pixelmill.experimental.dynamic.readers import Values
from pixelmill.experimental.dynamic.values import Batch, Tensor

try:
    from torchdata.nodes import BaseNode
except ImportError:
    raise MissingDependency("torchdata", "torchdata") from None

State = dict[str, Any]
Items = dict[str, Tensor | Batch]


class Reader(BaseNode[Items]):  # type: ignore[misc]
    """A reader as a node that yields dictionaries.

    Args:
        reader_type: A class of `pixelmill.experimental.dynamic.readers`.
        batch_size: Samples of a batch; None to yield single tensors.
        output_names: Names of the outputs; `data` and `label` if there are two and they have no names.
        arguments: The arguments of the reader.
    """

    def __init__(
        self,
        reader_type: type[DynamicReader],
        *,
        batch_size: int | None,
        output_names: Iterable[str] | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__()
        self._reader = reader_type(**arguments)
        self._batch_size = batch_size
        self._epoch: Iterator[Values] | None = None
        self._names = self._checked_names(output_names)

    def _checked_names(self, given: Iterable[str] | None) -> tuple[str, ...]:
        own = self._reader.output_names
        if given is not None:
            names = tuple(given)
            if len(names) != len(own):
                raise ArgumentError(f"Reader: {len(names)} output_names for {len(own)} outputs")
            return names
        if own != tuple(str(number) for number in range(len(own))):
            return own
        if len(own) != 2:
            raise ArgumentError(f"Reader: output_names is needed for a reader with {len(own)} outputs")
        return ("data", "label")

    def next(self) -> Items:
        """Return the next batch."""
        if self._epoch is None:
            raise EngineError("Reader: call reset before the first batch, as torchdata.nodes.Loader does")
        values = next(self._epoch)
        return dict(zip(self._names, values.values() if isinstance(values, dict) else values, strict=True))

    def reset(self, initial_state: State | None = None) -> None:
        """Start an epoch, or continue from a state."""
        super().reset(initial_state)
        if initial_state is not None:
            self._reader.set_state(initial_state["reader"])
        self._epoch = iter(self._reader.next_epoch(batch_size=self._batch_size))

    def get_state(self) -> State:
        """Return the position after the last batch."""
        return {"reader": self._reader.get_state()}

    def get_metadata(self) -> dict[str, int]:
        """Return what is known about the reader."""
        return self._reader.get_metadata()


class _Follower(BaseNode[Any]):  # type: ignore[misc]
    """A node whose position is that of its source."""

    _source: BaseNode[Any]

    def reset(self, initial_state: State | None = None) -> None:
        """Start an epoch of the source, or continue from a state."""
        super().reset(initial_state)
        self._source.reset(None if initial_state is None else initial_state["source"])

    def get_state(self) -> State:
        """Return the state of the source."""
        return {"source": self._source.state_dict()}


class DictMapper(_Follower):
    """Applies a function to one entry of the dictionaries of a node.

    Args:
        source: The node.
        map_fn: The function.
        key: The entry.
    """

    def __init__(self, source: BaseNode[Items], map_fn: Callable[[Any], Tensor | Batch], key: str = "data") -> None:
        super().__init__()
        self._source, self._map_fn, self._key = source, map_fn, key

    def next(self) -> Items:
        """Return the next dictionary."""
        items = dict(next(self._source))
        items[self._key] = self._map_fn(items[self._key])
        return items


class ToTorch(_Follower):
    """Converts dictionaries of tensors or batches to tuples of PyTorch tensors.

    Args:
        source: The node.
        output_stream: Accepted for compatibility.
    """

    def __init__(self, source: BaseNode[Items], output_stream: object = None) -> None:
        super().__init__()
        self._source = source

    def next(self) -> tuple[torch.Tensor, ...]:
        """Return the next tensors."""
        return tuple(value.torch() for value in next(self._source).values())


__all__ = ["DictMapper", "Reader", "ToTorch"]
