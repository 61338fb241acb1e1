"""A small dataset in COCO's format, and what readers.coco returns for it."""

from __future__ import annotations

import json

from dali_runs import numpy_batch

SIZES = {3: (9, 15), 1: (9, 13), 7: (30, 20), 2: (9, 14)}
CATEGORIES = [18, 1, 90]


def rows(module, folder, batches=2, **arguments):
    pipe = module.Pipeline(batch_size=3, num_threads=2, device_id=None, seed=1)
    with pipe:
        given = {"file_root": str(folder), "annotations_file": str(folder / "a.json")} | arguments
        pipe.set_outputs(*module.fn.readers.coco(**given))
    pipe.build()
    found = []
    for _ in range(batches):
        columns = [numpy_batch(batch) for batch in pipe.run()]
        for row in zip(*columns, strict=True):
            found.append([(value.dtype.str, value.shape, value.tolist()) for value in row])
    return found


def annotation(image, category, box, segmentation, crowd=0):
    return {
        "id": 1,
        "image_id": image,
        "category_id": category,
        "bbox": box,
        "iscrowd": crowd,
        "segmentation": segmentation,
    }


OBJECTS = [
    annotation(1, 1, [1.5, 2, 3, 4.25], [[1, 1, 5, 1, 5, 6, 1, 6], [7, 2, 9.5, 2, 8, 4]]),
    annotation(1, 90, [0, 0, 0.05, 4], [[0, 0, 1, 0, 1, 1]]),
    annotation(3, 18, [0, 0, 2, 2], {"counts": [10, 5, 120], "size": [9, 15]}, 1),
    annotation(3, 1, [2, 3, 4, 4], [[2.2, 3.1, 6.4, 3.3, 6.1, 7.2, 2.4, 6.9]]),
    annotation(1, 18, [3, 3, 3, 3], [[3, 3, 6.5, 3.5, 6, 6, 3, 6]]),
    annotation(7, 18, [1.3, 1.7, 3.1, 3.9], [[1, 1, 19.7, 1, 11, 28.3, 1, 14]]),
    annotation(7, 90, [1.3, 1.7, 0.1, 3.9], [[-5, 3, 30, 7, 12, 40]]),
]


def write(folder, objects=OBJECTS, **changes):
    for number in SIZES:
        (folder / f"img{number}.jpg").write_bytes(f"image{number}".encode())
    images = [
        {"id": n, "file_name": f"img{n}.jpg", "height": height, "width": width} for n, (height, width) in SIZES.items()
    ]
    categories = [{"id": number, "name": str(number)} for number in CATEGORIES]
    content = {"images": images, "categories": categories, "annotations": objects} | changes
    (folder / "a.json").write_text(json.dumps(content))
