"""Face recognition from RecordIO: augmentations chosen by multiplexing, and a wrapper that unpacks batches."""

import os

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIClassificationIterator


def dali_data_iter(
    batch_size,
    rec_file,
    idx_file,
    num_threads,
    initial_fill=32,
    random_shuffle=False,
    prefetch_queue_depth=1,
    local_rank=0,
    world=1,
    name="reader",
    mean=(127.5, 127.5, 127.5),
    std=(127.5, 127.5, 127.5),
    probabilities=(0.0, 0.0, 0.0, 0.0),
    dali_aug=True,
):
    def dali_random_resize(img, resize_size, image_size=48):
        img = fn.resize(img, resize_x=resize_size, resize_y=resize_size)
        return fn.resize(img, size=(image_size, image_size))

    def dali_random_gaussian_blur(img, window_size):
        return fn.gaussian_blur(img, window_size=window_size * 2 + 1)

    def dali_random_gray(img, prob_gray):
        saturate = fn.random.coin_flip(probability=1 - prob_gray)
        saturate = fn.cast(saturate, dtype=types.FLOAT)
        return fn.hsv(img, saturation=saturate)

    def dali_random_hsv(img, hue, saturation):
        return fn.hsv(img, hue=hue, saturation=saturation)

    def multiplexing(condition, true_case, false_case):
        neg_condition = condition ^ True
        return condition * true_case + neg_condition * false_case

    p_resize, p_blur, p_flip, p_hsv = probabilities
    condition_resize = fn.random.coin_flip(probability=p_resize)
    size_resize = fn.random.uniform(range=(int(48 * 0.5), int(48 * 0.8)), dtype=types.FLOAT)
    condition_blur = fn.random.coin_flip(probability=p_blur)
    window_size_blur = fn.random.uniform(range=(1, 2), dtype=types.INT32)
    condition_flip = fn.random.coin_flip(probability=p_flip)
    condition_hsv = fn.random.coin_flip(probability=p_hsv)
    hsv_hue = fn.random.uniform(range=(0.0, 20.0), dtype=types.FLOAT)
    hsv_saturation = fn.random.uniform(range=(1.0, 1.2), dtype=types.FLOAT)

    pipe = Pipeline(
        batch_size=batch_size,
        num_threads=num_threads,
        device_id=None,
        prefetch_queue_depth=prefetch_queue_depth,
        seed=local_rank + 2,
    )
    condition_flip = fn.random.coin_flip(probability=p_flip)
    with pipe:
        jpegs, labels = fn.readers.mxnet(
            path=rec_file,
            index_path=idx_file,
            initial_fill=initial_fill,
            num_shards=world,
            shard_id=local_rank,
            random_shuffle=random_shuffle,
            pad_last_batch=False,
            name=name,
        )
        images = fn.decoders.image(jpegs, device="cpu", output_type=types.RGB)
        images = fn.resize(images, size=(48, 48))
        if dali_aug:
            images = fn.cast(images, dtype=types.UINT8)
            images = multiplexing(condition_resize, dali_random_resize(images, size_resize, image_size=48), images)
            images = multiplexing(condition_blur, dali_random_gaussian_blur(images, window_size_blur), images)
            images = multiplexing(condition_hsv, dali_random_hsv(images, hsv_hue, hsv_saturation), images)
            images = dali_random_gray(images, 0.1 if p_hsv else 0.0)
        images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, mean=mean, std=std, mirror=condition_flip)
        pipe.set_outputs(images, labels)
    pipe.build()
    return DALIWarper(DALIClassificationIterator(pipelines=[pipe], reader_name=name))


class DALIWarper:
    def __init__(self, dali_iter):
        self.iter = dali_iter

    def __next__(self):
        data_dict = self.iter.__next__()[0]
        tensor_data = data_dict["data"]
        tensor_label = data_dict["label"].long()
        tensor_label.squeeze_()
        return tensor_data, tensor_label

    def __iter__(self):
        return self

    def reset(self):
        self.iter.reset()


def main(data):
    rec, idx = os.path.join(data, "records.rec"), os.path.join(data, "rec.idx")
    found = {}
    for name, probabilities in {"none": (0, 0, 0, 0), "all but color": (0.0, 0.0, 1.0, 0.0)}.items():
        it = dali_data_iter(4, rec, idx, 2, probabilities=probabilities)
        found[name] = [(x.numpy().copy(), y.numpy().copy()) for x, y in it]
        it.reset()
        found[name + " again"] = [y.numpy().copy() for _, y in it]
    it = dali_data_iter(4, rec, idx, 2, probabilities=(0.1, 0.2, 0.5, 0.1), random_shuffle=True)
    images = []
    for _ in range(15):
        images += [x.numpy().copy() for x, _ in it]
        it.reset()
    found["drawn_images"] = images
    return found
