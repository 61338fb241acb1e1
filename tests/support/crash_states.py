"""Loss of power: replay every state that a disk may be in, resume the job, and compare with an undisturbed run.

    python crash_states.py FOLDER            every job, every state
    python crash_states.py FOLDER 40 numbers convert     about 40 states of each of these jobs

A job is run once with a recorder of its file operations (crash_recorder.c, preloaded). What is on the disk after a loss
of power at any moment follows from these rules, which are weaker than those of common file systems:

- the bytes of a file are certain after an fsync of the file; until then it may hold all, none, half of them, or zeros;
- the names in a folder are certain after an fsync of the folder; until then each new, changed or removed name may or
  may not have reached the disk, in any order;
- a rename never loses the file: the old name goes only if the new one is there, but both may be.

It prints one line of JSON for each job: operations, states, and those after which a resumed run differs.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dataset_cases import plain_samples, write
from PIL import Image
from small_jobs import NumbersJob, tree

from pixelmill.augmentation import augment
from pixelmill.conversion import convert
from pixelmill.create import create_images
from pixelmill.errors import OutputExists
from pixelmill.ingest import ingest
from pixelmill.jobs import run_job
from pixelmill.segmentation import prepare_segmentation

MOST_TOGETHER = 5  # of so many uncertain names all combinations are tried, of more only some
SEED = 7

RunJob = Callable[[Path, Path, str], object]


def numbers(inputs: Path, output: Path, exists: Any, *, plain: bool = False) -> object:
    return run_job(NumbersJob(count=4, per_shard=2), output, workers=1, plain=plain, exists=exists)


def overwritten(inputs: Path, output: Path, exists: Any) -> object:
    """A job that replaces the output of another, which has more files."""
    if not output.exists():
        run_job(NumbersJob(count=6, per_shard=2, seed=3), output, workers=1)
    return run_job(NumbersJob(count=4, per_shard=2), output, workers=1, exists="overwrite")


def added(inputs: Path, output: Path, exists: Any) -> object:
    """Two jobs that write to one folder, one after the other."""
    return [
        run_job(NumbersJob(count=4, per_shard=2, stem=stem), output, workers=1, exists="add") for stem in ("a-", "b-")
    ]


def converted(inputs: Path, output: Path, exists: Any, *, to: str) -> object:
    return convert(inputs / "records", output, to=to, samples_per_shard=2, workers=1, exists=exists)


def quarantined(inputs: Path, output: Path, exists: Any) -> object:
    options: Any = {"on_error": "quarantine", "quarantine": output / "bad", "samples_per_shard": 2}
    return convert(inputs / "damaged", output / "good", to="tfrecord", resize=8, workers=1, exists=exists, **options)


def augmented(inputs: Path, output: Path, exists: Any) -> object:
    options: Any = {"to": "webdataset", "samples_per_shard": 2, "workers": 1}
    return augment(inputs / "records", output, recipe="classification", exists=exists, **options)


def augmented_into(inputs: Path, output: Path, exists: Any) -> object:
    """Variants that are added to the folder of others."""
    options: Any = {"recipe": "classification", "to": "webdataset", "samples_per_shard": 2, "workers": 1}
    return [augment(inputs / "records", output, prefix=prefix, exists="add", **options) for prefix in ("a_", "b_")]


def ingested(inputs: Path, output: Path, exists: Any) -> object:
    options: Any = {"img_size": 8, "num_shards": 2, "num_workers": 1, "yes": True}
    return ingest(input_dir=inputs / "classes", output_dir=output, exists=exists, **options)


def created(inputs: Path, output: Path, exists: Any, *, container: str) -> object:
    options: Any = {"height": 16, "width": 16, "chunksize": 2, "img_per_file": 2, "workers": 1, "durable": True}
    return create_images(
        path=output, name="i", count=4, image_format="jpeg", container=container, exists=exists, **options
    )


def segmented(inputs: Path, output: Path, exists: Any) -> object:
    return prepare_segmentation(inputs / "masks", output, workers=1, exists=exists)


JOBS: dict[str, RunJob] = {
    "numbers": numbers,
    "numbers-plain": partial(numbers, plain=True),
    "overwrite": overwritten,
    "add": added,
    "convert-tfrecord": partial(converted, to="tfrecord"),
    "convert-folder": partial(converted, to="folder"),
    "convert-pack": partial(converted, to="pack"),
    "convert-quarantine": quarantined,
    "augment": augmented,
    "augment-add": augmented_into,
    "ingest": ingested,
    "create-files": partial(created, container="files"),
    "create-tfrecord": partial(created, container="tfrecord"),
    "segmentation": segmented,
}


def make_inputs(folder: Path) -> None:
    samples = plain_samples(4)
    write(folder / "records", "tfrecord", samples)
    write(folder / "damaged", "tfrecord", [*samples[:3], type(samples[0])("bad", samples[3].image[:200], "jpg", (1,))])
    for sample in samples:
        path = folder / "classes" / sample.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sample.image)
    for number in range(3):
        for kind, shape in (("Images", (8, 8, 3)), ("Masks", (8, 8))):
            stream = io.BytesIO()
            Image.fromarray(np.full(shape, 255 * (number % 2), np.uint8)).save(stream, "png")
            (folder / "masks" / kind / f"g{number}").mkdir(parents=True, exist_ok=True)
            (folder / "masks" / kind / f"g{number}" / "a.png").write_bytes(stream.getvalue())


@dataclass
class File:
    """A file: its content, and what of it is certain."""

    content: bytearray = field(default_factory=bytearray)
    synced: bytes = b""

    @property
    def uncertain(self) -> bool:
        return bytes(self.content) != self.synced


@dataclass(frozen=True)
class Change:
    """A change of one name: a file or folder appears, or it goes.

    Attributes:
        path: The name.
        item: What the name stands for from now on; None if it is removed.
        needs: The change without which this one cannot be, for the old name of a rename.
    """

    path: str
    item: File | str | None
    needs: Change | None = None


FOLDER = "folder"


class Disk:
    """The operations so far: names that are certain, and changes that are not."""

    def __init__(self) -> None:
        self.certain: dict[str, File | str] = {}
        self.pending: list[Change] = []
        self._now: dict[str, File | str] = {}
        self._open: dict[int, File | str | None] = {}
        self._paths: dict[int, str] = {}

    def apply(self, kind: str, fd: int, offset: int, data: bytes, path: str, other: str) -> bool:
        """Apply an operation; return whether it may have changed what is on the disk."""
        if kind == "O":
            if path not in self._now and offset & os.O_CREAT:
                self._change(path, File())
            item = self._now.get(path)
            if offset & os.O_TRUNC and isinstance(item, File):
                del item.content[:]
            self._open[fd], self._paths[fd] = item, path
        elif kind == "C":
            self._open.pop(fd, None)
            return False
        elif kind in "WT":
            self._write(fd, offset, data if kind == "W" else None)
        elif kind == "S":
            self._sync(fd)
        elif kind == "R":
            moved = self._change(other, self._now[path])
            self._change(path, None, needs=moved)
        elif kind == "L":
            self._change(other, self._now[path])
        else:
            # A folder is made again only if the old one has gone.
            before = [change for change in self.pending if kind == "M" and change.path == path]
            self._change(path, FOLDER if kind == "M" else None, needs=before[-1] if before else None)
        return True

    def _change(self, path: str, item: File | str | None, needs: Change | None = None) -> Change:
        change = Change(path, item, needs)
        self.pending.append(change)
        if item is None:
            self._now.pop(path, None)
        else:
            self._now[path] = item
        return change

    def _write(self, fd: int, offset: int, data: bytes | None) -> None:
        item = self._open[fd]
        assert isinstance(item, File)
        if data is None:
            del item.content[offset:]
            item.content.extend(bytes(offset - len(item.content)))
        else:
            item.content.extend(bytes(max(0, offset - len(item.content))))
            item.content[offset : offset + len(data)] = data

    def _sync(self, fd: int) -> None:
        item = self._open[fd]
        if isinstance(item, File):
            item.synced = bytes(item.content)
            return
        folder = self._paths[fd]
        later = []
        for change in self.pending:
            # The old name of a rename is in its own folder, which may be another one.
            if _folder(change.path) == folder:
                if self.certain.get(change.path) == FOLDER and change.item is None:
                    later = [other for other in later if not other.path.startswith(f"{change.path}/")]
                _set(self.certain, change)
            else:
                later.append(change)
        self.pending = later

    def states(self) -> Iterator[dict[str, bytes | None]]:
        """Yield every content of the disk after a loss of power now: paths with bytes, None for folders."""
        for chosen in _choices(self.pending):
            names = dict(self.certain)
            done: set[int] = set()
            for change in self.pending:
                if id(change) not in chosen or (change.needs in self.pending and id(change.needs) not in done):
                    continue
                done.add(id(change))
                _set(names, change)
            yield from _contents(names)


def _choices(pending: list[Change]) -> Iterator[set[int]]:
    """Yield which of the uncertain changes have reached the disk."""
    marks = [id(change) for change in pending]
    if len(marks) <= MOST_TOGETHER:
        for size in range(len(marks) + 1):
            yield from map(set, itertools.combinations(marks, size))
        return
    for number in range(len(marks) + 1):
        yield set(marks[:number])  # in order
        yield set(marks[number:])  # the first ones lost
    for mark in marks:
        yield {mark}
        yield set(marks) - {mark}
    for pair in itertools.combinations(marks[-MOST_TOGETHER:], 2):
        yield set(marks) - set(pair)


def _contents(names: dict[str, File | str]) -> Iterator[dict[str, bytes | None]]:
    """Yield the bytes that the files may have: all files as far as possible, or the worst of one kind."""
    reachable = {path: item for path, item in names.items() if _is_reachable(path, names)}
    uncertain = [path for path, item in reachable.items() if isinstance(item, File) and item.uncertain]

    def bytes_of(item: File | str, how: Callable[[File], bytes]) -> bytes | None:
        return None if not isinstance(item, File) else how(item) if item.uncertain else bytes(item.content)

    ways: list[Callable[[File], bytes]] = [lambda file: bytes(file.content)]
    if uncertain:
        ways += [
            lambda file: file.synced,
            lambda file: bytes(file.content[: len(file.content) // 2]),
            lambda file: bytes(len(file.content)),
        ]
    for way in ways:
        yield {path: bytes_of(item, way) for path, item in reachable.items()}
    for worst in uncertain if len(uncertain) > 1 else ():
        yield {path: bytes_of(item, ways[0 if path != worst else 1]) for path, item in reachable.items()}


def _is_reachable(path: str, names: dict[str, File | str]) -> bool:
    folder = _folder(path)
    while folder:
        if names.get(folder) != FOLDER:
            return False
        folder = _folder(folder)
    return True


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _set(names: dict[str, File | str], change: Change) -> None:
    """Apply a change; a folder that goes takes with it what was in it."""
    if change.item is not None:
        names[change.path] = change.item
    elif names.pop(change.path, None) == FOLDER:
        for path in [path for path in names if path.startswith(f"{change.path}/")]:
            del names[path]


def read_log(log: bytes, root: str) -> Iterator[tuple[str, int, int, bytes, str, str]]:
    """Yield the operations of a log, with paths relative to the root."""
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        kind, *rest = log[at:end].decode().split(" ")
        fd, offset, length, path, other = map(int, rest)
        at = end + 1
        texts = []
        for size in (path, other):
            texts.append(os.fsdecode(log[at : at + size]).removeprefix(root).strip("/"))
            at += size
        yield kind, fd, offset, log[at : at + length], texts[0], texts[1]
        at += length


def recorded(folder: Path, name: str) -> bytes:
    """Run a job under the recorder and return the log of its second half, if it has two."""
    library, log, root = folder / "recorder.so", folder / f"{name}.log", folder / "recorded"
    if not library.exists():
        source = Path(__file__).with_name("crash_recorder.c")
        subprocess.run(
            ["gcc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl", "-lpthread"], check=True
        )
    root.mkdir()
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "CRASH_ROOT": str(root),
        "CRASH_LOG": str(log),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    code = f"import crash_states as c; from pathlib import Path; c.JOBS[{name!r}](Path({str(folder / 'inputs')!r}), "
    code += f"Path({str(root / 'out')!r}), 'error')"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    return log.read_bytes()


def crash_states(log: bytes, root: str) -> tuple[int, list[dict[str, bytes | None]], dict[str, bytes | None]]:
    """Return the number of operations, all different states, and the last one with everything on the disk."""
    disk, count = Disk(), 0
    found: dict[bytes, dict[str, bytes | None]] = {}
    for operation in read_log(log, root):
        # A sync makes states impossible that were possible before, and no new ones possible.
        if disk.apply(*operation) and operation[0] != "S":
            for state in disk.states():
                found.setdefault(_digest(state), state)
        count += 1
    full: dict[str, bytes | None] = {
        path: bytes(item.content) if isinstance(item, File) else None for path, item in disk._now.items()
    }
    return count, list(found.values()), full


def _digest(state: dict[str, bytes | None]) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(state):
        content = state[path]
        digest.update(os.fsencode(path) + (b"/" if content is None else hashlib.sha256(content).digest()))
    return digest.digest()


def restore(state: dict[str, bytes | None], root: Path) -> None:
    """Write a state into a folder."""
    root.mkdir()
    for path in sorted(state):
        content = state[path]
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)


def in_child(work: Callable[[], object]) -> str | None:
    """Do something in a process of its own; return the end of its traceback if it fails."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[-2000:])
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        error = stream.read().decode()
    return error or None if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) else None


