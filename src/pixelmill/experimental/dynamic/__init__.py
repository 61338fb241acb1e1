"""Operators that run immediately on arrays and tensors, without a pipeline, for notebooks and debugging.

    import pixelmill.experimental.dynamic as pmd

    small = pmd.resize(image, size=[64, 64])             # a NumPy array in, a Tensor out
    mirrored = pmd.flip(pmd.batch([a, b]), horizontal=1)  # a Batch in, a Batch out

The functions are derived from the registry, like those of `fn`; readers are classes with `next_epoch`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pixelmill import math as _math
from pixelmill.experimental.dynamic import capture as capture
from pixelmill.experimental.dynamic import checkpoint as checkpoint
from pixelmill.experimental.dynamic.context import (
    EvalContext,
    ThreadPool,
    get_current_stream,
    get_default_stream,
    no_streams,
)
from pixelmill.experimental.dynamic.devices import Device, DeviceLike, device
from pixelmill.experimental.dynamic.external_source import ExternalSource
from pixelmill.experimental.dynamic.modes import EvalMode, get_num_threads, set_num_threads
from pixelmill.experimental.dynamic.readers import reader_class
from pixelmill.experimental.dynamic.rng import RNG, get_default_rng, set_seed
from pixelmill.experimental.dynamic.run import Result, operate, run
from pixelmill.experimental.dynamic.values import Batch, Tensor, as_batch, as_tensor
from pixelmill.operators import OLDER_FUNCTIONS, REGISTRY, Operator, public_operators
from pixelmill.operators.absent import ABSENT, ABSENT_CLASSES, refusal
from pixelmill.operators.families import family
from pixelmill.types import DALIDataType as DataType
from pixelmill.types import DALIImageType as ImageType
from pixelmill.types import DALIInterpType as InterpType
from pixelmill.types import to_data_type

tensor, batch = as_tensor, as_batch

uint8, uint16, uint32, uint64 = DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64
int8, int16, int32, int64 = DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64
float16, float32, float64 = DataType.FLOAT16, DataType.FLOAT, DataType.FLOAT64
bool = DataType.BOOL
DType = DataType
dtype = type_id = to_data_type
Stream = stream = set_current_stream = set_default_stream = no_streams

# Operators that only make sense inside a pipeline.
_NOT_EAGER = {"dl_tensor_python_function", "external_source", "python_function"}


def _function(spec: Operator) -> Callable[..., Result]:
    def function(*inputs: object, batch_size: int | None = None, rng: RNG | None = None, **arguments: object) -> Result:
        return run(spec, inputs, arguments, batch_size=batch_size, rng=rng)

    function.__name__ = function.__qualname__ = spec.name.rsplit(".", 1)[-1]
    function.__doc__ = spec.body.__doc__
    return function


for _name, _spec in public_operators().items():
    if _name in _NOT_EAGER:
        continue
    *_path, _last = _name.split(".")
    _module = family(__name__, _path)
    if _path == ["readers"]:
        setattr(_module, _spec.class_name, reader_class(_spec))
    else:
        setattr(_module, _last, _function(_spec))
for _older, _name in OLDER_FUNCTIONS.items():
    if "." in _older:
        *_path, _last = _older.split(".")
        setattr(family(__name__, _path), _last, _function(REGISTRY[_name]))
for _later in (RNG, get_default_rng, set_seed):
    setattr(family(__name__, ["random"]), _later.__name__, _later)


def _refusing(name: str) -> Callable[..., Result]:
    def function(*inputs: object, **arguments: object) -> Result:
        raise refusal(name)

    return function


for _name in ABSENT:
    *_path, _last = _name.split(".")
    if _path in ([], ["decoders"]):
        setattr(family(__name__, _path), _last, _refusing(_name))
for _name, _operator in ABSENT_CLASSES.items():
    *_path, _last = _name.split(".")
    if _path == ["readers"]:
        setattr(family(__name__, _path), _last, _refusing(_operator))


def __getattr__(name: str) -> Any:
    if name == "pytorch":  # on use, because it imports PyTorch
        return importlib.import_module(f"{__name__}.pytorch")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _mathematics(name: str, doc: str | None) -> Callable[..., Result]:
    def function(*operands: object) -> Result:
        return operate(name, *operands)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


for _name, _plain in inspect.getmembers(_math, inspect.isfunction):
    if not _name.startswith("_") and _plain.__module__ == _math.__name__:
        setattr(family(__name__, ["math"]), _name, _mathematics(_name, _plain.__doc__))


def imread(
    filepaths: str | Path | Tensor | Batch | Iterable[str | Path], device: str = "cpu", **arguments: object
) -> Result:
    """Read and decode images into tensors. `pixelmill.imread` returns arrays.

    Args:
        filepaths: A path, which returns a Tensor, or a list of paths, which returns a Batch.
        device: Accepted for compatibility.
        arguments: The arguments of `decoders.image`.
    """
    if isinstance(filepaths, (str, Path)):
        names: Tensor | Batch = Tensor(str(filepaths).encode())
    elif isinstance(filepaths, (Tensor, Batch)):
        names = filepaths
    else:
        names = Batch([Tensor(str(path).encode()) for path in filepaths])
    encoded = run(REGISTRY["io.file.read"], (names,), {}, batch_size=None, rng=None)
    return run(REGISTRY["decoders.image"], (encoded,), arguments, batch_size=None, rng=None)


__all__ = [
    "RNG",
    "Batch",
    "DType",
    "DataType",
    "Device",
    "DeviceLike",
    "EvalContext",
    "EvalMode",
    "ExternalSource",
    "ImageType",
    "InterpType",
    "Stream",
    "Tensor",
    "ThreadPool",
    "as_batch",
    "as_tensor",
    "batch",
    "bool",
    "capture",
    "checkpoint",
    "device",
    "dtype",
    "float16",
    "float32",
    "float64",
    "get_current_stream",
    "get_default_stream",
    "get_num_threads",
    "imread",
    "int8",
    "int16",
    "int32",
    "int64",
    "set_current_stream",
    "set_default_stream",
    "set_num_threads",
    "stream",
    "tensor",
    "type_id",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
