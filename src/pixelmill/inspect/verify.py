"""`verify`: whether a dataset is intact."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pixelmill import fn, storage
from pixelmill.errors import MISSING_PIXELS, DataError, Event, PixelmillError
from pixelmill.formats import npy
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import FILE_FORMATS, open_dataset
from pixelmill.formats.sample import image_type
from pixelmill.inspect.manifest_check import ManifestCheck, check_manifest
from pixelmill.options.declaration import takes
from pixelmill.options.inspect import OnSample, VerifyOptions
from pixelmill.options.running import list_options
from pixelmill.pipeline import Pipeline

_BATCH = 32


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    Attributes:
        source: The dataset.
        format: Its container; empty if it could not be opened.
        samples: Samples that were read.
        decoded: Images that were decoded.
        manifest: The manifest whose hashes were compared; None if there is none.
        hashed: Files that were compared with it.
        problems: Everything that is wrong: an unfinished job, missing samples, container, records, images, hashes.
        notes: Remarks about images that are whole, such as `decoder_warning`, and how many images have them.
        remarks: What is to know about the dataset, such as files that are not read, in one line each.
    """

    source: str
    format: str
    samples: int
    decoded: int
    manifest: str | None
    hashed: int
    problems: tuple[Event, ...]
    notes: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@takes(VerifyOptions)
def verify(given: VerifyOptions) -> Verification:
    """Read a whole dataset and list everything that is wrong with it.

    Checks that the job that wrote it has finished, that every file and sample that the manifest counts is there, the
    hashes, the framing and checksums of the container, and that each image can be decoded with all of its pixels.

    Returns:
        What was checked and what is wrong.
    """
    source = given.source
    shown = os.fspath(source) if isinstance(source, (str, os.PathLike)) else source[0]
    check = check_manifest(source)
    problems = check.problems
    try:
        dataset = open_dataset(source, given.format, **list_options(given))
    except PixelmillError as error:
        events = error.events if isinstance(error, DataError) else ()
        if not problems and not events:
            raise
        problems += events or (Event("corrupt", str(error), sample=-1, epoch=0, path=shown),)
        return Verification(shown, "", 0, 0, check.manifest, check.hashed, tuple(problems))
    problems += [fault.event(fault.record) for fault in dataset.faults]
    _check_count(dataset, check, is_folder=storage.is_folder(shown))
    checker = Checker(dataset, problems, given.on_sample)
    if given.decode:
        checker.decode(given.threads or os.cpu_count() or 1)
    else:
        for _ in checker.samples():
            pass
    return Verification(
        source=dataset.source,
        format=dataset.format,
        samples=checker.read,
        decoded=checker.decoded,
        manifest=check.manifest,
        hashed=check.hashed,
        problems=tuple(problems),
        notes=dict(checker.notes),
        remarks=dataset.remarks,
    )


def _check_count(dataset: Dataset, check: ManifestCheck, *, is_folder: bool) -> None:
    """Add a problem if the manifest counts more samples than there are; damaged pieces are problems already."""
    # Files of a folder that were named one by one are fewer than their shards have.
    if check.samples is None or (dataset.format in FILE_FORMATS and not is_folder):
        return
    found = len(dataset) + len(dataset.faults)
    if found < check.samples:
        message = f"{len(dataset)} samples are found, the manifest counts {check.samples}"
        check.add("missing", message, dataset.source)


class Checker:
    """Reads samples in order, has their images decoded, and notes what fails.

    Args:
        dataset: What is checked.
        problems: Where everything that is wrong is added.
        on_sample: Called with the number of samples done and of all.
        most: Stop when there are so many problems.
    """

    def __init__(
        self,
        dataset: Dataset,
        problems: list[Event],
        on_sample: OnSample | None,
        *,
        most: int | None = None,
    ) -> None:
        self._dataset = dataset
        self._problems = problems
        self._on_sample = on_sample
        self._most = most
        self._fed: list[tuple[int, str]] = []
        self.read = self.decoded = 0
        self.notes: Counter[str] = Counter()

    def samples(self) -> Iterator[tuple[int, bytes, bytes | None]]:
        """Yield number, image and mask of each sample that can be read."""
        self._dataset.expect(range(len(self._dataset)))
        for number in range(len(self._dataset)):
            if self._most is not None and len(self._problems) >= self._most:
                return
            try:
                sample = self._dataset.sample(number)
            except DataError as error:
                self._problems += error.events or (self._dataset.event(number, "corrupt", str(error)),)
                continue
            finally:
                if self._on_sample is not None:
                    self._on_sample(number + 1, len(self._dataset))
            self.read += 1
            yield number, sample.image, sample.mask

    def decode(self, threads: int) -> None:
        """Decode everything as training would, and translate what fails."""
        pipe = Pipeline(
            _BATCH,
            threads,
            0,
            on_error="fill",
            max_errors=1 << 62,
            strict=[MISSING_PIXELS],
            prefetch_queue_depth=1,
            seed=0,
        )
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.external_source(source=self._batches(), batch=True)))
        seen = 0
        while True:
            try:
                (images,) = pipe.run()
            except StopIteration:
                break
            self._translate(pipe.errors.events)
            pipe.errors.events.clear()
            seen += len(images)
        self.decoded = seen

    def _translate(self, events: Iterable[Event]) -> None:
        """Add what the decoder reports about a batch, by the numbers and places of the dataset."""
        events = list(events)
        failed = {event.sample for event in events if event.fatal}
        for event in events:
            number, what = self._fed[event.sample]
            path, offset = self._dataset.locate(number)
            message = f"{what}{event.message}"
            if event.fatal:
                self._problems.append(
                    replace(event, sample=number, path=path, offset=offset, message=message, line=None)
                )
            elif event.sample not in failed:
                self.notes[event.kind] += 1

    def _batches(self) -> Iterator[list[Any]]:
        batch: list[Any] = []
        for number, image, mask in self.samples():
            for what, data in (("", image), ("mask: ", mask)):
                if data is None:
                    continue
                if image_type(data) == "npy":
                    self._check_array(number, what, data)
                    continue
                self._fed.append((number, what))
                batch.append(np.frombuffer(data or b"\0", np.uint8))
                if len(batch) == _BATCH:
                    yield batch
                    batch = []
        if batch:
            yield batch

    def _check_array(self, number: int, what: str, data: bytes) -> None:
        try:
            npy.decode(data)
        except DataError as error:
            self._problems.append(self._dataset.event(number, "corrupt", f"{what}{error}"))
