"""Transforms of recipes beside Albumentations and bare OpenCV: 512 x 512 RGB bytes, one thread; and whole presets.

    python benchmarks/augmentation_transforms.py [--presets] [--only NAME ...] [--output FILE.json]

Each transform runs on the same image in memory. Ours is a run of a pipeline of one step with one image, in one thread,
theirs is a call. Rounds are interleaved, and the shortest of each counts. The cost of a run without a step comes first.
The presets go from JPEG files to batches of CHW floats, ours with 2 threads, Albumentations in a DataLoader with 2
workers.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from machine import describe

from pixelmill import fn, pipeline_def, types
from pixelmill.pipeline import Pipeline
from pixelmill.recipe import Recipe, load_recipe

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import albumentations as A  # noqa: N812 - its usual name

SIDE, BATCH, ROUNDS = 512, 16, 25
Pixels = np.ndarray[Any, Any]


def photo() -> Pixels:
    """Return an image with edges, gradients and noise."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[:SIDE, :SIDE]
    base = np.stack([127 + 90 * np.sin(x / 31 + k) * np.cos(y / (19 + 7 * k)) for k in range(3)], -1)
    return np.clip(base + rng.normal(0, 12, base.shape), 0, 255).astype(np.uint8)


IMAGE = photo()
TURN = cv2.getRotationMatrix2D((SIDE / 2, SIDE / 2), 20, 1.1)
PERSPECTIVE = cv2.getPerspectiveTransform(
    np.array([[20, 30], [490, 10], [500, 490], [5, 505]], np.float32),
    np.array([[0, 0], [512, 0], [512, 512], [0, 512]], np.float32),
)

TABLE: Pixels = (255 * (np.arange(256) / 255) ** 0.8).astype(np.uint8)
KERNEL: Pixels = np.array([[-0.3, -0.3, -0.3], [-0.3, 3.4, -0.3], [-0.3, -0.3, -0.3]], np.float32)

