"""Collects the columns of a pack, sample by sample."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pixelmill.formats.index import Array
from pixelmill.formats.pack.frames import Head
from pixelmill.formats.pack.table import BARE, COLUMNS, EACH, FLOAT, INT, LABELED, NO_BOXES, STARTS, Table
from pixelmill.formats.sample import Sample


@dataclass
class TableBuilder:
    """Collects the columns while samples are written, or found again in a damaged file."""

    codebooks: Mapping[int, bytes]
    _each: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in EACH})
    _starts: dict[str, list[int]] = field(default_factory=lambda: {name: [0] for name in STARTS})
    _keys: list[bytes] = field(default_factory=list)
    _extensions: dict[bytes, int] = field(default_factory=dict)
    _classes: dict[bytes, int] = field(default_factory=dict)
    _labels: list[bytes] = field(default_factory=list)
    _label_kinds: list[int] = field(default_factory=list)
    _boxes: list[Array] = field(default_factory=list)
    _box_labels: list[int] = field(default_factory=list)

    def add(self, sample: Sample, head: Head, *, offset: int) -> None:
        """Add a sample."""
        key, extension = os.fsencode(sample.key), os.fsencode(sample.extension)
        name = os.fsencode(sample.class_name or "")
        boxes = sample.boxes
        values = {
            **head._asdict(),
            "offset": offset,
            "extension": self._extensions.setdefault(extension, len(self._extensions)),
            "class": self._classes.setdefault(name, len(self._classes) + 1) if name else 0,
            "boxes_kind": NO_BOXES if boxes is None else BARE if boxes.labels is None else LABELED,
        }
        for column, value in values.items():
            self._each[column].append(value)
        self._keys.append(key)
        self._starts["key_start"].append(self._starts["key_start"][-1] + len(key))
        for label in sample.labels:
            is_int = isinstance(label, int)
            self._labels.append(struct.pack("<q" if is_int else "<d", label))
            self._label_kinds.append(INT if is_int else FLOAT)
        self._starts["label_start"].append(len(self._labels))
        if boxes is not None:
            self._boxes.append(boxes.ltrb)
            self._box_labels += [0] * len(boxes) if boxes.labels is None else boxes.labels.tolist()
        self._starts["box_start"].append(len(self._box_labels))

    def finish(self) -> Table:
        """Return the table of all samples."""
        found: dict[str, Array] = {}
        for name, values in (self._each | self._starts).items():
            found[name] = np.array(values, COLUMNS[name])
        found["key"] = _joined(self._keys)
        found |= _texts("extension", list(self._extensions)) | _texts("class", list(self._classes))
        found["label_kind"] = np.array(self._label_kinds, "<u1")
        found["label"] = np.frombuffer(b"".join(self._labels), "<i8")
        found["box"] = np.concatenate([np.empty(0, "<f4"), *(rows.reshape(-1) for rows in self._boxes)]).astype("<f4")
        found["box_label"] = np.array(self._box_labels, "<i8")
        kept = sorted(self.codebooks.items())
        found["codebook_identity"] = np.array([identity for identity, _ in kept], "<u8")
        found["codebook_start"] = _starts([data for _, data in kept])
        found["codebook_data"] = _joined([data for _, data in kept])
        return Table(found)


def _texts(name: str, texts: Sequence[bytes]) -> dict[str, Array]:
    return {f"{name}_start": _starts(texts), f"{name}_text": _joined(texts)}


def _starts(pieces: Sequence[bytes]) -> Array:
    return np.cumsum([0, *map(len, pieces)]).astype("<u8")


def _joined(pieces: Sequence[bytes]) -> Array:
    return np.frombuffer(b"".join(pieces), "<u1")
