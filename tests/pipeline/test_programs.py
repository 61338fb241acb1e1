"""Programs written for DALI, unchanged but for the name in their import lines."""

from __future__ import annotations

import io
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from pixelmill.create import photo

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nvidia.dali.fn as dali_fn
    import nvidia.dali.types as dali_types
    from nvidia.dali import pipeline_def as dali_pipeline_def

# What users made of NVIDIA's ExternalSource tutorial in 2019: files with several labels each from a text file, fed by
# hand, decoded and resized "on the GPU", and a network trained on them.
EXTERNAL_SOURCE = """
import os
import random
import sys

import numpy as np
import torch
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator

image_dir = sys.argv[1]
batch_size = 16
epochs = 2


class ExternalInputIterator(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        with open(os.path.join(image_dir, "labels.txt")) as f:
            self.files = [line.rstrip() for line in f if line != ""]
        random.Random(3).shuffle(self.files)

    def __iter__(self):
        self.i = 0
        self.n = len(self.files)
        return self

    def __next__(self):
        batch = []
        labels = []
        for _ in range(self.batch_size):
            name, *tags = self.files[self.i].split(" ")
            with open(os.path.join(image_dir, name), "rb") as f:
                batch.append(np.frombuffer(f.read(), dtype=np.uint8))
            labels.append(np.array([int(tag) for tag in tags], dtype=np.uint8))
            self.i = (self.i + 1) % self.n
        return (batch, labels)

    next = __next__


class ExternalSourcePipeline(Pipeline):
    def __init__(self, data_iterator, batch_size, num_threads, device_id):
        super(ExternalSourcePipeline, self).__init__(batch_size, num_threads, device_id, seed=12)
        self.data_iterator = data_iterator
        self.input = ops.ExternalSource()
        self.input_label = ops.ExternalSource()
        self.decode = ops.nvJPEGDecoder(device="mixed", output_type=types.RGB)
        self.res = ops.Resize(device="gpu", resize_x=224, resize_y=224, interp_type=types.INTERP_TRIANGULAR)

    def define_graph(self):
        self.jpegs = self.input()
        self.labels = self.input_label()
        images = self.decode(self.jpegs)
        output = self.res(images)
        return (output, self.labels)

    def iter_setup(self):
        (images, labels) = next(self.data_iterator)
        self.feed_input(self.jpegs, images)
        self.feed_input(self.labels, labels)


pipe = ExternalSourcePipeline(
    data_iterator=iter(ExternalInputIterator(batch_size)), batch_size=batch_size, num_threads=2, device_id=0
)
pipe.build()
loader = DALIGenericIterator([pipe], ["images", "labels"], 256)

torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
criterion = torch.nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
losses = []
for e in range(epochs):
    for i, data in enumerate(loader):
        x = data[0]["images"].permute(0, 3, 1, 2).float() / 255
        y = data[0]["labels"].float()
        optimizer.zero_grad()
        loss = criterion(model(x.mean(dim=(2, 3))), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    loader.reset()
"""


@pytest.fixture(scope="module")
def image_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty photos; three labels tell which colors are strong in each."""
    folder = tmp_path_factory.mktemp("images")
    lines = []
    for number in range(20):
        rng = np.random.default_rng(number)
        tags = rng.integers(0, 2, 3)
        pixels = photo(1, number, height=int(rng.integers(150, 330)), width=int(rng.integers(150, 360)))
        pixels = (pixels * (0.4 + 0.6 * tags)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.jpg", quality=92, subsampling=int(rng.integers(0, 3)))
        lines.append(" ".join([f"{number}.jpg", *map(str, tags)]))
    (folder / "labels.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def program(image_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the program to its end and give its globals."""
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(EXTERNAL_SOURCE.replace("nvidia.dali", "pixelmill"))
    arguments, sys.argv = sys.argv, [str(path), str(image_dir)]
    try:
        return runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = arguments


def fed_batches(program: dict[str, Any], count: int) -> list[Any]:
    source = iter(program["ExternalInputIterator"](16))
    return [next(source) for _ in range(count)]


def test_external_source_trains(program: dict[str, Any]) -> None:
    losses = program["losses"]
    assert len(losses) == 2 * 256 // 16
    assert np.mean(losses[-8:]) < 0.8 * losses[0]


def test_external_source_gives_the_images_in_order(program: dict[str, Any]) -> None:
    """Sixteen steps of dense batches, and each image is the one that was fed, as Pillow would show it."""
    pipe = program["ExternalSourcePipeline"](iter(program["ExternalInputIterator"](16)), 16, 2, 0)
    loader = program["DALIGenericIterator"]([pipe], ["images", "labels"], 256)
    assert len(loader) == 16
    for step, ((batch,), (encoded, labels)) in enumerate(zip(loader, fed_batches(program, 16), strict=True)):
        images = batch["images"].numpy()
        assert images.shape == (16, 224, 224, 3) and images.dtype == np.uint8
        assert batch["labels"].numpy().dtype == np.uint8 and np.array_equal(batch["labels"].numpy(), np.stack(labels))
        for data, image in zip(encoded, images, strict=True) if step < 2 else []:
            with Image.open(io.BytesIO(data)) as picture:
                wanted = np.asarray(picture.resize((224, 224), Image.Resampling.BILINEAR))
            # DALI, whose weights these are, is as far from Pillow's.
            assert np.abs(image.astype(int) - wanted).mean() < 1
    with pytest.raises(StopIteration):
        next(loader)


def test_external_source_gives_dalis_images(program: dict[str, Any]) -> None:
    batches = fed_batches(program, 3)

    @dali_pipeline_def(batch_size=16, num_threads=1, device_id=None)
    def reference() -> Any:
        jpegs = dali_fn.external_source(source=[images for images, _ in batches])
        images = dali_fn.decoders.image(jpegs, output_type=dali_types.RGB)
        return dali_fn.resize(images, resize_x=224, resize_y=224, interp_type=dali_types.INTERP_TRIANGULAR)

    theirs = reference()
    pipe = program["ExternalSourcePipeline"](iter(program["ExternalInputIterator"](16)), 16, 1, 0)
    for _, labels in batches:
        (wanted,) = theirs.run()
        images, fed = pipe.run()
        assert np.abs(images.as_array().astype(int) - wanted.as_array()).max() <= 1
        assert np.array_equal(fed.as_array(), np.stack(labels))
