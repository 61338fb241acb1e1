"""EfficientDet: paste on a larger canvas, flip, scale to fit, crop, and pad the lists of boxes to one length."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIGenericIterator, DALIRaggedIterator

IMAGE_SIZE = 96
MAX_INSTANCES = 10


def input_coco(data):
    images, boxes, classes, image_ids = fn.readers.coco(
        file_root=os.path.join(data, "coco"),
        annotations_file=os.path.join(data, "coco.json"),
        ltrb=True,
        ratio=False,
        image_ids=True,
        avoid_class_remapping=True,
        pad_last_batch=True,
        name="Reader",
    )
    shapes = fn.peek_image_shape(images)
    return fn.decoders.image(images), boxes, classes, image_ids, fn.cast(shapes, dtype=types.FLOAT)


def normalize_flip(images, bboxes, flip):
    images = fn.crop_mirror_normalize(
        images,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        mirror=flip,
        dtype=types.FLOAT,
        output_layout="HWC",
    )
    return images, fn.bb_flip(bboxes, horizontal=flip, ltrb=True)


def random_crop_resize_2(images, bboxes, classes, shapes, factor):
    """Scale by a factor, then cut to the output size; boxes are clipped and empty ones stay."""
    height, width = shapes[0], shapes[1]
    scale = factor * IMAGE_SIZE / fn.stack(height, width)
    least = fn.reductions.min(scale)
    images = fn.resize(
        images,
        size=fn.stack(height, width) * least,
        interp_type=types.INTERP_LINEAR,
        antialias=False,
    )
    images = fn.crop(
        images,
        crop=[IMAGE_SIZE, IMAGE_SIZE],
        crop_pos_x=0.0,
        crop_pos_y=0.0,
        out_of_bounds_policy="pad",
        fill_values=0,
    )
    bboxes = fn.reductions.min(fn.stack(bboxes * least, bboxes * 0 + float(IMAGE_SIZE)), axes=0)
    return images, bboxes, classes


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=5)
def efficientdet(data, flips, ragged):
    images, boxes, classes, image_ids, shapes = input_coco(data)
    flip = fn.external_source(source=lambda info: np.int32(flips[info.idx_in_epoch % len(flips)]), batch=False)
    relative = boxes / fn.cat(shapes[1:2], shapes[0:1], shapes[1:2], shapes[0:1])
    images = fn.paste(images, ratio=1.5, paste_x=0.25, paste_y=0.75, fill_value=(124, 116, 104))
    relative = fn.bbox_paste(relative, ratio=1.5, paste_x=0.25, paste_y=0.75, ltrb=True)
    images, relative = normalize_flip(images, relative, flip)
    canvas = fn.cast(fn.shapes(images), dtype=types.FLOAT)
    boxes = relative * fn.cat(canvas[1:2], canvas[0:1], canvas[1:2], canvas[0:1])
    images, boxes, classes = random_crop_resize_2(images, boxes, classes, canvas, 1.2)
    if ragged:
        return images, boxes, classes, image_ids
    boxes = fn.pad(boxes, fill_value=-1, axes=(0,), shape=(MAX_INSTANCES,))
    classes = fn.pad(classes, fill_value=-1, axes=(0,), shape=(MAX_INSTANCES,))
    return images, boxes, classes, image_ids


def main(data):
    names = ["images", "boxes", "classes", "ids"]
    padded = DALIGenericIterator(
        efficientdet(data, [0, 1, 1], False), names, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    batches = [{name: value.numpy().copy() for name, value in batch[0].items()} for batch in padded]
    ragged = DALIRaggedIterator(
        efficientdet(data, [0, 1, 1], True),
        names,
        output_types=[
            DALIRaggedIterator.DENSE_TAG,
            DALIRaggedIterator.SPARSE_LIST_TAG,
            DALIRaggedIterator.SPARSE_LIST_TAG,
            DALIRaggedIterator.DENSE_TAG,
        ],
        reader_name="Reader",
    )
    lists = [[[box.numpy().copy() for box in batch[0][name]] for name in ("boxes", "classes")] for batch in ragged]
    return {"padded": batches, "ragged": lists}