# Our step, their transform, and OpenCV where one call does the same.
TRANSFORMS: dict[str, tuple[dict[str, Any], Callable[[], Any], Callable[[], object] | None]] = {
    "horizontal flip": ({"flip": {"horizontal": 1, "p": 1}}, lambda: A.HorizontalFlip(p=1), lambda: cv2.flip(IMAGE, 1)),
    "vertical flip": ({"flip": {"vertical": 1, "p": 1}}, lambda: A.VerticalFlip(p=1), lambda: cv2.flip(IMAGE, 0)),
    "transpose": ({"transpose": {}}, lambda: A.Transpose(p=1), lambda: cv2.transpose(IMAGE)),
    "rotate90": (
        {"rotate90": {"times": 1}},
        lambda: A.RandomRotate90(p=1),
        lambda: cv2.rotate(IMAGE, cv2.ROTATE_90_COUNTERCLOCKWISE),
    ),
    "resize to 256": (
        {"resize": {"size": [256, 256], "p": 1}},
        lambda: A.Resize(256, 256, p=1),
        lambda: cv2.resize(IMAGE, (256, 256)),
    ),
    "letterbox to 640": (
        {"letterbox": {"size": [640, 416]}},
        lambda: A.Compose([A.LongestMaxSize(max_size_hw=(640, 416)), A.PadIfNeeded(640, 416, fill=114)]),
        None,
    ),
    "pad to 640": ({"pad": {"size": [640, 640]}}, lambda: A.PadIfNeeded(640, 640, p=1), None),
    "random crop 400": (
        {"crop": {"size": [400, 400], "y": {"uniform": [0, 1]}, "x": {"uniform": [0, 1]}, "p": 1}},
        lambda: A.RandomCrop(400, 400, p=1),
        None,
    ),
    "random resized crop": (
        {"random_resized_crop": {"size": [224, 224]}},
        lambda: A.RandomResizedCrop((224, 224), p=1),
        None,
    ),
    "rotate": (
        {"rotate": {"angle": {"uniform": [-45, 45]}, "p": 1}},
        lambda: A.Rotate(45, p=1),
        lambda: cv2.warpAffine(IMAGE, TURN, (SIDE, SIDE)),
    ),
    "shift scale rotate": (
        {"shift_scale_rotate": {"angle": 20, "scale": 1.1, "shift_x": 0.05}},
        lambda: A.ShiftScaleRotate((0.05, 0.05), (0.1, 0.1), (20, 20), p=1),
        lambda: cv2.warpAffine(IMAGE, TURN, (SIDE, SIDE)),
    ),
    "affine": (
        {"affine": {"angle": 20, "scale": 1.1, "shear_x": 5}},
        lambda: A.Affine(rotate=(20, 20), scale=1.1, shear={"x": (5, 5), "y": (0, 0)}, p=1),
        lambda: cv2.warpAffine(IMAGE, TURN, (SIDE, SIDE)),
    ),
    "perspective": (
        {"perspective": {"strength": 0.07}},
        lambda: A.Perspective(p=1),
        lambda: cv2.warpPerspective(IMAGE, PERSPECTIVE, (SIDE, SIDE)),
    ),
    "elastic": ({"elastic": {}}, lambda: A.ElasticTransform(p=1), None),
    "grid distortion": ({"grid_distortion": {}}, lambda: A.GridDistortion(p=1), None),
    "optical distortion": ({"optical_distortion": {}}, lambda: A.OpticalDistortion(p=1), None),
    "thin plate": ({"thin_plate": {}}, lambda: A.ThinPlateSpline(p=1), None),
    "brightness contrast": (
        {"brightness_contrast": {"brightness_shift": 0.1, "contrast": 1.2}},
        lambda: A.RandomBrightnessContrast(p=1),
        lambda: cv2.convertScaleAbs(IMAGE, alpha=1.2, beta=25),
    ),
    "color jitter": (
        {"color_jitter": {"brightness": 1.1, "contrast": 0.9, "saturation": 1.2, "hue": 20}},
        lambda: A.ColorJitter(p=1),
        None,
    ),
    "hue saturation value": (
        {"hsv": {"hue": 10, "saturation": 1.2, "value": 0.9}},
        lambda: A.HueSaturationValue(p=1),
        None,
    ),
    "rgb shift": ({"rgb_shift": {"shift": [20, -10, 5]}}, lambda: A.RGBShift(p=1), None),
    "gamma": ({"gamma": {"gamma": 0.8}}, lambda: A.RandomGamma(p=1), lambda: cv2.LUT(IMAGE, TABLE)),
    "posterize": ({"posterize": {"bits": 4}}, lambda: A.Posterize(4, p=1), lambda: cv2.LUT(IMAGE, TABLE)),
    "solarize": ({"solarize": {}}, lambda: A.Solarize(p=1), lambda: cv2.LUT(IMAGE, TABLE)),
    "invert": ({"invert": {}}, lambda: A.InvertImg(p=1), lambda: cv2.bitwise_not(IMAGE)),
    "tone curve": ({"tone_curve": {}}, lambda: A.RandomToneCurve(p=1), lambda: cv2.LUT(IMAGE, TABLE)),
    "equalize": ({"equalize": {}}, lambda: A.Equalize(p=1), None),
    "clahe": (
        {"clahe": {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}},
        lambda: A.CLAHE((2, 2), p=1),
        None,
    ),
    "to gray": ({"to_gray": {}}, lambda: A.ToGray(p=1), None),
    "sepia": ({"sepia": {}}, lambda: A.ToSepia(p=1), None),
    "channel shuffle": ({"channel_shuffle": {}}, lambda: A.ChannelShuffle(p=1), None),
    "channel dropout": ({"channel_dropout": {}}, lambda: A.ChannelDropout(p=1), None),
    "pca lighting": ({"pca_lighting": {"alpha": [0.1, 0.1, 0.1]}}, lambda: A.FancyPCA(p=1), None),
    "gauss noise": ({"noise.gaussian": {"stddev": 20}}, lambda: A.GaussNoise(p=1), None),
    "iso noise": ({"noise.iso": {}}, lambda: A.ISONoise(p=1), None),
    "speckle noise": (
        {"noise.speckle": {"stddev": 0.1}},
        lambda: A.MultiplicativeNoise(elementwise=True, p=1),
        None,
    ),
    "salt and pepper": ({"noise.salt_and_pepper": {"prob": 0.03}}, lambda: A.SaltAndPepper(p=1), None),
    "shot noise": ({"noise.shot": {"factor": 5}}, lambda: A.ShotNoise(p=1), None),
    "box blur 5": ({"box_blur": {"size": 5}}, lambda: A.Blur((5, 5), p=1), lambda: cv2.blur(IMAGE, (5, 5))),
    "gaussian blur": (
        {"gaussian_blur": {"sigma": 1.5}},
        lambda: A.GaussianBlur(sigma_limit=(1.5, 1.5), p=1),
        lambda: cv2.GaussianBlur(IMAGE, (11, 11), 1.5),
    ),
    "median blur 5": (
        {"median_blur": {"window_size": 5}},
        lambda: A.MedianBlur((5, 5), p=1),
        lambda: cv2.medianBlur(IMAGE, 5),
    ),
    "motion blur 7": ({"motion_blur": {"size": 7, "angle": 30}}, lambda: A.MotionBlur((7, 7), p=1), None),
    "defocus": ({"defocus": {"radius": 3}}, lambda: A.Defocus((3, 3), p=1), None),
    "zoom blur": ({"zoom_blur": {"factor": 1.15}}, lambda: A.ZoomBlur((1.15, 1.16), p=1), None),
    "glass blur": ({"glass_blur": {}}, lambda: A.GlassBlur(p=1), None),
    "sharpen": ({"sharpen": {}}, lambda: A.Sharpen(p=1), lambda: cv2.filter2D(IMAGE, -1, KERNEL)),
    "emboss": ({"emboss": {}}, lambda: A.Emboss(p=1), lambda: cv2.filter2D(IMAGE, -1, KERNEL)),
    "jpeg compression": (
        {"jpeg_compression_distortion": {"quality": 70}},
        lambda: A.ImageCompression(quality_range=(70, 70), p=1),
        None,
    ),
    "downscale": ({"downscale": {"scale": 0.25}}, lambda: A.Downscale(p=1), None),
    "coarse dropout": ({"coarse_dropout": {"holes": [8]}}, lambda: A.CoarseDropout((8, 8), p=1), None),
    "random erasing": ({"random_erasing": {}}, lambda: A.Erasing(p=1), None),
    "grid dropout": ({"grid_mask": {"tile": 64}}, lambda: A.GridDropout(p=1), None),
    "rain": ({"rain": {}}, lambda: A.RandomRain(p=1), None),
    "snow": ({"snow": {}}, lambda: A.RandomSnow(p=1), None),
    "fog": ({"fog": {}}, lambda: A.RandomFog(p=1), None),
    "sun flare": ({"sun_flare": {}}, lambda: A.RandomSunFlare(p=1), None),
    "shadow": ({"shadow": {}}, lambda: A.RandomShadow(p=1), None),
    "spatter": ({"spatter": {}}, lambda: A.Spatter(p=1), None),
}


