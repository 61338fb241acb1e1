"""Readers of npy files, RecordIO files and tar archives, and the decoder of npy files."""

from __future__ import annotations

from typing import Literal

from pixelmill.errors import ArgumentError
from pixelmill.formats import file_index
from pixelmill.formats.index import Index
from pixelmill.operators.crop import cast_to, cut_window
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Anything, Floats, Ints, PerSample, Strings, Tensor, operator
from pixelmill.operators.readers import Order, reader
from pixelmill.operators.windows import SliceBounds, slice_window
from pixelmill.steps.sources import DecodeNpy, NpyShape, Read, Reader, ReadNamed, ReadNpy, ReadRecordio, Records, ViewAs
from pixelmill.types import UINT8, DALIDataType

RegionPolicy = Literal["error", "pad", "trim_to_shape"]


@reader("readers.numpy", ignored=("cache_header_information", "register_buffers"), aliases=("NumpyReader",))
def numpy(
    *,
    order: Order,
    files: Strings | None = None,
    file_list: str | None = None,
    file_root: str | None = None,
    file_filter: str = "*.npy",
    roi_start: PerSample[Ints] | None = None,
    rel_roi_start: PerSample[Floats] | None = None,
    roi_end: PerSample[Ints] | None = None,
    rel_roi_end: PerSample[Floats] | None = None,
    roi_shape: PerSample[Ints] | None = None,
    rel_roi_shape: PerSample[Floats] | None = None,
    roi_axes: Ints | None = None,
    out_of_bounds_policy: RegionPolicy = "error",
    fill_value: float = 0.0,
) -> Tensor:
    """Read arrays from npy files, either whole or a region of each.

    Files in C and Fortran order and of either byte order are read; object arrays are refused. For a region, only the
    rows that it needs are read from the file.

    Args:
        files: The paths of the files.
        file_list: A text file with a path on each line.
        file_root: A folder whose files, and those of the folders in it, are read; with `file_list` or `files`, the
            folder that their paths are relative to.
        file_filter: Glob pattern of the file names to read below `file_root`.
        roi_start: The start of the region, in elements.
        rel_roi_start: The start as a fraction of the extent.
        roi_end: The end of the region, in elements.
        rel_roi_end: The end as a fraction of the extent.
        roi_shape: The shape of the region, in elements.
        rel_roi_shape: The shape as a fraction of the extent.
        roi_axes: The axes that these arguments refer to; all axes if None.
        out_of_bounds_policy: How to treat a region that exceeds the array: raise an error, pad it, or trim it.
        fill_value: The value that `"pad"` fills with.
    """
    reader = order.read(_arrays(files, file_list, file_root, file_filter))
    bounds = SliceBounds(roi_start, roi_end, roi_shape, rel_roi_start, rel_roi_end, rel_roi_shape)
    if not bounds.given():
        return ReadNpy(reader=reader, axes=(), strict=False, ranges=Records(reader)).value()
    return _region(reader, bounds, roi_axes or [], out_of_bounds_policy, fill_value)


def _region(reader: Reader, bounds: SliceBounds, axes: list[int], policy: RegionPolicy, fill: float) -> Tensor:
    if len(set(axes)) < len(axes):
        raise ArgumentError(f"readers.numpy: roi_axes contains an axis twice: {axes}")
    shape = NpyShape(reader=reader, ranges=Records(reader)).value()
    window, _ = slice_window("readers.numpy", shape, "", (None, None), bounds, axes, None, normalized=(False, False))
    strict = policy == "error"
    start, extent = window
    read = ReadNpy(start=start, extent=extent, reader=reader, ranges=Records(reader), axes=tuple(axes), strict=strict)
    rows, first = read.pair()
    return cut_window("readers.numpy", rows, (first, extent), axes, policy, [fill])


