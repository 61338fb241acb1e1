"""Pipelines and loaders as `tf.data.Dataset`."""

from __future__ import annotations

from pixelmill.errors import MissingDependency

try:
    import tensorflow  # noqa: F401 - report a missing package at import
except ImportError:
    raise MissingDependency("tensorflow", "tf") from None

from pixelmill.plugin.tf import experimental
from pixelmill.plugin.tf.dataset import DALIDataset, from_loader
from pixelmill.plugin.tf.iterator import DALIIterator, DALIIteratorWrapper


def dataset_compatible_tensorflow() -> bool:
    """Return whether `DALIDataset` works with the installed TensorFlow."""
    return True


def dataset_inputs_compatible_tensorflow() -> bool:
    """Return whether `experimental.DALIDatasetWithInputs` works with the installed TensorFlow."""
    return True


def dataset_distributed_compatible_tensorflow() -> bool:
    """Return whether `DALIDataset` works under `tf.distribute` with the installed TensorFlow."""
    return True


__all__ = [
    "DALIDataset",
    "DALIIterator",
    "DALIIteratorWrapper",
    "dataset_compatible_tensorflow",
    "dataset_distributed_compatible_tensorflow",
    "dataset_inputs_compatible_tensorflow",
    "experimental",
    "from_loader",
]
