"""A line of a list of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pixelmill.formats.annotations import Row
from pixelmill.formats.sample import Label


@dataclass(frozen=True)
class Entry:
    """A line of a list.

    Attributes:
        path: The path of the image as it stands in the list.
        labels: Its labels.
        where: The list and the line, for messages.
        mask: The path of the mask.
        row: Everything else, as a row of annotations.
        fault: What is wrong with the line, if it cannot be used; the other fields are then as far as they are known.
        in_pixels: Whether the boxes of the row are pixels of the image instead of fractions.
    """

    path: str
    labels: tuple[Label, ...]
    where: str
    mask: str | None = None
    row: Row = field(default_factory=dict)
    fault: str | None = None
    in_pixels: bool = False


@dataclass(frozen=True)
class Content:
    """What a list holds.

    Attributes:
        entries: Its lines.
        classes: The names of classes by label, if the list numbers its names.
        paired: The names of labels, if it has both.
        remarks: What is to know about it, in one line each.
    """

    entries: Sequence[Entry]
    classes: tuple[str, ...] = ()
    paired: Mapping[int, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
