"""The content of a preview, before it is drawn as an image or a page: cells, captions and legend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pixelmill.inspect.overlays import Color, color_of
from pixelmill.inspect.thumbnails import Thumbnail


@dataclass(frozen=True)
class Caption:
    """The text below an image.

    Attributes:
        first: Its label, or what it is.
        extent: Its size.
        number: Its number.
        name: Its name, or a note on its values.
    """

    first: str
    extent: str = ""
    number: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class PreviewGrid:
    """Everything that is shown.

    Attributes:
        title: The title.
        details: Lines below the title.
        groups: The cells, one group per sample: the original first, then its variants.
        group_length: Cells of a complete group.
        size: The longer side of images, in pixels.
        columns: Cells in a row.
        names: Class names of boxes by number, if known.
        labels: Whether to write text.
        duplicates: For each group, the number of the samples that look alike, from 1; 0 if it looks like no other.
    """

    title: str
    details: tuple[str, ...]
    groups: Sequence[Sequence[Thumbnail]]
    group_length: int
    size: int
    columns: int
    names: Mapping[int, str] = field(default_factory=dict)
    labels: bool = True
    duplicates: Sequence[int] = ()

    def cells(self) -> Iterator[Thumbnail]:
        """Yield all cells."""
        for group in self.groups:
            yield from group

    def box_names(self, cell: Thumbnail) -> list[str]:
        """Return the names of the boxes of a cell: those of the sample, of the classes, or numbers."""
        if cell.boxes is None:
            return []
        if cell.box_names:
            return list(cell.box_names)
        if cell.boxes.labels is None:
            return [""] * len(cell.boxes)
        return [self.names.get(label, str(label)) for label in cell.boxes.labels.tolist()]

    def legend(self) -> tuple[list[tuple[Color, str]], list[tuple[Color, str]]]:
        """Return the meaning of the colors of boxes, and of those of masks."""
        boxes: dict[int, str] = {}
        masks: set[int] = set()
        for cell in self.cells():
            if cell.boxes is not None and cell.boxes.labels is not None:
                boxes.update(zip(cell.boxes.labels.tolist(), self.box_names(cell), strict=True))
            masks.update(cell.mask_classes)
        named = [(color_of(number), _numbered(number, name)) for number, name in sorted(boxes.items())]
        return named, [(color_of(number), str(number)) for number in sorted(masks - {0})]

    @cached_property
    def cell(self) -> tuple[int, int]:
        """Height and width of a cell: no more than the images need."""
        sizes = [cell.shown_size for cell in self.cells() if cell.shown_size is not None]
        height = max((self.size * min(height / width, 1) for height, width in sizes), default=self.size)
        width = max((self.size * min(width / height, 1) for height, width in sizes), default=self.size)
        return max(round(height), self.size // 2), max(round(width), self.size // 2)

    @property
    def damaged(self) -> int:
        """Number of damaged samples or pieces of the container."""
        return sum(any(cell.problem is not None for cell in group) for group in self.groups)


def caption(cell: Thumbnail) -> Caption:
    """Return the caption of a cell."""
    extent = "" if cell.size is None else f"{cell.size[0]} x {cell.size[1]}"
    if cell.number < 0:
        where = "" if cell.problem is None or cell.problem.offset is None else f"byte {cell.problem.offset}"
        return Caption("lost piece", where, "", cell.key)
    if cell.variant and cell.shown_size is None:
        return Caption("no variants", "", f"of #{cell.number}")
    if cell.variant:
        return Caption(f"variant {cell.variant}", extent, f"of #{cell.number}", cell.note)
    name = cell.key if cell.label else ""
    return Caption(cell.label or cell.key, extent, f"#{cell.number}", cell.note or name)


def _numbered(number: int, name: str) -> str:
    return name if name == str(number) else f"{number} {name}"
