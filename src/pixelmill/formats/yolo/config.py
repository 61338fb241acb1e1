"""The file data.yaml of a YOLO dataset: classes, keypoints, and where the images of each split are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.splits import is_split
from pixelmill.formats.yolo.labels import Scheme
from pixelmill.storage.yaml_file import read_yaml

OWN = "pixelmill"
SPLITS = ("train", "val", "test")
_MOST_BYTES = 1 << 20
_MOST_KEYPOINTS = 4096


@dataclass(frozen=True)
class Config:
    """A data.yaml.

    Attributes:
        scheme: What label files hold.
        sets: The folders or lists of images of each split, relative to the dataset.
        base: The folder that these are below, relative to data.yaml; empty if none is named.
        others: The folder of images that belong to no split; empty if there are none.
    """

    scheme: Scheme = field(default_factory=Scheme)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    base: str = ""
    others: str = ""


def is_config(path: str) -> bool:
    """Whether a YAML file describes a YOLO dataset: it has names of classes and a split."""
    if not path.lower().endswith((".yaml", ".yml")):
        return False
    try:
        content = read_yaml(path, what="yolo", most_bytes=_MOST_BYTES)
    except (ArgumentError, DataError):
        return False
    return isinstance(content, dict) and "names" in content and any(name in content for name in SPLITS)


def find_config(folder: str, names: Sequence[str]) -> str | None:
    """Return the data.yaml of a folder."""
    found = [storage.join(folder, name) for name in sorted(names, key=lambda name: name != "data.yaml")]
    return next((path for path in found if is_config(path)), None)


def read_config(path: str) -> Config:
    """Read a data.yaml. Raises DataError or ArgumentError that names what is wrong."""
    content = read_yaml(path, what="yolo", most_bytes=_MOST_BYTES)
    if not isinstance(content, dict):
        raise DataError(f"yolo: {path} must hold names and splits")
    sets = {}
    for split in SPLITS:
        value = content.get(split)
        values = value if isinstance(value, list) else [value] if value else []
        if not all(isinstance(item, str) for item in values):
            raise DataError(f"yolo: {split!r} of {path} must be a folder or a list of folders, got {value!r:.60}")
        if values:
            sets[split] = tuple(values)
    shape = content.get("kpt_shape")
    keypoints, dimensions = _keypoint_shape(shape, path) if shape is not None else (0, 3)
    base = content.get("path")
    own = content.get(OWN)
    own = own if isinstance(own, dict) else {}
    others, oriented = str(own.get("others", "")), own.get("oriented")
    if not isinstance(oriented, (bool, NoneType)):
        raise DataError(f"yolo: 'oriented' of {path} must be true or false, got {oriented!r:.60}")
    scheme = Scheme(_classes(content.get("names"), path), keypoints, dimensions, oriented)
    if len(sets) == 2 and sets.get("train") == sets.get("val"):
        others, sets = sets["train"][0], {}  # the same images for both: the dataset is not divided
    return Config(scheme, sets, base if isinstance(base, str) and base not in (".", "./") else "", others)


def _classes(names: Any, path: str) -> tuple[str, ...]:
    if isinstance(names, dict):
        if sorted(map(str, names)) != sorted(map(str, range(len(names)))):
            raise DataError(f"yolo: the names of {path} must be numbered 0, 1, …")
        by_number = {int(number): name for number, name in names.items()}
        names = [by_number[number] for number in range(len(names))]
    if not isinstance(names, list):
        raise DataError(f"yolo: the names of {path} must be a list, got {names!r:.60}")
    return tuple(str(name) for name in names)


def _keypoint_shape(shape: Any, path: str) -> tuple[int, int]:
    if not isinstance(shape, list) or len(shape) != 2 or not all(isinstance(side, int) for side in shape):
        raise DataError(f"yolo: kpt_shape of {path} must be two numbers, got {shape!r:.60}")
    count, dimensions = shape
    if not 0 < count <= _MOST_KEYPOINTS or dimensions not in (2, 3):
        raise DataError(f"yolo: kpt_shape of {path} must be a number of keypoints and 2 or 3, got {shape}")
    return count, dimensions


def config_text(scheme: Scheme, *, splits: Sequence[str], others: bool) -> bytes:
    """Return a data.yaml. Programs need both train and val, so a dataset without splits is named for both.

    Args:
        scheme: What label files hold.
        splits: The folders of splits below `images/`.
        others: Whether there are images outside of the splits.
    """
    import yaml

    sets = {name: f"images/{name}" for name in splits}
    known = {"train": "images", "val": "images"} if not sets else {}
    for name, folder in sets.items():
        known.setdefault("val" if is_split(name) and name.startswith(("val", "dev")) else name, folder)
    content: dict[str, Any] = {"path": ".", **known, "names": dict(enumerate(map(_readable, scheme.classes)))}
    own: dict[str, Any] = {"others": "images"} if sets and others else {}
    if scheme.oriented is not None:
        own["oriented"] = scheme.oriented
    if own:
        content[OWN] = own
    if scheme.keypoints:
        content["kpt_shape"] = [scheme.keypoints, 3]
    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return text.encode()


def _readable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
