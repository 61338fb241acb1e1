"""The codebook of a pack: chosen once, before the plan is made, so that all workers and resumed runs have the same."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.pack import default_codebook, train_codebook
from pixelmill.formats.pack.writer import KEPT
from pixelmill.formats.sample import image_type
from pixelmill.pipeline.permutation import fold, permute

if TYPE_CHECKING:
    from pixelmill.conversion.job import ConvertJob

_STREAM = 0xC0DE  # makes the choice independent of the order of samples
_IMAGES = 256  # JPEG files to train with; some hundred blocks of each are used
_BYTES = 64 << 20  # and the most bytes of them
_TRIED = 1024  # samples to look at, in a dataset with few JPEG files


@dataclass(frozen=True)
class PackFigures:
    """What became of the images of a dataset in a pack.

    Attributes:
        packed: Images that were transcoded; they restore byte for byte.
        kept: Why others are stored as they are, and how many.
        bytes_before: Bytes of all images.
        bytes_after: Bytes of all images in the pack.
    """

    packed: int
    kept: Mapping[str, int]
    bytes_before: int
    bytes_after: int


def pack_figures(counts: Iterable[Mapping[str, int]]) -> PackFigures:
    """Add up what the writers of packs have counted."""
    total: Counter[str] = sum((Counter(found) for found in counts), Counter())
    kept = {name.removeprefix(KEPT): number for name, number in sorted(total.items()) if name.startswith(KEPT)}
    return PackFigures(total["packed"], kept, total["bytes_before"], total["bytes_after"])


def chosen_codebook(job: ConvertJob) -> str:
    """Return the codebook of a job as text: the default one, or one trained on a seeded choice of its samples."""
    if job.options.codebook == "default":
        return base64.b64encode(default_codebook()).decode("ascii")
    images = _training_images(job)
    return base64.b64encode(train_codebook(images, seed=fold(job.options.seed, _STREAM))).decode("ascii")


def codebook_bytes(text: str) -> bytes:
    """Return the codebook that `chosen_codebook` has returned as text."""
    return base64.b64decode(text, validate=True)


def codebook_hash(text: str) -> str:
    """Return the name of a codebook in plans."""
    return hashlib.sha256(codebook_bytes(text)).hexdigest()


def _training_images(job: ConvertJob) -> list[bytes]:
    """Return JPEG files as they will be packed; samples that cannot be read are reported when they are written."""
    places = np.arange(min(len(job.order), _TRIED), dtype=np.int64)
    images: list[bytes] = []
    size = 0
    chosen = permute(places, len(job.order), fold(job.options.seed, _STREAM)).tolist()
    job.dataset.expect(int(job.order[place]) for place in chosen)
    for place in chosen:
        if len(images) == _IMAGES or size >= _BYTES:
            break
        try:
            sample, _ = job.encoding.apply(job.dataset.sample(int(job.order[place])))
        except DataError:
            continue
        if image_type(sample.image) == "jpg":
            images.append(sample.image)
            size += len(sample.image)
    return images
