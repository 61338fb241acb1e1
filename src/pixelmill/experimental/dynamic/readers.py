"""Readers outside a pipeline, which return batches epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pixelmill.experimental.dynamic.modes import get_num_threads
from pixelmill.experimental.dynamic.values import Batch, Tensor
from pixelmill.graph.calls import call
from pixelmill.operators import Operator
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import Loader

# What a reader yields: a value for each output, by name if the outputs have names.
Values = tuple[Batch | Tensor, ...] | dict[str, Batch | Tensor]


class Reader:
    """A reader outside a pipeline. Its arguments are those of the reader of the same name in `fn.readers`.

    Args:
        seed: Seed of the shuffled order; random if None.
        device: Accepted for compatibility; readers run on the CPU.
        name: Accepted for compatibility.
        max_batch_size: Accepted for compatibility.
        arguments: The arguments of the reader.
    """

    spec: Operator

    def __init__(
        self,
        *,
        seed: int | None = None,
        device: object = None,
        name: str | None = None,
        max_batch_size: int | None = None,
        **arguments: object,
    ) -> None:
        self._seed = -1 if seed is None else seed
        self._arguments = arguments
        self._loader: Loader | None = None
        self._names: tuple[str, ...] | None = None

    def next_epoch(self, batch_size: int | None = None) -> Iterator[Values]:
        """Yield the batches of one epoch, a Batch for each output; single tensors if no size is given.

        Readers with named outputs, such as TFRecord, yield dictionaries.
        """
        for batch in self._started(batch_size or 1):
            batches = tuple(Batch(samples) for samples in batch.values())
            values = batches if batch_size else tuple(batch.tensors[0] for batch in batches)
            yield values if self._names is None else dict(zip(self._names, values, strict=True))

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs: their numbers if they have none."""
        loader = self._started(None)
        return self._names or tuple(str(number) for number in range(loader.pipeline.num_outputs))

    def get_metadata(self, batch_size: int | None = None) -> dict[str, int]:
        """Return the number of samples, and how they are divided into shards; they do not depend on `batch_size`."""
        return dict(self._started(None).pipeline.reader_meta("reader"))

    def get_state(self) -> dict[str, Any]:
        """Return the position after the last batch."""
        return self._started(None).state_dict()

    def set_state(self, state: dict[str, Any]) -> None:
        """Continue from a position that `get_state` returned."""
        self._started(None).load_state_dict(state)

    def _started(self, batch_size: int | None) -> Loader:
        """Return the loader for this batch size; a new one continues at the position of the previous one."""
        state = None
        if self._loader is not None:
            if batch_size in (None, self._loader.pipeline.max_batch_size):
                return self._loader
            state = self._loader.state_dict()
            self._loader.pipeline.close()
        pipe = Pipeline(batch_size or 1, get_num_threads(), None, self._seed)
        with pipe:
            made = call(self.spec, (), self._arguments, name="reader")
        if isinstance(made, dict):
            self._names = tuple(made)
        nodes = made.values() if isinstance(made, dict) else made if isinstance(made, list) else [made]
        values = list(nodes)
        pipe.set_outputs(*values)
        self._loader = Loader(pipe, [str(number) for number in range(len(values))])
        if state is not None:
            self._loader.load_state_dict(state)
        return self._loader


def reader_class(spec: Operator) -> type[Reader]:
    """Create the class of a reader."""
    return type(spec.class_name, (Reader,), {"spec": spec, "__doc__": spec.body.__doc__})
