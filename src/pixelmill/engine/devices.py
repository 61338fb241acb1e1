"""Which engines can run here, and why others cannot: NVIDIA GPUs, their driver, and DALI. Nothing heavy is imported.

`usable_gpus()` returns the GPUs that DALI can use in this process. `usable_dali()` tells whether DALI's CPU operators
can be used. `why_no_gpu()` and `why_no_dali()` return the reason and what to do about it; `require_gpus()` and
`require_dali()` raise it. `engines()` describes all engines.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pixelmill.errors import EngineError, MissingDependency
from pixelmill.storage import system

OLDEST, NEWEST = (1, 50), (2, 4)  # versions of DALI that are tested
INSTALL = "pip install 'pixelmill[gpu]'"
_FAMILIES = ("nvidia-dali", "nvidia-dali-weekly", "nvidia-dali-nightly")
_PROBE = Path(__file__).with_name("cuda_probe.py")
_PROBE_SECONDS = 60  # many GPUs without a persistence daemon take a while to initialize


@dataclass(frozen=True)
class Build:
    """What a build of DALI requires.

    Attributes:
        cuda: The oldest version of CUDA that the driver must support.
        driver: The first driver that supports it.
        capability: The minimum compute capability of a GPU.
        capability_arm: The minimum on ARM servers.
    """

    cuda: tuple[int, int]
    driver: str
    capability: tuple[int, int]
    capability_arm: tuple[int, int]


# From DALI's pages on installation and supported hardware, and the architectures that CUDA 13 dropped.
BUILDS = {
    "cuda120": Build((12, 0), "525.60", (5, 0), (7, 0)),
    "cuda130": Build((13, 0), "580", (7, 5), (7, 5)),
}


@dataclass(frozen=True)
class Gpu:
    """A GPU that this process sees.

    Attributes:
        number: Its CUDA device number in this process, after CUDA_VISIBLE_DEVICES was applied.
        name: Its product name.
        memory: Its memory in bytes.
        capability: Its compute capability.
    """

    number: int
    name: str
    memory: int
    capability: tuple[int, int]


@dataclass(frozen=True)
class Driver:
    """The CUDA driver of this machine.

    Attributes:
        gpus: All GPUs that this process sees.
        cuda: The newest version of CUDA that it supports; None without a driver.
        fault: Why it could not be queried; None if it could.
    """

    gpus: tuple[Gpu, ...] = ()
    cuda: tuple[int, int] | None = None
    fault: str | None = None


@dataclass(frozen=True)
class Dali:
    """The installed DALI.

    Attributes:
        distribution: The name of the package; None if DALI is not installed, or was not installed by pip.
        version: Its version; None if it is not installed.
    """

    distribution: str | None = None
    version: str | None = None

    @property
    def build(self) -> Build:
        """What it requires of the machine."""
        return BUILDS.get((self.distribution or "").rpartition("-")[2], BUILDS["cuda120"])


@dataclass(frozen=True)
class Unavailable:
    """Why something cannot be used, and what to do next."""

    reason: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.next_step}"


@dataclass(frozen=True)
class Engine:
    """An engine and whether it can be used here.

    Attributes:
        name: `native`, `dali cpu` or `dali gpu`.
        usable: Whether it can be used.
        reason: Why it cannot be used; a remark if it can.
        next_step: What to do to make it usable.
        gpus: The GPUs it uses.
    """

    name: str
    usable: bool
    reason: str = ""
    next_step: str = ""
    gpus: tuple[Gpu, ...] = ()


def engines() -> tuple[Engine, ...]:
    """Describe all engines of this process: the native one, DALI on the CPU, and DALI on GPUs."""
    found = find_dali()
    no_dali, no_gpu = why_no_dali(), why_no_gpu()
    native = Engine("native", True, f"{_machine()}, {os.cpu_count()} processors")
    return native, _described("dali cpu", no_dali, found), _described("dali gpu", no_gpu, found, usable_gpus())


def _described(name: str, problem: Unavailable | None, dali: Dali, gpus: tuple[Gpu, ...] = ()) -> Engine:
    if problem is not None:
        return Engine(name, False, problem.reason, problem.next_step)
    return Engine(name, True, _remark(dali), gpus=gpus)


def _remark(dali: Dali) -> str:
    text = f"{dali.distribution or 'nvidia.dali'} {dali.version}"
    newer = _numbers(dali.version or "") > NEWEST
    return f"{text}, newer than {_dotted(NEWEST)}, the newest that was tested" if newer else text


def usable_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs that DALI can use in this process; none if DALI or the driver cannot be used."""
    if why_no_dali() is not None or _driver_problem(find_driver(), find_dali()) is not None:
        return ()
    least = _least_capability(find_dali().build)
    return tuple(gpu for gpu in find_driver().gpus if gpu.capability >= least)


def usable_dali() -> bool:
    """Whether a supported version of DALI is installed. Its CPU operators then work with or without a GPU."""
    return why_no_dali() is None


def shown_alone(gpu: Gpu) -> str:
    """Return the value of CUDA_VISIBLE_DEVICES with which a child process sees only this GPU."""
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return str(gpu.number) if shown is None else shown.split(",")[gpu.number].strip()


