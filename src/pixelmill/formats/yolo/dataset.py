"""Images with YOLO label files as a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotated_files import AnnotatedFile, AnnotatedFiles, ImageFiles, Rows, unnamed_note
from pixelmill.formats.folder.dataset import is_annotation
from pixelmill.formats.sample import Boxes, Sample, split_name
from pixelmill.formats.splits import is_split
from pixelmill.formats.yolo.config import Config, find_config, read_config
from pixelmill.formats.yolo.labels import Scheme, holds_only_corners, parse

IMAGES, LABELS, MASKS = "images", "labels", "masks"
_LABEL_BYTES = 1 << 24
_LOOKED_AT = 16  # label files from all over the dataset that decide whether it has oriented boxes
_CLASS_FILES = ("classes.txt", "obj.names", "labels/classes.txt")


def find_in_folder(folder: str, folders: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return data.yaml, or the folder itself if it has images and labels without one; nothing for other folders."""
    config = find_config(folder, names)
    if config is not None:
        return [config]
    if {IMAGES, LABELS} <= set(folders):
        return [folder] if _has_text(storage.join(folder, LABELS)) else []
    parts = [name for name in folders if is_split(name)]
    inner = [storage.join(folder, name) for name in parts]
    if parts and all({IMAGES, LABELS} <= set(storage.list_folder(path)[0]) for path in inner):
        return [folder] if any(_has_text(storage.join(path, LABELS)) for path in inner) else []
    return []


def _has_text(folder: str) -> bool:
    """Whether a folder holds label files, at most one folder further down."""
    folders, names = storage.list_folder(folder)
    below = [name for inner in folders[:16] for name in storage.list_folder(storage.join(folder, inner))[1]]
    return any(name.lower().endswith(".txt") for name in (*names, *below))


