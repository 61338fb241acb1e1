"""A preview before it becomes a picture or a page: all cells, their captions, and what colours mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pixelmill.inspect.looks import Look
from pixelmill.inspect.marks import Colour, colour_of


@dataclass(frozen=True)
class Caption:
    """What stands beneath a picture.

    Attributes:
        first: What it is.
        extent: How large it is.
        number: Which it is.
        name: What it is called, or what its values are.
    """

    first: str
    extent: str = ""
    number: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class Board:
    """Everything that is shown.

    Attributes:
        title: What it is about.
        details: Lines beneath the title.
        groups: The cells, a group for each sample: it first, then its variants.
        group_length: Cells of a whole group.
        size: The longer side of pictures, in pixels.
        columns: Cells in a row.
        names: The names of the boxes' classes by their numbers, as far as they are known.
        labels: Whether there is text.
    """

    title: str
    details: tuple[str, ...]
    groups: Sequence[Sequence[Look]]
    group_length: int
    size: int
    columns: int
    names: Mapping[int, str] = field(default_factory=dict)
    labels: bool = True

    def looks(self) -> Iterator[Look]:
        """Give all cells."""
        for group in self.groups:
            yield from group

    def box_names(self, look: Look) -> list[str]:
        """Name the boxes of a cell: as the sample does, as the classes are called, or by number."""
        if look.boxes is None:
            return []
        if look.box_names:
            return list(look.box_names)
        return [self.names.get(label, str(label)) for label in look.boxes.labels.tolist()]

    def legend(self) -> tuple[list[tuple[Colour, str]], list[tuple[Colour, str]]]:
        """Tell what the colours mean: those of boxes, and those of masks."""
        boxes: dict[int, str] = {}
        masks: set[int] = set()
        for look in self.looks():
            if look.boxes is not None:
                boxes.update(zip(look.boxes.labels.tolist(), self.box_names(look), strict=True))
            masks.update(look.mask_classes)
        named = [(colour_of(number), _numbered(number, name)) for number, name in sorted(boxes.items())]
        return named, [(colour_of(number), str(number)) for number in sorted(masks - {0})]

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Height and width of a cell: no more than the pictures need, so that they stand close."""
        sizes = [look.picture.size for look in self.looks() if look.picture is not None]
        height = max((self.size * min(height / width, 1) for width, height in sizes), default=self.size)
        width = max((self.size * min(width / height, 1) for width, height in sizes), default=self.size)
        return max(round(height), self.size // 2), max(round(width), self.size // 2)

    @property
    def damaged(self) -> int:
        """How many samples, or pieces of the container, something is wrong with."""
        return sum(any(look.problem is not None for look in group) for group in self.groups)


def caption(look: Look) -> Caption:
    """Say what a cell shows."""
    extent = "" if look.size is None else f"{look.size[0]} x {look.size[1]}"
    if look.number < 0:
        where = "" if look.problem is None or look.problem.offset is None else f"byte {look.problem.offset}"
        return Caption("lost piece", where, "", look.key)
    if look.variant and look.picture is None:
        return Caption("no variants", "", f"of #{look.number}")
    if look.variant:
        return Caption(f"variant {look.variant}", extent, f"of #{look.number}", look.note)
    name = look.key if look.label else ""
    return Caption(look.label or look.key, extent, f"#{look.number}", look.note or name)


def _numbered(number: int, name: str) -> str:
    return name if name == str(number) else f"{number} {name}"
