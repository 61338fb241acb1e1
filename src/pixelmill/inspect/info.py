"""`info`: what a dataset contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelmill import storage
from pixelmill.codecs.pillow_images import image_size
from pixelmill.errors import DataError, Event
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.inspect.manifest_check import unfinished_text
from pixelmill.jobs.status import unfinished_jobs
from pixelmill.jobs.storage import open_storage
from pixelmill.options.declaration import takes
from pixelmill.options.inspect import InfoOptions
from pixelmill.options.running import list_options

_BINS = 10
_ASPECT_EDGES = (0.0, 0.5, 0.67, 0.8, 0.95, 1.05, 1.25, 1.5, 2.0, float("inf"))


@dataclass(frozen=True)
class Histogram:
    """Counts between edges, one fewer than there are edges."""

    edges: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class DatasetInfo:
    """What is in a dataset.

    Attributes:
        source: Where it lies.
        format: Its container.
        layout: How the container is used.
        fields: What samples hold.
        samples: Number of samples.
        files: Number of files.
        bytes: Bytes of all samples in the container.
        faults: Pieces of the container that cannot be read, and jobs that have not finished writing it.
        examined: Number of samples that everything below is about.
        bad: Samples that cannot be read, or whose header says nothing.
        extensions: Endings of the names, and how often they occur.
        labels: Number of samples with each label, as text.
        class_names: Names of labels.
        boxes: Number of boxes.
        masks: Number of masks.
        height: Smallest, mean and largest.
        width: Smallest, mean and largest.
        image_bytes: Smallest, mean and largest.
        sizes: The shorter side.
        aspects: Width divided by height.
        remarks: What is to know about the dataset, such as files that are not read, in one line each.
        splits: Number of samples of each subset, if the dataset is divided.
        objects: Number of oriented boxes, polygons, run-length masks and keypoints of boxes, those that exist.
    """

    source: str
    format: str
    layout: str
    fields: Mapping[str, str]
    samples: int
    files: int
    bytes: int
    faults: tuple[str, ...]
    examined: int
    bad: tuple[Event, ...]
    extensions: Mapping[str, int]
    labels: Mapping[str, int]
    class_names: Mapping[str, str]
    boxes: int
    masks: int
    height: tuple[float, float, float]
    width: tuple[float, float, float]
    image_bytes: tuple[float, float, float]
    sizes: Histogram = field(default_factory=Histogram)
    aspects: Histogram = field(default_factory=Histogram)
    remarks: tuple[str, ...] = ()
    splits: Mapping[str, int] = field(default_factory=dict)
    objects: Mapping[str, int] = field(default_factory=dict)


@takes(InfoOptions)
def info(given: InfoOptions) -> DatasetInfo:
    """Describe a dataset: schema, counts, classes and sizes.

    Returns:
        What the dataset contains.
    """
    dataset = open_dataset(given.source, given.format, **list_options(given))
    count = min(given.samples or len(dataset), len(dataset))
    numbers = [len(dataset) * place // max(count, 1) for place in range(count)]
    tally = _Tally()
    dataset.expect(numbers)
    for done, number in enumerate(numbers, start=1):
        tally.add(dataset, number)
        if given.on_sample is not None:
            given.on_sample(done, count)
    return tally.result(dataset, count)


class _Tally:
    def __init__(self) -> None:
        self.bad: list[Event] = []
        self.extensions: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        self.boxes = self.masks = 0
        self.splits: Counter[str] = Counter()
        self.objects: Counter[str] = Counter()
        self.sizes: list[tuple[int, int]] = []
        self.bytes: list[int] = []

    def add(self, dataset: Dataset, number: int) -> None:
        try:
            sample = dataset.sample(number)
        except DataError as error:
            self.bad.append(error.events[0] if error.events else dataset.event(number, "corrupt", str(error)))
            return
        self._count(sample)
        try:
            self.sizes.append(image_size(sample.image))
        except DataError as error:
            self.bad.append(dataset.event(number, "not_an_image", str(error)))

    def _count(self, sample: Sample) -> None:
        self.extensions[sample.extension] += 1
        self.bytes.append(len(sample.image))
        for label in sample.labels:
            self.labels[str(label)] += 1
        if sample.class_name is not None and len(sample.labels) == 1:
            self.names.setdefault(str(sample.labels[0]), sample.class_name)
        self.boxes += len(sample.boxes or ())
        self.masks += sample.mask is not None
        if sample.split is not None:
            self.splits[sample.split] += 1
        if sample.boxes is not None:
            self._count_objects(sample.boxes)

    def _count_objects(self, boxes: Boxes) -> None:
        found = {
            "oriented boxes": len(boxes) if boxes.oriented else 0,
            "polygons": 0 if boxes.polygons is None or boxes.oriented else len(boxes.polygons.rings),
            "run-length masks": sum(mask is not None for mask in boxes.masks or ()),
            "keypoints": 0 if boxes.keypoints is None else int((boxes.keypoints.visibility > 0).sum()),
        }
        self.objects += Counter({name: count for name, count in found.items() if count})
        if boxes.labels is not None and boxes.names is not None:
            for label, name in zip(boxes.labels.tolist(), boxes.names, strict=True):
                self.names.setdefault(str(label), name)

    def result(self, dataset: Dataset, examined: int) -> DatasetInfo:
        heights, widths = [height for height, _ in self.sizes], [width for _, width in self.sizes]
        schema = dataset.schema
        return DatasetInfo(
            source=dataset.source,
            format=dataset.format,
            layout=schema.layout,
            fields=schema.fields,
            samples=len(dataset),
            files=len(dataset.files),
            bytes=_total(dataset),
            faults=(*_unfinished(dataset.source), *(str(fault) for fault in dataset.faults)),
            examined=examined,
            bad=tuple(self.bad),
            extensions=dict(self.extensions.most_common()),
            labels=dict(sorted(self.labels.items(), key=lambda item: float(item[0]))),
            class_names=self.names,
            boxes=self.boxes,
            masks=self.masks,
            height=_spread(heights),
            width=_spread(widths),
            image_bytes=_spread(self.bytes),
            sizes=_histogram([min(size) for size in self.sizes]),
            aspects=_aspects(self.sizes),
            remarks=dataset.remarks,
            splits=dict(self.splits),
            objects=dict(self.objects),
        )


def _unfinished(source: str) -> list[str]:
    if not storage.is_folder(source):
        return []
    jobs = unfinished_jobs(open_storage(source))
    return [f"{source}: {unfinished_text(status.done, status.shards)}" for status in jobs]


def _total(dataset: Dataset) -> int:
    if len(dataset.index.lengths):
        return int(dataset.index.lengths.sum())
    total = 0
    for number in range(len(dataset)):
        try:
            total += dataset.size(number)
        except (DataError, OSError):
            continue  # among the bad ones if it was examined
    return total


def _spread(values: Sequence[int]) -> tuple[float, float, float]:
    if not values:
        return 0.0, 0.0, 0.0
    return float(min(values)), round(sum(values) / len(values), 1), float(max(values))


def _histogram(values: Sequence[int]) -> Histogram:
    if not values:
        return Histogram()
    if min(values) == max(values):
        return Histogram((float(values[0]), float(values[0])), (len(values),))
    step = _round_step((max(values) - min(values)) / _BINS)
    first, last = min(values) // step, max(values) // step + 1
    counts, edges = np.histogram(values, np.arange(first, last + 1) * step)
    return Histogram(tuple(float(edge) for edge in edges), tuple(int(count) for count in counts))


def _round_step(step: float) -> int:
    """Return the next larger number of the form 1, 2 or 5 followed by zeros."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            if factor * unit >= step:
                return factor * unit
        unit *= 10


def _aspects(sizes: Iterable[tuple[int, int]]) -> Histogram:
    aspects = [width / height for height, width in sizes if height]
    if not aspects:
        return Histogram()
    counts, _ = np.histogram(aspects, np.array(_ASPECT_EDGES))
    return Histogram(_ASPECT_EDGES, tuple(int(count) for count in counts))
