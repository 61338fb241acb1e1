"""Long runs of what the tests do a few times with object stores; `make remote-faults` starts them.

remote_faults.py exits COUNT [careless]     processes that end with requests in flight
remote_faults.py kills COUNT                a job from S3 to S3, killed at one of its requests and resumed
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from loopback_s3 import LoopbackS3

from pixelmill.create import create_images

EXIT_PROGRAM = Path(__file__).with_name("exit_program.py")
JOB_PROGRAM = Path(__file__).with_name("remote_job_program.py")
AT_ONCE = 2


def exits(count: int, *arguments: str) -> Counter[tuple[int, str]]:
    """Run `exit_program.py` many times; return how often each return code came, with the end of its messages."""
    server = LoopbackS3(latency=0.1)
    for number in range(4):
        server.put(f"data/{number}", bytes(range(256)) * 64)
    found: Counter[tuple[int, str]] = Counter()
    with server.running():
        while found.total() < count:
            command = [sys.executable, str(EXIT_PROGRAM), server.endpoint, *arguments]
            running = [
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
                for _ in range(min(AT_ONCE, count - found.total()))
            ]
            for process in running:
                _, said = process.communicate(timeout=120)
                found[process.returncode, said.strip()[-200:]] += 1
    return found


class KilledJob:
    """Kills a job at one of its requests, resumes it, and looks at what is there in the end.

    Args:
        folder: A folder for the images and for the scratch files of the job.
    """

    def __init__(self, folder: Path) -> None:
        create_images(folder / "photos", "i", 64, 48, 24, "jpg", 5, classes=2, workers=1)
        self._server = LoopbackS3()
        self._server.put_folder("data", folder)
        self._scratch = folder / "scratch"
        self._scratch.mkdir()
        self._environment = {
            **os.environ,
            "TMPDIR": str(self._scratch),
            "PIXELMILL_CACHE": str(folder / "cache"),
            "AWS_ACCESS_KEY_ID": "t",
            "AWS_SECRET_ACCESS_KEY": "t",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def expected(self) -> tuple[dict[str, bytes], int]:
        """Return what an undisturbed job writes, and the number of its requests."""
        seen: list[str] = []
        self._server.watch = lambda method, key: seen.append(method)
        self._run("out", None)
        return self._made("out"), len(seen)

    def killed(self, at: int) -> list[str]:
        """Kill the job at a request, resume it, and return what differs from an undisturbed one."""
        name = f"killed-{at}"
        self._run(name, at)
        self._run(name, None)
        wanted, found = self._made("out"), self._made(name)
        wrong = [f"{key} differs" for key in {*wanted, *found} if wanted.get(key) != found.get(key)]
        wrong += [f"{path.name} is left" for path in self._scratch.iterdir()]
        return wrong + [f"an upload of {key} is open" for key, _ in self._server.uploads.values()]

    def _made(self, name: str) -> dict[str, bytes]:
        start = f"data/{name}/"
        return {key[len(start) :]: data for key, data in self._server.objects.items() if key.startswith(start)}

    def _run(self, name: str, at: int | None) -> None:
        with self._server.running():
            environment = {**self._environment, "AWS_ENDPOINT_URL": self._server.endpoint}
            command = [sys.executable, str(JOB_PROGRAM), "s3://data/photos", f"s3://data/{name}"]
            process = subprocess.Popen(
                command, env=environment, start_new_session=True, stderr=subprocess.PIPE, text=True
            )
            if at is not None:
                self._server.watch = _killing(process.pid, at)
            _, said = process.communicate(timeout=300)
            self._server.watch = None
            if at is None and process.returncode:
                raise RuntimeError(f"the job failed: {said[-2000:]}")


def _killing(group: int, at: int) -> Callable[[str, str], None]:
    """Return a function that kills a group of processes at one of its calls."""
    left = iter(range(at))

    def watch(method: str, key: str) -> None:
        if next(left, None) is None:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    return watch


def kills(count: int) -> Counter[tuple[int, str]]:
    """Kill a job at many of its requests, evenly spread."""
    found: Counter[tuple[int, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        job = KilledJob(Path(folder))
        _, requests = job.expected()
        for number in range(count):
            wrong = job.killed(number * requests // count)
            found[int(bool(wrong)), "; ".join(wrong)] += 1
    return found


def main() -> None:
    """Run what the arguments name, and fail if a run failed."""
    what, count, *rest = sys.argv[1:]
    found = kills(int(count)) if what == "kills" else exits(int(count), *rest)
    for (code, said), times in found.items():
        print(f"{what}: {times} x return code {code} {said}")
    sys.exit(any(code for code, _ in found))


if __name__ == "__main__":
    main()
