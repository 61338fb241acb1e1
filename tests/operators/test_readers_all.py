"""Every reader of the registry here and on DALI: contents, order, shards, padding and epochs."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from caffe_records import datum, tensor, tensors, write_database
from dali_runs import DALI, HERE, make, noise, numpy_batch
from peers import peer
from PIL import Image

import pixelmill.tfrecord
from pixelmill.formats import recordio, tfrecord, webdataset
from pixelmill.formats.example import bytes_feature, encode, float_feature, int64_feature
from pixelmill.formats.registry import open_shard
from pixelmill.formats.sample import Sample
from pixelmill.operators import public_operators

dali_tfrecord = peer("nvidia.dali.tfrecord")

COUNT = 7
META = ["epoch_size", "epoch_size_padded", "number_of_shards", "shard_id", "pad_last_batch", "stick_to_shard"]


def content(number):
    return f"content of sample {number}".encode() * (number + 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the same samples in every container."""
    made = tmp_path_factory.mktemp("containers")
    for number in range(COUNT):
        (made / f"{number}.jpg").write_bytes(content(number))
        np.save(made / f"{number}.npy", noise((number + 1, 3), np.int16, number))
    with (made / "a.tfrecord").open("wb") as stream, tfrecord.RecordWriter(stream) as records:
        for number in range(COUNT):
            boxes = float_feature(np.arange(number, dtype=np.float32))
            features = {"image": bytes_feature(content(number)), "label": int64_feature([number]), "boxes": boxes}
            records.write(encode(features))
    tfrecord.write_index(str(made / "a.idx"), tfrecord.scan(str(made / "a.tfrecord")).index)
    with (made / "a.rec").open("wb") as stream, recordio.RecordWriter(stream) as writer:
        places = [writer.write(recordio.pack([n, n + 0.5], n, content(n)))[0] for n in range(COUNT)]
    recordio.write_index(made / "rec.idx", enumerate(places))
    with (made / "a.tar").open("wb") as stream:
        tar = webdataset.TarWriter(stream)
        for number in range(COUNT):
            tar.write(f"{number}.jpg", content(number))
            tar.write(f"{number}.cls", str(number).encode())
        tar.close()
    webdataset.write_index(made / "tar.idx", webdataset.scan(made / "a.tar").samples)
    samples = [Sample(str(n), content(n), "bin", (n,)) for n in range(COUNT)]
    with open_shard("pack", lambda name: (made / name).open("wb"), names={"records": "a.pack"}) as shard:
        for sample in samples:
            shard.add(sample)
    write_coco(made)
    write_databases(made, [(content(number), number) for number in range(COUNT)])
    write_frames(made)
    return made


def write_coco(made):
    images = [{"id": n, "file_name": f"{n}.jpg", "height": 40, "width": 50} for n in range(COUNT)]
    objects = [
        {"id": n, "image_id": n % COUNT, "category_id": 1 + n % 2, "iscrowd": 0, "bbox": [n, 1, 5, 6]}
        for n in range(2 * COUNT - 3)
    ]
    objects = [entry | {"segmentation": [[1, 1, 9, 1, 9, 9]]} for entry in objects]
    categories = [{"id": number, "name": str(number)} for number in (1, 2)]
    text = json.dumps({"images": images, "categories": categories, "annotations": objects})
    (made / "coco.json").write_text(text)


def write_databases(made, records):
    write_database(made / "caffe", [datum(image, label) for image, label in records])
    pairs = [tensors(tensor((1,), 4, string=image), tensor((1,), 2, ints=[label])) for image, label in records]
    write_database(made / "caffe2", pairs)


def write_frames(made):
    (made / "frames" / "one").mkdir(parents=True)
    for number in range(COUNT + 1):
        image = Image.fromarray(np.full((4, 5, 3), 9 * number, np.uint8))
        image.save(made / "frames" / "one" / f"{number:03d}.png")


def features_of(module):
    kinds = pixelmill.tfrecord if module is HERE else dali_tfrecord
    return {
        "image": kinds.FixedLenFeature((), kinds.string, ""),
        "label": kinds.FixedLenFeature([1], kinds.int64, -1),
        "boxes": kinds.VarLenFeature(kinds.float32, 0.0),
    }


def read_tfrecord(module, folder, **given):
    where = {"path": str(folder / "a.tfrecord"), "index_path": str(folder / "a.idx")}
    made = module.fn.readers.tfrecord(**where, features=features_of(module), **given)
    return [made["image"], made["label"], made["boxes"]]


