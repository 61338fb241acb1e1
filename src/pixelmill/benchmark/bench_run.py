"""`bench`: measure how fast a dataset loads on this machine, stage by stage, next to installed peers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pixelmill.benchmark.bench_report import BenchReport
from pixelmill.benchmark.environment import cores
from pixelmill.benchmark.measurement import Measurement
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
def bench(options: BenchOptions) -> BenchReport:
    """Measure how fast a dataset is read, decoded and augmented here, next to the peers that are installed.

    Every contestant has its own process and processors, and they run in turns. After Ctrl-C, `BenchInterrupted` is
    raised with what was measured until then.

    Returns:
        The report.
    """
    if options.seconds == float("inf"):
        raise ArgumentError(f"bench: seconds must be a finite number, got {options.seconds}")
    peers = _peers(options.peers)
    settings = BenchSettings(
        options, options.workload, options.threads or cores(), peers, placement_for("bench", options.mode)
    )
    with tempfile.TemporaryDirectory(prefix="pixelmill-bench-") as folder:
        measurement = Measurement(settings, Path(folder), options.on_progress or (lambda what, fraction: None))
        try:
            source = options.source
            measurement.open(
                _created(Path(folder), settings, measurement.report_progress) if source is None else source
            )
            if source is None:
                measurement.rename(_SYNTHETIC_NAME)
            return measurement.run()
        except KeyboardInterrupt:
            raise BenchInterrupted(measurement.report(complete=False)) from None


def _created(folder: Path, settings: BenchSettings, on_progress: Callable[[str, float], object]) -> Path:
    """Create images and sync them, so that they can be read from the device."""
    done = 0

    def show(_: Path) -> None:
        nonlocal done
        done += 1
        on_progress("creating images", done / SYNTHETIC)

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
