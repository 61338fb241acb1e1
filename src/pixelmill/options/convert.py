"""Options of `convert`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import PYTHON_ONLY, UNPLANNED, Choices, Cli, Help, Parsed, PlanKey, Range
from pixelmill.options.running import (
    Container,
    ListOptions,
    PartOption,
    QuarantineOption,
    RunOptions,
    Source,
    Target,
    WorkersOption,
)
from pixelmill.options.values import Split, parse_bytes, parse_size, parse_split

IMAGE_FORMATS = ("jpeg", "png", "webp", "bmp", "npy")


@dataclass(frozen=True, kw_only=True)
class EncodingOptions:
    """How images are encoded again; without any of these they are copied byte for byte."""

    resize: Annotated[
        int | tuple[int, ...] | None,
        Parsed(parse_size, "SIZE"),
        Help("Re-encode: height and width (HEIGHTxWIDTH), or one number for the shorter side."),
    ] = None
    max_side: Annotated[
        int | None,
        Range(1, 65535),
        Cli(metavar="N"),
        Help("Re-encode images whose longer side exceeds N, shrunk to that length."),
    ] = None
    format: Annotated[str | None, Choices(IMAGE_FORMATS), Help("Re-encode in this format; npy stores the pixels.")] = (
        None
    )
    quality: Annotated[
        int | None, Range(1, 100), Cli(metavar="N"), Help("Re-encode; quality of JPEG and WebP, 1 to 100.")
    ] = None


@dataclass(frozen=True)
class ConvertOptions(ListOptions, EncodingOptions):
    """What `convert` reads and what it writes."""

    command: ClassVar[str] = "convert"

    source: Annotated[
        Source, UNPLANNED, Help("A dataset: a folder, a file, a glob pattern, a URL for fsspec, or several files.")
    ]
    _: KW_ONLY
    to: Annotated[str, Container, Help("The container to write.")]
    source_format: Annotated[
        str | None,
        Container,
        UNPLANNED,
        Cli("--from"),
        Help("Container of the source.", default="detected from its content"),
    ] = None
    samples_per_shard: Annotated[int | None, Range(1), Cli(metavar="N"), Help("Samples in a shard.")] = None
    shard_size: Annotated[
        int | None,
        Range(1),
        Parsed(parse_bytes, "BYTES"),
        PlanKey("shard_bytes"),
        Help("Bytes in a shard, such as 256MB or 1GiB at the command line.", default="256MB, and 1GB for packs"),
    ] = None
    num_shards: Annotated[int | None, Range(1), Cli(metavar="N"), PlanKey("shard_count"), Help("Number of shards.")] = (
        None
    )
    limit: Annotated[
        int | None, Range(1), Cli(metavar="N"), Help("Write only the first N samples, after shuffling.")
    ] = None
    shuffle: Annotated[bool, Help("Write the samples in random order.")] = False
    seed: Annotated[int, Range(0), Help("Seed of the order and of the split.")] = 0
    split: Annotated[
        Mapping[str, float] | Sequence[tuple[str, float]],
        Parsed(parse_split, "NAME=FRACTION,…"),
        Help("Random subsets by name and fraction, such as train=0.9,valid=0.1; each becomes a separate dataset."),
    ] = ()
    keys: Annotated[
        Literal["inception", "tfds", "raw"], Help("Feature names of TFRecords; raw ones hold decoded pixels.")
    ] = "inception"
    codebook: Annotated[
        Literal["trained", "default"],
        PlanKey("codebook", if_set=True),
        Help("Packs: train the codebook on some images of the dataset, or use the one for photographs."),
    ] = "trained"


def split_pairs(split: Mapping[str, float] | Sequence[tuple[str, float]]) -> Split:
    """Return a split as pairs of name and fraction, as plans hold it."""
    return tuple(split.items()) if isinstance(split, Mapping) else tuple(split)


@dataclass(frozen=True)
class ConvertArguments(PartOption, QuarantineOption, RunOptions, WorkersOption, ConvertOptions):
    """The arguments of `convert`."""

    output: Annotated[Target, UNPLANNED, Help("Folder or URL to write to.")]
    _: KW_ONLY
    on_start: Annotated[
        Callable[[int], object] | None,
        PYTHON_ONLY,
        UNPLANNED,
        Help("Called with the number of samples before the first is written."),
    ] = None
