"""A notebook: rows of a table as an external source, encoded files read by Python, tensors for PyTorch."""

import csv
import os
from random import Random

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline, pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy as Policy
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy


class ExternalInputIterator:
    def __init__(self, rows, root, batch_size, shuffle, device_id=0, num_gpus=1):
        self.rows, self.root, self.batch_size, self.shuffle = rows, root, batch_size, shuffle
        self.data_set_len = len(rows)
        self.rows = rows[self.data_set_len * device_id // num_gpus : self.data_set_len * (device_id + 1) // num_gpus]
        self.n = len(self.rows)

    def __iter__(self):
        self.i = 0
        if self.shuffle:
            Random(self.i).shuffle(self.rows)
        return self

    def __next__(self):
        batch, labels = [], []
        if self.i >= self.n:
            self.__iter__()
            raise StopIteration
        for _ in range(self.batch_size):
            name, label = self.rows[self.i % self.n]
            with open(os.path.join(self.root, name), "rb") as f:
                batch.append(np.frombuffer(f.read(), dtype=np.uint8))
            labels.append(np.array([label], dtype=np.float32))
            self.i += 1
        return batch, labels

    def __len__(self):
        return self.data_set_len

    next = __next__


class SampleSource:
    def __init__(self, rows, root, batch_size):
        self.rows, self.root = rows, root
        self.full_iterations = len(rows) // batch_size
        self.seen = []

    def __call__(self, sample_info):
        if sample_info.iteration >= self.full_iterations:
            raise StopIteration()
        name, label = self.rows[sample_info.idx_in_epoch]
        self.seen.append(
            (sample_info.idx_in_epoch, sample_info.idx_in_batch, sample_info.iteration, sample_info.epoch_idx)
        )
        return np.fromfile(os.path.join(self.root, name), dtype=np.uint8), np.int64([label])


class ExternalSourcePipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id, external_data):
        super().__init__(batch_size, num_threads, device_id, seed=12, exec_async=False, exec_pipelined=False)
        with self:
            jpegs, labels = fn.external_source(source=external_data, num_outputs=2, dtype=[types.UINT8, types.FLOAT])
            images = fn.decoders.image(jpegs, device="cpu")
            images = fn.resize(images, resize_x=40, resize_y=32)
            output = fn.cast(images, dtype=types.UINT8)
            self.set_outputs(output, labels)


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def by_sample(source):
    jpegs, labels = fn.external_source(source=source, num_outputs=2, batch=False)
    images = fn.decoders.image(jpegs)
    images = fn.resize(images, size=(32, 32))
    return fn.crop_mirror_normalize(images, mean=[0.0], std=[255.0], dtype=types.FLOAT, output_layout="CHW"), labels


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def by_name(root, names):
    path = fn.external_source(
        source=[
            [np.frombuffer(os.path.join(root, n).encode(), np.int8) for n in names[3 * i : 3 * i + 3]] for i in range(3)
        ],
        cycle="raise",
    )
    return fn.resize(fn.decoders.image(fn.io.file.read(path)), size=[20, 20])


def main(data):
    root = os.path.join(data, "flat")
    names = sorted(os.listdir(root))
    table = os.path.join(data, "train.csv")
    with open(table, "w", newline="") as f:
        csv.writer(f).writerows([["image", "label"]] + [[n, i % 5] for i, n in enumerate(names)])
    with open(table) as f:
        rows = [(r["image"], int(r["label"])) for r in csv.DictReader(f)]
    found = {}
    eii = ExternalInputIterator(list(rows), root, 4, shuffle=True)
    pipe = ExternalSourcePipeline(4, 2, None, eii)
    loader = DALIGenericIterator(
        pipe, ["data", "label"], last_batch_padded=True, last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )
    for epoch in range(2):
        found[f"epoch {epoch}"] = [(b[0]["data"].numpy().copy(), b[0]["label"].numpy().copy()) for b in loader]
    loader = DALIGenericIterator(
        ExternalSourcePipeline(4, 2, None, ExternalInputIterator(list(rows), root, 4, False)),
        ["data", "label"],
        size=len(rows),
        last_batch_padded=True,
        last_batch_policy=Policy.PARTIAL,
        auto_reset=True,
    )
    found["sized"] = [[b[0]["data"].shape[0] for b in loader] for _ in range(2)]
    source = SampleSource(rows, root, 3)
    pipe = by_sample(source, prefetch_queue_depth=1)
    loader = DALIGenericIterator(pipe, ["image", "target"], auto_reset=True)
    found["by sample"] = [
        [(b[0]["image"].numpy().copy(), b[0]["target"].numpy().copy()) for b in loader] for _ in range(2)
    ]
    found["infos"] = sorted({info for info in source.seen if info[3] < 2})
    pipe = by_name(root, names[:9])
    pipe.build()
    outs = []
    for _ in range(2):
        while True:
            try:
                outs.append(np.array(pipe.run()[0].as_tensor()))
            except StopIteration:
                pipe.reset()
                break
    found["by name"] = outs
    return found
