"""Zip archives of class folders: what `zip -r` makes of a folder of images, and what unpacks to one."""

from pixelmill.formats.format import Fields, Format
from pixelmill.formats.zip.archive_writer import ArchiveWriter
from pixelmill.formats.zip.dataset import ZipDataset
from pixelmill.formats.zip.frames import END, HEADER
from pixelmill.formats.zip.members import Member, unpacked
from pixelmill.formats.zip.scan import ZipScan, scan
from pixelmill.formats.zip.writer import ZipWriter

__all__ = ["FORMAT", "ArchiveWriter", "Member", "ZipScan", "scan", "unpacked"]


def _sniff(start: bytes) -> bool:
    return start.startswith((HEADER, END))  # an empty archive has only its end


FORMAT = Format(
    name="zip",
    title="a zip archive",
    storage="records",
    open=lambda source: ZipDataset(source.shown, files=source.files),
    fields=Fields(
        image="a member",
        name="its path",
        labels="number of the class folder",
        class_name="the class folder",
        mask="`masks/…`, then images are in `images/…`",
        rest="`annotations.jsonl`, a member",
    ),
    writer=ZipWriter,
    shard_files={"records": "data{}.zip"},
    sniff=_sniff,
    endings=("zip",),
    yields_to_images=True,
)
