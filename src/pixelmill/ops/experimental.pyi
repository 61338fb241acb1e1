# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.experimental: operators as classes."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.ops import OperatorClass
from pixelmill.types import ArrayConstant, DALIDataType, DALIInterpType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

class Dilate(OperatorClass):
    """Replace every pixel by the largest value in a rectangle around it, channel by channel.

    Args:
        mask_size: Width and height of the rectangle, at most 255.
        anchor: The pixel of the rectangle, by column and row, that lies on the pixel of the result; -1 is the middle.
        iterations: How many times to apply the operation.
        border_mode: What lies outside of `data`, as in `experimental.warp_perspective`; with `"constant"`, pixels
            outside do not take part.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        mask_size: _Ints = (3, 3),
        anchor: _Ints = (-1, -1),
        iterations: int = 1,
        border_mode: Literal["constant", "replicate", "reflect", "reflect_101", "wrap"] = "constant",
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
        mask_size: _Ints | _Node | None = None,
        anchor: _Ints | _Node | None = None,
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

class Erode(OperatorClass):
    """Replace every pixel by the smallest value in a rectangle around it, channel by channel.

    Args:
        mask_size: Width and height of the rectangle, at most 255.
        anchor: The pixel of the rectangle, by column and row, that lies on the pixel of the result; -1 is the middle.
        iterations: How many times to apply the operation.
        border_mode: What lies outside of `data`, as in `experimental.warp_perspective`; with `"constant"`, pixels
            outside do not take part.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        mask_size: _Ints = (3, 3),
        anchor: _Ints = (-1, -1),
        iterations: int = 1,
        border_mode: Literal["constant", "replicate", "reflect", "reflect_101", "wrap"] = "constant",
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
        mask_size: _Ints | _Node | None = None,
        anchor: _Ints | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...

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

class MedianBlur(OperatorClass):
    """Apply a median filter; the border pixels are repeated.

    Args:
        window_size: Height and width of the window in pixels, odd and up to 255; one number for both.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        window_size: _Ints = (3, 3),
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
        name: str | None = None,
    ) -> _Data: ...

class Remap(OperatorClass):
    """Take each pixel of the result from a place of the input: `output(x, y) = input(mapx(x, y), mapy(x, y))`.

    Pixels from outside of the input are 0.

    Args:
        interp: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.
        pixel_origin: Whether (0, 0) in the maps is the `"corner"` or the `"center"` of the first pixel.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        interp: DALIInterpType = DALIInterpType.INTERP_LINEAR,
        pixel_origin: Literal["corner", "center"] = "corner",
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        mapx: DataNode | list[DataNode] | _Constant,
        mapy: DataNode | list[DataNode] | _Constant,
        /,
        *,
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

class WarpPerspective(OperatorClass):
    """Apply a perspective transform to images.

    Args:
        matrix: 3 x 3 numbers, row by row, which map (x, y, 1).
        size: Height and width of the result; those of `data` by default.
        interp_type: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC.
        inverse_map: Whether the matrix maps the result to `data`, or `data` to the result.
        pixel_origin: Whether (0, 0) is the `"corner"` or the `"center"` of the first pixel.
        border_mode: What lies outside of `data`: `"constant"`, `"replicate"` (aaa|abcd|ddd), `"reflect"`
            (cba|abcd|dcb), `"reflect_101"` (dcb|abcd|cba) or `"wrap"` (bcd|abcd|abc).
        fill_value: The value for `border_mode="constant"`, one for all channels or one each; 0 by default.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

    def __init__(
        self,
        *,
        matrix: _Floats | None = None,
        size: _Floats | None = None,
        interp_type: DALIInterpType = DALIInterpType.INTERP_LINEAR,
        inverse_map: bool = True,
        pixel_origin: Literal["corner", "center"] = "corner",
        border_mode: Literal["constant", "replicate", "reflect", "reflect_101", "wrap"] = "constant",
        fill_value: _Floats | None = None,
        bytes_per_sample_hint: object = None,
        preserve: object = None,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
    ) -> None: ...
    def __call__(
        self,
        data: _Data | _Constant,
        matrix_input: DataNode | list[DataNode] | _Constant | None = None,
        /,
        *,
        matrix: _Floats | _Node | None = None,
        size: _Floats | _Node | None = None,
        name: str | None = None,
    ) -> _Data: ...
