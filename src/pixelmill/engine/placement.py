"""Where a bulk job runs: on the native engine, on GPUs through DALI, or on DALI's CPU operators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pixelmill.engine import devices
from pixelmill.errors import ArgumentError
from pixelmill.log import log

# `dali` is `gpu` with DALI's CPU operators instead of its GPU operators: for comparisons, on any machine.
# `auto` is replaced by `cpu` or `gpu` before a job is planned.
Mode = Literal["cpu", "gpu", "dali", "auto"]
MODES = ("cpu", "gpu", "dali")
_GPU_BATCH = 64
INSTEAD = "--mode cpu (mode='cpu') produces the same images without a GPU"


@dataclass(frozen=True)
class Placement:
    """Where the images of a shard are processed.

    Attributes:
        engine: The engine of the pipeline.
        device_id: The number of the GPU in this process; None for the CPU.
    """

    engine: Literal["native", "dali"] = "native"
    device_id: int | None = None

    @property
    def device(self) -> Literal["cpu", "gpu"]:
        """Where operators process pixels."""
        return "cpu" if self.device_id is None else "gpu"

    @property
    def decoder(self) -> Literal["cpu", "mixed"]:
        """Where images are decoded."""
        return "cpu" if self.device_id is None else "mixed"

    def batch_size(self, on_cpu: int) -> int:
        """Return how many images to process at a time; a GPU needs many. Results do not depend on it."""
        return on_cpu if self.device_id is None else max(on_cpu, _GPU_BATCH)


NATIVE = Placement()


def chosen_mode(what: str, mode: Mode) -> Mode:
    """Return the mode to run in: `auto` becomes `gpu` if this machine has a usable GPU, else `cpu`, and says so."""
    if mode != "auto":
        return mode
    gpus = devices.usable_gpus()
    if gpus:
        log.warning(f"{what}: mode auto runs on the GPU: {', '.join(gpu.name for gpu in gpus)}")
        return "gpu"
    problem = devices.why_no_gpu()
    log.warning(f"{what}: mode auto runs on the CPU" + (f": {problem.reason}" if problem else ""))
    return "cpu"


def check_mode(what: str, mode: str, *, here: bool = True) -> None:
    """Raise an error for a mode that cannot run, before anything is written.

    Args:
        what: The name of the job, for messages.
        mode: The mode.
        here: Whether the job runs on the GPUs of this machine.
    """
    if mode not in MODES:
        raise ArgumentError(f"{what}: mode must be cpu, gpu or auto, got {mode!r}")
    if mode == "cpu":
        return
    if mode == "gpu" and here:
        devices.require_gpus(what, instead=INSTEAD)
    else:
        devices.require_dali(what)


def placement_for(what: str, mode: Mode) -> Placement:
    """Return where this process runs; in mode `gpu`, on the first GPU that it sees."""
    check_mode(what, mode)
    if mode == "cpu":
        return NATIVE
    return Placement("dali", devices.usable_gpus()[0].number if mode == "gpu" else None)


def versions_of(mode: Mode) -> dict[str, str]:
    """Return the versions of the packages besides pixelmill that pixels depend on."""
    if mode == "cpu":
        return {}
    return {"dali": devices.find_dali().version or "unknown"}
