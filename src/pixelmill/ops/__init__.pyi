# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops: operators as classes."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.operators import Operator
from pixelmill.ops import decoders as decoders
from pixelmill.ops import encoders as encoders
from pixelmill.ops import experimental as experimental
from pixelmill.ops import io as io
from pixelmill.ops import noise as noise
from pixelmill.ops import random as random
from pixelmill.ops import readers as readers
from pixelmill.ops import reductions as reductions
from pixelmill.ops import segmentation as segmentation
from pixelmill.ops import transforms as transforms
from pixelmill.types import ArrayConstant, DALIDataType, DALIImageType, DALIInterpType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

class OperatorClass:
    """An operator with its constant arguments, to be called with its inputs."""

    spec: ClassVar[Operator]

class Compose:
    """Several operators in a row, to be called like one."""

    def __init__(self, op_list: Sequence[Callable[..., Any]]) -> None: ...
    def __call__(self, *inputs: Any, **arguments: Any) -> Any: ...

class BatchPermutation(OperatorClass):
    """Draw a random order of the samples in a batch, for use with `permute_batch`.

    Args:
        allow_repetitions: Whether a sample may occur several times, and others not at all.
        no_fixed_points: Whether every sample must move to another position.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        allow_repetitions: bool = False,
        no_fixed_points: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *,
        name: str | None = None,
    ) -> DataNode: ...

class BbFlip(OperatorClass):
    """Flip boxes the way `flip` flips the image that they belong to.

    Args:
        ltrb: Whether boxes are left, top, right and bottom instead.
        horizontal: Whether to swap left and right.
        vertical: Whether to swap top and bottom.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        ltrb: bool = False,
        horizontal: int = 1,
        vertical: int = 0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        boxes: _Data | _Constant,
        /,
        *,
        horizontal: int | _Node | None = None,
        vertical: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class BBoxPaste(OperatorClass):
    """Move boxes the way `paste` moves the image that they belong to.

    Args:
        ratio: Size of the canvas relative to the image; at least 1.
        ltrb: Whether boxes are left, top, right and bottom instead.
        paste_x: Horizontal position of the image on the canvas: 0 is the left edge, 1 the right edge.
        paste_y: Vertical position of the image on the canvas: 0 is the top edge, 1 the bottom edge.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        ratio: float | None = None,
        ltrb: bool = False,
        paste_x: float = 0.5,
        paste_y: float = 0.5,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        boxes: _Data | _Constant,
        /,
        *,
        ratio: float | _Node | None = None,
        paste_x: float | _Node | None = None,
        paste_y: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class BBoxRotate(OperatorClass):
    """Rotate boxes the way `rotate` rotates the image that they belong to.

    Args:
        angle: Rotation angle in degrees; positive angles rotate counterclockwise.
        input_shape: The shape of the image before the rotation.
        bbox_layout: Whether a box is two corners (`"xyXY"`) or a corner with width and height (`"xyWH"`).
        bbox_normalized: Whether boxes are fractions of the image size instead of pixels.
        keep_size: Whether the rotated image keeps the size of the input.
        mode: Size of the result: `expand` encloses the whole rotated box, `fixed` keeps its size, `halfway` is the mean
            of both.
        remove_threshold: Remove boxes with a smaller fraction than this inside the rotated image.
        shape_layout: The layout of `input_shape`.
        size: Height and width of the rotated image, if `rotate` was called with `size`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        angle: float | None = None,
        input_shape: _Ints | None = None,
        bbox_layout: Literal["xyXY", "xyWH"] = "xyXY",
        bbox_normalized: bool = True,
        keep_size: bool = False,
        mode: Literal["expand", "fixed", "halfway"] = "expand",
        remove_threshold: float = 0.1,
        shape_layout: str = "HW",
        size: _Floats | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        boxes: _Data | _Constant,
        labels: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        angle: float | _Node | None = None,
        input_shape: _Ints | _Node | None = None,
        size: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> Any: ...

class BoxBlur(OperatorClass):
    """Blur with a square of equal weights; the border is reflected.

    Args:
        size: Side of the square in pixels; even sizes are enlarged by one.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        size: int = 3,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        size: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class BoxEncoder(OperatorClass):
    """Match boxes to the anchors of an SSD detector; return a box (center and size) and a label for each anchor.

    Args:
        anchors: Left, top, right and bottom of all anchors, as one flat list.
        criteria: The smallest intersection over union at which an anchor and a box match.
        offset: Whether to encode boxes relative to their anchors: centers as `((center - anchor center) / anchor size -
            mean) / std`, sizes as `(log(size / anchor size) - mean) / std`.
        scale: Factor applied to boxes and anchors before the offsets are computed; only with `offset`.
        means: Values subtracted from the offsets of x, y, width and height.
        stds: Values that the offsets are divided by.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        boxes: _Data | _Constant,
        labels: DataNode | list[DataNode] | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> list[_Data]: ...

