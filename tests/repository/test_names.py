"""Names, attributes and private calls of DALI that published programs use, compared with DALI's own."""

from __future__ import annotations

import warnings
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import pixelmill
from pixelmill import ArgumentError, EngineError, Pipeline, fn, ops, pipeline_def, types
from pixelmill.operators.absent import ABSENT
from pixelmill.plugin import base_iterator
from pixelmill.plugin.pytorch import DALIGenericIterator, torch_utils
from pixelmill.plugin.pytorch.experimental import proxy

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.types as dali_types
    from nvidia.dali import pipeline_def as dali_pipeline_def
    from nvidia.dali.plugin import base_iterator as dali_base_iterator
    from nvidia.dali.plugin import pytorch as dali_pytorch

POLICIES = ["FILL", "DROP", "PARTIAL"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Seven images; number n has the label n."""
    folder = tmp_path_factory.mktemp("images")
    paths = [folder / f"{number}.png" for number in range(7)]
    for number, path in enumerate(paths):
        Image.fromarray(np.full((4, 5, 3), number, np.uint8)).save(path)
    return [str(path) for path in paths]


def iterators(files: list[str], policy: str, *, shards: int = 1, pad: bool = False, **options: Any) -> list[Any]:
    """Make the same iterator with pixelmill and with DALI."""
    reader = {"files": files, "num_shards": shards, "pad_last_batch": pad, "name": "Reader"}

    def labels(module: Any) -> Any:
        return module.readers.file(**reader)[1]

    made = []
    for make, module, plugin, base in (
        (pipeline_def, fn, pixelmill.plugin.pytorch, base_iterator),
        (dali_pipeline_def, dali_fn, dali_pytorch, dali_base_iterator),
    ):
        pipe = make(labels, batch_size=3, num_threads=1, device_id=None)(module)
        chosen = getattr(base.LastBatchPolicy, policy)
        made.append(plugin.DALIGenericIterator([pipe], ["label"], last_batch_policy=chosen, **options))
    return made


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("policy", POLICIES)
def test_private_attributes_of_iterators_are_those_of_dali(
    files: list[str], policy: str, shards: int, pad: bool
) -> None:
    ours, dali = iterators(files, policy, shards=shards, pad=pad, reader_name="Reader", auto_reset=True)
    assert ours._last_batch_policy is base_iterator.LastBatchPolicy[policy]
    assert ours._num_gpus == dali._num_gpus == 1
    assert ours._reader_name == dali._reader_name == "Reader"
    if (policy, shards, pad) != ("PARTIAL", 2, False):  # which pads here, so that all ranks take equally many steps
        assert ours._size == dali._size
    assert ours._size_no_pad == dali._size_no_pad == 7
    assert ours._shards_num == dali._shards_num
    assert ours._last_batch_padded == bool(dali._last_batch_padded)
    np.testing.assert_array_equal(ours._shard_sizes_per_gpu, dali._shard_sizes_per_gpu)
    assert ours._shard_sizes_per_gpu.dtype == dali._shard_sizes_per_gpu.dtype
    assert ours._counter == dali._counter == 3, "the first batch is made ahead"
    next(ours), next(dali)
    assert ours._counter == dali._counter == 3
    if policy != "DROP" or shards == 1:
        next(ours), next(dali)
        assert ours._counter == dali._counter == 6


def test_iterators_without_a_reader_count_by_size(files: list[str]) -> None:
    with pytest.warns(Warning, match="size"):
        ours, dali = iterators(files, "FILL", size=5, auto_reset=True)
    assert (ours._reader_name, ours._size, ours._counter) == (None, 5, 3)
    counters = [[it._counter for _ in it] for it in (ours, dali) for _ in range(3)]
    assert counters[:3] == counters[3:]
    with pytest.raises(AttributeError, match="reader_name"):
        _ = ours._shard_sizes_per_gpu


@pytest.mark.parametrize("size", [3, 4, 6, 12])
def test_setting_the_size_changes_the_length_of_epochs_as_in_dali(files: list[str], size: int) -> None:
    ours, dali = iterators(files, "PARTIAL", pad=True, reader_name="Reader", auto_reset=True)
    seen = []
    for iterator in (ours, dali):
        iterator._size = size
        seen.append((len(iterator), [batch[0]["label"].ravel().tolist() for batch in iterator] if size < 7 else None))
    assert ours._size == dali._size == size
    assert seen[0] == seen[1]


def test_an_epoch_made_longer_continues_with_the_next_one_of_the_reader(files: list[str]) -> None:
    ours, _ = iterators(files, "PARTIAL", pad=True, reader_name="Reader", auto_reset=True)
    ours._size = 12
    labels = [[batch[0]["label"].ravel().tolist() for batch in ours] for _ in range(2)]
    assert labels[0] == [[0, 1, 2], [3, 4, 5], [6], [0, 1, 2]]
    assert labels[1] == [[3, 4, 5], [6], [0, 1, 2], [3, 4, 5]]
    ours._size = 3
    assert len(ours) == 1
    with pytest.raises(ArgumentError, match="at least 1"):
        ours._size = 0


def test_setting_the_size_of_drop_never_mixes_epochs(files: list[str]) -> None:
    ours, _ = iterators(files, "DROP", pad=True, reader_name="Reader", auto_reset=True)
    ours._size = 100
    assert [[batch[0]["label"].ravel().tolist() for batch in ours] for _ in range(2)] == [[[0, 1, 2], [3, 4, 5]]] * 2


# Private calls of pipelines


def test_an_iterator_that_a_program_wrote_itself_runs(files: list[str]) -> None:
    class Iterator:
        """As in the SSD program of DALI's own examples: prefetch, share, release, run."""

        def __init__(self, pipe: Any) -> None:
            pipe.build()
            self._pipe = pipe
            assert pipe.empty()
            pipe._prefetch()

        def __next__(self) -> list[int]:
            with self._pipe._check_api_type_scope(types.PipelineAPIType.ITERATOR):
                (labels,) = self._pipe._share_outputs()
            found = np.ravel(labels.as_array()).tolist()
            self._pipe._release_outputs()
            self._pipe._run()
            return found

    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=files)[1])
    iterator = Iterator(pipe)
    assert [next(iterator) for _ in range(4)] == [[0, 1], [2, 3], [4, 5], [6, 0]]
    assert not pipe.empty()


