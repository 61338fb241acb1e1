"""Samples with everything that containers are bad at, and a writer of small datasets."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelmill.formats import npy
from pixelmill.formats.example import Example, bytes_feature, float_feature, int64_feature
from pixelmill.formats.registry import open_shard
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Keypoints, Polygons, RunMask


def encoded(kind: str, *, seed: int, size: tuple[int, int] = (9, 13)) -> bytes:
    """Draw a small image and encode it."""
    pixels = np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8)
    if kind == "npy":
        return npy.encode(pixels)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, kind)
    return stream.getvalue()


def mask_of(seed: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.random.default_rng(seed).integers(0, 3, (9, 13), np.uint8)).save(stream, "png")
    return stream.getvalue()


def plain_samples(count: int = 12) -> list[Sample]:
    """Make what a folder of class folders holds."""
    names = ("ant", "bee", "cat")
    return [
        Sample(f"{names[i % 3]}/{i:04d}", encoded("jpeg", seed=i), "jpg", (i % 3,), names[i % 3]) for i in range(count)
    ]


def oriented() -> Boxes:
    """Make two oriented boxes."""
    corners = np.array(
        [[[0.5, 0.25], [0.75, 0.5], [0.5, 0.75], [0.25, 0.5]], [[0.7, 0.6], [1, 0.9], [0.9, 1], [0.6, 0.7]]]
    )
    sides = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return Boxes(sides, [1, 0], polygons=Polygons.of(corners[:, None]), oriented=True)


def objects() -> Boxes:
    """Make objects with everything that may be known about them."""
    rings = [[[[0.1, 0.2], [0.5, 0.25], [1 / 3, 0.9]], [[0.6, 0.6], [0.7, 0.6], [0.7, 0.7], [0.6, 0.7]]], [], []]
    bitmap = np.random.default_rng(8).random((9, 13)) < 0.4
    return Boxes(
        np.array([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1], [0.3, 0.1, 0.4, 1 / 7]], np.float32),
        np.array([3, 0, 1]),
        ("dog", "a b, ünï", ""),
        polygons=Polygons.of([[np.array(ring) for ring in own] for own in rings]),
        masks=(None, RunMask.of(bitmap), None),
        keypoints=Keypoints.of([np.array([[0.25, 0.5, 2], [0, 0, 0]]), np.empty((0, 3)), np.array([[1 / 3, 1, 1]])]),
        attributes={
            "area": (702.1057499999998, None, 0.5),
            "iscrowd": (0, 1, 0),
            "note": ("é", {"a": [1, None]}, True),
        },
    )


def odd_samples() -> list[Sample]:
    """Make samples with odd names, many labels, boxes, masks, features."""
    box = Boxes(np.array([[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1]], np.float32), np.array([3, -1]))
    extra = Example(year=int64_feature([2019, -5]), who=bytes_feature(b"\0\xff", b""), f=float_feature([0.1, np.nan]))
    jpeg, png = encoded("jpeg", seed=1), encoded("png", seed=2)
    return [
        Sample("a/one", jpeg, "JPEG", (0,), "a"),
        Sample("one", jpeg, "jpg", (1,), "b"),
        Sample("no-label", png, "png"),
        Sample("many", png, "png", (3, 1, 4, 1, 5)),
        Sample("real", jpeg, "jpg", (0.1, -2.5e-7, 3)),
        Sample("large", jpeg, "jpg", (16777217, -(2**62))),
        Sample("boxes", jpeg, "jpg", (1,), "b", boxes=box),
        Sample("no-boxes", jpeg, "jpg", (1,), "b", boxes=Boxes(np.empty((0, 4)), np.empty(0))),
        Sample("masked", jpeg, "jpg", (2,), "c", mask=mask_of(3)),
        Sample("both", png, "png", (2,), "c", boxes=box, mask=mask_of(4), extra=extra),
        Sample("array", encoded("npy", seed=5), "npy", (2,), "c", mask=npy.encode(np.zeros((9, 13), np.uint8))),
        Sample("bytes as array", npy.encode(np.frombuffer(jpeg, np.uint8)), "npy", (2,), "c"),
        Sample("../escape", jpeg, "jpg", (0,), "../up"),
        Sample("/absolute", jpeg, "jpg", (0,), "images"),
        Sample("masks/trap", jpeg, "jpg", (0,), "masks"),
        Sample(".hidden", jpeg, "jpg", (6,), "b"),
        Sample(".net/.b", jpeg, "jpg", (5,), ".net"),
        Sample("_net/b", jpeg, "jpg", (4,), "_net"),
        Sample("dots.in.name", jpeg, "jpg", (7,)),
        Sample("dots.in.name", png, "png", (7,)),
        Sample("tab\tnew\nline", jpeg, "jpg", (7,), 'class\twith\nodd "signs", ünïcode'),
        Sample("blank in name 3", jpeg, "jpg", (8,), "two words"),
        Sample("no-ending", jpeg, "", (8,)),
        Sample("a.b", jpeg, "", (8,)),
        Sample("Case", jpeg, "jpg", (8,)),
        Sample("case", jpeg, "jpg", (9,)),
        Sample("\udcff not utf-8", jpeg, "jpg", (9,), "\udcfe"),
        Sample("ünï/cödé", jpeg, "jpg", (9,), "ünï"),
        Sample("x" * 300, jpeg, "jpg", (9,)),
        Sample("not-an-image", b"<html>", "jpg", (9,)),
        Sample("masks/plain", jpeg, "jpg"),
        Sample("images/plain", jpeg, "jpg"),
        Sample(
            "list",
            jpeg,
            "txt",
            (9,),
            extra=Example({"member/a b": bytes_feature(b"1"), "member/cls": bytes_feature(b"2")}),
        ),
        Sample("manifest", jpeg, "json", (9,), extra=Example({"member/txt": bytes_feature(b"1")})),
        Sample("objects", jpeg, "jpg", (1,), "b", boxes=objects(), split="train"),
        Sample("no labels", png, "png", boxes=replace(objects(), labels=None, names=None), split="väl/1", extra=extra),
        Sample("oriented", jpeg, "jpg", (1,), "b", boxes=oriented()),
        Sample("magic", b"\x0a\x23\xd7\xce" * 3, "bin", (9,)),
    ]


def write(folder: Path, format: str, samples: Iterable[Sample], **options: Any) -> Path:
    """Write a dataset in one shard."""

    def open_file(name: str) -> Any:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")

    with open_shard(format, open_file, **options) as writer:
        for sample in samples:
            writer.add(sample)
    return folder
