"""Image files that a list names: lines of text, or a CSV table."""

from pixelmill.formats.file_list.dataset import ListDataset
from pixelmill.formats.file_list.entry import Entry
from pixelmill.formats.file_list.lines import read_list
from pixelmill.formats.file_list.writer import ListWriter
from pixelmill.formats.format import Fields, Format

__all__ = ["FORMAT", "Entry", "ListDataset", "ListWriter", "read_list"]

FORMAT = Format(
    name="list",
    title="a file list",
    storage="list",
    open=lambda source: ListDataset(
        source.shown, lists=source.files, root=source.root, allow_outside=source.allow_outside, choice=source.columns
    ),
    fields=Fields(
        image="a file",
        name="its path",
        labels="fields of `list.txt`",
        class_name="`list.jsonl`",
        mask="`masks/…`",
        rest="`list.jsonl`",
    ),
    writer=ListWriter,
    shard_files={"list": "list{}.txt", "annotations": "list{}.jsonl"},
)
