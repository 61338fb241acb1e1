"""NumPy arrays as arrays of a framework, for `ImageLoader`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

from pixelmill.errors import ArgumentError, MissingDependency

if TYPE_CHECKING:
    import jax
    import tensorflow as tf
    import torch

    TorchArray: TypeAlias = torch.Tensor
    TensorFlowArray: TypeAlias = tf.Tensor
    JaxArray: TypeAlias = jax.Array

NumpyArray: TypeAlias = NDArray[Any]
Convert: TypeAlias = Callable[[NumpyArray], Any]  # to an array of the framework


def converter(framework: str) -> Convert:
    """Return the function that makes an array of a framework of a NumPy array, without a copy where that is possible.

    Raises:
        MissingDependency: The framework is not installed.
    """
    if framework == "numpy":
        return lambda array: array
    try:
        if framework == "torch":
            import torch

            return torch.from_numpy
        if framework == "tf":
            import tensorflow as tf

            return tf.convert_to_tensor  # type: ignore[no-any-return]
        from pixelmill.plugin.jax.arrays import array_of
    except ImportError:
        package = {"tf": "tensorflow"}.get(framework, framework)
        raise MissingDependency(package, framework, instead="or pass framework='numpy'") from None
    return array_of


def to_bfloat16(framework: str) -> Callable[[Any], Any]:
    """Return the function that rounds an array of a framework to bfloat16."""
    if framework == "torch":
        import torch

        return lambda array: array.to(torch.bfloat16)
    if framework == "tf":
        import tensorflow as tf

        return lambda array: tf.cast(array, tf.bfloat16)
    if framework == "jax":
        import jax.numpy as jnp

        return lambda array: array.astype(jnp.bfloat16)
    raise ArgumentError("dtype: NumPy has no bfloat16; pass float32, float16 or uint8")


# How programs write the same conversions.
SOURCE = {
    "torch": ("import torch", "torch.from_numpy({})", "{}.to(torch.bfloat16)"),
    "tf": ("import tensorflow as tf", "tf.convert_to_tensor({})", "tf.cast({}, tf.bfloat16)"),
    "jax": ("import jax", "jax.device_put({}, may_alias=True)", '{}.astype("bfloat16")'),
    "numpy": ("", "", ""),
}
