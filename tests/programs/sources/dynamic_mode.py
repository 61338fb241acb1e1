"""Dynamic mode: operators called at once on tensors and batches, readers by epoch, a generator of random numbers."""

import os

import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.types as types


def arrays(batch):
    return [np.array(sample) for sample in batch]


def file_names(data, count):
    folder = os.path.join(data, "flat")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))][:count]


def sizes(data):
    """Return the sizes of the batches of an epoch that does not end with a full one."""
    reader = ndd.readers.File(files=file_names(data, 10))
    return [len(arrays(labels)) for _, labels in reader.next_epoch(batch_size=4)]


def main(data):
    found = {}
    reader = ndd.readers.File(files=file_names(data, 8))
    images, labels = [], []
    for encoded, targets in reader.next_epoch(batch_size=4):
        decoded = ndd.decoders.image(encoded, device="cpu", output_type=types.RGB)
        resized = ndd.resize(decoded, size=[32, 32], interp_type=types.INTERP_LINEAR)
        normalized = ndd.crop_mirror_normalize(resized, mean=[128.0], std=[64.0], crop=(28, 28))
        images.append(arrays(normalized))
        labels.append(arrays(targets))
    found["images"], found["labels"] = images, labels

    picture = ndd.as_tensor(np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3), layout="HWC")
    flipped = ndd.flip(picture, horizontal=1)
    found["tensor"] = [np.array(flipped), tuple(flipped.shape), flipped.layout, np.array(flipped[1:3, :, 0])]
    batch = ndd.batch([np.full((2, n), n, np.float32) for n in range(1, 4)])
    found["arithmetic"] = arrays(batch * 2 + 1)
    found["reductions"] = arrays(ndd.reductions.mean(batch))
    found["padded"] = arrays(ndd.pad(batch, fill_value=-1))
    rng = ndd.random.RNG(seed=7)
    drawn = ndd.random.uniform(range=[0.0, 2.0], shape=[4000], rng=rng)
    found["drawn_numbers"] = [np.array(drawn)]
    return found
