"""The writer of packs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from pixelmill.errors import DataError, Event
from pixelmill.formats import example
from pixelmill.formats.annotations import MAX_ROW_BYTES, difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.example import Example
from pixelmill.formats.object_rows import own_features
from pixelmill.formats.pack import codec, index_section
from pixelmill.formats.pack.frames import FOOTER_BYTES, HEAD_BYTES, PART_BYTES, Footer, Head, crc, encode_header
from pixelmill.formats.pack.table_builder import TableBuilder
from pixelmill.formats.sample import Sample

KEPT = "kept: "  # start of the counts of images that are stored as they are; the reason follows


class PackWriter(ShardWriter):
    """Writes samples, packs their JPEG images, and counts what was packed.

    Args:
        open_file: Opens a file of the shard.
        names: The file `records`.
        codebook: The codebook to pack with; the default one if None.
    """

    def __init__(
        self, open_file: Callable[[str], Output], names: Mapping[str, str], *, codebook: bytes | None = None
    ) -> None:
        super().__init__(open_file, names)
        data = codec.default_codebook() if codebook is None else codebook
        self._codebook = codec.register(data)
        codebooks = {self._codebook.identity: data}
        self._stack = ExitStack()
        self._stream = self._stack.enter_context(open_file(names["records"]))
        self._builder = TableBuilder(codebooks)
        self._position = 0
        self._counts: Counter[str] = Counter()
        self._put(encode_header(codebooks))

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        del name
        packed = codec.pack(sample.image, self._codebook)
        image = sample.image if isinstance(packed, str) else packed
        row = difference(sample, implied=Sample("", b"", ""))
        for name in ("extra", "objects", "split"):  # these are features
            row.pop(name, None)
        features = Example.of(sample.extra)
        features |= own_features(sample)
        others = example.encode(features) if features or _has_unknown(features) else b""
        parts = (image, sample.mask or b"", encode_row(row), others)
        _check_lengths(sample, parts)
        head = Head(
            image_length=len(image),
            original_length=len(sample.image),
            codebook=0 if isinstance(packed, str) else self._codebook.identity,
            mask_length=len(parts[1]),
            row_length=len(parts[2]),
            features_length=len(parts[3]),
            image_crc=crc(image),
            original_crc=crc(sample.image),
            mask_crc=crc(parts[1]),
            row_crc=crc(parts[2]),
            features_crc=crc(parts[3]),
        )
        self._builder.add(sample, head, offset=self._position)
        padding = bytes(head.size - HEAD_BYTES - sum(map(len, parts)))
        self._put(b"".join((head.encode(self.samples), *parts, padding)))
        self._count(sample, image, packed if isinstance(packed, str) else None)
        self.samples += 1

    def close(self) -> None:
        data = index_section.encode(self._builder.finish())
        begin = self._position
        self._put(data)
        size = self._position + FOOTER_BYTES
        self._put(Footer(crc(data), begin, len(data), self.samples, size).encode())
        self._stack.close()

    @property
    def counts(self) -> Mapping[str, int]:
        """Images that were packed, the bytes of all before and after, and why the others are stored as they are."""
        return dict(self._counts)

    def _count(self, sample: Sample, image: bytes, reason: str | None) -> None:
        self._counts["packed" if reason is None else f"{KEPT}{reason}"] += 1
        self._counts["bytes_before"] += len(sample.image)
        self._counts["bytes_after"] += len(image)

    def _put(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _has_unknown(features: Example) -> bool:
    return bool(features.unknown or features.features_unknown)


def _check_lengths(sample: Sample, parts: Sequence[bytes]) -> None:
    if len(parts[2]) > MAX_ROW_BYTES or max(map(len, parts)) > PART_BYTES:
        sizes = ", ".join(f"{len(part)}" for part in parts)
        message = f"pack: {sample.name!r:.100} is too large: image, mask, annotations, features have {sizes} bytes"
        raise DataError(message, (Event("too_large", message, sample=0, epoch=0),))
