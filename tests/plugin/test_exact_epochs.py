"""Epochs of a reader that does not pad: DALI's order by default, each sample once on request."""

from __future__ import annotations

from itertools import chain

import numpy as np
import nvidia.dali.plugin.pytorch as dali_pytorch
import pytest
from dali_runs import DALI, HERE
from nvidia.dali.plugin.base_iterator import LastBatchPolicy as DaliPolicy

from pixelmill import ArgumentError, Loader
from pixelmill.plugin import pytorch
from pixelmill.plugin.base_iterator import LastBatchPolicy

SAMPLES, BATCH = 7, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers")
    for number in range(1, SAMPLES + 1):
        np.save(path / f"{number}.npy", np.array([number]))
    return str(path)


def pipeline(module, folder, *, shard=0, shards=1, shuffle=False):
    pipe = module.Pipeline(BATCH, 1, None, seed=5)
    with pipe:
        reader = {"num_shards": shards, "shard_id": shard, "random_shuffle": shuffle}
        pipe.set_outputs(module.fn.readers.numpy(file_root=folder, name="numbers", **reader))
    return pipe


def epochs(iterator, count=3):
    return [[batch[0]["x"].ravel().tolist() for batch in iterator] for _ in range(count)]


@pytest.mark.parametrize("policy", ["FILL", "DROP", "PARTIAL"])
@pytest.mark.filterwarnings("ignore")
def test_without_padding_batches_continue_into_the_next_epoch_as_on_dali(folder, policy):
    options = {"reader_name": "numbers", "auto_reset": True}
    theirs = dali_pytorch.DALIGenericIterator(
        pipeline(DALI, folder), ["x"], last_batch_policy=DaliPolicy[policy], **options
    )
    mine = pytorch.DALIGenericIterator(
        pipeline(HERE, folder), ["x"], last_batch_policy=LastBatchPolicy[policy], **options
    )
    assert epochs(mine) == epochs(theirs)


@pytest.mark.parametrize("shuffle", [False, True])
def test_exact_epochs_have_each_sample_once(folder, shuffle):
    iterator = pytorch.DALIGenericIterator(
        pipeline(HERE, folder, shuffle=shuffle),
        ["x"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
        exact=True,
    )
    for epoch in epochs(iterator):
        assert [len(batch) for batch in epoch] == [3, 3, 1]
        assert sorted(chain(*epoch)) == [1, 2, 3, 4, 5, 6, 7]


def test_exact_epochs_of_two_ranks_have_each_sample_once(folder):
    ranks = [
        pytorch.DALIGenericIterator(
            pipeline(HERE, folder, shard=shard, shards=2),
            ["x"],
            reader_name="numbers",
            auto_reset=True,
            last_batch_policy=LastBatchPolicy.PARTIAL,
            exact=True,
        )
        for shard in range(2)
    ]
    for first, second in zip(*map(epochs, ranks), strict=True):
        assert len(first) == len(second)
        assert sorted(chain(*first, *second)) == [1, 2, 3, 4, 5, 6, 7]


def test_exact_epochs_drop_only_what_does_not_fill_a_batch(folder):
    iterator = pytorch.DALIGenericIterator(
        pipeline(HERE, folder),
        ["x"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.DROP,
        exact=True,
    )
    assert epochs(iterator) == [[[1, 2, 3], [4, 5, 6]]] * 3


def test_the_loader_has_each_sample_once(folder):
    loader = Loader(pipeline(HERE, folder, shuffle=True), ["x"])
    for _ in range(3):
        assert sorted(number for batch in loader for number in np.ravel(batch["x"])) == [1, 2, 3, 4, 5, 6, 7]


def test_exact_needs_a_reader(folder):
    with pytest.raises(ArgumentError, match="exact: needs a reader_name"):
        pytorch.DALIGenericIterator(pipeline(HERE, folder), ["x"], size=SAMPLES, exact=True)
