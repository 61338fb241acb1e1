"""Check on a machine with an NVIDIA GPU what cannot be checked without one. Run by `make gpu-test`.

Everything that runs on the GPU through DALI is compared with the native engine on the CPU. Prints a table, and ends
with 0 if all went well, 1 if a check failed, 2 if there is no GPU or no DALI. It needs pixelmill and DALI; with torch,
tensors are also taken over on the device.

gpu_test.py [NAME...]    all checks, or those whose name contains one of these words
gpu_test.py --pretend    with DALI's CPU operators in place of the GPU ones, to check the checks
"""

from __future__ import annotations

import io
import json
import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelmill import DataError, Pipeline, augment, fn, math, open_dataset, types
from pixelmill.auto_aug import rand_augment
from pixelmill.create import create_images, photo
from pixelmill.engine import devices
from pixelmill.engine.dali import versions
from pixelmill.formats.example import decode as parsed
from pixelmill.formats.tfrecord import read_records
from pixelmill.ingest import ingest
from pixelmill.operators import REGISTRY

BATCH = 6
MEAN, STD = [124.0, 116.0, 104.0], [58.0, 57.0, 57.0]


class Skipped(Exception):  # noqa: N818 - not an error
    """A check that cannot be made here, and why."""


@dataclass(frozen=True)
class Place:
    """Where DALI works in this run."""

    device_id: int | None = None

    @property
    def device(self) -> str:
        return "cpu" if self.device_id is None else "gpu"

    @property
    def decoder(self) -> str:
        return "cpu" if self.device_id is None else "mixed"


def pictures(count: int = BATCH) -> list[Any]:
    return [photo(3, number, height=96 + 7 * number, width=130 - 5 * number) for number in range(count)]


def encoded(pixels: Any, kind: str = "JPEG", **options: Any) -> Any:
    stored = io.BytesIO()
    Image.fromarray(pixels).save(stored, kind, **options)
    return np.frombuffer(stored.getvalue(), np.uint8)


def arrays(batch: Any) -> list[Any]:
    batch = batch.as_cpu()
    return [np.array(batch.at(place)) for place in range(len(batch))]


def made(build: Callable[[], Any], *, engine: str, device_id: int | None, **options: Any) -> Pipeline:
    """Make a pipeline of a function that gives nodes."""
    pipeline = Pipeline(BATCH, 2, device_id, 7, engine=engine, **options)
    with pipeline:
        outputs = build()
        pipeline.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    return pipeline


def taken(pipeline: Pipeline, count: int = 1) -> list[list[list[Any]]]:
    """Run batches; gives for each a list of samples for each output."""
    return [[arrays(output) for output in pipeline.run()] for _ in range(count)]


