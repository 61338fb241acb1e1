"""SSD: COCO annotations, crops that keep boxes, flips of images and boxes, and targets from default boxes."""

import itertools
import os
from math import sqrt

import numpy as np
import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


def default_boxes():
    boxes = []
    sizes, ratios = [21, 45, 99], [[2], [2, 3]]
    for index, feature in enumerate([4, 2]):
        small, large = sizes[index] / 100, sqrt(sizes[index] * sizes[index + 1]) / 100
        shapes = [(small, small), (large, large)]
        for alpha in ratios[index]:
            width, height = small * sqrt(alpha), small / sqrt(alpha)
            shapes += [(width, height), (height, width)]
        for width, height in shapes:
            for i, j in itertools.product(range(feature), repeat=2):
                cx, cy = (j + 0.5) / feature, (i + 0.5) / feature
                boxes.append([cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2])
    return np.clip(np.array(boxes), 0, 1).flatten().tolist()


def create_coco_pipeline(data, batch_size, args):
    pipeline = Pipeline(batch_size, 2, None, seed=1234)
    with pipeline:
        images, bboxes, labels = fn.readers.coco(
            file_root=os.path.join(data, "coco"),
            annotations_file=os.path.join(data, "coco.json"),
            skip_empty=True,
            shard_id=0,
            num_shards=1,
            ratio=True,
            ltrb=True,
            random_shuffle=False,
            shuffle_after_epoch=False,
            name="Reader",
        )
        if args["train"]:
            crop_begin, crop_size, bboxes, labels = fn.random_bbox_crop(
                bboxes,
                labels,
                device="cpu",
                aspect_ratio=[0.5, 2.0],
                thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
                scaling=[0.3, 1.0],
                bbox_layout="xyXY",
                allow_no_crop=True,
                num_attempts=50,
            )
            images = fn.decoders.image_slice(images, crop_begin, crop_size, device="cpu", output_type=types.RGB)
            flip_coin = fn.random.coin_flip(probability=0.5)
        else:
            images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
            flip_coin = fn.external_source(source=lambda i: [np.int32((i + k) % 2) for k in range(batch_size)])
        images = fn.resize(images, resize_x=64, resize_y=64, min_filter=types.DALIInterpType.INTERP_TRIANGULAR)
        if args["train"]:
            saturation = fn.random.uniform(range=[0.5, 1.5])
            contrast = fn.random.uniform(range=[0.5, 1.5])
            brightness = fn.random.uniform(range=[0.875, 1.125])
            hue = fn.random.uniform(range=[-0.5, 0.5])
            images = fn.hsv(images, dtype=types.FLOAT, hue=hue, saturation=saturation)
            images = fn.brightness_contrast(
                images, contrast_center=128, dtype=types.UINT8, brightness=brightness, contrast=contrast
            )
        bboxes = fn.bb_flip(bboxes, ltrb=True, horizontal=flip_coin)
        images = fn.crop_mirror_normalize(
            images,
            crop=(64, 64),
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
            mirror=flip_coin,
            dtype=types.FLOAT,
            output_layout="CHW",
            pad_output=False,
        )
        encoded, encoded_labels = fn.box_encoder(
            bboxes,
            labels,
            criteria=0.5,
            anchors=default_boxes(),
            offset=args["offset"],
            stds=[0.1, 0.1, 0.2, 0.2],
            scale=64,
        )
        pipeline.set_outputs(images, bboxes, labels, encoded, encoded_labels)
    return pipeline


def main(data):
    assert isinstance(dali.__version__, str)
    results = {}
    for offset in (False, True):
        pipe = create_coco_pipeline(data, 4, {"train": False, "offset": offset})
        pipe.build()
        results[f"evaluation, offset {offset}"] = [
            [[np.array(out.at(i)) for i in range(4)] for out in pipe.run()] for _ in range(3)
        ]
    pipe = create_coco_pipeline(data, 4, {"train": True, "offset": True})
    pipe.build()
    batches = [pipe.run() for _ in range(40)]
    boxes = [np.array(batch[1].at(i)) for batch in batches for i in range(4)]
    labels = [np.array(batch[2].at(i)) for batch in batches for i in range(4)]
    results["boxes stay in the image"] = all((b >= 0).all() and (b <= 1).all() for b in boxes)
    results["boxes are not turned"] = all((b[:, :2] <= b[:, 2:]).all() for b in boxes)
    results["one label for each box"] = [len(b) for b in boxes] == [len(x) for x in labels]
    results["one box or more"] = min(map(len, boxes)) >= 1
    results["dtypes"] = [str(np.array(out.at(0)).dtype) for out in batches[0]]
    results["shapes of targets"] = [np.array(batches[0][n].at(0)).shape for n in (0, 3, 4)]
    results["drawn_areas"] = [(b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) for b in boxes]
    results["drawn_counts"] = [np.array([len(b)]) for b in boxes]
    results["drawn_images"] = [np.array(batch[0].at(i)) for batch in batches for i in range(4)]
    return results
