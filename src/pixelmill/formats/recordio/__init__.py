"""MXNet RecordIO: records of images and labels in `.rec` files, with `.idx` and `.lst` files beside them."""

from pathlib import Path

from pixelmill import storage
from pixelmill.formats.format import Fields, Format
from pixelmill.formats.recordio.dataset import RecordIODataset
from pixelmill.formats.recordio.frames import MAGIC_BYTES, frame, unframe
from pixelmill.formats.recordio.lists import (
    ListEntry,
    index_text,
    list_text,
    read_index,
    read_list,
    write_index,
    write_list,
)
from pixelmill.formats.recordio.records import Header, RecordWriter, pack, unpack
from pixelmill.formats.recordio.scan import scan
from pixelmill.formats.recordio.writer import RecordIOWriter

__all__ = [
    "FORMAT",
    "Header",
    "ListEntry",
    "RecordWriter",
    "frame",
    "index_text",
    "list_text",
    "pack",
    "read_index",
    "read_list",
    "scan",
    "unframe",
    "unpack",
    "write_index",
    "write_list",
]


def _sniff(start: bytes) -> bool:
    return start.startswith(MAGIC_BYTES)


def _write_index(path: str, target: Path) -> None:
    found = scan(path).index
    ranges = zip(found.offsets.tolist(), found.lengths.tolist(), strict=True)
    records = (unframe(storage.read_range(path, offset, length)) for offset, length in ranges)
    keys = [unpack(record)[0].identifier for record in records]
    write_index(target, zip(keys, found.offsets.tolist(), strict=True))


FORMAT = Format(
    name="recordio",
    title="RecordIO",
    storage="records",
    open=lambda source: RecordIODataset(source.shown, files=source.files),
    fields=Fields(
        image="after the header",
        name="path in `data.lst`",
        labels="the header",
        class_name="`data.jsonl`",
        mask="`data.jsonl`",
        rest="`data.jsonl`",
    ),
    writer=RecordIOWriter,
    shard_files={
        "records": "data{}.rec",
        "index": "data{}.idx",
        "list": "data{}.lst",
        "annotations": "data{}.jsonl",
    },
    sniff=_sniff,
    endings=("rec",),
    write_index=_write_index,
)
