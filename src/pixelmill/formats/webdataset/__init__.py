"""WebDataset: tar archives. The files of a sample are adjacent; their names are equal up to the first dot."""

from pathlib import Path

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.webdataset.dataset import WebDatasetDataset
from pixelmill.formats.webdataset.index_file import index_text, read_index, write_index
from pixelmill.formats.webdataset.scan import TarSample, TarScan, scan, split_name
from pixelmill.formats.webdataset.tar import BLOCK, Member, is_header
from pixelmill.formats.webdataset.tar_writer import TarWriter
from pixelmill.formats.webdataset.writer import WebDatasetWriter

__all__ = [
    "FORMAT",
    "Member",
    "TarSample",
    "TarScan",
    "TarWriter",
    "index_text",
    "read_index",
    "scan",
    "split_name",
    "write_index",
]


def _sniff(start: bytes) -> bool:
    return start[257:262] == b"ustar" or is_header(start[:BLOCK])


def _write_index(path: str, target: Path) -> None:
    write_index(target, scan(path).samples)


FORMAT = Format(
    name="webdataset",
    title="a WebDataset tar",
    storage="records",
    open=lambda source: WebDatasetDataset(source.shown, files=source.files),
    fields=Fields(
        image="`KEY.jpg`",
        name="`KEY`",
        labels="`KEY.cls`",
        class_name="`KEY.json`",
        mask="`KEY.mask.png`",
        rest="`KEY.json`",
    ),
    writer=WebDatasetWriter,
    shard_files={"records": "data{}.tar", "index": "data{}.idx"},
    sniff=_sniff,
    endings=("tar",),
    write_index=_write_index,
)
