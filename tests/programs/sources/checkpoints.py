"""Training that is interrupted: a checkpoint of pipeline and iterator, and a fresh process that goes on from it."""

import os

import numpy as np
import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(batch_size=4, num_threads=2, device_id=None, enable_checkpointing=True, seed=17)
def training(data, shuffle):
    encoded, labels = fn.readers.file(
        file_root=os.path.join(data, "classes"), random_shuffle=shuffle, pad_last_batch=True, name="Reader"
    )
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=[24, 24])
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


def of_pipeline(data, shuffle, folder_name):
    pipe = training(data, shuffle)
    pipe.build()
    for _ in range(3):
        pipe.run()
    path = os.path.join(data, folder_name)
    written = pipe.checkpoint(path)
    wanted = [[np.array(out.as_array()) for out in pipe.run()] for _ in range(5)]
    with open(path, "rb") as stream:
        stored = stream.read()
    restored = training(data, shuffle, checkpoint=stored)
    restored.build()
    found = [[np.array(out.as_array()) for out in restored.run()] for _ in range(5)]
    return {
        "bytes": isinstance(written, bytes) and written == stored,
        "restored": restored.is_restored_from_checkpoint,
        "equal": all(np.array_equal(a, b) for x, y in zip(wanted, found) for a, b in zip(x, y)),
        "labels": [] if shuffle else [labels for _, labels in found],
    }


def loader_of(pipe):
    return DALIGenericIterator(
        pipe, ["image", "label"], reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )


def of_iterator(data):
    loader = loader_of(training(data, True))
    for step, _ in enumerate(loader):
        if step == 1:
            break
    (checkpoint,) = loader.checkpoints()
    rest = [batch[0]["label"].numpy().copy() for batch in loader_rest(loader)]
    resumed = loader_of(training(data, True, checkpoint=checkpoint))
    again = [batch[0]["label"].numpy().copy() for batch in resumed]
    return {
        "sizes": [len(labels) for labels in again],
        "equal": len(rest) == len(again) and all(np.array_equal(a, b) for a, b in zip(rest, again)),
    }


def loader_rest(loader):
    while True:
        try:
            yield next(loader)
        except StopIteration:
            return


def main(data):
    return {
        "in order": of_pipeline(data, False, "in_order.ckpt"),
        "shuffled": of_pipeline(data, True, "shuffled.ckpt"),
        "iterator": of_iterator(data),
    }
