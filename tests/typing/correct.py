"""Programs that the stubs must accept, with the types they must give. Checked by test_api.py, never run."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import torch
from numpy.typing import NDArray

import pixelmill
from pixelmill import DataNode, Pipeline, augment, convert, fn, ops, pipeline_def, types
from pixelmill.jobs import JobReport


@pipeline_def(batch_size=64, num_threads=4)
def training(folder: str, device: str) -> tuple[DataNode, DataNode]:
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader", initial_fill=4096)
    images = fn.decoders.image(encoded, device=device, output_type=types.RGB, hw_decoder_load=0.65)
    images = fn.random_resized_crop(images, size=[224, 224], random_area=(0.1, 1.0), interp_type=types.INTERP_CUBIC)
    mirror = fn.random.coin_flip(probability=0.5)
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=[0.5], std=np.ones(3), dtype=types.FLOAT), labels


def makes_pipelines() -> None:
    assert_type(training("photos", "cpu", seed=1), Pipeline)


def values_and_nodes_for_each_sample(images: DataNode, width: DataNode) -> None:
    assert_type(fn.resize(images, resize_x=width, resize_y=224), DataNode)
    assert_type(fn.crop(images, crop=(224, 224), crop_pos_x=fn.random.uniform(range=[0, 1])), DataNode)
    assert_type(fn.flip(images, horizontal=types.Constant(1)), DataNode)
    assert_type(fn.crop(images, crop=224.0, output_dtype=types.UINT8), DataNode)


def several_inputs(image: DataNode, mask: DataNode) -> None:
    assert_type(fn.flip([image, mask]), list[DataNode])
    turned, turned_mask = fn.flip([image, mask], vertical=1)
    assert_type(fn.slice(turned, [0.1, 0.1], np.array([0.5, 0.5]), axis_names="HW"), DataNode)
    assert_type(fn.resize([turned, turned_mask], size=224, save_attrs=True), list[list[DataNode]])


def several_results(images: DataNode, shape: DataNode) -> None:
    assert_type(fn.resize(images, size=224, save_attrs=True), list[DataNode])
    anchor, extent = fn.random_crop_generator(shape, seed=3)
    assert_type(fn.slice(images, anchor, extent), DataNode)


def constants_as_inputs(probabilities: DataNode) -> None:
    assert_type(fn.random.choice(5, p=probabilities), DataNode)
    assert_type(fn.random.choice([1, 2, 3]), DataNode)
    assert_type(fn.cast(types.Constant(3), dtype=types.INT64), DataNode)


def own_data(batches: list[Any]) -> None:
    assert_type(fn.external_source(source=batches, layout="HWC"), DataNode)
    images, labels = fn.external_source(source=batches, num_outputs=2, layout=["HWC", ""], cycle=True)
    assert_type(fn.python_function(images, labels, function=max), DataNode)
    fn.readers.file(files=[Path("a.jpg"), "b.jpg"], labels=[0, 1])


def classes(images: DataNode, mirror: DataNode) -> None:
    read = ops.readers.File(file_root="photos", pad_last_batch=True)
    assert_type(read(name="Reader"), list[DataNode])
    decode = ops.nvJPEGDecoder(device="mixed", output_type=types.RGB)
    assert_type(decode(images), DataNode)
    assert_type(ops.ImageDecoderRandomCrop(num_attempts=100)(images), DataNode)
    assert_type(ops.CropMirrorNormalize(mean=[1.0, 2.0, 3.0])(images, mirror=mirror), DataNode)
    assert_type(ops.Flip()([images, images], vertical=mirror), list[DataNode])
    assert_type(ops.CoinFlip(probability=0.5)(), DataNode)


def jobs(source: Path) -> None:
    assert_type(augment(source, "out", quality=80, subsampling="4:4:4", exists="resume", on_progress=print), JobReport)
    assert_type(augment(["a", "b"]), JobReport)
    assert_type(convert(source, output="out", to="tfrecord", resize=(20, 30), split={"train": 0.9}).samples, int)


def images_in_one_call(path: Path, data: bytes) -> None:
    image = pixelmill.imread(path, "GRAY", size=(224, 224))
    assert_type(image, NDArray[Any])
    assert_type(
        pixelmill.decode_image(memoryview(data), window=[0, 0, 8, 8], limits=types.Limits(side=100)), NDArray[Any]
    )
    assert_type(pixelmill.image_info(data).height, int)
    assert_type(pixelmill.encode_png(image, level=9), bytes)
    pixelmill.imwrite(path, image, quality=80, subsampling="4:4:4")


def loaders_by_framework(path: Path) -> None:
    loader = pixelmill.ImageLoader(path, size=224, batch_size=64, train=True)
    for images, labels in loader:
        assert_type(images, torch.Tensor)
        assert_type(labels, torch.Tensor)
    for arrays, masks in pixelmill.ImageLoader([path, "b"], task="segmentation", framework="numpy", size=(32, 48)):
        assert_type(arrays, NDArray[Any])
        assert_type(masks, NDArray[Any])
    pixelmill.ImageLoader("s3://bucket/photos", framework="jax", storage_options={"anon": True})
    assert_type(len(loader), int)
    assert_type(loader.classes, tuple[str, ...])
    assert_type(loader.pipeline_source(), str)
    loader.load_state_dict(loader.state_dict())


def loaders_by_task(path: str) -> None:
    for images, targets in pixelmill.ImageLoader(path, task="detection", augment="detection", train=True):
        assert_type(images, torch.Tensor)
        assert_type(targets, list[dict[str, torch.Tensor]])
    for _, names in pixelmill.ImageLoader(path, task="unlabeled", framework="numpy"):
        assert_type(names, list[str])


def label_of(sample: pixelmill.ImageSample) -> int:
    return len(sample.labels)


def datasets(path: Path) -> None:
    dataset = pixelmill.open_dataset(path, split="train")
    assert_type(dataset[0], pixelmill.ImageSample)
    assert_type(dataset[0].image(), NDArray[Any])
    assert_type(dataset[2:5], pixelmill.ImageDataset[pixelmill.ImageSample])
    assert_type([sample.key for sample in dataset], list[str])
    assert_type(dataset.with_transform(label_of)[0], int)