def test_a_pipeline_is_empty_when_its_source_is_at_its_end() -> None:
    pipe = Pipeline(1, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=iter([np.zeros((1, 2))] * 3)))
    pipe._prefetch()
    for left in (False, False, True):
        pipe.share_outputs()
        pipe._prefetch()
        assert pipe.empty() is left


# Types


@pytest.mark.parametrize("name", [kind.name for kind in types.DALIDataType if 0 <= kind < types.STRING])
def test_numpy_types_are_those_of_dali(name: str) -> None:
    assert types.to_numpy_type(types.DALIDataType[name]) is dali_types.to_numpy_type(getattr(dali_types, name))


@pytest.mark.parametrize(
    "framework_type",
    [
        np.uint8,
        np.float32,
        np.float64,
        np.bool_,
        bool,
        float,
        "half",
        "int64",
        np.dtype("int16"),
        torch.float16,
        "long",
    ],
)
def test_types_of_frameworks_are_known_as_in_dali(framework_type: object) -> None:
    assert types.to_dali_type(framework_type).name == dali_types.to_dali_type(framework_type).name


@pytest.mark.parametrize("framework_type", [int, str, np.complex64, "nonsense", 3])
def test_unknown_types_are_refused_as_in_dali(framework_type: object) -> None:
    for module in (types, dali_types):
        with pytest.raises(TypeError, match="could not be converted into any known DALIDataType"):
            module.to_dali_type(framework_type)


