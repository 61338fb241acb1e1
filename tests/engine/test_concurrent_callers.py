"""Many threads at once: one loader, several loaders, images in one call. Free-threaded Python serializes none of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoded_images import color, encode

import pixelmill
from pixelmill import Loader, fn, pipeline_def

FILES, THREADS, ROUNDS = 97, 16, 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Write JPEG and PNG files of several sizes; the number of each is its label."""
    root = tmp_path_factory.mktemp("images")
    for number in range(FILES):
        kind = "JPEG" if number % 3 else "PNG"
        (root / f"{number:03}").write_bytes(bytes(encode(color(number, 20 + number % 13, 20 + number % 7), kind)))
    return [str(path) for path in sorted(root.iterdir())]


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=5)
def train(files: list[str]) -> Any:
    encoded, labels = fn.readers.file(files=files, labels=list(range(FILES)), random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=16)
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


def opened(files: list[str]) -> Loader:
    return Loader(train(files), ["images", "labels"])


def samples(batches: Iterable[dict[str, Any]]) -> dict[int, bytes]:
    """Return the pixels of every sample by its label; a sample that comes twice fails."""
    found: dict[int, bytes] = {}
    for batch in batches:
        for label, image in zip(batch["labels"].ravel().tolist(), batch["images"], strict=True):
            assert label not in found
            found[label] = image.tobytes()
    return found


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run all calls in threads that start together, and switch between them as often as Python can."""
    start, interval = threading.Barrier(len(calls)), sys.getswitchinterval()

    def called(call: Callable[[], Any]) -> Any:
        start.wait()
        return call()

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(calls)) as pool:
            return [result.result() for result in [pool.submit(called, call) for call in calls]]
    finally:
        sys.setswitchinterval(interval)


def test_threads_share_the_batches_of_one_loop(files: list[str]) -> None:
    alone, shared = opened(files), opened(files)
    for _ in range(ROUNDS):
        loop = iter(shared)
        taken = at_once([lambda: list(loop)] * THREADS)  # noqa: B023 - called before the next round
        assert samples(batch for batches in taken for batch in batches) == samples(alone)


def test_loaders_do_not_disturb_each_other(files: list[str]) -> None:
    alone = opened(files)
    wanted = [samples(alone) for _ in range(2)]
    loaders = [opened(files) for _ in range(6)]
    for got in at_once([lambda loader=loader: [samples(loader) for _ in range(2)] for loader in loaders]):  # type: ignore[misc]
        assert got == wanted


def test_loaders_are_opened_and_dropped_by_many_threads(files: list[str]) -> None:
    wanted = samples(opened(files))
    for got in at_once([lambda: samples(opened(files))] * 6):
        assert got == wanted


def test_images_are_read_by_many_threads(files: list[str]) -> None:
    wanted = [pixelmill.imread(path) for path in files]
    for got in at_once([lambda: [pixelmill.imread(path) for path in files]] * THREADS):
        assert all(np.array_equal(one, other) for one, other in zip(got, wanted, strict=True))


def test_images_are_written_and_read_by_many_threads(tmp_path: Path) -> None:
    images = [color(number, 30, 20) for number in range(THREADS)]

    def written(number: int) -> Any:
        path = tmp_path / f"{number}.png"
        for _ in range(ROUNDS):
            pixelmill.imwrite(path, images[number])
        return pixelmill.imread(path)

    for got, wanted in zip(at_once([lambda n=n: written(n) for n in range(THREADS)]), images, strict=True):  # type: ignore[misc]
        np.testing.assert_array_equal(got, wanted)
