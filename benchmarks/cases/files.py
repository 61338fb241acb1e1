"""Readers, decoders and other sources."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Any

import cv2
import lmdb
import numpy as np

from cases.case import SMALL, Case, data
from pixelmill.formats import recordio, tfrecord, webdataset
from pixelmill.formats.example import bytes_feature, encode, int64_feature

COUNT = 32  # samples per dataset
BATCH = 16


@cache
def folder() -> Path:
    """Write the same images to every container; they are removed when the program ends."""
    made = Path(tempfile.mkdtemp(prefix="pixelmill-operators-"))
    atexit.register(shutil.rmtree, made)
    jpeg = data("j").tobytes()
    for number in range(COUNT):
        (made / f"{number:02}.jpg").write_bytes(jpeg)
        np.save(made / f"{number:02}.npy", data("u"))
    with (made / "a.tfrecord").open("wb") as stream, tfrecord.RecordWriter(stream) as records:
        for number in range(COUNT):
            records.write(encode({"image": bytes_feature(jpeg), "label": int64_feature([number])}))
    tfrecord.write_index(str(made / "a.idx"), tfrecord.scan(str(made / "a.tfrecord")).index)
    with (made / "a.rec").open("wb") as stream, recordio.RecordWriter(stream) as writer:
        places = [writer.write(recordio.pack([1.0], number, jpeg))[0] for number in range(COUNT)]
    recordio.write_index(made / "a.rec.idx", enumerate(places))
    with (made / "a.tar").open("wb") as stream:
        tar = webdataset.TarWriter(stream)
        for number in range(COUNT):
            tar.write(f"{number:02}.jpg", jpeg)
        tar.close()
    webdataset.write_index(made / "a.tar.idx", webdataset.scan(made / "a.tar").samples)
    _write_coco(made)
    _write_databases(made, jpeg)
    (made / "frames" / "stream").mkdir(parents=True)
    for number in range(COUNT):
        (made / "frames" / "stream" / f"{number:02}.jpg").write_bytes(jpeg)
    return made


def _write_databases(made: Path, jpeg: bytes) -> None:
    """Write the images as records of Caffe and Caffe2: protobuf messages with fields of these numbers."""
    datum = _field(4, jpeg) + b"\x28\x01"  # label 1
    tensors = _field(1, b"\x10\x04" + _field(6, jpeg)) + _field(1, b"\x10\x02" + _field(4, b"\x01"))
    for name, record in (("caffe", datum), ("caffe2", tensors)):
        with lmdb.open(str(made / name), map_size=1 << 28) as database, database.begin(write=True) as transaction:
            for number in range(COUNT):
                transaction.put(b"%08d" % number, record)


def _field(number: int, content: bytes) -> bytes:
    length = len(content)
    written = b""
    while length > 127:
        written += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + written + bytes([length]) + content


def _write_coco(made: Path) -> None:
    images = [{"id": n, "file_name": f"{n:02}.jpg", "height": 512, "width": 512} for n in range(COUNT)]
    objects = [
        {"id": n, "image_id": n % COUNT, "category_id": 1, "iscrowd": 0, "bbox": [n, n, 50, 60], "segmentation": []}
        for n in range(4 * COUNT)
    ]
    content = {"images": images, "categories": [{"id": 1, "name": "thing"}], "annotations": objects}
    (made / "coco.json").write_text(json.dumps(content), "utf-8")


def _paths(ending: str) -> list[str]:
    return sorted(map(str, folder().glob(f"*.{ending}")))


def _tfrecord(m: Any, x: Any) -> Any:
    import nvidia.dali.tfrecord

    import pixelmill.tfrecord

    features = pixelmill.tfrecord if m.__name__ == "pixelmill" else nvidia.dali.tfrecord
    wanted = {
        "image": features.FixedLenFeature((), features.string, ""),
        "label": features.FixedLenFeature([1], features.int64, 0),
    }
    where = {"path": str(folder() / "a.tfrecord"), "index_path": str(folder() / "a.idx")}
    return m.fn.readers.tfrecord(**where, features=wanted)["image"]


def _mxnet(m: Any, x: Any) -> Any:
    where = {"path": str(folder() / "a.rec"), "index_path": str(folder() / "a.rec.idx")}
    return m.fn.readers.mxnet(**where)[0]


def _webdataset(m: Any, x: Any) -> Any:
    where = {"paths": str(folder() / "a.tar"), "index_paths": str(folder() / "a.tar.idx")}
    return m.fn.readers.webdataset(**where, ext=["jpg"])


def _coco(m: Any, x: Any) -> Any:
    return m.fn.readers.coco(file_root=str(folder()), annotations_file=str(folder() / "coco.json"), ltrb=True)[0]


def _named(m: Any, x: Any) -> Any:
    return m.fn.io.file.read(m.types.Constant(np.frombuffer(_paths("jpg")[0].encode(), np.uint8)))


def _fed(m: Any, x: Any) -> Any:
    return m.fn.external_source(source=repeat([data("u")] * 4), layout="HWC")


CASES = [
    Case("readers.file", "-", lambda m, x: m.fn.readers.file(files=_paths("jpg"))[0], batch=BATCH),
    Case("readers.numpy", "-", lambda m, x: m.fn.readers.numpy(files=_paths("npy")), batch=BATCH),
    Case("readers.tfrecord", "-", _tfrecord, batch=BATCH),
    Case("readers.mxnet", "-", _mxnet, batch=BATCH),
    Case("readers.webdataset", "-", _webdataset, batch=BATCH),
    Case("readers.coco", "-", _coco, batch=BATCH),
    Case("readers.caffe", "-", lambda m, x: m.fn.readers.caffe(path=str(folder() / "caffe"))[0], batch=BATCH),
    Case("readers.caffe2", "-", lambda m, x: m.fn.readers.caffe2(path=str(folder() / "caffe2"))[0], batch=BATCH),
    Case(
        "readers.sequence",
        "-",
        lambda m, x: m.fn.readers.sequence(file_root=str(folder() / "frames"), sequence_length=4),
        batch=4,
    ),
    Case("io.file.read", "-", _named, batch=BATCH),
    Case("external_source", "-", _fed),
    Case("python_function", "u", lambda m, x: m.fn.python_function(x, function=lambda a: a)),
    Case(
        "dl_tensor_python_function", "u", lambda m, x: m.fn.dl_tensor_python_function(x, function=lambda given: given)
    ),
    Case("decoders.image", "j", lambda m, x: m.fn.decoders.image(x), lambda x: cv2.imdecode(x, cv2.IMREAD_COLOR)),
    Case("decoders.image_crop", "j", lambda m, x: m.fn.decoders.image_crop(x, crop=(224, 224))),
    Case("decoders.image_slice", "j", lambda m, x: m.fn.decoders.image_slice(x, start=[100, 50], shape=[224, 224])),
    Case("decoders.image_random_crop", "j", lambda m, x: m.fn.decoders.image_random_crop(x)),
    Case("decoders.numpy", "n", lambda m, x: m.fn.decoders.numpy(x)),
    Case("peek_image_shape", "j", lambda m, x: m.fn.peek_image_shape(x), batch=SMALL),
    Case(
        "random_crop_generator", "-", lambda m, x: m.fn.random_crop_generator(np.int64([512, 400, 3]))[0], batch=SMALL
    ),
    Case("constant", "-", lambda m, x: m.fn.constant(fdata=[0.1, 0.2, 0.3], shape=[3]), batch=SMALL),
]
