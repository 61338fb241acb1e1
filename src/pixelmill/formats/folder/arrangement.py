"""What the folders of a folder of images are: classes, splits above classes, or images and masks of splits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pixelmill import storage
from pixelmill.amounts import counted
from pixelmill.formats.folder.listing import Listing
from pixelmill.formats.folder.names import IMAGES, MASKS
from pixelmill.formats.foreign import kind_of
from pixelmill.formats.optional_images import HEIC_ENDINGS
from pixelmill.formats.path_table import PathTable
from pixelmill.formats.sample import split_name
from pixelmill.formats.splits import split_folders


@dataclass(frozen=True)
class Arrangement:
    """The images of a folder, and what their folders mean.

    Attributes:
        listing: The images.
        classes: The class folders by label.
        splits: The folders that are splits; the class folders are below them.
        masks: The masks of images in `SPLIT/images/`, by the name of the image without extension; None if there are
            no such folders.
    """

    listing: Listing
    classes: tuple[str, ...]
    splits: tuple[str, ...] = ()
    masks: dict[str, str] | None = field(default=None)

    def bare(self, name: str) -> str:
        """Return the name of an image without the folder `images` of its split."""
        if self.masks is None:
            return name
        parts = name.split("/", 2)
        return f"{parts[0]}/{parts[2]}" if len(parts) == 3 else name

    def remarks(self, root: str) -> tuple[str, ...]:
        """Return a line about splits, and one for each kind of file below the root that is left out."""
        said = f"{', '.join(self.splits)} are splits, not classes" if len(self.splits) > 1 else ""
        said = said or (f"{self.splits[0]} is a split, not a class" if self.splits else "")
        return (*((said,) if said else ()), *(_left_out(line, root) for line in self.listing.left_out))


_HINTS = {
    "xml": "they look like annotations: VOC needs an XML file of the same name for each image",
    "json": "name a COCO annotation file itself to read it",
    "txt": "name a list of files itself to read it; YOLO needs images/ and labels/",
    "csv": "name a table itself to read it",
}


def _left_out(line: str, root: str) -> str:
    """Return the remark about files of one ending; the listing has their ending, their number and the first name."""
    ending, count, example = line.split("/", 2)
    number = int(count)
    what = counted(number, f".{ending} file") if ending else counted(number, "file") + " without an ending"
    kind = kind_of(storage.join(root, example))
    hint = f": {kind.title}; {kind.way}" if kind is not None else f"; {_HINTS[ending]}" if ending in _HINTS else ""
    return f"{what} {'is' if number == 1 else 'are'} not read, such as {example}{hint}"


def unread_images(listing: Listing, root: str) -> str:
    """Return the remark about images that need a further library; empty if there are none."""
    needed = [line for line in listing.left_out if line.partition("/")[0] in (*HEIC_ENDINGS, "avif")]
    return f"{root}: {_left_out(needed[0], root)}" if needed else ""


def arrange(listing: Listing, listed: Sequence[str]) -> Arrangement:
    """Decide what folders mean.

    Folders that are all named like splits are splits, unless `classes.txt` lists them.

    Args:
        listing: All images.
        listed: The lines of `classes.txt`.
    """
    splits = () if set(listing.classes) <= set(listed) else tuple(split_folders(listing.classes))
    if not splits:
        return Arrangement(listing, _numbered(listing.classes, listed))
    below = {name.split("/")[1] for name in listing.names if name.count("/") > 1}
    if {folder.casefold() for folder in below} == {IMAGES, MASKS}:
        return _with_masks(listing, splits)
    return Arrangement(listing, _numbered(sorted(below, key=os.fsencode), listed), splits)


def _numbered(folders: Sequence[str], listed: Sequence[str]) -> tuple[str, ...]:
    return tuple(listed) if listed and set(folders) <= set(listed) else tuple(folders)


def _with_masks(listing: Listing, splits: tuple[str, ...]) -> Arrangement:
    images, masks = [], {}
    for name in listing.names:
        parts = name.split("/", 2)
        if len(parts) == 3 and parts[1].casefold() == MASKS:
            masks[f"{parts[0]}/{split_name(parts[2])[0]}"] = name
        else:
            images.append(name)
    by_image = {split_name(name)[0]: masks.get(_without_folder(name)) for name in images}
    found = {stem: mask for stem, mask in by_image.items() if mask is not None}
    return Arrangement(replace(listing, names=PathTable.of(images), classes=()), (), splits, found)


def _without_folder(name: str) -> str:
    split, _, rest = split_name(name)[0].split("/", 2) if name.count("/") > 1 else ("", "", name)
    return f"{split}/{rest}"
