"""What each operator of reference.py is applied to, and how it is run on it."""

from __future__ import annotations

import io
from itertools import repeat

import numpy as np
from dali_runs import HERE, noise, numpy_batch
from encoded_images import color, encode
from PIL import Image

SIZES = [(1, 1), (1, 7), (5, 1), (2, 3), (13, 17), (32, 31), (40, 33)]
EMPTY = [(0, 5), (4, 0), (0, 0)]


def pictures(entry):
    sizes = SIZES + (EMPTY if entry.empty else [])
    return [noise((*size, 3), seed=number) for number, size in enumerate(sizes)]


def files(entry):
    shapes = [(11, 12), (33, 21), (16, 48), (64, 17)]
    return [encode(color(9, *shape), "JPEG", subsampling=i % 3) for i, shape in enumerate(shapes)]


def shapes(entry):
    return [np.array(shape, np.int64) for shape in [(1, 1, 3), (400, 470, 3), (60, 900, 3), (900, 60, 3), (33, 34, 1)]]


def masks(entry):
    """Make masks of a few classes, with and without objects."""
    sizes = [(1, 1, 1), (1, 7, 1), (13, 17, 1), (32, 31, 1)]
    return [noise(size, seed=number) // 100 for number, size in enumerate(sizes)]


def boxes(entry):
    """Make relative boxes (x, y, width, height) inside of an image, also none."""
    random = np.random.default_rng(3)
    low = [random.random((count, 2), np.float32) / 2 for count in ((1, 4, 0, 7) if entry.empty else (1, 4, 7))]
    return [np.concatenate([corner, 0.05 + corner / 2], axis=1).astype(np.float32) for corner in low]


def arrays(entry):
    """Write arrays as files of NumPy."""
    files_ = []
    for number, shape in enumerate([(3, 4), (1, 1), (13, 17)]):
        file = io.BytesIO()
        np.save(file, noise(shape, np.int16, number))
        files_.append(np.frombuffer(file.getvalue(), np.uint8))
    return files_


def mask_files(entry):
    """Write masks as PNG: gray, with a palette of 8 and of 4 bits, with transparency, with 16 bits."""
    made = []
    for number, shape in enumerate([(13, 17), (1, 1), (32, 31), (7, 5), (9, 40), (6, 6)]):
        image = Image.fromarray(noise(shape, seed=number) // 20)
        if number in (1, 2, 3, 4):
            image.putpalette([value for color in range(256) for value in (255 - color, 30, color // 2)])
        if number == 5:
            image = Image.fromarray(noise(shape, seed=number).astype(np.uint16) * 200)
        options = {2: {"bits": 4}, 3: {"transparency": 0}}.get(number, {})
        file = io.BytesIO()
        image.save(file, "png", **options)
        made.append(np.frombuffer(file.getvalue(), np.uint8))
    return made


KINDS = {
    "arrays": arrays,
    "pictures": pictures,
    "files": files,
    "mask_files": mask_files,
    "shapes": shapes,
    "masks": masks,
    "boxes": boxes,
}


def samples_of(entry, folder):
    """Return the inputs of the operator, one for each sample."""
    if entry.inputs not in ("paths", "names"):
        return KINDS[entry.inputs](entry)
    paths = [folder / f"{number}.jpg" for number in range(4)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes(range(10 * number + 1)))
    named = [str(path) for path in paths]
    return named if entry.inputs == "paths" else [np.frombuffer(name.encode(), np.uint8) for name in named]


def run(entry, samples, *, module=HERE, one_by_one=False, **options):
    """Run an operator; give its outputs, each as a list with one array for each sample."""
    size = 1 if one_by_one else len(samples)
    pipe = module.Pipeline(**{"batch_size": size, "num_threads": 2, "device_id": None, "seed": 1, **options})
    with pipe:
        if entry.inputs == "paths":
            nodes = entry.graph(module, samples)
        else:
            batches = iter([[sample] for sample in samples]) if one_by_one else repeat(samples)
            layout = "HWC" if entry.inputs == "pictures" else None
            no_copy = module is HERE
            nodes = entry.graph(module, module.fn.external_source(source=batches, layout=layout, no_copy=no_copy))
        pipe.set_outputs(*(nodes if isinstance(nodes, (list, tuple)) else [nodes]))
    pipe.build()
    taken = [[numpy_batch(out) for out in pipe.run()] for _ in range(len(samples) if one_by_one else 1)]
    return [[array for batch in taken for array in batch[output]] for output in range(len(taken[0]))]