class Brightness(OperatorClass):
    """Adjust the brightness: `brightness_shift * range + brightness * x`.

    Args:
        brightness: Factor that every value is multiplied by.
        brightness_shift: Offset, as a fraction of the range: the largest value of the result's type, or 1 for floats.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        brightness: float = 1.0,
        brightness_shift: float = 0.0,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        brightness: float | _Node | None = None,
        brightness_shift: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class BrightnessContrast(OperatorClass):
    """Adjust brightness and contrast: `brightness_shift * range + brightness * (c + contrast * (x - c))`.

    Here `c` is `contrast_center`, and the range is the largest value of the result's type, or 1 for floats.

    Args:
        brightness: Factor that every value is multiplied by.
        brightness_shift: Offset, as a fraction of the range.
        contrast: Factor for the distance from `contrast_center`: 1 changes nothing, 0 produces a uniform gray.
        contrast_center: The value that contrast leaves unchanged. If None, half the range of the type of `data`, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        brightness: float = 1.0,
        brightness_shift: float = 0.0,
        contrast: float = 1.0,
        contrast_center: float | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        brightness: float | _Node | None = None,
        brightness_shift: float | _Node | None = None,
        contrast: float | _Node | None = None,
        contrast_center: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Cast(OperatorClass):
    """Convert the element type. Values are rounded and clamped to the range of the new type.

    Args:
        dtype: The new type.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        dtype: DALIDataType,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class CastLike(OperatorClass):
    """Convert the element type to that of another value, as `cast` does.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        like: DataNode | list[DataNode] | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Cat(OperatorClass):
    """Concatenate arrays along an existing axis.

    Args:
        axis: The axis, by index; the first if None.
        axis_name: The same axis by layout letter.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axis: int | None = None,
        axis_name: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *inputs: DataNode | _Constant,
        name: str | None = None,
    ) -> DataNode: ...

class ChannelDropout(OperatorClass):
    """Set channels to 0.

    Args:
        drop: Whether each channel is dropped.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        drop: _Ints = (0, 0, 1),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        drop: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ChannelShuffle(OperatorClass):
    """Take the channels in another order.

    Args:
        order: For each channel of the result, the number of the one it is taken from.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        order: _Ints = (2, 1, 0),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        order: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Clahe(OperatorClass):
    """Apply contrast-limited adaptive histogram equalization (CLAHE), tile by tile with blended borders.

    Args:
        tiles_x: Number of tiles per row.
        tiles_y: Number of tiles per column.
        clip_limit: Largest count of a level in a tile, as a multiple of the mean count; 0 for no limit.
        luma_only: Whether to equalize only the lightness (L* of L*a*b*) instead of red, green and blue separately.
        bins: Number of histogram bins, a power of two. Accepted for compatibility; all 256 levels are always used.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class CoarseDropout(OperatorClass):
    """Fill random rectangles; one of them is known as cutout.

    Args:
        holes: How many: the smallest and the largest number, or one number.
        height: Height of each as a fraction of that of the image: the smallest and the largest, or one number.
        width: The same for the width.
        fill_value: Value of the filled pixels: one, or one per channel.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        holes: _Ints = (1, 8),
        height: _Floats = (0.05, 0.15),
        width: _Floats = (0.05, 0.15),
        fill_value: _Floats = (0.0,),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        holes: _Ints | _Node | None = None,
        height: _Floats | _Node | None = None,
        width: _Floats | _Node | None = None,
        fill_value: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ColorJitter(OperatorClass):
    """Change brightness, contrast, saturation and hue in any order, in one pass without rounding in between.

    Args:
        brightness: Factor that every value is multiplied by.
        contrast: Factor for the distance from the center, which is 128, or 0.5 for floats.
        saturation: Factor for the distance from gray; 0 produces grayscale.
        hue: Rotation about the gray axis, in degrees.
        order: The order of the changes: 0 is brightness, 1 contrast, 2 saturation, 3 hue.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        brightness: float = 1.0,
        contrast: float = 1.0,
        saturation: float = 1.0,
        hue: float = 0.0,
        order: _Ints = (0, 1, 2, 3),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        brightness: float | _Node | None = None,
        contrast: float | _Node | None = None,
        saturation: float | _Node | None = None,
        hue: float | _Node | None = None,
        order: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ColorSpaceConversion(OperatorClass):
    """Convert between RGB, BGR, GRAY and YCbCr (BT.601 with luma from 16 to 235).

    Args:
        image_type: Color space of the input.
        output_type: Color space of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        image_type: DALIImageType,
        output_type: DALIImageType,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class ColorTwist(OperatorClass):
    """Adjust hue, saturation, contrast and brightness in one step, without intermediate rounding.

    Args:
        hue: Hue rotation in degrees.
        saturation: Factor that the saturation is multiplied by.
        contrast: Factor for the distance from the center, which is 128, or 0.5 for floats.
        brightness: Factor that every value is multiplied by.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        hue: float = 0.0,
        saturation: float = 1.0,
        contrast: float = 1.0,
        brightness: float = 1.0,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        hue: float | _Node | None = None,
        saturation: float | _Node | None = None,
        contrast: float | _Node | None = None,
        brightness: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Constant(OperatorClass):
    """Produce the same array for every sample. `types.Constant` is the simpler alternative.

    Args:
        fdata: The elements as floats.
        idata: The elements as integers, as an alternative to `fdata`.
        shape: The shape of the result; a single element is repeated. One axis if None.
        dtype: Element type; if None, float for `fdata` and int32 for `idata`.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        *,
        name: str | None = None,
    ) -> DataNode: ...

class Contrast(OperatorClass):
    """Adjust the contrast: `contrast_center + contrast * (x - contrast_center)`.

    Args:
        contrast: Factor for the distance from `contrast_center`: 1 changes nothing, 0 produces a uniform gray.
        contrast_center: The value that contrast leaves unchanged. If None, half the range of the type of `data`, which
            is 128 for uint8, 16384 for int16 and 0.5 for float.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        contrast: float = 1.0,
        contrast_center: float | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        contrast: float | _Node | None = None,
        contrast_center: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class CoordFlip(OperatorClass):
    """Flip points the way `flip` flips the image that they belong to.

    Args:
        flip_x: Whether to swap left and right.
        flip_y: Whether to swap top and bottom.
        flip_z: Whether to swap front and back.
        center_x: The center of the image along x.
        center_y: The center along y.
        center_z: The center along z.
        layout: The order of the coordinates; `"x"`, `"xy"` or `"xyz"`, by their number, if empty.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        flip_x: int = 1,
        flip_y: int = 0,
        flip_z: int = 0,
        center_x: float = 0.5,
        center_y: float = 0.5,
        center_z: float = 0.5,
        layout: str = "",
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        points: _Data | _Constant,
        /,
        *,
        flip_x: int | _Node | None = None,
        flip_y: int | _Node | None = None,
        flip_z: int | _Node | None = None,
        center_x: float | _Node | None = None,
        center_y: float | _Node | None = None,
        center_z: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class CoordTransform(OperatorClass):
    """Apply an affine transform to points: `M * point + T`.

    Args:
        M: The matrix, row by row; a single number is used for the whole diagonal. The identity if None.
        T: The translation; a single number is used for all coordinates.
        MT: Matrix and translation as one matrix, with the translation in the last column.
        dtype: Type of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        M: _Floats | None = None,
        T: _Floats | None = None,
        MT: _Floats | None = None,
        dtype: DALIDataType = DALIDataType.FLOAT,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        points: _Data | _Constant,
        /,
        *,
        M: _Floats | _Node | None = None,
        T: _Floats | _Node | None = None,
        MT: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Copy(OperatorClass):
    """Copy the input.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Crop(OperatorClass):
    """Crop images to a window.

    Args:
        crop: Height and width of the window in pixels (depth, height and width for volumes).
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        rounding: How the start of the window is brought to a whole pixel.
        out_of_bounds_policy: How to treat a window that exceeds the image: raise an error, pad it, or trim it.
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        crop: _Floats | None = None,
        crop_h: float | None = None,
        crop_w: float | None = None,
        crop_d: float | None = None,
        crop_pos_x: float = 0.5,
        crop_pos_y: float = 0.5,
        crop_pos_z: float = 0.5,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        crop: _Floats | _Node | None = None,
        crop_h: float | _Node | None = None,
        crop_w: float | _Node | None = None,
        crop_d: float | _Node | None = None,
        crop_pos_x: float | _Node | None = None,
        crop_pos_y: float | _Node | None = None,
        crop_pos_z: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class CropMirrorNormalize(OperatorClass):
    """Crop, flip, normalize and transpose in one pass: `scale * (x - mean) / std + shift`.

    Args:
        crop: Height and width of the window in pixels (depth, height and width for volumes).
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        mirror: Whether to swap left and right.
        mean: Values to subtract: one, or one per channel.
        std: Values to divide by: one, or one per channel.
        scale: Factor applied after the division.
        shift: Value added after scaling.
        dtype: Type of the result: FLOAT, FLOAT16, UINT8 or INT8.
        output_layout: The layout of the result; if empty, that of `data`.
        pad_output: Whether to add channels up to the next power of two.
        rounding: How the start of the window is brought to a whole pixel.
        out_of_bounds_policy: How to treat a window that exceeds the image: raise an error, pad it, or trim it.
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        crop: _Floats | None = None,
        crop_h: float | None = None,
        crop_w: float | None = None,
        crop_d: float | None = None,
        crop_pos_x: float = 0.5,
        crop_pos_y: float = 0.5,
        crop_pos_z: float = 0.5,
        mirror: int = 0,
        mean: _Floats = (0.0,),
        std: _Floats = (1.0,),
        scale: float = 1.0,
        shift: float = 0.0,
        dtype: DALIDataType = DALIDataType.FLOAT,
        output_layout: str = "CHW",
        pad_output: bool = False,
        rounding: Literal["round", "truncate"] = "round",
        out_of_bounds_policy: Literal["error", "pad", "constant", "trim_to_shape"] = "error",
        fill_values: _Floats | None = None,
        output_dtype: DALIDataType | None = None,
        height: float | None = None,
        width: float | None = None,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        crop: _Floats | _Node | None = None,
        crop_h: float | _Node | None = None,
        crop_w: float | _Node | None = None,
        crop_d: float | _Node | None = None,
        crop_pos_x: float | _Node | None = None,
        crop_pos_y: float | _Node | None = None,
        crop_pos_z: float | _Node | None = None,
        mirror: int | _Node | None = None,
        mean: _Floats | _Node | None = None,
        std: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Defocus(OperatorClass):
    """Blur with a disk, like a lens out of focus; the border is reflected.

    Args:
        radius: Radius of the disk in pixels.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        radius: float = 3.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        radius: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class DLTensorPythonFunction(OperatorClass):
    """Call a Python function that takes and returns DLPack capsules.

    Inside a branch of a conditional, it is called only for the samples that take the branch.

    Args:
        function: The function. It may also return arrays that implement `__dlpack__`.
        num_outputs: The number of capsules it returns.
        batch_processing: Whether to call it once per batch, with lists of capsules, instead of once per sample.
        output_layouts: The layouts of the outputs: one string, or one per output.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        function: Any,
        num_outputs: int = 1,
        *,
        batch_processing: bool = True,
        output_layouts: Any = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        synchronize_stream: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *inputs: DataNode | _Constant,
        name: str | None = None,
    ) -> Any: ...

class Downscale(OperatorClass):
    """Lose detail: reduce images and enlarge them again, both with nearest neighbors.

    Args:
        scale: Size of the reduced image as a fraction.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        scale: float = 0.25,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        scale: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ElementExtract(OperatorClass):
    """Extract elements of sequences, such as frames of a video.

    Args:
        element_map: The indices of the elements; there is one output for each.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        element_map: _Ints,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> Any: ...

class Emboss(OperatorClass):
    """Raise edges as if they were lit from the upper left.

    Args:
        alpha: The share of the embossed image in the result.
        strength: How much edges are raised.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.3,
        strength: float = 0.5,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        alpha: float | _Node | None = None,
        strength: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Equalize(OperatorClass):
    """Equalize the histogram of every channel.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Erase(OperatorClass):
    """Erase rectangles.

    Args:
        anchor: Start of the rectangles: all coordinates of the first, then those of the next.
        shape: Size of the rectangles, in the same order.
        axes: The axes that `anchor` and `shape` refer to, by index.
        axis_names: The same axes by layout letter; all axes except the channels if neither is given.
        fill_value: Value of the erased pixels: one, or one per channel.
        normalized: Whether `anchor` and `shape` are fractions of the image size instead of pixels.
        normalized_anchor: The same for `anchor` alone.
        normalized_shape: The same for `shape` alone.
        centered_anchor: Whether `anchor` is the center of a rectangle instead of its start.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        anchor: _Floats | None = None,
        shape: _Floats | None = None,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        fill_value: _Floats = (0.0,),
        normalized: bool | None = None,
        normalized_anchor: bool | None = None,
        normalized_shape: bool | None = None,
        centered_anchor: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        anchor: _Floats | _Node | None = None,
        shape: _Floats | _Node | None = None,
        fill_value: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ExpandDims(OperatorClass):
    """Insert axes of extent 1.

    Args:
        axes: The positions of the new axes in the result.
        new_axis_names: The layout letters of the new axes; without them the result has no layout.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints,
        new_axis_names: str = "",
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class ExternalSource(OperatorClass):
    """Take data from a callable, an iterable, or `Pipeline.feed_input`.

    Args:
        source: A callable, an iterable, or a generator function; None to use `feed_input` or `run(name=…)`.
        num_outputs: The number of values that one call of the source returns; the result is then a list of nodes.
        cycle: What to do when an iterable ends: `"no"` stops, `"quiet"` (or True) starts over, `"raise"` ends the epoch
            and starts over after `reset`.
        batch: Whether the source returns whole batches (the default) or single samples.
        batch_info: Whether to call a source of batches with a BatchInfo instead of the index of the batch.
        layout: The layout of the data, such as `"HWC"`: one string, or one per output.
        dtype: The expected element type, checked when data arrives: one, or one per output.
        ndim: The expected number of axes, checked when data arrives: one, or one per output.
        repeat_last: Whether to reuse the last batch that was fed if there is no newer one.
        no_copy: Whether to read the arrays in place; they must not be modified until their batch is complete.
        parallel: Whether worker processes run the source, as many as `py_num_workers` of the pipeline says. The source
            must be a callable that takes one argument, or with `batch=True` an iterable, which one worker runs.
        prefetch_queue_depth: With `parallel`, how many batches the workers make ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        source: Any = None,
        num_outputs: int | None = None,
        *,
        cycle: Literal["no", "quiet", "raise", False, True] | None = None,
        batch: bool | None = None,
        batch_info: bool = False,
        layout: Any = None,
        dtype: Any = None,
        ndim: Any = None,
        repeat_last: bool = False,
        no_copy: bool | None = None,
        parallel: bool = False,
        prefetch_queue_depth: int = 1,
        blocking: object = None,
        bytes_per_sample_hint: object = None,
        cuda_stream: object = None,
        preserve: object = None,
        use_copy_kernel: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *,
        name: str | None = None,
    ) -> Any: ...

