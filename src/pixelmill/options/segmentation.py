"""Options of `prepare_segmentation`."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import UNPLANNED, Cli, Help, Range
from pixelmill.options.running import QuarantineOption, RunOptions, SplitOptions, Target, WorkersOption

Normalize = Literal["none", "unit", "imagenet"]


@dataclass(frozen=True, kw_only=True)
class SegmentationOptions:
    """What decides the files of `prepare_segmentation`, in addition to the images and masks."""

    command: ClassVar[str] = "segmentation"

    valid: Annotated[
        float, Range(0, 1, high_open=True), Cli(checked=False), Help("Fraction of the groups for validation.")
    ] = 0.2
    seed: Annotated[int, Help("Seed of the choice of groups.")] = 0
    normalize: Annotated[
        Normalize,
        Help(
            "Pixels: uint8 (none), float32 from 0 to 1 (unit), or these with the mean and standard deviation of "
            "ImageNet (imagenet). Masks become float32 0 and 1 with the last two."
        ),
    ] = "none"


@dataclass(frozen=True)
class SegmentationArguments(SplitOptions, QuarantineOption, RunOptions, WorkersOption, SegmentationOptions):
    """The arguments of `prepare_segmentation`."""

    data_root: Annotated[
        Target, UNPLANNED, Help("The folder with `Images` and `Masks`, or with `train` and `valid` that have them.")
    ]
    output: Annotated[Target, UNPLANNED, Help("Folder for the npy files and csv_file/.")]
    _: KW_ONLY
