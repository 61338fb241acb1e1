"""The writer of COCO datasets: `images/`, and `annotations/instances.json` that pycocotools reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pixelmill.formats.annotated_files import is_file_name, placed_name, split_folder
from pixelmill.formats.annotations import difference
from pixelmill.formats.coco.dataset import MASK
from pixelmill.formats.coco.entries import ID, OWN, Categories, Entry, to_entries, to_sample
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.image_header import image_extent
from pixelmill.formats.object_classes import class_names
from pixelmill.formats.sample import Sample, file_ending, image_type, join_name
from pixelmill.storage.file_names import UniqueNames

_IMAGES, _MASKS = "images", "masks"


@dataclass(frozen=True)
class _Written:
    sample: Sample
    path: str
    size: tuple[int, int] | None
    mask: str | None


class CocoWriter(ShardWriter):
    """Writes images, and at the end one annotation file for each split.

    Args:
        open_file: Opens a file of the shard.
        names: The file `annotations`.
        classes: The names of all classes by label; those of the samples if None.
    """

    def __init__(
        self, open_file: Callable[[str], Output], names: Mapping[str, str], *, classes: Sequence[str] | None = None
    ) -> None:
        super().__init__(open_file, names)
        self._classes = classes
        self._unique = UniqueNames()
        self._written: list[_Written] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        stem = name or self._unique.take(
            placed_name(sample), number=self.samples, ending=ending, is_allowed=is_file_name
        )
        path = join_name(stem, ending)
        with self._open_file(f"{_IMAGES}/{path}") as stream:
            stream.write(sample.image)
        mask = None
        if sample.mask is not None:
            mask = f"{_MASKS}/{path}.{image_type(sample.mask) or 'png'}"
            with self._open_file(mask) as stream:
                stream.write(sample.mask)
        kept = replace(sample, image=b"", mask=None)
        self._written.append(_Written(kept, path, image_extent(sample.image), mask))
        self.samples += 1

    def close(self) -> None:
        categories, ids = self._categories()
        contents: dict[str, dict[str, list[Entry]]] = {}
        taken: set[int] = set()
        first = 1
        for place, written in enumerate(self._written, start=1):
            part = split_folder(written.sample)
            content = contents.setdefault(part, {"images": [], "annotations": []})
            own = _own_id(written.sample, taken)
            number = own if own is not None else next(n for n in range(place, 1 << 62) if n not in taken)
            taken.add(number)
            image, entries = _entries(written, number, first, categories, ids, own=own is not None, split=part)
            content["images"].append(image)
            content["annotations"] += entries
            first += len(entries)
        rows = [{"id": number, "name": name} for number, name in categories.names.items()]
        if not contents:
            contents[""] = {"images": [], "annotations": []}
        for part, content in contents.items():
            objects = [entry for entry in content["annotations"] if "category_id" in entry]
            self._put("instances", part, {**content, "annotations": objects, "categories": rows})
            captions = [entry for entry in content["annotations"] if "category_id" not in entry]
            captioned = {entry["image_id"] for entry in captions}
            if captions:  # pycocotools takes every annotation of a file with categories for an object
                images = [image for image in content["images"] if image["id"] in captioned]
                self._put("captions", part, {"images": images, "annotations": captions})

    def _put(self, kind: str, split: str, content: Mapping[str, list[Entry]]) -> None:
        name = self._names["annotations"].replace("instances", f"{kind}_{split}" if split else kind)
        with self._open_file(name) as stream:
            stream.write(json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii"))

    def _categories(self) -> tuple[Categories, dict[int, int]]:
        """Return the classes by id, and the id of each label: what COCO files have said, or the label and one."""
        names = class_names((written.sample for written in self._written), self._classes)
        ids = {label: label + 1 for label in names}
        for written in self._written:
            boxes = written.sample.boxes
            if boxes is None or boxes.labels is None or "category_id" not in boxes.attributes:
                continue
            for label, number in zip(boxes.labels.tolist(), boxes.attributes["category_id"], strict=True):
                if isinstance(number, int) and not isinstance(number, bool):
                    ids[label] = number
        by_id: dict[int, str] = {}
        for label, name in names.items():
            by_id.setdefault(ids[label], name)
        return Categories(dict(sorted(by_id.items()))), ids


def _own_id(sample: Sample, taken: set[int]) -> int | None:
    feature = sample.extra.get(ID)
    if feature is None or feature.kind != "int64" or len(feature) != 1:
        return None
    number = int(feature.values[0])
    return None if number in taken else number


def _entries(
    written: _Written,
    number: int,
    first: int,
    categories: Categories,
    ids: Mapping[int, int],
    *,
    own: bool,
    split: str,
) -> tuple[Entry, list[Entry]]:
    """Return the entries of a sample, with a row for what they cannot say."""
    sample = written.sample
    image, objects = to_entries(sample, size=written.size, number=number, first=first, ids=ids)
    image["file_name"] = written.path.removeprefix(f"{split}/") if split else written.path
    seen = to_sample(image if own else {**image, OWN: {}}, objects, categories)
    implied = replace(seen, split=split or None)
    same = dict(seen.extra) == dict(sample.extra)
    row = difference(replace(sample, extra={}) if same else sample, implied=implied)
    if not sample.extra and seen.extra:
        row["extra"] = {}
    if written.mask is not None:
        row[MASK] = written.mask
    if row or not own:
        if own and same:
            row = {**difference(sample, implied=implied), **row}
        image[OWN] = row
    return image, objects