class Filter(OperatorClass):
    """Apply a 2D filter to images (correlation: the filter is not flipped).

    Args:
        anchor: The element of the filter that lies over the pixel, row and column; -1 is the center.
        border: Border handling: `"reflect_101"` (dcb|abcd|cba), `"reflect_1001"` (cba|abcd|dcb), `"clamp"`
            (aaa|abcd|ddd), `"wrap"` (bcd|abcd|abc) or `"constant"`.
        mode: `"same"` keeps the size; `"valid"` drops positions where the filter extends beyond the image.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        anchor: _Ints = (-1,),
        border: Literal["reflect_101", "reflect_1001", "clamp", "wrap", "constant"] = "reflect_101",
        mode: Literal["same", "valid"] = "same",
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        filter: DataNode | list[DataNode] | _Constant,
        fill_value: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        anchor: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Flip(OperatorClass):
    """Flip images horizontally, vertically, or along the depth.

    Args:
        horizontal: Whether to swap left and right.
        vertical: Whether to swap top and bottom.
        depthwise: Whether to swap front and back of volumes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        horizontal: int = 1,
        vertical: int = 0,
        depthwise: int = 0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        horizontal: int | _Node | None = None,
        vertical: int | _Node | None = None,
        depthwise: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Fog(OperatorClass):
    """Blend images with fog of varying density.

    Args:
        density: The share of the fog where it is densest.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        density: float = 0.5,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        density: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Full(OperatorClass):
    """Create an array filled with a value.

    Args:
        shape: The shape of the result; a scalar if None.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shape: _Ints | None = None,
        layout: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        fill_value: _Data | _Constant,
        /,
        *,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class FullLike(OperatorClass):
    """Create an array like another one, filled with a value.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data_like: _Data | _Constant,
        fill_value: DataNode | list[DataNode] | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Gamma(OperatorClass):
    """Apply a gamma curve: `255 * (x / 255) ** gamma`.

    Args:
        gamma: The exponent; below 1 is brighter, above 1 is darker.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        gamma: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class GaussianBlur(OperatorClass):
    """Blur images or volumes with a Gaussian kernel; the border is reflected.

    Frames and channels are blurred separately. Without a layout, all axes are blurred.

    Args:
        sigma: Standard deviation in pixels: one, or one per spatial axis. 0 derives it from the window size: `0.3 *
            ((window_size - 1) / 2 - 1) + 0.8`.
        window_size: Diameter of the kernel in pixels, an odd number. 0 derives it from sigma: `2 * ceil(3 * sigma) +
            1`.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        sigma: _Floats = (0.0,),
        window_size: _Ints = (0,),
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        sigma: _Floats | _Node | None = None,
        window_size: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class GetProperty(OperatorClass):
    """Return a property of each sample as bytes (uint8).

    Args:
        key: `"source_info"` for the origin of the sample, `"layout"` for its layout.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        key: Literal["source_info", "layout"],
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class GlassBlur(OperatorClass):
    """Blur as if seen through rough glass: each pixel comes from a random neighbor, blurred.

    Args:
        sigma: Standard deviation of the blur in pixels.
        distance: The farthest that a pixel comes from, along each axis.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        sigma: float = 0.7,
        distance: int = 4,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        sigma: float | _Node | None = None,
        distance: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class GridMask(OperatorClass):
    """Erase a regular grid of squares (GridMask).

    Args:
        tile: Distance between the squares, in pixels.
        ratio: Side of a square, as a fraction of `tile`.
        angle: Rotation of the grid, in radians.
        shift_x: Horizontal offset after the rotation, in pixels.
        shift_y: Vertical offset after the rotation, in pixels.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        tile: int = 100,
        ratio: float = 0.5,
        angle: float = 0.0,
        shift_x: float = 0.0,
        shift_y: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        tile: int | _Node | None = None,
        ratio: float | _Node | None = None,
        angle: float | _Node | None = None,
        shift_x: float | _Node | None = None,
        shift_y: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Hsv(OperatorClass):
    """Adjust hue, saturation and brightness of images with a single linear color transform.

    Args:
        hue: Hue rotation in degrees.
        saturation: Factor that the saturation is multiplied by.
        value: Factor that the brightness is multiplied by.
        dtype: Type of the result; uint8 if None, whatever the type of `data`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        hue: float = 0.0,
        saturation: float = 1.0,
        value: float = 1.0,
        dtype: DALIDataType = DALIDataType.UINT8,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        hue: float | _Node | None = None,
        saturation: float | _Node | None = None,
        value: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Hue(OperatorClass):
    """Rotate the hue of images.

    Args:
        hue: Hue rotation in degrees.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        hue: float = 0.0,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        hue: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Invert(OperatorClass):
    """Invert all levels: `255 - x`.

    Args:
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Jitter(OperatorClass):
    """Move every pixel by a random number of pixels, along x and along y.

    Args:
        nDegree: How many offsets there are to choose from, along each axis; they lie between `-nDegree / 2` and
            `nDegree / 2`.
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: INTERP_NN or INTERP_LINEAR. Offsets are whole numbers, so both give the same result.
        fill_value: The value of pixels that would come from outside the image.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        nDegree: int = 2,
        mask: int = 1,
        interp_type: DALIInterpType = DALIInterpType.INTERP_NN,
        fill_value: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        mask: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class JpegCompressionDistortion(OperatorClass):
    """Add JPEG compression artifacts: encode images with 4:2:0 chroma subsampling and decode them again.

    Args:
        quality: JPEG quality, from 1 (worst) to 100; other values are clamped.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        quality: int = 50,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        quality: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Laplacian(OperatorClass):
    """Compute the Laplacian: the sum of second derivatives along the spatial axes; the border is reflected.

    Args:
        window_size: Size of the derivative kernel: odd, from 3 to 23; one for all axes, or one per axis.
        smoothing_size: Size of the smoothing kernel along the other axes: odd, from 1 (no smoothing) to 23; that of the
            derivative if None.
        scale: Factor for each derivative: one for all, or one per axis; 1 if None.
        normalized_kernel: Whether to scale the derivatives so that their weights do not grow with the window size.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        window_size: _Ints = (3,),
        smoothing_size: _Ints | None = None,
        scale: _Floats | None = None,
        normalized_kernel: bool = False,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        window_size: _Ints | _Node | None = None,
        smoothing_size: _Ints | _Node | None = None,
        scale: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class LookupTable(OperatorClass):
    """Map integers to values with a lookup table.

    Args:
        keys: The integers in the table; if one occurs several times, the last entry counts.
        values: One value per key.
        default_value: The value of all integers that are not in the table.
        dtype: Type of the result; values are rounded and clamped to it.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class MotionBlur(OperatorClass):
    """Blur along a line, as if the camera moved; the border is reflected.

    Args:
        size: Length of the line in pixels; even sizes are enlarged by one.
        angle: Angle of the line in degrees, counterclockwise.
        direction: How much one end of the line weighs more than the other, from -1 to 1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        size: int = 7,
        angle: float = 0.0,
        direction: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        size: int | _Node | None = None,
        angle: float | _Node | None = None,
        direction: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class MultiPaste(OperatorClass):
    """Paste regions of several images onto one canvas, in order; uncovered pixels are 0.

    The images are the inputs or, with `in_ids`, samples of the batch of a single input.

    Args:
        in_ids: The indices of the samples to paste onto each canvas.
        output_size: Height and width of the canvas in pixels; those of the images if None.
        in_anchors: Start of each region in its image, as (y, x) in pixels.
        in_anchors_rel: The same as fractions of the image size.
        shapes: Height and width of each region in pixels; up to the end of the image if None.
        shapes_rel: The same as fractions of the image size.
        out_anchors: Position of each region on the canvas, as (y, x) in pixels.
        out_anchors_rel: The same as fractions of the canvas size.
        dtype: Type of the result; that of the images if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        in_ids: _Ints | None = None,
        output_size: _Ints | None = None,
        in_anchors: _Ints | None = None,
        in_anchors_rel: _Floats | None = None,
        shapes: _Ints | None = None,
        shapes_rel: _Floats | None = None,
        out_anchors: _Ints | None = None,
        out_anchors_rel: _Floats | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *data: DataNode | _Constant,
        in_ids: _Ints | _Node | None = None,
        output_size: _Ints | _Node | None = None,
        in_anchors: _Ints | _Node | None = None,
        in_anchors_rel: _Floats | _Node | None = None,
        shapes: _Ints | _Node | None = None,
        shapes_rel: _Floats | _Node | None = None,
        out_anchors: _Ints | _Node | None = None,
        out_anchors_rel: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> DataNode: ...

class Normalize(OperatorClass):
    """Subtract the mean and divide by the standard deviation: `scale * (x - mean) / stddev + shift`.

    Args:
        axes: The axes to reduce, by index. If None, all axes, or those along which a given `mean` or `stddev` array has
            extent 1.
        axis_names: The same axes by layout letter, such as `"HW"`.
        mean: The mean: a number, or an array with as many axes as `data`; computed from the data if None.
        stddev: The standard deviation, in the same form; computed from the data if None.
        batch: Whether to compute mean and standard deviation over the whole batch instead of per sample.
        ddof: Delta degrees of freedom: the sum of squares is divided by N - ddof, where N is the number of elements.
        epsilon: Value added to the variance, to avoid division by small numbers.
        scale: Factor applied after the division.
        shift: Value added after scaling.
        dtype: Type of the result; integers are rounded and clamped.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        mean: float | None = None,
        stddev: float | None = None,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        mean: float | _Node | None = None,
        stddev: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class OneHot(OperatorClass):
    """One-hot encode class indices.

    Scalars become vectors. So do arrays with one element, if all samples of the batch have one element and `axis` is
    None.

    Args:
        num_classes: The number of classes.
        axis: The position of the new axis; the last if None.
        axis_name: The name of the new axis; if None, the result has no layout.
        on_value: The value for the class.
        off_value: The value for all other classes.
        dtype: Type of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Ones(OperatorClass):
    """Create an array of ones.

    Args:
        shape: The shape of the result; a scalar if None.
        dtype: Element type.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shape: _Ints | None = None,
        dtype: DALIDataType = DALIDataType.INT32,
        layout: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> DataNode: ...

