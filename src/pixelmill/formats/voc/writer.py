"""The writer of Pascal VOC datasets: `JPEGImages/`, `Annotations/`, `SegmentationClass/` and `ImageSets/Main/`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import is_file_name, is_first_shard, split_folder
from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import CLASSES, Output, ShardWriter
from pixelmill.formats.image_header import image_extent
from pixelmill.formats.object_classes import class_names
from pixelmill.formats.sample import Sample, file_ending, image_type, join_name
from pixelmill.formats.voc.dataset import ANNOTATIONS, IMAGES, MASKS
from pixelmill.formats.voc.entries import read_annotation, to_annotation, to_sample
from pixelmill.storage.file_names import UniqueNames

_ALL = "trainval"  # the list of a dataset that is not divided


class VocWriter(ShardWriter):
    """Writes images, and an XML file for each that has annotations; what it cannot say is in `annotations.jsonl`.

    Args:
        open_file: Opens a file of the shard.
        names: The files `annotations` and `set`, whose name is completed by the split.
        classes: The names of all classes by label; those of the samples if None.
    """

    def __init__(
        self, open_file: Callable[[str], Output], names: Mapping[str, str], *, classes: Sequence[str] | None = None
    ) -> None:
        super().__init__(open_file, names)
        self._classes = classes
        self._unique = UniqueNames()
        self._kept: list[tuple[str, Sample, tuple[int, int] | None]] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        stem = name or self._unique.take(sample.key, number=self.samples, is_allowed=is_file_name)
        path = join_name(stem, ending)
        self._put(f"{IMAGES}/{path}", sample.image)
        if sample.mask is not None:
            self._put(f"{MASKS}/{join_name(stem, image_type(sample.mask) or 'png')}", sample.mask)
        self._kept.append((path, replace(sample, image=b"", mask=None), image_extent(sample.image)))
        self.samples += 1

    def close(self) -> None:
        names = class_names((sample for _, sample, _ in self._kept), self._classes)
        labels = {name: label for label, name in sorted(names.items(), reverse=True) if label >= 0}
        rows = []
        lists: dict[str, list[str]] = {}
        for path, sample, size in self._kept:
            stem = path.rpartition(".")[0]
            lists.setdefault(split_folder(sample) or _ALL, []).append(stem)
            row = self._annotation(path, stem, sample, size, names, labels)
            if row:
                rows.append(encode_row({"path": path, **row}) + b"\n")
        if rows:
            self._put(self._names["annotations"], b"".join(rows))
        for split, stems in lists.items():
            folder, _, file = self._names["set"].rpartition("/")
            self._put(f"{folder}/{file.replace(_ALL, split)}", os.fsencode("".join(f"{stem}\n" for stem in stems)))
        if names and is_first_shard(self._names["annotations"]):
            known = [names.get(label, str(label)) for label in range(max(names) + 1)]
            self._put(CLASSES, os.fsencode("".join(f"{name}\n" for name in known)))

    def _annotation(
        self,
        path: str,
        stem: str,
        sample: Sample,
        size: tuple[int, int] | None,
        names: dict[int, str],
        labels: dict[str, int],
    ) -> dict[str, object]:
        """Write the XML file of a sample and return the row of what it cannot say."""
        split = split_folder(sample) or None
        implied = Sample(stem, b"", path.rpartition(".")[2], split=split)
        if sample.boxes is not None or sample.extra:
            text = to_annotation(sample, path.rpartition("/")[2], size, names).encode("utf-8")
            try:
                seen = to_sample(read_annotation(text, where=path), path, labels, where=path)
            except (DataError, KeyError):
                seen = replace(implied, boxes=None)
                text = to_annotation(replace(sample, boxes=None), path.rpartition("/")[2], size, names).encode("utf-8")
                seen = to_sample(read_annotation(text, where=path), path, labels, where=path)
            implied = replace(seen, split=split)
            self._put(f"{ANNOTATIONS}/{stem}.xml", text)
        if dict(implied.extra) == dict(sample.extra):
            return difference(replace(sample, extra={}), implied=implied)
        return {"extra": {}, **difference(sample, implied=implied)}

    def _put(self, name: str, data: bytes) -> None:
        with self._open_file(name) as stream:
            stream.write(data)
