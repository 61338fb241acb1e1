"""FIFOs, devices, sockets and folders where files are expected: one clear event, at once, in little memory."""

from __future__ import annotations

import errno
import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dataset_cases import encoded

from pixelmill import Pipeline, fn, storage
from pixelmill.codecs import imread
from pixelmill.errors import ArgumentError, DataError, PixelmillError
from pixelmill.formats import coco, recordio, tfrecord, webdataset, zip
from pixelmill.formats.file_index import from_list, from_root
from pixelmill.formats.lmdb import tree
from pixelmill.formats.recognize import file_format
from pixelmill.ingest.labels import read_labels
from pixelmill.jobs import job_status
from pixelmill.jobs.storage import LocalStorage
from pixelmill.recipe import load_recipe
from pixelmill.storage.local import open_regular
from pixelmill.storage.yaml_file import read_yaml

MEMORY = 3 << 30  # address space of a command; a read without bound passes it in a second
SECONDS = 60


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = Path.cwd()
        os.chdir(path.parent)  # names of sockets have at most 107 bytes
        try:
            made.bind(path.name)
        finally:
            os.chdir(before)


def folder(path: Path) -> None:
    path.mkdir()


def of_proc(path: Path) -> None:
    path.symlink_to("/proc/self/environ")


def loop(path: Path) -> None:
    path.symlink_to(path.name)


KINDS: dict[str, tuple[Callable[[Path], None], str]] = {
    "fifo": (fifo, "a FIFO"),
    "device": (endless, "a device"),
    "socket": (bound_socket, "a socket"),
    "folder": (folder, "Is a directory"),
    "loop": (loop, "Too many levels of symbolic links"),
}
MAKERS = [pytest.param(*what, id=name) for name, what in KINDS.items()]
NOT_FOLDERS = [pytest.param(*what, id=name) for name, what in KINDS.items() if name != "folder"]


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A dataset of two good images and, if a test makes it, an odd file."""
    root = tmp_path / "data" / "class"
    root.mkdir(parents=True)
    for name in ("a.jpg", "z.jpg"):
        (root / name).write_bytes(encoded("jpeg", seed=3))
    return root / "odd.jpg"


@pytest.mark.parametrize(("make", "words"), MAKERS)
def test_nothing_but_regular_files_is_opened(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    path = str(tmp_path / "odd.jpg")
    make(Path(path))
    for read in (
        open_regular,
        storage.read_file,
        lambda path: storage.read_start(path, 10),
        lambda path: storage.read_range(path, 0, 10),
        lambda path: list(storage.read_pieces(path, 10)),
        lambda path: storage.OpenFiles().read(path, 0, 10),
    ):
        with pytest.raises(OSError, match=words):
            read(path)


def test_no_more_is_read_than_a_file_has(tmp_path: Path) -> None:
    of_proc(tmp_path / "proc.jpg")
    assert storage.read_file(str(tmp_path / "proc.jpg")) == b""
    assert list(storage.read_pieces(str(tmp_path / "proc.jpg"), 10)) == []
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 1 << 40)
    with pytest.raises(DataError, match="more than the limit"):
        storage.read_file(str(tmp_path / "large"))


@pytest.mark.parametrize(("make", "words"), MAKERS)
def test_readers_report_one_event(odd: Path, make: Callable[[Path], None], words: str) -> None:
    make(odd)
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        files, _ = fn.readers.file(files=[str(odd)])
        pipeline.set_outputs(fn.decoders.image(files))
    with pytest.raises(DataError, match=words) as caught:
        pipeline.run()
    assert [(event.kind, event.path) for event in caught.value.events] == [("io", str(odd))]
    pipeline.close()
    with pytest.raises((DataError, OSError), match=words):
        imread(str(odd))


@pytest.mark.parametrize(("make", "words"), NOT_FOLDERS)
def test_containers_lists_and_recipes_are_regular_files(
    tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    path = tmp_path / "odd"
    make(path)
    (tmp_path / "data.rec").write_bytes(recordio.frame(b"x" * 40))
    name = str(path)
    reads: list[Callable[[], object]] = [
        lambda: tfrecord.scan(name),
        lambda: recordio.scan(name),
        lambda: webdataset.scan(name),
        lambda: zip.scan(name),
        lambda: tfrecord.read_index(name, data=str(tmp_path / "data.rec")),
        lambda: recordio.read_index(name),
        lambda: webdataset.read_index(name),
        lambda: coco.open_annotations(name, root=str(tmp_path), choice=coco.Choice()),
        lambda: from_list(name),
        lambda: load_recipe(name),
        lambda: read_labels(name),
        lambda: tree.opened(name).__enter__(),
    ]
    for read in reads:
        with pytest.raises(PixelmillError, match=words):
            read()


@pytest.mark.parametrize(("make", "words"), NOT_FOLDERS)
def test_files_of_a_job_are_regular_files(tmp_path: Path, make: Callable[[Path], None], words: str) -> None:
    """Whoever can write to an output folder must not stop those that read it."""
    make(tmp_path / "manifest.json")
    job = LocalStorage(str(tmp_path))
    for read in (job.read, job.sha256, job.stamp, job.hold, job.is_held):
        with pytest.raises(OSError, match=words):
            read("manifest.json")
    with pytest.raises(OSError, match=words):
        job_status(tmp_path)


def test_a_read_that_fails_is_no_invalid_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path that leads nowhere is the caller's mistake; a disk that fails, or too many open files, are not."""
    (tmp_path / "data.rec").write_bytes(recordio.frame(b"x" * 40))
    (tmp_path / "class").mkdir()
    name = str(tmp_path / "data.rec")
    reads: list[Callable[[], object]] = [
        lambda: tfrecord.read_index(name, data=name),
        lambda: coco.open_annotations(name, root=str(tmp_path), choice=coco.Choice()),
        lambda: from_list(name),
        lambda: from_root(str(tmp_path)),
        lambda: read_yaml(name),
        lambda: read_labels(name),
        lambda: file_format(name),
    ]
    for code, expected in ((errno.EMFILE, DataError), (errno.EIO, DataError), (errno.EACCES, ArgumentError)):

        def failing(path: object, *_: object, code: int = code) -> int:
            raise OSError(code, os.strerror(code), path)

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", failing)
            patch.setattr(os, "scandir", failing)
            for read in reads:
                with pytest.raises(expected, match=os.strerror(code)):
                    read()


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with little memory; a read that hangs or grows fails the test."""
    return subprocess.run(
        [sys.executable, "-m", "pixelmill", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=limited,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


@pytest.mark.parametrize(("make", "words"), [*NOT_FOLDERS, pytest.param(of_proc, "empty", id="proc")])
def test_commands_report_one_event_and_go_on(
    odd: Path, tmp_path: Path, make: Callable[[Path], None], words: str
) -> None:
    make(odd)
    root = str(odd.parents[1])
    shown = command("info", root, "--json")
    assert shown.returncode in (0, 3), shown.stderr
    bad = json.loads(shown.stdout)["bad"]
    assert len(bad) == 1 and bad[0]["path"] == str(odd) and words in bad[0]["message"]
    checked = command("verify", root, "--json")
    assert checked.returncode == 4, checked.stderr
    assert [problem["path"] for problem in json.loads(checked.stdout)["problems"]] == [str(odd)]
    done = command("convert", root, str(tmp_path / "out"), "--to", "tfrecord", "--on-error", "skip", "--json")
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["samples"] == 2