def read_dataset(module, folder, **given):
    """Read the columns of a container by the names that all containers share; DALI has no such reader."""
    if module is HERE:
        made = module.fn.readers.dataset(path=str(folder / "a.tfrecord"), columns=["image", "label"], **given)
        return [made["image"], made["label"]]
    return read_tfrecord(module, folder, **given)[:2]


def read_pack(module, folder, **given):
    """Read the same columns from a pack, where DALI reads them from a TFRecord."""
    if module is HERE:
        made = module.fn.readers.pack(path=str(folder / "a.pack"), **given)
        return [made["image"], made["label"]]
    return read_tfrecord(module, folder, **given)[:2]


def paths(folder, ending):
    return sorted(str(path) for path in folder.glob(f"*.{ending}"))


READERS = {
    "readers.file": lambda m, at, **given: m.fn.readers.file(files=paths(at, "jpg"), **given),
    "readers.numpy": lambda m, at, **given: m.fn.readers.numpy(files=paths(at, "npy"), **given),
    "readers.tfrecord": read_tfrecord,  # type: ignore[dict-item]
    "readers.dataset": read_dataset,  # type: ignore[dict-item]
    "readers.pack": read_pack,  # type: ignore[dict-item]
    "readers.mxnet": lambda m, at, **given: m.fn.readers.mxnet(
        path=str(at / "a.rec"), index_path=str(at / "rec.idx"), **given
    ),
    "readers.webdataset": lambda m, at, **given: m.fn.readers.webdataset(
        paths=str(at / "a.tar"), index_paths=str(at / "tar.idx"), ext=["jpg", "cls"], **given
    ),
    "readers.coco": lambda m, at, **given: m.fn.readers.coco(
        file_root=str(at), annotations_file=str(at / "coco.json"), polygon_masks=True, image_ids=True, **given
    ),
    "readers.caffe": lambda m, at, **given: m.fn.readers.caffe(path=str(at / "caffe"), **given),
    "readers.caffe2": lambda m, at, **given: m.fn.readers.caffe2(path=str(at / "caffe2"), **given),
    "readers.sequence": lambda m, at, **given: m.fn.readers.sequence(
        file_root=str(at / "frames"), sequence_length=2, **given
    ),
}


def test_every_reader_is_compared_with_dali_on_the_day_it_is_declared():
    assert set(READERS) == {name for name in public_operators() if name.startswith("readers.")}


def pipeline(module, name, folder, *, batch_size=3, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # DALI's, about deprecated readers
        return make(module, lambda m: READERS[name](m, folder, **given, name="Reader"), batch_size=batch_size, seed=1)


def rows(pipe, batches):
    """Return the samples of so many batches, each as bytes with types and shapes."""
    found = []
    for _ in range(batches):
        columns = [numpy_batch(batch) for batch in pipe.run()]
        found += [tuple((v.dtype.str, v.shape, v.tobytes()) for v in row) for row in zip(*columns, strict=True)]
    return found


@pytest.mark.parametrize("name", READERS)
def test_unshuffled_streams_are_dalis_over_three_epochs(folder, name):
    for shards, stick, pad in product([1, 2], [False, True], [False, True]):
        given = {"num_shards": shards, "shard_id": shards - 1, "stick_to_shard": stick, "pad_last_batch": pad}
        mine, theirs = (pipeline(module, name, folder, **given) for module in (HERE, DALI))
        ours, dalis = rows(mine, 8), rows(theirs, 8)
        assert ours == dalis, given
        assert len(set(ours)) == (COUNT if shards == 1 or not stick else -(-COUNT // shards))
        known = theirs.reader_meta("Reader")
        assert mine.reader_meta("Reader") == {key: known[key] for key in META}


@pytest.mark.parametrize("name", READERS)
def test_shuffled_epochs_have_dalis_samples(folder, name):
    """DALI's own order is not copied; what an epoch holds is."""
    mine, theirs = (
        pipeline(module, name, folder, batch_size=COUNT, random_shuffle=True, initial_fill=COUNT)
        if name != "readers.numpy"
        else pipeline(module, name, folder, batch_size=COUNT, shuffle_after_epoch=True)
        for module in (HERE, DALI)
    )
    orders = set()
    for _ in range(3):
        ours, dalis = rows(mine, 1), rows(theirs, 1)
        assert Counter(ours) == Counter(dalis) and len(set(ours)) == COUNT
        orders.add(tuple(ours))
    assert len(orders) == 3
