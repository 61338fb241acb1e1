"""`bench`: how fast a dataset is on this machine, stage by stage, next to the peers that are installed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pixelmill.benchmark.bench_report import BenchReport
from pixelmill.benchmark.environment import cores
from pixelmill.benchmark.measuring import Measuring
from pixelmill.benchmark.peers import PEERS
from pixelmill.benchmark.settings import BenchSettings
from pixelmill.create import create_photo_folder
from pixelmill.engine.placement import placement_for
from pixelmill.errors import ArgumentError
from pixelmill.options.bench import BenchOptions
from pixelmill.options.declaration import takes

SYNTHETIC = 256  # images that are created if no dataset is named
_SYNTHETIC_NAME = f"{SYNTHETIC} photo-like images made for this"


class BenchInterrupted(KeyboardInterrupt):
    """Ctrl-C during `bench`.

    Attributes:
        report: What was measured until then; None if nothing was.
    """

    def __init__(self, report: BenchReport | None) -> None:
        super().__init__()
        self.report = report


@takes(BenchOptions)
def bench(given: BenchOptions) -> BenchReport:
    """Measure how fast a dataset is read, decoded and augmented here, next to the peers that are installed.

    Every contestant has its own process and processors, and they run in turns. After Ctrl-C, `BenchInterrupted` is
    raised with what was measured until then.

    Returns:
        The report.
    """
    if given.seconds == float("inf"):
        raise ArgumentError(f"bench: seconds must be a finite number, got {given.seconds}")
    peers = _peers(given.peers)
    settings = BenchSettings(given, given.workload, given.threads or cores(), peers, placement_for("bench", given.mode))
    with tempfile.TemporaryDirectory(prefix="pixelmill-bench-") as folder:
        measuring = Measuring(settings, Path(folder), given.on_progress or (lambda what, share: None))
        try:
            source = given.source
            measuring.open(_created(Path(folder), settings, measuring.tell) if source is None else source)
            if source is None:
                measuring.rename(_SYNTHETIC_NAME)
            return measuring.run()
        except KeyboardInterrupt:
            raise BenchInterrupted(measuring.report(complete=False)) from None


def _created(folder: Path, settings: BenchSettings, tell: Callable[[str, float], object]) -> Path:
    """Create images and sync them, so that they can be read from the device."""
    done = 0

    def show(_: Path) -> None:
        nonlocal done
        done += 1
        tell("creating images", done / SYNTHETIC)

    for path in create_photo_folder(folder / "photos", SYNTHETIC, on_image=show, workers=settings.threads):
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    return folder / "photos"


def _peers(peers: Sequence[str] | str) -> tuple[str, ...]:
    """Return the names of the peers. Raises ArgumentError for an unknown one."""
    if peers in ("all", "none"):
        return tuple(PEERS) if peers == "all" else ()
    names = (peers,) if isinstance(peers, str) else tuple(peers)
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise ArgumentError(f"bench: peers must be all, none, or some of {', '.join(PEERS)}; got {unknown[0]!r}")
    return tuple(dict.fromkeys(names))
