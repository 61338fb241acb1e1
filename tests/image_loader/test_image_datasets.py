"""Datasets sample by sample."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from dataset_cases import write
from loader_datasets import TASKS, class_mask, classified, folder_of_classes, pixels, with_boxes, with_masks
from peers import peer

from pixelmill import ArgumentError, DataError, ImageDataset, ImageSample, ImageTransform, open_dataset
from pixelmill.formats.registry import FORMATS
from pixelmill.formats.sample import Sample

torch_data = peer("torch.utils.data")

TRANSFORM = ImageTransform(16, train=True)


def tensors(sample: ImageSample) -> tuple[Any, Any]:
    return TRANSFORM(sample.encoded), sample.label


def test_a_folder_is_a_sequence_of_samples(tmp_path: Path) -> None:
    dataset = open_dataset(folder_of_classes(tmp_path / "d"))
    assert len(dataset) == 9 and dataset.classes == ("ant", "bee", "cat")
    first = dataset[0]
    assert np.array_equal(first.image(), pixels(0)) and first.image().dtype == np.uint8
    assert first.image("GRAY").shape == (64, 64, 1)
    assert (first.key, first.label, first.labels, first.class_name) == ("ant/00", 0, (0,), "ant")
    assert first.boxes is None and first.mask() is None and first.encoded == (tmp_path / "d/ant/00.png").read_bytes()
    assert [sample.label for sample in dataset] == [0] * 4 + [1] * 3 + [2] * 2
    assert dataset[-1].key == dataset[8].key == "cat/08" and dataset[np.int64(8)].key == "cat/08"
    assert repr(first) == f"ImageSample('ant/00.png', {len(first.encoded)} bytes, label 0, class 'ant')"
    assert repr(dataset) == f"ImageDataset('{tmp_path}/d', folder, 9 samples, 3 classes: ant, bee, cat)"


def test_numbers_that_do_not_exist(tmp_path: Path) -> None:
    dataset = open_dataset(folder_of_classes(tmp_path / "d"))
    for number in (9, -10, 10**30):
        with pytest.raises(IndexError, match=f"the dataset has 9 samples, got the number {number}"):
            dataset[number]
    for wrong in ("a", 1.0, None):
        with pytest.raises(TypeError, match="a dataset takes numbers, slices and lists of numbers, got"):
            dataset[cast("Any", wrong)]


def test_slices_and_lists_are_datasets(tmp_path: Path) -> None:
    dataset = open_dataset(folder_of_classes(tmp_path / "d"))
    part = dataset[2:6]
    assert isinstance(part, ImageDataset) and [sample.number for sample in part] == [2, 3, 4, 5]
    assert [sample.number for sample in part[::-1][1:]] == [4, 3, 2] and part[-1].number == 5
    assert [sample.number for sample in dataset[[8, 0, -2]]] == [8, 0, 7]
    assert [sample.number for sample in dataset[np.array([1, 3])]] == [1, 3]
    assert len(dataset[5:2]) == 0 and part.classes == dataset.classes
    with pytest.raises(IndexError, match="the dataset has 4 samples, got the number 4"):
        part[4]
    with pytest.raises(IndexError, match="got the number 9"):
        dataset[[0, 9]]


def test_annotations_are_attributes(tmp_path: Path) -> None:
    boxes = open_dataset(write(tmp_path / "b", "tfrecord", with_boxes()))
    expected = with_boxes()[5].boxes
    assert boxes[5].boxes == expected and "2 boxes" in repr(boxes[5]) and boxes[5].label is None
    masks = open_dataset(write(tmp_path / "m", "tfrecord", with_masks(palette=True)))
    assert np.array_equal(masks[3].mask(), class_mask(3)) and "a mask" in repr(masks[3])
    several = open_dataset(write(tmp_path / "s", "tfrecord", [Sample("a", b"x", "png", (1, 2))]))
    assert several[0].labels == (1, 2)
    with pytest.raises(ArgumentError, match=r"sample 0 \(a\) has 2 labels; use \.labels"):
        _ = several[0].label
    with pytest.raises(DataError, match=r"sample 0 \(a\): .*not an image"):
        several[0].image()


def test_a_split_is_opened_by_its_name(tmp_path: Path) -> None:
    folder_of_classes(tmp_path / "d" / "train", (3, 2))
    folder_of_classes(tmp_path / "d" / "val", (1, 1))
    assert len(open_dataset(tmp_path / "d", split="train")) == 5
    assert len(open_dataset(tmp_path / "d", split="validation")) == 2
    with pytest.raises(ArgumentError, match="has no split 'test'; it has train, val"):
        open_dataset(tmp_path / "d", split="test")


@pytest.mark.parametrize("format", FORMATS)
def test_datasets_of_all_containers_can_be_pickled(tmp_path: Path, format: str) -> None:
    dataset = open_dataset(write(tmp_path / "d", format, classified(6)))
    dataset[0]  # opens files, which a copy opens again
    copy = pickle.loads(pickle.dumps(dataset))
    assert [sample.key for sample in copy] == [sample.key for sample in dataset]
    assert [sample.encoded for sample in copy[2:4]] == [sample.encoded for sample in dataset[2:4]]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_dataset_is_loaded_by_worker_processes(tmp_path: Path, start: str) -> None:
    dataset = open_dataset(write(tmp_path / "d", "tfrecord", classified(12)))
    dataset[0].image()
    TRANSFORM(dataset[0].encoded)  # starts threads, which forked workers do not have
    workers: Any = {"num_workers": 2, "multiprocessing_context": start}
    batches = list(torch_data.DataLoader(dataset.with_transform(tensors), batch_size=3, **workers))
    labels = [int(label) for _, labels in batches for label in labels]
    assert labels == [sample.labels[0] for sample in classified(12)]
    images = np.concatenate([np.asarray(images) for images, _ in batches])
    assert images.shape == (12, 3, 16, 16) and len({image.tobytes() for image in images}) == 12


def test_all_tasks_have_samples_to_look_at(tmp_path: Path) -> None:
    for task, samples in TASKS.items():
        dataset = open_dataset(write(tmp_path / task, "webdataset", samples()))
        assert [sample.image().shape for sample in dataset] == [(64, 64, 3)] * len(dataset)
