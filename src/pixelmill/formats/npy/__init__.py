"""npy files: the file format of NumPy, and datasets of npy files that a CSV table lists."""

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.npy.array_file import MAGIC, NpyHeader, decode, encode, read_header
from pixelmill.formats.npy.dataset import NpyDataset
from pixelmill.formats.npy.writer import NpyWriter

__all__ = ["FORMAT", "MAGIC", "NpyDataset", "NpyHeader", "NpyWriter", "decode", "encode", "read_header"]

FORMAT = Format(
    name="npy",
    title="npy files with a CSV table",
    storage="list",
    open=lambda source: NpyDataset(
        source.shown, lists=source.files, root=source.root, allow_outside=source.allow_outside, choice=source.columns
    ),
    fields=Fields(
        image="`images/….npy`",
        name="column `key`",
        labels="column `labels`",
        class_name="column `class`",
        mask="`masks/….npy`",
        rest="columns of `samples.csv`",
    ),
    writer=NpyWriter,
    shard_files={"list": "samples{}.csv"},
    lists=lambda path, first: first.lower().endswith(".npy"),
)
