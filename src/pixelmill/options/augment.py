"""Options of `augment`, and those it shares with previews of a recipe."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import PATH, UNPLANNED, Choices, Cli, Help, PlanKey, Range
from pixelmill.options.running import (
    Container,
    Mode,
    RunOptions,
    Seed,
    Source,
    SplitOptions,
    Target,
    WorkersOption,
)

Subsampling = Literal["4:4:4", "4:2:2", "4:2:0"]


@dataclass(frozen=True, kw_only=True)
class VariantOptions:
    """What decides the bytes of a variant, in addition to the sample, the recipe and the number of the variant."""

    command: ClassVar[str] = "augment"

    seed: Seed = 0
    format: Annotated[
        str | None,
        Choices(("jpeg", "png")),
        Help("Format of the new images; PNG for images that are neither.", default="that of each image"),
    ] = None
    quality: Annotated[int, Range(1, 100), Help("Quality of JPEG files.")] = 90
    subsampling: Annotated[Subsampling, Help("Chroma subsampling of JPEG files.")] = "4:2:0"
    visibility: Annotated[
        float, Range(0, 1), Help("Drop boxes of which less than this fraction stays inside the image.")
    ] = 0.3


@dataclass(frozen=True)
class AugmentOptions(VariantOptions):
    """What `augment` reads and what it writes."""

    source: Annotated[Source, UNPLANNED, Help("A dataset in any container, or several record files.")]
    _: KW_ONLY
    recipe: Annotated[
        str, PATH, UNPLANNED, Help("Name of a built-in recipe, a YAML file, or a function as FILE.py:FUNCTION.")
    ] = "gentle"
    mode: Annotated[
        Mode,
        Cli(choices=("cpu", "gpu", "auto")),
        Help(
            "Where to run: on the CPU, or on NVIDIA GPUs with one process each; `auto` takes GPUs if they can be used.",
            python="`dali` compares with DALI's CPU path.",
        ),
    ] = "cpu"
    to: Annotated[
        str | None,
        Container,
        Help("The container to write.", default="that of the source, one file for each of its files"),
    ] = None
    prefix: Annotated[
        str, PlanKey("prefix", if_set=True), Help("Text before the names of record files, such as `aug_`.")
    ] = ""
    variants: Annotated[int, Range(1), Help("Variants of each sample.")] = 1
    keep_originals: Annotated[bool, Help("Write each sample unchanged before its variants.")] = False
    samples_per_shard: Annotated[
        int | None,
        Range(1),
        Cli(metavar="N"),
        Help(
            "Samples read for a shard; record files then get new names.",
            default="those of a file of the source if the container stays, else 1000",
        ),
    ] = None
    limit: Annotated[int | None, Range(1), Cli(metavar="N"), Help("Read only the first N samples.")] = None


@dataclass(frozen=True)
class AugmentArguments(SplitOptions, RunOptions, WorkersOption, AugmentOptions):
    """The arguments of `augment`."""

    output: Annotated[Target, UNPLANNED, Help("Folder or URL to write to.")] = "augmented"
