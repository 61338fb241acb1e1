# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn: operators as functions."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.fn import decoders as decoders
from pixelmill.fn import encoders as encoders
from pixelmill.fn import experimental as experimental
from pixelmill.fn import io as io
from pixelmill.fn import noise as noise
from pixelmill.fn import random as random
from pixelmill.fn import readers as readers
from pixelmill.fn import reductions as reductions
from pixelmill.fn import segmentation as segmentation
from pixelmill.fn import transforms as transforms
from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, DALIDataType, DALIImageType, DALIInterpType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

def batch_permutation(
    *,
    allow_repetitions: bool = False,
    no_fixed_points: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Draw an order for the samples of a batch, to be given to `permute_batch`.

    Args:
        allow_repetitions: Whether a sample may be taken twice, and another not at all.
        no_fixed_points: Whether every sample must get another place.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def bb_flip(
    boxes: _Data | _Constant,
    /,
    *,
    ltrb: bool = False,
    horizontal: int | _Node = 1,
    vertical: int | _Node = 0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Mirror boxes, as `flip` mirrors the picture that they lie in.

    Args:
        boxes: Rows of four shares of the picture: x, y, width and height.
        ltrb: Whether the rows are left, top, right and bottom instead.
        horizontal: Swap left and right.
        vertical: Swap top and bottom.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def bbox_paste(
    boxes: _Data | _Constant,
    /,
    *,
    ratio: float | _Node,
    ltrb: bool = False,
    paste_x: float | _Node = 0.5,
    paste_y: float | _Node = 0.5,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Move boxes as `paste` moves the picture that they lie in.

    Args:
        boxes: Rows of four shares of the picture: x, y, width and height.
        ratio: How much larger the canvas is than the picture.
        ltrb: Whether the rows are left, top, right and bottom instead.
        paste_x: Where the picture lies: 0 at the left, 1 at the right.
        paste_y: Where it lies: 0 at the top, 1 at the bottom.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def bbox_rotate(
    boxes: _Data | _Constant,
    labels: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    angle: float | _Node,
    input_shape: _Ints | _Node,
    bbox_layout: Literal["xyXY", "xyWH"] = "xyXY",
    bbox_normalized: bool = True,
    keep_size: bool = False,
    mode: Literal["expand", "fixed", "halfway"] = "expand",
    remove_threshold: float = 0.1,
    shape_layout: str = "HW",
    size: _Floats | _Node | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Move boxes as `rotate` moves the picture that they lie in.

    Args:
        boxes: Rows of four numbers.
        labels: A label for each box; those of boxes that leave the picture are left out.
        angle: In degrees; positive turns counter-clockwise.
        input_shape: The shape of the picture before it is rotated.
        bbox_layout: The order of the four numbers: corners, or a corner and the extents.
        bbox_normalized: Whether they are shares of the picture, or pixels.
        keep_size: Whether the rotated picture keeps its extents.
        mode: `expand` gives boxes that hold the whole rotated box, `fixed` keeps their extents, `halfway` lies between.
        remove_threshold: Leave out boxes of which a smaller share than this lies in the rotated picture.
        shape_layout: The order of `input_shape`.
        size: Height and width of the rotated picture, where they were given to `rotate`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def box_encoder(
    boxes: _Data | _Constant,
    labels: DataNode | list[DataNode] | _Constant,
    /,
    *,
    anchors: _Floats,
    criteria: float = 0.5,
    offset: bool = False,
    scale: float = 1.0,
    means: _Floats = (0.0, 0.0, 0.0, 0.0),
    stds: _Floats = (1.0, 1.0, 1.0, 1.0),
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[_Data]:
    """Tell each anchor of an SSD detector which object it should find: centre and extents, and the label.

    Args:
        boxes: Rows of left, top, right and bottom.
        labels: A label for each box.
        anchors: Left, top, right and bottom of all anchors, one after the other.
        criteria: How much an anchor and a box must overlap, divided by their union, to be matched.
        offset: Give boxes relative to their anchors: `((box - anchor) / extent of the anchor - mean) / std`.
        scale: What boxes and anchors are multiplied with before.
        means: What is taken away from x, y, width and height.
        stds: What they are divided by.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

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

def cast_like(
    data: _Data | _Constant,
    like: DataNode | list[DataNode] | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the type of the elements to that of another value, as `cast` does.

    Args:
        data: Any array.
        like: A value of the type that is wanted.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def cat(
    *inputs: DataNode | _Constant,
    axis: int | None = None,
    axis_name: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Join arrays along an axis.

    Args:
        inputs: Arrays of one type and number of axes.
        axis: The axis, by number; the first when left out.
        axis_name: The same by name.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def clahe(
    data: _Data | _Constant,
    /,
    *,
    tiles_x: int,
    tiles_y: int,
    clip_limit: float,
    luma_only: bool = True,
    bins: int = 256,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Spread the levels tile by tile, with limited contrast (CLAHE), and blend the tiles.

    Args:
        data: Pictures of type uint8 with one channel, or with red, green and blue.
        tiles_x: How many tiles there are in a row.
        tiles_y: How many tiles there are in a column.
        clip_limit: How often a level may occur in a tile, in multiples of the mean of all levels; 0 for no limit.
        luma_only: Change the lightness of colours alone (in L*a*b*), not each of red, green and blue.
        bins: How many levels are told apart, a power of two; all 256 are.
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

def constant(
    *,
    fdata: _Floats | None = None,
    idata: _Ints | None = None,
    shape: _Ints | None = None,
    dtype: DALIDataType | None = None,
    layout: str = "",
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Give the same array for every sample; `types.Constant` is the easier way to it.

    Args:
        fdata: The elements as floats.
        idata: The elements as integers, instead.
        shape: The shape; a single element is repeated.
        dtype: Type of the elements; float or int32 when left out.
        layout: Names of the axes.
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

def coord_flip(
    points: _Data | _Constant,
    /,
    *,
    flip_x: int | _Node = 1,
    flip_y: int | _Node = 0,
    flip_z: int | _Node = 0,
    center_x: float | _Node = 0.5,
    center_y: float | _Node = 0.5,
    center_z: float | _Node = 0.5,
    layout: str = "",
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Mirror points, as `flip` mirrors the picture that they lie in.

    Args:
        points: Rows of coordinates.
        flip_x: Swap left and right.
        flip_y: Swap top and bottom.
        flip_z: Swap front and back.
        center_x: The middle of the picture along x.
        center_y: The middle along y.
        center_z: The middle along z.
        layout: The order of the coordinates; `"xy"` for two of them when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def coord_transform(
    points: _Data | _Constant,
    /,
    *,
    M: _Floats | _Node | None = None,
    T: _Floats | _Node | None = None,
    MT: _Floats | _Node | None = None,
    dtype: DALIDataType = DALIDataType.FLOAT,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Move points by a matrix and a shift: `M * point + T`.

    Args:
        points: Rows of coordinates.
        M: The matrix, row by row; one number stands for that number on the diagonal. Nothing changes when left out.
        T: The shift; one number stands for all.
        MT: Matrix and shift as one table, the shift in its last column.
        dtype: Type of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def copy(
    data: _Data | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give the same value.

    Args:
        data: Any array.
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
    height: float | _Node | None = None,
    width: float | _Node | None = None,
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
def dl_tensor_python_function(
    *inputs: DataNode | _Constant,
    function: Any,
    num_outputs: Literal[1] = 1,
    batch_processing: bool = True,
    output_layouts: Any = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    synchronize_stream: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Call a Python function in the middle of a graph. It gets and gives DLPack capsules.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function. It may also give arrays that can be turned into capsules.
        num_outputs: How many capsules it gives.
        batch_processing: Call it once with lists of capsules, one for each sample, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def dl_tensor_python_function(
    *inputs: DataNode | _Constant,
    function: Any,
    num_outputs: int,
    batch_processing: bool = True,
    output_layouts: Any = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    synchronize_stream: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Call a Python function in the middle of a graph. It gets and gives DLPack capsules.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function. It may also give arrays that can be turned into capsules.
        num_outputs: How many capsules it gives.
        batch_processing: Call it once with lists of capsules, one for each sample, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def element_extract(
    data: _Data | _Constant,
    /,
    *,
    element_map: _Ints,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Take single elements of sequences: frames of a video, say.

    Args:
        data: Sequences; where the axes have names, the first must be `F`.
        element_map: The numbers of the elements; there is a result for each.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def equalize(
    data: _Data | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Spread the levels of every channel so that all occur about equally often.

    Args:
        data: Pictures of type uint8.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def erase(
    data: _Data | _Constant,
    /,
    *,
    anchor: _Floats | _Node | None = None,
    shape: _Floats | _Node | None = None,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    fill_value: _Floats | _Node = (0.0,),
    normalized: bool | None = None,
    normalized_anchor: bool | None = None,
    normalized_shape: bool | None = None,
    centered_anchor: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Blot out rectangles.

    Args:
        data: Pictures or other arrays.
        anchor: Where the rectangles begin; all numbers of one come before those of the next.
        shape: How large they are.
        axes: The axes that `anchor` and `shape` mean, by number.
        axis_names: The same by name; all axes but the channels when neither is given.
        fill_value: What is put there, one value or one for each channel.
        normalized: Whether `anchor` and `shape` are shares.
        normalized_anchor: Whether `anchor` is.
        normalized_shape: Whether `shape` is.
        centered_anchor: Whether `anchor` is the centre of a rectangle.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def expand_dims(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints,
    new_axis_names: str = "",
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Put in axes of extent 1.

    Args:
        data: Any array.
        axes: The places that the new axes have in the result.
        new_axis_names: The names of the new axes; without them the result has no names.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def external_source(
    source: Any = None,
    num_outputs: None = None,
    *,
    cycle: Literal["no", "quiet", "raise", False, True] | None = None,
    batch: bool | None = None,
    batch_info: bool = False,
    layout: Any = None,
    dtype: Any = None,
    ndim: Any = None,
    repeat_last: bool = False,
    no_copy: bool | None = None,
    blocking: object = None,
    bytes_per_sample_hint: object = None,
    cuda_stream: object = None,
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
        no_copy: Read the arrays where they are; whoever gave them does not change them until their batch is there.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

@overload
def external_source(
    source: Any = None,
    *,
    num_outputs: int,
    cycle: Literal["no", "quiet", "raise", False, True] | None = None,
    batch: bool | None = None,
    batch_info: bool = False,
    layout: Any = None,
    dtype: Any = None,
    ndim: Any = None,
    repeat_last: bool = False,
    no_copy: bool | None = None,
    blocking: object = None,
    bytes_per_sample_hint: object = None,
    cuda_stream: object = None,
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
        no_copy: Read the arrays where they are; whoever gave them does not change them until their batch is there.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def filter(
    data: _Data | _Constant,
    filter: DataNode | list[DataNode] | _Constant,
    fill_value: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    anchor: _Ints | _Node = (-1,),
    border: Literal["reflect_101", "reflect_1001", "clamp", "wrap", "constant"] = "reflect_101",
    mode: Literal["same", "valid"] = "same",
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Weigh every pixel with its neighbours by a filter of two dimensions, which is not mirrored (a correlation).

    Args:
        data: Pictures.
        filter: The weights, rows of columns; for frames, one filter for all or one for each.
        fill_value: What lies beyond the edges with `border="constant"`; 0 when left out.
        anchor: The place of the filter that lies over the pixel, row and column; -1 is its middle.
        border: What lies beyond the edges: `"reflect_101"` (dcb|abcd|cba), `"reflect_1001"` (cba|abcd|dcb), `"clamp"`
            (aaa|abcd|ddd), `"wrap"` (bcd|abcd|abc) or `"constant"`.
        mode: `"same"` keeps the size, `"valid"` leaves out the places where the filter passes the edges.
        dtype: Type of the result: that of `data`, or FLOAT.
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

def full(
    fill_value: _Data | _Constant,
    /,
    *,
    shape: _Ints | _Node | None = None,
    layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give an array with a value in all places.

    Args:
        fill_value: A number, or an array that is stretched to the shape.
        shape: The shape; a single number when left out.
        layout: Names of the axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def full_like(
    data_like: _Data | _Constant,
    fill_value: DataNode | list[DataNode] | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give an array like another, with a value in all places.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        fill_value: A number, or an array that is stretched to the shape; rounded and cut to the type.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def gaussian_blur(
    data: _Data | _Constant,
    /,
    *,
    sigma: _Floats | _Node = (0.0,),
    window_size: _Ints | _Node = (0,),
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Blur pictures or volumes with a Gaussian bell; beyond the edges they are mirrored.

    Frames and channels are not blurred together; without a layout, all axes are.

    Args:
        data: Pictures, volumes or single rows, of any type.
        sigma: Width of the bell in pixels, one for all axes of space or one for each. 0 stands for the one that fits
            the window: `0.3 * ((window_size - 1) / 2 - 1) + 0.8`.
        window_size: How many pixels the bell is cut to, an odd number. 0 stands for `2 * ceil(3 * sigma) + 1`.
        dtype: Type of the result: that of `data`, or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def get_property(
    data: _Data | _Constant,
    /,
    *,
    key: Literal["source_info", "layout"],
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give what is known about each sample beside its elements, as bytes.

    Args:
        data: Any value.
        key: `"source_info"` for where the sample came from, `"layout"` for the names of its axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def grid_mask(
    data: _Data | _Constant,
    /,
    *,
    tile: int | _Node = 100,
    ratio: float | _Node = 0.5,
    angle: float | _Node = 0.0,
    shift_x: float | _Node = 0.0,
    shift_y: float | _Node = 0.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Black out a grid of squares.

    Args:
        data: Pictures.
        tile: The distance of the squares.
        ratio: How much of that distance a square takes.
        angle: By how much the grid is turned, in radians.
        shift_x: How far it is moved to the right afterwards.
        shift_y: How far it is moved down.
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

def jpeg_compression_distortion(
    data: _Data | _Constant,
    /,
    *,
    quality: int | _Node = 50,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give pictures the marks of JPEG: they are written as such, with half the resolution of colours, and read again.

    Args:
        data: Pictures of type uint8 in red, green and blue.
        quality: From 1, the worst, to 100; what is outside is taken for the nearest.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def laplacian(
    data: _Data | _Constant,
    /,
    *,
    window_size: _Ints | _Node = (3,),
    smoothing_size: _Ints | _Node | None = None,
    scale: _Floats | _Node | None = None,
    normalized_kernel: bool = False,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Add up the second derivatives along all axes of space; beyond the edges data are mirrored.

    Args:
        data: Pictures, volumes or single rows.
        window_size: How many pixels a derivative is taken over: odd, from 3 to 23, one for all axes or one for each.
        smoothing_size: How many pixels are smoothed over along the other axes: odd, from 1, which smooths nothing, to
            23; that of the derivative when left out.
        scale: What each derivative is multiplied with, one number for all or one for each; 1 when left out.
        normalized_kernel: Scale each derivative so that its weights do not grow with the windows.
        dtype: Type of the result: that of `data`, or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def lookup_table(
    data: _Data | _Constant,
    /,
    *,
    keys: _Ints = (),
    values: _Floats = (),
    default_value: float = 0.0,
    dtype: DALIDataType = DALIDataType.FLOAT,
    output_dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Replace integers by the values that a table has for them.

    Args:
        data: Integers.
        keys: The integers in the table; of one that is there twice, the last counts.
        values: A value for each key.
        default_value: The value of all other integers.
        dtype: Type of the result; values are rounded and cut to it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def multi_paste(
    *data: DataNode | _Constant,
    in_ids: _Ints | _Node | None = None,
    output_size: _Ints | _Node | None = None,
    in_anchors: _Ints | _Node | None = None,
    in_anchors_rel: _Floats | _Node | None = None,
    shapes: _Ints | _Node | None = None,
    shapes_rel: _Floats | _Node | None = None,
    out_anchors: _Ints | _Node | None = None,
    out_anchors_rel: _Floats | _Node | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Put parts of several pictures onto one canvas; later ones lie on earlier ones, and the rest is 0.

    The pictures are the inputs, or, with `in_ids`, samples of one input's batch.

    Args:
        data: Pictures, one of each input for a canvas.
        in_ids: Which samples of the batch are put onto a canvas.
        output_size: Height and width of the canvas, those of the pictures when left out.
        in_anchors: Where the parts begin in their pictures: two numbers (y, x) for each.
        in_anchors_rel: The same as shares of the pictures.
        shapes: Height and width of the parts; they reach to the end of their pictures when left out.
        shapes_rel: The same as shares of the pictures.
        out_anchors: Where the parts are put on the canvas.
        out_anchors_rel: The same as shares of the canvas.
        dtype: Type of the result, that of the pictures when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def normalize(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    mean: float | _Node | None = None,
    stddev: float | _Node | None = None,
    batch: bool = False,
    ddof: int = 0,
    epsilon: float = 0.0,
    scale: float = 1.0,
    shift: float = 0.0,
    dtype: DALIDataType = DALIDataType.FLOAT,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Take away the mean and divide by the standard deviation: `scale * (x - mean) / stddev + shift`.

    Args:
        data: Any array of numbers.
        axes: The axes that mean and deviation are taken along; all when left out, or those along which a mean or
            deviation that is given as an array has extent 1.
        axis_names: The same by name.
        mean: The mean: a number, or an array of as many axes as `data`; found in the data when left out.
        stddev: The standard deviation, likewise.
        batch: Take mean and deviation over all samples of a batch.
        ddof: What is taken from the number of elements before the sum of squares is divided by it.
        epsilon: What is added to the variance.
        scale: What the result is multiplied with.
        shift: What is added at last.
        dtype: Type of the result; it is rounded and cut to it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def one_hot(
    data: _Data | _Constant,
    /,
    *,
    num_classes: int = 0,
    axis: int | None = None,
    axis_name: str | None = None,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DALIDataType = DALIDataType.FLOAT,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Turn class numbers into rows with one value for the class and another for all others.

    Single numbers become one row. So do arrays with one element, where all samples of a batch are such and `axis` is
    left out.

    Args:
        data: Class numbers; one outside of the classes gives a row without a class.
        num_classes: The number of classes.
        axis: The place of the new axis; the last when left out.
        axis_name: The name of the new axis; without it the result has no names.
        on_value: What stands in the place of the class.
        off_value: What stands in all other places.
        dtype: Type of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def ones(
    *,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType = DALIDataType.INT32,
    layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Give an array of ones.

    Args:
        shape: The shape; a single number when left out.
        dtype: Type of the elements.
        layout: Names of the axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def ones_like(
    data_like: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give an array of ones like another.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        dtype: Another type.
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

def paste(
    data: _Data | _Constant,
    /,
    *,
    fill_value: _Floats,
    ratio: float | _Node,
    n_channels: int | None = None,
    paste_x: float | _Node = 0.5,
    paste_y: float | _Node = 0.5,
    min_canvas_size: float | _Node = 0.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Put pictures onto larger canvases.

    Args:
        data: Pictures.
        fill_value: The colour of the canvas, one value or one for each channel.
        ratio: How much larger the canvas is than the picture.
        n_channels: How many values `fill_value` has.
        paste_x: Where the picture lies: 0 at the left, 1 at the right.
        paste_y: Where it lies: 0 at the top, 1 at the bottom.
        min_canvas_size: The least height and width of the canvas.
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

def per_frame(
    data: _Data | _Constant,
    /,
    *,
    replace: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Mark an array as a sequence: the first letter of its layout becomes F.

    Args:
        data: Any array.
        replace: Whether to replace a first letter other than F; by default that is an error.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def permute_batch(
    data: _Data | _Constant,
    /,
    *,
    indices: _Ints | _Node,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Take samples of the batch in another order; some may be taken twice, others not at all.

    Args:
        data: Any array.
        indices: For each place of the batch, the sample that is put there: a list, or a number for each sample.
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
    output_layouts: Any = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Call a Python function in the middle of a graph. It gets and gives NumPy arrays.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many arrays it gives.
        batch_processing: Call it once with lists of samples, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
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
    output_layouts: Any = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Call a Python function in the middle of a graph. It gets and gives NumPy arrays.

    In a branch of a condition it is called for the samples that take the branch.

    Args:
        inputs: What the function is called with.
        function: The function.
        num_outputs: How many arrays it gives.
        batch_processing: Call it once with lists of samples, instead of for every sample.
        output_layouts: Names of the axes of the results; one string or one for each of them.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def random_bbox_crop(
    boxes: _Data | _Constant,
    labels: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    thresholds: _Floats = (0.0,),
    threshold_type: Literal["iou", "overlap"] = "iou",
    aspect_ratio: _Floats | None = None,
    scaling: _Floats | None = None,
    allow_no_crop: bool | None = None,
    num_attempts: int = 1,
    total_num_attempts: int = -1,
    all_boxes_above_threshold: bool = True,
    bbox_prune_threshold: float | None = None,
    bbox_layout: str | None = None,
    ltrb: bool | None = None,
    crop_shape: _Ints | _Node | None = None,
    input_shape: _Ints | _Node | None = None,
    shape_layout: str | None = None,
    output_bbox_indices: bool = False,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    quiet: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[_Data]:
    """Draw a window that keeps enough of the boxes, for `slice`; and move the boxes into it.

    Gives the first corner (x, y) and the extents (width, height) of the window, the boxes that are left, their labels
    and their numbers. A search that finds no window ends after 100000 attempts with the best one.

    Args:
        boxes: Rows of shares of the picture; four numbers, or six for volumes.
        labels: A label for each box.
        thresholds: How much of the boxes must lie in the window; one of these is drawn, then a window.
        threshold_type: How that is measured: overlap divided by union, or by the box.
        aspect_ratio: Smallest and largest width divided by height, of shares, or of pixels where `input_shape` is
            given; for volumes also width by depth and height by depth. Both are 1 when left out.
        scaling: Smallest and largest extent of the window, as shares of the picture; the whole one when left out.
        allow_no_crop: Let "the whole picture" be one more choice among the thresholds; so it is when left out.
        num_attempts: How many windows to draw before another threshold is.
        total_num_attempts: How many windows to draw in all; then the best one is taken.
        all_boxes_above_threshold: Whether every box must reach the threshold, or one.
        bbox_prune_threshold: Keep boxes of which this share is left; those whose centre is left when not given.
        bbox_layout: The order of the numbers of a box: `"xyXY"`, `"xyWH"` or a permutation; with z for volumes.
        ltrb: An older way to say `"xyXY"` or `"xyWH"`.
        crop_shape: Extents of the window in pixels, instead of shares.
        input_shape: Extents of the picture in pixels.
        shape_layout: The order of these extents, `"WH"` when left out.
        output_bbox_indices: Give the numbers of the boxes that are left.
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

def reinterpret(
    data: _Data | _Constant,
    shape_input: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    shape: _Ints | _Node | None = None,
    rel_shape: _Floats | _Node | None = None,
    src_dims: _Ints | _Node | None = None,
    layout: str | None = None,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Take the bytes of the elements for elements of another type or shape.

    Args:
        data: Any array.
        shape_input: The shape, as an input.
        shape: The shape; one extent may be -1 and is then found.
        rel_shape: The shape as shares of the old one; one may be -1.
        src_dims: The old axis whose extent each new axis gets, -1 for extent 1.
        layout: New names of the axes; the old ones are kept where their number is, when left out.
        dtype: The type that the bytes are taken for; without a shape, the last extent changes with it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def reshape(
    data: _Data | _Constant,
    shape_input: DataNode | list[DataNode] | _Constant | None = None,
    /,
    *,
    shape: _Ints | _Node | None = None,
    rel_shape: _Floats | _Node | None = None,
    src_dims: _Ints | _Node | None = None,
    layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Take the elements, in their order, for an array of another shape.

    Args:
        data: Any array.
        shape_input: The shape, as an input.
        shape: The shape; one extent may be -1 and is then found.
        rel_shape: The shape as shares of the old one; one may be -1.
        src_dims: The old axis whose extent each new axis gets, -1 for extent 1.
        layout: New names of the axes; the old ones are kept where their number is, when left out.
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

def roi_random_crop(
    data: _Data | _Constant | None = None,
    /,
    *,
    crop_shape: _Ints | _Node,
    roi_start: _Ints | _Node,
    roi_end: _Ints | _Node | None = None,
    roi_shape: _Ints | _Node | None = None,
    in_shape: _Ints | _Node | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Draw where a window begins that covers as much of a region as it can.

    Args:
        data: The picture, for its shape; the window does not leave it.
        crop_shape: Extents of the window.
        roi_start: Where the region begins.
        roi_end: Where it ends.
        roi_shape: Its extents, instead of its end.
        in_shape: The shape of the picture, instead of `data`.
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

def sequence_rearrange(
    data: _Data | _Constant,
    /,
    *,
    new_order: _Ints | _Node,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Reorder, repeat or drop the frames of a sequence.

    Args:
        data: Sequences.
        new_order: The frames of the result, by their numbers in `data`; at least one.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def shapes(
    data: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType = DALIDataType.INT64,
    type: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give the extents of each sample.

    Args:
        data: Any array.
        dtype: Type of the numbers.
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

def sphere(
    data: _Data | _Constant,
    /,
    *,
    mask: int | _Node = 1,
    interp_type: DALIInterpType = DALIInterpType.INTERP_NN,
    fill_value: float = 0.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Bend pictures as if they were on a ball.

    Args:
        data: Pictures of type uint8 or float.
        mask: Whether to do so; 0 leaves the picture as it is.
        interp_type: How pixels between pixels are found: INTERP_NN or INTERP_LINEAR.
        fill_value: What lies outside of the picture.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def squeeze(
    data: _Data | _Constant,
    /,
    *,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Leave out axes of extent 1.

    Args:
        data: Any array.
        axes: The axes to leave out, by number.
        axis_names: The same by name.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def stack(
    *inputs: DataNode | _Constant,
    axis: int = 0,
    axis_name: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Join arrays of one shape along a new axis.

    Args:
        inputs: Arrays of one type and shape.
        axis: The place of the new axis in the result.
        axis_name: The name of the new axis; without it the result has no names.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def tensor_resize(
    data: _Data | _Constant,
    /,
    *,
    sizes: _Floats | _Node | None = None,
    scales: _Floats | _Node | None = None,
    axes: _Ints | None = None,
    axis_names: str | None = None,
    mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
    alignment: _Floats | _Node | None = None,
    size_rounding: Literal["round", "truncate", "ceil"] = "round",
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
    bytes_per_sample_hint: object = None,
    image_type: object = None,
    minibatch_size: object = None,
    preserve: object = None,
    temp_buffer_hint: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Change the extents of arrays, along up to three axes that lie side by side.

    Args:
        data: Any array.
        sizes: New extents, one for all axes or one for each.
        scales: What the old extents are multiplied with, instead of `sizes`.
        axes: The axes that the other arguments mean, by number; all when left out.
        axis_names: The same by name.
        mode: What becomes of extents that are 0, as in `resize`.
        alignment: The point that stays where it is when a new extent is rounded: 0 the start, 1 the end; 0.5 when left
            out.
        size_rounding: How a new extent is brought to a whole number.
        max_size: Upper bounds of the result.
        subpixel_scale: Keep the exact scale where it gives a fraction of an element, instead of the exact edges.
        roi_start: Where the part to be resized begins.
        roi_end: Where it ends; before its start turns the axis round.
        roi_relative: Whether that part is told as shares.
        interp_type: The filter, linear when left out.
        min_filter: The filter for making smaller.
        mag_filter: The filter for making larger.
        antialias: Widen the filter when making smaller so that nothing is left out.
        dtype: Type of the result: that of `data`, or FLOAT.
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
        matrix: 2 x 3 numbers in the order x, y (3 x 4 for volumes); places are counted from the first pixel's corner.
        inverse_map: Whether the matrix maps places of the result to places of `data`, or the other way round.
        size: Height and width of the result (depth before them for volumes), those of `data` when left out.
        fill_value: What lies outside of `data`; its edge is repeated when left out.
        interp_type: INTERP_LINEAR, or INTERP_NN, which never mixes values and so fits masks.
        dtype: Type of the result, that of `data` when left out.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def water(
    data: _Data | _Constant,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    freq_x: float = 0.04908738521234052,
    freq_y: float = 0.04908738521234052,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    mask: int | _Node = 1,
    interp_type: DALIInterpType = DALIInterpType.INTERP_NN,
    fill_value: float = 0.0,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Bend pictures as if they were seen through water: by a sine wave across and a cosine wave down.

    Args:
        data: Pictures of type uint8 or float.
        ampl_x: How far pixels are moved across, in pixels.
        ampl_y: How far they are moved down.
        freq_x: By how much the wave across goes on from row to row, in radians; a turn takes 128 when left out.
        freq_y: By how much the wave down goes on from column to column.
        phase_x: Where the wave across begins.
        phase_y: Where the wave down begins.
        mask: Whether to do so; 0 leaves the picture as it is.
        interp_type: How pixels between pixels are found: INTERP_NN or INTERP_LINEAR.
        fill_value: What lies outside of the picture.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def zeros(
    *,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType = DALIDataType.INT32,
    layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Give an array of zeros.

    Args:
        shape: The shape; a single number when left out.
        dtype: Type of the elements.
        layout: Names of the axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def zeros_like(
    data_like: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Give an array of zeros like another.

    Args:
        data_like: Where shape, type and names of axes are taken from.
        dtype: Another type.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

coco_reader = readers.coco
coin_flip = random.coin_flip
file_reader = readers.file
image_decoder = decoders.image
image_decoder_crop = decoders.image_crop
image_decoder_random_crop = decoders.image_random_crop
image_decoder_slice = decoders.image_slice
mxnet_reader = readers.mxnet
normal_distribution = random.normal
numpy_reader = readers.numpy
tfrecord_reader = readers.tfrecord
transform_translation = transforms.translation
uniform = random.uniform
