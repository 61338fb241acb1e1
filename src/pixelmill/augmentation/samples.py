"""From a sample of a dataset to the input of a program, and from its output to a new sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from pixelmill.augmentation.graphs import SampleShape
from pixelmill.augmentation.objects import followed_boxes, joined_boxes
from pixelmill.augmentation.program import NO_BOXES, NO_LABEL, Failure, OtherOutput, ProgramInput, ProgramOutput
from pixelmill.dataset_jobs.sample_annotations import MaskStorage, check_boxes, load_mask, store_mask
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.example import Example, Feature, int64_feature
from pixelmill.formats.sample import Boxes, Sample, file_ending, image_type
from pixelmill.formats.tfrecord.keys import FORMAT, renamed_format
from pixelmill.types import Array

_EXTENSIONS = {"jpeg": "jpg", "png": "png"}
_HEIGHTS, _WIDTHS, _CHANNELS = ("image/height", "height"), ("image/width", "width"), ("image/channels", "channels")
_COLORSPACE = "image/colorspace"
_OBJECT_PREFIXES = ("image/object/", "objects/")


@dataclass(eq=False, slots=True)  # not frozen: one is created for every sample, and frozen ones take twice as long
class PreparedSample:
    """A sample as programs take it.

    Attributes:
        number: Its number in the dataset.
        sample: The sample.
        kind: The usual extension of such images; None if unknown.
        shape: What its program is made for.
        image: The bytes of the file, or the pixels.
        mask: The same for the mask.
        mask_storage: How the mask is stored.
    """

    number: int
    sample: Sample
    kind: str | None
    shape: SampleShape
    image: Array
    mask: Array | None
    mask_storage: MaskStorage | None

    def variant(self, variant: int, others: Sequence[PreparedSample] = ()) -> ProgramInput:
        """Return the input of a program for one variant, joined with other samples."""
        labels = self.sample.labels
        label = np.array(int(labels[0]), np.int64) if labels else NO_LABEL
        boxes = NO_BOXES if self.sample.boxes is None else self.sample.boxes.ltrb
        given = [other.variant(variant) for other in others]
        return ProgramInput(self.number, variant, self.image, self.mask, label, boxes, given)


def prepare(sample: Sample, number: int, *, format: str | None) -> PreparedSample:
    """Prepare a sample. Raises DataError if its mask, its array or its boxes cannot be used."""
    kind = image_type(sample.image)
    if kind == "npy":
        image = npy.decode(sample.image)
        image = image[:, :, None] if image.ndim == 2 else image
        if image.ndim != 3:
            raise DataError(f"an array of shape {image.shape} is not an image")
    else:
        image = np.frombuffer(sample.image, np.uint8)
    mask, mask_storage = (None, None) if sample.mask is None else load_mask(sample.mask)
    if sample.boxes is not None:
        check_boxes(sample.boxes)
    shape = SampleShape(
        kind == "npy",
        "" if mask_storage is None else "file" if mask_storage.kind == "file" else "array",
        "" if kind == "npy" else format or ("jpeg" if kind == "jpg" else "png"),
        bool(sample.boxes),
    )
    return PreparedSample(number, sample, kind, shape, image, mask, mask_storage)


def written_ending(sample: Sample, *, format: str | None) -> str:
    """Return the extension of the file of a variant, so that two samples of different kinds get different names."""
    own = file_ending(sample)
    kind = {"jpeg": "jpg"}.get(own.lower(), own.lower())
    new = "npy" if kind == "npy" else _EXTENSIONS[format or ("jpeg" if kind == "jpg" else "png")]
    return own if new == kind else new


def check_mask_size(prepared: PreparedSample, size: tuple[int, int]) -> None:
    """Raise DataError if a mask does not have the size of its image."""
    if prepared.mask_storage is not None and prepared.mask_storage.size != size:
        height, width = prepared.mask_storage.size
        raise DataError(f"the mask has {height} x {width} pixels, its image {size[0]} x {size[1]}")


def sample_error(failure: Failure, source: PreparedSample, others: Sequence[str] = ()) -> DataError:
    """Return why a sample failed; the cause of an invalid argument may be a mask of the wrong size.

    Args:
        failure: What the program says.
        source: The sample.
        others: Where the samples are that it is joined with.
    """
    if failure.kind == "argument" and source.mask_storage is not None and not source.shape.is_array:
        from pixelmill.codecs.pillow_images import image_size  # workers start faster without Pillow

        check_mask_size(source, image_size(source.sample.image))
    message = failure.message if failure.other is None else f"joined with {others[failure.other]}: {failure.message}"
    event = Event(failure.kind, message, sample=source.number, epoch=0)
    return DataError(message, (event,))


def new_sample(
    prepared: PreparedSample,
    made: ProgramOutput,
    *,
    visibility: float,
    key: str,
    others: Sequence[PreparedSample] = (),
) -> Sample:
    """Return the new sample: the old one with the new image, mask and boxes.

    Args:
        prepared: The old sample.
        made: The output of the program.
        visibility: Boxes of which a smaller fraction is left are dropped.
        key: The key of the new sample.
        others: The samples that it was joined with.
    """
    check_mask_size(prepared, made.before)
    sample, format, mask_storage = prepared.sample, prepared.shape.format, prepared.mask_storage
    parts: list[tuple[PreparedSample, ProgramOutput | OtherOutput]] = [(prepared, made)]
    parts += [(others[part.place], part) for part in made.others]
    objects: list[Objects] = []
    for source, part in parts:
        found = source.sample.boxes
        if found is not None:
            moved = followed_boxes(found, part, visibility=visibility) if found else (found, np.zeros(0, bool))
            objects.append(Objects(source.sample.extra, *moved))
    boxes = joined_boxes([part.boxes for part in objects]) if objects else None
    same = not format or prepared.kind == _EXTENSIONS[format]
    return Sample(
        key,
        made.image.tobytes() if format else npy.encode(np.ascontiguousarray(made.image)),
        sample.extension if same else _EXTENSIONS[format],
        sample.labels,
        sample.class_name,
        boxes,
        None if made.mask is None or mask_storage is None else store_mask(made.mask, mask_storage),
        _extra(sample.extra, made, objects if sample.boxes is not None else (), format=format),
        sample.split,
    )


@dataclass(frozen=True, eq=False)
class Objects:
    """The objects of a sample that are in the new image.

    Attributes:
        extra: The features of the sample.
        boxes: The objects that are left.
        kept: Which of its objects these are.
    """

    extra: Mapping[str, Feature]
    boxes: Boxes
    kept: Array


def _extra(extra: Mapping[str, Feature], made: ProgramOutput, objects: Sequence[Objects], *, format: str) -> Example:
    """Return all features of a record; those about the size and about each object follow the image."""
    new = Example.of(extra)
    if not extra:
        return new
    encoded = bool(format)
    known = {**dict.fromkeys(_HEIGHTS, made.after[0]), **dict.fromkeys(_WIDTHS, made.after[1])}
    if encoded:
        known |= dict.fromkeys(_CHANNELS, 3)
    for name, feature in extra.items():
        if name in known and feature.kind == "int64":
            new[name] = int64_feature([known[name]])
        elif objects and name.startswith(_OBJECT_PREFIXES) and len(feature.values) == len(objects[0].kept):
            _set(new, name, [(part.extra.get(name), part.kept) for part in objects])
        elif encoded and name == FORMAT:
            new[name] = renamed_format(feature, format)
        elif encoded and name == _COLORSPACE and feature.values != [b"RGB"]:
            new[name] = Feature("bytes", [b"RGB"])
    return new


def _set(new: Example, name: str, parts: Sequence[tuple[Feature | None, Array]]) -> None:
    """Set a list of objects: the entries of all samples in the image, or none if one of them has no such list."""
    chosen = []
    for feature, kept in parts:
        if feature is not None and feature.kind is not None and len(feature.values) == len(kept):
            chosen.append(_chosen(feature, kept))
        elif kept.any():
            del new[name]
            return
    if len(chosen) > 1:
        lists = [feature.values for feature in chosen]
        is_bytes = chosen[0].kind == "bytes"
        new[name] = replace(chosen[0], values=list(chain(*lists)) if is_bytes else np.concatenate(lists))
    elif chosen:
        new[name] = chosen[0]


def _chosen(feature: Feature, kept: Array) -> Feature:
    if feature.kind == "bytes":
        return replace(feature, values=[value for value, keep in zip(feature.values, kept, strict=True) if keep])
    return replace(feature, values=np.asarray(feature.values)[kept])
