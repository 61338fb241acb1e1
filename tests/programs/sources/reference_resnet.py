"""Training and validation as reference code for ResNet does it: pipelines as classes, and a loader around them."""

import os

import numpy as np
import nvidia.dali.ops as ops
import nvidia.dali.types as types
import torch
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy


class HybridTrainPipe(Pipeline):
    def __init__(
        self, batch_size, num_threads, device_id, data_dir, interpolation, crop, local_rank, world_size, dali_cpu=True
    ):
        super().__init__(batch_size, num_threads, device_id, seed=12 + local_rank)
        rrc_interp = {
            "bicubic": types.INTERP_CUBIC,
            "bilinear": types.INTERP_LINEAR,
            "triangular": types.INTERP_TRIANGULAR,
        }[interpolation]
        self.input = ops.FileReader(
            file_root=data_dir, shard_id=local_rank, num_shards=world_size, random_shuffle=True, pad_last_batch=True
        )
        dali_device = "cpu"
        self.decode = ops.decoders.ImageRandomCrop(
            device=dali_device,
            output_type=types.RGB,
            random_aspect_ratio=[0.75, 4.0 / 3.0],
            random_area=[0.08, 1.0],
            num_attempts=100,
        )
        self.res = ops.Resize(device=dali_device, resize_x=crop, resize_y=crop, interp_type=rrc_interp, antialias=False)
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu",
            dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(crop, crop),
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )
        self.coin = ops.random.CoinFlip(probability=0.5)

    def define_graph(self):
        rng = self.coin()
        self.jpegs, self.labels = self.input(name="Reader")
        images = self.decode(self.jpegs)
        images = self.res(images)
        output = self.cmnp(images, mirror=rng)
        return [output, self.labels]


class HybridValPipe(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, data_dir, crop, size, rank, world):
        super().__init__(batch_size, num_threads, device_id, seed=12)
        self.input = ops.readers.File(
            file_root=data_dir, shard_id=rank, num_shards=world, random_shuffle=False, pad_last_batch=True
        )
        self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(device="cpu", resize_shorter=size, interp_type=types.INTERP_LINEAR, antialias=False)
        self.cmnp = ops.CropMirrorNormalize(
            device="cpu",
            dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(crop, crop),
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        )

    def define_graph(self):
        self.jpegs, self.labels = self.input(name="Reader")
        return [self.cmnp(self.res(self.decode(self.jpegs))), self.labels]


class DALIWrapper:
    def gen_wrapper(self, num_classes, one_hot, memory_format):
        for data in self:
            input = data[0]["data"].contiguous(memory_format=memory_format)
            target = torch.reshape(data[0]["label"], [-1]).long()
            if one_hot:
                target = torch.nn.functional.one_hot(target, num_classes).float()
            yield input, target
        self.reset()

    def __init__(self, dalipipeline, num_classes, one_hot, memory_format):
        self.dalipipeline = dalipipeline
        self.num_classes, self.one_hot, self.memory_format = num_classes, one_hot, memory_format

    def __iter__(self):
        return DALIWrapper.gen_wrapper(self.dalipipeline, self.num_classes, self.one_hot, self.memory_format)

    def __len__(self):
        return len(self.dalipipeline)


def loader(pipe, **kw):
    pipe.build()
    return DALIWrapper(DALIClassificationIterator(pipe, reader_name="Reader", **kw), 3, True, torch.channels_last)


def main(data):
    root = os.path.join(data, "classes")
    found = {}
    for world in (1, 2):
        for rank in range(world):
            val = loader(HybridValPipe(4, 2, None, root, 40, 48, rank, world), fill_last_batch=False)
            epochs = [[(x.numpy().copy(), y.numpy().copy()) for x, y in val] for _ in range(2)]
            found[f"val {rank} of {world}"] = epochs if world == 1 else [len(e) for e in epochs]
            found[f"len {rank} of {world}"] = len(val)
    train = loader(HybridTrainPipe(4, 2, None, root, "triangular", 40, 0, 1), last_batch_policy=LastBatchPolicy.PARTIAL)
    batches = [(x.numpy().copy(), y.numpy().copy()) for _ in range(15) for x, y in train]
    found["drawn_train"] = [b[0] for b in batches]
    found["sizes"] = [len(b[0]) for b in batches]
    found["labels"] = np.sum([b[1].sum(0) for b in batches], 0)
    return found
