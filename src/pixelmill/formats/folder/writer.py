"""The writer of folders of images."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pixelmill.formats.annotations import difference, encode_row
from pixelmill.formats.dataset import Output, ShardWriter
from pixelmill.formats.folder.names import IMAGES, MASKS, implied_sample, wished_name
from pixelmill.formats.sample import Sample, file_ending, image_type, join_name
from pixelmill.storage.file_names import UniqueNames


class FolderWriter(ShardWriter):
    """Writes image files.

    Args:
        open_file: Opens a file of the shard.
        names: The file `annotations`.
        classes: The class folders of the whole dataset by label; None to write labels as annotations.
        masks: Whether to write images below `images/` and masks below `masks/`.
        divided: Whether all samples have splits, which become folders above the class folders.
    """

    def __init__(
        self,
        open_file: Callable[[str], Output],
        names: Mapping[str, str],
        *,
        classes: Sequence[str] | None = None,
        masks: bool = False,
        divided: bool = False,
    ) -> None:
        super().__init__(open_file, names)
        self._numbers = None if classes is None else {name: number for number, name in enumerate(classes) if name}
        self._masks = masks
        self._divided = divided
        self._unique = UniqueNames()
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        ending = file_ending(sample)
        preferred = wished_name(sample, divided=self._divided)
        stem = name or self._unique.take(preferred, number=self.samples, ending="" if self._masks else ending)
        path = join_name(stem, ending)
        implied = implied_sample(path, self._numbers or {}, image=b"", mask=None, divided=self._divided)
        row = difference(sample, implied=implied, mask=not self._masks)
        if self._numbers is None:
            row["labels"] = list(sample.labels)
        if row:
            self._rows.append(encode_row({"path": path, **row}))
        with self._open_file(f"{IMAGES}/{path}" if self._masks else path) as stream:
            stream.write(sample.image)
        if self._masks and sample.mask is not None:
            with self._open_file(f"{MASKS}/{join_name(stem, image_type(sample.mask) or 'png')}") as stream:
                stream.write(sample.mask)
        self.samples += 1

    def close(self) -> None:
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))