class OnesLike(OperatorClass):
    """Create an array of ones like another one.

    Args:
        dtype: Type of the result; that of `data_like` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data_like: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Pad(OperatorClass):
    """Pad arrays at the end of each axis, by default to the largest extents in the batch.

    Args:
        axes: The axes to pad, by index; all if None.
        axis_names: The same axes by layout letter, such as `"HW"`.
        shape: Minimum extents; -1 or None stands for the largest extent in the batch.
        align: Extents are rounded up to a multiple of this.
        fill_value: The value of the padding.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        shape: _Ints | None = None,
        align: _Ints | None = None,
        fill_value: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        axes: _Ints | _Node | None = None,
        shape: _Ints | _Node | None = None,
        align: _Ints | _Node | None = None,
        fill_value: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Paste(OperatorClass):
    """Paste images onto a larger canvas.

    Args:
        fill_value: Color of the canvas: one value, or one per channel.
        ratio: Size of the canvas relative to the image; at least 1.
        n_channels: Number of values in `fill_value`.
        paste_x: Horizontal position of the image on the canvas: 0 is the left edge, 1 the right edge.
        paste_y: Vertical position of the image on the canvas: 0 is the top edge, 1 the bottom edge.
        min_canvas_size: Minimum height and width of the canvas, in pixels.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        fill_value: _Floats,
        ratio: float | None = None,
        n_channels: int | None = None,
        paste_x: float = 0.5,
        paste_y: float = 0.5,
        min_canvas_size: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        ratio: float | _Node | None = None,
        paste_x: float | _Node | None = None,
        paste_y: float | _Node | None = None,
        min_canvas_size: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class PcaLighting(OperatorClass):
    """Change the light along the principal axes of the colors of natural images (AlexNet).

    Args:
        alpha: How far along each axis; usually drawn with a standard deviation of 0.1.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        alpha: _Floats = (0.0, 0.0, 0.0),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        alpha: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class PeekImageShape(OperatorClass):
    """Read height, width and number of channels from the header of an image, without decoding it.

    Args:
        dtype: Type of the result.
        image_type: Color format that the image would be decoded to.
        adjust_orientation: Whether to return the shape after applying the EXIF orientation.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        dtype: DALIDataType = DALIDataType.INT64,
        image_type: DALIImageType = DALIImageType.RGB,
        adjust_orientation: bool = True,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class PerFrame(OperatorClass):
    """Mark an array as a sequence: the first letter of its layout becomes F.

    Passed as an argument of an operator on sequences, it has one value for each frame.

    Args:
        replace: Whether to replace a first letter other than F; by default that is an error.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        replace: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class PermuteBatch(OperatorClass):
    """Reorder the samples of a batch. A sample may be taken several times, or not at all.

    Args:
        indices: For each position in the batch, the index of the sample to put there: a list, or one number per sample.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        indices: _Ints | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        indices: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Posterize(OperatorClass):
    """Reduce the number of levels: keep the highest bits of each value.

    Args:
        bits: How many bits are kept, from 0 to 8.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        bits: int = 4,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        bits: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class PythonFunction(OperatorClass):
    """Call a Python function that takes and returns NumPy arrays.

    Inside a branch of a conditional, it is called only for the samples that take the branch.

    Args:
        function: The function.
        num_outputs: The number of arrays it returns.
        batch_processing: Whether to call it once per batch, with lists of samples, instead of once per sample.
        output_layouts: The layouts of the outputs: one string, or one per output.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        function: Any,
        num_outputs: int = 1,
        *,
        batch_processing: bool = False,
        output_layouts: Any = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *inputs: DataNode | _Constant,
        name: str | None = None,
    ) -> Any: ...

class Rain(OperatorClass):
    """Draw streaks of rain, and darken the image a little.

    Args:
        amount: How many streaks, from 0 to 1.
        slant: Their angle to the vertical, in degrees.
        length: Their height as a fraction of that of the image.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        amount: float = 0.3,
        slant: float = 10.0,
        length: float = 0.06,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        amount: float | _Node | None = None,
        slant: float | _Node | None = None,
        length: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class RandomBBoxCrop(OperatorClass):
    """Draw a crop window that keeps enough of the boxes, and move the boxes into it.

    Returns the anchor (x, y) and the shape (width, height) of the window, for use with `slice`, then the remaining
    boxes, their labels and their indices. If no window satisfies the threshold after 100000 attempts, the best one
    found is used.

    Args:
        thresholds: Minimum overlaps between boxes and window; one of them is drawn for each sample.
        threshold_type: How overlap is measured: `iou` (intersection over union) or `overlap` (fraction of the box).
        aspect_ratio: Smallest and largest aspect ratio (width divided by height), of fractions, or of pixels if
            `input_shape` is given; for volumes also width by depth and height by depth. Both are 1 if not given.
        scaling: Smallest and largest extent of the window, as fractions of the image size; the whole image if not
            given.
        allow_no_crop: Whether "no crop" is one more choice among the thresholds; True if not given.
        num_attempts: How many windows to draw before drawing another threshold.
        total_num_attempts: How many windows to draw in total before using the best one found.
        all_boxes_above_threshold: Whether all boxes must reach the threshold, or only one.
        bbox_prune_threshold: Keep boxes with at least this fraction inside the window; if None, boxes whose center is
            inside.
        bbox_layout: The order of the coordinates of a box: `"xyXY"`, `"xyWH"` or a permutation; with z for volumes.
        ltrb: Legacy form of `bbox_layout`: True for `"xyXY"`, False for `"xyWH"`.
        crop_shape: Size of the window in pixels; replaces `scaling` and `aspect_ratio`.
        input_shape: Size of the image in pixels.
        shape_layout: The order of `crop_shape` and `input_shape`; `"WH"` (`"WHD"` for volumes) if None.
        output_bbox_indices: Whether to return the indices of the remaining boxes as well.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
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
        crop_shape: _Ints | None = None,
        input_shape: _Ints | None = None,
        shape_layout: str | None = None,
        output_bbox_indices: bool = False,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        quiet: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        boxes: _Data | _Constant,
        labels: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        crop_shape: _Ints | _Node | None = None,
        input_shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> list[_Data]: ...

class RandomCropGenerator(OperatorClass):
    """Draw the window of a random crop; returns its start (y, x) and its size (height, width) as int32.

    Args:
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        random_area: _Floats = (0.08, 1.0),
        random_aspect_ratio: _Floats = (0.75, 1.3333333333333333),
        num_attempts: int = 10,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        shape: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> list[_Data]: ...

