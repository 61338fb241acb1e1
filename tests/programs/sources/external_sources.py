"""Every kind of external source: batches from iterables and generators, callables by index, samples by SampleInfo."""

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator


def picture(number):
    return np.random.default_rng(number).integers(0, 256, (20 + number % 5, 30, 3), np.uint8)


class Batches:
    """An iterable of batches of two outputs, which ends."""

    def __init__(self, batch_size, count):
        self.batch_size, self.count = batch_size, count

    def __iter__(self):
        self.position = 0
        return self

    def __next__(self):
        if self.position == self.count:
            raise StopIteration
        numbers = range(self.position * self.batch_size, (self.position + 1) * self.batch_size)
        self.position += 1
        return [picture(n) for n in numbers], np.array([[n] for n in numbers], np.int32)


class Samples:
    """A callable by SampleInfo, shuffled differently in each epoch."""

    def __init__(self, count, batch_size):
        self.count, self.full = count, count // batch_size

    def __call__(self, info):
        if info.iteration >= self.full:
            raise StopIteration
        order = np.random.default_rng(info.epoch_idx).permutation(self.count)
        number = order[info.idx_in_epoch]
        return picture(int(number)), np.int32([number, info.idx_in_batch, info.iteration, info.epoch_idx])


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def from_iterable():
    images, labels = fn.external_source(source=Batches(3, 4), num_outputs=2, layout=["HWC", ""])
    return fn.resize(images, size=[16, 16]), labels


@pipeline_def(batch_size=3, num_threads=2, device_id=None)
def from_samples():
    images, labels = fn.external_source(
        source=Samples(10, 3), num_outputs=2, batch=False, dtype=[types.UINT8, types.INT32]
    )
    return fn.crop(images, crop=(12, 12)), labels


def generator():
    for number in range(3):
        yield np.full((2, 4), number, np.float32)


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def from_generator(cycle):
    return fn.external_source(source=generator, cycle=cycle) * 2


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def from_batch_info():
    def source(info):
        return np.array([[info.iteration, info.epoch_idx]] * (2 - info.iteration % 2), np.int64)

    return fn.external_source(source=source, batch=True, batch_info=True)


def epochs(pipe, names, count):
    loader = DALIGenericIterator(pipe, names, auto_reset=True)
    return [[{k: v.numpy().copy() for k, v in batch[0].items()} for batch in loader] for _ in range(count)]


def runs(pipe, count):
    """Run until the source ends, reset, and go on."""
    found = []
    for _ in range(count):
        try:
            found.append([np.array(pipe_out.at(i)) for pipe_out in pipe.run() for i in range(len(pipe_out))])
        except StopIteration:
            found.append("end")
            pipe.reset()
    return found


def fed():
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        images = fn.external_source(name="images", layout="HWC")
        pipe.set_outputs(fn.flip(images), fn.reductions.mean(images, axis_names="HW"))
    pipe.build()
    found = []
    for number in range(3):
        pipe.feed_input("images", [picture(number), picture(number + 7)])
        found.append([np.array(out.at(i)) for out in pipe.run() for i in range(2)])
    named = pipe.run(images=[picture(8), picture(9)])
    return [*found, [np.array(out.at(i)) for out in named for i in range(2)]]


def main(data):
    return {
        "iterable": epochs(from_iterable(), ["images", "labels"], 2),
        "samples": epochs(from_samples(), ["images", "labels"], 3),
        "generator": runs(from_generator("raise"), 9),
        "quiet generator": runs(from_generator("quiet"), 7),
        "batch info": runs(from_batch_info(), 5),
        "fed": fed(),
    }
