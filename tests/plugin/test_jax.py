"""Iterators and functions for JAX, beside DALI's own, which run on the CPU as well."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from PIL import Image

import pixelmill
from pixelmill import ArgumentError, EngineError, Pipeline
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.jax import DALIGenericIterator, data_iterator
from pixelmill.plugin.jax.arrays import shape_of, stacked
from pixelmill.plugin.jax.clu import DALIGenericPeekableIterator, peekable_data_iterator
from pixelmill.plugin.jax.fn import jax_function
from pixelmill.tensors import TensorGPU

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL
SHAPE = (16, 20, 3)


@pytest.fixture(params=["pixelmill", "nvidia.dali"])
def package(request: pytest.FixtureRequest) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("fn", "plugin.jax", "plugin.base_iterator"):
            importlib.import_module(f"{request.param}.{name}")
        return importlib.import_module(request.param)


def pixels_of(number: int) -> Any:
    return np.random.default_rng(number).integers(0, 256, SHAPE, np.uint8)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Seven images; number n has the label n."""
    folder = tmp_path_factory.mktemp("pictures")
    paths = [folder / f"{number}.png" for number in range(1, 8)]
    for number, path in enumerate(paths, 1):
        Image.fromarray(pixels_of(number)).save(path)
    return [str(path) for path in paths]


def read(package: Any, files: list[str], **reader: Any) -> Any:
    labels = list(range(1, len(files) + 1))
    encoded, found = package.fn.readers.file(files=files, labels=labels, name="Reader", **reader)
    return package.fn.decoders.image(encoded), found


def piped(package: Any, files: list[str], *, batch_size: int = 3, **reader: Any) -> Any:
    options = {key: reader.pop(key) for key in ("checkpoint", "enable_checkpointing") if key in reader}
    pipe = package.Pipeline(batch_size, 1, None, seed=5, **options)
    with pipe:
        pipe.set_outputs(*read(package, files, **reader))
    return pipe


def iterator(package: Any, pipes: Any, **options: Any) -> Any:
    kind = package.plugin.jax.DALIGenericIterator
    return kind(pipes, ["images", "labels"], **{"reader_name": "Reader", **options})


def text_of(batch: dict[str, jax.Array]) -> str:
    return "".join(str(label) for label in np.asarray(batch["labels"]).ravel())


def epochs_of(batches: Iterable[Any], count: int = 3) -> str:
    return " / ".join(" ".join(text_of(batch) for batch in batches) for _ in range(count))


def address(array: jax.Array) -> int:
    return int(array.unsafe_buffer_pointer())


def over_samples() -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()), ("samples",)), PartitionSpec("samples"))


# As in DALI


@pytest.mark.parametrize(
    ("policy", "pad", "wanted"),
    [
        ("FILL", False, "123 456 712 / 345 671 / 234 567"),
        ("FILL", True, "123 456 777 / 123 456 777 / 123 456 777"),
        ("DROP", False, "123 456 / 345 671 / 567 123"),
        ("DROP", True, "123 456 / 123 456 / 123 456"),
    ],
)
@pytest.mark.parametrize("reset", ["auto", "iter"])
def test_epochs(package: Any, files: list[str], policy: str, pad: bool, wanted: str, reset: str) -> None:
    kind = package.plugin.base_iterator.LastBatchPolicy[policy]
    pipe = piped(package, files, pad_last_batch=pad)
    batches = iterator(package, pipe, last_batch_policy=kind, auto_reset=reset == "auto")
    assert len(batches) == len(wanted.split(" / ")[0].split())
    assert epochs_of(batches) == wanted


def test_one_dict_of_arrays(package: Any, files: list[str]) -> None:
    batch = next(iterator(package, piped(package, files)))
    assert list(batch) == ["images", "labels"] and all(isinstance(array, jax.Array) for array in batch.values())
    assert np.array_equal(batch["images"], [pixels_of(number) for number in (1, 2, 3)])
    assert batch["labels"].shape == (3, 1) and batch["labels"].dtype == jnp.int32


def test_several_pipelines_get_an_axis(package: Any, files: list[str]) -> None:
    pipes = [piped(package, files, batch_size=2, shard_id=rank, num_shards=2, pad_last_batch=True) for rank in (0, 1)]
    batches = iterator(package, pipes, auto_reset=True)
    assert next(batches)["images"].shape == (2, 2, *SHAPE)
    assert text_of(next(batches)) == "3367"
    single = iterator(package, piped(package, files), pmap_compatible=True)
    assert next(single)["labels"].shape == (1, 3, 1)


