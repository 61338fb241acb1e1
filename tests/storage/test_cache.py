"""The cache under many processes, after kills, and against other users."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from peers import peer

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import index_cache, tfrecord
from pixelmill.storage import cache, remote

fsspec = peer("fsspec")

READERS = 12
ROUNDS = 4


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def start(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start a process that can be waited for, killed, and told to go on through its pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def run(program: str, *arguments: str, **environment: str) -> str:
    out, err = (process := start(program, *arguments, **environment)).communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("[!.]*") if path.is_file())


READER = """
    import sys
    from pixelmill.formats import tfrecord
    print("ready", flush=True)
    for path in sys.stdin.readline().split():
        print(*(len(record) for record in tfrecord.read_records(path)), flush=True)
"""


def test_many_processes_read_gzip_records_at_once(tmp_path: Path, folder: Path) -> None:
    """Readers used to delete each other's copies: 9 of 12 died."""
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}.tfrecord.gz")
        frames = (tfrecord.frame(bytes([item]) * (1000 + item)) for item in range(100))
        paths[-1].write_bytes(gzip.compress(b"".join(frames), 1))
    expected = "ready\n" + (" ".join(str(1000 + item) for item in range(100)) + "\n") * 3 * ROUNDS
    with ThreadPoolExecutor(READERS) as pool:
        readers = [start(READER) for _ in range(READERS)]
        line = " ".join(map(str, paths * ROUNDS)) + "\n"
        for reader, (out, err) in zip(
            readers, pool.map(lambda reader: reader.communicate(line, timeout=120), readers), strict=True
        ):
            assert reader.returncode == 0, err
            assert out == expected
    assert len(visible(folder)) == 3, "the copies and no temporary file"


def test_sources_that_change_under_their_readers(tmp_path: Path, folder: Path) -> None:
    """A new copy must not take the old one from a process that reads it."""
    path = tmp_path / "a.tfrecord.gz"
    path.write_bytes(gzip.compress(tfrecord.frame(b"old")))
    reader = start(
        """
        import sys
        from pixelmill.formats import tfrecord
        index = tfrecord.scan(sys.argv[1]).index
        print("scanned", flush=True)
        sys.stdin.readline()
        with open(index.paths[0], "rb") as copy:
            print(copy.read()[12:15])
        """,
        str(path),
    )
    assert reader.stdout is not None and reader.stdout.readline() == "scanned\n"
    path.write_bytes(gzip.compress(tfrecord.frame(b"newer")))
    program = "import sys; from pixelmill.formats import tfrecord; print(*tfrecord.read_records(sys.argv[1]))"
    assert run(program, str(path)) == "b'newer'\n"
    assert reader.communicate("\n", timeout=60)[0] == "b'old'\n"
    assert len(visible(folder)) == 2
    assert run(program, str(path)) == "b'newer'\n"
    assert len(visible(folder)) == 1, "the first process that is alone removes the old copy"


def test_killed_writers_leave_nothing_behind(tmp_path: Path, folder: Path) -> None:
    program = """
        import sys, time
        from pixelmill.storage import cache
        target = cache.entry("unpacked", sys.argv[1], "1")
        with cache.publishing(target) as new, cache.publishing(cache.used_folder() / "x.pixelmill-index") as other:
            new.path.write_bytes(bytes(1000)); other.path.write_bytes(bytes(10))
            print("writing", flush=True)
            sys.stdin.readline()
        """
    writers = [start(program, str(number)) for number in range(3)]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
    assert len(visible(folder)) == 6
    for writer in writers[:2]:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    run("from pixelmill.storage import cache; cache.entry('unpacked', 'x', '1')")
    assert len(visible(folder)) == 6, "the third still writes, so nothing is removed"
    _, err = writers[2].communicate("\n", timeout=60)
    assert writers[2].returncode == 0, err
    run("from pixelmill.storage import cache; cache.entry('unpacked', 'x', '1')")
    names = visible(folder)
    assert len(names) == 2 and not [name for name in names if name.endswith(cache.PARTIAL)]


def test_an_error_while_writing_leaves_no_file(folder: Path) -> None:
    target = cache.entry("unpacked", "a", "1")
    with pytest.raises(KeyError), cache.publishing(target) as new:
        new.path.write_bytes(b"half")
        raise KeyError
    assert visible(folder) == []


def test_a_reader_sees_the_old_file_or_the_new_one(folder: Path) -> None:
    target = cache.entry("unpacked", "a", "1")
    for content in (b"first", b"second"):
        before = target.read_bytes() if target.exists() else None
        with cache.publishing(target) as new:
            new.path.write_bytes(content[:2])
            assert (target.read_bytes() if target.exists() else None) == before
            new.path.write_bytes(content)
        assert target.read_bytes() == content


def test_the_folder_belongs_to_the_user_alone(folder: Path) -> None:
    old = os.umask(0)
    try:
        made = cache.entry("unpacked", "a", "1").parent
        with cache.publishing(made / "x") as new:
            pass
    finally:
        os.umask(old)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, made, new.path)] == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(folder: Path, mode: int, tmp_path: Path) -> None:
    folder.mkdir()
    folder.chmod(mode)
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(tfrecord.frame(b"x")))
    for call in (lambda: tfrecord.scan(str(packed)), lambda: index_cache.store(str(packed), "k", {})):
        with pytest.raises(ArgumentError, match=r"can be written to by other users.*chmod 700.*PIXELMILL_CACHE"):
            call()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(ArgumentError, match="belongs to user 12345"):
        cache.used_folder()
    os.chown(folder, 0, 0)
    index_cache.store(str(tmp_path), "k", {"a": np.arange(3)})
    (kept,) = folder.glob("*" + index_cache.ENDING)
    os.chown(kept, 12345, 12345)
    assert index_cache.load(str(tmp_path), "k") is None


