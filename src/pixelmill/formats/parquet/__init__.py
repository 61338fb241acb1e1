"""Parquet and Arrow files with encoded images, as Hugging Face datasets have them; pyarrow reads and writes them."""

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.parquet.dataset import ParquetDataset
from pixelmill.formats.parquet.files import ARROW, PARQUET, STREAM
from pixelmill.formats.parquet.writer import ParquetWriter

__all__ = ["FORMAT", "ParquetDataset", "ParquetWriter"]

FORMAT = Format(
    name="parquet",
    title="a Parquet or Arrow file",
    storage="records",
    open=lambda source: ParquetDataset(
        source.shown, files=source.files, image_column=source.columns.path, label_column=source.columns.label
    ),
    fields=Fields(
        image="`image.bytes`",
        name="`image.path`",
        labels="column `label`",
        class_name="the schema",
        mask="`mask.bytes`",
        rest="column `pixelmill`",
    ),
    writer=ParquetWriter,
    shard_files={"records": "data{}.parquet"},
    sniff=lambda start: start.startswith((PARQUET, ARROW, STREAM)),
    endings=("parquet", "arrow"),
)
