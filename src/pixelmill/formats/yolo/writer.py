"""The writer of YOLO datasets: `images/`, `labels/` and data.yaml."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import is_file_name, is_first_shard, placed_name, split_folder
from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.object_classes import class_names
from pixelmill.formats.sample import Boxes, Sample, file_ending, image_type, join_name, split_name
from pixelmill.formats.yolo.config import config_text
from pixelmill.formats.yolo.dataset import IMAGES, LABELS, MASKS
from pixelmill.formats.yolo.labels import Scheme, lines, parse
from pixelmill.storage.file_names import UniqueNames

CONFIG = "data.yaml"


class YoloWriter(ShardWriter):
    """Writes images and label files, and with the first shard data.yaml.

    All label files of a dataset hold boxes, or outlines, or boxes with keypoints; what they cannot say is in rows of
    `annotations.jsonl`.

    Args:
        open_file: Opens a file of the shard.
        names: The file `annotations`.
        classes: The names of all classes by label; those of the samples if None.
        splits: The subsets of the whole dataset, an empty name for samples without one; those of the samples if None.
        keypoints: The number of keypoints of objects in the whole dataset; None if that of the first object counts.
        polygons: Whether the dataset has outlines; None if the first object decides.
        oriented: Whether all of them are oriented boxes; None if the first object decides.
    """

    def __init__(
        self,
        open_file: Callable[[str], Output],
        names: Mapping[str, str],
        *,
        classes: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
        keypoints: int | None = None,
        polygons: bool | None = None,
        oriented: bool | None = None,
    ) -> None:
        super().__init__(open_file, names)
        self._classes = classes
        self._splits = [name for name in splits or () if name]
        self._others = splits is not None and "" in splits
        self._keypoints = keypoints
        self._polygons = polygons
        self._oriented = oriented
        self._unique = UniqueNames()
        self._kept: list[tuple[str, Sample, str]] = []  # path, sample without its bytes, label file

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        preferred = placed_name(sample)
        stem = name or self._unique.take(preferred, number=self.samples, is_allowed=is_file_name)
        path = join_name(stem, ending)
        self._put(f"{IMAGES}/{path}", sample.image)
        if sample.mask is not None:
            self._put(f"{MASKS}/{path}.{image_type(sample.mask) or 'png'}", sample.mask)
        boxes = sample.boxes if sample.boxes is not None else Boxes.none()
        self._decide(boxes)
        text = "".join(
            f"{line}\n" for line in lines(boxes, keypoints=self._keypoints or 0, polygons=bool(self._polygons))
        )
        if sample.boxes is not None:
            self._put(f"{LABELS}/{stem}.txt", text.encode())
        if split_folder(sample) and split_folder(sample) not in self._splits:
            self._splits.append(split_folder(sample))
        self._kept.append((path, replace(sample, image=b"", mask=None), text))
        self.samples += 1

    def _decide(self, boxes: Boxes) -> None:
        """Decide what the lines of all label files hold, with the first sample that has objects."""
        if not len(boxes):
            return
        if self._keypoints is None:
            self._keypoints = 0 if boxes.keypoints is None else boxes.keypoints.points.shape[1]
        if self._polygons is None:
            self._polygons = boxes.polygons is not None
        if self._oriented is None:
            self._oriented = boxes.oriented

    def close(self) -> None:
        names = class_names((sample for _, sample, _ in self._kept), self._classes)
        classes = tuple(names[label] for label in sorted(names) if label >= 0 and label < len(names))
        oriented = bool(self._oriented) if self._polygons and not self._keypoints else None
        scheme = Scheme(classes, self._keypoints or 0, oriented=oriented)
        rows = [row for path, sample, text in self._kept if (row := _row(path, sample, text, scheme))]
        if rows:
            self._put(self._names["annotations"], b"".join(row + b"\n" for row in rows))
        if is_first_shard(self._names["annotations"]):
            others = any(not split_folder(sample) for _, sample, _ in self._kept) or self._others
            self._put(CONFIG, config_text(scheme, splits=self._splits, others=others))

    def _put(self, name: str, data: bytes) -> None:
        with self._open_file(name) as stream:
            stream.write(data)


def _row(path: str, sample: Sample, text: str, scheme: Scheme) -> bytes:
    """Return the row of what the label file of a sample cannot say; empty if it says everything."""
    split = split_folder(sample)
    name = path.removeprefix(f"{split}/") if split else path
    try:
        boxes = parse(text, scheme, where=path)
    except DataError:  # a class that data.yaml does not list, such as -1
        boxes = Boxes.none()
    key, extension = split_name(name)
    row = difference(sample, implied=Sample(key, b"", extension, boxes=boxes, split=split))
    return encode_row({"path": name, **row}) if row else b""