def test_links_in_the_cache_are_not_followed(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"1")
    index_cache.store(str(data), "k", {"a": np.arange(3)})
    (kept,) = folder.glob("*" + index_cache.ENDING)
    elsewhere = tmp_path / "elsewhere"
    kept.rename(elsewhere)
    kept.symlink_to(elsewhere)
    assert index_cache.load(str(data), "k") is None
    index_cache.store(str(data), "k", {"a": np.arange(4)})
    assert not kept.is_symlink(), "the link is replaced, not written through"
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(tfrecord.frame(b"true")))
    copy = Path(tfrecord.scan(str(packed)).index.paths[0])
    planted = tmp_path / "planted"
    planted.write_bytes(tfrecord.frame(b"false"))
    copy.unlink()
    copy.symlink_to(planted)
    assert list(tfrecord.read_records(str(packed))) == [b"true"]


OFF = """
    import gzip, os, stat, sys
    from pathlib import Path
    from pixelmill.formats import tfrecord
    copy = Path(tfrecord.scan(sys.argv[1]).index.paths[0])
    folders = [copy.parent, copy.parent.parent]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700], folders
    print(folders[1].name, flush=True)
    if len(sys.argv) > 2: sys.stdin.readline()
"""


@pytest.mark.parametrize("how", ["off", "no home", "home that is not there"])
def test_without_a_cache_copies_are_private_and_removed_at_the_end(tmp_path: Path, how: str) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(tfrecord.frame(b"x")))
    environment = {"TMPDIR": str(scratch), "PIXELMILL_CACHE": "off", "XDG_CACHE_HOME": ""}
    program = textwrap.dedent(OFF)
    if how != "off":
        program = "import os; del os.environ['PIXELMILL_CACHE']; os.environ['HOME'] = '/proc/nowhere'\n" + program
    if how == "no home":
        program = "from pathlib import Path\ndef home(): raise RuntimeError\nPath.home = home\n" + program
    names = {run(program, str(packed), **environment) for _ in range(2)}
    assert len(names) == 2, "each process has a folder of its own, with a name that cannot be foreseen"
    assert list(scratch.iterdir()) == []


def test_folders_of_killed_processes_are_removed_and_others_are_not(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(tfrecord.frame(b"x")))
    environment = {"TMPDIR": str(scratch), "PIXELMILL_CACHE": "off"}
    processes = [start(OFF, str(packed), "wait", **environment) for _ in range(2)]
    names = [process.stdout.readline().strip() for process in processes if process.stdout is not None]
    processes[0].send_signal(signal.SIGKILL)
    processes[0].communicate()
    (scratch / "pixelmill-cache-foreign").mkdir()
    run(OFF, str(packed), **environment)
    assert sorted(path.name for path in scratch.iterdir()) == sorted([names[1], "pixelmill-cache-foreign"])
    processes[1].communicate("\n", timeout=60)
    assert [path.name for path in scratch.iterdir()] == ["pixelmill-cache-foreign"]


def test_forked_processes_leave_the_folder_of_their_parent_alone(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    program = """
        import multiprocessing, os, sys
        from pixelmill.storage import cache

        def child():
            print(cache.entry("unpacked", "child", "1").parent.parent)

        target = cache.entry("unpacked", "a", "1")
        with cache.publishing(target) as new:
            new.path.write_bytes(b"x")
        pid = os.fork()
        if pid == 0:
            sys.exit(0)
        os.waitpid(pid, 0)
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        print(target.read_bytes(), len(os.listdir(os.environ["TMPDIR"])))
        """
    out = run(program, TMPDIR=str(tmp_path / "scratch"), PIXELMILL_CACHE="off")
    assert out.endswith("b'x' 1\n")
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_cache_that_is_removed_is_made_again(folder: Path, tmp_path: Path) -> None:
    import shutil

    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(tfrecord.frame(b"x")))
    for _ in range(2):
        assert list(tfrecord.read_records(str(packed))) == [b"x"]
        shutil.rmtree(folder)


def test_damaged_gzip_files_leave_no_copy(folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(b"".join(tfrecord.frame(bytes(99)) for _ in range(9)))[:-9])
    run("import sys; from pixelmill.formats import tfrecord; assert tfrecord.scan(sys.argv[1]).faults", str(packed))
    assert visible(folder) == []


def test_names_of_remote_files_cannot_leave_the_cache(folder: Path) -> None:
    system = fsspec.filesystem("memory")
    for name in ("..", "x" * 250, "a\nb", "in-use"):
        system.pipe_file(f"/evil/{name}", b"content")
        try:
            path = Path(remote.fetch(f"memory://evil/{name}"))
        except (OSError, DataError):
            continue  # the store itself may not know such a name
        assert path.parent == folder / "remote" and path.read_bytes() == b"content"
