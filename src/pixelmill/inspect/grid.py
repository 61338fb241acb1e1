"""A preview before it becomes a picture or a page: all cells, their captions, and what colours mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pixelmill.inspect.overlays import Colour, colour_of
from pixelmill.inspect.thumbnails import Thumbnail


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
class PreviewGrid:
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
    groups: Sequence[Sequence[Thumbnail]]
    group_length: int
    size: int
    columns: int
    names: Mapping[int, str] = field(default_factory=dict)
    labels: bool = True

    def cells(self) -> Iterator[Thumbnail]:
        """Give all cells."""
        for group in self.groups:
            yield from group

    def box_names(self, cell: Thumbnail) -> list[str]:
        """Name the boxes of a cell: as the sample does, as the classes are called, or by number."""
        if cell.boxes is None:
            return []
        if cell.box_names:
            return list(cell.box_names)
        return [self.names.get(label, str(label)) for label in cell.boxes.labels.tolist()]

    def legend(self) -> tuple[list[tuple[Colour, str]], list[tuple[Colour, str]]]:
        """Tell what the colours mean: those of boxes, and those of masks."""
        boxes: dict[int, str] = {}
        masks: set[int] = set()
        for cell in self.cells():
            if cell.boxes is not None:
                boxes.update(zip(cell.boxes.labels.tolist(), self.box_names(cell), strict=True))
            masks.update(cell.mask_classes)
        named = [(colour_of(number), _numbered(number, name)) for number, name in sorted(boxes.items())]
        return named, [(colour_of(number), str(number)) for number in sorted(masks - {0})]

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Height and width of a cell: no more than the pictures need, so that they stand close."""
        sizes = [cell.image.size for cell in self.cells() if cell.image is not None]
        height = max((self.size * min(height / width, 1) for width, height in sizes), default=self.size)
        width = max((self.size * min(width / height, 1) for width, height in sizes), default=self.size)
        return max(round(height), self.size // 2), max(round(width), self.size // 2)

    @property
    def damaged(self) -> int:
        """How many samples, or pieces of the container, something is wrong with."""
        return sum(any(cell.problem is not None for cell in group) for group in self.groups)


def caption(cell: Thumbnail) -> Caption:
    """Say what a cell shows."""
    extent = "" if cell.size is None else f"{cell.size[0]} x {cell.size[1]}"
    if cell.number < 0:
        where = "" if cell.problem is None or cell.problem.offset is None else f"byte {cell.problem.offset}"
        return Caption("lost piece", where, "", cell.key)
    if cell.variant and cell.image is None:
        return Caption("no variants", "", f"of #{cell.number}")
    if cell.variant:
        return Caption(f"variant {cell.variant}", extent, f"of #{cell.number}", cell.note)
    name = cell.key if cell.label else ""
    return Caption(cell.label or cell.key, extent, f"#{cell.number}", cell.note or name)


def _numbered(number: int, name: str) -> str:
    return name if name == str(number) else f"{number} {name}"
