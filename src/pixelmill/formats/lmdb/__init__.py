"""LMDB databases of images: Caffe's Datums, encoded images by key, and tf.train.Examples; read without a library."""

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.lmdb.dataset import LMDBDataset
from pixelmill.formats.lmdb.tree import is_database
from pixelmill.formats.lmdb.writer import LMDBWriter

__all__ = ["FORMAT", "LMDBDataset", "LMDBWriter"]

FORMAT = Format(
    name="lmdb",
    title="an LMDB database",
    storage="records",
    open=lambda source: LMDBDataset(source.shown, files=source.files),
    fields=Fields(
        image="`data` of a Caffe Datum",
        name="the key",
        labels="`label`",
        class_name="our field",
        mask="our field",
        rest="our field",
    ),
    writer=LMDBWriter,
    shard_files={"records": "data{}.mdb"},
    sniff=is_database,
    endings=("mdb", "lmdb"),
)
