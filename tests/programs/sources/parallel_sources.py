"""A callable that worker processes call sample by sample, shuffled differently in each epoch."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


class ShuffledFiles:
    def __init__(self, folder, batch_size):
        self.files = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        self.full_iterations = len(self.files) // batch_size
        self.perm, self.last_seen_epoch = None, None

    def __call__(self, sample_info):
        if sample_info.iteration >= self.full_iterations:
            raise StopIteration
        if self.last_seen_epoch != sample_info.epoch_idx:
            self.last_seen_epoch = sample_info.epoch_idx
            self.perm = np.random.default_rng(seed=42 + sample_info.epoch_idx).permutation(len(self.files))
        index = self.perm[sample_info.idx_in_epoch]
        return np.fromfile(self.files[index], dtype=np.uint8), np.int32([index])


@pipeline_def(batch_size=4, num_threads=2, device_id=None, py_num_workers=2, py_start_method="spawn")
def parallel(folder):
    jpegs, labels = fn.external_source(
        source=ShuffledFiles(folder, 4), num_outputs=2, batch=False, parallel=True, dtype=[types.UINT8, types.INT32]
    )
    return fn.resize(fn.decoders.image(jpegs), size=[24, 24]), labels


def main(data):
    pipe = parallel(os.path.join(data, "flat"))
    pipe.start_py_workers()
    pipe.build()
    epochs = []
    for _ in range(3):
        epoch = []
        while True:
            try:
                epoch.append([[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()])
            except StopIteration:
                pipe.reset()
                break
        epochs.append(epoch)
    return {"epochs": epochs}
