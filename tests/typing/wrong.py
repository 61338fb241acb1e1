"""Mistakes that the stubs must find, with mypy's name for each. Checked by test_api.py, never run."""

import pixelmill
from pixelmill import DataNode, augment, convert, fn, ops, types


def names(images: DataNode) -> None:
    fn.flip(images, horisontal=1)  # error: call-arg
    fn.resize(images, sise=224)  # error: call-overload
    fn.rotate_by_magic(images)  # error: attr-defined
    fn.decoders.image(data=images)  # error: call-arg
    ops.Flip(mirror=1)  # error: call-arg
    ops.nvJPEGDecoder(outputtype=types.RGB)  # error: call-arg


def values(images: DataNode) -> None:
    fn.flip(images, horizontal="yes")  # error: arg-type
    fn.crop(images, crop_h=[224, 224])  # error: arg-type
    fn.crop(images, crop=224, rounding="up")  # error: arg-type
    fn.cast(images, dtype=types.RGB)  # error: arg-type
    fn.transpose(images, perm=[0.5, 1])  # error: list-item
    fn.decoders.image(images, output_type="RGB")  # error: arg-type


def missing(images: DataNode) -> None:
    fn.cast(images)  # error: call-arg
    fn.flip()  # error: call-arg
    fn.flip(images, 1)  # error: call-arg
    ops.Flip(1)  # error: call-arg


def constants_only(images: DataNode, number: DataNode) -> None:
    fn.random_resized_crop(images, size=number)  # error: arg-type
    fn.readers.file(file_root=number)  # error: arg-type
    ops.Flip(horizontal=number)  # error: arg-type


def results(images: DataNode) -> int:
    _first, _second = fn.flip(images)  # error: misc
    return fn.flip(images)  # error: return-value


def jobs() -> None:
    augment("photos", qualty=80)  # error: call-arg
    augment("photos", quality="high")  # error: arg-type
    augment("photos", exists="maybe")  # error: arg-type
    convert("photos", "out")  # error: call-arg


def loaders(path: str) -> None:
    pixelmill.ImageLoader(path, framework="pytorch")  # error: call-overload
    pixelmill.ImageLoader(path, num_workers=4)  # error: call-overload
    pixelmill.ImageLoader(path, task="detecion")  # error: call-overload
    pixelmill.open_dataset(path)["a"]  # error: index
