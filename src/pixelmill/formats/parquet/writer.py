"""The writer of Parquet files, as Hugging Face datasets read them: `image` with bytes and path, `label`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.parquet.dataset import OWN
from pixelmill.formats.parquet.files import pyarrow
from pixelmill.formats.sample import Sample, split_name

_GROUP_BYTES = 32 << 20
_GROUP_ROWS = 1000


class _Stream:
    """An output as pyarrow takes it."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        content = bytes(data)
        self._output.write(content)
        self._position += len(content)
        return len(content)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """Do nothing: the output is flushed when it is closed."""

    def close(self) -> None:
        self.closed = True


class ParquetWriter(ShardWriter):
    """Writes rows in groups of some megabytes.

    Args:
        open_file: Opens a file of the shard.
        names: The file `records`.
        classes: The names of classes by label, for the schema; None if they are unknown.
    """

    def __init__(
        self, open_file: Callable[[str], Output], names: Mapping[str, str], *, classes: Sequence[str] | None = None
    ) -> None:
        super().__init__(open_file, names)
        self._pyarrow = pyarrow(names["records"])
        self._classes = [_readable(name) for name in classes or ()]
        self._stack = ExitStack()
        self._stream = _Stream(self._stack.enter_context(open_file(names["records"])))
        self._schema = self._described()
        # Images do not repeat, and the smallest and largest image of a page would be stored again as its statistics.
        options = {"write_page_checksum": True, "use_dictionary": False, "write_statistics": ["label"]}
        self._writer = self._pyarrow.parquet.ParquetWriter(self._stream, self._schema, **options)
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0

    def _described(self) -> Any:
        module = self._pyarrow
        image = module.struct([("bytes", module.binary()), ("path", module.string())])
        fields = [("image", image), ("label", module.int64()), ("mask", image), (OWN, module.string())]
        label = (
            {"_type": "ClassLabel", "names": self._classes} if self._classes else {"dtype": "int64", "_type": "Value"}
        )
        features = {"image": {"_type": "Image"}, "label": label, "mask": {"_type": "Image"}}
        features[OWN] = {"dtype": "string", "_type": "Value"}
        about = json.dumps({"info": {"features": features}})
        return module.schema(fields, metadata={"huggingface": about})

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        del name
        is_plain = len(sample.labels) == 1 and isinstance(sample.labels[0], int)
        label = sample.labels[0] if is_plain else None
        is_class = isinstance(label, int) and 0 <= label < len(self._classes)
        if self._classes and not is_class:
            label = None
        path = _readable(sample.name) or "image"
        key, extension = split_name(path)
        named = self._classes[label] if is_class and isinstance(label, int) else None
        implied = Sample(key, b"", extension, () if label is None else (label,), named)
        row = difference(sample, implied=implied)
        mask = None if sample.mask is None else {"bytes": sample.mask, "path": None}
        own = encode_row(row).decode("ascii") if row else None
        cells = {"image": {"bytes": sample.image, "path": path}, "label": label, "mask": mask, OWN: own}
        self._rows.append(cells)
        self._bytes += sample.size()
        self.samples += 1
        if self._bytes >= _GROUP_BYTES or len(self._rows) >= _GROUP_ROWS:
            self._put()

    def _put(self) -> None:
        if self._rows:
            self._writer.write_table(self._pyarrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        self._put()
        self._writer.close()
        self._stack.close()


def _readable(text: str) -> str:
    """Return text as UTF-8 can hold it; the row has the name as it is."""
    return os.fsencode(text).decode("utf-8", "replace")
