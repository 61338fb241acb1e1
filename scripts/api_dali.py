"""The generated tables of docs/dali.md: what of DALI is here or absent, and which defaults are not the same.

The lists are compared with the schemas of DALI by tests/repository/test_dali_schemas.py.
"""

from __future__ import annotations

from pixelmill.operators import OLDER_FUNCTIONS
from pixelmill.operators.absent import ABSENT as KINDS
from pixelmill.operators.declare import COMMON_IGNORED, public_operators

BEGIN, END = "<!-- Written by scripts/write_api.py from scripts/api_dali.py. -->\n", "<!-- End of the tables. -->\n"

# Operators of DALI 2.4 that are absent here, by the reason.
REASONS = {"video": "video", "audio": "audio", "": "not written yet"}
ABSENT = {reason: [name for name, of in KINDS.items() if of == kind] for kind, reason in REASONS.items()} | {
    "only on GPUs in DALI; `resize` does the same": ["experimental.resize"]
}

# Operators and arguments that DALI does not have.
ADDED = {
    "decoders.mask": "class numbers of masks, the indices of a palette included",
    "decoders.raw": "the pixels that `pixelmill ingest` wrote, without decoding",
    "encoders.image": "images as JPEG, PNG and other files",
    "readers.dataset": "any container by the names of its columns",
    "readers.pack": "packs, whose images decode several times faster than JPEG files",
    "gamma": "levels along a power curve",
    "posterize": "fewer levels",
    "solarize": "bright levels inverted",
    "invert": "all levels inverted",
    "tone_curve": "levels along a Bezier curve",
    "color_jitter": "brightness, contrast, saturation and hue in any order",
    "to_gray": "gray in three channels",
    "sepia": "the tint of old photographs",
    "channel_shuffle": "channels in another order",
    "channel_dropout": "channels set to 0",
    "rgb_shift": "a number added to each channel",
    "pca_lighting": "light along the principal axes of colors",
    "noise.speckle": "noise in proportion to brightness",
    "noise.iso": "the noise of a sensor at high sensitivity",
    "box_blur": "the mean of a square",
    "motion_blur": "a blur along a line",
    "defocus": "a blur with a disk",
    "zoom_blur": "a blur along rays from the center",
    "glass_blur": "pixels from random neighbors",
    "sharpen": "sharper edges",
    "emboss": "raised edges",
    "downscale": "detail lost by reducing and enlarging",
    "superpixels": "segments filled with their mean color",
    "webp_compression_distortion": "the artifacts of WebP compression",
    "coarse_dropout": "random rectangles filled",
    "random_erasing": "one random rectangle filled",
    "rain": "streaks of rain",
    "snow": "snow on dark parts",
    "fog": "fog of varying density",
    "sun_flare": "the sun and its reflections",
    "shadow": "a dark polygon",
    "spatter": "drops on the lens",
}

