"""The reader of sequences of frames that are images in folders."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import file_index
from pixelmill.formats.index import Index
from pixelmill.operators.declare import Range, Tensor
from pixelmill.operators.decoders import decode
from pixelmill.operators.readers import LOCAL_ONLY, Order, reader
from pixelmill.operators.shapes import stack
from pixelmill.steps.sources import Read, Records
from pixelmill.storage import working_folder
from pixelmill.types import RGB, UINT8, DALIImageType


@reader("readers.sequence", without=("shuffle_after_epoch", *LOCAL_ONLY), aliases=("SequenceReader",))
def sequence(
    *,
    order: Order,
    file_root: str,
    sequence_length: Annotated[int, Range(1, 4096)],
    step: Annotated[int, Range(1)] = 1,
    stride: Annotated[int, Range(1)] = 1,
    image_type: DALIImageType = RGB,
) -> Tensor:
    """Read sequences of frames from folders of images, decoded and stacked (uint8, layout FHWC).

    Each folder in `file_root` is a stream, and its files in alphabetical order are the frames. A sequence lies within
    one stream, and its frames have the same size.

    Args:
        file_root: The folder of the streams.
        sequence_length: The number of frames of a sequence.
        step: The distance between the first frames of consecutive sequences.
        stride: The distance between consecutive frames of a sequence.
        image_type: The color format of the frames.
    """
    starts = [
        frames[first : first + (sequence_length - 1) * stride + 1 : stride]
        for frames in _streams(file_root)
        for first in range(0, len(frames) - (sequence_length - 1) * stride, step)
    ]
    if not starts:
        raise DataError(f"readers.sequence: no folder in {file_root} has enough images for {sequence_length} frames")
    base = working_folder()
    parts = {
        str(place): file_index.whole_files([frames[place] for frames in starts], base=base)
        for place in range(sequence_length)
    }
    first = parts["0"]
    index = Index(first.paths, first.files, first.offsets, first.lengths, parts=parts, root=f"{file_root.rstrip('/')}/")
    source = order.read(index)
    encoded = [Read(reader=source, ranges=Records(source, part)).value() for part in parts]
    # Orientation is not applied, as in DALI: all frames of a stream are stored alike.
    return stack(*(decode(frame, None, image_type, UINT8, False) for frame in encoded), axis=0, axis_name="F")


def _streams(root: str) -> list[list[str]]:
    """List the images of each folder in `root`."""
    found = file_index.from_root(root)
    streams: dict[int, list[str]] = {}
    for path, (folder,) in zip(found.paths, np.asarray(found.columns["label"]), strict=True):
        streams.setdefault(int(folder), []).append(path)
    return list(streams.values())