def _arrays(files: list[str] | None, file_list: str | None, root: str | None, pattern: str) -> Index:
    if files is not None and file_list is not None:
        raise ArgumentError("readers.numpy: files and file_list are mutually exclusive")
    if files is not None:
        found = file_index.from_files(files, root=root)
        return Index(found.paths, root=found.root)
    if file_list is not None:
        return file_index.named_in_list(file_list, root=root)
    if root is None:
        raise ArgumentError("readers.numpy needs file_root, file_list or files")
    return file_index.below_root(root, pattern=pattern)


@operator("decoders.numpy", class_name="Numpy", dali=BEFORE)
def decode_numpy(data: Tensor, *, dtype: DALIDataType | None = None) -> Tensor:
    """Decode the bytes of npy files.

    Args:
        data: The bytes of the file.
        dtype: Type of the result; that of the file if None.
    """
    return cast_to(DecodeNpy(encoded=data).value(), dtype)


@operator("io.file.read", ignored=("use_o_direct", "dont_use_mmap"), dali=BEFORE)
def read_file(filepaths: Tensor) -> Tensor:
    """Read the files with the given names.

    Args:
        filepaths: The name of the file for each sample, uint8 with one axis.
    """
    return ReadNamed(path=filepaths).value()


@reader("readers.mxnet", outputs=2, aliases=("MXNetReader",), class_name="MXNet")
def mxnet(
    *,
    order: Order,
    path: Strings,
    index_path: Strings | None = None,
) -> tuple[Tensor, Tensor]:
    """Read images and labels from RecordIO files.

    Returns the bytes of each image (uint8, one axis) and its labels (float32, one axis). Records are read in file
    order.

    Args:
        path: The `.rec` files.
        index_path: The `.idx` file of each, or one for all; if None, records are located by their headers.
    """
    from pixelmill.formats.recordio.index import open_records  # on use: programs need one or two formats

    reader = order.preferring_after_epoch().read(open_records(path, index_path))
    image, label = ReadRecordio(reader=reader, ranges=Records(reader)).pair()
    return image, label


@reader("readers.webdataset", outputs=None)
def webdataset(
    *,
    order: Order,
    paths: Strings,
    ext: Strings,
    index_paths: Strings | None = None,
    missing_component_behavior: Literal["", "empty", "skip", "error"] = "",
    dtypes: Anything = None,
    case_sensitive_extensions: bool = True,
) -> tuple[Tensor, ...] | Tensor:
    """Read samples from the members of tar archives.

    Members with the same name up to the first dot of the base name form a sample. Returns one output with one axis for
    each entry of `ext`; a single node if there is only one entry.

    Args:
        paths: The archives.
        ext: The extension of the file for each output; alternatives are separated by semicolons.
        index_paths: An index file for each archive; if None, the archives are scanned.
        missing_component_behavior: What to do with a sample without such a file: return an `"empty"` output, `"skip"`
            the sample, or raise an `"error"`.
        dtypes: The types of the outputs, one for each; bytes if None.
        case_sensitive_extensions: Whether extensions are case-sensitive.
    """
    from pixelmill.formats.webdataset.index import open_archives

    types = _types(dtypes, len(ext))
    index = open_archives(
        paths,
        index_paths,
        extensions=ext,
        missing=missing_component_behavior,
        case_sensitive=case_sensitive_extensions,
    )
    reader = order.preferring_after_epoch().read(index)
    pieces = [Read(reader=reader, ranges=Records(reader, str(number))).value() for number in range(len(ext))]
    made = tuple(
        piece if dtype is UINT8 else ViewAs(encoded=piece, dtype=dtype).value()
        for piece, dtype in zip(pieces, types, strict=True)
    )
    return made if len(made) > 1 else made[0]


def _types(dtypes: object, count: int) -> list[DALIDataType]:
    if dtypes is None:
        return [UINT8] * count
    given = list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes]
    known = [dtype for dtype in given if isinstance(dtype, DALIDataType)]
    if len(given) != count or len(known) != count:
        raise ArgumentError(f"readers.webdataset: dtypes must be {count} types of pixelmill.types, got {dtypes!r}")
    return known
