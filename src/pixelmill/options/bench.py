"""Options of `bench`."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import PYTHON_ONLY, Cli, Help, Parsed, Range
from pixelmill.options.running import Mode, Source

Workload = Literal["train", "val", "resize", "read"]
PEER_NAMES = ("dali", "tf", "torch")


def parse_peers(text: str) -> str | list[str]:
    """Read `all`, `none`, or names separated by commas."""
    if text in ("all", "none"):
        return text
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PEER_NAMES:
            raise ValueError(f"{name!r} is not one of {', '.join(PEER_NAMES)}, and not all or none")
    return names


@dataclass(frozen=True)
class BenchOptions:
    """The arguments of `bench`."""

    command: ClassVar[str] = "bench"

    source: Annotated[
        Source | None,
        Help("A dataset in any container on this machine.", default="photo-like images made for this run"),
    ] = None
    _: KW_ONLY
    workload: Annotated[
        Workload,
        Help("Random crop and mirror, center crop, resize alone, or only reading, which is all for other data."),
    ] = "train"
    batch_size: Annotated[int, Range(1), Help("Samples in a batch.")] = 64
    threads: Annotated[
        int | None, Range(1), Help("Threads or processes of each contestant.", default="number of processors")
    ] = None
    size: Annotated[int, Range(1), Help("Height and width of the resulting images.")] = 224
    seconds: Annotated[float, Range(0, low_open=True), Help("Time of each contestant in each round, in seconds.")] = 5.0
    rounds: Annotated[int, Range(1), Help("Number of turns of each contestant.")] = 3
    samples: Annotated[int, Range(1), Help("Use at most this many samples.")] = 4096
    peers: Annotated[
        Sequence[str] | str,
        Parsed(parse_peers, "text"),
        Cli(metavar="all|none|dali,tf,torch"),
        Help("Other libraries to measure next to pixelmill."),
    ] = "all"
    mode: Annotated[
        Mode,
        Cli(choices=("cpu", "gpu")),
        Help(
            "Where pixelmill and DALI run: on the CPU, or on a GPU through DALI.",
            python="`dali` runs DALI's CPU operators in place of the GPU ones, for comparison.",
        ),
    ] = "cpu"
    on_progress: Annotated[
        Callable[[str, float], object] | None,
        PYTHON_ONLY,
        Help("Called from time to time with what is being done, and the fraction of the whole that is done."),
    ] = None
