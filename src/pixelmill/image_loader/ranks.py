"""Which of several training processes this is, found as their launchers say it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pixelmill.errors import ArgumentError

GIVEN = "given"


@dataclass(frozen=True)
class Ranks:
    """The place of this process among those that share an epoch.

    Attributes:
        rank: Its number.
        world_size: How many there are.
        origin: Where this was found; empty for a single process.
    """

    rank: int = 0
    world_size: int = 1
    origin: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.world_size:
            raise ArgumentError(
                f"rank must be from 0 to world_size - 1, got rank={self.rank}, world_size={self.world_size}"
                + (f" by {self.origin}" if self.origin != GIVEN else "")
            )

    def __str__(self) -> str:
        return f"rank {self.rank} of {self.world_size}" + (f" ({self.origin})" if self.origin else "")


def find_ranks(rank: int | None = None, world_size: int | None = None) -> Ranks:
    """Return the ranks that were given, or those of the launcher.

    In this order: `torch.distributed` if it is initialized; RANK and WORLD_SIZE, which torchrun sets; LOCAL_RANK,
    NODE_RANK and WORLD_SIZE, which Lightning sets; SLURM_PROCID and the number of tasks, which srun sets. Without any
    of these there is one process.
    """
    if rank is not None and world_size is not None:
        return Ranks(rank, world_size, GIVEN)
    return _of_torch() or _of_environment(os.environ) or Ranks()


def _of_torch() -> Ranks | None:
    # Not imported: a program that has initialized it has imported it.
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return Ranks(int(distributed.get_rank()), int(distributed.get_world_size()), "torch.distributed")


def _of_environment(environment: Mapping[str, str]) -> Ranks | None:
    world = _number(environment, "WORLD_SIZE")
    if world is not None:
        rank = _number(environment, "RANK")
        if rank is not None:
            return Ranks(rank, world, "RANK and WORLD_SIZE")
        local, node = _number(environment, "LOCAL_RANK"), _number(environment, "NODE_RANK")
        if local is not None and (node == 0 or (node is None and world == 1)):
            return Ranks(local, world, "LOCAL_RANK and WORLD_SIZE")
    rank = _number(environment, "SLURM_PROCID")
    # Of the step, not of the job: a program that sbatch starts without srun is a single process of a job of many tasks.
    tasks = _number(environment, "SLURM_STEP_NUM_TASKS")
    if rank is not None and tasks is not None:
        return Ranks(rank, tasks, "Slurm")
    return None


def processes_per_machine(ranks: Ranks) -> int:
    """Return how many of the processes share this machine, as far as the launcher says it."""
    for name in ("LOCAL_WORLD_SIZE", "SLURM_STEP_TASKS_PER_NODE"):
        found = re.match(r"[1-9][0-9]{0,5}", os.environ.get(name, ""))  # Slurm writes 4(x2) for two machines
        if found:
            return min(int(found[0]), ranks.world_size)
    torch: Any = sys.modules.get("torch")
    devices = int(torch.cuda.device_count()) if torch is not None and ranks.origin == "torch.distributed" else 0
    return min(devices, ranks.world_size) if devices else 1 if ranks.origin == GIVEN else ranks.world_size


def usable_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
