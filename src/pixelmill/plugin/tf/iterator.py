"""DALI's operator for TensorFlow graphs: each run returns the next batch. New programs should use datasets."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

import tensorflow as tf

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.tf.dataset import Batches, Shapes
from pixelmill.tensors import Array

# Batches of eager calls, which continue for the same pipeline, batch size and types; and of graphs, by graph.
_Key = tuple[int, tuple[tf.TensorSpec, ...]]
_eager: weakref.WeakKeyDictionary[Pipeline, dict[_Key, Batches]] = weakref.WeakKeyDictionary()
_of_graphs: weakref.WeakKeyDictionary[tf.Graph, list[Batches]] = weakref.WeakKeyDictionary()


def DALIIteratorWrapper(  # noqa: N802 - DALI's name
    pipeline: Pipeline | None = None,
    serialized_pipeline: object = None,
    sparse: Sequence[bool] = (),
    shapes: Sequence[Shapes] = (),
    dtypes: Sequence[tf.DType] = (),
    batch_size: int = -1,
    prefetch_queue_depth: int | dict[str, int] = 2,
    exec_dynamic: bool | None = None,
    num_threads: int = -1,
    device_id: int | None = -1,
) -> list[tf.Tensor]:
    """Return the next batch of a pipeline, one tensor per output. In a graph, return nodes that do so when they run.

    Args:
        pipeline: The source of the batches; its batch size is that of the shapes.
        serialized_pipeline: Not supported; pass `pipeline`.
        sparse: Not supported; all outputs are dense.
        shapes: The shape of each output, including the batch axis.
        dtypes: The type of each output.
        batch_size: Samples in a batch; not needed if `shapes` contain it.
        prefetch_queue_depth: Number of batches to prepare ahead.
        exec_dynamic: Accepted for compatibility.
        num_threads: Number of samples to process at the same time; if omitted, that of the pipeline.
        device_id: Accepted for compatibility.
    """
    if pipeline is None or serialized_pipeline is not None:
        raise ArgumentError("DALIIterator: pass pipeline=; serialized pipelines are specific to DALI")
    if any(sparse):
        raise ArgumentError("DALIIterator: sparse outputs are not supported")
    specs = _specs(shapes, dtypes)
    size = batch_size if batch_size > 0 or not shapes else specs[0].shape[0]
    if not isinstance(size, int) or size < 1:
        raise ArgumentError("DALIIterator: pass batch_size, or shapes that start with it")
    depth = max(prefetch_queue_depth.values()) if isinstance(prefetch_queue_depth, dict) else prefetch_queue_depth
    threads = num_threads if num_threads > 0 else max(pipeline.num_threads, 1)

    def begin() -> Batches:
        return Batches(pipeline._fresh_copy(batch_size=size, num_threads=threads, depth=depth), specs)

    if tf.executing_eagerly():
        kept = _eager.setdefault(pipeline, {})
        key = size, specs
        if key not in kept:
            kept[key] = begin()
        return [tf.convert_to_tensor(array) for array in next(kept[key])]
    return _node(begin(), specs)


def _specs(shapes: Sequence[Shapes], dtypes: Sequence[tf.DType]) -> tuple[tf.TensorSpec, ...]:
    if len(shapes) not in (0, len(dtypes)) or not dtypes:
        raise ArgumentError(f"DALIIterator: {len(shapes)} shapes for {len(dtypes)} dtypes")
    known = shapes or [None] * len(dtypes)
    return tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(known, dtypes, strict=True))


def _node(batches: Batches, specs: tuple[tf.TensorSpec, ...]) -> list[tf.Tensor]:
    # TensorFlow never frees the functions of nodes; threads and batches must end with the graph.
    _of_graphs.setdefault(tf.compat.v1.get_default_graph(), []).append(batches)
    weak = weakref.ref(batches)

    def run() -> list[Array]:
        kept = weak()
        if kept is None:
            raise EngineError("DALIIterator: the graph was garbage-collected, and its pipeline with it")
        return list(next(kept))

    tensors = tf.numpy_function(run, [], [spec.dtype for spec in specs], stateful=True)
    for tensor, spec in zip(tensors, specs, strict=True):
        tensor.set_shape(spec.shape)
    return list(tensors)


def DALIIterator() -> Callable[..., list[tf.Tensor]]:  # noqa: N802 - DALI's name
    """Return `DALIIteratorWrapper`, the function that returns batches."""
    return DALIIteratorWrapper


__all__ = ["DALIIterator", "DALIIteratorWrapper"]
