"""Pascal VOC: images with an XML file for each, masks, and lists of splits."""

from pixelmill.formats.format import ONE_SHARD, Fields, Format
from pixelmill.formats.voc.dataset import VocDataset, find_in_folder
from pixelmill.formats.voc.writer import VocWriter

__all__ = ["FORMAT", "VocDataset", "VocWriter"]

FORMAT = Format(
    name="voc",
    title="a Pascal VOC dataset",
    storage="folder",
    open=lambda source: VocDataset(source.shown, folder=source.files[0]),
    fields=Fields(
        image="`JPEGImages/…`",
        name="its path",
        labels="`annotations.jsonl`",
        class_name="`annotations.jsonl`",
        mask="`SegmentationClass/…`",
        rest="`Annotations/….xml`, then `annotations.jsonl`",
    ),
    writer=VocWriter,
    shard_files={"annotations": "annotations{}.jsonl", "set": "ImageSets/Main/trainval{}.txt"},
    in_folder=find_in_folder,
    preferred_name=lambda sample: sample.key,
    shard_bytes=ONE_SHARD,
)
