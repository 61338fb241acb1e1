"""Training that stops in the middle of an epoch and continues from a checkpoint of its iterator."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy


@pipeline_def(num_threads=2, device_id=None, enable_checkpointing=True)
def pipeline(data, shuffle):
    encoded, labels = fn.readers.file(
        file_root=os.path.join(data, "classes"), name="Reader", random_shuffle=shuffle, pad_last_batch=True
    )
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=[24, 24])
    return (
        fn.flip(images, horizontal=fn.random.coin_flip(dtype=types.INT32)),
        labels,
        fn.random.uniform(range=[0, 1], shape=[3]),
    )


def loader(data, shuffle, checkpoint=None):
    pipe = pipeline(data, shuffle, batch_size=3, seed=7, checkpoint=checkpoint)
    return DALIGenericIterator(
        pipe,
        ["data", "label", "noise"],
        reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PARTIAL,
        auto_reset=True,
    )


def take(iterator, count):
    got = []
    while len(got) < count:
        for batch in iterator:
            got.append([batch[0][k].numpy().copy() for k in ("data", "label", "noise")])
            if len(got) == count:
                break
    return got


def main(data):
    found = {}
    for shuffle in (False, True):
        for stop in (1, 2, 4, 5, 9):
            first = loader(data, shuffle)
            it = iter(first)
            done = 0
            while done < stop:
                try:
                    next(it)
                    done += 1
                except StopIteration:
                    it = iter(first)
            saved = first.checkpoints()
            rest = []
            while len(rest) < 4:
                try:
                    rest.append(next(it)[0])
                except StopIteration:
                    rest.append("end")
                    it = iter(first)
            rest = [r if isinstance(r, str) else {k: v.numpy().copy() for k, v in r.items()} for r in rest]
            again = loader(data, shuffle, saved[0])
            it = iter(again)
            for want in rest:
                try:
                    got = next(it)[0]
                except StopIteration:
                    got = "end"
                    it = iter(again)
                same = (
                    got == want
                    if isinstance(want, str) or isinstance(got, str)
                    else all(got[k].shape == want[k].shape and bool((got[k].numpy() == want[k]).all()) for k in want)
                )
                found.setdefault(f"{shuffle} {stop}", []).append(bool(same))
            found[f"{shuffle} {stop} size"] = [len(saved), isinstance(saved[0], (bytes, str))]
    pipe = pipeline(data, False, batch_size=4, seed=1)
    pipe.build()
    pipe.run()
    path = os.path.join(data, "state.cpt")
    pipe.checkpoint(path)
    want = [np.array(x.as_cpu().as_tensor()) for x in pipe.run()]
    with open(path, "rb") as f:
        other = pipeline(data, False, batch_size=4, seed=1, checkpoint=f.read())
    other.build()
    got = [np.array(x.as_cpu().as_tensor()) for x in other.run()]
    found["file"] = [bool((a == b).all()) for a, b in zip(want, got)] + [other.is_restored_from_checkpoint]
    return found
