"""The arguments of `ImageLoader` for type checkers, and advice about those of other loaders."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, TypedDict, get_args

from pixelmill.errors import ArgumentError, UnknownNameError
from pixelmill.graph.nodes import DataNode
from pixelmill.image_loader.datasets import Source
from pixelmill.image_loader.settings import DType, Framework, Layout, Sampler, Task, one_of
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.recovery import OnError, Recovery
from pixelmill.recipe import Recipe

Augment: TypeAlias = str | os.PathLike[str] | Recipe | Callable[[DataNode], DataNode]


class LoaderOptions(TypedDict, total=False):
    """The arguments of `ImageLoader` that do not decide about the types of its batches."""

    split: str | None
    size: int | Sequence[int]
    batch_size: int
    train: bool
    augment: Augment | None
    dtype: DType
    layout: Layout | None
    mean: Sequence[float] | None
    std: Sequence[float] | None
    shuffle: bool | None
    sampler: Sampler | None
    drop_last: bool
    num_classes: int | None
    seed: int
    rank: int | None
    world_size: int | None
    num_threads: int | None
    on_error: OnError
    max_errors: int | float | None
    format: str | None
    storage_options: Mapping[str, Any] | None
    cache_size: int | None
    shuffle_mode: Literal["global", "blocks"]


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """The arguments of `ImageLoader`, with their defaults. Its docstring explains them."""

    source: Source
    split: str | None = None
    size: int | Sequence[int] = 224
    batch_size: int = 32
    train: bool = False
    task: Task | None = None
    augment: Augment | None = None
    framework: Framework = "torch"
    dtype: DType = "float32"
    layout: Layout | None = None
    mean: Sequence[float] | None = None
    std: Sequence[float] | None = None
    shuffle: bool | None = None
    sampler: Sampler | None = None
    drop_last: bool = False
    num_classes: int | None = None
    seed: int = 0
    rank: int | None = None
    world_size: int | None = None
    num_threads: int | None = None
    on_error: OnError = "raise"
    max_errors: int | float | None = None
    format: str | None = None
    storage_options: Mapping[str, Any] | None = None
    cache_size: int | None = None
    shuffle_mode: Literal["global", "blocks"] = "global"

    def __post_init__(self) -> None:
        """Check what can be checked without the dataset."""
        check_source(self.source)
        one_of("framework", self.framework, get_args(Framework))
        one_of("dtype", self.dtype, get_args(DType))
        one_of("shuffle_mode", self.shuffle_mode, ("global", "blocks"))
        if self.task is not None:
            one_of("task", self.task, get_args(Task))
        if self.layout is not None:
            one_of("layout", self.layout, get_args(Layout))
        if self.sampler is not None:
            one_of("sampler", self.sampler, get_args(Sampler))
        for name, least in (("batch_size", 1), ("num_threads", 1), ("num_classes", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or not least <= value < 2**63):
                raise ArgumentError(f"{name} must be an integer of at least {least}, got {value!r}")
        for name in ("train", "drop_last"):
            if type(getattr(self, name)) is not bool:
                raise ArgumentError(f"{name} must be True or False, got {getattr(self, name)!r}")
        Recovery(self.on_error, self.max_errors, ())  # checks both
        if (self.rank is None) != (self.world_size is None):
            raise ArgumentError(
                f"rank and world_size belong together, got rank={self.rank}, world_size={self.world_size}"
            )
        if self.dtype == "uint8" and (self.mean is not None or self.std is not None):
            raise ArgumentError("dtype: images of type uint8 are not normalized; omit mean and std")
        if self.sampler == "balanced" and self.shuffle is False:
            raise ArgumentError("sampler: 'balanced' reads samples in random order; omit shuffle=False")
        if self.sampler == "balanced" and self.task not in (None, "classification"):
            raise ArgumentError(f"sampler: 'balanced' needs one class for each sample, which {self.task} does not have")


# What people write for other loaders, and what it is here.
_HABITS = {
    "num_workers": "threads do the work of worker processes; num_threads=",
    "workers": "threads do the work of worker processes; num_threads=",
    "image_size": "size=",
    "img_size": "size=",
    "input_size": "size=",
    "is_training": "train=",
    "training": "train=",
    "transform": "augment=",
    "transforms": "augment=",
    "label_mode": "task=",
    "subset": "split=",
    "pin_memory": "batches share the memory of the engine; omit it",
    "persistent_workers": "there are no worker processes; omit it",
    "prefetch_factor": "batches are always prepared ahead; omit it",
    "collate_fn": "batches are made by the engine; for other batches use fn and Loader",
    "num_shards": "world_size=",
    "shard_id": "rank=",
    "device": "move batches with .to(device)",
}


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise UnknownNameError for arguments that `ImageLoader` does not have, with what to write instead."""
    known = [own.name for own in fields(Arguments)]
    for name in names:
        if name in known:
            continue
        advice = f"ImageLoader has no argument {name!r}"
        if name in _HABITS:
            raise UnknownNameError(f"{advice}: {_HABITS[name]}")
        near = difflib.get_close_matches(name, known, 1)
        raise UnknownNameError(f"{advice}; " + (f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"))


def signature() -> inspect.Signature:
    """Return the signature of `ImageLoader` for `help` and `inspect`."""
    found = inspect.signature(Arguments)
    first, *others = found.parameters.values()
    return inspect.Signature([first.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD), *others])


def check_source(source: object) -> None:
    """Raise ArgumentError for a first argument that is no dataset by path."""
    if isinstance(source, (str, os.PathLike)):
        return
    if isinstance(source, Sequence) and source and all(isinstance(path, (str, os.PathLike)) for path in source):
        return
    if isinstance(source, Pipeline) or getattr(source, "_is_pipeline_def", False):
        raise ArgumentError("ImageLoader takes the path of a dataset; batches of a pipeline: Loader(pipeline, names)")
    if hasattr(source, "container"):
        raise ArgumentError(
            "ImageLoader takes the path of a dataset, which it reads itself; "
            "what open_dataset returns is for torch.utils.data.DataLoader and for looking at samples"
        )
    if hasattr(source, "__getitem__") and not isinstance(source, (Sequence, Mapping)):
        raise ArgumentError(
            f"ImageLoader takes the path of a dataset, got a {type(source).__name__}; torch.utils.data.DataLoader "
            "loads such datasets, and pixelmill.ImageTransform is a transform for them"
        )
    raise ArgumentError(f"ImageLoader takes a folder, a file, an address or a list of files, got {source!r}")