class RandomErasing(OperatorClass):
    """Fill one random rectangle (https://arxiv.org/abs/1708.04896).

    Args:
        area: Its area as a fraction of the image: the smallest and the largest, or one number.
        aspect_ratio: Its width as a multiple of its height: the smallest and the largest, or one number.
        fill_value: Value of the filled pixels: one, or one per channel.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        area: _Floats = (0.02, 0.33),
        aspect_ratio: _Floats = (0.3, 3.3),
        fill_value: _Floats = (0.0,),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        area: _Floats | _Node | None = None,
        aspect_ratio: _Floats | _Node | None = None,
        fill_value: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class RandomResizedCrop(OperatorClass):
    """Crop a random window out of images and resize it to a fixed size.

    Args:
        size: Height and width of the result in pixels; one number for both.
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        size: _Ints,
        random_area: _Floats = (0.08, 1.0),
        random_aspect_ratio: _Floats = (0.75, 1.3333333333333333),
        num_attempts: int = 10,
        interp_type: DALIInterpType | None = None,
        min_filter: DALIInterpType | None = None,
        mag_filter: DALIInterpType | None = None,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        interp_type: DALIInterpType | _Node | None = None,
        min_filter: DALIInterpType | _Node | None = None,
        mag_filter: DALIInterpType | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Reinterpret(OperatorClass):
    """Reinterpret the bytes of the elements as another type or shape.

    Args:
        shape: The shape of the result; one extent may be -1 and is then inferred.
        rel_shape: The shape as multiples of the input's extents; one may be -1 and is then inferred.
        src_dims: For each axis of the result, the input axis whose extent it takes; -1 for extent 1.
        layout: The layout of the result. If None, the layout of `data` is kept if the number of axes is the same.
        dtype: The new element type; without a shape, the last extent changes accordingly.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shape: _Ints | None = None,
        rel_shape: _Floats | None = None,
        src_dims: _Ints | None = None,
        layout: str | None = None,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        shape_input: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        shape: _Ints | _Node | None = None,
        rel_shape: _Floats | _Node | None = None,
        src_dims: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Reshape(OperatorClass):
    """Change the shape, keeping the elements and their order.

    Args:
        shape: The shape of the result; one extent may be -1 and is then inferred.
        rel_shape: The shape as multiples of the input's extents; one may be -1 and is then inferred.
        src_dims: For each axis of the result, the input axis whose extent it takes; -1 for extent 1.
        layout: The layout of the result. If None, the layout of `data` is kept if the number of axes is the same.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shape: _Ints | None = None,
        rel_shape: _Floats | None = None,
        src_dims: _Ints | None = None,
        layout: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        shape_input: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        shape: _Ints | _Node | None = None,
        rel_shape: _Floats | _Node | None = None,
        src_dims: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Resize(OperatorClass):
    """Resize images.

    Args:
        size: Height and width in pixels (preceded by depth for volumes); one number for all; 0 computes an extent.
        resize_x: Width of the result in pixels.
        resize_y: Height of the result in pixels.
        resize_z: Depth of the result, for volumes.
        resize_shorter: Length of the shorter side in pixels; the aspect ratio is kept.
        resize_longer: Length of the longer side in pixels; the aspect ratio is kept.
        mode: `default` scales unspecified extents like the others, `stretch` keeps them; `not_larger` and `not_smaller`
            keep the aspect ratio and treat the extents as upper or lower bounds.
        max_size: Upper limit of the output size: one number for all extents, or one per extent.
        subpixel_scale: If the computed size has a fraction of a pixel, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize, in the order of the axes; the whole input if None.
        roi_end: End of the region; if it lies before the start, the result is flipped.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        save_attrs: Whether to return the input size as a second output.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        size: _Floats | None = None,
        resize_x: float | None = None,
        resize_y: float | None = None,
        resize_z: float | None = None,
        resize_shorter: float | None = None,
        resize_longer: float | None = None,
        mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
        max_size: _Floats | None = None,
        subpixel_scale: bool = True,
        roi_start: _Floats | None = None,
        roi_end: _Floats | None = None,
        roi_relative: bool = False,
        interp_type: DALIInterpType | None = None,
        min_filter: DALIInterpType | None = None,
        mag_filter: DALIInterpType | None = None,
        antialias: bool = True,
        dtype: DALIDataType | None = None,
        save_attrs: bool = False,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        minibatch_size: object = None,
        preserve: object = None,
        temp_buffer_hint: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        size: _Floats | _Node | None = None,
        resize_x: float | _Node | None = None,
        resize_y: float | _Node | None = None,
        resize_z: float | _Node | None = None,
        resize_shorter: float | _Node | None = None,
        resize_longer: float | _Node | None = None,
        roi_start: _Floats | _Node | None = None,
        roi_end: _Floats | _Node | None = None,
        interp_type: DALIInterpType | _Node | None = None,
        min_filter: DALIInterpType | _Node | None = None,
        mag_filter: DALIInterpType | _Node | None = None,
        name: str | None = None,
    ) -> Any: ...

class ResizeCropMirror(OperatorClass):
    """Resize, crop and flip images in one pass. Outside the image, its edge pixels are repeated.

    Args:
        size: Height and width in pixels; one number for both; 0 computes an extent.
        resize_x: Width of the result in pixels.
        resize_y: Height of the result in pixels.
        resize_z: Depth of the result, for volumes.
        resize_shorter: Length of the shorter side in pixels; the aspect ratio is kept.
        resize_longer: Length of the longer side in pixels; the aspect ratio is kept.
        mode: How unspecified extents are computed, as in `resize`.
        max_size: Upper limit of the output size: one number for all extents, or one per extent.
        subpixel_scale: If the computed size has a fraction of a pixel, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize, in the order of the axes; the whole input if None.
        roi_end: End of the region; if it lies before the start, the result is flipped.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        crop: Height and width of the window in pixels.
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Depth of the window, for volumes.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Position of the window along the depth, from 0 to 1.
        rounding: How the start of the window is brought to a whole pixel.
        mirror: Sum of 1 (swap left and right), 2 (swap top and bottom) and 4 (swap front and back of volumes).
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        size: _Floats | None = None,
        resize_x: float | None = None,
        resize_y: float | None = None,
        resize_z: float | None = None,
        resize_shorter: float | None = None,
        resize_longer: float | None = None,
        mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
        max_size: _Floats | None = None,
        subpixel_scale: bool = True,
        roi_start: _Floats | None = None,
        roi_end: _Floats | None = None,
        roi_relative: bool = False,
        interp_type: DALIInterpType | None = None,
        min_filter: DALIInterpType | None = None,
        mag_filter: DALIInterpType | None = None,
        antialias: bool = True,
        dtype: DALIDataType | None = None,
        crop: _Floats | None = None,
        crop_h: float | None = None,
        crop_w: float | None = None,
        crop_d: float | None = None,
        crop_pos_x: float = 0.5,
        crop_pos_y: float = 0.5,
        crop_pos_z: float = 0.5,
        rounding: Literal["round", "truncate"] = "round",
        mirror: int = 0,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        minibatch_size: object = None,
        preserve: object = None,
        temp_buffer_hint: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        size: _Floats | _Node | None = None,
        resize_x: float | _Node | None = None,
        resize_y: float | _Node | None = None,
        resize_z: float | _Node | None = None,
        resize_shorter: float | _Node | None = None,
        resize_longer: float | _Node | None = None,
        roi_start: _Floats | _Node | None = None,
        roi_end: _Floats | _Node | None = None,
        interp_type: DALIInterpType | _Node | None = None,
        min_filter: DALIInterpType | _Node | None = None,
        mag_filter: DALIInterpType | _Node | None = None,
        crop: _Floats | _Node | None = None,
        crop_h: float | _Node | None = None,
        crop_w: float | _Node | None = None,
        crop_d: float | _Node | None = None,
        crop_pos_x: float | _Node | None = None,
        crop_pos_y: float | _Node | None = None,
        crop_pos_z: float | _Node | None = None,
        mirror: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class RgbShift(OperatorClass):
    """Add a number to each channel.

    Args:
        shift: What is added to red, green and blue.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shift: _Floats = (0.0, 0.0, 0.0),
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        shift: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ROIRandomCrop(OperatorClass):
    """Draw the start of a crop window that covers as much as possible of a region of interest.

    Args:
        crop_shape: Size of the window.
        roi_start: Start of the region.
        roi_end: End of the region.
        roi_shape: Size of the region, as an alternative to `roi_end`.
        in_shape: The shape of the image, as an alternative to `data`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        crop_shape: _Ints | None = None,
        roi_start: _Ints | None = None,
        roi_end: _Ints | None = None,
        roi_shape: _Ints | None = None,
        in_shape: _Ints | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant | None = None,
        /,
        *,
        crop_shape: _Ints | _Node | None = None,
        roi_start: _Ints | _Node | None = None,
        roi_end: _Ints | _Node | None = None,
        roi_shape: _Ints | _Node | None = None,
        in_shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Rotate(OperatorClass):
    """Rotate images about their center; by default the result is large enough to hold all corners.

    Args:
        angle: Rotation angle in degrees; positive angles rotate counterclockwise.
        axis: The rotation axis (x, y, z), required for volumes.
        size: Height and width of the result in pixels (preceded by depth for volumes).
        keep_size: Whether the result keeps the size of `data`.
        fill_value: The value used outside `data`; if None, the edge pixels are repeated.
        interp_type: Interpolation: INTERP_LINEAR, or INTERP_NN, which never mixes values and therefore suits masks.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        angle: float | None = None,
        axis: _Floats | None = None,
        size: _Floats | None = None,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        angle: float | _Node | None = None,
        axis: _Floats | _Node | None = None,
        size: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Saturation(OperatorClass):
    """Adjust the saturation of images.

    Args:
        saturation: Factor that the saturation is multiplied by; 0 produces grayscale.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        saturation: float = 1.0,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        saturation: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Sepia(OperatorClass):
    """Tint images like old photographs.

    Args:
        amount: How much: 0 changes nothing.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        amount: float = 1.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        amount: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class SequenceRearrange(OperatorClass):
    """Reorder, repeat or drop the frames of a sequence.

    Args:
        new_order: The frames of the result, by their numbers in `data`; at least one.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        new_order: _Ints | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        new_order: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Shadow(OperatorClass):
    """Darken a random polygon.

    Args:
        intensity: How dark: 1 is black.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        intensity: float = 0.5,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        intensity: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Shapes(OperatorClass):
    """Return the shape of each sample.

    Args:
        dtype: Type of the result.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        dtype: DALIDataType = DALIDataType.INT64,
        type: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Sharpen(OperatorClass):
    """Sharpen edges.

    Args:
        alpha: The share of the sharpened image in the result.
        lightness: How much of the image itself is in the sharpened one.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        alpha: float = 0.3,
        lightness: float = 1.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        alpha: float | _Node | None = None,
        lightness: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Slice(OperatorClass):
    """Cut out a slice along any axes, in relative or absolute coordinates.

    Args:
        start: Start of the slice, in elements.
        end: End of the slice, in elements.
        shape: Size of the slice, in elements.
        rel_start: Start of the slice, as a fraction of the extent.
        rel_end: End of the slice, as a fraction of the extent.
        rel_shape: Size of the slice, as a fraction of the extent.
        axes: The axes that the other arguments refer to, by index.
        axis_names: The same axes by layout letter; `"WH"` (x before y) if neither is given.
        normalized_anchor: Whether a floating-point anchor is relative to the shape of the input.
        normalized_shape: Whether a floating-point extent is relative to the shape of the input.
        out_of_bounds_policy: How to treat a slice that exceeds the array: raise an error; pad it (`"pad"` or
            `"constant"`); trim it (`"trim_to_shape"`); repeat the edge (`"edge"` or `"clamp"`); mirror the array with
            its edge (`"reflect"` or `"reflect_1001"`) or without it (`"reflect_101"`); or repeat it (`"wrap"`).
        fill_values: The padding of `"pad"`: one value, or one per channel; 0 if None.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        start: _Ints | None = None,
        end: _Ints | None = None,
        shape: _Ints | None = None,
        rel_start: _Floats | None = None,
        rel_end: _Floats | None = None,
        rel_shape: _Floats | None = None,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        normalized_anchor: bool = True,
        normalized_shape: bool = True,
        out_of_bounds_policy: str = "error",
        fill_values: _Floats | None = None,
        dtype: DALIDataType | None = None,
        output_dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        image_type: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
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
        name: str | None = None,
    ) -> _Data: ...

