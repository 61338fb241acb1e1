"""The names of files, for containers with one file per sample: all samples are examined before any is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import is_file_name, split_folder
from pixelmill.formats.containers import get_format
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.file_list.writer import is_listable
from pixelmill.formats.folder.names import wished_name
from pixelmill.formats.object_classes import MOST_CLASSES, add_names
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Sample, file_ending, split_name
from pixelmill.formats.splits import split_folders
from pixelmill.jobs.sharing import STATE
from pixelmill.storage.file_names import UniqueNames

_MOST_CLASSES = 1_000_000
_OWN_ENDINGS = ("json", "jsonl", "txt", "csv")  # of the manifest, annotations, lists and tables


@dataclass(frozen=True)
class FileNames:
    """The names of the samples to write.

    Attributes:
        names: The name of the file of each, without extension.
        classes: For a folder: the class folder of each label, empty for a label without one.
        masks: Whether any sample has a mask.
        objects: The names of the classes of objects by label.
        splits: The subsets of the samples, an empty name for samples without one.
        keypoints: The largest number of keypoints of an object.
        polygons: Whether any object has an outline.
        oriented: Whether all outlines are oriented boxes.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    masks: bool
    objects: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    keypoints: int = 0
    polygons: bool = False
    oriented: bool = False

    def save(self, path: Path) -> None:
        """Save the names for worker processes."""
        path.write_text(json.dumps(asdict(self)), "ascii")

    @classmethod
    def load(cls, path: str) -> FileNames:
        """Load saved names."""
        found = json.loads(Path(path).read_text("ascii"))
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
        }
        return cls(**values)


def find_file_names(
    dataset: Dataset, numbers: Iterable[int], *, to: str, ending: Callable[[Sample], str] | None = file_ending
) -> FileNames:
    """Look at all samples and choose a unique name for each.

    Args:
        dataset: What is read.
        numbers: The samples to write, in order.
        to: The container to write.
        ending: Returns the extension that the file of a sample gets; None if names must differ without it.
    """
    masks = False
    outlines: list[Sample | None] = []
    numbers = list(map(int, numbers))
    dataset.expect_outlines(numbers)
    objects: dict[int, str] = {}
    splits: dict[str, None] = {}
    keypoints, outlined = 0, set[bool]()  # whether outlines are oriented boxes, for each sample that has some
    for number in numbers:
        try:
            outline = dataset.outline(int(number))
            if not outline.image and outline.extension.lower() not in IMAGE_EXTENSIONS:
                outline = dataset.sample(int(number))  # the extension of its file depends on its content
            masks = masks or outline.mask is not None or dataset.has_mask(int(number))
            add_names(objects, outline)
            splits[split_folder(outline)] = None
            if outline.boxes is not None:
                points = outline.boxes.keypoints
                keypoints = max(keypoints, 0 if points is None else points.points.shape[1])
                if outline.boxes.polygons is not None:
                    outlined.add(outline.boxes.oriented)
            kept: dict[str, Any] = {"image": outline.image[:16], "mask": None, "boxes": None, "extra": {}}
            outlines.append(Sample(**{**vars(outline), **kept}))
        except DataError:
            outlines.append(None)  # the same fault is reported when the sample is written
    unique = UniqueNames()
    ending = None if masks else ending
    divided = is_divided(tuple(splits))
    names = tuple(
        _name(unique, outline, at, to=to, ending=ending, divided=divided) for at, outline in enumerate(outlines)
    )
    classes = _classes(zip(names, outlines, strict=True), divided=divided) if to == "folder" else ()
    listed = _object_classes(objects, dataset.classes)
    return FileNames(
        names, classes, masks, listed, tuple(splits), keypoints, polygons=bool(outlined), oriented=outlined == {True}
    )


def is_divided(splits: Sequence[str]) -> bool:
    """Whether all samples have a split, and readers would take its folder for one."""
    return bool(split_folders(splits)) and "" not in splits


def _object_classes(found: dict[int, str], listed: Sequence[str]) -> tuple[str, ...]:
    """Return the classes of objects by label: as the dataset lists them, if samples do not contradict it."""
    if not found:
        return ()
    agrees = all(0 <= label < len(listed) and name in (listed[label], str(label)) for label, name in found.items())
    names = dict(enumerate(listed)) if agrees else found
    numbers = [label for label in names if 0 <= label < MOST_CLASSES]
    return tuple(names.get(label, str(label)) for label in range(max(numbers, default=-1) + 1))


def _name(
    unique: UniqueNames,
    sample: Sample | None,
    number: int,
    *,
    to: str,
    ending: Callable[[Sample], str] | None,
    divided: bool,
) -> str:
    if sample is None:
        return unique.take("", number=number)
    own = "" if ending is None else ending(sample)
    if to == "folder":
        return unique.take(_free(wished_name(sample, divided=divided)), number=number, ending=own)
    if to == "list":
        return unique.take(_free(sample.key), number=number, ending=own, is_allowed=is_listable)
    preferred_name = get_format(to).preferred_name
    if preferred_name is not None:
        return unique.take(_free(preferred_name(sample)), number=number, is_allowed=is_file_name)
    return unique.take(sample.key, number=number)


def _free(name: str) -> str:
    """Return a name, or nothing if it would be in a folder named like a file of the dataset or the state of a job."""
    folder, slash, _ = name.casefold().partition("/")
    taken = folder.startswith(STATE) or split_name(folder)[1] in _OWN_ENDINGS
    return "" if slash and taken else name


def _classes(named: Iterable[tuple[str, Sample | None]], *, divided: bool) -> tuple[str, ...]:
    """Return the class folders in the order of their labels, if labels and folders correspond one to one."""
    labels: dict[str, set[object]] = {}
    for name, sample in named:
        folder, slash, _ = (name.partition("/")[2] if divided else name).partition("/")
        if slash and sample is not None:
            labels.setdefault(folder, set()).add(sample.labels[0] if len(sample.labels) == 1 else None)
    by_label = {next(iter(found)): folder for folder, found in labels.items() if len(found) == 1}
    numbers = [label for label in by_label if isinstance(label, int) and 0 <= label < _MOST_CLASSES]
    if len(numbers) < len(labels):
        return tuple(sorted(labels, key=os.fsencode))
    return tuple(by_label.get(number, "") for number in range(max(numbers, default=-1) + 1))
