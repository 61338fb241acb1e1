"""COCO: boxes, outlines, keypoints and captions of images in JSON files, or in the binary files that DALI saves."""

from pixelmill.formats.annotated_files import placed_name
from pixelmill.formats.coco.annotations_file import Choice, open_annotations
from pixelmill.formats.coco.dataset import CocoDataset
from pixelmill.formats.coco.files import annotation_files, is_annotations
from pixelmill.formats.coco.preprocessed import Parts, open_preprocessed, save
from pixelmill.formats.coco.writer import CocoWriter
from pixelmill.formats.format import ONE_SHARD, Fields, Format

__all__ = ["FORMAT", "Choice", "CocoDataset", "CocoWriter", "Parts", "open_annotations", "open_preprocessed", "save"]

FORMAT = Format(
    name="coco",
    title="a COCO dataset",
    storage="folder",
    open=lambda source: CocoDataset(source.shown, files=source.files, root=source.root),
    fields=Fields(
        image="`images/…`",
        name="`file_name`",
        labels="our entry of the image",
        class_name="our entry of the image",
        mask="`masks/…`",
        rest="`annotations/instances.json`",
    ),
    writer=CocoWriter,
    shard_files={"annotations": "annotations/instances{}.json"},
    in_folder=annotation_files,
    is_file=is_annotations,
    preferred_name=placed_name,
    shard_bytes=ONE_SHARD,
)
