"""The columns of a pack: what is known about every sample without reading it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pixelmill import _core
from pixelmill.formats.index import Array, Ragged
from pixelmill.formats.pack.frames import ALIGNMENT, HEAD_BYTES, Head
from pixelmill.formats.sample import Boxes, Label, Sample

_HEADS = {name: "<u8" if name in ("codebook",) or name.endswith("_length") else "<u4" for name in Head._fields}
INT, FLOAT = 0, 1  # kinds of labels
NO_BOXES, BARE, LABELED = 0, 1, 2  # kinds of boxes

# Columns with one element for each sample, those with one more (where the items of a sample start), and the items.
EACH = {"offset": "<u8", **_HEADS, "extension": "<u4", "class": "<u4", "boxes_kind": "<u1"}
STARTS = {"key_start": "key", "label_start": "label", "box_start": "box_label"}
LISTS = {"extension_start": "extension_text", "class_start": "class_text", "codebook_start": "codebook_data"}
_ITEMS = {
    "key": "<u1",
    "extension_text": "<u1",
    "class_text": "<u1",
    "label_kind": "<u1",
    "label": "<i8",
    "box": "<f4",
    "box_label": "<i8",
    "codebook_identity": "<u8",
    "codebook_data": "<u1",
}
_CODEBOOKS = ("codebook_identity", "codebook_start", "codebook_data")
COLUMNS: Mapping[str, str] = EACH | dict.fromkeys((*STARTS, *LISTS), "<u8") | _ITEMS

Columns = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of one file; they have been checked."""

    columns: Columns

    def __len__(self) -> int:
        return len(self.columns["offset"])

    def head(self, number: int) -> Head:
        """Return the lengths and checksums of a sample."""
        return Head(*(int(self.columns[name][number]) for name in Head._fields))

    def sizes(self) -> Array:
        """Return the bytes of all samples, with heads and padding."""
        lengths = [self.columns[f"{part}_length"] for part in ("image", "mask", "row", "features")]
        return _core.pack_sizes(lengths, head=HEAD_BYTES, alignment=ALIGNMENT)

    def outline(self, number: int) -> Sample:
        """Return a sample without image, mask and features."""
        columns = self.columns
        kind = int(columns["class"][number])
        return Sample(
            self._text("key_start", number),
            b"",
            self._text("extension_start", int(columns["extension"][number])),
            self._labels(number),
            self._text("class_start", kind - 1) if kind else None,
            self._boxes(number),
        )

    def values(self, name: str) -> Ragged | None:
        """Return a column of `formats.columns` for all samples; None if some of them need to be looked at."""
        columns = self.columns
        if name == "corners":
            return None  # outlines are in the features of samples
        if name == "boxes":
            return Ragged(columns["box"].reshape(-1, 4).astype(np.float32), columns["box_start"].astype(np.int64))
        if name == "box_label":
            bare = (columns["boxes_kind"] == BARE).any()  # boxes without classes have no rows here
            starts = columns["box_start"].astype(np.int64)
            return None if bare else Ragged(columns["box_label"].astype(np.int64), starts)
        labels, floats = columns["label"].astype(np.int64), columns["label_kind"] == FLOAT
        if name == "label" and floats.any():
            return None
        rows = labels if name == "label" else np.where(floats, columns["label"].view("<f8"), labels).astype(np.float32)
        return Ragged(rows, columns["label_start"].astype(np.int64))

    def codebooks(self) -> dict[int, bytes]:
        """Return the codebooks by identity."""
        identities = self.columns["codebook_identity"].tolist()
        return {identity: self._bytes("codebook_start", number) for number, identity in enumerate(identities)}

    def without_codebooks(self) -> Table:
        """Return the samples alone, in memory of their own: a codebook takes more than a hundred samples."""
        return Table({name: column.copy() for name, column in self.columns.items() if name not in _CODEBOOKS})

    def _span(self, starts: str, number: int) -> slice:
        found = self.columns[starts]
        return slice(int(found[number]), int(found[number + 1]))

    def _bytes(self, starts: str, number: int) -> bytes:
        items = self.columns[(STARTS | LISTS)[starts]]
        return items[self._span(starts, number)].tobytes()

    def _text(self, starts: str, number: int) -> str:
        return os.fsdecode(self._bytes(starts, number))

    def _labels(self, number: int) -> tuple[Label, ...]:
        span = self._span("label_start", number)
        values, kinds = self.columns["label"][span], self.columns["label_kind"][span]
        if not kinds.any():
            return tuple(values.tolist())
        floats = values.view("<f8").tolist()
        return tuple(floats[place] if kind else int(values[place]) for place, kind in enumerate(kinds.tolist()))

    def _boxes(self, number: int) -> Boxes | None:
        kind = int(self.columns["boxes_kind"][number])
        if kind == NO_BOXES:
            return None
        span = self._span("box_start", number)
        ltrb = self.columns["box"].reshape(-1, 4)[span].astype(np.float32)
        return Boxes(ltrb, self.columns["box_label"][span].astype(np.int64) if kind == LABELED else None)