def test_partial_is_refused(package: Any, files: list[str]) -> None:
    kind = package.plugin.base_iterator.LastBatchPolicy.PARTIAL
    with pytest.raises((AssertionError, ValueError), match=r"(?i)partial"):
        iterator(package, piped(package, files), last_batch_policy=kind)


def test_decorator(package: Any, files: list[str]) -> None:
    @package.plugin.jax.data_iterator(output_map=["labels"], reader_name="Reader")
    def labels(shuffle: bool) -> Any:
        return read(package, files, random_shuffle=shuffle)[1]

    assert epochs_of(labels(False, batch_size=2, device_id=None), 1) == "12 34 56 71"
    shuffled = epochs_of(labels(shuffle=True, batch_size=7, device_id=None, num_threads=1, seed=3), 1)
    assert sorted(shuffled) == list("1234567")


def test_checkpoints(package: Any, files: list[str]) -> None:
    def make(checkpoints: Any = None) -> Any:
        checkpoint = checkpoints[0] if checkpoints else None
        options = {"random_shuffle": True, "pad_last_batch": True, "enable_checkpointing": True}
        return iterator(package, piped(package, files, checkpoint=checkpoint, **options), auto_reset=True)

    wanted = make()
    ahead = [text_of(batch) for _ in range(2) for batch in wanted]
    for steps in range(1, 3):
        begun = make()
        for _ in range(steps):
            next(begun)
        resumed = make(begun.checkpoints())
        assert [text_of(batch) for _ in range(2) for batch in resumed] == ahead[steps:]


def test_function_in_the_graph(package: Any, files: list[str]) -> None:
    function = package.plugin.jax.fn.jax_function

    @function
    def flipped(images: jax.Array) -> jax.Array:
        return images[:, :, ::-1]

    @function(num_outputs=2, output_layouts=["HWC", "HW"])
    @jax.jit
    @jax.vmap
    def two(image: jax.Array) -> tuple[jax.Array, jax.Array]:
        return 255 - image, image.astype(jnp.float32).mean(axis=-1)

    pipe = package.Pipeline(3, 1, None)
    with pipe:
        images = read(package, files)[0]
        pipe.set_outputs(flipped(images), *two(images))
    pixels = np.stack([pixels_of(number) for number in (1, 2, 3)])
    outputs = pipe.run()
    assert np.array_equal(outputs[0].as_array(), pixels[:, :, ::-1])
    assert np.array_equal(outputs[1].as_array(), 255 - pixels)
    assert np.allclose(outputs[2].as_array(), pixels.mean(axis=-1), rtol=1e-6)
    assert [output.layout() for output in outputs[1:]] == ["HWC", "HW"]


def test_layouts_are_handed_on_where_they_fit(package: Any, files: list[str]) -> None:
    """What comes after the function knows that channels are first."""

    @package.plugin.jax.fn.jax_function(num_outputs=3)
    def three(images: jax.Array, same: jax.Array, labels: jax.Array) -> Any:
        return images + 1, same.mean(axis=1), labels[:, 0]

    pipe = package.Pipeline(3, 1, None)
    with pipe:
        images, labels = read(package, files)
        first = package.fn.crop_mirror_normalize(images, mean=[0] * 3, std=[1] * 3)
        changed, *rest = three(first, first, labels)
        pipe.set_outputs(package.fn.flip(changed), *rest)
    outputs = pipe.run()
    pixels = np.stack([pixels_of(number) for number in (1, 2, 3)]).transpose(0, 3, 1, 2) + 1.0
    assert np.array_equal(outputs[0].as_array(), pixels[..., ::-1])
    assert [output.layout() for output in outputs] == ["CHW", "", ""]
    assert outputs[1].as_array().shape == (3, *SHAPE[:2])
    assert outputs[2].as_array().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "function",
    [lambda x: x[:2], lambda x: x[0], np.asarray, lambda x: (x, x)],
    ids=["fewer samples", "one sample", "numpy", "two arrays"],
)
def test_function_that_gives_something_else(package: Any, function: Any) -> None:
    pipe = package.Pipeline(3, 1, None)
    with pipe:
        source = package.fn.external_source(source=lambda _: np.ones((3, 2), np.uint8))
        pipe.set_outputs(package.plugin.jax.fn.jax_function(function)(source))
    with pytest.raises(RuntimeError if package is not pixelmill else ArgumentError):
        pipe.run()


# Beyond DALI


