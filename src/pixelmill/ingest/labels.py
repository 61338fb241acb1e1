"""The label and text of each class folder: from ImageNet, from a file, or in order."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pixelmill.errors import ArgumentError, unreadable
from pixelmill.options.ingest import UnknownClasses
from pixelmill.storage.local import open_binary

_MAX_BYTES = 1 << 26
_TEXT_KEYS = ("human_labels", "text", "name")


@dataclass(frozen=True)
class ClassLabel:
    """What is known about a class.

    Attributes:
        label: Its number.
        text: Its name for people.
    """

    label: int
    text: str


@cache
def imagenet_labels() -> dict[str, ClassLabel]:
    """Return the 1000 classes of ImageNet by synset, numbered from 0 in the order of the synsets."""
    lines = Path(__file__).with_name("imagenet_synsets.txt").read_text("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return {synset: ClassLabel(number, text) for number, (synset, text) in enumerate(pairs)}


def class_labels(
    folders: Sequence[str], *, file: str | None = None, unknown: UnknownClasses = "error"
) -> dict[str, ClassLabel]:
    """Return the labels of class folders.

    Args:
        folders: Names of the folders.
        file: A file with labels. Without one, synsets of ImageNet have its labels; folders none of which is a synset
            are numbered in the order of their names.
        unknown: What to do with folders that have no label: raise ArgumentError, leave them out, or number them after
            the others.
    """
    known = imagenet_labels() if file is None else read_labels(file)
    if file is None and not any(folder in known for folder in folders):
        return {folder: ClassLabel(number, folder) for number, folder in enumerate(sorted(folders))}
    missing = sorted(folder for folder in folders if folder not in known)
    if missing and unknown == "error":
        what = "ImageNet" if file is None else file
        text = f"ingest: {what} has no label for the folder {missing[0]!r} ({len(missing)} without one)"
        raise ArgumentError(
            f"{text}; --unknown-classes skip leaves such folders out, append numbers them after the others"
        )
    found = {folder: known[folder] for folder in folders if folder in known}
    if unknown == "append":
        first = 1 + max(label.label for label in known.values())
        found |= {folder: ClassLabel(number, folder) for number, folder in enumerate(missing, first)}
    return found


def read_labels(file: str) -> dict[str, ClassLabel]:
    """Read labels from a file.

    - json: an object of folders, each with a number or with an object of ``label`` and ``human_labels`` (or ``text``,
      ``name``); or an array of folders in order;
    - csv: rows of folder, label and perhaps text, with or without a header;
    - txt: lines of a folder, or of a folder, a label and perhaps a text, separated by spaces or tabs.

    Any of them may be compressed (``.gz``).
    """
    text = _read_text(file)
    kind = Path(file.removesuffix(".gz")).suffix.lower()
    if kind == ".json":
        labels = _from_json(text, file)
    elif kind == ".csv":
        labels = _from_rows(file, csv.reader(text.splitlines()))
    elif kind in (".txt", ".tsv", ""):
        labels = _from_rows(file, (line.split(maxsplit=2) for line in text.splitlines()))
    else:
        raise ArgumentError(f"ingest: labels must be a json, csv or txt file, got {file}")
    if not labels:
        raise ArgumentError(f"ingest: {file} has no labels")
    return labels


def _read_text(file: str) -> str:
    try:
        with open_binary(file) as stream:
            data = (gzip.GzipFile(fileobj=stream) if file.endswith(".gz") else stream).read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise ArgumentError(f"ingest: {file} is larger than {_MAX_BYTES} bytes, too large for a list of labels")
        return data.decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ArgumentError(f"ingest: {file} cannot be read: {error}") from None
    except OSError as error:
        raise unreadable("ingest", file, error) from None


def _from_json(text: str, file: str) -> dict[str, ClassLabel]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"ingest: {file} is not JSON: {error}") from None
    if isinstance(content, list):
        return {str(folder): ClassLabel(number, str(folder)) for number, folder in enumerate(content)}
    if not isinstance(content, dict):
        raise ArgumentError(f"ingest: {file} must hold an object or an array, got {type(content).__name__}")
    return {folder: _from_value(folder, value, file) for folder, value in content.items()}


def _from_value(folder: str, value: object, file: str) -> ClassLabel:
    text: object = folder
    if isinstance(value, dict):
        text = next((value[key] for key in _TEXT_KEYS if key in value), folder)
        value = value.get("label")
    if isinstance(text, list):
        text = ", ".join(map(str, text))
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"ingest: {file} has no integer as the label of {folder!r}, got {value!r}")
    return ClassLabel(value, str(text))


def _from_rows(file: str, rows: Iterable[Sequence[str]]) -> dict[str, ClassLabel]:
    labels: dict[str, ClassLabel] = {}
    for line, row in enumerate(rows, 1):
        if not row or not row[0].strip():
            continue
        folder = row[0].strip()
        if len(row) == 1:
            labels[folder] = ClassLabel(len(labels), folder)
            continue
        try:
            number = int(row[1])
        except ValueError:
            if not labels:  # the header
                continue
            raise ArgumentError(f"ingest: {file}, line {line}: {row[1]!r} is not an integer") from None
        labels[folder] = ClassLabel(number, row[2].strip() if len(row) > 2 else folder)
    return labels
