"""Programs for DALI run on DALI and, with other import lines, on pixelmill, and return the same."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, numpy_batch
from encoded_images import color, encode
from ported_programs import SOURCES, check_results, check_same, check_similar, load, ported, results
from program_data import write_all

logging.getLogger("nvidia").setLevel(logging.ERROR)

# Compared by a test of its own: it shows on purpose where each sample appears once here and not in DALI.
APART = ["last_batches"]
# What one level of a resized uint8 image becomes by the normalization of a program; and masks that must be equal.
STD_LEVEL = 1.001 / (0.224 * 255)
TOLERANCES = {
    "action_sequences": {"real": 1.001 / 64},
    "ct_slices": {"real": 2e-3},
    "face_recognition": {"real": 1.001 / 127.5},
    "mixed_images": {"real": 1.001 / 255},
    "reference_resnet": {"real": STD_LEVEL},
    "semi_supervised": {"real": 1.001 / 62},
    "table_of_files": {"real": 1.001 / 255},
    "automatic_augmentation": {"real": 1.001 / 64},
    "classification_files": {"real": STD_LEVEL},
    "classification_records": {"real": 1.0},
    "detection_efficientdet": {"real": STD_LEVEL},
    "detection_ssd": {"real": STD_LEVEL},
    "dynamic_mode": {"real": 1.001 / 64},
    "segmentation_2d": {"level": 0},
    "segmentation_3d": {"level": 0},
    "serialized_pipeline": {"real": 1.001 / 64},
}
PROGRAMS = sorted(path.stem for path in SOURCES.glob("*.py") if path.stem not in APART)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_all(folder)
    return folder


@pytest.fixture(autouse=True)
def importable_programs(tmp_path, monkeypatch):
    """Let programs be imported from the folder that they are written to, here and in worker processes."""
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_ported_program_returns_what_it_returned_on_dali(name, data, tmp_path):
    theirs, mine = results(name, data, tmp_path)
    check_results(mine, theirs, name, **TOLERANCES.get(name, {}))


def test_steps_after_a_coin_that_always_falls_the_same_way_return_dalis_pixels(data, tmp_path):
    theirs, mine = (load("multicrop", tmp_path, port=port).steps(str(data)) for port in (False, True))
    check_same(mine, theirs, "steps")


def test_epochs_end_as_on_dali_and_where_dali_pads_or_repeats_each_sample_appears_once(data, tmp_path):
    theirs, mine = results("last_batches", data, tmp_path)
    assert list(mine) == list(theirs)
    for name, epochs in mine.items():
        assert [len(epoch) for epoch in epochs] == [len(epoch) for epoch in theirs[name]], name
        policy, pad, _, _, shard, _, shards = name.split()
        if shards == "1" or policy == "FILL" or (policy, pad) == ("DROP", "pad=False"):
            assert epochs == theirs[name], name
            continue
        assert all(batch and len(set(batch)) == len(batch) for epoch in epochs for batch in epoch), name
        if policy == "PARTIAL" and shard == "0":
            others = mine[name.replace("shard 0", "shard 1")]
            for one, other in zip(epochs, others, strict=True):
                assert sorted("".join(one + other)) == list("1234567"), name


def test_an_epoch_of_dynamic_mode_ends_with_a_smaller_batch_where_dali_starts_the_next_one(data, tmp_path):
    theirs, mine = (load("dynamic_mode", tmp_path, port=port).sizes(str(data)) for port in (False, True))
    assert (mine, theirs) == ([4, 4, 2], [4, 4, 4])


def test_large_jpegs_are_close_to_dalis_and_within_a_level_if_they_are_decoded_in_full():
    """Decoding at a lower resolution is on by default; docs/dali.md has what it costs."""
    files = [encode(color(number, 700 + 40 * number, 900), "JPEG", quality=92) for number in range(3)]

    def graph(module, data):
        return module.fn.resize(module.fn.decoders.image(data), size=[64, 80])

    def images(module, **options):
        return np.stack(numpy_batch(make(module, graph, files, layouts="", **options).run()[0])).astype(int)

    wanted = images(DALI)
    assert np.abs(images(HERE, decode_scaling=False) - wanted).max() <= 1
    scaled = np.abs(images(HERE) - wanted)
    assert scaled.max() > 1 and scaled.mean() < 0.5


def test_only_import_lines_change():
    text = "import nvidia.dali.fn as fn\nfrom nvidia.dali import ops\nnote = 'nvidia.dali'\n# import of nvidia.dali\n"
    wanted = "import pixelmill.fn as fn\nfrom pixelmill import ops\nnote = 'nvidia.dali'\n# import of nvidia.dali\n"
    assert ported(text) == wanted


def test_the_comparison_refuses_other_labels_types_shapes_and_distributions():
    labels, image = np.arange(4, dtype=np.int32), np.full((8, 8, 3), 100, np.uint8)
    check_same({"a": [labels, image]}, {"a": [labels, image + np.uint8(1)]}, "equal")
    for other in (labels + np.int32(1), labels.astype(np.int64), labels[:3]):
        with pytest.raises(AssertionError, match="labels"):
            check_same(other, labels, "labels")
    with pytest.raises(AssertionError, match="differs by 2"):
        check_same(image + np.uint8(2), image, "image")
    noise = [np.random.default_rng(n).normal(0, 1, (50, 50)) for n in range(4)]
    check_similar(noise[:2], noise[2:], "noise")
    for images in ([x + 0.3 for x in noise[:2]], [x * 1.3 for x in noise[:2]], noise[:1]):
        with pytest.raises(AssertionError, match="noise"):
            check_similar(images, noise[2:], "noise")