class Snow(OperatorClass):
    """Cover dark parts with snow: what is darker than a threshold becomes brighter.

    Args:
        amount: How much is covered, from 0 to 1.
        brightness: How much brighter it becomes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        amount: float = 0.3,
        brightness: float = 2.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        amount: float | _Node | None = None,
        brightness: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Solarize(OperatorClass):
    """Invert the levels from a threshold on.

    Args:
        threshold: Levels from here on are inverted.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        threshold: float = 128.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        threshold: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Spatter(OperatorClass):
    """Spatter the lens with drops.

    Args:
        amount: How much of the image is covered, from 0 to 1.
        lightness: Of the drops: 0 is mud, 1 is water in the sun.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        amount: float = 0.4,
        lightness: float = 0.2,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        amount: float | _Node | None = None,
        lightness: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Sphere(OperatorClass):
    """Distort images as if they were painted on a sphere.

    Args:
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: Interpolation: INTERP_NN (nearest neighbor) or INTERP_LINEAR.
        fill_value: The value used outside the image.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        mask: int = 1,
        interp_type: DALIInterpType = DALIInterpType.INTERP_NN,
        fill_value: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        mask: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Squeeze(OperatorClass):
    """Remove axes of extent 1.

    Args:
        axes: The axes to remove, by index.
        axis_names: The same axes by layout letter, such as `"HW"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class Stack(OperatorClass):
    """Stack arrays of the same shape along a new axis.

    Args:
        axis: The position of the new axis in the result.
        axis_name: The name of the new axis; if None, the result has no layout.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        axis: int = 0,
        axis_name: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *inputs: DataNode | _Constant,
        name: str | None = None,
    ) -> DataNode: ...