# Defaults that read None here, although the schema of DALI has a value. The first two groups make no difference.
DEFAULTS = {
    "DALI's value (0, an empty list or an empty string) means *not given*, which is None here": [
        "bbox_rotate.size",
        "crop.crop_d",
        "crop.crop_h",
        "crop.crop_w",
        "crop_mirror_normalize.crop_d",
        "crop_mirror_normalize.crop_h",
        "crop_mirror_normalize.crop_w",
        "decoders.image_crop.crop_d",
        "decoders.image_crop.crop_h",
        "decoders.image_crop.crop_w",
        "erase.anchor",
        "erase.shape",
        "experimental.warp_perspective.fill_value",
        "experimental.warp_perspective.matrix",
        "experimental.warp_perspective.size",
        "readers.coco.annotations_file",
        "readers.coco.preprocessed_annotations",
        "readers.coco.save_preprocessed_annotations_dir",
        "readers.numpy.roi_axes",
        "resize.resize_longer",
        "resize.resize_shorter",
        "resize.resize_x",
        "resize.resize_y",
        "resize.resize_z",
        "resize_crop_mirror.crop_d",
        "resize_crop_mirror.crop_h",
        "resize_crop_mirror.crop_w",
        "resize_crop_mirror.resize_longer",
        "resize_crop_mirror.resize_shorter",
        "resize_crop_mirror.resize_x",
        "resize_crop_mirror.resize_y",
        "resize_crop_mirror.resize_z",
        "rotate.size",
        "warp_affine.matrix",
        "warp_affine.size",
    ],
    "None stands for DALI's value, so that another argument can take its place": [
        "cat.axis",
        "crop.fill_values",
        "crop_mirror_normalize.fill_values",
        "decoders.image_slice.axes",
        "decoders.image_slice.axis_names",
        "erase.axes",
        "erase.axis_names",
        "erase.normalized",
        "erase.normalized_anchor",
        "erase.normalized_shape",
        "external_source.no_copy",
        "laplacian.scale",
        "one_hot.axis",
        "paste.n_channels",
        "random.uniform.range",
        "random_bbox_crop.allow_no_crop",
        "random_bbox_crop.aspect_ratio",
        "random_bbox_crop.ltrb",
        "random_bbox_crop.scaling",
        "random_resized_crop.interp_type",
        "random_resized_crop.mag_filter",
        "random_resized_crop.min_filter",
        "readers.file.file_filters",
        "resize.interp_type",
        "resize.mag_filter",
        "resize.min_filter",
        "resize_crop_mirror.interp_type",
        "resize_crop_mirror.mag_filter",
        "resize_crop_mirror.min_filter",
        "segmentation.random_mask_pixel.threshold",
        "segmentation.random_object_bbox.background",
        "slice.axes",
        "slice.axis_names",
        "slice.fill_values",
        "tensor_resize.alignment",
        "tensor_resize.interp_type",
        "tensor_resize.mag_filter",
        "tensor_resize.min_filter",
    ],
    "DALI documents 0.5 and uses the middle of the input type, as here": [
        "brightness_contrast.contrast_center",
        "contrast.contrast_center",
    ],
    "DALI's Python class sets True over the False of the schema": ["dl_tensor_python_function.batch_processing"],
}

# Arguments that DALI requires and that are optional here: missing indexes are built.
OPTIONAL_HERE = ["readers.mxnet.index_path", "readers.tfrecord.index_path"]

# Modules of DALI that programs could import and that are absent here.
MODULES = {
    "internals of DALI": [
        "auto_aug.core.decorator",
        "auto_aug.core.policy",
        "internal",
        "pickling",
        "plugin.jax.integration",
        "reducers",
        "sysconfig",
    ],
}


def with_tables(page: str) -> str:
    """Return the page with the generated tables between its two markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{tables()}{END}{after}"


def tables() -> str:
    """Return the tables: operators that are here, that DALI lacks, that are absent, ignored arguments, defaults."""
    here = [name for name in public_operators() if name not in ADDED]
    parts = [
        f"### Here\n\n{len(here)} operators, and {len(OLDER_FUNCTIONS)} older names for some of them.\n",
        _table(["family", "operators"], [[family, _names(names)] for family, names in _families(here).items()]),
        "### Only here\n",
        _table(["operator", "what it does"], [[f"`{name}`", text] for name, text in ADDED.items()]),
        "### Absent\n",
        _table(["reason", "operators"], [[reason, _names(names)] for reason, names in ABSENT.items()]),
        f"### Arguments without effect\n\nAccepted by every operator: {_names(sorted(COMMON_IGNORED))}. By some:\n",
        _table(["operators", "arguments"], [[_names([*names]), _names(keys)] for names, keys in _ignored().items()]),
        "### Defaults that read differently\n",
        _table(["reason", "arguments"], [[reason, _names(names)] for reason, names in DEFAULTS.items()]),
        f"Required by DALI and optional here, where missing indexes are built: {_names(OPTIONAL_HERE)}.\n",
        "### Absent modules\n",
        _table(["reason", "modules"], [[reason, _names(names)] for reason, names in MODULES.items()]),
    ]
    return "\n" + "\n".join(parts)


def _families(names: list[str]) -> dict[str, list[str]]:
    families: dict[str, list[str]] = {}
    for name in sorted(names):
        families.setdefault(f"`fn.{name.rpartition('.')[0]}`" if "." in name else "`fn`", []).append(name)
    return dict(sorted(families.items()))


def _ignored() -> dict[tuple[str, ...], list[str]]:
    """Return the arguments that are accepted without effect, by the operators that accept them."""
    accepting: dict[str, list[str]] = {}
    for name, spec in sorted(public_operators().items()):
        for argument in spec.ignored - COMMON_IGNORED:
            accepting.setdefault(argument, []).append(name)
    found: dict[tuple[str, ...], list[str]] = {}
    for argument in sorted(accepting):
        found.setdefault(tuple(accepting[argument]), []).append(argument)
    return dict(sorted(found.items()))


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]]) + "\n"


def _names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