def test_pixels_are_not_copied(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The array stands where the native core wrote the batch, and stays what it is."""
    addresses: list[list[int]] = []
    run = Pipeline.run

    def watched(pipe: Pipeline) -> Any:
        outputs = run(pipe)
        addresses.append([output.data_ptr() for output in outputs])
        return outputs

    monkeypatch.setattr(Pipeline, "run", watched)
    batches = list(iterator(pixelmill, piped(pixelmill, files)))
    assert [[address(array) for array in batch.values()] for batch in batches] == addresses
    assert [text_of(batch) for batch in batches] == ["123", "456", "712"]


def test_what_is_copied() -> None:
    pipe = Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(pixelmill.fn.external_source(source=lambda _: np.arange(3, dtype=np.int64)))
    (batch,) = (next(DALIGenericIterator(pipe, ["numbers"])),)
    assert batch["numbers"].dtype == jnp.int32 and batch["numbers"].tolist() == [0, 1, 2]


def test_sharding_with_a_pipeline_for_each_device(files: list[str]) -> None:
    sharding = over_samples()

    @data_iterator(output_map=["images", "labels"], reader_name="Reader", sharding=sharding)
    def batches(shard_id: int, num_shards: int) -> Any:
        return read(pixelmill, files, shard_id=shard_id, num_shards=num_shards, pad_last_batch=True)

    made = batches(batch_size=4)
    batch = next(made)
    assert batch["images"].sharding == sharding and batch["images"].shape == (4, *SHAPE)
    labels = [[int(x) for x in np.ravel(shard.data)] for shard in batch["labels"].addressable_shards]
    assert labels == [[1], [2], [4], [6]]
    assert [shard.device for shard in batch["images"].addressable_shards] == jax.devices()
    for number, shard in zip(labels, batch["images"].addressable_shards, strict=True):
        assert np.array_equal(shard.data[0], pixels_of(number[0]))
    resumed = batches(batch_size=4, checkpoints=made.checkpoints())
    assert text_of(next(resumed)) == text_of(next(made)) == "1357"
    mean = jax.jit(lambda images: images.mean(axis=(1, 2, 3)), in_shardings=sharding, out_shardings=sharding)
    assert np.allclose(mean(batch["images"]), [pixels_of(number).mean() for (number,) in labels], rtol=1e-5)
    with pytest.raises(ArgumentError, match="3 checkpoints for 4 devices"):
        batches(batch_size=4, checkpoints=made.checkpoints()[:3])
    with pytest.raises(ArgumentError, match="multiple of the 4 devices"):
        batches(batch_size=6)


def test_sharding_of_one_pipeline(files: list[str]) -> None:
    sharding = over_samples()
    batch = next(iterator(pixelmill, piped(pixelmill, files, batch_size=4), sharding=sharding))
    assert batch["images"].sharding == sharding
    assert [int(np.ravel(shard.data)[0]) for shard in batch["labels"].addressable_shards] == [1, 2, 3, 4]
    with pytest.raises(ArgumentError, match="4 devices in this process, for 2 pipelines"):
        iterator(pixelmill, [piped(pixelmill, files) for _ in range(2)], sharding=sharding)
    with pytest.raises(ArgumentError, match=r"jax\.sharding\.Sharding"):
        iterator(pixelmill, piped(pixelmill, files), sharding="samples")


TWO_PROCESSES = """
import sys
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from pixelmill import fn
from pixelmill.plugin.jax import data_iterator

port, rank, *files = sys.argv[1:]
jax.distributed.initialize(f"127.0.0.1:{port}", num_processes=2, process_id=int(rank))
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("samples",)), PartitionSpec("samples"))

@data_iterator(output_map=["labels"], reader_name="Reader", sharding=sharding)
def batches(shard_id, num_shards):
    options = {"shard_id": shard_id, "num_shards": num_shards, "name": "Reader", "pad_last_batch": True}
    return fn.readers.file(files=files, labels=list(range(1, 8)), **options)[1]