class SunFlare(OperatorClass):
    """Draw the sun, and its reflections in the lens.

    Args:
        x: Place of the sun, as a fraction of the width.
        y: Place of the sun, as a fraction of the height.
        radius: Radius of its light, as a fraction of the longer side.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        x: float = 0.5,
        y: float = 0.2,
        radius: float = 0.3,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        x: float | _Node | None = None,
        y: float | _Node | None = None,
        radius: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Superpixels(OperatorClass):
    """Fill random superpixels, segments of neighboring pixels of similar color, with their mean color.

    Segments are found by SLIC on RGB colors. Their centers and mean colors come from a sample of about 64 pixels each.

    Args:
        segments: The number of segments, approximately.
        probability: The probability that a segment is filled.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        segments: int = 100,
        probability: float = 0.1,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        segments: int | _Node | None = None,
        probability: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class TensorResize(OperatorClass):
    """Resize arrays along up to three adjacent axes.

    Args:
        sizes: Output extents: one for all axes, or one per axis.
        scales: Factors for the input extents, as an alternative to `sizes`.
        axes: The axes to resize, by index; all if None.
        axis_names: The same axes by layout letter, such as `"HW"`.
        mode: How extents of 0 are computed, as in `resize`.
        alignment: The point that stays in place when an output extent is rounded: 0 is the start, 1 the end; 0.5 if
            None.
        size_rounding: How an output extent is rounded to an integer.
        max_size: Upper limit of the output extents.
        subpixel_scale: If the computed extent is not an integer, whether to keep the exact scale instead of exact
            edges.
        roi_start: Start of the region to resize; the whole input if None.
        roi_end: End of the region; if it lies before the start, the axis is reversed.
        roi_relative: Whether the region is relative to the input's extents, from 0 to 1, instead of in pixels.
        interp_type: The filter for downscaling and upscaling; linear if None.
        min_filter: The filter for downscaling; overrides `interp_type`.
        mag_filter: The filter for upscaling; overrides `interp_type`.
        antialias: Whether to widen the filter when downscaling, so that every input pixel contributes.
        dtype: Type of the result: that of `data` (the default) or FLOAT.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        sizes: _Floats | None = None,
        scales: _Floats | None = None,
        axes: _Ints | None = None,
        axis_names: str | None = None,
        mode: Literal["default", "stretch", "not_larger", "not_smaller"] = "default",
        alignment: _Floats | None = None,
        size_rounding: Literal["round", "truncate", "ceil"] = "round",
        max_size: _Floats | None = None,
        subpixel_scale: bool = True,
        roi_start: _Floats | None = None,
        roi_end: _Floats | None = None,
        roi_relative: bool = False,
        interp_type: DALIInterpType | None = None,
        min_filter: DALIInterpType | None = None,
        mag_filter: DALIInterpType | None = None,
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
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        sizes: _Floats | _Node | None = None,
        scales: _Floats | _Node | None = None,
        alignment: _Floats | _Node | None = None,
        roi_start: _Floats | _Node | None = None,
        roi_end: _Floats | _Node | None = None,
        interp_type: DALIInterpType | _Node | None = None,
        min_filter: DALIInterpType | _Node | None = None,
        mag_filter: DALIInterpType | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ToGray(OperatorClass):
    """Make images gray; all three channels stay.

    Args:
        amount: How much: 0 changes nothing, 1 leaves no color.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        amount: float = 1.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        amount: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class ToneCurve(OperatorClass):
    """Bend the levels along a cubic Bezier curve from black to white.

    Args:
        low: Height of the first control point; below 1/3 makes shadows darker.
        high: Height of the second control point; above 2/3 makes highlights brighter.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        low: float = 0.25,
        high: float = 0.75,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        low: float | _Node | None = None,
        high: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Transpose(OperatorClass):
    """Permute the axes.

    Args:
        perm: For each axis of the result, the axis of `data` that it takes; the reverse order if None.
        transpose_layout: Whether to permute the layout as well.
        output_layout: The layout of the result; overrides `transpose_layout`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        perm: _Ints | None = None,
        transpose_layout: bool = True,
        output_layout: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class WarpAffine(OperatorClass):
    """Apply an affine transform to images: rotation, scaling, shear and translation in one pass.

    Args:
        matrix: A 2 x 3 matrix for (x, y), or 3 x 4 for volumes. The origin is the corner of the first pixel.
        inverse_map: Whether the matrix maps output coordinates to input coordinates (the default), or the reverse.
        size: Height and width of the result in pixels (preceded by depth for volumes); those of `data` if None.
        fill_value: The value used outside `data`; if None, the edge pixels are repeated.
        interp_type: Interpolation: INTERP_LINEAR, or INTERP_NN, which never mixes values and therefore suits masks.
        dtype: Type of the result; that of `data` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        matrix: _Floats | None = None,
        inverse_map: bool = True,
        size: _Floats | None = None,
        fill_value: float | None = None,
        interp_type: DALIInterpType = DALIInterpType.INTERP_LINEAR,
        dtype: DALIDataType | None = None,
        output_dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        transform: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        matrix: _Floats | _Node | None = None,
        size: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Water(OperatorClass):
    """Distort images as if seen through water: a sine wave along x and a cosine wave along y.

    Args:
        ampl_x: Amplitude of the wave along x, in pixels.
        ampl_y: Amplitude of the wave along y, in pixels.
        freq_x: Frequency of the wave along x, in radians per row; by default one period takes 128 rows.
        freq_y: Frequency of the wave along y, in radians per column.
        phase_x: Phase of the wave along x, in radians.
        phase_y: Phase of the wave along y, in radians.
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: Interpolation: INTERP_NN (nearest neighbor) or INTERP_LINEAR.
        fill_value: The value used outside the image.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        ampl_x: float = 10.0,
        ampl_y: float = 10.0,
        freq_x: float = 0.04908738521234052,
        freq_y: float = 0.04908738521234052,
        phase_x: float = 0.0,
        phase_y: float = 0.0,
        mask: int = 1,
        interp_type: DALIInterpType = DALIInterpType.INTERP_NN,
        fill_value: float = 0.0,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        mask: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class WebpCompressionDistortion(OperatorClass):
    """Add WebP compression artifacts: encode images with Pillow, lossy, and decode them again.

    The pixels depend on the version of libwebp that Pillow uses, and on nothing else.

    Args:
        quality: WebP quality, from 1 (worst) to 100; other values are clamped.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        quality: int = 50,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        quality: int | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class Zeros(OperatorClass):
    """Create an array of zeros.

    Args:
        shape: The shape of the result; a scalar if None.
        dtype: Element type.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        shape: _Ints | None = None,
        dtype: DALIDataType = DALIDataType.INT32,
        layout: str | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        *,
        shape: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> DataNode: ...