def resume(job: RunJob, inputs: Path, output: Path) -> None:
    try:
        job(inputs, output, "resume")
    except OutputExists:
        # A finished plain job, some of whose files were lost, cannot be told from foreign files: it is refused.
        job(inputs, output, "overwrite")


def check(folder: Path, name: str, *, most: int | None = None) -> dict[str, Any]:
    """Resume a job from its crash states, or from an even sample of them."""
    job, inputs, root = JOBS[name], folder / "inputs", folder / "recorded"
    log = recorded(folder, name)
    expected = tree(root)
    operations, states, full = crash_states(log, str(root))
    shutil.rmtree(root)
    restore(full, root)
    assert tree(root) == expected, f"{name}: the recorder has missed something"
    shutil.rmtree(root)
    if most is not None and len(states) > most:
        states = random.Random(SEED).sample(states, most)
    failures = []
    for number, state in enumerate(states):
        restore(state, root)
        error = in_child(lambda: resume(job, inputs, root / "out"))
        if error or tree(root) != expected:
            failures.append([number, sorted(state), error or sorted(tree(root).items() ^ expected.items())])
        shutil.rmtree(root)
    return {"job": name, "operations": operations, "states": len(states), "failures": failures}


def main(place: str, most: str = "all", *names: str) -> None:
    folder = Path(place)
    folder.mkdir(parents=True)
    make_inputs(folder / "inputs")
    failed = 0
    for name in names or JOBS:
        result = check(folder, name, most=None if most == "all" else int(most))
        failed += len(result["failures"])
        print(json.dumps({**result, "failures": result["failures"][:3], "failed": len(result["failures"])}), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
