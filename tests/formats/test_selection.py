"""One split of a dataset: by what samples say, by folder, by the names of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import write
from loader_datasets import classified, folder_of_classes, with_boxes, with_masks

from pixelmill import ArgumentError, Pipeline, fn
from pixelmill.formats.containers import get_format
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Sample
from pixelmill.formats.selection import Selection

WRITTEN = [name for name in FORMATS if get_format(name).writer is not None]


def divided(samples: list[Sample]) -> list[Sample]:
    """Put every third sample into the split `val`, and the others into `train`."""
    return [replace(sample, split="train" if place % 3 else "val") for place, sample in enumerate(samples)]


def rows(path: Path, columns: list[str], split: str | None) -> dict[str, list[Any]]:
    """Read a dataset through a pipeline, in order."""
    count = len(open_dataset(path, split=split))
    pipe = Pipeline(count, 1, None, 0)
    with pipe:
        made = fn.readers.dataset(path, columns=columns, split=split)
        pipe.set_outputs(*made.values())
    outputs = pipe.run()
    pipe.close()
    return {name: [output.at(place) for place in range(count)] for name, output in zip(columns, outputs, strict=True)}


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("split", ["train", "val"])
def test_samples_of_a_split_are_read_with_their_own_values(tmp_path: Path, format: str, split: str) -> None:
    samples = divided(with_boxes(9)) if format in ("coco", "yolo", "voc") else divided(classified(9, labels=range(9)))
    path = write(tmp_path / "d", format, samples)
    whole = open_dataset(path)
    if {whole.split_of(number) for number in range(len(whole))} == {None}:
        pytest.skip(f"{format} keeps no splits")
    part = open_dataset(path, split=split)
    expected = [number for number in range(len(whole)) if whole.split_of(number) == split]
    assert len(part) == len(expected) == (6 if split == "train" else 3)
    assert [part.sample(place) for place in range(len(part))] == [whole.sample(number) for number in expected]
    columns = ["image", "boxes", "box_label"] if samples[0].boxes is not None else ["image", "label"]
    found, every = rows(path, columns, split), rows(path, columns, None)
    for name in columns:
        assert all(
            np.array_equal(own, every[name][number]) for own, number in zip(found[name], expected, strict=True)
        ), name
    assert [part.locate(place) for place in range(len(part))] == [whole.locate(number) for number in expected]
    assert [part.size(place) for place in range(len(part))] == [whole.size(number) for number in expected]


def test_classes_have_the_same_numbers_in_all_splits(tmp_path: Path) -> None:
    folder_of_classes(tmp_path / "d" / "train", (1, 1, 1))
    (tmp_path / "d" / "val" / "cat").mkdir(parents=True)
    (tmp_path / "d" / "val" / "cat" / "x.png").write_bytes((tmp_path / "d/train/ant/00.png").read_bytes())
    part = open_dataset(tmp_path / "d", split="valid")
    assert part.classes == ("ant", "bee", "cat") and part.sample(0).labels == (2,)
    assert rows(tmp_path / "d", ["label"], "valid")["label"][0].tolist() == [2]


def test_masks_of_a_split(tmp_path: Path) -> None:
    path = write(tmp_path / "d", "tfrecord", divided(with_masks(7)))
    part = open_dataset(path, split="val")
    assert [part.has_mask(place) or part.sample(place).mask is not None for place in range(3)] == [True] * 3


def test_large_splits_of_one_container_do_not_share_cached_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two splits of the same length: the labels of one must not be taken for those of the other."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("pixelmill.formats.columns.CACHED_FROM", 2)
    samples = classified(8, labels=range(8))
    halves = [replace(sample, split="train" if place % 2 else "val") for place, sample in enumerate(samples)]
    path = write(tmp_path / "d", "webdataset", halves)
    for _ in range(2):  # the second time from the cache
        found = {split: rows(path, ["label"], split)["label"] for split in ("train", "val")}
        assert np.concatenate(found["train"]).tolist() == [1, 3, 5, 7]
        assert np.concatenate(found["val"]).tolist() == [0, 2, 4, 6]


def test_splits_that_do_not_exist(tmp_path: Path) -> None:
    path = write(tmp_path / "d", "tfrecord", divided(classified(4)))
    with pytest.raises(ArgumentError, match="has no split 'test'; it has train, val"):
        open_dataset(path, split="test")
    files = [str(file) for file in write(tmp_path / "e", "tfrecord", classified(4)).glob("*.tfrecord")]
    with pytest.raises(ArgumentError, match="is not divided into splits; name the files of 'train' instead"):
        open_dataset(files, split="train")
    with pytest.raises(ArgumentError, match="No such file"):
        open_dataset(tmp_path / "nothing", split="train")


def test_damage_is_remarked(tmp_path: Path) -> None:
    path = write(tmp_path / "d", "tfrecord", divided(classified(6)))
    (file,) = path.glob("*.tfrecord*")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 255
    file.write_bytes(data)
    part = open_dataset(path, split="train")
    assert isinstance(part, Selection) and not part.faults
    assert part.remarks[-1] == "1 damaged pieces of the container belong to no split"
