"""Options of `info`, `verify`, `index` and `preview`."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import FOLDER, PATH, PYTHON_ONLY, Cli, Help, Parsed, Range
from pixelmill.options.running import Container, ListOptions, Source, Target

OnSample = Callable[[int, int], object]
Overwrite = Literal["error", "overwrite"]


@dataclass(frozen=True, kw_only=True)
class SourceOptions(ListOptions):
    """How a dataset is opened for a look at it."""

    format: Annotated[
        str | None, Container, Cli("--from"), Help("Container of the source.", default="detected from its content")
    ] = None
    on_sample: Annotated[
        OnSample | None, PYTHON_ONLY, Help("Called with the number of samples done and the total, for progress bars.")
    ] = None


@dataclass(frozen=True)
class InfoOptions(SourceOptions):
    """The arguments of `info`."""

    command: ClassVar[str] = "info"

    source: Annotated[Source, Help("The dataset.")]
    _: KW_ONLY
    samples: Annotated[
        int | None,
        Range(0),
        Help("Number of samples to examine, evenly spread; 0 for all.", python="None means the same."),
    ] = 10_000


@dataclass(frozen=True)
class VerifyOptions(SourceOptions):
    """The arguments of `verify`."""

    command: ClassVar[str] = "verify"

    source: Annotated[Source, Help("The dataset.")]
    _: KW_ONLY
    decode: Annotated[bool, Cli("--decode/--no-decode"), Help("Decode the images too.")] = True
    threads: Annotated[
        int | None, Range(1), Help("Number of threads for decoding.", default="number of processors")
    ] = None


@dataclass(frozen=True)
class IndexOptions:
    """The arguments of `index`."""

    command: ClassVar[str] = "index"

    source: Annotated[Source, Help("Record files: a folder, a file, a glob pattern, or several files.")]
    _: KW_ONLY
    output: Annotated[Target | None, FOLDER, Help("Folder for the index files.", default="next to the data")] = None
    overwrite: Annotated[bool, PYTHON_ONLY, Help("Replace existing index files.")] = False


@dataclass(frozen=True, kw_only=True)
class OverwriteOption:
    """What happens to an output file that exists."""

    exists: Annotated[Overwrite, Help("An existing file: refuse or replace it.")] = "error"


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """What a preview shows."""

    recipe: Annotated[
        str | None, PATH, Help("Show variants by this recipe: a name, a YAML file, or FILE.py:FUNCTION.")
    ] = None
    variants: Annotated[int, Range(1), Help("Variants of each sample, with a recipe.")] = 3
    seed: Annotated[int, Range(0), Help("Seed of the choice of samples and of the recipe.")] = 0
    count: Annotated[
        int | None,
        Range(1),
        Help("Number of samples, from all parts and classes of the dataset.", default="16, or 6 with a recipe"),
    ] = None
    samples: Annotated[
        str | Sequence[int] | None, Parsed(str, "N,N-M,…"), Help("The numbers of the samples to show, from 0.")
    ] = None
    class_name: Annotated[
        str | None,
        Cli("--class", metavar="NAME"),
        Help("Samples of this class, or with a box of it, by name or number."),
    ] = None
    only: Annotated[Literal["boxes", "masks"] | None, Help("Samples that have boxes, or masks; draw nothing else.")] = (
        None
    )
    errors: Annotated[bool, Help("Damaged samples; reads the dataset until there are enough.")] = False
    columns: Annotated[int | None, Range(1), Help("Cells in a row.")] = None
    size: Annotated[int, Range(32, 2048), Help("Height and width of a cell, in pixels.")] = 224
    labels: Annotated[bool, Cli("--labels/--no-labels"), Help("Write captions and names.")] = True


@dataclass(frozen=True)
class PreviewOptions(OverwriteOption, SourceOptions, ViewOptions):
    """The arguments of `preview`."""

    command: ClassVar[str] = "preview"

    source: Annotated[Source, Help("A dataset in any container.")]
    output: Annotated[
        Target | None,
        Cli(default="preview.png"),
        Help("A .png or .html file.", python="None keeps the preview in memory."),
    ] = None
