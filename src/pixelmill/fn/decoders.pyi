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
    """Decode images: JPEG and PNG natively; BMP, GIF, TIFF, WebP, PNM, JPEG 2000 and AVIF with Pillow.

    Args:
        data: Encoded images, one uint8 vector per sample.
        output_type: Color format of the result; ANY_DATA keeps the channels of the file.
        dtype: Type of the result; floats range from 0 to 1, wider integers over their whole range.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
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
    """Decode a window of an image; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        crop: Height and width of the window in pixels.
        crop_h: Height of the window, as an alternative to `crop`.
        crop_w: Width of the window, as an alternative to `crop`.
        crop_d: Accepted for compatibility with DALI; images have no depth.
        crop_pos_x: Horizontal position of the window: 0 is the left edge, 1 the right edge.
        crop_pos_y: Vertical position of the window: 0 is the top edge, 1 the bottom edge.
        crop_pos_z: Accepted for compatibility with DALI; images have no depth.
        rounding: How the start of the window is brought to a whole pixel.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
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
    """Decode a random window of an image; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        random_area: Smallest and largest area of the window, as fractions of the image area.
        random_aspect_ratio: Smallest and largest aspect ratio (width divided by height) of the window.
        num_attempts: How many windows to draw before falling back to the largest allowed window.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation; the window is drawn in the oriented image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
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
    """Decode the window that `slice` would cut out; pixels outside of it are not decoded.

    Args:
        data: Encoded images, one uint8 vector per sample.
        anchor: The start of the window, x before y; floating-point numbers are fractions of the image size by default.
        extent: The size of the slice, in the same order and unit as the anchor.
        start: Start of the window, in pixels.
        end: End of the window, in pixels.
        shape: Size of the window, in pixels.
        rel_start: Start of the window, as a fraction of the image size.
        rel_end: End of the window, as a fraction of the image size.
        rel_shape: Size of the window, as a fraction of the image size.
        axes: The axes that the other arguments refer to, by index.
        axis_names: The same axes by layout letter; `"WH"` if neither is given.
        normalized_anchor: Whether a floating-point anchor is relative to the shape of the input.
        normalized_shape: Whether a floating-point extent is relative to the shape of the input.
        output_type: Color format of the result, such as RGB, BGR or GRAY.
        dtype: Type of the result.
        adjust_orientation: Whether to apply the EXIF orientation to the image.
        use_fast_idct: Accepted for compatibility with DALI; has no effect, because the accurate transform is the faster
            one here.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def mask(
    data: _Data | _Constant,
    /,
    *,
    bytes_per_sample_hint: object = None,
    preserve: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> _Data:
    """Decode masks: class numbers in one channel, as they are stored.

    The numbers of a palette PNG are its indices, whatever their colors are. Files with several channels are refused.
    The EXIF orientation is not applied. Returns uint16, HWC with one channel.

    Args:
        data: Encoded masks, one uint8 vector per sample.
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
    """Interpret bytes as the elements of an array, without decoding.

    Args:
        data: The bytes, such as the feature `image/encoded` of records with raw pixels.
        shape: The shape of the result; one extent may be -1 and is then inferred. One axis if None.
        dtype: The element type, in the byte order of this machine.
        layout: The layout of the result, one letter per axis, such as `"HWC"`.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
