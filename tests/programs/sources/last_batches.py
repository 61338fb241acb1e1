"""The end of an epoch: every policy, with and without padding, over shards."""

import os

import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator


@pipeline_def(num_threads=1, device_id=None)
def labels_of(folder, pad, stick, shard_id, num_shards):
    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))[:7]
    return fn.readers.file(
        files=files,
        labels=list(range(1, 8)),
        pad_last_batch=pad,
        stick_to_shard=stick,
        shard_id=shard_id,
        num_shards=num_shards,
        name="Reader",
    )[1]


def epochs(folder, policy, pad, stick, shard_id, num_shards, batch_size):
    pipe = labels_of(folder, pad, stick, shard_id, num_shards, batch_size=batch_size)
    loader = DALIGenericIterator([pipe], ["label"], reader_name="Reader", last_batch_policy=policy, auto_reset=True)
    return [["".join(str(int(n)) for n in batch[0]["label"].flatten()) for batch in loader] for _ in range(4)]


def main(data):
    folder = os.path.join(data, "flat")
    found = {}
    for policy in (LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL):
        for pad in (False, True):
            for stick in (False, True):
                for num_shards in (1, 2):
                    for shard_id in range(num_shards):
                        name = f"{policy.name} pad={pad} stick={stick} shard {shard_id} of {num_shards}"
                        found[name] = epochs(folder, policy, pad, stick, shard_id, num_shards, 3)
    return found
