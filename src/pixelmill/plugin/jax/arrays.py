"""Batches as JAX arrays, without a copy where JAX allows it."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.tensors import Array, TensorGPU, TensorListCPU, TensorListGPU

HostOrDeviceBatch = Array | TensorGPU


def batch_of(name: str, output: TensorListCPU | TensorListGPU) -> HostOrDeviceBatch:
    """Return an output as what a `jax.Array` is made from: a NumPy array, or DALI's tensor on a GPU."""
    if not output.is_dense_tensor():
        shapes = ", ".join(str(shape) for shape in sorted(set(output.shape()))[:3])
        raise ArgumentError(f"output {name!r}: shapes {shapes} cannot form one array; resize, crop or pad the samples")
    return output.as_tensor() if isinstance(output, TensorListGPU) else output.as_array()


def array_of(batch: HostOrDeviceBatch, device: jax.Device | None = None) -> jax.Array:
    """Return a batch as an array on a device.

    On the CPU the array uses the memory of the batch. JAX copies if an element has 64 bits, which it converts to 32
    unless `jax_enable_x64` is set, and if the first element is not aligned to 64 bytes; batches of the native engine
    are aligned.

    Args:
        batch: The result of `batch_of`.
        device: The device of the array; JAX's default device if omitted.
    """
    if not isinstance(batch, np.ndarray):
        array = jax.dlpack.from_dlpack(batch)
        return array if device is None else jax.device_put(array, device)
    return jax.device_put(batch, device, may_alias=True)


def stacked(parts: Sequence[HostOrDeviceBatch], devices: Sequence[jax.Device] | None) -> jax.Array:
    """Return the batches of several pipelines as one array with a leading axis of pipelines, as `jax.pmap` expects.

    Args:
        parts: One batch of each pipeline.
        devices: The device of each batch; if omitted, all are on one device.
    """
    if devices is None:
        return jax.numpy.stack([array_of(part) for part in parts])
    mesh = jax.sharding.Mesh(np.array(devices), ("device",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("device"))
    pieces = [array_of(part[None], device) for part, device in zip(map(_numpy, parts), devices, strict=True)]
    return jax.make_array_from_single_device_arrays((len(parts), *pieces[0].shape[1:]), sharding, pieces)


def sharded(parts: Sequence[HostOrDeviceBatch], sharding: jax.sharding.Sharding) -> jax.Array:
    """Return one global array made of the batches of this process.

    Args:
        parts: One batch for each local device of the sharding, in the order of their ids, or one for all of them.
        sharding: How the samples of all processes are placed on the devices.
    """
    devices = sorted(sharding.addressable_devices, key=lambda device: device.id)
    if len(parts) == 1 and len(devices) > 1:
        return jax.make_array_from_process_local_data(sharding, _numpy(parts[0]))
    if len(parts) != len(devices):
        raise ArgumentError(f"sharding has {len(devices)} devices in this process, for {len(parts)} pipelines")
    pieces = [array_of(part, device) for part, device in zip(parts, devices, strict=True)]
    samples = len(sharding.device_set) * pieces[0].shape[0]
    return jax.make_array_from_single_device_arrays((samples, *pieces[0].shape[1:]), sharding, pieces)


def shape_of(batch: HostOrDeviceBatch) -> tuple[int, ...]:
    """Return the shape of a batch; for tensors on a GPU it is a method, as in DALI."""
    return batch.shape if isinstance(batch, np.ndarray) else tuple(batch.shape())


def _numpy(batch: HostOrDeviceBatch) -> Array:
    return batch if isinstance(batch, np.ndarray) else np.asarray(batch.as_cpu())
