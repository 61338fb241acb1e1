"""Let every allocation, read, write and thread start of a small training program fail once, each in turn.

    python engine_faults.py FOLDER [--every 1] [--programs ...] [--kinds ...] [--threads 1 2]

Each case is a forked process with tests/support/fault_injector.cpp in it. A case passes if the program gets the right
error or none, continues, delivers every sample with its pixels, and leaves no thread and no open file. One that takes
longer than the watchdog allows counts as a hang. The output is a line of JSON per program and kind.

The kind `memory` is the allocations of the engine, which works without the GIL; `conversion` those with the GIL, when a
graph is built and when arguments and results are converted.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import functools
import gc
import hashlib
import io
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelmill import DataError, EngineError, Pipeline, _core, create, fn, tfrecord, types
from pixelmill.formats import example
from pixelmill.formats import tfrecord as records
from pixelmill.storage import cache

INJECTOR = Path(__file__).with_name("fault_injector.cpp")
KINDS = {"memory": 1, "read": 2, "write": 3, "thread": 4, "interrupt": 5, "conversion": 6}
COUNT, BATCH, DAMAGED = 12, 4, 7
WATCHDOG = 60.0  # seconds that no case takes, on a busy machine either
MOST_ERRORS = 5  # one call fails, so one or two errors follow, with that of the damaged sample
ERRORS = (DataError, EngineError, MemoryError, OSError)


@dataclass
class Outcome:
    """What a program delivered (hashes of samples, by label) and which errors it met."""

    samples: dict[int, str] = field(default_factory=dict)
    batches: int = 0
    errors: list[Exception] = field(default_factory=list)


@functools.cache  # encoded before anything fails
def encoded(number: int) -> bytes:
    """Return an image; together they take every way through the decoders, and one is damaged."""
    image = np.ascontiguousarray(create.photo(number, 0, height=48 + number % 5 * 9, width=64 + number % 3 * 7))
    stream = io.BytesIO()
    if number % 4 == 3 and number != DAMAGED:
        Image.fromarray(image).save(stream, "png")
    elif number % 4 == 2:
        Image.fromarray(image).save(stream, "jpeg", progressive=True)
    elif number == 1:
        Image.fromarray(image).convert("CMYK").save(stream, "jpeg")
    else:
        stream.write(_core.encode_jpeg(image, 85, "4:2:0"))
    data = stream.getvalue()
    return data[: len(data) // 2] if number == DAMAGED else data


def write_files(folder: Path) -> None:
    """Write every image in a class of its own, and two TFRecord files of the same images."""
    for form in DROPPED.values():
        slow_image(form)
    for half in range(2):
        path = folder / f"{half}.tfrecord"
        with path.open("wb") as stream, records.RecordWriter(stream) as writer:
            for number in range(half, COUNT, 2):
                features = {"image": example.bytes_feature(encoded(number)), "label": example.int64_feature(number)}
                writer.write_example(features)
        records.write_index(f"{path}.idx", records.scan(str(path)).index)
    for number in range(COUNT):
        path = folder / "images" / f"class{number:02d}" / ("0.png" if number % 4 == 3 else "0.jpg")
        path.parent.mkdir(parents=True)
        path.write_bytes(encoded(number))


def from_files(folder: Path) -> Any:
    return fn.readers.file(file_root=str(folder / "images"), random_shuffle=True, name="Reader")


def from_records(folder: Path) -> Any:
    paths = [str(folder / f"{half}.tfrecord") for half in range(2)]
    features = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    indexes = [f"{path}.idx" for path in paths]
    found = fn.readers.tfrecord(path=paths, index_path=indexes, features=features, random_shuffle=True, name="Reader")
    return found["image"], found["label"]


def from_python(folder: Path) -> Any:
    files = [np.frombuffer(encoded(number), np.uint8) for number in range(COUNT)]

    def samples() -> Iterator[tuple[list[Any], list[Any]]]:
        for at in range(0, COUNT, BATCH):
            yield files[at : at + BATCH], [np.array([at + i]) for i in range(BATCH)]

    return fn.external_source(source=samples, num_outputs=2, cycle="raise")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "readers.file": from_files,
    "readers.tfrecord": from_records,
    "external_source": from_python,
}


def built(source: Callable[[Path], Any], folder: Path, threads: int) -> Pipeline:
    pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, seed=5, prefetch_queue_depth=2)
    with pipe:
        data, label = source(folder)
        windows = fn.decoders.image_random_crop(data, seed=1)
        resized = fn.resize(windows, size=[24, 24])
        images = fn.crop_mirror_normalize(resized, mirror=fn.random.coin_flip(seed=2), dtype=types.FLOAT)
        pipe.set_outputs(images, label)
    pipe.build()
    return pipe


def trained(name: str, folder: Path, threads: int) -> Outcome:
    """Run an epoch; after an error, continue with the next call."""
    outcome = Outcome()
    pipe: Pipeline | None = None
    done = 0  # batches delivered, and those of an external source that cannot be repaired
    while done < COUNT // BATCH and len(outcome.errors) < MOST_ERRORS:
        try:
            pipe = pipe or built(SOURCES[name], folder, threads)
            images, labels = pipe.run()
        except ERRORS as error:
            outcome.errors.append(error)
            done += isinstance(error, DataError) and name == "external_source"
            continue
        take(outcome, images, labels)
        done += 1
    if pipe is not None:
        pipe.close()
    return outcome


def take(outcome: Outcome, images: Any, labels: Any) -> None:
    for row in range(BATCH):
        outcome.samples[int(np.asarray(labels.at(row)).ravel()[0])] = digest(np.asarray(images.at(row)).tobytes())
    outcome.batches += 1


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


DROPPED = {"dropped": "jpeg", "dropped, Pillow": "webp"}  # workers enter Python to free a batch, and to decode as well


@functools.cache
def slow_image(form: str) -> bytes:
    """Return an image that keeps a worker busy for a while."""
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(create.photo(0, 0, height=480, width=640))).save(stream, form)
    return stream.getvalue()


def dropped(name: str, folder: Path, threads: int) -> Outcome:
    """Take a batch and drop the pipeline while its workers are busy, so that they free the last batches and inputs."""
    files = [np.frombuffer(slow_image(DROPPED[name]), np.uint8)] * BATCH
    numbers = [np.array([number]) for number in range(BATCH)]
    outcome, before = Outcome(), counted()
    while outcome.batches == 0 and len(outcome.errors) < MOST_ERRORS:
        pipe = Pipeline(batch_size=BATCH, num_threads=threads, device_id=None, seed=5, prefetch_queue_depth=3)
        with pipe:
            data, label = fn.external_source(source=lambda: (files, numbers), num_outputs=2)
            pipe.set_outputs(fn.resize(fn.decoders.image(data), size=[24, 24]), label)
        try:
            pipe.build()
            take(outcome, *pipe.run())
        except ERRORS as error:
            outcome.errors.append(error.with_traceback(None))  # whose frames would keep the pipeline
        del pipe, data, label
        left_over(before)  # waits until the workers have ended
    return outcome


def written(name: str, folder: Path, threads: int) -> Outcome:
    """Wrap the images into a TFRecord file in native code; if that fails, once more."""
    outcome = Outcome()
    paths = sorted((folder / "images").rglob("0.*"))
    while outcome.batches == 0 and len(outcome.errors) < MOST_ERRORS:
        try:
            with (folder / "wrapped.tfrecord").open("wb", buffering=0) as stream:
                files = [(os.fsencode(path), number, number) for number, path in enumerate(paths)]
                _, _, _, error = _core.wrap_files("tfrecord", stream.fileno(), files)
            if error != 0:
                raise OSError(error, os.strerror(error))
            outcome.samples[0] = digest((folder / "wrapped.tfrecord").read_bytes())
            outcome.batches += 1
        except ERRORS as failed:
            outcome.errors.append(failed)
    return outcome


PROGRAMS: dict[str, Callable[[str, Path, int], Outcome]] = {
    **dict.fromkeys(SOURCES, trained),
    **dict.fromkeys(DROPPED, dropped),
    "wrap_files": written,
}


# Judging


EXPECTED_TEXT = {
    "memory": ("memory", "bad_alloc"),
    "conversion": ("memory", "bad_alloc", "MemoryError"),
    "read": ("Input/output error", "Too many open files"),
    "write": ("No space left", "Too many open files"),
    "thread": ("thread", "Resource temporarily unavailable"),
}


def problem(kind: str, got: Outcome, clean: Outcome, *, readers: bool) -> str | None:
    """Return what is wrong with the outcome of a program in which one call failed."""
    new = [error for error in got.errors if not _known(error)]
    if kind == "interrupt" and new:
        return f"an interrupted call became an error: {new[0]!r}"
    for error in new:
        text = f"{error!r} {error}"
        if not any(words in text for words in EXPECTED_TEXT[kind]):
            return f"the error does not tell what happened: {text}"
    if len(new) > 1:
        return f"one failure became several errors: {new}"
    wrong = [number for number, pixels in got.samples.items() if clean.samples.get(number, pixels) != pixels]
    if wrong:
        return f"samples {wrong} differ"
    lost = clean.samples.keys() - got.samples.keys()
    named = any(isinstance(error, DataError) for error in new)
    if lost and not named:
        return f"samples {sorted(lost)} are missing, and no error names them"
    if got.batches != clean.batches and (readers or not named):
        return f"{got.batches} batches instead of {clean.batches}"
    return None


def _known(error: Exception) -> bool:
    """Whether it is the error of the damaged image."""
    return isinstance(error, DataError) and all(event.kind == "truncated" for event in error.events)


def counted() -> tuple[int, int]:
    """Count threads and open files."""
    gc.collect()
    threads, files = (list(Path(f"/proc/self/{name}").iterdir()) for name in ("task", "fd"))
    return len(threads), len(files)


def left_over(before: tuple[int, int]) -> str | None:
    """Whether there are more threads or open files than before; threads without an owner end on their own."""
    deadline = time.monotonic() + WATCHDOG / 2
    while (after := counted()) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    return f"threads and files: {before} before, {after} after" if after != before else None


# Running


class Injector:
    """The preloaded library."""

    def __init__(self, folder: Path) -> None:
        library = ctypes.CDLL(None)
        self.arm, self.disarm, self.place = library.fault_arm, library.fault_disarm, library.fault_place
        self.arm.argtypes = (ctypes.c_int, ctypes.c_long)
        self.disarm.restype, self.place.restype = ctypes.c_long, ctypes.c_ulong
        library.fault_watch.restype = ctypes.c_size_t
        assert library.fault_watch(os.fsencode(folder)) >= 4, "the libraries to watch are not loaded"


def in_child(work: Callable[[], object]) -> Any:
    """Run something in a process of its own; return what it returns, or how it ended."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(here)
        faulthandler.dump_traceback_later(WATCHDOG, exit=True)
        try:
            result = work()
        except BaseException:
            result = f"unexpected: {traceback.format_exc()}"
        with os.fdopen(there, "w") as stream:
            json.dump(result, stream)
        os._exit(0)
    os.close(there)
    with os.fdopen(here) as stream:
        text = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return json.loads(text) if code == 0 else f"crash or hang: exit code {code}"