# Jitter


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_jitter_moves_every_pixel_at_most_half_a_degree(degree: int) -> None:
    rows, columns = np.indices((40, 50), np.uint8)
    image = np.stack([rows, columns, np.full_like(rows, 200)], axis=2)

    def graph() -> Any:
        source = fn.external_source(source=lambda: [image] * 2, layout="HWC")
        kept = fn.jitter(source, nDegree=degree, mask=0)
        return fn.jitter(source, nDegree=degree, fill_value=99), kept

    moved, kept = pipeline_def(graph, batch_size=2, num_threads=1, device_id=None, seed=3)().run()
    np.testing.assert_array_equal(kept.as_array(), [image] * 2)
    first, second = moved.as_array()
    assert (first == second).all() == (degree == 1)
    offsets = (first.astype(int) - image)[first[..., 2] == 200][:, :2]
    assert set(offsets.ravel().tolist()) == {number - degree // 2 for number in range(degree)}
    outside = first[first[..., 2] != 200]
    assert (outside == 99).all() and (len(outside) > 0) == (degree > 1)


# Operators that are not here


def dali_functions(module: Any, prefix: str = "") -> set[str]:
    found = set()
    for name, value in vars(module).items():
        if name.startswith("_") or name == "hidden":
            continue
        if isinstance(value, ModuleType) and value.__name__.startswith(module.__name__):
            found |= dali_functions(value, f"{prefix}{name}.")
        elif callable(value):
            found.add(prefix + name)
    return found


def test_every_function_of_dali_can_be_imported_and_what_is_absent_says_so_when_called() -> None:
    absent = set()
    for name in dali_functions(dali_fn) - {"experimental.resize"}:
        function = attrgetter(name)(fn)
        if name in ABSENT:
            absent.add(name)
            with pytest.raises(EngineError, match=rf"^{name}: pixelmill .*; keep this pipeline on DALI$"):
                function(1, path="x")
    assert absent == set(ABSENT), "a name that DALI does not have"


@pytest.mark.parametrize(
    "name", ["VideoReader", "readers.Video", "experimental.readers.Video", "decoders.Audio", "MFCC"]
)
def test_classes_of_absent_operators_refuse_to_be_made(name: str) -> None:
    made = attrgetter(name)(ops)
    with pytest.raises(EngineError, match=r"pixelmill is for images and has no (video|audio) operators"):
        made(device="gpu")


@pytest.mark.parametrize("module", [fn, fn.readers, ops, ops.readers])
def test_unknown_names_are_no_attributes(module: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense


# Modules


def test_modules_that_programs_import_are_there() -> None:
    from pixelmill.backend_impl import TensorListCPU
    from pixelmill.pipeline.experimental import pipeline_def as experimental_pipeline_def

    @experimental_pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def ones() -> Any:
        return types.Constant(1)

    assert isinstance(ones().run()[0], TensorListCPU)


def test_the_plugin_manager_says_what_to_use_instead(tmp_path: Path) -> None:
    from pixelmill import plugin_manager

    for load in (plugin_manager.load_library, plugin_manager.load_directory):
        with pytest.raises(EngineError, match=r"libcustom\.so: .*python_function"):
            load(tmp_path / "libcustom.so")


@pytest.mark.parametrize("copy", [False, True])
def test_torch_utils_convert_batches_and_samples(copy: bool) -> None:
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.external_source(source=lambda: np.arange(6, dtype=np.float32).reshape(2, 3)))
    (batch,) = pipe.run()
    tensor = torch_utils.to_torch_tensor(batch, copy)
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (tensor.data_ptr() == batch.as_tensor().data_ptr()) is not copy
    assert torch_utils.to_torch_tensor(batch[1], copy).tolist() == [3, 4, 5]
    target = torch.empty(2, 3)
    assert torch_utils.feed_ndarray(batch, target) is target and torch.equal(target, tensor)


# The proxy


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
def sums() -> Any:
    a, b = fn.external_source(name="a"), fn.external_source(name="b")
    return a + b, a - b


@pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
def doubled() -> Any:
    return fn.external_source(name="a") * 2


class Numbers(torch.utils.data.Dataset[Any]):
    """Ten numbers, passed through a transform."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> Any:
        return self.transform(np.full(2, index, np.float32)), index


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_with_a_proxy_returns_every_sample_in_order(workers: int) -> None:
    with proxy.DALIServer(doubled()) as server:
        loader = proxy.DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=workers)
        for _ in range(2):
            batches = list(loader)
            assert [len(data) for data, _ in batches] == [4, 4, 2]
            for data, index in batches:
                assert torch.equal(data, torch.stack([index, index], 1).float() * 2)


def test_produce_data_replaces_references_of_several_outputs() -> None:
    with proxy.DALIServer(sums()) as server:
        samples = [server.proxy(a=np.array([k], np.int32), b=np.array([1], np.int32)) for k in range(3)]
        collated = torch.utils.data.default_collate([{"sum": s, "difference": d, "k": 0} for s, d in samples])  # type: ignore[misc]
        produced = server.produce_data(collated)
        assert produced["sum"].ravel().tolist() == [1, 2, 3]
        assert produced["difference"].ravel().tolist() == [-1, 0, 1]
        assert produced["k"].tolist() == [0, 0, 0]
        with pytest.raises(ArgumentError, match="expected the inputs"):
            server.proxy(a=1, c=2)
        with pytest.raises(EngineError, match="collate"):
            server.produce_data(samples)


def test_the_proxy_needs_a_pipeline_with_inputs(files: list[str]) -> None:
    pipe = Pipeline(2, 1, None)
    with pipe:
        pipe.set_outputs(fn.readers.file(files=files)[1])
    with pytest.raises(EngineError, match="no inputs"):
        proxy.DALIServer(pipe)
    with pytest.raises(TypeError, match="expected a pipeline"):
        proxy.DALIServer(sums)


def test_the_generic_iterator_reports_pipelines_it_counts_over(files: list[str]) -> None:
    pipes = []
    for _ in range(2):
        pipe = Pipeline(2, 1, None)
        with pipe:
            pipe.set_outputs(fn.readers.file(files=files)[1])
        pipes.append(pipe)
    with pytest.warns(UserWarning, match="size"):
        iterator = DALIGenericIterator(pipes, ["label"], size=8)
    assert (iterator._num_gpus, iterator._counter, iterator._size) == (2, 4, 8)
    iterator._size = 12
    assert len(list(iterator)) == 3
