"""YOLO: `images/` and `labels/` with a text file for each image, and data.yaml."""

from pixelmill.formats.annotated_files import placed_name
from pixelmill.formats.format import ONE_SHARD, Fields, Format
from pixelmill.formats.yolo.config import is_config
from pixelmill.formats.yolo.dataset import YoloDataset, find_in_folder
from pixelmill.formats.yolo.writer import YoloWriter

__all__ = ["FORMAT", "YoloDataset", "YoloWriter"]

FORMAT = Format(
    name="yolo",
    title="a YOLO dataset",
    storage="folder",
    open=lambda source: YoloDataset(source.shown, path=source.files[0], root=source.root),
    fields=Fields(
        image="`images/…`",
        name="its path",
        labels="`annotations.jsonl`",
        class_name="`annotations.jsonl`",
        mask="`masks/…`",
        rest="`labels/….txt`, then `annotations.jsonl`",
    ),
    writer=YoloWriter,
    shard_files={"annotations": "annotations{}.jsonl"},
    in_folder=find_in_folder,
    is_file=is_config,
    preferred_name=placed_name,
    shard_bytes=ONE_SHARD,
)