def timed(call: Callable[[], object], count: int) -> float:
    """Return milliseconds per image of `count` calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count * 1000


def one_step(step: dict[str, Any]) -> Pipeline:
    """Return a pipeline of one step, or of a copy, on the image."""
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, seed=1, prefetch_queue_depth=1)
    with pipeline:
        image = fn.external_source(source=lambda: [IMAGE], layout="HWC", no_copy=True)
        pipeline.set_outputs(Recipe("one", steps=(step,)).apply(image).image if step else fn.copy(image))
    pipeline.build()
    return pipeline


def measure(name: str) -> dict[str, Any]:
    """Measure one transform, in interleaved rounds."""
    step, make, bare = TRANSFORMS[name]
    pipeline = one_step(step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = make()
    times: dict[str, list[float]] = {"pixelmill": [], "albumentations": [], "opencv": []}
    pipeline.run()
    slow = timed(lambda: theirs(image=IMAGE), 1) > 20
    for _ in range(5 if slow else ROUNDS):
        times["pixelmill"].append(timed(pipeline.run, 3))
        times["albumentations"].append(timed(lambda: theirs(image=IMAGE), 1 if slow else 3))
        if bare is not None:
            times["opencv"].append(timed(bare, 3))
    pipeline.close()
    best = {who: min(values) for who, values in times.items() if values}
    return {"transform": name, **{f"{who}_ms": round(value, 4) for who, value in best.items()}}


def transforms(names: list[str]) -> dict[str, Any]:
    """Measure all transforms and print a table."""
    rows = []
    nothing = one_step({})
    floor = min(timed(nothing.run, 3) for _ in range(ROUNDS))
    nothing.close()
    print(f"a run with a copy and no step: {floor:.3f} ms")
    print(f"{'transform':<22}{'ours ms':>10}{'albumentations':>16}{'ratio':>8}{'opencv':>9}")
    for name in names:
        row = measure(name)
        row["ratio"] = round(row["albumentations_ms"] / row["pixelmill_ms"], 2)
        bare = f"{row['opencv_ms']:.3f}" if "opencv_ms" in row else ""
        print(
            f"{name:<22}{row['pixelmill_ms']:>10.3f}{row['albumentations_ms']:>16.3f}{row['ratio']:>8.2f}{bare:>9}",
            flush=True,
        )
        rows.append(row)
    ratios = [row["ratio"] for row in rows]
    faster = sum(ratio > 1 for ratio in ratios) / len(ratios)
    print(f"faster than Albumentations: {faster:.0%} of {len(rows)}, median {statistics.median(ratios):.2f} x")
    return {"copy_ms": round(floor, 4), "rows": rows, "faster": round(faster, 3), "median": statistics.median(ratios)}


def yolo_of_albumentations() -> Any:
    """Return the transforms of the preset yolo."""
    return A.Compose(
        [
            A.LongestMaxSize(max_size=640),
            A.PadIfNeeded(640, 640, fill=114),
            A.Affine(scale=(0.5, 1.5), translate_percent=(-0.1, 0.1), fill=114, p=1),
            A.HorizontalFlip(p=0.5),
            A.HueSaturationValue(p=1),
        ]
    )


def segmentation_of_albumentations() -> Any:
    """Return the transforms of the preset nnunet."""
    return A.Compose(
        [
            A.Resize(512, 512),
            A.Affine(rotate=(-180, 180), scale=(0.7, 1.4), p=0.4),
            A.ElasticTransform(p=0.2),
            A.HorizontalFlip(p=0.5),
            A.VerticalFlip(p=0.5),
            A.GaussNoise(std_range=(0, 0.1), p=0.1),
            A.GaussianBlur(sigma_limit=(0.5, 1.0), p=0.2),
            A.RandomBrightnessContrast(contrast_limit=0, p=0.15),
            A.RandomBrightnessContrast(brightness_limit=0, p=0.15),
            A.Downscale((0.5, 0.99), p=0.25),
            A.RandomGamma((70, 150), p=0.3),
        ]
    )


def preset(name: str, make: Callable[[], Any], *, masks: bool, images: int) -> dict[str, Any]:
    """Measure a preset from JPEG files to batches, in images per second."""
    import torch
    from torch.utils.data import DataLoader
    from torch.utils.data import Dataset as TorchDataset

    with tempfile.TemporaryDirectory() as folder:
        files, labels = write_images(Path(folder), images)

        class Files(TorchDataset[Any]):
            def __init__(self) -> None:
                cv2.setNumThreads(0)
                self.transform = make()

            def __len__(self) -> int:
                return len(files)

            def __getitem__(self, number: int) -> Any:
                cv2.setNumThreads(0)
                image = cv2.cvtColor(cv2.imread(files[number]), cv2.COLOR_BGR2RGB)
                given = {"image": image}
                if masks:
                    given["mask"] = cv2.imread(labels[number], cv2.IMREAD_GRAYSCALE)
                made = self.transform(**given)
                pixels = torch.from_numpy(np.ascontiguousarray(made["image"].transpose(2, 0, 1))).float() / 255
                return (pixels, torch.from_numpy(made["mask"])) if masks else pixels

        @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None, seed=1)
        def ours() -> Any:
            encoded, _ = fn.readers.file(files=files, name="r")
            mask = None
            if masks:
                mask = fn.decoders.image(fn.readers.file(files=labels)[0], output_type=types.GRAY)
            scene = load_recipe(name).apply(fn.decoders.image(encoded), mask)
            pixels = fn.crop_mirror_normalize(scene.image, std=[255.0], output_layout="CHW")
            return (pixels, scene.mask) if masks else pixels

        pipeline = ours()
        pipeline.run()
        loader = DataLoader(Files(), batch_size=BATCH, num_workers=2, persistent_workers=True)
        for _ in loader:
            pass  # starts the workers
        speeds: dict[str, list[float]] = {"pixelmill": [], "albumentations": []}
        for _ in range(3):
            start = time.perf_counter()
            for _ in range(images // BATCH):
                pipeline.run()
            speeds["pixelmill"].append(images / (time.perf_counter() - start))
            start = time.perf_counter()
            for _ in loader:
                pass
            speeds["albumentations"].append(images / (time.perf_counter() - start))
        pipeline.close()
        del loader
    best = {who: round(max(values), 1) for who, values in speeds.items()}
    print(f"{name}: {best} images/s, {best['pixelmill'] / best['albumentations']:.2f} x", flush=True)
    return {"preset": name, **best, "ratio": round(best["pixelmill"] / best["albumentations"], 2)}


def write_images(folder: Path, count: int) -> tuple[list[str], list[str]]:
    """Write JPEG files of 640 x 480 with masks."""
    big = cv2.resize(IMAGE, (640, 480))
    files, labels = [], []
    for number in range(count):
        files.append(str(folder / f"{number}.jpg"))
        labels.append(str(folder / f"{number}.png"))
        cv2.imwrite(files[-1], np.roll(big, 13 * number, axis=1), [cv2.IMWRITE_JPEG_QUALITY, 90])
        cv2.imwrite(labels[-1], (np.roll(big, 13 * number, axis=1)[:, :, 0] // 64))
    return files, labels


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of transforms")
    parser.add_argument("--presets", action="store_true", help="measure the presets too")
    parser.add_argument("--images", type=int, default=320, help="images of a preset")
    parser.add_argument("--output", help="write JSON here")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    result: dict[str, Any] = {"machine": describe(), **transforms(given.only or list(TRANSFORMS))}
    if given.presets:
        result["presets"] = [
            preset("yolo", yolo_of_albumentations, masks=False, images=given.images),
            preset("nnunet", segmentation_of_albumentations, masks=True, images=given.images),
        ]
    if given.output:
        Path(given.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
