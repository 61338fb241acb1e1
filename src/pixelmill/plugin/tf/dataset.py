"""Pipelines as `tf.data` datasets. TensorFlow takes over the memory of the batches, so nothing is copied."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import tensorflow as tf

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import Batch, Loader
from pixelmill.pipeline.pipeline_check import check_pipeline
from pixelmill.tensors import Array, TensorListCPU

# Arguments as users write them; `_types` and `_shapes` check them. TensorFlow has no types of its own to name.
Types = Any
Shapes = Any


class Inputs:
    """Feeds the external sources of a pipeline. This base class feeds none, so they need sources of their own."""

    def check(self, pipe: Pipeline) -> None:
        """Refuse a pipeline with external sources that this object does not feed."""
        waiting = unfed_sources(pipe)
        if waiting and not overrides_iter_setup(pipe):
            raise ArgumentError(
                f"DALIDataset: nothing feeds the external_source {waiting[0]!r}; "
                "experimental.DALIDatasetWithInputs takes datasets for it"
            )

    def attach(self, pipe: Pipeline) -> None:
        """Start to feed a pipeline that has not run yet."""


def overrides_iter_setup(pipe: Pipeline) -> bool:
    """Whether the class of a pipeline overrides `iter_setup`."""
    return type(pipe).iter_setup is not Pipeline.iter_setup


def unfed_sources(pipe: Pipeline) -> list[str]:
    """Return the names of the external sources without a source."""
    return [feed.name for feed in pipe._ready().feeds if feed.external.source is None]


class PipelineDataset(tf.data.Dataset):  # type: ignore[misc]
    """Base of `DALIDataset` and `DALIDatasetWithInputs`, which document the arguments."""

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: Types = None,
        output_shapes: Shapes = None,
        fail_on_device_mismatch: bool = True,
        *,
        inputs: Inputs,
        batch_size: int = 1,
        num_threads: int = 4,
        device_id: int | None = 0,
        exec_separated: bool = False,
        exec_dynamic: bool = False,
        prefetch_queue_depth: int = 2,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: Types = None,
        shapes: Shapes = None,
    ) -> None:
        check_pipeline(type(self).__name__, pipeline)
        given = _renamed("dtypes", output_dtypes, dtypes)
        types = _types(given)
        wanted = _shapes(_renamed("shapes", output_shapes, shapes), types, single=not isinstance(given, tuple))
        specs = tuple(tf.TensorSpec(shape, dtype) for shape, dtype in zip(wanted, types, strict=True))

        options = {"batch_size": batch_size, "num_threads": num_threads, "depth": prefetch_queue_depth}
        # TensorFlow never frees the functions below, so they must not hold a pipeline with running threads.
        graph = pipeline._fresh_copy(**options)

        def begun() -> Pipeline:
            return graph._fresh_copy(**options)

        def batches() -> Batches:
            pipe = begun()
            inputs.attach(pipe)
            return Batches(pipe, specs)

        model = begun()
        if model.num_outputs != len(specs):
            raise ArgumentError(f"output_dtypes has {len(specs)} types, the pipeline has {model.num_outputs} outputs")
        inputs.check(model)
        made = generated(batches, specs)
        if not model._ready().feeds:  # readers never end; a source may end at any time
            made = made.apply(tf.data.experimental.assert_cardinality(tf.data.INFINITE_CARDINALITY))
        model.close()
        self._made = made
        super().__init__(made._variant_tensor)

    def _inputs(self) -> list[tf.data.Dataset]:
        return [self._made]

    @property
    def element_spec(self) -> tuple[tf.TensorSpec, ...]:
        """Types and shapes of the tensors."""
        spec: tuple[tf.TensorSpec, ...] = self._made.element_spec
        return spec


class DALIDataset(PipelineDataset):
    """A pipeline as a dataset of tuples of tensors.

    Every iterator over it runs its own copy of the pipeline from the start. It never ends if the pipeline has a reader,
    so `model.fit` needs `steps_per_epoch`. `from_loader` makes datasets that end with the epoch.

    Args:
        pipeline: The source of the batches. `batch_size` and `num_threads` replace its own.
        output_dtypes: The type of the output, or a tuple with one per output.
        output_shapes: The shape of the output, or a tuple with one per output, including the batch axis; None stands
            for any extent. Axes of extent 1 that a shape does not have are removed.
        fail_on_device_mismatch: Accepted for compatibility.
        batch_size: Samples in a batch.
        num_threads: Number of samples to process at the same time.
        device_id: Accepted for compatibility; the pipeline has its own.
        exec_separated: Accepted for compatibility.
        exec_dynamic: Accepted for compatibility.
        prefetch_queue_depth: Number of batches to prepare ahead.
        cpu_prefetch_queue_depth: Accepted for compatibility.
        gpu_prefetch_queue_depth: Accepted for compatibility.
        dtypes: Deprecated name of `output_dtypes`.
        shapes: Deprecated name of `output_shapes`.
    """

    def __init__(
        self, pipeline: Pipeline, output_dtypes: Types = None, output_shapes: Shapes = None, **options: Any
    ) -> None:
        if "input_datasets" in options:
            raise TypeError("DALIDataset takes no input_datasets; experimental.DALIDatasetWithInputs does")
        super().__init__(pipeline, output_dtypes, output_shapes, inputs=Inputs(), **options)


class Batches:
    """The batches of a pipeline, as arrays of the declared types and shapes. Iteration can continue after an error."""

    def __init__(self, pipe: Pipeline, specs: tuple[tf.TensorSpec, ...]) -> None:
        self._pipe = pipe
        self._specs = specs

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> tuple[Array, ...]:
        outputs = self._pipe.run()
        return tuple(_checked(*each) for each in zip(range(len(outputs)), outputs, self._specs, strict=True))


def from_loader(loader: Loader) -> tf.data.Dataset:
    """Return a loader as a dataset of dicts of tensors. Every pass over it is one epoch.

    The samples of a batch must have the same shape. Types and shapes come from the first batch, which is made now.

    Args:
        loader: The source of the batches; `len(loader)` is the cardinality of the dataset.
    """
    source = _Passes(loader)
    weak = weakref.ref(source)

    def batches() -> Iterator[Batch]:
        kept = weak()
        if kept is None:
            raise EngineError("from_loader: the dataset was garbage-collected, and its loader with it")
        return kept.next_pass()

    made = generated(batches, source.signature)
    if loader.steps_per_epoch is not None and loader.steps_per_epoch == len(loader):
        made = made.apply(tf.data.experimental.assert_cardinality(len(loader)))
    made._source = source  # TensorFlow never frees the function, which must not keep threads and batches alive
    return made


class _Passes:
    """Passes over a loader, whose first batch is inspected in advance.

    Readers return to their position before that batch. An external source cannot, so the first pass starts with it.
    """

    def __init__(self, loader: Loader) -> None:
        state, loop = loader.state_dict(), iter(loader)
        first = next(loop, None)
        if first is None:
            raise ArgumentError("from_loader: the loader has no batch, so types and shapes are not known")
        self._loader = loader
        self.signature = {name: _spec(array) for name, array in _tensors(first).items()}
        self._begun: Iterator[Batch] | None = None
        if loader.pipeline._ready().feeds:
            self._begun = chain([first], map(_tensors, loop))
        else:
            loader.load_state_dict(state)
        self._loops = loader._loops

    def next_pass(self) -> Iterator[Batch]:
        begun, self._begun = self._begun, None
        if begun is not None and self._loader._loops == self._loops:  # no state was loaded and no other loop started
            return begun
        return map(_tensors, self._loader)


def generated(
    batches: Callable[[], Iterator[Batch] | Iterator[tuple[Any, Any]] | Batches],
    signature: tuple[tf.TensorSpec, ...] | dict[str, tf.TensorSpec],
) -> tf.data.Dataset:
    """Return what a function yields in each pass as a dataset."""
    options = tf.data.Options()
    # Pipelines prefetch themselves; TensorFlow would prefetch as many batches as fit into memory.
    options.experimental_optimization.inject_prefetch = False
    return tf.data.Dataset.from_generator(batches, output_signature=signature).with_options(options)


def _tensors(batch: Batch) -> Batch:
    for name, array in batch.items():
        if isinstance(array, list):
            raise ArgumentError(f"output {name!r}: the samples of a batch differ in shape and cannot form one tensor")
    return batch


def _spec(array: Array) -> tf.TensorSpec:
    return tf.TensorSpec((None, *array.shape[1:]), array.dtype)


def _renamed(name: str, value: Types | Shapes, old: Types | Shapes) -> Types | Shapes:
    if old is None:
        return value
    if value is not None:
        raise ArgumentError(f"{name} is the old name of output_{name}; set only one of them")
    warnings.warn(f"{name} is deprecated; use output_{name}, a value or a tuple", DeprecationWarning, stacklevel=4)
    return tuple(old) if isinstance(old, list) else old


def _types(given: Types) -> tuple[tf.DType, ...]:
    types = given if isinstance(given, tuple) else (given,)
    if not all(isinstance(dtype, tf.DType) for dtype in types):
        raise ArgumentError(f"output_dtypes: a tf.DType or a tuple with one for each output, got {given!r}")
    return types


def _shapes(given: Shapes, types: tuple[tf.DType, ...], *, single: bool) -> tuple[tf.TensorShape, ...]:
    each = (None,) * len(types) if given is None else (given,) if single else tuple(given)
    if len(each) != len(types):
        raise ArgumentError(f"output_shapes has {len(each)} shapes for {len(types)} outputs: {given!r}")
    return tuple(tf.TensorShape(shape) for shape in each)


def _checked(number: int, output: TensorListCPU, spec: tf.TensorSpec) -> Array:
    """Return an output as an array of the declared type and shape.

    Raises:
        ArgumentError: It has another type or shape.
    """
    output = output.as_cpu()
    if not output.is_dense_tensor():
        shapes = ", ".join(str(shape) for shape in sorted(set(output.shape()))[:3])
        raise ArgumentError(f"output {number}: shapes {shapes} cannot form one tensor; resize, crop or pad the samples")
    array = output.as_array()
    if tf.as_dtype(array.dtype) != spec.dtype:
        what = f"output_dtypes is {spec.dtype.name}, but the pipeline returns {array.dtype}"
        raise ArgumentError(f"output {number}: {what}")
    if spec.shape.is_compatible_with(array.shape):
        return array
    found = _squeezed(array.shape, spec.shape)
    if found is None:
        raise ArgumentError(f"output {number}: output_shapes is {spec.shape}, but the pipeline returns {array.shape}")
    return array.reshape(found)


def _squeezed(shape: tuple[int, ...], wanted: tf.TensorShape) -> tuple[int, ...] | None:
    """Remove axes of extent 1 until a shape fits. Return None if none fits, or if several do."""
    found: set[tuple[int, ...]] = {()}
    for extent in shape:
        found = {(*start, extent) for start in found} | (found if extent == 1 else set())
    fitting = [one for one in found if wanted.is_compatible_with(one)]
    return fitting[0] if len(fitting) == 1 else None
