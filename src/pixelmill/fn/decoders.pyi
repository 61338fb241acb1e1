# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.decoders: operators as functions."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray
from typing_extensions import TypeVar

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, DALIDataType, DALIImageType, ScalarConstant

_Data = TypeVar("_Data", DataNode, list[DataNode], default=DataNode)
_Constant: TypeAlias = (
    ScalarConstant | ArrayConstant | float | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
)
_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]

def image(
    data: _Data | _Constant,
    /,
    *,
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DALIDataType = DALIDataType.UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
    affine: object = None,
    bytes_per_sample_hint: object = None,
    cache_batch_copy: object = None,
    cache_debug: object = None,
    cache_size: object = None,
    cache_threshold: object = None,
    cache_type: object = None,
    device_memory_padding: object = None,
    device_memory_padding_jpeg2k: object = None,
    host_memory_padding: object = None,
    host_memory_padding_jpeg2k: object = None,
    hw_decoder_load: object = None,
    hybrid_huffman_threshold: object = None,
    jpeg_fancy_upsampling: object = None,
    memory_stats: object = None,
    preallocate_height_hint: object = None,
    preallocate_width_hint: object = None,
    preserve: object = None,
    split_stages: object = None,
    use_chunk_allocator: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode pictures: JPEG and PNG natively; BMP, GIF, TIFF, WebP, PNM and JPEG 2000 by Pillow.

    Args:
        data: Encoded bytes.
        output_type: Colours of the result and their order; ANY_DATA keeps the channels of the file.
        dtype: Type of the result; floats run from 0 to 1, wider integers over their range.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def image_crop(
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
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DALIDataType = DALIDataType.UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
    affine: object = None,
    bytes_per_sample_hint: object = None,
    cache_batch_copy: object = None,
    cache_debug: object = None,
    cache_size: object = None,
    cache_threshold: object = None,
    cache_type: object = None,
    device_memory_padding: object = None,
    device_memory_padding_jpeg2k: object = None,
    host_memory_padding: object = None,
    host_memory_padding_jpeg2k: object = None,
    hw_decoder_load: object = None,
    hybrid_huffman_threshold: object = None,
    jpeg_fancy_upsampling: object = None,
    memory_stats: object = None,
    preallocate_height_hint: object = None,
    preallocate_width_hint: object = None,
    preserve: object = None,
    split_stages: object = None,
    use_chunk_allocator: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode a window of a picture, and only that.

    Args:
        data: Encoded bytes.
        crop: Height and width of the window.
        crop_h: Its height alone.
        crop_w: Its width alone.
        crop_d: For volumes; no picture has it.
        crop_pos_x: Where it lies: 0 at the left, 1 at the right.
        crop_pos_y: Where it lies: 0 at the top, 1 at the bottom.
        crop_pos_z: For volumes; no picture has it.
        rounding: How a position between pixels is brought to one.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def image_random_crop(
    data: _Data | _Constant,
    /,
    *,
    random_area: _Floats = (0.08, 1.0),
    random_aspect_ratio: _Floats = (0.75, 1.3333333333333333),
    num_attempts: int = 10,
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DALIDataType = DALIDataType.UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
    affine: object = None,
    bytes_per_sample_hint: object = None,
    cache_batch_copy: object = None,
    cache_debug: object = None,
    cache_size: object = None,
    cache_threshold: object = None,
    cache_type: object = None,
    device_memory_padding: object = None,
    device_memory_padding_jpeg2k: object = None,
    host_memory_padding: object = None,
    host_memory_padding_jpeg2k: object = None,
    hw_decoder_load: object = None,
    hybrid_huffman_threshold: object = None,
    jpeg_fancy_upsampling: object = None,
    memory_stats: object = None,
    preallocate_height_hint: object = None,
    preallocate_width_hint: object = None,
    preserve: object = None,
    split_stages: object = None,
    use_chunk_allocator: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode a random window of a picture, and only that.

    Args:
        data: Encoded bytes.
        random_area: Smallest and largest share of the picture's area.
        random_aspect_ratio: Smallest and largest width divided by height.
        num_attempts: How often to draw before the whole picture, cut to the allowed ratios, is taken.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says; the window is drawn in the turned one.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def image_slice(
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
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DALIDataType = DALIDataType.UINT8,
    adjust_orientation: bool = True,
    use_fast_idct: bool = False,
    affine: object = None,
    bytes_per_sample_hint: object = None,
    cache_batch_copy: object = None,
    cache_debug: object = None,
    cache_size: object = None,
    cache_threshold: object = None,
    cache_type: object = None,
    device_memory_padding: object = None,
    device_memory_padding_jpeg2k: object = None,
    host_memory_padding: object = None,
    host_memory_padding_jpeg2k: object = None,
    hw_decoder_load: object = None,
    hybrid_huffman_threshold: object = None,
    jpeg_fancy_upsampling: object = None,
    memory_stats: object = None,
    preallocate_height_hint: object = None,
    preallocate_width_hint: object = None,
    preserve: object = None,
    split_stages: object = None,
    use_chunk_allocator: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode the window that `slice` would cut out, and only that.

    Args:
        data: Encoded bytes.
        anchor: Where the window begins, x before y; numbers with a fraction are shares of the picture.
        extent: How large it is.
        start: Where it begins, in pixels.
        end: Where it ends, in pixels.
        shape: How large it is, in pixels.
        rel_start: Where it begins, as a share of the picture.
        rel_end: Where it ends, as a share of the picture.
        rel_shape: How large it is, as a share of the picture.
        axes: The axes that the other arguments mean, by number.
        axis_names: The same by name; `"WH"` when neither is given.
        normalized_anchor: Whether an anchor with a fraction is a share.
        normalized_shape: Whether an extent with a fraction is a share.
        output_type: Colours of the result and their order.
        dtype: Type of the result.
        adjust_orientation: Turn the picture as its EXIF data says.
        use_fast_idct: Accepted for DALI's programs, without an effect: the accurate transform is the faster one here.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def numpy(
    data: _Data | _Constant,
    /,
    *,
    dtype: DALIDataType | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode the bytes of npy files.

    Args:
        data: The bytes of the file.
        dtype: Type of the result; that of the file if None.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def raw(
    data: _Data | _Constant,
    /,
    *,
    shape: _Ints | _Node | None = None,
    dtype: DALIDataType = DALIDataType.UINT8,
    layout: str | None = None,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Take bytes for the elements of an array, as they are.

    Args:
        data: The bytes, such as the feature `image/encoded` of records with raw pixels.
        shape: Their shape; one extent may be -1 and is then found. One axis when left out.
        dtype: The type of the elements, in the byte order of this machine.
        layout: Names of the axes.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