class ZerosLike(OperatorClass):
    """Create an array of zeros like another one.

    Args:
        dtype: Type of the result; that of `data_like` if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        dtype: DALIDataType | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data_like: _Data | _Constant,
        /,
        *,
        name: str | None = None,
    ) -> _Data: ...

class ZoomBlur(OperatorClass):
    """Blur as if the lens zoomed in: average the image with enlarged copies of it.

    Args:
        factor: How much the largest copy is enlarged.
        samples: How many copies, the image included.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        factor: float = 1.1,
        samples: int = 8,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        /,
        *,
        factor: float | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

class COCOReader(readers.COCO):
    """An older name of `ops.readers.COCO`."""

class Caffe2Reader(readers.Caffe2):
    """An older name of `ops.readers.Caffe2`."""

class CaffeReader(readers.Caffe):
    """An older name of `ops.readers.Caffe`."""

class CoinFlip(random.CoinFlip):
    """An older name of `ops.random.CoinFlip`."""

class CropCastPermute(CropMirrorNormalize):
    """An older name of `ops.CropMirrorNormalize`."""

class FastResizeCropMirror(ResizeCropMirror):
    """An older name of `ops.ResizeCropMirror`."""

class FileReader(readers.File):
    """An older name of `ops.readers.File`."""

class HostDecoder(decoders.Image):
    """An older name of `ops.decoders.Image`."""

class HostDecoderCrop(decoders.ImageCrop):
    """An older name of `ops.decoders.ImageCrop`."""

class HostDecoderRandomCrop(decoders.ImageRandomCrop):
    """An older name of `ops.decoders.ImageRandomCrop`."""

class HostDecoderSlice(decoders.ImageSlice):
    """An older name of `ops.decoders.ImageSlice`."""

class ImageDecoder(decoders.Image):
    """An older name of `ops.decoders.Image`."""

class ImageDecoderCrop(decoders.ImageCrop):
    """An older name of `ops.decoders.ImageCrop`."""

class ImageDecoderRandomCrop(decoders.ImageRandomCrop):
    """An older name of `ops.decoders.ImageRandomCrop`."""

class ImageDecoderSlice(decoders.ImageSlice):
    """An older name of `ops.decoders.ImageSlice`."""

class MXNetReader(readers.MXNet):
    """An older name of `ops.readers.MXNet`."""

class MedianBlur(experimental.MedianBlur):
    """An older name of `ops.experimental.MedianBlur`."""

class NormalDistribution(random.Normal):
    """An older name of `ops.random.Normal`."""

class NormalizePermute(CropMirrorNormalize):
    """An older name of `ops.CropMirrorNormalize`."""

class NumpyReader(readers.Numpy):
    """An older name of `ops.readers.Numpy`."""

class SequenceReader(readers.Sequence):
    """An older name of `ops.readers.Sequence`."""

class TFRecordReader(readers.TFRecord):
    """An older name of `ops.readers.TFRecord`."""

class TransformTranslation(transforms.Translation):
    """An older name of `ops.transforms.Translation`."""

class Uniform(random.Uniform):
    """An older name of `ops.random.Uniform`."""

class nvJPEGDecoder(decoders.Image):  # noqa: N801 - DALI's name
    """An older name of `ops.decoders.Image`."""

class nvJPEGDecoderCrop(decoders.ImageCrop):  # noqa: N801 - DALI's name
    """An older name of `ops.decoders.ImageCrop`."""

class nvJPEGDecoderRandomCrop(decoders.ImageRandomCrop):  # noqa: N801 - DALI's name
    """An older name of `ops.decoders.ImageRandomCrop`."""

class nvJPEGDecoderSlice(decoders.ImageSlice):  # noqa: N801 - DALI's name
    """An older name of `ops.decoders.ImageSlice`."""
