"""Images and masks in folders to npy files and CSV lists, which training programs for segmentation read."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from pixelmill import fn, storage, types
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats import npy
from pixelmill.jobs.apart import check_apart
from pixelmill.jobs.job import HOW, InputFile, Job, ShardPlan, ShardReport, declared
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.options.declaration import pick, takes, values_of
from pixelmill.options.running import QuarantineOption, RunOptions, SplitOptions, WorkersOption
from pixelmill.options.segmentation import Normalize, SegmentationArguments, SegmentationOptions
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.permutation import fold, permute
from pixelmill.types import Array

_SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".gif", ".ppm", ".pgm", ".pnm"}
_PER_SHARD = 64
_SPLITS = ("train", "valid")
# Of the red, green and blue of ImageNet, from 0 to 1.
_MEAN, _STD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)


@dataclass(frozen=True)
class Pair:
    """The paths of an image and its mask below the root; the group is the folder of both."""

    group: str
    stem: str
    image: str
    mask: str


@dataclass(frozen=True)
class SegmentationJob(Job):
    """Images/ and Masks/ to npy and CSV."""

    kind: ClassVar[str] = "segmentation"

    options: SegmentationOptions = field(metadata=declared(SegmentationOptions))
    data_root: str = field(metadata=HOW)

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """All pairs, sorted."""
        return self._found[0]

    @cached_property
    def _found(self) -> tuple[list[Pair], list[str]]:
        return find_pairs(self.data_root)

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """The split of each group: training or validation."""
        groups = sorted({pair.group for pair in self.pairs})
        return split_groups(groups, valid=self.options.valid, seed=self.options.seed)

    @property
    def samples(self) -> int:
        return len(self.pairs)

    @cached_property
    def shards(self) -> Sequence[ShardPlan]:
        return [
            ShardPlan(number, tuple(name for pair in self._of(number) for name in self._names(pair)))
            for number in range(-(-len(self.pairs) // _PER_SHARD))
        ]

    @property
    def inputs(self) -> Iterator[InputFile]:
        for pair in self.pairs:
            for name in (pair.image, pair.mask):
                try:
                    status = (Path(self.data_root) / name).stat()
                except OSError:  # reported when it is read
                    yield InputFile(name, 0)
                    continue
                yield InputFile(name, status.st_size, status.st_mtime_ns)

    @property
    def closing_files(self) -> tuple[str, ...]:
        return tuple(f"csv_file/{split}.csv" for split in _SPLITS)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        pairs = self._of(number)
        first = number * _PER_SHARD
        root = Path(self.data_root)
        made = []
        images = decoded([str(root / pair.image) for pair in pairs], files)
        masks = decoded([str(root / pair.mask) for pair in pairs], files, gray=True)
        for place, (pair, image, mask) in enumerate(zip(pairs, images, masks, strict=True)):
            problem = problem_of(image, mask)
            if problem is not None:
                kind, message, of_image = problem
                name = pair.image if of_image else pair.mask
                self._reject(files, Event(kind, message, first + place, 0, path=name), name)
                continue
            arrays = _scaled(image, self.options.normalize), _mask(mask, self.options.normalize)
            for name, array in zip(self._names(pair), arrays, strict=True):
                files.write(name, npy.encode(array))
            made.append(first + place)
            files.progress(1, sum(array.nbytes for array in arrays))
        if number == 0:
            for place, name in enumerate(self._found[1], len(self.pairs)):
                self._reject(files, Event("unpaired", "has no partner of the same name", place, 0, path=name), name)
        return ShardReport(len(made), details={"made": made})

    def close(self, files: ShardFiles, shards: Iterable[Mapping[str, Any]]) -> None:
        pairs = [self.pairs[number] for shard in shards for number in shard["details"]["made"]]
        for split, name in zip(_SPLITS, self.closing_files, strict=True):
            rows = [self._names(pair) for pair in pairs if self.splits[pair.group] == split]
            files.write(name, csv_text(rows))

    def _reject(self, files: ShardFiles, event: Event, name: str) -> None:
        path = Path(self.data_root) / name
        try:
            content: bytes | None = storage.read_file(str(path))
        except (OSError, DataError):  # the event says what is wrong with it
            content = None
        files.reject(event, content, extension=path.suffix)

    def _of(self, number: int) -> Sequence[Pair]:
        return self.pairs[number * _PER_SHARD : (number + 1) * _PER_SHARD]

    def _names(self, pair: Pair) -> tuple[str, str]:
        place = f"{pair.group}/{pair.stem}.npy" if pair.group else f"{pair.stem}.npy"
        return f"Images/{place}", f"Masks/{place}"


@takes(SegmentationArguments)
def prepare_segmentation(options: SegmentationArguments) -> JobReport:
    """Write npy files and lists from ``Images/<group>/*`` and ``Masks/<group>/*``.

    The folders may also be ``train/images``, ``train/masks``, ``valid/images`` and ``valid/masks``.

    Images and masks of a group are paired by the stems of their names, in any format. The output has the same folders
    with npy files, and ``csv_file/train.csv`` and ``csv_file/valid.csv`` with the columns ``index``, ``images`` and
    ``masks``. Whole groups go to one of the two, so that neighboring images do not end up in both; groups in folders
    ``train`` and ``valid`` stay there. With ``on_error="skip"``, pairs of different size and masks with more than two
    values are skipped and listed.

    Returns:
        The state of the output.
    """
    root = os.fspath(options.data_root)
    pairs, unpaired = find_pairs(root)
    check_apart("segmentation", root, os.fspath(options.output))
    if unpaired and options.on_error == "fail":
        more = f" and {len(unpaired) - 1} more" if len(unpaired) > 1 else ""
        text = f"segmentation: {unpaired[0]} has no partner of the same name{more}"
        events = tuple(
            Event("unpaired", "has no partner", number, 0, path=name) for number, name in enumerate(unpaired)
        )
        raise DataError(f"{text}\n  on_error=skip leaves such files out and lists them", events)
    if not pairs:
        raise ArgumentError(f"segmentation: {root} has no pairs in Images/ and Masks/")
    job = SegmentationJob(options=pick(SegmentationOptions, options), data_root=str(Path(root).absolute()))
    groups = (RunOptions, WorkersOption, SplitOptions, QuarantineOption)
    arguments = {name: value for group in groups for name, value in values_of(group, options).items()}
    return run_job(job, options.output, **arguments)


def png2numpy(
    data_root: str | os.PathLike[str], output: str | os.PathLike[str], *, normalize: Normalize = "none", **options: Any
) -> JobReport:
    """Write npy files from ``Images/`` and ``Masks/``; the same as `prepare_segmentation` with its defaults."""
    return prepare_segmentation(data_root, output, normalize=normalize, **options)


def make_csv_file_npy(npy_root: str | os.PathLike[str], *, valid: float = 0.2, seed: int = 0) -> tuple[Path, Path]:
    """Write ``csv_file/train.csv`` and ``valid.csv`` for npy files in ``Images/`` and ``Masks/``.

    Args:
        npy_root: The folder with both; the lists are written into it.
        valid: Fraction of the groups for validation.
        seed: Seed of the choice of groups.

    Returns:
        The paths of both lists.
    """
    root = Path(npy_root)
    pairs, unpaired = find_pairs(str(root), suffixes={".npy"})
    if unpaired:
        raise DataError(f"segmentation: {unpaired[0]} has no partner of the same name")
    if not pairs:
        raise ArgumentError(f"segmentation: {root} has no npy files in Images/ and Masks/")
    splits = split_groups(sorted({pair.group for pair in pairs}), valid=valid, seed=seed)
    (root / "csv_file").mkdir(exist_ok=True)
    written = []
    for split in _SPLITS:
        path = root / "csv_file" / f"{split}.csv"
        path.write_bytes(csv_text([(pair.image, pair.mask) for pair in pairs if splits[pair.group] == split]))
        written.append(path)
    return written[0], written[1]


def find_pairs(root: str, *, suffixes: set[str] = _SUFFIXES) -> tuple[list[Pair], list[str]]:
    """Return the pairs of image and mask with the same group and stem, and the files without a partner."""
    storage.refuse_remote(root, "segmentation")
    images: dict[tuple[str, str], str] = {}
    masks: dict[tuple[str, str], str] = {}
    for split, image_folder, mask_folder in _trees(Path(root)):
        images |= _listed(Path(root), image_folder, suffixes, split)
        masks |= _listed(Path(root), mask_folder, suffixes, split)
    both = sorted(images.keys() & masks.keys())
    alone = images.keys() ^ masks.keys()
    unpaired = sorted(images.get(key) or masks[key] for key in alone)
    return [Pair(*key, images[key], masks[key]) for key in both], unpaired


def _trees(root: Path) -> list[tuple[str, str, str]]:
    """Return the split, the folder of images and that of masks: of the root, or of each split below it."""
    found = [(split, *_folders(root, split)) for split in ("", *_SPLITS)]
    whole = [(split, images, masks) for split, images, masks in found if images and masks]
    if not whole:
        missing = "Masks" if any(images for _, images, _ in found) else "Images"
        raise ArgumentError(f"segmentation: {root} has no folder {missing}")
    return whole[:1] if whole[0][0] == "" else whole


def _folders(root: Path, split: str) -> tuple[str, str]:
    """Return the folders `Images` and `Masks`, in any case, below a folder; empty for one that is not there."""
    place = root / split
    names = {path.name.lower(): path.name for path in place.iterdir() if path.is_dir()} if place.is_dir() else {}
    images, masks = (names.get(name, "") for name in ("images", "masks"))
    prefix = f"{split}/" if split else ""
    return images and prefix + images, masks and prefix + masks


def _listed(root: Path, folder: str, suffixes: set[str], split: str = "") -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for path in sorted((root / folder).rglob("*")):
        if path.suffix.lower() not in suffixes or not path.is_file():
            continue
        inside = path.relative_to(root / folder)
        group = (Path(split) / inside.parent).as_posix()
        key = ("" if group == "." else group, path.stem)
        if key in found:
            raise DataError(f"segmentation: {found[key]} and {folder}/{inside.as_posix()} have the same name")
        found[key] = f"{folder}/{inside.as_posix()}"
    return found


def split_groups(groups: Sequence[str], *, valid: float, seed: int) -> dict[str, str]:
    """Return `train` or `valid` for each group."""
    fixed = {group: group.split("/")[0] for group in groups if group.split("/")[0] in _SPLITS}
    free = [group for group in groups if group not in fixed]
    count = round(valid * len(free))
    if valid > 0 and not fixed and len(free) > 1:
        count = min(max(count, 1), len(free) - 1)
    order = permute(np.arange(len(free)), len(free), fold(seed)).tolist() if free else []
    chosen = {free[place] for place in order[:count]}
    return {group: fixed.get(group, "valid" if group in chosen else "train") for group in groups}


def csv_text(rows: Iterable[tuple[str, str]]) -> bytes:
    """Return a list of pairs as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("index", "images", "masks"))
    writer.writerows((number, *row) for number, row in enumerate(rows))
    return text.getvalue().encode("utf-8", "surrogateescape")


def decoded(paths: list[str], shard: ShardFiles, *, gray: bool = False) -> Iterator[Array | Event]:
    """Decode files in native threads; yield the event of a file that cannot be decoded."""
    events: dict[int, Event] = {}
    policy = _noting(events)
    limit, refused = len(paths), shard.refused_notes
    pipeline = Pipeline(limit, shard.threads, on_error=policy, max_errors=limit, strict=refused, device_id=None)
    with pipeline:
        encoded, _ = fn.readers.file(files=paths)
        kind = types.GRAY if gray else types.RGB
        pipeline.set_outputs(fn.decoders.image(encoded, output_type=kind))
    (batch,) = pipeline.run()
    for event in pipeline.errors.events:
        if event.sample not in events:
            shard.note([event.kind])
    for place in range(len(paths)):
        yield events[place] if place in events else np.array(batch.at(place))


def _noting(events: dict[int, Event]) -> Callable[[Event], Literal["fill"]]:
    def note(event: Event) -> Literal["fill"]:
        events[event.sample] = event
        return "fill"

    return note


def problem_of(image: Array | Event, mask: Array | Event) -> tuple[str, str, bool] | None:
    """Return what is wrong with a pair: kind, message, and whether the image rather than the mask is at fault."""
    for part in (image, mask):
        if isinstance(part, Event):
            of_image = part is image
            return part.kind, part.message if of_image else f"the mask cannot be used: {part.message}", of_image
    assert not isinstance(image, Event)
    assert not isinstance(mask, Event)
    if image.shape[:2] != mask.shape[:2]:
        sizes = f"{image.shape[0]}x{image.shape[1]}", f"{mask.shape[0]}x{mask.shape[1]}"
        return "size_mismatch", f"the image has {sizes[0]} pixels, the mask {sizes[1]}", False
    values = np.unique(mask)
    if len(values) > 2:
        return "not_binary", f"the mask has {len(values)} values from {values[0]} to {values[-1]}, not two", False
    return None


def _scaled(image: Array | Event, normalize: Normalize) -> Array:
    pixels = np.asarray(image)
    if normalize == "none":
        return pixels
    unit = pixels.astype(np.float32) / np.float32(255)
    return unit if normalize == "unit" else (unit - _MEAN) / _STD


def _mask(mask: Array | Event, normalize: Normalize) -> Array:
    pixels = np.asarray(mask)
    return pixels if normalize == "none" else (pixels > 0).astype(np.float32)
