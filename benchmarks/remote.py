"""Training from an object store: this library and others, next to the same pipeline on local files.

The store is a server of this repository on 127.0.0.1 with latency and a limit of bandwidth for each connection. Every
contestant is a process of its own that reads one epoch, decodes it and crops it to 224 x 224; imports, opening the
dataset and the first batch count.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import machine

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "tests" / "support" / "loopback_s3.py"
BANDWIDTH = 50e6
SIDE = 224
BATCH = 64
PER_SHARD = 100
FORMATS = ("folder", "tfrecord", "webdataset")


def ours(format: str, base: str, options: dict[str, Any], *, threads: int, mode: str) -> Iterator[int]:
    """Yield the number of samples of each batch of one epoch."""
    from pixelmill import Pipeline, fn, tfrecord, types
    from pixelmill.storage import matching, using

    shared = {"random_shuffle": True, "name": "reader", "pad_last_batch": True, "shuffle_mode": mode, **options}
    with using(options.get("storage_options")):
        ending = "tar" if format == "webdataset" else format
        names = [] if format == "folder" else matching(f"{base}/{format}/*.{ending}")
    pipe = Pipeline(batch_size=BATCH, num_threads=threads, seed=1)
    with pipe:
        if format == "folder":
            encoded, _ = fn.readers.file(file_root=f"{base}/folder", **shared)
        elif format == "tfrecord":
            features = {"image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, "")}
            encoded = fn.readers.tfrecord(path=names, features=features, **shared)["image/encoded"]
        else:
            encoded = fn.readers.webdataset(paths=names, ext=["jpg"], **shared)
        images = fn.decoders.image_random_crop(encoded)
        pipe.set_outputs(fn.resize(images, size=(SIDE, SIDE), dtype=types.UINT8))
    left = pipe.epoch_size("reader")
    while left > 0:
        count = min(len(pipe.run()[0]), left)
        left -= count
        yield count


def webdataset(endpoint: str, *, threads: int) -> Iterator[int]:
    """Read archives with webdataset in the workers of a DataLoader, decoded by Pillow."""
    import torch
    import webdataset as wds  # type: ignore[import-untyped]
    from PIL import Image

    def crop(data: bytes) -> torch.Tensor:
        image = Image.open(io.BytesIO(data)).convert("RGB").resize((SIDE, SIDE))
        return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)

    with urllib.request.urlopen(f"{endpoint}/data?list-type=2&prefix=webdataset/") as answer:
        text = answer.read().decode()
    keys = [part.split("<")[0] for part in text.split("<Key>")[1:]]
    urls = [f"pipe:curl -s {endpoint}/data/{key}" for key in keys if key.endswith(".tar")]
    dataset = wds.WebDataset(urls, shardshuffle=100).shuffle(1000).to_tuple("jpg").map_tuple(crop)
    loader = torch.utils.data.DataLoader(dataset, batch_size=BATCH, num_workers=threads)
    for (images,) in loader:
        yield len(images)


def child(name: str, endpoint: str, data: str, threads: int) -> None:
    """Run a contestant and print when its batches came."""
    began = time.time()
    kind, _, rest = name.partition(" ")
    options: dict[str, Any] = {}
    if kind == "webdataset-peer":
        batches = webdataset(endpoint, threads=threads)
    else:
        base = data if kind == "local" else "s3://data"
        if kind != "local":
            client = {"region_name": "us-east-1"}
            store = {"key": "t", "secret": "t", "endpoint_url": endpoint, "client_kwargs": client}
            options = {"storage_options": store, "cache_size": 0}
        format, _, mode = rest.partition(" ")
        batches = ours(format, base, options, threads=threads, mode=mode or "global")
    times, counts = [], []
    for count in batches:
        times.append(time.time())
        counts.append(count)
    print(json.dumps({"began": began, "times": times, "counts": counts}))


def measured(name: str, endpoint: str, data: Path, threads: int) -> dict[str, Any]:
    """Run a contestant in a process of its own; return its figures and what the server counted."""
    urllib.request.urlopen(f"{endpoint}/counts-of-this-server").read()
    command = [sys.executable, __file__, "--child", name, "--endpoint", endpoint, "--data", str(data)]
    start = time.time()
    done = subprocess.run([*command, "--threads", str(threads)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return {"name": name, "failed": done.stderr.strip().splitlines()[-1:]}
    told = json.loads(done.stdout.splitlines()[-1])
    samples = sum(told["counts"])
    after = told["times"][-1] - told["times"][0]
    counted = json.loads(urllib.request.urlopen(f"{endpoint}/counts-of-this-server").read())
    return {
        "name": name,
        "samples": samples,
        "first_batch_seconds": round(told["times"][0] - start, 3),
        "per_second": round(samples / (told["times"][-1] - start), 1),
        "per_second_after_first_batch": round((samples - told["counts"][0]) / after, 1) if after > 0 else None,
        "requests": counted,
    }


def prepared(build: Path, count: int) -> Path:
    """Write the photo-like files once, as a folder and as records."""
    from pixelmill import convert
    from pixelmill.create import create_photo_folder
    from pixelmill.formats.webdataset.index_file import write_index
    from pixelmill.formats.webdataset.scan import scan

    data = build / "bench-data" / f"remote-{count}"
    if not (data / "done").exists():
        create_photo_folder(data / "folder", count, size_mean=(500, 400), classes=10)
        for format in ("tfrecord", "webdataset"):
            convert(data / "folder", data / format, to=format, samples_per_shard=PER_SHARD, exists="overwrite")
        for archive in (data / "webdataset").glob("*.tar"):
            write_index(archive.with_suffix(".idx"), scan(archive).samples)
        (data / "done").touch()
    return data


def serve(data: Path, latency: float) -> tuple[subprocess.Popen[str], str]:
    """Start the server and return it with its address."""
    command = [sys.executable, str(SERVER), str(data), "--latency", str(latency), "--bandwidth", str(BANDWIDTH)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, f"http://127.0.0.1:{int(process.stdout.readline())}"


def contestants(only: list[str] | None) -> list[str]:
    """Return the names of what is measured."""
    names = [f"local {format}" for format in FORMATS] + [f"pixelmill {format}" for format in FORMATS]
    names += ["pixelmill tfrecord blocks", "pixelmill webdataset blocks", "webdataset-peer"]
    return [name for name in names if only is None or any(name.startswith(text) for text in only)]


def table(rows: list[dict[str, Any]], show: Callable[[str], object] = print) -> None:
    """Print the figures."""
    show(f"{'ms':>4} {'contestant':<30} {'first batch':>11} {'samples/s':>10} {'after first':>12}  requests")
    for row in rows:
        if "failed" in row:
            show(f"{row['latency_ms']:>4} {row['name']:<30} failed: {row['failed']}")
            continue
        after = row["per_second_after_first_batch"] or "-"
        figures = f"{row['first_batch_seconds']:>9.2f} s {row['per_second']:>10} {after:>12}"
        show(f"{row['latency_ms']:>4} {row['name']:<30} {figures}  {row['requests']}")


def main() -> None:
    """Measure all contestants at all latencies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="number of images")
    parser.add_argument("--latencies", type=int, nargs="+", default=[0, 30, 80], help="milliseconds")
    parser.add_argument("--contestants", nargs="+", help="beginnings of names; all if omitted")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--endpoint", help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.endpoint, given.data, given.threads)
        return
    machine.compile_modules()
    data = prepared(given.build, given.count)
    rows: list[dict[str, Any]] = []
    for latency in given.latencies:
        server, endpoint = serve(data, latency / 1000)
        try:
            for name in contestants(given.contestants):
                rows.append({"latency_ms": latency, **measured(name, endpoint, data, given.threads)})
        finally:
            server.terminate()
            server.wait()
    table(rows)
    if given.json:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"machine": machine.describe(), "bandwidth": BANDWIDTH, "rows": rows}, indent=1)
        given.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
