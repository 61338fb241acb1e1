"""The annotation files of a COCO dataset: which they are, what they list, and what of it is not read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pixelmill import storage
from pixelmill.errors import DataError, unreadable
from pixelmill.formats.annotated_files import counted
from pixelmill.formats.coco.annotations_file import ANNOTATION_BYTES
from pixelmill.formats.coco.entries import OWN, Categories, Entry
from pixelmill.formats.splits import is_split, split_in

ANNOTATIONS = "annotations"
_LOOK = 1 << 16  # bytes at each end of a file that are looked at to recognize it
_LISTS = ("images", "annotations", "categories")
_KEYS = re.compile(rb'"(?:images|annotations|categories)"\s*:\s*\[')
_MARKS = re.compile(rb'"(?:file_name|image_id|category_id)"\s*:')
_ID = (int, str)


def is_annotations(path: str) -> bool:
    """Whether a JSON file is one of COCO annotations, judged by both ends of it."""
    try:
        size = storage.stat(path).size
        start = storage.read_start(path, _LOOK)
        end = storage.read_range(path, size - _LOOK, _LOOK) if size > 2 * _LOOK else b""
    except OSError:
        return False
    both = start + end
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and bool(_KEYS.search(both) and _MARKS.search(both))


def annotation_files(folder: str, folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the annotation files of a folder: in itself, in `annotations/`, or beside the images of splits."""
    found = [storage.join(folder, name) for name in names if _is_json(name)]
    inner = [name for name in folders if name.lower() == ANNOTATIONS or is_split(name)]
    for name in inner:
        below = storage.join(folder, name)
        found += [storage.join(below, file) for file in storage.list_folder(below)[1] if _is_json(file)]
    return [path for path in found if is_annotations(path)]


def _is_json(name: str) -> bool:
    return name.lower().endswith(".json") and name != "manifest.json"


@dataclass
class Listing:
    """What annotation files list.

    Attributes:
        images: The entries of images.
        splits: The subset of each.
        files: The annotation file of each.
        objects: The entries of the objects of each.
        categories: The names of classes by id.
        remarks: Lines about what is not read.
    """

    images: list[Entry] = field(default_factory=list)
    splits: list[str | None] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    objects: list[list[Entry]] = field(default_factory=list)
    categories: dict[int, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def sorted_categories(self) -> Categories:
        """Return the classes in the order of their ids."""
        return Categories(dict(sorted(self.categories.items())))


def read_files(paths: Sequence[str]) -> Listing:
    """Read annotation files and join what they say about the same images, such as instances and keypoints."""
    found = Listing()
    known: dict[tuple[str | None, object, str], int] = {}
    seen: dict[tuple[int, object], Entry] = {}
    # Captions last: the order of images is that of the file with objects.
    for path in sorted(paths, key=lambda path: "captions" in path.rpartition("/")[2]):
        content = _loaded(path)
        split = _split_of(path)
        if any("segments_info" in entry for entry in content["annotations"][:1]):
            found.remarks.append(f"{path} is a panoptic annotation, whose segments are in PNG files; it is not read")
            continue
        _add_categories(found, content["categories"], path)
        places: dict[object, int] = {}  # ids are those of this file: the shards of a dataset number their own images
        for entry in content["images"]:
            if not isinstance(entry.get("file_name"), str) or not isinstance(entry.get("id"), _ID):
                raise DataError(f"coco: an image of {path} has no file_name or no id: {str(entry)[:80]}")
            place = known.setdefault((split, entry["id"], entry["file_name"]), len(found.images))
            places[entry["id"]] = place
            if place == len(found.images):
                found.images.append(entry)
                found.splits.append(split)
                found.files.append(path)
                found.objects.append([])
        _add_objects(found, content["annotations"], places, seen, path)
        _note_rest(found, content, path)
    return found


def _add_objects(
    found: Listing,
    entries: Sequence[Entry],
    places: dict[object, int],
    seen: dict[tuple[int, object], Entry],
    path: str,
) -> None:
    lost = 0
    for entry in entries:
        image = entry.get("image_id")
        place = places.get(image) if isinstance(image, _ID) else None
        if place is None:
            lost += 1
            continue
        has_id = isinstance(entry.get("id"), _ID) and "caption" not in entry
        known = seen.get((place, entry["id"])) if has_id else None
        if known is not None and known.get("bbox") == entry.get("bbox"):
            known.update(entry)  # the same object in another file, with keypoints for example
            continue
        found.objects[place].append(entry)
        if has_id:
            seen[place, entry["id"]] = entry
    if lost:
        found.remarks.append(f"{counted(lost, 'annotation')} of images that {path} does not list, and left out")


def _add_categories(found: Listing, entries: Sequence[Entry], path: str) -> None:
    for entry in entries:
        number = entry.get("id")
        if not isinstance(number, int) or isinstance(number, bool):
            raise DataError(f"coco: a category of {path} has no id: {str(entry)[:80]}")
        found.categories.setdefault(number, str(entry.get("name", number)))


def _note_rest(found: Listing, content: dict[str, list[Entry]], path: str) -> None:
    names = [name for name in content if name not in (*_LISTS, OWN)]
    details = sorted({name for entry in content["categories"] for name in entry} - {"id", "name"})
    if names:
        found.remarks.append(f"{', '.join(names)} of {path} belong to no image and are not read")
    if details:
        found.remarks.append(f"{', '.join(details)} of the categories of {path} are not read")


def _split_of(path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    parent = folder.rpartition("/")[2]
    stem = re.sub(r"-\d+-of-\d+$", "", name.rpartition(".")[0])
    return split_in(stem) or (parent if is_split(parent) else None)


def _loaded(path: str) -> dict[str, list[Entry]]:
    try:
        content = json.loads(storage.read_file(path, limit=ANNOTATION_BYTES))
    except OSError as error:
        raise unreadable("coco", path, error) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"coco: {path} is not a JSON file: {error}") from None
    if not isinstance(content, dict):
        raise DataError(f"coco: {path} must hold an object with images, categories and annotations")
    for key in _LISTS:
        rows = content.setdefault(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"coco: {key!r} of {path} must be a list of objects")
    return content
