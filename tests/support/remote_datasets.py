"""Small datasets in every container that a reader takes, on this machine and at addresses."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from loopback_s3 import LoopbackS3
from peers import peer

from pixelmill import Pipeline, convert, fn, tfrecord
from pixelmill.create import create_images
from pixelmill.formats.tfrecord.index import open_files
from pixelmill.formats.tfrecord.index_file import write_index as write_tfrecord_index
from pixelmill.formats.webdataset.index_file import write_index as write_tar_index
from pixelmill.formats.webdataset.scan import scan as scan_tar
from pixelmill.storage.options import using

fsspec = peer("fsspec")

COUNT = 24
BATCH = 8

Outputs = dict[str, Any] | tuple[Any, ...] | Any


def make(folder: Path) -> None:
    """Write the same few images as class folders, records, archives, arrays and a COCO dataset."""
    create_images(folder / "photos", "i", 24, 32, COUNT, "jpg", 5, classes=3, workers=1)
    images = sorted((folder / "photos").rglob("*.jpg"))
    for format in ("tfrecord", "recordio", "webdataset", "pack"):
        convert(folder / "photos", folder / format, to=format, samples_per_shard=10, workers=1)
    for path in (folder / "tfrecord").glob("*.tfrecord"):
        write_tfrecord_index(str(path.with_suffix(".idx")), open_files([str(path)]))
    for path in (folder / "webdataset").glob("*.tar"):
        write_tar_index(path.with_suffix(".idx"), scan_tar(path).samples)
    (folder / "arrays").mkdir()
    for number in range(COUNT):
        np.save(folder / "arrays" / f"{number:03d}.npy", np.arange(6, dtype=np.float32).reshape(2, 3) + number)
    names = [path.relative_to(folder / "photos").as_posix() for path in images]
    (folder / "photos" / "list.txt").write_text("".join(f"{name} {n % 5}\n" for n, name in enumerate(names)))
    boxes = [
        {"id": n, "image_id": n, "category_id": 1, "bbox": [1, 2, 8, 9], "iscrowd": 0, "area": 72}
        for n in range(len(names))
    ]
    listed = [{"id": n, "file_name": name, "height": 32, "width": 24} for n, name in enumerate(names)]
    content = {"images": listed, "annotations": boxes, "categories": [{"id": 1, "name": "x"}]}
    (folder / "photos" / "coco.json").write_text(json.dumps(content))


@contextmanager
def served(folder: Path) -> Iterator[LoopbackS3]:
    """Serve the content of a folder as the bucket `data`; addresses in it need no options meanwhile."""
    server = LoopbackS3()
    server.put_folder("data", folder)
    with server.running(), using(server.options):
        yield server


def upload(folder: Path) -> str:
    """Copy a folder to fsspec's memory and return its address."""
    name = uuid.uuid4().hex
    system = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            system.pipe_file(f"/{name}/{path.relative_to(folder).as_posix()}", path.read_bytes())
    return f"memory://{name}"


def _shards(base: str, folder: str, ending: str) -> list[str]:
    return [f"{base}/{folder}/data-{number:05d}-of-00003.{ending}" for number in range(3)]


def _features() -> dict[str, Any]:
    label = tfrecord.FixedLenFeature((), tfrecord.int64, -1)
    return {"image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""), "image/class/label": label}


def _tfrecord(base: str, **options: Any) -> Outputs:
    paths, indexes = _shards(base, "tfrecord", "tfrecord"), _shards(base, "tfrecord", "idx")
    return fn.readers.tfrecord(path=paths, index_path=indexes, features=_features(), **options)


READERS: dict[str, Callable[..., Outputs]] = {
    "file": lambda base, **options: fn.readers.file(file_root=f"{base}/photos", **options),
    "file_list": lambda base, **options: fn.readers.file(file_list=f"{base}/photos/list.txt", **options),
    "tfrecord": _tfrecord,
    "tfrecord_beside": lambda base, **options: fn.readers.tfrecord(
        path=_shards(base, "tfrecord", "tfrecord"), features=_features(), **options
    ),
    "webdataset": lambda base, **options: fn.readers.webdataset(
        paths=_shards(base, "webdataset", "tar"),
        index_paths=_shards(base, "webdataset", "idx"),
        ext=["jpg", "cls"],
        **options,
    ),
    "webdataset_beside": lambda base, **options: fn.readers.webdataset(
        paths=_shards(base, "webdataset", "tar"), ext=["jpg", "cls"], **options
    ),
    "mxnet": lambda base, **options: fn.readers.mxnet(
        path=_shards(base, "recordio", "rec"), index_path=_shards(base, "recordio", "idx"), **options
    ),
    "mxnet_beside": lambda base, **options: fn.readers.mxnet(path=_shards(base, "recordio", "rec"), **options),
    "numpy": lambda base, **options: fn.readers.numpy(file_root=f"{base}/arrays", **options),
    "coco": lambda base, **options: fn.readers.coco(
        file_root=f"{base}/photos", annotations_file=f"{base}/photos/coco.json", **options
    ),
    "dataset_folder": lambda base, **options: fn.readers.dataset(f"{base}/photos", format="folder", **options),
    "dataset_tfrecord": lambda base, **options: fn.readers.dataset(f"{base}/tfrecord", **options),
    "dataset_recordio": lambda base, **options: fn.readers.dataset(f"{base}/recordio", **options),
    "dataset_pack": lambda base, **options: fn.readers.dataset(f"{base}/pack", **options),
    "dataset_webdataset": lambda base, **options: fn.readers.dataset(f"{base}/webdataset", **options),
}


def pipeline(kind: str, base: str, *, batch_size: int = BATCH, depth: int = 1, **options: Any) -> Pipeline:
    """Return a pipeline with one reader."""
    errors = {name: options.pop(name) for name in ("on_error", "max_errors") if name in options}
    pipe = Pipeline(batch_size=batch_size, num_threads=2, seed=7, prefetch_queue_depth=depth, **errors)
    with pipe:
        made = READERS[kind](base, name="reader", **options)
        pipe.set_outputs(*(made.values() if isinstance(made, dict) else made if isinstance(made, tuple) else [made]))
    return pipe


def content(pipe: Pipeline, batches: int) -> list[str]:
    """Run batches and return a hash of each sample."""
    found = []
    for _ in range(batches):
        outputs = pipe.run()
        for place in range(len(outputs[0])):
            digest = hashlib.sha256()
            for output in outputs:
                array = np.asarray(output[place])
                digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
            found.append(digest.hexdigest())
    return found
