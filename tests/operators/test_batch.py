"""Operators that see the whole batch, and what is known about a sample beside its elements."""

from __future__ import annotations

import numpy as np
import pytest
from dali_runs import DALI, HERE

BATCH = 5


def run(module, graph, **options):
    """Run one batch of a graph with either package."""
    pipe = module.Pipeline(batch_size=BATCH, num_threads=2, device_id=None, seed=4, **options)
    with pipe:
        outputs = graph(module)
    pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipe.build()
    return [[np.asarray(batch.at(i)) for i in range(len(batch))] for batch in pipe.run()]


def samples(module, **options):
    arrays = [np.full((i + 1, 2), i, np.int32) for i in range(BATCH)]
    return module.fn.external_source(source=lambda: arrays, batch=True, **options)


@pytest.mark.parametrize("indices", [[4, 3, 2, 1, 0], [0, 0, 2, 2, 4], [1, 2, 3, 4, 0]])
def test_samples_change_places_as_in_dali(indices):
    def graph(module):
        return module.fn.permute_batch(samples(module), indices=indices)

    for ours, dalis in zip(run(HERE, graph)[0], run(DALI, graph)[0], strict=True):
        np.testing.assert_array_equal(ours, dalis)


def test_places_may_be_drawn():
    def graph(module):
        places = module.fn.batch_permutation()
        return places, module.fn.permute_batch(samples(module), indices=places)

    places, moved = run(HERE, graph)
    assert sorted(int(place) for place in places) == list(range(BATCH))
    for place, sample in zip(places, moved, strict=True):
        assert sample.shape == (int(place) + 1, 2) and (sample == place).all()


def test_a_permutation_may_leave_nothing_in_its_place_or_repeat():
    def graph(module):
        moved = module.fn.batch_permutation(no_fixed_points=True)
        return moved, module.fn.batch_permutation(allow_repetitions=True)

    moved, drawn = run(HERE, graph)
    assert sorted(map(int, moved)) == list(range(BATCH))
    assert all(int(place) != i for i, place in enumerate(moved))
    assert all(0 <= int(place) < BATCH for place in drawn)


def test_a_sample_knows_its_file_and_its_layout(tmp_path):
    paths = []
    for i in range(BATCH):
        paths.append(str(tmp_path / f"{i}.bin"))
        (tmp_path / f"{i}.bin").write_bytes(bytes([i]))

    def graph(module):
        data, _ = module.fn.readers.file(files=paths)
        named = samples(module, layout="AB")
        return module.fn.get_property(data, key="source_info"), module.fn.get_property(named, key="layout")

    files, layouts = run(HERE, graph)
    dali_files, dali_layouts = run(DALI, graph)
    for i in range(BATCH):
        assert files[i].tobytes().decode() == paths[i] == dali_files[i].tobytes().decode()
        assert layouts[i].tobytes() == b"AB" == dali_layouts[i].tobytes()
