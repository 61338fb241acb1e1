"""Print a SHA-256 of the results of fixed graphs and jobs on small seeded inputs.

    .venv/bin/python scripts/golden_runs.py > after.txt
    ../before/.venv/bin/python scripts/golden_runs.py > before.txt
    diff before.txt after.txt

A refactoring that changes no results prints the same lines. Only the public API is used, so the script runs with any
version of the package; inputs are made with NumPy and Pillow alone. Arguments select the graphs or jobs to run.

    .venv/bin/python scripts/golden_runs.py --check tests/golden/results.txt

compares with the hashes of the repository, which are the same on every platform and SIMD level. Where a result is meant
to change, write them again: `scripts/golden_runs.py > tests/golden/results.txt`.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import golden_graphs
import golden_readers
import numpy as np
from golden_graphs import Data, Graph
from PIL import Image

import pixelmill
from pixelmill import _core
from pixelmill.augmentation import augment
from pixelmill.conversion import convert
from pixelmill.create import create_images, create_recordio, create_tfrecords
from pixelmill.ingest import ingest
from pixelmill.segmentation import prepare_segmentation

BATCH, BATCHES = 5, 3
CONTAINERS = ("folder", "list", "tfrecord", "recordio", "npy", "webdataset")
RECIPES = ("gentle", "classification", "heavy")
# Written by jobs beside their data: versions, times and names of options, none of which are results.
NOT_DATA = ("manifest.json", ".pixelmill", ".json")


def pixels(seed: int, height: int, width: int, channels: int = 3) -> np.ndarray[Any, Any]:
    """Draw an image with smooth areas, edges and noise."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[:height, :width]
    waves = np.stack([np.sin(rows / (3 + c) + seed) + np.cos(columns / (5 + c)) for c in range(channels)], axis=-1)
    noise = random.normal(0, 8, waves.shape)
    box = ((rows > height // 3) & (columns < width // 2))[..., None] * 60.0
    return np.clip(waves * 50 + 110 + noise + box, 0, 255).astype(np.uint8)


def make_data(root: Path) -> Data:
    """Write the inputs of all graphs and jobs."""
    folders = {name: root / name for name in Data.__dataclass_fields__}
    _write_classes(folders["classes"])
    _write_mixed(folders["mixed"])
    _write_arrays(folders["arrays"])
    _write_coco(folders["coco"])
    for name, container in (("tfrecord", "tfrecord"), ("recordio", "recordio"), ("tars", "webdataset")):
        convert(folders["classes"], folders[name], to=container, samples_per_shard=7, workers=1)
    _write_pairs(root / "pairs")
    return Data(**folders)


def _write_classes(root: Path) -> None:
    for number in range(13):
        folder = root / f"class_{number % 4}"
        folder.mkdir(parents=True, exist_ok=True)
        scale = 10 if number % 5 == 2 else 1  # large enough to be decoded at a lower resolution
        image = Image.fromarray(pixels(number, scale * (40 + 3 * number), scale * (71 - 2 * number)))
        image.save(folder / f"{number:03d}.jpg", quality=70 + number, subsampling=number % 3)


def _write_mixed(root: Path) -> None:
    root.mkdir()
    color, gray = Image.fromarray(pixels(50, 37, 45)), Image.fromarray(pixels(51, 37, 45)[..., 0])
    color.save(root / "progressive.jpg", progressive=True, quality=85)
    color.save(root / "restarts.jpg", restart_marker_blocks=3)
    gray.save(root / "grey.jpg")
    color.convert("CMYK").save(root / "cmyk.jpg")
    turned = Image.Exif()
    turned[0x0112] = 6
    color.save(root / "turned.jpg", exif=turned)
    color.save(root / "color.png")
    gray.save(root / "grey.png")
    color.convert("P").save(root / "palette.png")
    Image.fromarray(pixels(52, 37, 45, 4), "RGBA").save(root / "alpha.png")
    Image.fromarray(pixels(53, 37, 45)[..., 0].astype(np.uint16) * 257).save(root / "deep.png")
    for ending in ("bmp", "gif", "tiff", "ppm"):
        color.save(root / f"color.{ending}")
    color.save(root / "color.webp", lossless=True)


def _write_arrays(root: Path) -> None:
    root.mkdir()
    for number in range(7):
        np.save(root / f"{number}.npy", np.asfortranarray(pixels(number, 6 + number, 9, 2).astype(np.int16)))


def _write_coco(root: Path) -> None:
    root.mkdir()
    images, objects = [], []
    for number in range(6):
        Image.fromarray(pixels(70 + number, 40, 50)).save(root / f"{number}.jpg")
        images.append({"id": number, "file_name": f"{number}.jpg", "height": 40, "width": 50})
        for place in range(number % 3 + 1):
            corner = [3 + 5 * place, 2 + number]
            x, y = corner
            outline = [x, y, x + 12, y, x + 12, y + 9, x, y + 9]
            entry = {"id": 10 * number + place, "image_id": number, "category_id": place + 1, "iscrowd": 0}
            objects.append(entry | {"bbox": [*corner, 12, 9], "area": 108, "segmentation": [outline]})
    categories = [{"id": number, "name": f"kind {number}"} for number in (1, 2, 3)]
    annotations = {"images": images, "annotations": objects, "categories": categories}
    (root / "annotations.json").write_text(json.dumps(annotations))


def _write_pairs(root: Path) -> None:
    for number in range(6):
        for folder in ("Images", "Masks"):
            (root / folder / "group").mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels(90 + number, 20, 24)).save(root / "Images" / "group" / f"{number}.png")
        mask = pixels(90 + number, 20, 24)[..., 0] // 128 * 255
        Image.fromarray(mask).save(root / "Masks" / "group" / f"{number}.png")


def run_graph(graph: Graph, data: Data, *, optimize: bool) -> Iterator[bytes]:
    """Yield the layout, type, shape and elements of every sample of every output."""
    options: Any = {"batch_size": BATCH, "num_threads": 2, "device_id": None, "seed": 11, "optimize": optimize}
    pipe = pixelmill.Pipeline(**options)
    with pipe:
        outputs = graph(data)
        if not callable(outputs):
            pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
    pipe = outputs(**options) if callable(outputs) else pipe
    pipe.build()
    for _ in range(BATCHES):
        for batch in pipe.run():
            for place in range(len(batch)):
                array = np.ascontiguousarray(batch.at(place))
                yield f"{batch.layout()} {array.dtype.str} {array.shape}".encode()
                yield array.tobytes()


def files_of(folder: Path) -> Iterator[bytes]:
    """Yield the names and contents of the data files that a job has written."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not name.endswith(NOT_DATA) and not name.startswith("."):
            yield name.encode()
            yield path.read_bytes()


def jobs(data: Data, root: Path) -> dict[str, Callable[[Path], Any]]:
    """Return all jobs by name; each writes to the folder it is called with."""
    found: dict[str, Callable[[Path], Any]] = {
        "create noise": lambda at: create_images(at, "n_", 40, 30, 5, "jpg", seed=3, workers=1),
        "create photo": lambda at: create_images(
            at, "p_", 60, 44, 4, "jpg", content="photo", classes=2, size_distribution="sides:0.3", workers=1
        ),
        "create shapes": lambda at: create_images(
            at, "c_", 60, 44, 4, "png", content="shapes", classes=2, masks=True, boxes=True, workers=1
        ),
        "create sized": lambda at: create_images(at, "s_", 40, 30, 3, "bmp", seed=1, workers=1),
        "create tfrecords": lambda at: create_tfrecords(_flat(data), at, "data", 4),
        "create recordio": lambda at: create_recordio(_flat(data), at, "data", 4),
        "ingest": lambda at: ingest(data.classes, at, num_shards=2, num_workers=1, img_size=32, yes=True),
        "ingest halves": lambda at: ingest(
            data.classes, at, num_shards=1, num_workers=1, img_size=20, dtype="float16", order="CHW", yes=True
        ),
        "segmentation": lambda at: prepare_segmentation(root / "pairs", at, normalize="unit", workers=1),
    }
    for container in CONTAINERS:
        found[f"convert to {container}"] = lambda at, to=container: convert(data.classes, at, to=to, workers=1)
        found[f"convert back from {container}"] = lambda at, to=container: _there_and_back(data.classes, at, to)
    found["convert, smaller"] = lambda at: convert(
        data.classes, at, to="tfrecord", resize=24, format="jpeg", quality=80, shuffle=True, workers=1
    )
    for recipe in RECIPES:
        found[f"augment by {recipe}"] = lambda at, recipe=recipe: augment(
            data.classes, at, recipe=recipe, to="tfrecord", variants=2, seed=5, workers=1
        )
    return found


def _flat(data: Data) -> Path:
    """Return a flat folder of images, as the commands that create one container take it."""
    folder = data.classes.parent / "flat"
    if not folder.exists():
        folder.mkdir()
        for path in sorted(data.classes.rglob("*.jpg")):
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def _there_and_back(source: Path, at: Path, container: str) -> None:
    with tempfile.TemporaryDirectory() as between:
        convert(source, Path(between) / "out", to=container, samples_per_shard=6, workers=1)
        convert(Path(between) / "out", at, to="folder", workers=1)


def digest(parts: Iterator[bytes]) -> str:
    """Return one hash of many byte strings, with their lengths."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def results(names: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the hash of every result, or of the graphs and jobs that are named."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        data = make_data(root)
        for graph in (*golden_graphs.GRAPHS, *golden_readers.GRAPHS):
            name = graph.__name__
            for optimize in (True, False):
                if not names or name in names:
                    label = name if optimize else f"{name}, unfused"
                    yield label, digest(run_graph(graph, data, optimize=optimize))
        for number, (name, job) in enumerate(jobs(data, root).items()):
            if not names or name in names:
                output = root / f"job-{number}"
                job(output)
                yield name, digest(files_of(output))


def read_hashes(path: Path) -> dict[str, str]:
    """Return the hashes that this script has printed to a file, by name."""
    pairs = (line.split("  ", 1) for line in path.read_text("utf-8").splitlines())
    return {name: value for value, name in pairs}


def check(path: Path) -> None:
    """Compare all results with those of a file; exit with the names of those that differ."""
    wanted, got = read_hashes(path), dict(results([]))
    different = [name for name in wanted | got if wanted.get(name) != got.get(name)]
    if different:
        sys.exit(f"golden_runs.py: {len(different)} of {len(wanted)} differ: {'; '.join(different)}")
    print(f"{len(got)} of {len(wanted)} equal at SIMD level {_core.simd_level()}")


def main(arguments: list[str]) -> None:
    print(f"running {Path(pixelmill.__file__).parent}, SIMD level {_core.simd_level()}", file=sys.stderr)
    if arguments[:1] == ["--check"]:
        check(Path(arguments[1]))
        return
    for name, value in results(arguments):
        print(f"{value}  {name}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
