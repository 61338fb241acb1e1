"""Iterators that return dicts of JAX arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from pixelmill.errors import ArgumentError
from pixelmill.pipeline import Pipeline, pipeline_def
from pixelmill.plugin.base_iterator import BaseIterator, LastBatchPolicy
from pixelmill.plugin.jax.arrays import HostOrDeviceBatch, array_of, batch_of, shape_of, sharded, stacked
from pixelmill.tensors import TensorListCPU

THREADS = 4  # default of pipelines made by decorated functions, as in DALI

GraphFunction = Callable[..., Any]  # returns the outputs of a graph: one node, or several in any sequence
IteratorFactory = Callable[..., Any]  # returns an iterator; called without a function, a decorator


class DALIGenericIterator(BaseIterator):
    """Returns batches as dicts of arrays. On the CPU the arrays share the memory of the batches.

    Args:
        pipelines: One pipeline, or several that run together.
        output_map: A name for each output.
        size: Samples of an epoch, over all pipelines; use it only if there is no reader. Without `size` and
            `reader_name`, an epoch lasts until the pipeline raises StopIteration.
        reader_name: The reader that determines the length of an epoch.
        auto_reset: Whether the next epoch starts automatically; otherwise `reset` or a new loop starts it.
        last_batch_padded: With `size`: whether the reader fills its last batch by repeating the last sample, instead of
            continuing with the next epoch.
        last_batch_policy: How to handle an incomplete last batch: FILL or DROP, since shapes must not change.
        prepare_first_batch: Whether to make the first batch when the iterator is created.
        sharding: How the samples are placed on devices. Use one pipeline per local device, or one for all.
        pmap_compatible: Whether arrays of a single pipeline have a leading axis of pipelines; those of several
            pipelines have one unless `sharding` is set.
        devices: The device for the batches of each pipeline, for `jax.pmap`; if omitted, all are on one device.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: jax.sharding.Sharding | None = None,
        pmap_compatible: bool | None = None,
        *,
        devices: Sequence[jax.Device] | None = None,
    ) -> None:
        if sharding is not None and devices is not None:
            raise ArgumentError("set sharding or devices, not both")
        if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
            raise ArgumentError(f"sharding must be a jax.sharding.Sharding, got {type(sharding).__name__}")
        if last_batch_policy is LastBatchPolicy.PARTIAL:
            raise ArgumentError("last_batch_policy: JAX compiles for one shape, so PARTIAL is not possible")
        self._sharding = sharding
        self._pmap_compatible = devices is not None if pmap_compatible is None else pmap_compatible
        self._devices = devices
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            None,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> HostOrDeviceBatch:
        return batch_of(self.output_map[number], output)

    def _fetch(self) -> dict[str, jax.Array]:
        batches = super()._fetch()
        return {name: self._joined(name, [batch[name] for batch in batches]) for name in self.output_map}

    def _joined(self, name: str, parts: list[HostOrDeviceBatch]) -> jax.Array:
        if len(parts) == 1 and self._sharding is None and not self._pmap_compatible:
            return array_of(parts[0])
        shapes = [shape_of(part) for part in parts]
        if len(set(shapes)) > 1:
            raise ArgumentError(f"output {name!r}: the pipelines return different shapes: {shapes}")
        return stacked(parts, self._devices) if self._sharding is None else sharded(parts, self._sharding)

    def __next__(self) -> dict[str, jax.Array]:
        batch: dict[str, jax.Array] = super().__next__()
        return batch


def data_iterator(
    pipeline_fn: GraphFunction | None = None, output_map: Sequence[str] = (), **options: Any
) -> IteratorFactory:
    """Turn a function that defines a graph into one that makes iterators over it.

    The new function takes the arguments of the old one, those of `Pipeline`, and `checkpoints`, the checkpoints of an
    iterator to resume. With `sharding` or `devices` there is one pipeline per device of this process, and `batch_size`
    counts the samples of all devices together; the function is then called with `shard_id` and `num_shards`.

    Args:
        pipeline_fn: The function that defines the graph.
        output_map: A name for each output.
        options: The other arguments of `DALIGenericIterator`.
    """
    return make_decorator(DALIGenericIterator, pipeline_fn, output_map, options)


def make_decorator(
    iterator: type[DALIGenericIterator],
    pipeline_fn: GraphFunction | None,
    names: Sequence[str],
    options: dict[str, Any],
) -> IteratorFactory:
    """Return the decorator of `data_iterator` for any class of iterators, or apply it to `pipeline_fn`."""
    sharding, devices = options.get("sharding"), options.get("devices")

    def decorate(graph: GraphFunction) -> IteratorFactory:
        make = pipeline_def(graph)

        @functools.wraps(graph)
        def create(*args: Any, checkpoints: Sequence[bytes] | None = None, **arguments: Any) -> DALIGenericIterator:
            arguments.setdefault("num_threads", THREADS)
            if sharding is None and devices is None:
                arguments.setdefault("device_id", 0)
                pipes = [make(*args, checkpoint=checkpoints[0] if checkpoints else None, **arguments)]
            else:
                pipes = _for_devices(make, args, arguments, devices, checkpoints)
            return iterator(pipes, names, **options)

        return create

    return decorate if pipeline_fn is None else decorate(pipeline_fn)


def _for_devices(
    make: Callable[..., Pipeline],
    args: tuple[object, ...],
    arguments: dict[str, Any],
    devices: Sequence[jax.Device] | None,
    checkpoints: Sequence[bytes] | None,
) -> list[Pipeline]:
    """Make a pipeline for each device of this process."""
    if devices is not None and jax.local_device_count() != jax.device_count():
        raise ArgumentError("data_iterator: devices is for one process; use sharding where there are several")
    used, every = (jax.local_devices(), jax.devices()) if devices is None else (devices, list(devices))
    shards = len(every)
    if checkpoints and len(checkpoints) != len(used):
        raise ArgumentError(f"data_iterator: {len(checkpoints)} checkpoints for {len(used)} devices")
    size, rest = divmod(arguments.pop("batch_size"), shards)
    if rest:
        raise ArgumentError(f"data_iterator: batch_size must be a multiple of the {shards} devices")
    return [
        make(
            *args,
            **{
                **arguments,
                "batch_size": size,
                "device_id": number,
                "shard_id": every.index(device),  # not `device.id`: the ids of devices of other processes have gaps
                "num_shards": shards,
                "checkpoint": checkpoints[number] if checkpoints else None,
            },
        )
        for number, device in enumerate(used)
    ]
