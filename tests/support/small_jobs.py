"""Small jobs for the tests of pixelmill.jobs, in a module that worker processes can import."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pixelmill.errors import Event
from pixelmill.jobs import InputFile, Job, ShardFiles, ShardPlan, ShardReport


@dataclass(frozen=True)
class NumbersJob(Job):
    """Writes numbers: a file and an index for each shard, and a list of all shards at the end."""

    kind: ClassVar[str] = "numbers"

    count: int = 40
    per_shard: int = 10
    seed: int = 0
    size: int = 100
    bad: tuple[int, ...] = ()
    stem: str = ""  # start of the names of all files, for several jobs in one folder
    source: str | None = field(default=None, metadata={"plan": False})
    sleep: float = field(default=0.0, metadata={"plan": False})
    killer: str | None = field(default=None, metadata={"plan": False})
    attempts: str | None = field(default=None, metadata={"plan": False})
    stuck_from: int | None = field(default=None, metadata={"plan": False})  # samples from here on are never finished

    @property
    def shards(self) -> list[ShardPlan]:
        total = -(-self.count // self.per_shard)
        return [
            ShardPlan(number, (f"{self.stem}data-{number:05d}-of-{total:05d}", f"index/{self.stem}{number:05d}.idx"))
            for number in range(total)
        ]

    @property
    def samples(self) -> int:
        return self.count

    @property
    def inputs(self) -> Iterable[InputFile]:
        if self.source is None:
            return ()
        status = Path(self.source).stat()
        return (InputFile("source", status.st_size, status.st_mtime_ns),)

    @property
    def closing_files(self) -> tuple[str, ...]:
        return (f"{self.stem}list.txt",)

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        if self.attempts is not None:
            import ray

            (Path(self.attempts) / f"{number}-{ray.get_runtime_context().get_node_id()}").touch()
        data, index = self.shards[number].files
        lines = []
        samples = 0
        first = number * self.per_shard
        with files.open(data) as stream:
            for sample in range(first, min(first + self.per_shard, self.count)):
                time.sleep(self.sleep)
                self._perhaps_die(sample)
                while self.stuck_from is not None and sample >= self.stuck_from:
                    time.sleep(1)
                payload = hashlib.sha256(b"%d %d" % (self.seed, sample)).digest() * (self.size // 32 + 1)
                if sample in self.bad:
                    files.reject(Event("corrupt", "planted", sample, 0, path=f"{sample}.jpg"), payload, extension="jpg")
                    continue
                lines.append(f"{stream.tell()} {len(payload)}\n")
                stream.write(payload)
                stream.flush()
                samples += 1
                files.progress(1, len(payload))
        files.path(index).write_text("".join(lines), "ascii")
        return ShardReport(samples, details={"first": first})

    def close(self, files: ShardFiles, shards: Iterable[Mapping[str, Any]]) -> None:
        text = "".join(f"{shard['number']} {shard['samples']} {shard['details']['first']}\n" for shard in shards)
        files.write(f"{self.stem}list.txt", text.encode())

    def _perhaps_die(self, sample: int) -> None:
        """Be killed at sample 25, once: the file `killer` is there only the first time."""
        if self.killer is not None and sample == 25 and Path(self.killer).exists():
            Path(self.killer).unlink()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class BrokenJob(NumbersJob):
    """Fails in shard 1 with an unexpected error."""

    kind: ClassVar[str] = "broken"

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        if number == 1:
            raise ZeroDivisionError("planted")
        return super().make_shard(number, files)


def tree(folder: str | Path) -> dict[str, str]:
    """Return the hash of every file below a folder; folders end with a slash."""
    root = Path(folder)
    return {
        path.relative_to(root).as_posix() + ("/" if path.is_dir() else ""): (
            "" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted(root.rglob("*"))
    }


@dataclass(frozen=True)
class EnvironmentJob(NumbersJob):
    """Writes for each shard a variable of the environment of its process."""

    name: str = ""

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        for file in self.shards[number].files:
            files.write(file, os.environ.get(self.name, "nothing").encode())
        return ShardReport(1, details={"first": number})


@dataclass(frozen=True)
class GpuJob(Job):
    """Writes for each shard which GPUs its process sees."""

    kind: ClassVar[str] = "gpus"

    count: int = 4

    @property
    def shards(self) -> list[ShardPlan]:
        return [ShardPlan(number, (f"{number}.txt",)) for number in range(self.count)]

    def make_shard(self, number: int, files: ShardFiles) -> ShardReport:
        time.sleep(0.3)  # so that no process makes all of them
        files.write(f"{number}.txt", f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {os.getpid()}".encode())
        return ShardReport(1)
