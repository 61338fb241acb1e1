"""NumPy arrays as arrays of a framework, for `ImageLoader`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from numpy.typing import NDArray

from pixelmill.errors import ArgumentError, EngineError, MissingDependency

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


class SizedLoader(Protocol):
    """A loader of pairs."""

    def __iter__(self) -> Iterator[tuple[Any, Any]]: ...

    def __len__(self) -> int: ...


def tf_dataset(loader: SizedLoader, *shapes: tuple[tuple[int | None, ...], str]) -> Any:
    """Return a loader of pairs as a `tf.data.Dataset`, one epoch per pass; `model.fit` of Keras takes it.

    Args:
        loader: The loader, which must live as long as the dataset.
        shapes: Shape and type of each of the two tensors.
    """
    import tensorflow as tf

    from pixelmill.plugin.tf.dataset import generated

    # TensorFlow never frees the function, which must not keep threads and batches alive.
    weak = weakref.ref(loader)

    def batches() -> Iterator[tuple[Any, Any]]:
        kept = weak()
        if kept is None:
            raise EngineError("tf_dataset: the loader was garbage-collected; keep it as long as the dataset")
        return iter(kept)

    made = generated(batches, tuple(tf.TensorSpec(shape, dtype) for shape, dtype in shapes))
    return made.apply(tf.data.experimental.assert_cardinality(len(loader)))


# How programs write the same conversions.
SOURCE = {
    "torch": ("import torch", "torch.from_numpy({})", "{}.to(torch.bfloat16)"),
    "tf": ("import tensorflow as tf", "tf.convert_to_tensor({})", "tf.cast({}, tf.bfloat16)"),
    "jax": ("import jax", "jax.device_put({}, may_alias=True)", '{}.astype("bfloat16")'),
    "numpy": ("", "", ""),
}
