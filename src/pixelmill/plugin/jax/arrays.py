"""Batches as JAX arrays, in the same memory where JAX takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.tensors import Array, TensorListCPU, TensorListGPU


def batch_of(name: str, output: TensorListCPU | TensorListGPU) -> Any:
    """Give an output as what `jax.Array`s are made of: a NumPy array, or DALI's tensor on a GPU."""
    if not output.is_dense_tensor():
        shapes = ", ".join(str(shape) for shape in sorted(set(output.shape()))[:3])
        raise ArgumentError(f"output {name!r}: samples of shapes {shapes} make no array; resize, crop or pad them")
    return output.as_tensor() if isinstance(output, TensorListGPU) else output.as_array()


def array_of(batch: Any, device: jax.Device | None = None) -> jax.Array:
    """Give a batch on a device.

    On the CPU the array stands in the memory of the batch. JAX copies where an element has 64 bits, which it makes 32
    unless `jax_enable_x64` is set, and where the first element is not at a multiple of 64 bytes; batches of the native
    engine are.

    Args:
        batch: What `batch_of` gave.
        device: Where the array should be; JAX's default device when left out.
    """
    if not isinstance(batch, np.ndarray):
        array = jax.dlpack.from_dlpack(batch)
        return array if device is None else jax.device_put(array, device)
    return jax.device_put(batch, device, may_alias=True)


def stacked(parts: Sequence[Any], devices: Sequence[jax.Device] | None) -> jax.Array:
    """Give the batches of several pipelines as one array with an axis of pipelines in front, as `jax.pmap` wants it.

    Args:
        parts: One batch of each pipeline.
        devices: Where each of them should be; all on one when left out.
    """
    if devices is None:
        return jax.numpy.stack([array_of(part) for part in parts])
    mesh = jax.sharding.Mesh(np.array(devices), ("device",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("device"))
    pieces = [array_of(part[None], device) for part, device in zip(map(_numpy, parts), devices, strict=True)]
    return jax.make_array_from_single_device_arrays((len(parts), *parts[0].shape), sharding, pieces)


def sharded(parts: Sequence[Any], sharding: jax.sharding.Sharding) -> jax.Array:
    """Give one global array of the batches of this process.

    Args:
        parts: One batch for each local device of the sharding, in the order of their numbers, or one for all of them.
        sharding: How the samples of all processes lie on the devices.
    """
    devices = sorted(sharding.addressable_devices, key=lambda device: device.id)
    if len(parts) == 1 and len(devices) > 1:
        return jax.make_array_from_process_local_data(sharding, _numpy(parts[0]))
    if len(parts) != len(devices):
        raise ArgumentError(f"sharding has {len(devices)} devices in this process, for {len(parts)} pipelines")
    pieces = [array_of(part, device) for part, device in zip(parts, devices, strict=True)]
    samples = len(sharding.device_set) * pieces[0].shape[0]
    return jax.make_array_from_single_device_arrays((samples, *pieces[0].shape[1:]), sharding, pieces)


def _numpy(batch: Any) -> Array:
    return batch if isinstance(batch, np.ndarray) else np.asarray(batch.as_cpu())
