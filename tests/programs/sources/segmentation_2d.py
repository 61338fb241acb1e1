"""2-D medical segmentation: slices as NumPy arrays, one window for image and mask, and intensity augmentation."""

import glob
import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.math as math
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator


class GenericPipeline(Pipeline):
    def __init__(self, data, probability, batch_size=4):
        super().__init__(batch_size, 2, None, seed=3)
        self.probability = probability
        self.input_x = self.get_reader(sorted(glob.glob(os.path.join(data, "slices", "*_x.npy"))))
        self.input_y = self.get_reader(sorted(glob.glob(os.path.join(data, "slices", "*_y.npy"))))

    def get_reader(self, files):
        return ops.readers.Numpy(
            files=files,
            device="cpu",
            read_ahead=True,
            dont_use_mmap=True,
            pad_last_batch=True,
            shard_id=0,
            num_shards=1,
        )

    def random_augmentation(self, augmented, original):
        condition = fn.cast(fn.random.coin_flip(probability=self.probability), dtype=types.BOOL)
        neg_condition = condition ^ True
        return condition * augmented + neg_condition * original

    def load(self):
        img = self.input_x(name="ReaderX")
        lbl = self.input_y(name="ReaderY")
        return fn.reshape(img, layout="CHW"), fn.reshape(lbl, layout="CHW")

    def crop(self, img, lbl, x, y):
        return (
            fn.crop(item, crop=[32, 40], crop_pos_x=x, crop_pos_y=y, out_of_bounds_policy="pad") for item in (img, lbl)
        )

    def flips(self, img, lbl):
        horizontal = fn.random.coin_flip(probability=self.probability)
        vertical = fn.random.coin_flip(probability=self.probability)
        return (fn.flip(item, horizontal=horizontal, vertical=vertical) for item in (img, lbl))

    def blur(self, img):
        blurred = fn.gaussian_blur(img, sigma=fn.random.uniform(range=(0.5, 1.5)) * 0 + 0.9)
        return self.random_augmentation(blurred, img)

    def brightness(self, img):
        scale = self.random_augmentation(1.2 * fn.random.uniform(values=[1.0]), 1.0)
        return img * scale

    def contrast(self, img):
        scale = self.random_augmentation(0.7 * fn.random.uniform(values=[1.0]), 1.0)
        return math.clamp(img * scale, fn.reductions.min(img), fn.reductions.max(img))

    def gamma(self, img):
        low, high = fn.reductions.min(img), fn.reductions.max(img)
        unit = (img - low) / (high - low + 1e-6)
        return self.random_augmentation(math.pow(unit, 1.4) * (high - low) + low, img)

    def noise(self, img):
        noised = img + fn.random.normal(img, stddev=fn.random.uniform(range=(0.0, 0.33)))
        return self.random_augmentation(noised, img)


class TrainPipeline(GenericPipeline):
    def define_graph(self):
        img, lbl = self.load()
        img, lbl = self.crop(img, lbl, 0.25, 0.8)
        img, lbl = self.flips(img, lbl)
        img = self.gamma(self.contrast(self.brightness(self.blur(img))))
        return img, lbl


class NoisePipeline(GenericPipeline):
    def define_graph(self):
        img, lbl = self.load()
        img, lbl = self.crop(img, lbl, fn.random.uniform(range=(0, 1)), fn.random.uniform(range=(0, 1)))
        img, lbl = self.flips(img, lbl)
        return self.noise(self.gamma(self.contrast(self.brightness(self.blur(img))))), lbl


class EvalPipeline(GenericPipeline):
    def define_graph(self):
        img, lbl = self.load()
        return fn.pad(img, axes=(1, 2), align=16), fn.pad(lbl, axes=(1, 2), align=16)


def epochs(pipe, count=1):
    loader = DALIGenericIterator(pipe, ["image", "label"], reader_name="ReaderX", auto_reset=True)
    return [[(b[0]["image"].numpy().copy(), b[0]["label"].numpy().copy()) for b in loader] for _ in range(count)]


def main(data):
    found = {f"probability {p}": epochs(TrainPipeline(data, float(p))) for p in (0, 1)}
    found["evaluation"] = epochs(EvalPipeline(data, 0.0, batch_size=1))
    drawn = [pair for epoch in epochs(NoisePipeline(data, 0.5), 12) for pair in epoch]
    found["drawn_images"] = [img for img, _ in drawn]
    found["drawn_masks"] = [lbl for _, lbl in drawn]
    found["classes"] = sorted({int(v) for _, lbl in drawn for v in np.unique(lbl)})
    return found
