"""Options of `create_images` and of wrapping images into records."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar, Literal

from pixelmill.options.declaration import FOLDER, PYTHON_ONLY, UNPLANNED, Choices, Cli, Help, Parsed, Range
from pixelmill.options.running import ExistsOption, ProgressOption, RunnerOptions, Target, WorkersOption
from pixelmill.options.values import parse_bytes, parse_interval

CONTENTS = ("noise", "photo", "shapes", "gradient")
IMAGE_FORMATS = {"jpg": "jpg", "jpeg": "jpg", "png": "png", "bmp": "bmp", "bitmap": "bmp"}
FILES = "files"
OUTPUT_CONTAINERS = (FILES, "tfrecord", "recordio", "webdataset", "npy")
IMAGES_PER_FILE = 1000

# Sizes of the records of ResNet-50 in MLPerf Storage: 1251 samples of 114660 bytes in each file.
PRESETS: Mapping[str, Mapping[str, object]] = {
    "mlperf-resnet50": {
        "content": "photo",
        "image_format": "jpg",
        "width": 470,
        "height": 400,
        "bytes": 114660,
        "classes": 1000,
        "container": "tfrecord",
        "img_per_file": 1251,
    },
    "imagenet": {
        "content": "photo",
        "image_format": "jpg",
        "width": 470,
        "height": 400,
        "size_distribution": "sides:0.2",
        "quality": (93, 97),
        "full_colour": 0.8,
        "classes": 1000,
    },
    "camera": {"content": "photo", "image_format": "jpg", "width": 4000, "height": 3000, "quality": (90, 95)},
    "shapes": {"content": "shapes", "image_format": "png", "width": 128, "height": 128, "classes": 10},
}

_PRESET = Cli(preset=True)
_UNCHECKED = Cli(preset=True, checked=False)  # the job checks it together with other options


@dataclass(frozen=True, kw_only=True)
class ContentOptions:
    """What images show, and how large their files are."""

    content: Annotated[
        str, Choices(CONTENTS), _PRESET, Help("What images show; `photo` has the statistics of photographs.")
    ] = "noise"
    classes: Annotated[
        int,
        Range(1, 1 << 24),
        _UNCHECKED,
        Help("Number of classes: folders, or labels in records. Image i belongs to class i % classes."),
    ] = 1
    masks: Annotated[
        bool, _PRESET, Help("Write a mask for each image below masks/, the images below images/ (shapes only).")
    ] = False
    alpha: Annotated[
        bool, _PRESET, Help("Add transparency as a fourth channel (RGBA; png and bmp only). The colors stay the same.")
    ] = False
    bytes: Annotated[
        int,
        Range(0, (1 << 31) - 1),
        Parsed(parse_bytes, "SIZE"),
        Cli(preset=True),
        Help(
            "Exact size of each image file, such as 100KB: the quality is searched and the rest padded.",
            default="any size",
        ),
    ] = 0
    dedup_ratio: Annotated[float, Range(1), _UNCHECKED, Help("Number of files for each distinct file.")] = 1.0
    compress_ratio: Annotated[
        float, Range(1, 1000), _UNCHECKED, Help("Size of a file divided by its compressed size.")
    ] = 1.0
    full_colour: Annotated[
        float,
        Range(0, 1),
        PYTHON_ONLY,
        Help("Fraction of JPEG files with full chroma resolution (4:4:4 instead of 4:2:0)."),
    ] = 0.0


@dataclass(frozen=True)
class CreateOptions(ContentOptions):
    """What `create_images` writes. The first nine are in the order of Imageinary's function."""

    command: ClassVar[str] = "create_images"

    path: Annotated[Target, FOLDER, UNPLANNED, Help("Folder to write to; created if missing.")]
    name: Annotated[
        str,
        Cli(default="img_"),
        Help("First part of the file names: `{name}{number}.{extension}`, numbered from 0."),
    ]
    width: Annotated[int, Cli(preset=True), Help("Columns; their mean if sizes vary.", default="1920")]
    height: Annotated[int, Cli(preset=True), Help("Rows; their mean if sizes vary.", default="1080")]
    count: Annotated[
        int | None,
        Range(1),
        Cli(preset=True, checked=False),
        Help("Number of images.", default="1, or what `total` needs", python="None means the default."),
    ]
    image_format: Annotated[
        str,
        Cli(preset=True),
        Help("jpg, png or bmp; jpeg and bitmap mean the same.", default="png"),
    ]
    seed: Annotated[int, Help("Seed of the images; two seeds share no image.")] = 0
    size: Annotated[bool, UNPLANNED, Help("Print the size of the first file and of the folder.")] = False
    chunksize: Annotated[
        int, Range(1), Cli(checked=False), Help("Number of image files that are made and committed together.")
    ] = 64
    _: KW_ONLY
    total: Annotated[
        int,
        Range(0),
        Parsed(parse_bytes, "SIZE"),
        Cli(preset=True),
        Help(
            "Bytes of all images, such as 50GB: decides their number, or with `count` the exact size of each.",
            default="what the images need",
        ),
    ] = 0
    boxes: Annotated[bool, _PRESET, Help("Write the box and class of each object (shapes only).")] = False
    objects: Annotated[
        tuple[int, int] | None,
        Parsed(parse_interval, "N[-M]"),
        _PRESET,
        Help("Fewest and most objects in an image of shapes.", default="1, or 1-5 with masks or boxes"),
    ] = None
    size_distribution: Annotated[
        str,
        Cli(preset=True, metavar="KIND"),
        Help(
            "fixed, sides:SPREAD (standard deviation of the logarithm of the sides), or bytes:SPREAD (file sizes "
            "around --bytes)."
        ),
    ] = "fixed"
    quality: Annotated[
        int | tuple[int, int],
        Parsed(parse_interval, "N[-M]"),
        _PRESET,
        Help("JPEG quality, or the lowest and the highest."),
    ] = 75
    container: Annotated[
        str, Choices(OUTPUT_CONTAINERS), _PRESET, Help("Write image files, or records of this container.")
    ] = FILES
    img_per_file: Annotated[
        int,
        Range(1),
        Cli(preset=True, checked=False),
        Help("Number of images in a record file."),
    ] = IMAGES_PER_FILE


