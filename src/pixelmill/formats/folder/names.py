"""How a folder of images says what a sample is: class folders, and `images/` beside `masks/`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pixelmill.formats.sample import Sample, split_name
from pixelmill.storage.file_names import is_writable

IMAGES, MASKS = "images", "masks"
RESERVED = (IMAGES, MASKS)  # folders that are not classes


def implied_sample(
    name: str, numbers: Mapping[str, int], *, image: bytes, mask: bytes | None, divided: bool = False
) -> Sample:
    """Return the sample that the name of a file describes, without annotations.

    Args:
        name: The name, relative to the dataset.
        numbers: The label of each class.
        image: The image.
        mask: The mask.
        divided: Whether the first folder is a split, and the class folders are below it.
    """
    split, _, name = name.partition("/") if divided and "/" in name else (None, "", name)
    key, extension = split_name(name)
    folder, slash, _ = name.partition("/")
    labels = (numbers[folder],) if slash and folder in numbers else ()
    return Sample(key, image, extension, labels, class_name=folder if slash else None, mask=mask, split=split)


def wished_name(sample: Sample, *, divided: bool = False) -> str:
    """Return the preferred name of a sample below a folder, without extension; empty if it must get another.

    Args:
        sample: The sample.
        divided: Whether its split is a folder above its class.
    """
    if divided:
        name = wished_name(replace(sample, split=None))
        return f"{sample.split}/{name}" if name else ""
    folder, key = class_folder(sample), visible(sample.key)
    if folder is None or key.startswith(f"{folder}/"):
        # Readers take `images/` beside `masks/` for the images and masks of the whole dataset.
        return "" if key.partition("/")[0].casefold() in RESERVED else key
    return f"{folder}/{key}"


def visible(name: str) -> str:
    """Return a name without dots at the start of its parts: listings skip hidden files and folders.

    The annotations of a sample hold its key and its class if they differ from what its path says.
    """
    if not name.startswith(".") and "/." not in name:
        return name
    return "/".join(f"_{part[1:]}" if part.startswith(".") and part.strip(".") else part for part in name.split("/"))


def class_folder(sample: Sample) -> str | None:
    """Return the class folder of a sample: its class, or its first label; None for a sample without either."""
    name = None if sample.class_name is None else visible(sample.class_name)
    if name is not None and "/" not in name and is_writable(name) and name.casefold() not in RESERVED:
        return name
    return f"class-{sample.labels[0]}" if sample.labels else None
