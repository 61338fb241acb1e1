"""Transforms of torchvision as one pipeline, called with a PIL image or a tensor."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image

from pixelmill import fn
from pixelmill.pipeline import Pipeline
from pixelmill.plugin.pytorch.torchvision.transforms import Images, Transform
from pixelmill.types import Array

Picture = Image.Image | torch.Tensor
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


class _Marker(Transform):
    """Decides what `Compose` returns; it does not change images."""

    def apply(self, images: Images) -> Images:
        """Return the images."""
        return images


class ToPureTensor(_Marker):
    """Let `Compose` return a tensor in CHW."""


class PILToTensor(_Marker):
    """Let `Compose` return a tensor in CHW for a PIL image."""


class ToPILImage(_Marker):
    """Let `Compose` return a PIL image."""


class Compose:
    """A chain of transforms.

    Args:
        op_list: The transforms.
        batch_size: The largest number of images of one call.
        num_threads: How many images are processed at the same time; half of the processors by default.
        pipeline_options: Other arguments of `Pipeline`, such as `seed`.
    """

    def __init__(
        self,
        op_list: Sequence[Transform],
        batch_size: int = 16,
        num_threads: int | None = None,
        **pipeline_options: Any,
    ) -> None:
        self.op_list, self.batch_size = list(op_list), batch_size
        self.num_threads = num_threads or max(1, (os.cpu_count() or 1) // 2)
        self._options = {"device_id": None, "prefetch_queue_depth": 1, **pipeline_options}
        self._pipelines: dict[tuple[str, int], Pipeline] = {}
        self._kind: type[object] | None = None

    def __call__(self, data_input: Picture) -> Any:  # an image, a tensor or a list of images, as the transforms say
        """Return a transformed PIL image or tensor.

        Args:
            data_input: A PIL image, a tensor CHW, or a tensor NCHW with several images.
        """
        if not isinstance(data_input, (Image.Image, torch.Tensor)):
            raise TypeError(f"the input must be a PIL image or a tensor, got {type(data_input)}")
        kind = Image.Image if isinstance(data_input, Image.Image) else torch.Tensor
        if self._kind not in (None, kind):
            raise TypeError(f"the first input was a {self._kind.__name__}, this one is a {type(data_input)}")
        self._kind = kind
        if isinstance(data_input, Image.Image):
            array = image_array(data_input)[None]
            return self._returned(self._run(array, "HWC", array.shape[-1]), "HWC", single=True, default="pil")
        array = data_input.detach().cpu().numpy()
        single = array.ndim == 3
        array = array[None] if single else array
        if array.ndim != 4:
            raise ValueError(f"a tensor must be CHW or NCHW, got {array.ndim} axes")
        return self._returned(self._run(array, "CHW", array.shape[1]), "CHW", single=single, default="tensor")

    def _run(self, array: Array, layout: str, channels: int) -> Array:
        if (layout, channels) not in self._pipelines:
            self._pipelines[layout, channels] = self._pipeline(layout, channels, max(self.batch_size, len(array)))
        (batch,) = self._pipelines[layout, channels].run(input_data=array)
        return batch.as_array()

    def _pipeline(self, layout: str, channels: int, batch_size: int) -> Pipeline:
        pipeline = Pipeline(batch_size, self.num_threads, **self._options)
        with pipeline:
            images = Images(fn.external_source(name="input_data", layout=layout), layout, channels)
            for transform in self.op_list:
                images = transform.apply(images)
            pipeline.set_outputs(images.node)
        return pipeline

    def _returned(self, array: Array, layout: str, *, single: bool, default: str) -> Any:
        kind = default
        for transform in self.op_list:
            if isinstance(transform, _Marker):
                kind = "pil" if isinstance(transform, ToPILImage) else "tensor"
        if kind == "pil":
            images = [picture(image if layout == "HWC" else image.transpose(1, 2, 0)) for image in array]
            return images[0] if len(images) == 1 else images
        chw = array if layout == "CHW" else array.transpose(0, 3, 1, 2)
        tensor = torch.from_numpy(np.ascontiguousarray(chw))
        return tensor[0] if single else tensor


def image_array(image: Image.Image) -> Array:
    """Return a PIL image as an array HWC."""
    if image.mode not in _MODES.values():
        raise ValueError(f"the mode of an image must be L, RGB or RGBA, got {image.mode}")
    array = np.array(image)
    return array[:, :, None] if array.ndim == 2 else array


def picture(array: Array, mode: str | None = None) -> Image.Image:
    """Return an array HWC as a PIL image; floats from 0 to 1 become uint8."""
    channels = array.shape[-1]
    if mode is None:
        if channels not in _MODES:
            raise ValueError(f"an image needs 1, 3 or 4 channels, got {channels}; pass a mode")
        mode = _MODES[channels]
    if array.dtype.kind == "f" and mode != "F":
        array = (array * 255).clip(0, 255).astype(np.uint8)
    plain = array[:, :, 0] if channels == 1 else array
    return Image.fromarray(np.ascontiguousarray(plain)).convert(mode)
