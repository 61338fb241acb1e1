"""TFRecord files: records with checksums, mostly of tf.train.Example."""

from pathlib import Path

from pixelmill import _core
from pixelmill.errors import ArgumentError
from pixelmill.formats.format import Fields, Format
from pixelmill.formats.tfrecord.dataset import TFRecordDataset
from pixelmill.formats.tfrecord.frames import FRAME, HEAD, RECORD_BYTES, TAIL, RecordWriter, frame
from pixelmill.formats.tfrecord.index_file import misfit, read_index, write_index
from pixelmill.formats.tfrecord.records import payload, payload_view, read_record, read_records
from pixelmill.formats.tfrecord.scan import is_gzip, scan, scan_bytes
from pixelmill.formats.tfrecord.writer import TFRecordWriter

__all__ = [
    "FORMAT",
    "FRAME",
    "HEAD",
    "RECORD_BYTES",
    "TAIL",
    "RecordWriter",
    "frame",
    "misfit",
    "payload",
    "payload_view",
    "read_index",
    "read_record",
    "read_records",
    "scan",
    "scan_bytes",
    "write_index",
]


def _sniff(start: bytes) -> bool:
    """Whether a file begins with a length and its checksum, or is a gzip file, which may hold records."""
    head = _core.tfrecord_frame(int.from_bytes(start[:8], "little"), 0)[0]
    return start[:HEAD] == head or start.startswith(b"\x1f\x8b")


def _write_index(path: str, target: Path) -> None:
    if is_gzip(path):
        raise ArgumentError(f"index: {path} is a gzip file, which cannot be read from the middle; unpack it first")
    write_index(str(target), scan(path).index)


FORMAT = Format(
    name="tfrecord",
    title="TFRecord",
    storage="records",
    open=lambda source: TFRecordDataset(source.shown, files=source.files),
    fields=Fields(
        image="`image/encoded`",
        name="`image/filename`",
        labels="`image/class/label`",
        class_name="`image/class/text`",
        mask="`image/segmentation/class/encoded`",
        rest="`image/object/…`",
    ),
    writer=TFRecordWriter,
    shard_files={"records": "data{}.tfrecord", "index": "data{}.idx"},
    sniff=_sniff,
    endings=("tfrecord",),
    write_index=_write_index,
)
