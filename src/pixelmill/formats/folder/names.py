"""How a folder of images says what a sample is: class folders, and `images/` beside `masks/`."""

from __future__ import annotations

from collections.abc import Mapping

from pixelmill.formats.sample import Sample, split_name
from pixelmill.storage.file_names import is_plain

CLASSES = "classes.txt"
IMAGES, MASKS = "images", "masks"
RESERVED = (IMAGES, MASKS)  # folders that are not classes


def implied_sample(name: str, numbers: Mapping[str, int], *, image: bytes, mask: bytes | None) -> Sample:
    """Return the sample that the name of a file describes, without annotations."""
    key, extension = split_name(name)
    folder, slash, _ = name.partition("/")
    labels = (numbers[folder],) if slash and folder in numbers else ()
    return Sample(key, image, extension, labels, class_name=folder if slash else None, mask=mask)


def wished_name(sample: Sample) -> str:
    """Return the preferred name of a sample below a folder, without extension; empty if it must get another."""
    folder = class_folder(sample)
    if folder is None or sample.key.startswith(f"{folder}/"):
        # Readers take `images/` beside `masks/` for the images and masks of the whole dataset.
        return "" if sample.key.partition("/")[0].casefold() in RESERVED else sample.key
    return f"{folder}/{sample.key}"


def class_folder(sample: Sample) -> str | None:
    """Return the class folder of a sample: its class, or its first label; None for a sample without either."""
    name = sample.class_name
    if name is not None and "/" not in name and is_plain(name) and name.casefold() not in RESERVED:
        return name
    return f"class-{sample.labels[0]}" if sample.labels else None