@dataclass(frozen=True)
class CreateArguments(ProgressOption, RunnerOptions, ExistsOption, WorkersOption, CreateOptions):
    """The arguments of `create_images`."""

    _: KW_ONLY
    shard_index: Annotated[
        int | None, Cli(checked=False), UNPLANNED, Help("Make part I of N, from 0; --part I/N means the same.")
    ] = None
    num_shards: Annotated[int | None, Cli(checked=False), UNPLANNED, Help("Number of parts.")] = None
    durable: Annotated[
        bool,
        UNPLANNED,
        Help(
            "Wait until each image file is on the disk; record files always are. Without, a power loss may lose them."
        ),
    ] = False


@dataclass(frozen=True)
class WrapArguments:
    """The arguments of `create_tfrecords` and `create_recordio`."""

    command: ClassVar[str] = "create"

    source_path: Annotated[Target, Help("Folder of image files, or of class folders.")]
    dest_path: Annotated[Target, Help("Folder to write to; created if missing.")]
    name: Annotated[str, Cli(default="train_"), Help("First part of the file names.")]
    img_per_file: Annotated[int, Range(1), Cli(checked=False), Help("Number of images in a file.")] = IMAGES_PER_FILE
    _: KW_ONLY
    exists: Annotated[Literal["error", "overwrite"], Help("Existing files: refuse or replace them.")] = "error"
    workers: Annotated[int | None, Range(1), Help("Number of threads.", default="number of processors")] = None
    dry_run: Annotated[bool, Help("Check everything and report what would be written; write nothing.")] = False
    on_progress: Annotated[
        Callable[[int, int], object] | None,
        PYTHON_ONLY,
        Help("Called with the number of images and bytes in each finished file."),
    ] = None
