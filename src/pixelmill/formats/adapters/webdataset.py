"""WebDataset tars as a dataset: `key.jpg`, `key.cls`, `key.mask.png`, and the rest in `key.json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import facts, storage, webdataset
from pixelmill.formats.adapters.records import check_sources
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.example import Example, Feature, bytes_feature
from pixelmill.formats.index import Index
from pixelmill.formats.kept_scans import scan_tar
from pixelmill.formats.names import UniqueNames, is_plain
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Label, Sample, image_type
from pixelmill.formats.tar import BLOCK
from pixelmill.formats.webdataset import Member, TarSample

_OWN = "pixelmill"  # the entry of key.json that is ours
_MEMBER = "member/"  # features that hold members of other kinds
_MASKS = ("mask", "seg")
_UNKNOWN = "bin"
_LONGEST_CLASS = 18  # digits that surely fit into 64 bits


class WebDatasetDataset(Dataset):
    """The samples of one or several archives.

    Args:
        source: What the user named.
        files: The archives.
    """

    format = "webdataset"

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="webdataset")
        paths = [storage.local_path(name) for name in self._names]
        scans = [scan_tar(path) for path in paths]
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
            np.array([_extent(sample) for sample in self._samples], np.int64),
            names=self._names,
        )

    def sample(self, number: int) -> Sample:
        group = self._samples[number]
        kinds = _kinds(group)
        if "image" not in kinds:
            endings = ", ".join(group.extensions())
            raise self.error(number, "not_an_image", f"sample {group.key!r} has no image among {endings}")
        extension = kinds["image"][0]
        parts = {name: self._read(number, member) for name, (_, member) in kinds.items()}
        labels: tuple[Label, ...] = ()
        if "cls" in parts:
            labels = (self._class_number(number, parts["cls"]),)
        extra = Example({f"{_MEMBER}{name}": bytes_feature(parts[name]) for name in parts if name not in _KNOWN})
        implied = Sample(group.key, parts["image"], extension, labels, mask=parts.get("mask"), extra=extra)
        return self._with_json(number, implied, parts["json"]) if "json" in parts else implied

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        return "members " + ", ".join(dict.fromkeys(e for s in self._samples[:16] for e in s.extensions()))

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self._names)

    def _read(self, number: int, member: Member) -> bytes:
        path, _ = self.place(number)
        try:
            data = self._open.read(path, member.offset, member.size)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        if len(data) != member.size:
            message = f"{member.name}: {member.size} bytes are announced, and {len(data)} are there"
            raise self.error(number, "truncated", message)
        return data

    def _class_number(self, number: int, data: bytes) -> int:
        text = data.strip()
        if len(text) > _LONGEST_CLASS or not text.removeprefix(b"-").isdigit():
            raise self.error(number, "corrupt", f"the class is not a whole number of 64 bits: {text[:40]!r}")
        return int(text)

    def _with_json(self, number: int, implied: Sample, data: bytes) -> Sample:
        path, offset = self.locate(number)
        where = f"{implied.key}.json of {path} at byte {offset}"
        row = facts.decode_row(data, where=where) if data.lstrip()[:1] == b"{" else {}
        own = row.get(_OWN)
        if not isinstance(own, dict):  # somebody else's JSON is kept as it is
            extra = Example({**implied.extra, f"{_MEMBER}json": bytes_feature(data)})
            return Sample(**{**vars(implied), "extra": extra})
        sample = facts.apply(own, implied=implied, where=where)
        return Sample(**{**vars(sample), "extra": Example({**implied.extra, **sample.extra})})


class WebDatasetWriter(ShardWriter):
    """Writes an archive and its index.

    Args:
        open_file: Opens a file of the shard.
        names: `records` and `index`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        stream = self._stack.enter_context(open_file(names["records"]))
        self._writer = webdataset.TarWriter(stream)
        self._unique = UniqueNames()
        self._written: list[TarSample] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        key = self._unique.take(name or sample.key, number=self.samples, is_allowed=is_tar_key)
        extension = sample.extension
        if extension.lower() not in IMAGE_EXTENSIONS:
            extension = image_type(sample.image) or _UNKNOWN
        members = [(extension, sample.image)]
        labels = sample.labels if len(sample.labels) == 1 and isinstance(sample.labels[0], int) else ()
        if labels:
            members.append(("cls", str(labels[0]).encode()))
        taken = {extension, *_KNOWN}
        others = {n: f for n, f in sample.extra.items() if _is_member(n, f, taken) or n == f"{_MEMBER}json"}
        foreign = others.pop(f"{_MEMBER}json", None)
        rest = {n: f for n, f in sample.extra.items() if n not in others and n != f"{_MEMBER}json"}
        row = facts.difference(Sample(**{**vars(sample), "extra": rest}), implied=Sample(key, b"", extension, labels))
        if foreign is not None and not row:
            members.append(("json", foreign.values[0]))
        elif row:
            if foreign is not None:
                row.setdefault("extra", {})[f"{_MEMBER}json"] = facts.feature_to_json(foreign)
            members.append(("json", facts.encode_row({_OWN: row})))
        if sample.mask is not None:
            members.append((f"mask.{image_type(sample.mask) or _UNKNOWN}", sample.mask))
        members += [(n.removeprefix(_MEMBER), others[n].values[0]) for n in sorted(others)]
        written = [self._writer.write(f"{key}.{ending}", data) for ending, data in members]
        self._written.append(TarSample(key, tuple(written)))
        self.samples += 1

    def close(self) -> None:
        self._writer.close()
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write(webdataset.index_text(self._written))


_KNOWN = ("image", "mask", "cls", "json")


def _is_member(name: str, feature: Feature, taken: set[str]) -> bool:
    """Tell whether a feature can be a member of its own beside those that are there."""
    ending = name.removeprefix(_MEMBER)
    is_text = is_plain(ending) and "/" not in ending and not any(c.isspace() for c in ending)
    is_image = ending.lower().rpartition(".")[2] in (*IMAGE_EXTENSIONS, _UNKNOWN)
    single = feature.kind == "bytes" and len(feature) == 1
    return name.startswith(_MEMBER) and single and is_text and not is_image and ending not in taken


def is_tar_key(name: str) -> bool:
    """Tell whether a name can be the key of a sample: no dot in its last part, and no blanks."""
    return is_plain(name) and "." not in name.rpartition("/")[2] and not any(c.isspace() for c in name)


def _kinds(group: TarSample) -> dict[str, tuple[str, Member]]:
    """Find the image, the mask and the rest among the members of a sample, each with its extension."""
    kinds: dict[str, tuple[str, Member]] = {}
    for extension, member in zip(group.extensions(), group.members, strict=True):
        first, _, _ = extension.lower().partition(".")
        last = extension.lower().rpartition(".")[2]
        if first in _MASKS and last in (*IMAGE_EXTENSIONS, _UNKNOWN) and first != last:
            kinds.setdefault("mask", (extension, member))
        elif last in (*IMAGE_EXTENSIONS, _UNKNOWN) and "image" not in kinds:
            kinds["image"] = (extension, member)
        else:
            kinds.setdefault(extension, (extension, member))
    return kinds


def _extent(sample: TarSample) -> int:
    last = sample.members[-1]
    return last.offset + last.size + -last.size % BLOCK - sample.members[0].header
