"""The writer of WebDataset archives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from pixelmill.formats.annotations import difference, encode_row, feature_to_json
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.example import Feature
from pixelmill.formats.sample import IMAGE_EXTENSIONS, Sample, image_type
from pixelmill.formats.webdataset.dataset import KNOWN, MEMBER, OWN, UNKNOWN
from pixelmill.formats.webdataset.index_file import index_text
from pixelmill.formats.webdataset.scan import TarSample
from pixelmill.formats.webdataset.tar_writer import TarWriter
from pixelmill.storage.file_names import UniqueNames, is_plain


class WebDatasetWriter(ShardWriter):
    """Writes an archive and its index.

    Args:
        open_file: Opens a file of the shard.
        names: The files `records` and `index`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        stream = self._stack.enter_context(open_file(names["records"]))
        self._writer = TarWriter(stream)
        self._unique = UniqueNames()
        self._written: list[TarSample] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        key = self._unique.take(name or sample.key, number=self.samples, is_allowed=is_tar_key)
        extension = sample.extension
        if extension.lower() not in IMAGE_EXTENSIONS:
            extension = image_type(sample.image) or UNKNOWN
        members = [(extension, sample.image)]
        labels = sample.labels if len(sample.labels) == 1 and isinstance(sample.labels[0], int) else ()
        if labels:
            members.append(("cls", str(labels[0]).encode()))
        taken = {extension, *KNOWN}
        others = {n: f for n, f in sample.extra.items() if _is_member(n, f, taken) or n == f"{MEMBER}json"}
        foreign = others.pop(f"{MEMBER}json", None)
        rest = {n: f for n, f in sample.extra.items() if n not in others and n != f"{MEMBER}json"}
        row = difference(Sample(**{**vars(sample), "extra": rest}), implied=Sample(key, b"", extension, labels))
        if foreign is not None and not row:
            members.append(("json", foreign.values[0]))
        elif row:
            if foreign is not None:
                row.setdefault("extra", {})[f"{MEMBER}json"] = feature_to_json(foreign)
            members.append(("json", encode_row({OWN: row})))
        if sample.mask is not None:
            members.append((f"mask.{image_type(sample.mask) or UNKNOWN}", sample.mask))
        members += [(n.removeprefix(MEMBER), others[n].values[0]) for n in sorted(others)]
        written = [self._writer.write(f"{key}.{ending}", data) for ending, data in members]
        self._written.append(TarSample(key, tuple(written)))
        self.samples += 1

    def close(self) -> None:
        self._writer.close()
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write(index_text(self._written))


def _is_member(name: str, feature: Feature, taken: set[str]) -> bool:
    """Whether a feature can be a member of its own: its extension is free and would not be taken for an image."""
    ending = name.removeprefix(MEMBER)
    is_text = is_plain(ending) and "/" not in ending and not any(c.isspace() for c in ending)
    is_image = ending.lower().rpartition(".")[2] in (*IMAGE_EXTENSIONS, UNKNOWN)
    single = feature.kind == "bytes" and len(feature) == 1
    return name.startswith(MEMBER) and single and is_text and not is_image and ending not in taken


def is_tar_key(name: str) -> bool:
    """Whether a name can be the key of a sample: no dot in its last part, and no blanks."""
    return is_plain(name) and "." not in name.rpartition("/")[2] and not any(c.isspace() for c in name)
