"""The transforms of an `ImageLoader` for single images, for programs that keep their own loader."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pixelmill import fn
from pixelmill.engine.compile import Key, Plan, compile_graph
from pixelmill.engine.native import Data, Samples
from pixelmill.engine.selection import Engine, EngineOptions, start_engine
from pixelmill.errors import ArgumentError, DataError
from pixelmill.graph.nodes import DataNode
from pixelmill.image_loader.options import Augment
from pixelmill.image_loader.presets import Presets, loaded_augmentation
from pixelmill.image_loader.settings import (
    FRAMEWORKS,
    IMAGENET_MEAN,
    IMAGENET_STD,
    DType,
    Framework,
    ImageSettings,
    channel_values,
    height_and_width,
    one_of,
)
from pixelmill.plugin.framework_arrays import converter, to_bfloat16
from pixelmill.steps.sources import BatchSource, source_of
from pixelmill.types import Array, Limits

ImageLike = Any  # an array, a tensor, a PIL image, or the bytes of a file


class ImageTransform:
    """Does to one image what an `ImageLoader` does to the images of its batches.

    It can be passed to worker processes, however these are started; each makes its own engine on first use.

    Args:
        size: Height and width of the result: one number, or two.
        train: Whether to augment; otherwise the center is cropped, as for validation.
        augment: Replaces the random crop and flip, as for `ImageLoader`.
        framework: The type of the result: `"torch"`, `"tf"`, `"jax"` or `"numpy"`.
        dtype: The type of its elements, as for `ImageLoader`.
        layout: The order of its axes; `"CHW"` for torch and `"HWC"` for the others by default.
        mean: The mean of each channel as a fraction of white; that of ImageNet by default.
        std: The standard deviation of each channel, likewise.

    Example:
        >>> transform = ImageTransform(size=224, train=True)  # doctest: +SKIP
        >>> dataset = ImageFolder("photos", transform=transform)  # doctest: +SKIP
    """

    def __init__(
        self,
        size: int | Sequence[int] = 224,
        *,
        train: bool = False,
        augment: Augment | None = None,
        framework: Framework = "torch",
        dtype: DType = "float32",
        layout: Literal["CHW", "HWC"] | None = None,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
    ) -> None:
        one_of("framework", framework, FRAMEWORKS)
        one_of("layout", layout or "CHW", ("CHW", "HWC"))
        self._framework = framework
        converter(framework)
        if dtype == "bfloat16":
            to_bfloat16(framework)
        found, origin = loaded_augmentation(augment)
        height, width = height_and_width(size)
        is_planar = layout == "CHW" if layout is not None else framework == "torch"
        self._settings = ImageSettings(
            height=height,
            width=width,
            train=train,
            task="classification",
            augment=found,
            dtype=dtype,
            layout="NCHW" if is_planar else "NHWC",
            mean=channel_values("mean", mean or IMAGENET_MEAN),
            std=channel_values("std", std or IMAGENET_STD),
        )
        self._origin = origin
        self._programs: dict[tuple[int, bool, bool], _Program] = {}

    def __call__(self, image: ImageLike, mask: Array | None = None, *, seed: int | None = None) -> Any:
        """Transform an image, and its mask alike.

        Args:
            image: An array of uint8 with height, width and 3 channels; a uint8 tensor of torch with channels first; a
                PIL image; or the bytes of an image file, of which only the needed part is decoded.
            mask: Class numbers, height by width.
            seed: What is drawn at random depends on this number alone. By default it comes from Python's `random`,
                which `torch.utils.data.DataLoader` seeds differently in each worker process.

        Returns:
            The image; if a mask was given, the image and the mask.
        """
        if seed is not None and (type(seed) is not int or not 0 <= seed < 2**64):
            raise ArgumentError(f"seed must be an integer from 0 to 2**64 - 1, got {seed!r}")
        number = random.getrandbits(64) if seed is None else seed
        is_encoded = isinstance(image, (bytes, bytearray, memoryview))
        given = [np.frombuffer(image, np.uint8) if is_encoded else _pixels(image)]
        if mask is not None:
            given.append(_mask_pixels(mask, None if is_encoded else given[0].shape))
        made = self._program(is_encoded=is_encoded, has_mask=mask is not None).run(given, number)
        convert = converter(self._framework)
        result = convert(made[0])
        if self._settings.dtype == "bfloat16":
            result = to_bfloat16(self._framework)(result)
        return result if mask is None else (result, convert(made[1]))

    def _program(self, *, is_encoded: bool, has_mask: bool) -> _Program:
        key = os.getpid(), is_encoded, has_mask  # a forked child has none of the threads of its parent
        if key not in self._programs:
            presets = Presets(self._settings, 0, self._origin)
            self._programs[key] = _Program.of(presets, is_encoded=is_encoded, has_mask=has_mask)
        return self._programs[key]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_programs": {}}

    def __repr__(self) -> str:
        own = self._settings
        kind = "training" if own.train else "validation"
        return f"ImageTransform({own.height} x {own.width} for {kind}, {own.dtype}, {self._framework})"


@dataclass(eq=False)
class _Program:
    """A compiled transform.

    Attributes:
        plan: What it compiles to.
        names: The name of each source.
        engine: What runs it.
    """

    plan: Plan
    names: dict[BatchSource, int]
    engine: Engine

    @classmethod
    def of(cls, presets: Presets, *, is_encoded: bool, has_mask: bool) -> _Program:
        """Compile the statements for one image."""
        sources: list[DataNode] = [fn.external_source(name="image", layout=None if is_encoded else "HWC")]
        values: dict[str, Any] = {"images": fn.decoders.image(sources[0]) if is_encoded else sources[0]}
        statements = presets.image_statements()
        if has_mask:
            sources.append(fn.external_source(name="mask", layout="HWC"))
            values["masks"] = sources[1]
            statements = presets.mask_statements()
        for statement in statements:
            statement.run(values)
        outputs = [values[name].expr for name in ("images", "masks") if name in values]
        plan = compile_graph(outputs, seed=0, optimize=True, decode_scaling=True)
        names = {source_of(node.expr): place for place, node in enumerate(sources)}
        return cls(plan, names, start_engine(plan, EngineOptions(1, 1, Limits(), None)))

    def run(self, given: Sequence[Array], number: int) -> list[Array]:
        """Return the outputs for one sample."""
        inputs: dict[Key, Data] = {key: [given[self.names[key[0].source]]] for key in self.plan.inputs}
        samples = Samples(np.zeros(1, np.uint32), np.array([number], np.uint64), np.empty((1, 0), np.int64), inputs)
        result = self.engine.submit(samples).result()
        for trouble in result.troubles:
            if trouble.fatal:
                raise DataError(f"ImageTransform: {trouble.message}")
        return [np.asarray(output[0]) for output in result.outputs]


def _pixels(image: ImageLike) -> Array:
    if hasattr(image, "convert") and hasattr(image, "getbands"):  # a PIL image
        return np.asarray(image.convert("RGB"))
    if hasattr(image, "detach"):  # a tensor of torch
        array = image.detach().cpu().numpy()
        array = array.transpose(1, 2, 0) if array.ndim == 3 else array
    elif isinstance(image, np.ndarray):
        array = image
    else:
        raise ArgumentError(
            f"ImageTransform takes an array, a tensor, a PIL image or the bytes of a file, got {type(image).__name__}; "
            "pixelmill.imread reads a file"
        )
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or 0 in array.shape:
        shape = " x ".join(map(str, array.shape))
        raise ArgumentError(f"ImageTransform takes uint8 images with 3 channels, got {array.dtype}, {shape}")
    return np.ascontiguousarray(array)


def _mask_pixels(mask: object, shape: tuple[int, ...] | None) -> Array:
    array = np.asarray(mask)
    if array.ndim == 3 and 1 in (array.shape[0], array.shape[2]):
        array = array.reshape(array.shape[:2] if array.shape[2] == 1 else array.shape[1:])
    if array.ndim != 2 or array.dtype.kind not in "iub" or (shape is not None and array.shape != shape[:2]):
        raise ArgumentError(f"mask: expected class numbers of the size of the image, got {array.dtype}, {array.shape}")
    return np.ascontiguousarray(array[:, :, None])