batch = next(batches(batch_size=4))["labels"]
print(batch.shape, [int(shard.data[0, 0]) for shard in batch.addressable_shards])
"""


def test_two_processes_share_a_batch(files: list[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", TWO_PROCESSES, port, rank, *files],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    said = [process.communicate(timeout=60)[0] for process in started]
    assert said == ["(4, 1) [1, 2]\n", "(4, 1) [4, 6]\n"]


def test_devices_for_pmap(files: list[str]) -> None:
    devices = jax.devices()[:2]

    @data_iterator(output_map=["images", "labels"], reader_name="Reader", devices=devices)
    def batches(shard_id: int, num_shards: int) -> Any:
        return read(pixelmill, files, shard_id=shard_id, num_shards=num_shards)

    batch = next(batches(batch_size=4))
    assert batch["images"].shape == (2, 2, *SHAPE) and text_of(batch) == "1245"
    assert [shard.device for shard in batch["images"].addressable_shards] == devices
    sums = jax.pmap(lambda images: images.astype(jnp.int32).sum(), devices=devices)(batch["images"])
    assert sums.tolist() == [sum(int(pixels_of(number).sum()) for number in pair) for pair in ((1, 2), (4, 5))]
    with pytest.raises(ArgumentError, match="sharding or devices"):
        iterator(pixelmill, piped(pixelmill, files), sharding=over_samples(), devices=devices)


def test_peeking(files: list[str]) -> None:
    @peekable_data_iterator(output_map=["images", "labels"], reader_name="Reader")
    def make() -> Any:
        return read(pixelmill, files)

    batches = make(batch_size=3)
    assert batches.element_spec["images"] == jax.ShapeDtypeStruct((3, *SHAPE), jnp.uint8)
    seen = [text_of(batches.peek()), text_of(batches.peek_async().result(10)), text_of(next(batches))]
    assert seen == ["123"] * 3
    assert text_of(batches.peek()) == "456"
    with pytest.raises(EngineError, match="peek"):
        batches.checkpoints()
    assert [text_of(batch) for batch in batches] == ["456", "712"]
    resumed = make(batch_size=3, checkpoints=batches.checkpoints())
    assert [text_of(batch) for batch in resumed] == ["345", "671"]


@pytest.mark.parametrize(
    ("policy", "pad", "wanted"),
    [
        (FILL, False, "111 111 100 / 111 110 / 111 111"),
        (FILL, True, "111 111 100 / 111 111 100 / 111 111 100"),
        (DROP, False, "111 111 / 111 111 / 111 111"),
    ],
)
def test_samples_that_only_fill_a_batch(files: list[str], policy: LastBatchPolicy, pad: bool, wanted: str) -> None:
    """The same was seen of DALI's iterator, which needs `clu`."""
    pipe = piped(pixelmill, files, pad_last_batch=pad)
    options = {"reader_name": "Reader", "last_batch_policy": policy, "auto_reset": True}
    batches = DALIGenericPeekableIterator(pipe, ["images", "labels"], **options)
    rows = [["".join(str(int(real)) for real in batches.is_nonpadding) for _ in batches] for _ in range(3)]
    assert " / ".join(" ".join(row) for row in rows) == wanted
    options["sharding"] = over_samples()
    divided = DALIGenericPeekableIterator(piped(pixelmill, files, batch_size=4), ["images", "labels"], **options)
    assert divided.is_nonpadding.sharding == over_samples()  # type: ignore[union-attr]


def test_peeking_insists_on_one_shape() -> None:
    pipe = Pipeline(3, 1, None)
    with pipe:
        pipe.set_outputs(pixelmill.fn.external_source(source=lambda number: np.ones((3, 1 + number), np.float32)))
    batches = DALIGenericPeekableIterator(pipe, ["numbers"])
    next(batches)
    with pytest.raises(ArgumentError, match="'numbers': shape or type changed"):
        next(batches)


def test_ragged_batches_are_refused(tmp_path: Path) -> None:
    for number in range(3):
        Image.new("RGB", (8 + number, 8)).save(tmp_path / f"{number}.png")
    with pytest.raises(ArgumentError, match="'images': shapes"):
        iterator(pixelmill, piped(pixelmill, sorted(map(str, tmp_path.glob("*.png")))))


def test_arguments_of_the_function() -> None:
    with pytest.raises(ArgumentError, match="sharding"):
        jax_function(lambda x: x, sharding=over_samples())
    with pytest.raises(ArgumentError, match="without outputs"):
        jax_function(lambda x: None, num_outputs=0)
    with pytest.raises(ArgumentError, match="must be callable"):
        jax_function(7)


def test_jax_is_asked_for_only_where_it_is_needed() -> None:
    program = "import sys; sys.modules['jax'] = None; import pixelmill.plugin; import pixelmill.plugin.jax"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingDependency: jax is not installed; it comes with: pip install 'pixelmill[jax]'" in result.stderr


class DeviceTensor:
    """Has the methods of DALI's tensor on a GPU, with its elements in main memory."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def shape(self) -> list[int]:
        return list(self.values.shape)

    def as_cpu(self) -> np.ndarray:
        return self.values


def test_batches_on_a_gpu_are_stacked() -> None:
    batches = [np.full((2, 3), number, np.float32) for number in range(len(jax.devices()))]
    parts = [TensorGPU(DeviceTensor(batch)) for batch in batches]
    assert shape_of(parts[0]) == shape_of(batches[0]) == (2, 3)
    np.testing.assert_array_equal(stacked(parts, jax.devices()), np.stack(batches))
