"""COCO annotations: boxes, labels and masks of images, from a JSON file or from the binary files that DALI saves."""

from pixelmill.formats.coco.annotations_file import Choice, open_annotations
from pixelmill.formats.coco.preprocessed import Parts, open_preprocessed, save

__all__ = ["Choice", "Parts", "open_annotations", "open_preprocessed", "save"]
