"""Dynamic mode with devices, named outputs and torchdata; the evaluator of DataLoaders. Compared with DALI."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torchdata.nodes
from PIL import Image

import pixelmill.experimental.dynamic as pmd
import pixelmill.tfrecord
from pixelmill import ArgumentError, EngineError
from pixelmill.formats import tfrecord
from pixelmill.formats.example import bytes_feature, encode, int64_feature
from pixelmill.plugin.pytorch.loader_evaluator import LoaderEvaluator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.experimental.dynamic as ndd
    import nvidia.dali.tfrecord as dali_tfrecord


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("dynamic")
    with (made / "a.tfrecord").open("wb") as stream, tfrecord.RecordWriter(stream) as records:
        for number in range(5):
            records.write(encode({"image": bytes_feature(b"x%d" % number), "label": int64_feature([number])}))
    tfrecord.write_index(str(made / "a.idx"), tfrecord.scan(str(made / "a.tfrecord")).index)
    (made / "images").mkdir()
    for number in range(5):
        Image.fromarray(np.full((4, 5, 3), number, np.uint8)).save(made / "images" / f"{number}.png")
    return made


def tfrecord_reader(module: Any, kinds: Any, folder: Path) -> Any:
    features = {
        "image": kinds.FixedLenFeature((), kinds.string, ""),
        "label": kinds.FixedLenFeature([1], kinds.int64, -1),
    }
    where = {"path": str(folder / "a.tfrecord"), "index_path": str(folder / "a.idx")}
    return module.readers.TFRecord(**where, features=features, device="cpu")


def test_named_outputs_are_dictionaries_as_in_dali(folder: Path) -> None:
    found = []
    for module, kinds in ((pmd, pixelmill.tfrecord), (ndd, dali_tfrecord)):
        reader = tfrecord_reader(module, kinds, folder)
        epoch = [
            {name: [np.asarray(t).tolist() for t in batch.tensors] for name, batch in batches.items()}
            for batches in reader.next_epoch(batch_size=2)
        ]
        found.append(epoch)
    assert found[0][:2] == found[1][:2]
    assert [len(batch["label"]) for batch in found[0]] == [2, 2, 1], "an epoch is complete, and has nothing twice"
    single = next(tfrecord_reader(pmd, pixelmill.tfrecord, folder).next_epoch())
    assert (bytes(np.asarray(single["image"])), np.asarray(single["label"]).tolist()) == (b"x0", [0])


@pytest.mark.parametrize("device", ["cpu", "gpu", None])
def test_operators_and_readers_take_a_device(folder: Path, device: str | None) -> None:
    files = [str(path) for path in sorted((folder / "images").iterdir())]
    reader = pmd.readers.File(files=files, device="cpu", name="Reader", max_batch_size=4)
    encoded, _ = next(iter(reader.next_epoch(batch_size=2)))
    images = pmd.decoders.image(encoded, device="mixed" if device == "gpu" else device)
    small = pmd.resize(images, size=[2, 2], device=device)
    assert [np.asarray(tensor).max() for tensor in small.tensors] == [0, 1]
    assert reader.get_metadata(2)["epoch_size"] == 5


def pipeline(folder: Path, **options: Any) -> Any:
    files = [str(path) for path in sorted((folder / "images").iterdir())]
    nodes = pmd.pytorch.nodes
    source = nodes.Reader(pmd.readers.File, batch_size=2, files=files, **options)
    decoded = nodes.DictMapper(source, lambda encoded: pmd.resize(pmd.decoders.image(encoded), size=[2, 2]))
    return torchdata.nodes.Loader(nodes.ToTorch(decoded))


def test_nodes_of_torchdata_read_epochs(folder: Path) -> None:
    loader = pipeline(folder)
    for _ in range(2):
        batches = list(loader)
        assert [labels.ravel().tolist() for _, labels in batches] == [[0, 1], [2, 3], [4]]
        assert all(images.shape[1:] == (2, 2, 3) and images.dtype == torch.uint8 for images, _ in batches)


def test_nodes_of_torchdata_continue_from_a_state(folder: Path) -> None:
    loader = pipeline(folder)
    epoch = iter(loader)
    next(epoch)
    state = json.loads(json.dumps(loader.state_dict()))
    other = pipeline(folder)
    other.load_state_dict(state)
    assert [labels.ravel().tolist() for _, labels in other] == [[2, 3], [4]]


def test_nodes_need_names_and_a_reset(folder: Path) -> None:
    nodes = pmd.pytorch.nodes
    with pytest.raises(ArgumentError, match="1 output_names for 2 outputs"):
        pipeline(folder, output_names=["images"])
    array = folder / "one.npy"
    np.save(array, np.zeros(3))
    with pytest.raises(ArgumentError, match="output_names is needed"):
        nodes.Reader(pmd.readers.Numpy, batch_size=2, files=[str(array)])
    with pytest.raises(EngineError, match="call reset"):
        nodes.Reader(pmd.readers.Numpy, batch_size=2, files=[str(array)], output_names=["array"]).next()


# The evaluator


def loader() -> Any:
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(10)), batch_size=2)


def test_the_evaluator_passes_batches_on_and_measures_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = LoaderEvaluator(loader(), metrics_file=str(tmp_path / "metrics.json"))
    assert evaluator.get_metrics() == {} and len(evaluator) == 5
    assert [batch[0].tolist() for batch in evaluator] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    metrics = evaluator.get_metrics()
    assert metrics["total_batches"] == 5 and 0 < metrics["min_batch_time"] <= metrics["max_batch_time"]
    assert metrics["total_time"] >= sum(metrics["batch_times"])
    evaluator.save_metrics()
    assert json.loads((tmp_path / "metrics.json").read_text()) == metrics
    evaluator.print_summary()
    assert "total_batches: 5" in capsys.readouterr().out


def test_the_evaluator_replays_the_last_batches() -> None:
    evaluator = LoaderEvaluator(loader(), mode="replay", num_cached_batches=2)
    assert [batch[0].tolist() for batch in evaluator] == [[6, 7], [8, 9], [6, 7], [8, 9], [6, 7]]
    assert evaluator.get_metrics()["cached_batches"] == 2
    with pytest.raises(ArgumentError, match="mode"):
        LoaderEvaluator(loader(), mode="fast")
    with pytest.raises(ArgumentError, match="filename"):
        evaluator.save_metrics()