class YoloDataset(AnnotatedFiles):
    """The images of a data.yaml, or of `images/` with `labels/` beside it. An image without a label file is empty.

    Args:
        source: The dataset as the user named it.
        path: The data.yaml or the folder.
        root: The folder of the images; that of data.yaml if None.
    """

    format = "yolo"

    def __init__(self, source: str, *, path: str, root: str | None = None) -> None:
        self.source = source
        is_folder = storage.is_folder(path)
        folder = path if is_folder else path.rpartition("/")[0] or "."
        images = ImageFiles(folder if root is None else root)
        config = Config(Scheme(_listed_classes(images))) if is_folder else read_config(path)
        self._stated = config.scheme
        self._rows = Rows([images.path(name) for name in images.others if is_annotation(name)])
        self.faults = self._rows.faults
        texts, masks = set(images.others), _masks(images)
        chosen = dict(_by_folder(images) if is_folder else _by_config(images, config))
        if not chosen:
            raise DataError(f"yolo: {path} names no image below {images.root}; --root names another folder")
        self._names = [_key_name(name, split) for name, split in chosen.items()]
        labels = [label if (label := _label_name(name)) in texts else None for name in chosen]
        self._labels = [label and images.path(label) for label in labels]
        found = [(images.path(n), masks.get(_below_images(n)), split) for n, split in chosen.items()]
        self._open([AnnotatedFile(path, mask and images.path(mask), split) for path, mask, split in found])
        files = [] if is_folder else [path]
        self._annotation_files = [*files, *(label for label in self._labels if label), *self._rows.paths]
        named = {*chosen, *masks.values()}
        unused = [name for name in texts - set(labels) if name.endswith(".txt") and f"/{LABELS}/" in f"/{name}"]
        self.remarks = unnamed_note(images, named, by="data.yaml") + _unused(sorted(unused))

    @cached_property
    def _scheme(self) -> Scheme:
        """What label files hold. Nothing but their lines tells oriented boxes from outlines, if data.yaml does not."""
        if self._stated.oriented is not None or self._stated.keypoints:
            return self._stated
        paths = [path for path in self._labels if path]
        several = paths[:: max(len(paths) // _LOOKED_AT, 1)][:_LOOKED_AT]
        found = set()
        for path in several:
            with suppress(OSError):  # reported when the sample is read
                found.add(holds_only_corners(self._text(path)))
        return replace(self._stated, oriented=True in found and False not in found)

    def _text(self, path: str) -> str:
        """Return the text of a label file; raises OSError."""
        return storage.read_file(path, limit=_LABEL_BYTES, base=self.index.base).decode("utf-8", "replace")

    def _described(self, number: int) -> Sample:
        path = self._labels[number]
        boxes = Boxes.none()
        if path is not None:
            try:
                text = self._text(path)
            except OSError as error:
                raise self.error(number, "io", f"{error.strerror or error}: {path}") from None
            boxes = parse(text, self._scheme, where=path)
        key, extension = split_name(self._names[number])
        implied = Sample(key, b"", extension, boxes=boxes, split=self._images[number].split)
        return self._rows.apply(self._names[number], implied)

    @property
    def classes(self) -> tuple[str, ...]:
        return self._stated.classes

    @property
    def layout(self) -> str:
        if self._scheme.keypoints:
            return f"{self._scheme.keypoints} keypoints"
        return "oriented boxes" if self._scheme.oriented else "boxes or outlines"


def _by_config(images: ImageFiles, config: Config) -> Iterator[tuple[str, str | None]]:
    """Yield the images of each split that data.yaml names, in its order."""
    seen: set[str] = set()
    for split, sets in config.sets.items():
        for place in sets:
            for name in _in_set(images, place, config.base):
                if name not in seen:
                    seen.add(name)
                    yield name, split
    if config.others:
        yield from ((name, None) for name in _in_set(images, config.others, config.base) if name not in seen)


def _in_set(images: ImageFiles, place: str, base: str) -> list[str]:
    """Return the images of a folder or of a list of images; its name may be a path of another machine."""
    parts = [part for part in place.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    above = [part for part in base.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if parts and parts[-1].lower().endswith(".txt"):
        known = [name for name in images.others if f"/{name}".endswith(f"/{'/'.join(parts)}")]
        if not known:
            return []
        text = storage.read_file(images.path(known[0]), limit=1 << 30).decode("utf-8", "surrogateescape")
        return [name for line in text.splitlines() if line.strip() and (name := images.find(line.strip()))]
    # The folder as it is written, then without the folders that only another machine has.
    for start in range(-len(above), len(parts)):
        folder = "/".join([*above[start:], *parts] if start < 0 else parts[start:])
        found = [name for name in images.names if name.startswith(f"{folder}/")]
        if found:
            return found
    return [] if parts else [name for name in images.names if not name.startswith(f"{MASKS}/")]


def _by_folder(images: ImageFiles) -> Iterator[tuple[str, str | None]]:
    for name in images.names:
        if f"/{IMAGES}/" in f"/{name}":
            yield name, next((part for part in name.split("/")[:-1] if is_split(part)), None)


def _label_name(name: str) -> str:
    """Return the label file of an image: `labels` instead of the last `images` in its path, and `.txt`."""
    before, images, after = f"/{name}".rpartition(f"/{IMAGES}/")
    path = f"{before}/{LABELS}/{after}".removeprefix("/") if images else name
    return f"{split_name(path)[0]}.txt"


def _below_images(name: str) -> str:
    before, images, after = f"/{name}".rpartition(f"/{IMAGES}/")
    return f"{before}/{after}".lstrip("/") if images else name


def _key_name(name: str, split: str | None) -> str:
    """Return the name of a sample: its path without `images` and without the folder of its split."""
    below = _below_images(name)
    folder, slash, rest = below.partition("/")
    return rest if slash and split is not None and (folder == split or is_split(folder)) else below


def _masks(images: ImageFiles) -> dict[str, str]:
    """Return masks by the name of their image below `images`: `masks/NAME.jpg.png`, as our writer names them."""
    own = [name for name in images.names if name.startswith(f"{MASKS}/")]
    return {split_name(name.removeprefix(f"{MASKS}/"))[0]: name for name in own}


def _listed_classes(images: ImageFiles) -> tuple[str, ...]:
    for name in _CLASS_FILES:
        if name in images.others:
            text = storage.read_file(images.path(name), limit=1 << 24).decode("utf-8", "surrogateescape")
            return tuple(line.strip() for line in text.splitlines() if line.strip())
    return ()


def _unused(names: Sequence[str]) -> tuple[str, ...]:
    rest = [name for name in names if name not in _CLASS_FILES]
    return (f"{len(rest):,} label files belong to no image, such as {rest[0]}",) if rest else ()