def require_gpus(what: str, *, instead: str) -> tuple[Gpu, ...]:
    """Return the usable GPUs, or raise an EngineError that says what is missing and what to do instead.

    Args:
        what: The name of the caller, for the message.
        instead: What works without a GPU, such as ``--mode cpu produces the same images``.
    """
    problem = why_no_gpu()
    if problem is not None:
        raise EngineError(f"{what}: no NVIDIA GPU can be used: {problem}. {instead}")
    return usable_gpus()


def require_dali(what: str) -> None:
    """Raise MissingDependency if DALI is not installed, and EngineError if its version is not supported."""
    problem = why_no_dali()
    if problem is None:
        return
    if find_dali().version is None:
        raise MissingDependency("nvidia.dali", "gpu")
    raise EngineError(f"{what}: {problem}")


def why_no_dali() -> Unavailable | None:
    """Return why DALI cannot be used, not even on the CPU; None if it can."""
    found = find_dali()
    if found.version is None:
        return Unavailable("DALI is not installed", INSTALL)
    if _numbers(found.version) < OLDEST:
        reason = f"DALI {found.version} is too old, the oldest supported version is {_dotted(OLDEST)}"
        return Unavailable(reason, f"{INSTALL} --upgrade")
    return None


def why_no_gpu() -> Unavailable | None:
    """Return why DALI cannot use a GPU here, checking the driver first; None if it can."""
    dali = find_dali()
    return _driver_problem(find_driver(), dali) or why_no_dali()


def _driver_problem(driver: Driver, dali: Dali) -> Unavailable | None:
    if driver.fault is not None:
        return Unavailable(f"the NVIDIA driver could not be queried ({driver.fault})", "check nvidia-smi")
    if driver.cuda is None:
        then = f", then {INSTALL}" if dali.version is None else ""
        return Unavailable("there is no NVIDIA driver (libcuda.so.1)", f"install an NVIDIA driver{then}")
    if not driver.gpus:
        return _hidden() or Unavailable("the NVIDIA driver reports no GPU", "check nvidia-smi")
    build = dali.build
    if driver.cuda < build.cuda:
        reason = f"the NVIDIA driver supports CUDA {_dotted(driver.cuda)}, but DALI needs {_dotted(build.cuda)}"
        return Unavailable(reason, f"install driver {build.driver} or newer")
    least = _least_capability(build)
    if all(gpu.capability < least for gpu in driver.gpus):
        best = max(driver.gpus, key=lambda gpu: gpu.capability)
        reason = f"{best.name} has compute capability {_dotted(best.capability)}, but DALI needs {_dotted(least)}"
        older = build is BUILDS["cuda130"] and best.capability >= BUILDS["cuda120"].capability
        return Unavailable(reason, "use nvidia-dali-cuda120" if older else "use a newer GPU")
    return None


def _hidden() -> Unavailable | None:
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    if shown is None:
        return None
    return Unavailable(f"CUDA_VISIBLE_DEVICES={shown!r} hides all GPUs", "unset it or name a GPU")


def _machine() -> str:
    return system.machine()


def _least_capability(build: Build) -> tuple[int, int]:
    return build.capability_arm if _machine() == "aarch64" else build.capability


@lru_cache(1)
def find_dali() -> Dali:
    """Find DALI by its package metadata, without importing it."""
    from importlib import metadata  # imports email, zipfile and more

    for family in _FAMILIES:
        for build in reversed(BUILDS):
            name = f"{family}-{build}"
            try:
                return Dali(name, metadata.version(name))
            except metadata.PackageNotFoundError:
                continue
    return Dali(None, _version_in_source())


def _version_in_source() -> str | None:
    """Find a DALI that pip did not install, and return the version that its source states."""
    import importlib.util

    try:
        spec = importlib.util.find_spec("nvidia.dali")
    except ModuleNotFoundError:  # no package `nvidia`
        return None
    if spec is None or spec.origin is None:
        return None
    match = re.search(r"^__version__ = ['\"]([\d.]+)", Path(spec.origin).read_text("utf-8", "replace"), re.MULTILINE)
    return match[1] if match else None


def find_driver(library: str = "libcuda.so.1") -> Driver:
    """Query the CUDA driver in a child process; once for each value of CUDA_VISIBLE_DEVICES."""
    return _query_driver(library, os.environ.get("CUDA_VISIBLE_DEVICES"))


@lru_cache(16)
def _query_driver(library: str, visible: str | None) -> Driver:
    import subprocess

    del visible  # the child process inherits it; here it is only a part of the cache key
    command = [sys.executable, "-I", "-S", str(_PROBE), library]
    try:
        run = subprocess.run(
            command, capture_output=True, timeout=_PROBE_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
        answer = json.loads(run.stdout) if run.returncode == 0 else None
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return Driver(fault=str(error))
    if answer is None:
        return Driver(fault=f"the query process ended with status {run.returncode}")
    if answer["fault"] == "no driver":
        return Driver()
    gpus = tuple(Gpu(**{**gpu, "capability": tuple(gpu["capability"])}) for gpu in answer["gpus"])
    return Driver(gpus, None if answer["cuda"] is None else tuple(answer["cuda"]), answer["fault"])


def _numbers(version: str) -> tuple[int, int]:
    major, minor, *_ = *(int(number) for number in re.findall(r"\d+", version)), 0, 0
    return major, minor


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
