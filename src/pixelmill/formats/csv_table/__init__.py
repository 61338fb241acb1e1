"""Image files that a table lists: CSV, TSV or JSON lines, and the metadata files of Hugging Face image folders."""

from pixelmill.formats.csv_table.dataset import TableDataset
from pixelmill.formats.csv_table.writer import CsvWriter
from pixelmill.formats.file_list.table import is_table
from pixelmill.formats.format import Fields, Format

__all__ = ["FORMAT", "CsvWriter", "TableDataset"]

FORMAT = Format(
    name="csv",
    title="image files with a table",
    storage="list",
    open=lambda source: TableDataset(
        source.shown,
        lists=source.files,
        root=source.root,
        allow_outside=source.allow_outside,
        choice=source.columns,
    ),
    fields=Fields(
        image="`images/…`",
        name="column `key`",
        labels="column `labels`",
        class_name="column `class`",
        mask="`masks/…`",
        rest="columns of `images.csv`",
    ),
    writer=CsvWriter,
    shard_files={"list": "images{}.csv"},
    lists=lambda path, first: is_table(path),
)
