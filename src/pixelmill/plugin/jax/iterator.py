"""Iterators that give dicts of JAX arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax

from pixelmill.errors import ArgumentError
from pixelmill.pipeline import Pipeline, pipeline_def
from pixelmill.plugin.base_iterator import BaseIterator, LastBatchPolicy
from pixelmill.plugin.jax.arrays import array_of, batch_of, sharded, stacked
from pixelmill.tensors import TensorListCPU

THREADS = 4  # of pipelines made by decorated functions, as in DALI


class DALIGenericIterator(BaseIterator):
    """Gives batches as dicts of arrays. On the CPU the arrays are the batches, not copies.

    Args:
        pipelines: One pipeline, or several that are run together.
        output_map: A name for each output.
        size: Samples of an epoch, over all pipelines; only where there is no reader to ask. Without both an epoch lasts
            until the pipeline raises StopIteration.
        reader_name: The reader that says how long an epoch is.
        auto_reset: Whether the next epoch begins by itself; otherwise `reset` or a new loop begins it.
        last_batch_padded: With `size`: whether the reader fills its last batch by repeating the last sample, instead of
            going on with the next epoch.
        last_batch_policy: What becomes of an incomplete last batch: FILL or DROP, since shapes must not change.
        prepare_first_batch: Whether to make the first batch when the iterator is made.
        sharding: How the samples lie on devices. There is one pipeline for each local device, or one for all.
        pmap_compatible: Whether arrays of a single pipeline have an axis of pipelines in front; those of several have
            one unless there is a `sharding`.
        devices: Where the batches of each pipeline go, for `jax.pmap`; all are on one device when left out.
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
            raise ArgumentError("give sharding or devices, not both")
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

    def _tensor(self, number: int, output: TensorListCPU, size: int) -> Any:
        return batch_of(self.output_map[number], output)

    def _fetch(self) -> Any:
        batches = super()._fetch()
        return {name: self._joined(name, [batch[name] for batch in batches]) for name in self.output_map}

    def _joined(self, name: str, parts: list[Any]) -> jax.Array:
        if len(parts) == 1 and self._sharding is None and not self._pmap_compatible:
            return array_of(parts[0])
        shapes = [tuple(part.shape) for part in parts]
        if len(set(shapes)) > 1:
            raise ArgumentError(f"output {name!r}: the pipelines give different shapes: {shapes}")
        return stacked(parts, self._devices) if self._sharding is None else sharded(parts, self._sharding)

    def __next__(self) -> dict[str, jax.Array]:
        batch: dict[str, jax.Array] = super().__next__()
        return batch


def data_iterator(pipeline_fn: Callable[..., Any] | None = None, output_map: Sequence[str] = (), **options: Any) -> Any:
    """Turn a function that builds a graph into one that makes iterators over it.

    The new function takes the arguments of the old one, those of `Pipeline`, and `checkpoints`, which are those of an
    iterator to go on from. With `sharding` or `devices` there is a pipeline for every device of this process, and
    `batch_size` is that of all devices together; the function is then called with `shard_id` and `num_shards`.

    Args:
        pipeline_fn: The function.
        output_map: A name for each output.
        options: The other arguments of `DALIGenericIterator`.
    """
    return make_decorator(DALIGenericIterator, pipeline_fn, output_map, options)


def make_decorator(
    iterator: Callable[..., Any], pipeline_fn: Callable[..., Any] | None, names: Sequence[str], options: dict[str, Any]
) -> Any:
    """Give what `data_iterator` gives, for any kind of iterator."""
    sharding, devices = options.get("sharding"), options.get("devices")

    def decorate(graph: Callable[..., Any]) -> Callable[..., Any]:
        make = pipeline_def(graph)

        @functools.wraps(graph)
        def create(*args: Any, checkpoints: Sequence[bytes] | None = None, **arguments: Any) -> Any:
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
    args: tuple[Any, ...],
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
                "shard_id": every.index(device),  # numbers of devices of other processes have gaps
                "num_shards": shards,
                "checkpoint": checkpoints[number] if checkpoints else None,
            },
        )
        for number, device in enumerate(used)
    ]
