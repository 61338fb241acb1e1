"""From encoded images to square crops of pixels: one program for all shards that a process makes."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from pixelmill import fn, math, types
from pixelmill.engine.compile import compile_graph
from pixelmill.engine.native import Pending, Samples, Trouble, sort_troubles
from pixelmill.engine.placement import Placement
from pixelmill.engine.selection import EngineOptions, split_for_dali, start_engine
from pixelmill.graph.nodes import DataNode, operators_of
from pixelmill.options.ingest import AxisOrder, DType, Resize
from pixelmill.pipeline import Pipeline
from pixelmill.types import Array, Limits

DTYPES = {"uint8": types.UINT8, "float16": types.FLOAT16, "float32": types.FLOAT}


def crop_graph(
    side: int, *, dtype: DType, order: AxisOrder, where: Placement, resize: Resize = "antialias"
) -> DataNode:
    """Return the graph; the arguments are those of `CropProgram`."""
    encoded = fn.external_source(name="encoded")
    shape = fn.peek_image_shape(encoded)
    shorter = math.min(shape[0], shape[1])
    square = fn.decoders.image_crop(encoded, crop_h=shorter, crop_w=shorter, rounding="truncate", device=where.decoder)
    pixels = fn.resize(square, size=(side, side)) if resize == "antialias" else _aligned(square, shorter, side)
    if dtype != "uint8":
        pixels = fn.cast(pixels, dtype=DTYPES[dtype])
    if order == "CHW":
        pixels = fn.transpose(pixels, perm=[2, 0, 1])
    return pixels.cpu()


def _aligned(square: DataNode, length: DataNode, side: int) -> DataNode:
    """Resize bilinearly so that the centers of the corner pixels stay, without antialiasing."""
    # Output pixel o shows the place o * step, both counted between pixel centers; warps count from the edge.
    step = (length - 1) / float(max(side - 1, 1)) * float(side > 1)
    offset = 0.5 - 0.5 * step
    matrix = fn.transforms.translation(fn.transforms.scale(scale=fn.stack(step, step)), offset=fn.stack(offset, offset))
    return fn.warp_affine(square, matrix, size=(side, side), interp_type=types.INTERP_LINEAR)


class CropProgram:
    """Crops the largest centered square of each image and resizes it.

    Args:
        side: Height and width of the result.
        dtype: Type of the result.
        order: Order of its axes.
        resize: The filter.
        threads: Images that are processed at the same time.
        batch_size: The largest batch.
        where: The engine and its GPU.
    """

    def __init__(
        self,
        side: int,
        *,
        dtype: DType,
        order: AxisOrder,
        resize: Resize,
        threads: int,
        batch_size: int,
        where: Placement,
    ) -> None:
        self.batch_size = batch_size
        with Pipeline(batch_size=batch_size, num_threads=1, device_id=None):
            pixels = crop_graph(side, dtype=dtype, order=order, where=where, resize=resize)
        self._plan = compile_graph([pixels.expr], seed=0, optimize=True, decode_scaling=True)
        if where.engine == "dali":
            gpu = where.device == "gpu"
            self._plan = split_for_dali(self._plan, operators_of([pixels]), [pixels], seed=0, gpu=gpu)
        self._engine = start_engine(self._plan, EngineOptions(batch_size, threads, Limits(), where.device_id))

    def submit(self, files: Sequence[bytes]) -> Pending | None:
        """Start a batch of files."""
        if not files:
            return None
        (key,) = self._plan.inputs
        count = len(files)
        samples = Samples(
            np.zeros(count, np.uint32),
            np.arange(count, dtype=np.uint64),
            np.empty((count, 0), np.int64),
            {key: [np.frombuffer(file, np.uint8) for file in files]},
        )
        return self._engine.submit(samples)

    def take(
        self, pending: Pending | None, files: Sequence[bytes], *, refused: Collection[str]
    ) -> list[tuple[Array | Trouble, Collection[str]]]:
        """Wait for a batch and return the pixels of each image, or why there are none, and the kinds of its notes.

        Args:
            pending: What `submit` has returned.
            files: The same files.
            refused: Kinds of notes that make an image a failed one.
        """
        if pending is None:
            return []
        result = pending.result()
        troubles, notes = sort_troubles(result.troubles, refused=refused)
        if not result.outputs:  # a graph of several programs fails as a whole: run it again without the bad images
            others = [file for place, file in enumerate(files) if place not in troubles]
            again = iter(self.take(self.submit(others), others, refused=refused))
            return [(troubles[place], ()) if place in troubles else next(again) for place in range(len(files))]
        pixels = result.outputs[0]
        return [
            (troubles[place] if place in troubles else pixels[place], notes.get(place, ()))
            for place in range(len(files))
        ]
