"""`bench`: how fast is this dataset on this machine, stage by stage, beside the peers that are installed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, get_args

from pixelmill.benchmark.machine import cores
from pixelmill.benchmark.measuring import Measuring, OnProgress
from pixelmill.benchmark.peers import PEERS
from pixelmill.benchmark.plan import Plan
from pixelmill.benchmark.report import BenchReport
from pixelmill.create import create_photo_folder
from pixelmill.engine.placement import Mode, placed
from pixelmill.errors import ArgumentError

Workload = Literal["train", "val", "resize", "read"]
WORKLOADS: tuple[Workload, ...] = get_args(Workload)
SYNTHETIC = 256  # pictures that are made where no dataset is named
_SYNTHETIC_NAME = f"{SYNTHETIC} photo-like pictures made for this"


class BenchInterrupted(KeyboardInterrupt):
    """Ctrl-C during `bench`.

    Attributes:
        report: What was measured until then; None if that is nothing.
    """

    def __init__(self, report: BenchReport | None) -> None:
        super().__init__()
        self.report = report


def bench(
    source: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    workload: Workload = "train",
    batch_size: int = 64,
    threads: int | None = None,
    size: int = 224,
    seconds: float = 5.0,
    rounds: int = 3,
    samples: int = 4096,
    peers: Sequence[str] | Literal["all", "none"] = "all",
    mode: Mode = "cpu",
    on_progress: OnProgress | None = None,
) -> BenchReport:
    """Measure how fast a dataset is read, decoded and augmented here, beside the peers that are installed.

    Every contestant has a process and processors of its own, and they run in turns.

    Args:
        source: A dataset in any container, on this machine; photo-like pictures are made for it when left out.
        workload: ``train`` (random window, mirror, normalised), ``val`` (centre crop, normalised), ``resize`` or
            ``read``, which is all that can be done with what is no picture.
        batch_size: Samples in a batch.
        threads: Threads or processes of each contestant; as many as there are processors when left out.
        size: Height and width of the pictures that come out.
        seconds: Time of a contestant in a round.
        rounds: How often each contestant runs.
        samples: The most samples to use.
        peers: Whom to measure beside pixelmill: names of ``dali``, ``tf`` and ``torch``, ``"all"`` or ``"none"``.
        mode: Where pixelmill and DALI work: ``cpu``, or ``gpu`` through DALI. ``dali`` is DALI's CPU operators.
        on_progress: Called now and then with what is being done, and which share of all is done.

    Raises:
        BenchInterrupted: After Ctrl-C, with what was measured until then.
    """
    wanted = _checked(workload, batch_size, threads, size, seconds, rounds, samples, peers)
    where = placed("bench", mode)
    plan = Plan(workload, batch_size, threads or cores(), size, float(seconds), rounds, samples, wanted, mode, where)
    with tempfile.TemporaryDirectory(prefix="pixelmill-bench-") as folder:
        measuring = Measuring(plan, Path(folder), on_progress or (lambda what, share: None))
        try:
            measuring.open(_made(Path(folder), plan, measuring.tell) if source is None else source)
            if source is None:
                measuring.rename(_SYNTHETIC_NAME)
            return measuring.run()
        except KeyboardInterrupt:
            raise BenchInterrupted(measuring.report(complete=False)) from None


def _made(folder: Path, plan: Plan, tell: Callable[[str, float], object]) -> Path:
    """Make pictures, and have them on the device, so that they can be read from there."""
    done = 0

    def show(_: Path) -> None:
        nonlocal done
        done += 1
        tell("making pictures", done / SYNTHETIC)

    for path in create_photo_folder(folder / "photos", SYNTHETIC, on_image=show, workers=plan.threads):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    return folder / "photos"


def _checked(
    workload: str,
    batch_size: int,
    threads: int | None,
    size: int,
    seconds: float,
    rounds: int,
    samples: int,
    peers: Sequence[str] | str,
) -> tuple[str, ...]:
    """Refuse arguments that cannot be meant; give the names of the peers."""
    numbers = {"batch_size": batch_size, "size": size, "rounds": rounds, "samples": samples}
    numbers |= {} if threads is None else {"threads": threads}
    for name, number in numbers.items():
        if number < 1:
            raise ArgumentError(f"bench: {name} must be at least 1, got {number}")
    if workload not in WORKLOADS:
        raise ArgumentError(f"bench: workload must be one of {', '.join(WORKLOADS)}, got {workload!r}")
    if not 0 < seconds < float("inf"):
        raise ArgumentError(f"bench: seconds must be a positive number, got {seconds}")
    if peers in ("all", "none"):
        return tuple(PEERS) if peers == "all" else ()
    names = (peers,) if isinstance(peers, str) else tuple(peers)
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise ArgumentError(f"bench: peers must be all, none, or some of {', '.join(PEERS)}; got {unknown[0]!r}")
    return tuple(dict.fromkeys(names))