def undisturbed(program: Callable[[str, Path, int], Outcome], name: str, folder: Path) -> Outcome:
    """Return what a program delivers when nothing fails."""

    def run() -> tuple[list[tuple[int, str]], int]:
        outcome = program(name, folder, 1)
        return list(outcome.samples.items()), outcome.batches

    delivered = in_child(run)
    assert not isinstance(delivered, str), delivered
    samples, batches = delivered
    return Outcome(dict(samples), batches)


def cases(injector: Injector, name: str, kind: str, folder: Path, *, threads: int, every: int) -> dict[str, Any]:
    """Let the calls of a kind fail one after the other.

    This process runs no program itself, so that what an engine makes at its first use fails too.
    """
    program = PROGRAMS[name]
    clean = undisturbed(program, name, folder)

    def run(number: int) -> tuple[int, int, str | None]:
        before = counted()
        injector.arm(KINDS[kind], number)
        outcome = program(name, folder, threads)
        calls = injector.disarm()
        wrong = problem(kind, outcome, clean, readers=name.startswith("readers")) or left_over(before)
        raised = len([error for error in outcome.errors if not _known(error)])
        return calls, raised, wrong and f"{wrong} (call from {injector.place():#x})"

    total = in_child(lambda: run(0))
    if isinstance(total, str):
        return {"program": name, "kind": kind, "threads": threads, "cases": 0, "failures": [total]}
    failures, errors, numbers = [], 0, range(1, total[0] + 1, every)
    for number in numbers:
        result = in_child(functools.partial(run, number))
        if isinstance(result, str) or result[2]:
            failures.append([number, result if isinstance(result, str) else result[2]])
        else:
            errors += result[1]
    return {
        "program": name,
        "kind": kind,
        "threads": threads,
        "cases": len(numbers),
        "errors": errors,
        "failures": failures,
    }


def compiled(folder: Path) -> Path:
    """Compile the injector."""
    library = folder / "fault_injector.so"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(library), str(INJECTOR)]
    subprocess.run(command, check=True)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="an empty folder to write to")
    parser.add_argument("--every", type=int, default=1, help="try only every n-th call")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 3])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if "FAULT_INJECTOR" not in os.environ:
        library = str(compiled(options.folder))
        settings = {"LD_PRELOAD": library, "FAULT_INJECTOR": library, "OPENBLAS_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})
    write_files(options.folder)
    cache.used_folder()  # a process that uses the cache holds one file of it open until it ends
    injector = Injector(options.folder)
    failed = 0
    for name in options.programs:
        for kind in options.kinds:
            for threads in options.threads if name != "wrap_files" else [1]:
                result = cases(injector, name, kind, options.folder, threads=threads, every=options.every)
                failed += len(result["failures"])
                print(json.dumps(result), flush=True)
    sys.exit(int(failed > 0))


if __name__ == "__main__":
    main()
