"""`verify`: whether a dataset is intact."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pixelmill import fn, storage
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import image_type
from pixelmill.jobs.manifest import NAME, listed_files, read_manifest
from pixelmill.jobs.storage import open_storage
from pixelmill.options.declaration import takes
from pixelmill.options.inspect import OnSample, VerifyOptions
from pixelmill.pipeline import Pipeline

_BATCH = 32
_CHUNK = 1 << 20


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
        problems: Everything that is wrong: container, records, images, hashes.
    """

    source: str
    format: str
    samples: int
    decoded: int
    manifest: str | None
    hashed: int
    problems: tuple[Event, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


@takes(VerifyOptions)
def verify(given: VerifyOptions) -> Verification:
    """Read a whole dataset and list everything that is wrong with it.

    Checks the hashes of the manifest, the framing and checksums of the container, and that each image can be decoded.

    Returns:
        What was checked and what is wrong.
    """
    source = given.source
    shown = os.fspath(source) if isinstance(source, (str, os.PathLike)) else source[0]
    manifest, hashed, problems = check_manifest(shown)
    try:
        dataset = open_dataset(source, given.format, root=given.root, allow_outside=given.allow_outside)
    except DataError as error:
        if not problems and not error.events:
            raise
        problems += error.events or (Event("corrupt", str(error), sample=-1, epoch=0, path=shown),)
        return Verification(shown, "", 0, 0, manifest, hashed, tuple(problems))
    problems += [fault.event(fault.record) for fault in dataset.faults]
    checker = Checker(dataset, problems, given.on_sample)
    if given.decode:
        checker.decode(given.threads or os.cpu_count() or 1)
    else:
        for _ in checker.samples():
            pass
    return Verification(
        dataset.source, dataset.format, checker.read, checker.decoded, manifest, hashed, tuple(problems)
    )


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

    def samples(self) -> Iterator[tuple[int, bytes, bytes | None]]:
        """Yield number, image and mask of each sample that can be read."""
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
        pipe = Pipeline(_BATCH, threads, 0, on_error="fill", max_errors=1 << 62, prefetch_queue_depth=1, seed=0)
        with pipe:
            pipe.set_outputs(fn.decoders.image(fn.external_source(source=self._batches(), batch=True)))
        seen = 0
        while True:
            try:
                (images,) = pipe.run()
            except StopIteration:
                break
            for event in pipe.errors.events:
                number, what = self._fed[event.sample]
                path, offset = self._dataset.locate(number)
                message = f"{what}{event.message}"
                if event.fatal:
                    self._problems.append(
                        replace(event, sample=number, path=path, offset=offset, message=message, line=None)
                    )
            pipe.errors.events.clear()
            seen += len(images)
        self.decoded = seen

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


def check_manifest(source: str) -> tuple[str | None, int, list[Event]]:
    """Compare the files that a manifest lists with their hashes: all of a folder, or the one file that was named."""
    is_folder = storage.is_folder(source)
    folder = source if is_folder else source.rpartition("/")[0] or "."
    if not storage.is_folder(folder):
        return None, 0, []
    where = storage.join(folder, NAME)
    try:
        manifest = read_manifest(open_storage(folder), strict=True)
        if manifest is None:
            return None, 0, []
        files = listed_files(manifest)
    except DataError as error:
        return where, 0, [Event("corrupt", str(error), sample=-1, epoch=0, path=where, operator="manifest")]
    if not is_folder:
        files = [file for file in files if file.name == source.rpartition("/")[2]]
    problems: list[Event] = []
    for file in files:
        path = storage.join(folder, file.name)
        problem = _compare(path, file.bytes, file.sha256)
        if problem is not None:
            problems.append(Event(*problem, sample=-1, epoch=0, path=path, operator="manifest"))
    return where, len(files), problems


def _compare(path: str, size: int, sha256: str) -> tuple[str, str] | None:
    try:
        found = storage.stat(path).size
        if found != size:
            return "truncated" if found < size else "corrupt", f"the file has {found} bytes, the manifest says {size}"
        digest = hashlib.sha256()
        for piece in storage.read_pieces(path, _CHUNK):
            digest.update(piece)
    except OSError as error:
        return "io", f"{error.strerror or error}"
    if digest.hexdigest() != sha256:
        return "checksum", f"the SHA-256 of the file is {digest.hexdigest()}, the manifest says {sha256}"
    return None
