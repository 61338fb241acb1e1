# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn: operators as functions."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias, overload

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.fn import decoders as decoders
from pixelmill.fn import random as random
from pixelmill.fn import readers as readers
from pixelmill.graph import DataNode
from pixelmill.types import ArrayConstant, DALIDataType, DALIImageType, DALIInterpType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]
_Strings: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]

def brightness(
    data: _Data | _Constant,
    /,
    *,
    brightness: float | _Node = 1.0,
    brightness_shift: float | _Node = 0.0,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the brightness: `brightness_shift * range + brightness * x`.

    Args:
        data: Pictures.
        brightness: What every value is multiplied with.
        brightness_shift: What is added, as a share of the largest value of the result's type, or of 1 for floats.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def brightness_contrast(
    data: _Data | _Constant,
    /,
    *,
    brightness: float | _Node = 1.0,
    brightness_shift: float | _Node = 0.0,
    contrast: float | _Node = 1.0,
    contrast_center: float | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change brightness and contrast: `brightness_shift * range + brightness * (c + contrast * (x - c))`.

    Here `c` is `contrast_center`, and the range is the largest value of the result's type, or 1 for floats.

    Args:
        data: Pictures.
        brightness: What every value is multiplied with.
        brightness_shift: What is added, as a share of the range.
        contrast: How far values are moved away from the centre; 0 gives a plain gray.
        contrast_center: The value that stays, as it stands in `data`: half the range of its type when left out, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def cast(
    data: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the type of the elements; what does not fit is rounded and cut to the range.

    Args:
        data: Any array.
        dtype: The new type.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def color_space_conversion(
    data: _Data | _Constant,
    /,
    *,
    image_type: DALIImageType,
    output_type: DALIImageType,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change how colours are told: RGB, BGR, GRAY, or YCbCr of BT.601 with its luminance from 16 to 235.

    Args:
        data: Pictures of type uint8.
        image_type: How colours are told now.
        output_type: How they shall be told.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def color_twist(
    data: _Data | _Constant,
    /,
    *,
    hue: float | _Node = 0.0,
    saturation: float | _Node = 1.0,
    contrast: float | _Node = 1.0,
    brightness: float | _Node = 1.0,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change hue, saturation, contrast and brightness at once, with no rounding in between.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees the hue is turned.
        saturation: What the saturation is multiplied with.
        contrast: How far values are moved away from the centre: 128, or 0.5 for floats.
        brightness: What every value is multiplied with.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def contrast(
    data: _Data | _Constant,
    /,
    *,
    contrast: float | _Node = 1.0,
    contrast_center: float | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the contrast: `contrast_center + contrast * (x - contrast_center)`.

    Args:
        data: Pictures.
        contrast: How far values are moved away from the centre; 0 gives a plain gray.
        contrast_center: The value that stays, as it stands in `data`: half the range of its type when left out, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def crop(
    data: _Data | _Constant,
    /,
    *,
    crop: _Floats | _Node | None = None,
    crop_h: float | _Node | None = None,
    crop_w: float | _Node | None = None,
    crop_d: float | _Node | None = None,
    crop_pos_x: float | _Node = 0.5,
    crop_pos_y: float | _Node = 0.5,
    crop_pos_z: float | _Node = 0.5,
    rounding: Literal["round", "truncate"] = "round",
    out_of_bounds_policy: Literal["error", "pad", "constant", "trim_to_shape"] = "error",
    fill_values: _Floats | None = None,
    dtype: DALIDataType | None = None,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Cut a window out of pictures.

    Args:
        data: Pictures.
        crop: Height and width of the window (depth, height and width of a volume).
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        rounding: How a position between pixels is brought to one.
        out_of_bounds_policy: What to do with a window that leaves the picture.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def crop_mirror_normalize(
    data: _Data | _Constant,
    /,
    *,
    crop: _Floats | _Node | None = None,
    crop_h: float | _Node | None = None,
    crop_w: float | _Node | None = None,
    crop_d: float | _Node | None = None,
    crop_pos_x: float | _Node = 0.5,
    crop_pos_y: float | _Node = 0.5,
    crop_pos_z: float | _Node = 0.5,
    mirror: int | _Node = 0,
    mean: _Floats | _Node = (0.0,),
    std: _Floats | _Node = (1.0,),
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DALIDataType = DALIDataType.FLOAT,
    output_layout: str = "CHW",
    pad_output: bool = False,
    rounding: Literal["round", "truncate"] = "round",
    out_of_bounds_policy: Literal["error", "pad", "constant", "trim_to_shape"] = "error",
    fill_values: _Floats | None = None,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Crop, mirror, normalise and reorder the axes in one pass: `scale * (x - mean) / std + shift`.

    Args:
        data: Pictures.
        crop: Height and width of the window (depth, height and width of a volume).
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        mirror: Swap left and right.
        mean: What is taken away, one value or one for each channel.
        std: What is divided by, one value or one for each channel.
        scale: What the result is multiplied with.
        shift: What is added at last.
        dtype: Type of the result: FLOAT, FLOAT16, UINT8 or INT8.
        output_layout: Order of the axes of the result; empty to keep that of `data`.
        pad_output: Add channels up to the next power of two.
        rounding: How a position between pixels is brought to one.
        out_of_bounds_policy: What to do with a window that leaves the picture.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def external_source(
    *,
    source: Any = None,
    num_outputs: None = None,
    cycle: Literal["no", "quiet", "raise", False, True] | None = None,
    batch: bool | None = None,
    batch_info: bool = False,
    layout: _Strings | None = None,
    dtype: Any = None,
    ndim: Any = None,
    repeat_last: bool = False,
    blocking: object = None,
    bytes_per_sample_hint: object = None,
    cuda_stream: object = None,
    no_copy: object = None,
    parallel: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    use_copy_kernel: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Take data from a callable, an iterable, or `Pipeline.feed_input`.

    Args:
        source: A callable, an iterable, or a generator function; None to be fed by `feed_input` or `run(name=…)`.
        num_outputs: How many values one call of the source gives; then a list of nodes is returned.
        cycle: What to do when an iterable ends: `"no"` stops, `"quiet"` (or True) begins again, `"raise"` stops the
            epoch and begins again after `reset`.
        batch: Whether the source makes whole batches (default) or single samples.
        batch_info: Hand a callable that makes batches a BatchInfo instead of the number of the batch.
        layout: Names of the axes, such as `"HWC"`; one string or one for each output.
        dtype: Type of the elements, checked when data arrives; one or one for each output.
        ndim: Number of axes, checked when data arrives; one or one for each output.
        repeat_last: Use the last batch that was fed again when no newer one is there.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def external_source(
    *,
    source: Any = None,
    num_outputs: int,
    cycle: Literal["no", "quiet", "raise", False, True] | None = None,
    batch: bool | None = None,
    batch_info: bool = False,
    layout: _Strings | None = None,
    dtype: Any = None,
    ndim: Any = None,
    repeat_last: bool = False,
    blocking: object = None,
    bytes_per_sample_hint: object = None,
    cuda_stream: object = None,
    no_copy: object = None,
    parallel: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    use_copy_kernel: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[DataNode]:
    """Take data from a callable, an iterable, or `Pipeline.feed_input`.

    Args:
        source: A callable, an iterable, or a generator function; None to be fed by `feed_input` or `run(name=…)`.
        num_outputs: How many values one call of the source gives; then a list of nodes is returned.
        cycle: What to do when an iterable ends: `"no"` stops, `"quiet"` (or True) begins again, `"raise"` stops the
            epoch and begins again after `reset`.
        batch: Whether the source makes whole batches (default) or single samples.
        batch_info: Hand a callable that makes batches a BatchInfo instead of the number of the batch.
        layout: Names of the axes, such as `"HWC"`; one string or one for each output.
        dtype: Type of the elements, checked when data arrives; one or one for each output.
        ndim: Number of axes, checked when data arrives; one or one for each output.
        repeat_last: Use the last batch that was fed again when no newer one is there.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def flip(
    data: _Data | _Constant,
    /,
    *,
    horizontal: int | _Node = 1,
    vertical: int | _Node = 0,
    depthwise: int | _Node = 0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Mirror pictures about their centre lines.

    Args:
        data: Pictures.
        horizontal: Swap left and right.
        vertical: Swap top and bottom.
        depthwise: Swap front and back of volumes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def hsv(
    data: _Data | _Constant,
    /,
    *,
    hue: float | _Node = 0.0,
    saturation: float | _Node = 1.0,
    value: float | _Node = 1.0,
    dtype: DALIDataType = DALIDataType.UINT8,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change hue, saturation and brightness of pictures, by one linear transform of their colours.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees the hue is turned.
        saturation: What the saturation is multiplied with.
        value: What the brightness is multiplied with.
        dtype: Type of the result; uint8 when left out, whatever the type of `data` is.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def hue(
    data: _Data | _Constant,
    /,
    *,
    hue: float | _Node = 0.0,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Turn the hue of pictures.

    Args:
        data: Pictures in red, green and blue.
        hue: By how many degrees.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def pad(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    shape: _Ints | _Node | None = None,
    align: _Ints | _Node | None = None,
    fill_value: float | _Node = 0.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Enlarge arrays at their far ends, by default until all of a batch are equally large.

    Args:
        data: Any array.
        axes: The axes to enlarge, by number; all when left out.
        axis_names: The same by name.
        shape: Smallest extents; -1 or nothing stands for the largest of the batch.
        align: What the extents are made a multiple of.
        fill_value: What is put into the new places.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def peek_image_shape(
    data: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType = DALIDataType.INT64,
    image_type: DALIImageType = DALIImageType.RGB,
    adjust_orientation: bool = True,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Read height, width and channels from the header of a picture.

    Args:
        data: Encoded bytes.
        dtype: Type of the three numbers.
        image_type: Colours the picture would be decoded to.
        adjust_orientation: Give the shape of the picture turned as its EXIF data says.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def python_function(
    *inputs: DataNode | _Constant,
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = False,
    bytes_per_sample_hint: object = None,
    output_layouts: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Call a Python function in the middle of a graph. It gets and gives NumPy arrays.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many arrays it gives.
        batch_processing: Call it once with lists of samples, instead of for every sample.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def python_function(
    *inputs: DataNode | _Constant,
    function: Any,
    num_outputs: int,
    batch_processing: bool = False,
    bytes_per_sample_hint: object = None,
    output_layouts: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Call a Python function in the middle of a graph. It gets and gives NumPy arrays.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many arrays it gives.
        batch_processing: Call it once with lists of samples, instead of for every sample.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def random_crop_generator(
    shape: _Data | _Constant,
    /,
    *,
    random_area: _Floats = (0.08, 1.0),
    random_aspect_ratio: _Floats = (0.75, 1.3333333333333333),
    num_attempts: int = 10,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[_Data]:
    """Draw the window of a random crop: its first corner (y, x) and its extents (height, width), as int32.

    Args:
        shape: The shape of a picture, height first.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def random_resized_crop(
    data: _Data | _Constant,
    /,
    *,
    size: _Ints,
    random_area: _Floats = (0.08, 1.0),
    random_aspect_ratio: _Floats = (0.75, 1.3333333333333333),
    num_attempts: int = 10,
    interp_type: DALIInterpType | _Node | None = None,
    min_filter: DALIInterpType | _Node | None = None,
    mag_filter: DALIInterpType | _Node | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    minibatch_size: object = None,
    preserve: object = None,
    temp_buffer_hint: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Cut a random window out of pictures and change it to a given size.

    Args:
        data: Pictures.
        size: Height and width of the result; one number for both.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def resize(
    data: _Data | _Constant,
    /,
    *,
    size: _Floats | _Node | None = None,
    resize_x: float | _Node | None = None,
    resize_y: float | _Node | None = None,
    resize_z: float | _Node | None = None,
    resize_shorter: float | _Node | None = None,
    resize_longer: float | _Node | None = None,
    mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
    max_size: _Floats | None = None,
    subpixel_scale: bool = True,
    roi_start: _Floats | _Node | None = None,
    roi_end: _Floats | _Node | None = None,
    roi_relative: bool = False,
    interp_type: DALIInterpType | _Node | None = None,
    min_filter: DALIInterpType | _Node | None = None,
    mag_filter: DALIInterpType | _Node | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
    save_attrs: Literal[False] = False,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    minibatch_size: object = None,
    preserve: object = None,
    temp_buffer_hint: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the size of pictures.

    Args:
        data: Pictures.
        size: Height and width (depth before them for volumes); one number for all; 0 leaves an extent free.
        resize_x: Width.
        resize_y: Height.
        resize_z: Depth of volumes.
        resize_shorter: Length of the shorter side; the other follows.
        resize_longer: Length of the longer side; the other follows.
        mode: `default` gives free extents the scale of the others, `stretch` leaves them; `not_larger` and
            `not_smaller` keep the aspect ratio and take the extents as upper or lower bounds.
        max_size: Upper bounds of the result, one for all or one for each extent.
        subpixel_scale: Keep the exact scale where it gives a fraction of a pixel, instead of the exact edges.
        roi_start: Where the part to be resized begins, in the order of the axes.
        roi_end: Where it ends; before its start flips the picture.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        save_attrs: Give the old extents as a second result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def resize(
    data: _Data | _Constant,
    /,
    *,
    size: _Floats | _Node | None = None,
    resize_x: float | _Node | None = None,
    resize_y: float | _Node | None = None,
    resize_z: float | _Node | None = None,
    resize_shorter: float | _Node | None = None,
    resize_longer: float | _Node | None = None,
    mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
    max_size: _Floats | None = None,
    subpixel_scale: bool = True,
    roi_start: _Floats | _Node | None = None,
    roi_end: _Floats | _Node | None = None,
    roi_relative: bool = False,
    interp_type: DALIInterpType | _Node | None = None,
    min_filter: DALIInterpType | _Node | None = None,
    mag_filter: DALIInterpType | _Node | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
    save_attrs: Literal[True],
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    minibatch_size: object = None,
    preserve: object = None,
    temp_buffer_hint: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[_Data]:
    """Change the size of pictures.

    Args:
        data: Pictures.
        size: Height and width (depth before them for volumes); one number for all; 0 leaves an extent free.
        resize_x: Width.
        resize_y: Height.
        resize_z: Depth of volumes.
        resize_shorter: Length of the shorter side; the other follows.
        resize_longer: Length of the longer side; the other follows.
        mode: `default` gives free extents the scale of the others, `stretch` leaves them; `not_larger` and
            `not_smaller` keep the aspect ratio and take the extents as upper or lower bounds.
        max_size: Upper bounds of the result, one for all or one for each extent.
        subpixel_scale: Keep the exact scale where it gives a fraction of a pixel, instead of the exact edges.
        roi_start: Where the part to be resized begins, in the order of the axes.
        roi_end: Where it ends; before its start flips the picture.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        save_attrs: Give the old extents as a second result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def resize_crop_mirror(
    data: _Data | _Constant,
    /,
    *,
    size: _Floats | _Node | None = None,
    resize_x: float | _Node | None = None,
    resize_y: float | _Node | None = None,
    resize_z: float | _Node | None = None,
    resize_shorter: float | _Node | None = None,
    resize_longer: float | _Node | None = None,
    mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
    max_size: _Floats | None = None,
    subpixel_scale: bool = True,
    roi_start: _Floats | _Node | None = None,
    roi_end: _Floats | _Node | None = None,
    roi_relative: bool = False,
    interp_type: DALIInterpType | _Node | None = None,
    min_filter: DALIInterpType | _Node | None = None,
    mag_filter: DALIInterpType | _Node | None = None,
    antialias: bool = True,
    dtype: DALIDataType | None = None,
    crop: _Floats | _Node | None = None,
    crop_h: float | _Node | None = None,
    crop_w: float | _Node | None = None,
    crop_d: float | _Node | None = None,
    crop_pos_x: float | _Node = 0.5,
    crop_pos_y: float | _Node = 0.5,
    crop_pos_z: float | _Node = 0.5,
    rounding: Literal["round", "truncate"] = "round",
    mirror: int | _Node = 0,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    minibatch_size: object = None,
    preserve: object = None,
    temp_buffer_hint: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the size of pictures, then crop, then mirror, in one pass. Outside of the picture its edge is repeated.

    Args:
        data: Pictures.
        size: Height and width; one number for both; 0 leaves an extent free.
        resize_x: Width.
        resize_y: Height.
        resize_z: Depth of volumes.
        resize_shorter: Length of the shorter side; the other follows.
        resize_longer: Length of the longer side; the other follows.
        mode: What becomes of extents that are not given, as in `resize`.
        max_size: Upper bounds of the result, one for all or one for each extent.
        subpixel_scale: Keep the exact scale where it gives a fraction of a pixel, instead of the exact edges.
        roi_start: Where the part to be resized begins, in the order of the axes.
        roi_end: Where it ends; before its start flips the picture.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
        crop: Height and width of the window.
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: Its depth alone.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: Where it lies along the depth.
        rounding: How a position between pixels is brought to one.
        mirror: 1 swaps left and right, 2 top and bottom, 4 front and back of volumes; their sum does several.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def rotate(
    data: _Data | _Constant,
    /,
    *,
    angle: float | _Node,
    axis: _Floats | _Node | None = None,
    size: _Floats | _Node | None = None,
    keep_size: bool = False,
    fill_value: float | None = None,
    interp_type: DALIInterpType = DALIInterpType.INTERP_LINEAR,
    dtype: DALIDataType | None = None,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Rotate pictures about their centres; the result is large enough to hold the corners.

    Args:
        data: Pictures, or volumes.
        angle: In degrees; positive turns counter-clockwise.
        axis: The axis x, y, z that volumes turn about.
        size: Height and width of the result (depth before them for volumes).
        keep_size: Give the result the extents of `data`.
        fill_value: What lies outside of `data`; its edge is repeated when left out.
        interp_type: INTERP_LINEAR, or INTERP_NN, which never mixes values and so fits masks.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def saturation(
    data: _Data | _Constant,
    /,
    *,
    saturation: float | _Node = 1.0,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the saturation of pictures.

    Args:
        data: Pictures in red, green and blue.
        saturation: What the saturation is multiplied with; 0 leaves gray.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def slice(
    data: _Data | _Constant,
    anchor: DataNode | list[DataNode] | _Constant | None = None,
    extent: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    start: _Ints | _Node | None = None,
    end: _Ints | _Node | None = None,
    shape: _Ints | _Node | None = None,
    rel_start: _Floats | _Node | None = None,
    rel_end: _Floats | _Node | None = None,
    rel_shape: _Floats | _Node | None = None,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    out_of_bounds_policy: Literal["error", "pad", "constant", "trim_to_shape"] = "error",
    fill_values: _Floats | None = None,
    dtype: DALIDataType | None = None,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Cut out a part, by shares or by numbers of elements, along any axes.

    Args:
        data: Pictures or other arrays.
        anchor: Where the part begins, in the order of the axes; numbers with a fraction are shares.
        extent: How large it is.
        start: Where it begins, in elements.
        end: Where it ends, in elements.
        shape: How large it is, in elements.
        rel_start: Where it begins, as a share.
        rel_end: Where it ends, as a share.
        rel_shape: How large it is, as a share.
        axes: The axes that the other arguments mean, by number.
        axis_names: The same by name; `"WH"`, so x before y, when neither is given.
        normalized_anchor: Whether an anchor with a fraction is a share.
        normalized_shape: Whether an extent with a fraction is a share.
        out_of_bounds_policy: What to do with a part that leaves the array.
        fill_values: What `"pad"` puts outside, one value or one for each channel; 0 when left out.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def transpose(
    data: _Data | _Constant,
    /,
    *,
    perm: _Ints | None = None,
    transpose_layout: bool = True,
    output_layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Reorder the axes.

    Args:
        data: Any array.
        perm: The axis of `data` that each axis of the result is; all in reverse order when left out.
        transpose_layout: Reorder the names of the axes as well.
        output_layout: New names of the axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def warp_affine(
    data: _Data | _Constant,
    transform: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    matrix: _Floats | _Node | None = None,
    inverse_map: bool = True,
    size: _Floats | _Node | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = DALIInterpType.INTERP_LINEAR,
    dtype: DALIDataType | None = None,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Move pictures by an affine matrix: rotate, scale, shear and shift in one pass.

    Args:
        data: Pictures, or volumes.
        transform: The matrix as an input, one for each sample.
        matrix: 2 x 3 numbers in the order x, y (3 x 4 for volumes); places are counted from the corner of the first
            pixel.
        inverse_map: Whether the matrix maps places of the result to places of `data`, or the other way round.
        size: Height and width of the result (depth before them for volumes), those of `data` when left out.
        fill_value: What lies outside of `data`; its edge is repeated when left out.
        interp_type: INTERP_LINEAR, or INTERP_NN, which never mixes values and so fits masks.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
