"""Options of `ingest`. Its spellings with underscores are those of the program that it replaces."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import PYTHON_ONLY, UNPLANNED, Cli, Help, PlanKey, Range
from pixelmill.options.running import Mode, PartOption, QuarantineOption, RunOptions, Target

DType = Literal["uint8", "float16", "float32"]
AxisOrder = Literal["HWC", "CHW"]
Resize = Literal["antialias", "dlbs"]
UnknownClasses = Literal["error", "skip", "append"]


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """What decides the records of `ingest`, in addition to the images and their labels."""

    command: ClassVar[str] = "ingest"

    num_images: Annotated[int, Help("Number of images to take from the shuffled order; -1 for all.")] = -1
    num_shards: Annotated[int, Range(1), Cli(checked=False), Help("Number of TFRecord files.")] = 10
    img_size: Annotated[int, Range(1), Cli(checked=False), Help("Height and width of the images.")] = 300
    seed: Annotated[int, Help("Seed of the order.")] = 0
    dtype: Annotated[
        DType, Help("Type of the pixels, from 0 to 255 in any case; types other than uint8 are stored in image/dtype.")
    ] = "uint8"
    order: Annotated[AxisOrder | None, Help("Order of the axes, stored in image/order.", default="HWC, not stored")] = (
        None
    )
    resize: Annotated[
        Resize,
        PlanKey("resize", if_set=True),
        Help("Filter: antialiased, or that of DLBS (bilinear between aligned corners, without antialiasing)."),
    ] = "antialias"
    name: Annotated[str, Help("First part of the file names.")] = "train"
    mode: Annotated[
        Mode,
        Cli(choices=("cpu", "gpu", "auto")),
        Help(
            "Where to run: on the CPU, or on NVIDIA GPUs with one process each; `auto` takes GPUs if they can be used.",
            python="`dali` compares with DALI's CPU path.",
        ),
    ] = "cpu"


@dataclass(frozen=True)
class IngestArguments(PartOption, QuarantineOption, RunOptions, RecordOptions):
    """The arguments of `ingest`."""

    input_dir: Annotated[Target, UNPLANNED, Help("Folder with one sub-folder for each class.")]
    output_dir: Annotated[Target, UNPLANNED, Help("Folder for the TFRecord files.")]
    _: KW_ONLY
    num_workers: Annotated[
        int | None,
        Range(1),
        UNPLANNED,
        Cli("--workers", "--num-workers"),
        Help("Number of processes.", default="number of processors, or of GPUs in mode gpu"),
    ] = None
    labels: Annotated[
        Target | None,
        UNPLANNED,
        Help(
            "File with the label and text of each folder (json, csv, txt).",
            default="ImageNet's labels if folders are its synsets, else numbered by name",
        ),
    ] = None
    unknown_classes: Annotated[
        UnknownClasses,
        UNPLANNED,
        Help("Folders without a label: refuse them, skip them, or number them after the other classes."),
    ] = "error"
    yes: Annotated[bool, UNPLANNED, Help("Start even if the disk has too little free space.")] = False
    on_start: Annotated[
        Callable[[int, int], object] | None,
        PYTHON_ONLY,
        UNPLANNED,
        Help("Called with the number of images and the expected bytes before anything is written."),
    ] = None
