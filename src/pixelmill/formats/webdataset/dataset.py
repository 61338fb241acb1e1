"""WebDataset archives as a dataset: `key.jpg`, `key.cls`, `key.mask.png`, and annotations in `key.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import apply_row, decode_row
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.index import Index
from pixelmill.formats.record_files import check_sources
from pixelmill.formats.remote_records import scan_archives
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Label, Sample
from pixelmill.formats.webdataset.index_file import listed
from pixelmill.formats.webdataset.scan import TarSample, cached_scan
from pixelmill.formats.webdataset.tar import BLOCK, Member, is_header_of
from pixelmill.storage.ranges import Range

OWN = "pixelmill"  # our entry in key.json
MEMBER = "member/"  # prefix of the features that hold members of other kinds
KNOWN = ("image", "mask", "cls", "json")
UNKNOWN = "bin"  # the extension of an image of unknown type
_MASKS = ("mask", "seg")
_LONGEST_CLASS = 18  # digits that always fit into 64 bits

Kinds = Mapping[str, tuple[str, Member]]  # members of a sample by role, each with its extension


class WebDatasetDataset(Dataset):
    """The samples of one or several archives.

    Args:
        source: The dataset as the user named it.
        files: The archives.
    """

    format = "webdataset"
    values_apart = True

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="webdataset")
        scans, versions = scan_archives(self._names, listed=listed, scan=cached_scan)
        paths = [found.path for found in scans]
        for found in scans:
            wrong = [fault for fault in found.faults if fault.kind == "wrong_format" and not found.samples]
            if wrong:
                raise DataError(str(wrong[0]), (wrong[0].event(0),))
        self._open = storage.OpenFiles()
        self.faults = tuple(fault for found in scans for fault in found.faults)
        self._samples = [sample for found in scans for sample in found.samples]
        self.index = Index(
            paths,
            np.repeat(np.arange(len(paths)), [len(found.samples) for found in scans]),
            np.array([sample.members[0].header for sample in self._samples], np.int64),
            np.array([_extent(sample.members)[1] for sample in self._samples], np.int64),
            names=self._names,
            versions=versions,
        )

    def sample(self, number: int) -> Sample:
        group = self._samples[number]
        kinds = _kinds(group)
        if "image" not in kinds:
            endings = ", ".join(group.extensions())
            raise self.error(number, "not_an_image", f"sample {group.key!r} has no image among {endings}")
        extension = kinds["image"][0]
        parts = self._contents(number, kinds, within=group.members)
        labels: tuple[Label, ...] = ()
        if "cls" in parts:
            labels = (self._class_number(number, parts["cls"]),)
        extra = Example({f"{MEMBER}{name}": bytes_feature(parts[name]) for name in parts if name not in KNOWN})
        implied = Sample(group.key, parts["image"], extension, labels, mask=parts.get("mask"), extra=extra)
        return self._with_json(number, implied, parts["json"]) if "json" in parts else implied

    def outline(self, number: int) -> Sample:
        group = self._samples[number]
        kinds = _kinds(group)
        extension = kinds["image"][0] if "image" in kinds else ""
        small = _small(kinds)
        parts = self._contents(number, small, within=_members(small))
        labels = (self._class_number(number, parts["cls"]),) if "cls" in parts else ()
        implied = Sample(group.key, b"", extension, labels)
        return self._with_json(number, implied, parts["json"]) if "json" in parts else implied

    def has_mask(self, number: int) -> bool:
        return "mask" in _kinds(self._samples[number])

    def _outline_parts(self, number: int) -> Sequence[Range]:
        members = _members(_small(_kinds(self._samples[number])))
        return [Range(self.place(number)[0], *_extent(members))] if members else []

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        found = [_kinds(group).get(what) for group in self._samples]
        places = [(0, 0) if kind is None else (kind[1].offset, kind[1].size) for kind in found]
        offsets, lengths = np.array(places, np.int64).reshape(-1, 2).T
        lost: dict[int, tuple[str, str]] = {}
        if what == "image":
            missing = [number for number, kind in enumerate(found) if kind is None]
            lost = {
                number: ("not_an_image", f"sample {self._samples[number].key!r} has no image") for number in missing
            }
        return replace(self.index, offsets=offsets.copy(), lengths=lengths.copy(), names=(), lost=lost)

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        return "members " + ", ".join(dict.fromkeys(e for s in self._samples[:16] for e in s.extensions()))

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _contents(self, number: int, kinds: Kinds, *, within: Sequence[Member]) -> dict[str, bytes]:
        """Read members of a sample.

        Args:
            number: The sample.
            kinds: The members to read.
            within: Neighbors, from the first to the last, that are read by one request if the archive is at an address.
        """
        path, _ = self.place(number)
        if not storage.is_remote(path):
            return {name: self._read(number, path, member) for name, (_, member) in kinds.items()}
        if not within:
            return {}
        begin, length = _extent(within)
        try:
            data = self._ranges.view(path, begin, length)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        found: dict[str, bytes] = {}
        for name, (_, member) in kinds.items():
            at = member.offset - begin
            found[name] = bytes(data[at : at + member.size])
            if not is_header_of(bytes(data[at - BLOCK : at]), member) or len(found[name]) < member.size:
                where = f"{member.name} is not at byte {member.header}, where the index file beside the archive has it"
                raise self.error(number, "corrupt", f"{where}: one of them is damaged, or of another dataset")
        return found

    def _read(self, number: int, path: str, member: Member) -> bytes:
        try:
            data = self._open.read(path, member.offset, member.size)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        if len(data) != member.size:
            message = f"{member.name}: {member.size} bytes are declared, but only {len(data)} exist"
            raise self.error(number, "truncated", message)
        return data

    def _class_number(self, number: int, data: bytes) -> int:
        text = data.strip()
        if len(text) > _LONGEST_CLASS or not text.removeprefix(b"-").isdigit():
            raise self.error(number, "corrupt", f"the class is not an integer of 64 bits: {text[:40]!r}")
        return int(text)

    def _with_json(self, number: int, implied: Sample, data: bytes) -> Sample:
        path, offset = self.locate(number)
        where = f"{implied.key}.json of {path} at byte {offset}"
        row = decode_row(data, where=where) if data.lstrip()[:1] == b"{" else {}
        own = row.get(OWN)
        if not isinstance(own, dict):  # JSON of another program is kept verbatim
            extra = Example({**implied.extra, f"{MEMBER}json": bytes_feature(data)})
            return Sample(**{**vars(implied), "extra": extra})
        sample = apply_row(own, implied=implied, where=where)
        return Sample(**{**vars(sample), "extra": Example({**implied.extra, **sample.extra})})


def _small(kinds: Kinds) -> Kinds:
    """Return the members that describe a sample."""
    return {name: kinds[name] for name in ("cls", "json") if name in kinds}


def _members(kinds: Kinds) -> Sequence[Member]:
    return sorted((member for _, member in kinds.values()), key=lambda member: member.header)


def _kinds(group: TarSample) -> Kinds:
    """Return the members of a sample; roles are image, mask, and the extensions of others."""
    kinds: dict[str, tuple[str, Member]] = {}
    for extension, member in zip(group.extensions(), group.members, strict=True):
        first, _, _ = extension.lower().partition(".")
        last = extension.lower().rpartition(".")[2]
        if first in _MASKS and last in (*IMAGE_EXTENSIONS, UNKNOWN) and first != last:
            kinds.setdefault("mask", (extension, member))
        elif last in (*IMAGE_EXTENSIONS, UNKNOWN) and "image" not in kinds:
            kinds["image"] = (extension, member)
        else:
            kinds.setdefault(extension, (extension, member))
    return kinds


def _extent(members: Sequence[Member]) -> tuple[int, int]:
    """Return the first byte of neighbors, with headers, and the number of their bytes."""
    first, last = members[0], members[-1]
    return first.header, last.offset + last.size - first.header