def both(build: Callable[[], Any], place: Place, *, count: int = 1, **options: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Run a graph by DALI and natively; gives for each sample of each batch the pairs of its outputs."""
    results = []
    for engine, device_id in (("dali", place.device_id), ("native", None)):
        pipeline = made(build, engine=engine, device_id=device_id, **options)
        results.append(taken(pipeline, count))
        pipeline.close()
    for there, here in zip(*results, strict=True):
        for theirs, ours in zip(zip(*there, strict=True), zip(*here, strict=True), strict=True):
            yield list(zip(theirs, ours, strict=True))


@dataclass(frozen=True)
class Limit:
    """How far results may be from the native ones: by level of uint8, or else as a share of the largest value."""

    most: float = 2
    mean: float = 0.6
    share: float = 2e-3


# nvJPEG repeats colors where libjpeg-turbo interpolates them, which shows at the edges of things.
DECODED = Limit(most=255, mean=4, share=0.05)


def near(got: Any, wanted: Any, limit: Limit) -> float:
    """Demand the same type, shape and, within limits, values; gives the mean difference."""
    kinds = [f"{array.dtype}{array.shape}" for array in (got, wanted)]
    assert kinds[0] == kinds[1], f"{kinds[0]} in place of {kinds[1]}"
    if not got.size:
        return 0.0
    apart = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
    if got.dtype == np.uint8:
        most, mean = limit.most, limit.mean
    else:
        largest = max(float(np.abs(wanted.astype(np.float64)).max()), 1e-6)
        most, mean = (largest * limit.share * factor for factor in (50 if limit is DECODED else 1, 1))
    found = f"differs by up to {apart.max():.4g} and {apart.mean():.4g} in the mean"
    assert apart.max() <= most and apart.mean() <= mean, f"{found}; {most:.4g} and {mean:.4g} are allowed"
    return float(apart.mean())


def external_source(place: Place, folder: Path) -> Any:
    """Name files and labels in the graph, decode and resize."""
    jpegs = fn.external_source(source=repeat([encoded(pixels) for pixels in pictures()]))
    labels = fn.external_source(source=repeat([np.array([place], np.uint8) for place in range(BATCH)]))
    images = decoded(jpegs, place, output_type=types.RGB)
    return fn.resize(images, resize_x=224, resize_y=224, interp_type=types.INTERP_TRIANGULAR), labels


def decoded(jpegs: Any, place: Place, **options: Any) -> Any:
    decode: Any = fn.decoders.image
    return decode(jpegs, device=place.decoder, **options)


def moved(node: Any, place: Place) -> Any:
    return node.gpu() if place.device == "gpu" else node


def segmentation(place: Place, folder: Path) -> Any:
    """Mirror, blur, brighten and change the contrast of arrays with masks."""
    image = fn.external_source(source=repeat([pixels[:90, :90] for pixels in pictures()]), layout="HWC")
    mask = fn.external_source(source=repeat([pixels[:90, :90, :1] // 128 for pixels in pictures()]), layout="HWC")
    image, mask = (fn.cast(moved(node, place), dtype=types.FLOAT) for node in (image, mask))
    image, mask = (fn.resize(node, size=[96, 96]) for node in (image, mask))
    horizontal, vertical = fn.random.coin_flip(probability=0.33), fn.random.coin_flip(probability=0.33)
    image, mask = (fn.flip(node, horizontal=horizontal, vertical=vertical) for node in (image, mask))
    blur, bright = fn.cast(fn.random.coin_flip(), dtype=types.BOOL), fn.cast(fn.random.coin_flip(), dtype=types.BOOL)
    blurred = fn.gaussian_blur(image, sigma=fn.random.uniform(range=(0.5, 1.5)))
    image = blur * blurred + (blur ^ True) * image
    factor = fn.random.uniform(range=(0.7, 1.3))
    image = bright * (image * factor) + (bright ^ True) * image
    least, largest = fn.reductions.min(image), fn.reductions.max(image)
    image = math.clamp(image * fn.random.uniform(range=(0.65, 1.5)), least, largest)
    return tuple(fn.transpose(node, perm=[2, 0, 1]) for node in (image, mask))


def tfdali(place: Place, folder: Path) -> Any:
    """Read, decode, resize, mirror, rotate, crop and normalize."""
    jpegs, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
    images = fn.resize(decoded(jpegs, place), resize_x=128.0, resize_y=128.0)
    images = fn.flip(images, horizontal=0, vertical=fn.random.coin_flip(probability=0.5))
    angle = fn.random.uniform(range=(-7.0, 7.0))
    images = fn.rotate(images, angle=angle, interp_type=types.INTERP_NN)
    spot = {f"crop_pos_{axis}": fn.random.uniform(range=(0.0, 1.0)) for axis in "xy"}
    mirror = fn.random.coin_flip(probability=0.5)
    images = fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, crop=(112, 112), mean=MEAN, std=STD, mirror=mirror, **spot
    )
    return images, angle, mirror, labels


def train(place: Place, folder: Path, *, window: bool = False) -> Any:
    """Cut out a random window, while or after decoding; resize, mirror and normalize."""
    jpegs, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
    decode_window: Any = fn.decoders.image_random_crop
    if window:
        images = fn.resize(decode_window(jpegs, device=place.decoder), size=96)
    else:
        images = fn.random_resized_crop(decoded(jpegs, place), size=96)
    mirror = fn.random.coin_flip(probability=0.5)
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD, dtype=types.FLOAT), mirror, labels


def validation(place: Place, folder: Path) -> Any:
    """Resize the shorter side and cut out the center."""
    jpegs, labels = fn.readers.file(file_root=str(folder), name="Reader")
    images = fn.resize(decoded(jpegs, place), resize_shorter=110)
    return fn.crop_mirror_normalize(images, crop=(96, 96), mean=MEAN, std=STD, dtype=types.FLOAT), labels


def augmented(place: Place, folder: Path) -> Any:
    """Apply RandAugment."""
    jpegs, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(decoded(jpegs, place), size=96)
    return rand_augment.rand_augment(images, n=2, m=9), labels


PROGRAMS: dict[str, Callable[[Place, Path], Any]] = {
    "external_source": external_source,
    "segmentation": segmentation,
    "tfdali": tfdali,
    "train": train,
    "train_window": partial(train, window=True),
    "validation": validation,
    "rand_augment": augmented,
}


@dataclass(frozen=True)
class Case:
    """How an operator is called; lists of arrays are arguments of each sample, and inputs are images if left out."""

    arguments: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[tuple[Any, str], ...] = ()
    limit: Limit = Limit()


def case(*inputs: Any, limit: Limit | None = None, **arguments: Any) -> Case:
    pairs = tuple(value if isinstance(value, tuple) else (value, "") for value in inputs)
    return Case(arguments, pairs, limit or Limit())


def each(*values: Any, dtype: Any = np.float32) -> list[Any]:
    return [np.array(values[place % len(values)], dtype) for place in range(BATCH)]


def floats(*shape: int) -> list[Any]:
    return [np.random.default_rng(place).random(shape, np.float32) for place in range(BATCH)]


IMAGES = (pictures(), "HWC")
EQUAL = ([pixels[:90, :90] for pixels in IMAGES[0]], "HWC")
EDGES = Limit(most=255, mean=0.6)  # a pixel at the border may be in or out
KERNEL = [np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)] * BATCH
BOXES = [np.array([[0.1, 0.2, 0.5, 0.6], [0.3, 0.1, 0.9, 0.4]], np.float32)] * BATCH
LABELS = [np.array([3, 5], np.int32)] * BATCH
POINTS = [np.array([[0.1, 0.2], [0.5, 0.6], [0.9, 0.4]], np.float32)] * BATCH
PARTS = {
    "in_anchors": [np.array([[0, 0], [10, 20]], np.int32)] * BATCH,
    "out_anchors": [np.array([[0, 0], [40, 40]], np.int32)] * BATCH,
    "shapes": [np.array([[40, 40], [30, 30]], np.int32)] * BATCH,
    "in_ids": [np.array([place, (place + 1) % BATCH], np.int32) for place in range(BATCH)],
}
BLENDS = {f"reductions.{name}": case(axes=[0, 1]) for name in ("sum", "mean", "mean_square", "rms", "min", "max")}

CASES: dict[str, Case] = {
    **{name: case(**{name: each(0.7, 1.5)}) for name in ("brightness", "contrast")},
    "brightness_contrast": case(brightness=0.8, contrast=1.6),
    "hue": case(hue=each(-40.0, 90.0)),
    "saturation": case(saturation=each(0.3, 1.5)),
    "hsv": case(hue=40.0, saturation=1.4, value=0.9),
    "color_twist": case(brightness=1.1, contrast=1.2, hue=-40.0, saturation=1.5),
    "color_space_conversion": case(image_type=types.RGB, output_type=types.YCbCr),
    "cast": case(dtype=types.FLOAT),
    "cast_like": case(IMAGES, floats(2)),
    "copy": case(),
    "reinterpret": case(dtype=types.INT8),
    "reshape": case(EQUAL, shape=[45, 180, 3]),
    "squeeze": case((floats(4, 1, 5), "HWC"), axes=[1]),
    "expand_dims": case(axes=[0], new_axis_names="F"),
    "cat": case(EQUAL, EQUAL, axis=1),
    "stack": case(EQUAL, EQUAL, axis=0),
    "transpose": case(perm=[2, 0, 1]),
    "shapes": case(),
    "pad": case(axes=[0, 1], shape=[150, 200], fill_value=60.0),
    "crop": case(crop=[60, 70], crop_pos_x=each(0.2, 0.9), crop_pos_y=each(0.0, 1.0)),
    "slice": case(start=[10, 20], end=[60, 80], axes=[0, 1]),
    "flip": case(horizontal=each(0, 1, dtype=np.int32), vertical=each(0, 0, 1, dtype=np.int32)),
    "crop_mirror_normalize": case(crop=[60, 70], mirror=each(0, 1, dtype=np.int32), mean=MEAN, std=STD),
    "resize": case(size=[75, 200]),
    "resize_crop_mirror": case(resize_shorter=80.0, crop=[60, 70], mirror=1),
    "random_resized_crop": case(size=[64, 64]),
    **{name: case(sizes=[50.0, 60.0, 3.0]) for name in ("tensor_resize", "experimental.tensor_resize")},
    "rotate": case(angle=each(-20.0, 33.0), keep_size=True, fill_value=0.0, limit=EDGES),
    "warp_affine": case(matrix=[0.9, 0.3, -30, -0.1, 1.1, 10], fill_value=0.0, limit=EDGES),
    "gaussian_blur": case(sigma=each(0.5, 2.0)),
    "laplacian": case(window_size=5, smoothing_size=3, dtype=types.FLOAT),
    **{name: case(IMAGES, KERNEL) for name in ("filter", "experimental.filter")},
    **{f"experimental.{name}": case(mask_size=[3, 3]) for name in ("dilate", "erode")},
    "experimental.median_blur": case(window_size=[3, 3]),
    "sequence_rearrange": case((floats(4, 5), "FX"), new_order=[2, 0]),
    "per_frame": case((floats(4, 5), "FX")),
    "experimental.remap": case(IMAGES, floats(40, 50), floats(40, 50), limit=EDGES),
    "experimental.warp_perspective": case(matrix=[0.9, 0.3, -30, -0.1, 1.1, 10, 0.0003, 0.0005, 1.0], limit=EDGES),
    **{name: case() for name in ("equalize", "experimental.equalize")},
    "clahe": case(tiles_x=4, tiles_y=4, clip_limit=4.0, limit=Limit(most=255, mean=2)),
    "jpeg_compression_distortion": case(quality=each(10, 60, dtype=np.int32), limit=Limit(most=255, mean=3)),
    "sphere": case(interp_type=types.INTERP_LINEAR, limit=EDGES),
    "water": case(ampl_x=6.0, ampl_y=6.0, interp_type=types.INTERP_LINEAR, limit=EDGES),
    "erase": case(anchor=[20, 30], shape=[30, 40], fill_value=[90.0]),
    "grid_mask": case(tile=30, ratio=0.4, angle=0.3, limit=EDGES),
    "normalize": case(axes=[0, 1]),
    "paste": case(ratio=1.5, paste_x=0.2, paste_y=0.7, fill_value=[40, 60, 110]),
    "multi_paste": case(EQUAL, output_size=[90, 90], **PARTS),
    "lookup_table": case(keys=list(range(256)), values=[float(level // 64) for level in range(256)]),
    "one_hot": case(each(0, 3, 5, dtype=np.int32), num_classes=6),
    "element_extract": case((floats(4, 5, 6), "FHW"), element_map=[0, 2]),
    "noise.gaussian": case(stddev=each(5.0, 20.0)),
    "permute_batch": case(indices=each(*reversed(range(BATCH)), dtype=np.int32)),
    "box_encoder": case(BOXES, LABELS, anchors=[0.0, 0.0, 0.5, 0.5, 0.3, 0.1, 0.9, 0.4]),
    "bb_flip": case(BOXES, horizontal=each(0, 1, dtype=np.int32), ltrb=True),
    "coord_flip": case((POINTS, ""), flip_x=each(0, 1, dtype=np.int32)),
    "coord_transform": case((POINTS, ""), MT=[0.0, 1.0, 0.25, -1.0, 0.0, 0.5]),
    **BLENDS,
    "reductions.std_dev": case(floats(5, 6, 7), floats(1, 1, 7), axes=[0, 1], keep_dims=True),
    "reductions.variance": case(floats(5, 6, 7), floats(1, 1, 7), axes=[0, 1], keep_dims=True),
}


def called(name: str, chosen: Case, place: Place) -> Any:
    """Call an operator on inputs that are on the GPU; arguments of each sample stay in main memory."""
    inputs = chosen.inputs or (IMAGES,)
    nodes = [moved(fn.external_source(source=repeat(batch), layout=layout or None), place) for batch, layout in inputs]
    arguments = {
        key: fn.external_source(source=repeat(value))
        if isinstance(value, list) and isinstance(value[0], np.ndarray)
        else value
        for key, value in chosen.arguments.items()
    }
    function: Any = fn
    for part in name.split("."):
        function = getattr(function, part)
    return function(*nodes, device=place.device, **arguments)


def operator(name: str, place: Place, folder: Path) -> str:
    """Compare one operator."""
    chosen = CASES[name]
    if place.device == "cpu" and "cpu" not in REGISTRY[name].dali.devices:  # type: ignore[union-attr]
        raise Skipped("DALI has it for the GPU alone")
    if versions.function(REGISTRY[name].dali.name or name) is None:  # type: ignore[union-attr]
        raise Skipped("this version of DALI does not have it, or not right")
    build = partial(called, name, chosen, place)
    pipeline = made(build, engine="dali", device_id=place.device_id)
    plan: Any = pipeline._ready().plan
    pipeline.close()
    assert name in {node.operator for node in getattr(plan, "inside", ())}, "it was not given to DALI"
    apart = [near(got, wanted, chosen.limit) for pairs in both(build, place) for got, wanted in pairs]
    return f"mean difference {max(apart):.4f}"


def decode(place: Place, folder: Path) -> str:
    """Compare what the decoders give for JPEG of all kinds, and for PNG."""
    found = []
    (exif := Image.Exif())[274] = 6  # the orientation of an image that was taken upright
    kinds: dict[str, dict[str, Any]] = {
        **{name: {"subsampling": number} for number, name in enumerate(("4:4:4", "4:2:2", "4:2:0"))},
        "progressive": {"progressive": True},
        "turned": {"exif": exif},
        "grey": {},
        "png": {"kind": "PNG"},
    }
    for kind, options in kinds.items():
        files = [encoded(pixels[:, :, 0] if kind == "grey" else pixels, **options) for pixels in pictures()]
        build = partial(lambda files: decoded(fn.external_source(source=repeat(files)), place), files)
        limit = Limit(most=255, mean=1.5) if kind in ("4:4:4", "grey", "png") else DECODED
        found.append(f"{kind} {max(near(*pair, limit) for (pair,) in both(build, place)):.2f}")
    return "mean difference: " + ", ".join(found)


def program(name: str, place: Place, folder: Path) -> str:
    """Compare three batches of a program: the same samples and numbers, and images that are near."""
    apart = []
    for (got, wanted), *rest in both(partial(PROGRAMS[name], place, folder), place, count=3):
        assert all(np.array_equal(*pair) for pair in rest if pair[0].ndim < 3), "numbers or labels differ"
        apart += [near(got, wanted, DECODED), *(near(*pair, DECODED) for pair in rest if pair[0].ndim == 3)]
    return f"{len(apart)} pictures, mean difference {max(apart):.4f}"


def random_choices(place: Place, folder: Path) -> str:
    """Demand the same numbers from all operators that draw."""

    def build() -> Any:
        jpegs, labels = fn.readers.file(file_root=str(folder), random_shuffle=True, name="Reader")
        shape = fn.peek_image_shape(jpegs)
        window = fn.random_crop_generator(shape)
        drawn = fn.random.uniform(), fn.random.normal(), fn.random.coin_flip(), fn.random.choice(7)
        images = fn.brightness(decoded(jpegs, place), brightness=drawn[0])
        return (images, labels, *drawn, *window)

    count = 0
    for _, *numbers in both(build, place, count=3):
        assert all(np.array_equal(got, wanted) for got, wanted in numbers)
        count += len(numbers)
    return f"{count} values are equal"


def resume(place: Place, folder: Path) -> str:
    """Go on from a state, in another pipeline: the same bits."""
    first, second = (made(partial(train, place, folder), engine="dali", device_id=place.device_id) for _ in range(2))
    taken(first, 3)
    state = json.loads(json.dumps(first.state_dict()))
    wanted = taken(first, 2)
    second.load_state_dict(state)
    for there, here in zip(taken(second, 2), wanted, strict=True):
        for many, few in zip(there, here, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(many, few, strict=True)), "pictures differ"
    return "two batches after the third are the same bits"


def shards(place: Place, folder: Path) -> str:
    """Read each file once in two shards."""

    def build(shard: int) -> Any:
        jpegs, place_in_list = fn.readers.file(files=names, num_shards=2, shard_id=shard, name="Reader")
        return fn.resize(decoded(jpegs, place), size=[32, 32]), place_in_list

    names = sorted(str(path) for path in folder.glob("*/*"))
    seen = []
    for shard in range(2):
        pipeline = made(partial(build, shard), engine="dali", device_id=place.device_id)
        steps = len(names) // 2 // BATCH
        seen += [int(number) for batch in taken(pipeline, steps) for number in np.ravel(batch[1])]
        pipeline.close()
    assert sorted(seen) == list(range(len(names)))
    return f"{len(seen)} samples, each once"


def error_policy(place: Place, folder: Path) -> str:
    """Treat bad files as the native engine does."""
    files = [encoded(pixels) for pixels in pictures()]
    files[1] = files[1][: len(files[1]) // 3]
    files[4] = np.frombuffer(b"this is no picture at all", np.uint8)

    def build() -> Any:
        return fn.resize(decoded(fn.external_source(source=repeat(files)), place), size=[32, 32])

    found: dict[str, Any] = {}
    for engine, device_id in (("dali", place.device_id), ("native", None)):
        pipeline = made(build, engine=engine, device_id=device_id, on_error="fill", max_errors=1000)
        taken(pipeline, 2)
        events = sorted((event.sample, event.kind) for event in pipeline.errors.events if event.fatal)
        found[engine] = events, pipeline.valid.tolist()
    assert found["dali"] == found["native"] and found["native"][0], str(found)
    try:
        made(build, engine="dali", device_id=place.device_id).run()
    except DataError as error:
        return f"the same {len(found['native'][0])} events, the same places filled; raised: {error.events[0].kind}"
    raise AssertionError("nothing was raised")


def dlpack(place: Place, folder: Path) -> str:
    """Take a batch over by torch, where it is."""
    try:
        import torch
    except ImportError:
        raise Skipped("torch is not installed") from None
    if place.device == "gpu" and not torch.cuda.is_available():
        raise Skipped("this torch has no CUDA")
    from pixelmill.plugin.pytorch import DALIGenericIterator

    pipeline = made(partial(train, place, folder), engine="dali", device_id=place.device_id)
    (images, *_) = pipeline.run()
    tensor = torch.from_dlpack(images.as_tensor())
    assert tensor.is_cuda == (place.device == "gpu")
    assert np.array_equal(tensor.cpu().numpy(), np.stack(arrays(images)))
    iterator = DALIGenericIterator(
        made(partial(train, place, folder), engine="dali", device_id=place.device_id),
        ["images", "mirror", "labels"],
        reader_name="Reader",
    )
    (batch,) = next(iterator)
    assert batch["images"].is_cuda == (place.device == "gpu") and not batch["labels"].is_cuda
    assert torch.equal(batch["images"], tensor)
    return f"{tuple(tensor.shape)} on {tensor.device}"


def two_gpus(place: Place, folder: Path) -> str:
    """Run a pipeline on each of two GPUs."""
    if place.device == "cpu" or len(devices.usable_gpus()) < 2:
        raise Skipped("there are not two GPUs")
    results = []
    for gpu in devices.usable_gpus()[:2]:
        pipeline = made(partial(train, Place(gpu.number), folder), engine="dali", device_id=gpu.number)
        results.append([np.stack(output) for batch in taken(pipeline, 2) for output in batch])
    apart = [near(got, wanted, Limit(share=1e-3)) for got, wanted in zip(*results, strict=True)]
    return f"mean difference {max(apart):.4f}"


def command(name: str, *arguments: str) -> None:
    run = subprocess.run([sys.executable, "-m", "pixelmill", name, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-500:]


def mode_augment(place: Place, folder: Path) -> str:
    """Augment a dataset by the command; everything but the images is the same as on the CPU."""
    apart = []
    with tempfile.TemporaryDirectory() as output:
        augment(folder, f"{output}/cpu", to="tfrecord", workers=1)
        if place.device == "gpu":
            command("augment", str(folder), "--mode", "gpu", "--output", f"{output}/gpu", "--to", "tfrecord")
        else:
            augment(folder, f"{output}/gpu", to="tfrecord", workers=1, mode="dali")
        for got, wanted in zip(*(open_dataset(f"{output}/{mode}").container for mode in ("gpu", "cpu")), strict=True):
            assert replace(got, image=b"", extra={}) == replace(wanted, image=b"", extra={})
            pixels = [np.asarray(Image.open(io.BytesIO(one.image))) for one in (got, wanted)]
            apart.append(near(pixels[0], pixels[1], DECODED))
    return f"{len(apart)} samples, mean difference {max(apart):.2f}"


def mode_ingest(place: Place, folder: Path) -> str:
    """Ingest a folder by the command; all but the pixels is the same as on the CPU."""
    apart = []
    with tempfile.TemporaryDirectory() as output:
        ingest(folder, f"{output}/cpu", num_shards=1, img_size=64, num_workers=1)
        if place.device == "gpu":
            options = f"--input_dir={folder}", f"--output_dir={output}/gpu", "--num_shards=1", "--img_size=64"
            command("ingest", "--mode", "gpu", *options)
        else:
            ingest(folder, f"{output}/gpu", num_shards=1, img_size=64, num_workers=1, mode="dali")
        pairs = zip(*(read_records(f"{output}/{mode}/train-00000-of-00001") for mode in ("gpu", "cpu")), strict=True)
        for got, wanted in (map(parsed, pair) for pair in pairs):
            pixels = [np.frombuffer(example.pop("image/encoded").values[0], np.uint8) for example in (got, wanted)]
            assert str(got) == str(wanted)
            apart.append(near(pixels[0], pixels[1], DECODED))
    return f"{len(apart)} records, mean difference {max(apart):.2f}"


Check = Callable[[Place, Path], str]
CHECKS: dict[str, Check] = {
    "decode": decode,
    **{f"operator {name}": partial(operator, name) for name in CASES},
    **{f"program {name}": partial(program, name) for name in PROGRAMS},
    "random choices": random_choices,
    "resume": resume,
    "shards": shards,
    "error policy": error_policy,
    "DLPack to torch": dlpack,
    "two GPUs": two_gpus,
    "augment --mode gpu": mode_augment,
    "ingest --mode gpu": mode_ingest,
}


class Warnings(logging.Handler):
    """Collects what pixelmill warns of: a batch that DALI gave up is made natively, and must not pass here."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def run(check: Check, place: Place, folder: Path) -> tuple[str, str]:
    """Make one check; gives pass, skip or FAIL, and what there is to say."""
    log, warned = logging.getLogger("pixelmill"), Warnings()
    log.addHandler(warned)
    try:
        text = check(place, folder)
        return ("FAIL", " ".join(warned.texts[0].split())[:600]) if warned.texts else ("pass", text)
    except Skipped as reason:
        return "skip", str(reason)
    except Exception as error:  # whatever it is, the other checks shall run
        text = f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
        return "FAIL", " ".join(text.split())[:300]
    finally:
        log.removeHandler(warned)


def main(arguments: Sequence[str]) -> int:
    """Make the checks and print a table."""
    pretend = "--pretend" in arguments
    words = [word for word in arguments if word != "--pretend"]
    missing = devices.why_no_dali() if pretend else devices.why_no_gpu()
    if missing is not None:
        print(f"gpu-test: nothing was tested, because {missing.reason}; next step: {missing.next_step}.")
        return 2
    place = Place(None if pretend else devices.usable_gpus()[0].number)
    where = "DALI's CPU operators" if pretend else devices.usable_gpus()[0].name
    print(f"pixelmill and DALI {devices.find_dali().version} on {where}")
    counts = {"pass": 0, "skip": 0, "FAIL": 0}
    with tempfile.TemporaryDirectory() as folder:
        create_images(folder, "p_", 120, 90, 24, "jpg", content="photo", classes=3, workers=1)
        for name, check in CHECKS.items():
            if words and not any(word in name for word in words):
                continue
            began = time.perf_counter()
            outcome, text = run(check, place, Path(folder))
            counts[outcome] += 1
            print(f"{outcome}  {name:<38} {time.perf_counter() - began:5.1f} s  {text}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
