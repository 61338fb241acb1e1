"""The names of files, for containers with one file per sample: all samples are examined before any is written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pixelmill.errors import DataError
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.file_list.writer import is_listable
from pixelmill.formats.folder.names import wished_name
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Sample, file_ending, split_name
from pixelmill.jobs.sharing import STATE
from pixelmill.storage.file_names import UniqueNames, is_plain

_MOST_CLASSES = 1_000_000
_OWN_ENDINGS = ("json", "jsonl", "txt", "csv")  # of the manifest, annotations, lists and tables


@dataclass(frozen=True)
class FileNames:
    """The names of the samples to write.

    Attributes:
        names: The name of the file of each, without extension.
        classes: For a folder: the class folder of each label, empty for a label without one.
        masks: Whether any sample has a mask.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    masks: bool

    def save(self, path: Path) -> None:
        """Save the names for worker processes."""
        path.write_text(json.dumps(asdict(self)), "ascii")

    @classmethod
    def load(cls, path: str) -> FileNames:
        """Load saved names."""
        found = json.loads(Path(path).read_text("ascii"))
        return cls(tuple(found["names"]), tuple(found["classes"]), bool(found["masks"]))


def find_file_names(dataset: Dataset, numbers: Iterable[int], *, to: str, keep_endings: bool = True) -> FileNames:
    """Look at all samples and choose a unique name for each.

    Args:
        dataset: What is read.
        numbers: The samples to write, in order.
        to: The container to write.
        keep_endings: False if images get other extensions, so that their names must differ without them.
    """
    masks = False
    outlines: list[Sample | None] = []
    numbers = list(map(int, numbers))
    if type(dataset).outline is Dataset.outline:  # which reads whole samples
        dataset.expect(numbers)
    for number in numbers:
        try:
            outline = dataset.outline(int(number))
            if not outline.image and outline.extension.lower() not in IMAGE_EXTENSIONS:
                outline = dataset.sample(int(number))  # the extension of its file depends on its content
            masks = masks or outline.mask is not None or dataset.has_mask(int(number))
            outlines.append(Sample(**{**vars(outline), "image": outline.image[:16], "mask": None, "extra": {}}))
        except DataError:
            outlines.append(None)  # the same fault is reported when the sample is written
    unique = UniqueNames()
    endings = keep_endings and not masks
    names = tuple(_name(unique, outline, at, to=to, endings=endings) for at, outline in enumerate(outlines))
    classes = _classes(zip(names, outlines, strict=True)) if to == "folder" else ()
    return FileNames(names, classes, masks)


def _name(unique: UniqueNames, sample: Sample | None, number: int, *, to: str, endings: bool) -> str:
    if sample is None:
        return unique.take("", number=number)
    ending = file_ending(sample) if endings else ""
    if to == "folder":
        return unique.take(_free(wished_name(sample)), number=number, ending=ending)
    if to == "list":
        return unique.take(_free(sample.key), number=number, ending=ending, is_allowed=is_listable)
    return unique.take(sample.key, number=number, is_allowed=is_plain)


def _free(name: str) -> str:
    """Return a name, or nothing if it would be in a folder named like a file of the dataset or the state of a job."""
    folder, slash, _ = name.casefold().partition("/")
    taken = folder.startswith(STATE) or split_name(folder)[1] in _OWN_ENDINGS
    return "" if slash and taken else name


def _classes(named: Iterable[tuple[str, Sample | None]]) -> tuple[str, ...]:
    """Return the class folders in the order of their labels, if labels and folders correspond one to one."""
    labels: dict[str, set[object]] = {}
    for name, sample in named:
        folder, slash, _ = name.partition("/")
        if slash and sample is not None:
            labels.setdefault(folder, set()).add(sample.labels[0] if len(sample.labels) == 1 else None)
    by_label = {next(iter(found)): folder for folder, found in labels.items() if len(found) == 1}
    numbers = [label for label in by_label if isinstance(label, int) and 0 <= label < _MOST_CLASSES]
    if len(numbers) < len(labels):
        return tuple(sorted(labels, key=os.fsencode))
    return tuple(by_label.get(number, "") for number in range(max(numbers, default=-1) + 1))
