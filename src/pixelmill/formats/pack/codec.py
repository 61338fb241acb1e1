"""Images in the layout of a pack: made from JPEG files, and turned back into the same files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pixelmill import _core
from pixelmill.errors import DataError, Event
from pixelmill.formats.sample import image_type

IMAGE_MAGIC = b"\x89PMI\r\n\x1a\n"  # the first bytes of a packed image
_REGISTERED = 64  # codebooks whose bytes are compared instead of being expanded again; the files of a dataset share one


@lru_cache(_REGISTERED)
def register(data: bytes) -> _core.PackCodebook:
    """Make a codebook known to the decoders of this process; raises DataError if it is not a valid one."""
    try:
        return _core.PackCodebook(data)
    except _core.Fault as fault:
        raise _error(fault, "the codebook cannot be used") from None


@lru_cache(1)
def default_codebook() -> bytes:
    """Return the codebook that is trained on photographs."""
    return _core.default_pack_codebook()


def train_codebook(images: Sequence[bytes], *, seed: int) -> bytes:
    """Return a codebook for images like these JPEG files; the default one if there are none."""
    return _core.train_pack_codebook(images, seed=seed) if images else default_codebook()


def pack(image: bytes, codebook: _core.PackCodebook) -> bytes | str:
    """Pack a JPEG file; for any other, return why it is stored as it is."""
    kind = image_type(image)
    if kind != "jpg":
        return f"{kind} image" if kind else "unknown type"
    return _core.pack_image(image, codebook)


def restore(packed: bytes) -> bytes:
    """Return the JPEG file that a packed image stands for; raises DataError if it is damaged."""
    try:
        return _core.restore_image(packed)
    except _core.Fault as fault:
        raise _error(fault, "the image cannot be restored") from None


def _error(fault: _core.Fault, what: str) -> DataError:
    kind, message = fault.args
    return DataError(f"{what}: {message}", (Event(kind, f"{what}: {message}", sample=0, epoch=0),))
