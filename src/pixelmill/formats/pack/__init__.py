"""Packs: record files whose JPEG images are stored for fast decoding, and can be restored byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.pack.codec import IMAGE_MAGIC, default_codebook, restore, train_codebook
from pixelmill.formats.pack.dataset import PackDataset
from pixelmill.formats.pack.frames import MAGIC

if TYPE_CHECKING:
    from pixelmill.formats.dataset import Output
    from pixelmill.formats.pack.writer import PackWriter

__all__ = ["FORMAT", "IMAGE_MAGIC", "MAGIC", "default_codebook", "restore", "train_codebook"]


def _open_shard(
    open_file: Callable[[str], Output], names: Mapping[str, str], *, codebook: bytes | None = None
) -> PackWriter:
    from pixelmill.formats.pack.writer import PackWriter  # on use: programs that read packs do without

    return PackWriter(open_file, names, codebook=codebook)


FORMAT = Format(
    name="pack",
    title="a pack",
    storage="records",
    open=lambda source: PackDataset(source.shown, files=source.files),
    fields=Fields(
        image="packed, or as it is",
        name="column `key`",
        labels="column `label`",
        class_name="column `class`",
        mask="after the image",
        rest="columns of the index, and a tf.train.Example",
    ),
    writer=_open_shard,
    shard_files={"records": "data{}.pack"},
    sniff=lambda start: start.startswith(MAGIC),
    endings=("pack",),
    shard_bytes=1_000_000_000,
)
