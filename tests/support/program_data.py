"""The datasets that the programs in tests/programs read."""

from __future__ import annotations

import json

import numpy as np
from encoded_images import color, encode

from pixelmill.formats import recordio, tfrecord, webdataset
from pixelmill.formats.example import bytes_feature, float_feature, int64_feature
from pixelmill.formats.example import encode as encode_example

COUNT = 11
CLASSES = ["ant", "bee", "cat"]


def write_all(folder):
    """Write every dataset below `folder`."""
    jpegs = [
        encode(color(n, 50 + 7 * (n % 4), 64 + 9 * (n % 3)), "JPEG", quality=90, subsampling=n % 3).tobytes()
        for n in range(COUNT)
    ]
    write_files(folder, jpegs)
    write_records(folder, jpegs)
    write_coco(folder)
    write_arrays(folder)


def write_files(folder, jpegs):
    (folder / "flat").mkdir()
    for number, data in enumerate(jpegs):
        group = folder / "classes" / CLASSES[number % 3]
        group.mkdir(parents=True, exist_ok=True)
        (group / f"{number:02d}.jpg").write_bytes(data)
        (folder / "flat" / f"{number:02d}.jpg").write_bytes(data)


def write_records(folder, jpegs):
    with (folder / "records.tfrecord").open("wb") as stream, tfrecord.RecordWriter(stream) as records:
        for number, data in enumerate(jpegs):
            features = {
                "image/encoded": bytes_feature(data),
                "image/class/label": int64_feature([number]),
                "image/class/text": bytes_feature(CLASSES[number % 3].encode()),
                "image/object/bbox/xmin": float_feature(np.linspace(0, 1, 1 + number % 3, dtype=np.float32)),
            }
            records.write(encode_example(features))
    tfrecord.write_index(str(folder / "records.idx"), tfrecord.scan(str(folder / "records.tfrecord")).index)
    with (folder / "records.rec").open("wb") as stream, recordio.RecordWriter(stream) as writer:
        places = [writer.write(recordio.pack([float(n)], n, data))[0] for n, data in enumerate(jpegs)]
    recordio.write_index(folder / "rec.idx", enumerate(places))
    with (folder / "records.tar").open("wb") as stream:
        tar = webdataset.TarWriter(stream)
        for number, data in enumerate(jpegs):
            tar.write(f"{number:02d}.jpg", data)
            tar.write(f"{number:02d}.cls", f"{number:02d}".encode())
        tar.close()


def write_coco(folder, count=7):
    """Write images with one to three boxes each; those of the last image touch its edges."""
    (folder / "coco").mkdir()
    images, objects = [], []
    for number in range(count):
        height, width = 60 + 5 * number, 90 - 4 * number
        name = f"{number:012d}.jpg"
        (folder / "coco" / name).write_bytes(encode(color(50 + number, height, width), "JPEG", quality=90).tobytes())
        images.append({"id": number, "file_name": name, "height": height, "width": width})
        rng = np.random.default_rng(number)
        for _ in range(1 + number % 3):
            left, top = (float(x) for x in rng.uniform(0, 0.5, 2) * (width, height))
            wide, high = (float(x) for x in rng.uniform(0.2, 0.5, 2) * (width, height))
            entry = {"id": len(objects), "image_id": number, "category_id": int(rng.choice([3, 18, 44])), "iscrowd": 0}
            objects.append(entry | {"bbox": [left, top, wide, high], "area": wide * high})
    objects[-1]["bbox"] = [0.0, 0.0, float(images[-1]["width"]), float(images[-1]["height"])]
    categories = [{"id": number, "name": str(number)} for number in (3, 18, 44)]
    text = json.dumps({"images": images, "annotations": objects, "categories": categories})
    (folder / "coco.json").write_text(text)


def write_arrays(folder):
    """Write slices of type float32 with masks, and volumes with a few blobs in their labels."""
    (folder / "slices").mkdir()
    (folder / "volumes").mkdir()
    for number in range(6):
        rng = np.random.default_rng(number)
        height, width = 40 + 3 * number, 50 - number
        smooth = np.add.outer(np.sin(np.arange(height) / 5), np.cos(np.arange(width) / 7))
        image = (smooth + 0.1 * rng.standard_normal((height, width))).astype(np.float32)
        np.save(folder / "slices" / f"{number}_x.npy", image[None])
        np.save(folder / "slices" / f"{number}_y.npy", (smooth > 0.5).astype(np.uint8)[None])
    for number in range(3):
        rng = np.random.default_rng(100 + number)
        shape = (20 + number, 24, 30 - number)
        labels = np.zeros(shape, np.uint8)
        for value, corner in ((1, (3, 4, 5)), (2, (13, 14, 18))):
            labels[tuple(slice(start, start + 5) for start in corner)] = value
        volume = (labels + rng.standard_normal(shape) * 0.2).astype(np.float32)
        np.save(folder / "volumes" / f"{number}_x.npy", volume[None])
        np.save(folder / "volumes" / f"{number}_y.npy", labels[None])
