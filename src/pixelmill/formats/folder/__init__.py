"""A folder of image files: class folders, or flat; `images/` beside `masks/` if there are masks."""

from pixelmill.formats.folder.dataset import FolderDataset
from pixelmill.formats.folder.writer import FolderWriter
from pixelmill.formats.format import Fields, Format

__all__ = ["FORMAT", "FolderDataset", "FolderWriter"]

FORMAT = Format(
    name="folder",
    title="a folder of images",
    storage="folder",
    open=lambda source: FolderDataset(source.files[0]),
    fields=Fields(
        image="a file",
        name="its path",
        labels="number of the class folder",
        class_name="the class folder",
        mask="`masks/…`, then images are in `images/…`",
        rest="`annotations.jsonl`",
    ),
    writer=FolderWriter,
    shard_files={"annotations": "annotations{}.jsonl"},
)
