"""Contestants of `remote.py`: each reads one epoch in random order, decodes it and crops it at random to 224 x 224.

pixelmill and DALI run the same pipeline. The other libraries deliver the bytes of files to Python; OpenCV, the fastest
decoder there, does the rest in the workers of a DataLoader.
"""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

SIDE = 224
BATCH = 64
BUCKET = "data"
REGION = "us-east-1"
PEERS = ("webdataset", "litdata", "mosaicml-streaming", "s3torchconnector", "dali")


def pixelmill(format: str, base: str, options: dict[str, Any], *, threads: int, mode: str) -> Iterator[int]:
    """Yield the number of samples of each batch of one epoch."""
    from pixelmill import Pipeline, fn, tfrecord, types
    from pixelmill.storage import matching, using

    shared = {"random_shuffle": True, "name": "reader", "pad_last_batch": True, "shuffle_mode": mode, **options}
    with using(options.get("storage_options")):
        ending = "tar" if format == "webdataset" else format
        names = [] if format == "folder" else matching(f"{base}/{format}/*.{ending}")
    pipe = Pipeline(batch_size=BATCH, num_threads=threads, seed=1)
    with pipe:
        if format == "folder":
            encoded, _ = fn.readers.file(file_root=f"{base}/folder", **shared)
        elif format == "tfrecord":
            features = {"image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, "")}
            encoded = fn.readers.tfrecord(path=names, features=features, **shared)["image/encoded"]
        else:
            encoded = fn.readers.webdataset(paths=names, ext=["jpg"], **shared)
        images = fn.decoders.image_random_crop(encoded)
        pipe.set_outputs(fn.resize(images, size=(SIDE, SIDE), dtype=types.UINT8))
    left = pipe.epoch_size("reader")
    while left > 0:
        count = min(len(pipe.run()[0]), left)
        left -= count
        yield count


def cropped(data: Any) -> Any:
    """Decode an image and return a window of it, drawn like that of `image_random_crop`, resized to 224 x 224."""
    import cv2
    import numpy as np
    import torch

    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    height, width = image.shape[:2]
    for _ in range(100):
        area = random.uniform(0.08, 1.0) * height * width
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
        if 0 < rows <= height and 0 < columns <= width:
            break
    else:
        rows, columns = height, width
    top, left = random.randint(0, height - rows), random.randint(0, width - columns)
    window = image[top : top + rows, left : left + columns]
    return torch.from_numpy(cv2.cvtColor(cv2.resize(window, (SIDE, SIDE)), cv2.COLOR_BGR2RGB))


def _one_thread(worker: int) -> None:
    """Keep OpenCV from starting threads in the workers of a DataLoader."""
    import cv2

    cv2.setNumThreads(1)
    random.seed(worker)


def _loaded(dataset: Any, *, threads: int, **options: Any) -> Iterator[int]:
    import torch

    loader = torch.utils.data.DataLoader(
        dataset, batch_size=BATCH, num_workers=threads, worker_init_fn=_one_thread, **options
    )
    for images in loader:
        yield len(images)


def webdataset(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read archives with webdataset."""
    import webdataset as wds  # type: ignore[import-untyped]

    with urllib.request.urlopen(f"{endpoint}/{BUCKET}?list-type=2&prefix=webdataset/") as answer:
        text = answer.read().decode()
    keys = [part.split("<")[0] for part in text.split("<Key>")[1:]]
    urls = [f"pipe:curl -s {endpoint}/{BUCKET}/{key}" for key in keys if key.endswith(".tar")]
    dataset = wds.WebDataset(urls, shardshuffle=len(urls)).shuffle(1000).to_tuple("jpg").map_tuple(cropped)
    for (images,) in _batches(wds.WebLoader(dataset, batch_size=BATCH, num_workers=threads)):
        yield len(images)


def _batches(loader: Iterable[Any]) -> Iterator[Any]:
    yield from loader


def litdata(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read chunks with LitData."""
    ld: Any = import_module("litdata")
    # It reads chunks through obstore, with options that refuse plain HTTP whatever the environment says.
    import_module("litdata.streaming.downloader")._OBSTORE_CLIENT_OPTIONS["allow_http"] = True

    class Cropped(ld.StreamingDataset):  # type: ignore[misc]
        """Decodes what the dataset reads."""

        def __getitem__(self, index: Any) -> Any:
            return cropped(super().__getitem__(index))

    store = {"endpoint_url": endpoint, "region_name": REGION, **_keys("aws_access_key_id", "aws_secret_access_key")}
    with tempfile.TemporaryDirectory() as folder:
        dataset = Cropped(f"s3://{BUCKET}/litdata", cache_dir=folder, shuffle=True, storage_options=store)
        loader = ld.StreamingDataLoader(
            dataset, batch_size=BATCH, num_workers=threads, worker_init_fn=_one_thread, shuffle=True
        )
        for images in loader:
            yield len(images)


def mosaicml(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read shards with mosaicml-streaming."""
    os.environ["S3_ENDPOINT_URL"] = endpoint
    streaming: Any = _streaming()

    class Cropped(streaming.StreamingDataset):  # type: ignore[misc]
        """Decodes what the dataset reads."""

        def __getitem__(self, index: Any) -> Any:
            return cropped(super().__getitem__(index)["jpg"])

    with tempfile.TemporaryDirectory() as folder:
        dataset = Cropped(remote=f"s3://{BUCKET}/mds", local=folder, shuffle=True, batch_size=BATCH)
        yield from _loaded(dataset, threads=threads)


class _Absent(ModuleType):
    """Stands for a module of which classes are only compared with those of samples."""

    __path__ = ()  # type: ignore[assignment]

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def _streaming() -> Any:
    """Import mosaicml-streaming without two packages that it imports and that reading shards does not use."""
    tokenizers = "feature_extraction_utils", "tokenization_utils_base", "models.auto.tokenization_auto"
    needed = [f"transformers.{name}" for name in tokenizers]
    for name in (*needed, "torchvision.datasets", "torchvision.transforms.functional"):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:end]), _Absent(".".join(parts[:end])))
    return import_module("streaming")


def s3torchconnector(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read files with s3torchconnector."""
    s3: Any = import_module("s3torchconnector")

    dataset = s3.S3MapDataset.from_prefix(
        f"s3://{BUCKET}/folder",
        region=REGION,
        endpoint=endpoint,
        transform=lambda stream: cropped(stream.read()),
        s3client_config=s3.S3ClientConfig(force_path_style=True),
    )
    yield from _loaded(dataset, threads=threads, shuffle=True)


def dali(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read files with DALI."""
    os.environ["AWS_ENDPOINT_URL"] = endpoint
    from nvidia.dali import Pipeline, fn, types

    pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, seed=1, prefetch_queue_depth=2)
    with pipe:
        encoded, _ = fn.readers.file(
            file_root=f"s3://{BUCKET}/folder", random_shuffle=True, name="reader", pad_last_batch=True
        )
        images = fn.decoders.image_random_crop(encoded, device="cpu")
        pipe.set_outputs(fn.resize(images, size=(SIDE, SIDE), dtype=types.UINT8))
    pipe.build()
    left = pipe.epoch_size("reader")
    while left > 0:
        count = min(len(pipe.run()[0]), left)
        left -= count
        yield count


def _keys(key: str, secret: str) -> dict[str, str]:
    return {key: "t", secret: "t"}


def batches(name: str, endpoint: str, data: str, *, threads: int) -> Iterator[int]:
    """Return the batches of a contestant by its name."""
    os.environ |= _keys("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    os.environ |= {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    kind, _, rest = name.partition(" ")
    peers: dict[str, Callable[..., Iterator[int]]] = {
        "webdataset": webdataset,
        "litdata": litdata,
        "mosaicml-streaming": mosaicml,
        "s3torchconnector": s3torchconnector,
        "dali": dali,
    }
    if kind in peers:
        return peers[kind](endpoint, threads=threads)
    options: dict[str, Any] = {}
    if kind != "local":
        store = {**_keys("key", "secret"), "endpoint_url": endpoint, "client_kwargs": {"region_name": REGION}}
        options = {"storage_options": store, "cache_size": 0}
    format, _, mode = rest.partition(" ")
    base = data if kind == "local" else f"s3://{BUCKET}"
    return pixelmill(format, base, options, threads=threads, mode=mode or "global")


def write_peer_formats(data: Path, images: list[Path]) -> list[str]:
    """Write the images as LitData and mosaicml-streaming want them; return the packages that are not installed."""
    missing = []
    for name, write in (("litdata", _write_litdata), ("streaming", _write_mds)):
        try:
            write(data, images)
        except ImportError as error:
            missing.append(f"{name}: {error}")
    return missing


def _write_litdata(data: Path, images: list[Path]) -> None:
    binary: Any = import_module("litdata.streaming.writer")

    if (data / "litdata" / "index.json").exists():
        return
    writer = binary.BinaryWriter(str(data / "litdata"), chunk_bytes=8 << 20)
    for number, path in enumerate(images):
        writer[number] = path.read_bytes()
    writer.done()
    writer.merge()


def _write_mds(data: Path, images: list[Path]) -> None:
    streaming: Any = _streaming()

    if (data / "mds" / "index.json").exists():
        return
    with streaming.MDSWriter(out=str(data / "mds"), columns={"jpg": "bytes"}, size_limit=8 << 20) as writer:
        for path in images:
            writer.write({"jpg": path.read_bytes()})
