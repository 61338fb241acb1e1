"""The classes of older programs: TFRecord, RecordIO and WebDataset files behind one common pipeline."""

import os

import numpy as np
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.tfrecord as tfrec
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator


class CommonPipeline(Pipeline):
    def __init__(self, batch_size, num_threads, device_id):
        super().__init__(batch_size, num_threads, device_id)
        self.decode = ops.decoders.Image(device="cpu", output_type=types.RGB)
        self.resize = ops.Resize(device="cpu", interp_type=types.INTERP_LINEAR, resize_shorter=48.0)
        self.cmn = ops.CropMirrorNormalize(
            device="cpu",
            dtype=types.FLOAT,
            crop=(40, 40),
            mean=[128.0, 128.0, 128.0],
            std=[1.0, 1.0, 1.0],
            output_layout=types.NCHW,
        )
        self.uniform = ops.random.Uniform(values=[0.25])

    def base_define_graph(self, inputs, labels):
        images = self.resize(self.decode(inputs))
        return self.cmn(images, crop_pos_x=self.uniform(), crop_pos_y=self.uniform()), labels


class TFRecordPipeline(CommonPipeline):
    def __init__(self, batch_size, num_threads, device_id, data):
        super().__init__(batch_size, num_threads, device_id)
        self.input = ops.readers.TFRecord(
            path=os.path.join(data, "records.tfrecord"),
            index_path=os.path.join(data, "records.idx"),
            features={
                "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
                "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
                "image/class/text": tfrec.FixedLenFeature([], tfrec.string, ""),
                "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
            },
        )

    def define_graph(self):
        inputs = self.input(name="Reader")
        return self.base_define_graph(inputs["image/encoded"], inputs["image/class/label"])


class MXNetPipeline(CommonPipeline):
    def __init__(self, batch_size, num_threads, device_id, data):
        super().__init__(batch_size, num_threads, device_id)
        self.input = ops.readers.MXNet(
            path=[os.path.join(data, "records.rec")], index_path=[os.path.join(data, "rec.idx")]
        )

    def define_graph(self):
        images, labels = self.input(name="Reader")
        return self.base_define_graph(images, labels)


class WebdatasetPipeline(CommonPipeline):
    def __init__(self, batch_size, num_threads, device_id, data):
        super().__init__(batch_size, num_threads, device_id)
        self.input = ops.readers.Webdataset(
            paths=[os.path.join(data, "records.tar")],
            ext=["jpg;jpeg", "cls"],
            missing_component_behavior="error",
        )

    def define_graph(self):
        images, labels = self.input(name="Reader")
        return self.base_define_graph(images, fn.reinterpret(labels, layout=""))


def main(data):
    results = {}
    for kind in (TFRecordPipeline, MXNetPipeline, WebdatasetPipeline):
        pipe = kind(batch_size=4, num_threads=2, device_id=None, data=data)
        pipe.build()
        size = pipe.epoch_size("Reader")
        loader = DALIGenericIterator([pipe], ["data", "label"], size=size)
        batches = [(data[0]["data"].numpy().copy(), data[0]["label"].numpy().copy()) for data in loader]
        results[kind.__name__] = [size, len(batches), batches]
        assert np.concatenate([images for images, _ in batches]).shape[1:] == (3, 40, 40)
    return results
