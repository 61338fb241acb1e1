"""Instance segmentation: polygons, pixel-wise and encoded masks of COCO."""

import json
import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def


def write(data):
    with open(os.path.join(data, "coco.json")) as f:
        whole = json.load(f)
    sizes = {i["id"]: (i["height"], i["width"]) for i in whole["images"]}
    alone = {i: sum(o["image_id"] == i for o in whole["annotations"]) == 1 for i in sizes}
    for k, o in enumerate(whole["annotations"]):
        x, y, w, h = o["bbox"]
        height, width = sizes[o["image_id"]]
        if alone[o["image_id"]] and k % 2:
            m = np.zeros((height, width), np.uint8)
            m[int(y) : int(y + h), int(x) : int(x + w)] = 1
            flat = m.flatten(order="F")
            runs, value, count = [], 0, 0
            for v in flat:
                if v != value:
                    runs.append(count)
                    value, count = v, 0
                count += 1
            runs.append(count)
            o["segmentation"] = {"size": [height, width], "counts": [int(r) for r in runs]}
        else:
            o["segmentation"] = [[x, y, x + w, y, x + w, y + h, x, y + h]]
    path = os.path.join(data, "coco_masks.json")
    with open(path, "w") as f:
        json.dump(whole, f)
    return path


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
def pixelwise(data, path):
    images, boxes, labels, masks = fn.readers.coco(
        file_root=os.path.join(data, "coco"),
        annotations_file=path,
        pixelwise_masks=True,
        ratio=True,
        ltrb=True,
        name="r",
    )
    images = fn.decoders.image(images)
    return (
        fn.resize(images, size=[48, 48]),
        boxes,
        labels,
        masks,
        fn.resize(fn.cast(masks, dtype=types.UINT8), size=[48, 48], interp_type=types.INTERP_NN),
    )


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3)
def polygons(data, path, select=False):
    _images, boxes, labels, polys, vertices, ids = fn.readers.coco(
        file_root=os.path.join(data, "coco"),
        annotations_file=path,
        polygon_masks=True,
        image_ids=True,
        ltrb=True,
        ratio=True,
        include_iscrowd=False,
    )
    if not select:
        return boxes, labels, polys, vertices, ids
    _crop_begin, _crop_size, boxes, labels, indices = fn.random_bbox_crop(
        boxes,
        labels,
        thresholds=[0.0],
        scaling=[1.0, 1.0],
        aspect_ratio=[1.0, 1.0],
        allow_no_crop=True,
        bbox_layout="xyXY",
        output_bbox_indices=True,
    )
    polys, vertices = fn.segmentation.select_masks(indices, polys, vertices, reindex_masks=True)
    flip = fn.random.coin_flip(probability=1.0)
    boxes = fn.bb_flip(boxes, ltrb=True, horizontal=flip)
    vertices = fn.coord_flip(vertices, flip_x=flip, center_x=0.5)
    matrix = fn.transforms.scale(scale=[64.0, 48.0])
    return boxes, labels, polys, fn.coord_transform(vertices, MT=matrix), indices


@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=3)
def with_ids(data, path):
    outs = fn.readers.coco(
        file_root=os.path.join(data, "coco"),
        annotations_file=path,
        image_ids=True,
        size_threshold=5.0,
        shuffle_after_epoch=False,
        skip_empty=True,
        images=["000000000002.jpg", "000000000001.jpg", "000000000004.jpg"],
    )
    return tuple(outs[1:])


def run(pipe, count=2):
    pipe.build()
    return [[[np.array(out.at(i)) for i in range(len(out))] for out in pipe.run()] for _ in range(count)]


def main(data):
    path = write(data)
    whole = os.path.join(data, "coco_polys.json")
    with open(path) as f:
        js = json.load(f)
    js["annotations"] = [a for a in js["annotations"] if isinstance(a["segmentation"], list)]
    with open(whole, "w") as f:
        json.dump(js, f)
    return {
        "pixelwise": run(pixelwise(data, path)),
        "polygons": run(polygons(data, whole)),
        "selected": run(polygons(data, whole, True)),
        "ids": run(with_ids(data, path)),
    }
