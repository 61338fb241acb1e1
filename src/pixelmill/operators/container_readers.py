"""Readers of arrays, RecordIO files and tar archives, and the decoder of npy files."""

from __future__ import annotations

from typing import Literal

from pixelmill.errors import ArgumentError
from pixelmill.formats import files as file_index
from pixelmill.formats.index import Index
from pixelmill.operators.crop import cast_to, cut
from pixelmill.operators.dali import BEFORE
from pixelmill.operators.declare import Anything, Floats, Ints, PerSample, Strings, Tensor, operator
from pixelmill.operators.readers import LOADER_HINTS, make_reader
from pixelmill.operators.windows import SliceBounds, slice_window
from pixelmill.steps.sources import DecodeNpy, NpyShape, Read, Reader, ReadNamed, ReadNpy, ReadRecordio, Records, ViewAs
from pixelmill.types import UINT8, DALIDataType

RegionPolicy = Literal["error", "pad", "trim_to_shape"]


@operator(
    "readers.numpy",
    dali=BEFORE,
    ignored=(*LOADER_HINTS, "shuffle_after_epoch_seed", "cache_header_information", "register_buffers"),
    aliases=("NumpyReader",),
)
def numpy(
    *,
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
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
) -> Tensor:
    """Read arrays from npy files, whole or only a region of each.

    Files in C and in Fortran order and of either byte order are read; object arrays are refused. Of a region, only the
    rows that it needs are read from the file.

    Args:
        files: The paths themselves.
        file_list: A text file with a path on each line.
        file_root: A folder whose files, and those of the folders in it, are read; with `file_list` or `files`, what
            their paths are relative to.
        file_filter: The pattern of file names to take from `file_root`.
        roi_start: Where the region begins, in elements.
        rel_roi_start: The same as a share of the extent.
        roi_end: Where the region ends, in elements.
        rel_roi_end: The same as a share.
        roi_shape: How large the region is, in elements.
        rel_roi_shape: The same as a share.
        roi_axes: The axes that these arguments mean; all when left out.
        out_of_bounds_policy: What to do with a region that leaves the array.
        fill_value: What `"pad"` puts outside.
        random_shuffle: Walk in a new random order in each epoch.
        shuffle_after_epoch: The same; every instance then stays with its shard.
        num_shards: Into how many parts the dataset is divided.
        shard_id: The part to begin with.
        stick_to_shard: Stay with this part instead of moving to the next after each epoch.
        pad_last_batch: Repeat the last sample until the last batch is full, and all shards are equally long.
    """
    reader = make_reader(
        _arrays(files, file_list, file_root, file_filter),
        random_shuffle=random_shuffle,
        shuffle_after_epoch=shuffle_after_epoch,
        num_shards=num_shards,
        shard_id=shard_id,
        stick_to_shard=stick_to_shard,
        pad_last_batch=pad_last_batch,
    )
    bounds = SliceBounds(roi_start, roi_end, roi_shape, rel_roi_start, rel_roi_end, rel_roi_shape)
    if not bounds.given():
        return ReadNpy(reader=reader, axes=(), strict=False, ranges=Records(reader)).value()
    return _region(reader, bounds, roi_axes or [], out_of_bounds_policy, fill_value)


def _region(reader: Reader, bounds: SliceBounds, axes: list[int], policy: RegionPolicy, fill: float) -> Tensor:
    if len(set(axes)) < len(axes):
        raise ArgumentError(f"readers.numpy: roi_axes names an axis twice: {axes}")
    shape = NpyShape(reader=reader, ranges=Records(reader)).value()
    window, _ = slice_window("readers.numpy", shape, "", (None, None), bounds, axes, None, normalized=(False, False))
    strict = policy == "error"
    start, extent = window
    read = ReadNpy(start=start, extent=extent, reader=reader, ranges=Records(reader), axes=tuple(axes), strict=strict)
    rows, first = read.pair()
    return cut("readers.numpy", rows, (first, extent), axes, policy, [fill])


def _arrays(files: list[str] | None, file_list: str | None, root: str | None, pattern: str) -> Index:
    if files is not None and file_list is not None:
        raise ArgumentError("readers.numpy: files and file_list exclude each other")
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
        dtype: Type of the result, that of the file when left out.
    """
    return cast_to(DecodeNpy(encoded=data).value(), dtype)


@operator("io.file.read", ignored=("use_o_direct", "dont_use_mmap"), dali=BEFORE)
def read_file(filepaths: Tensor) -> Tensor:
    """Read files whose names are given as bytes.

    Args:
        filepaths: The name of the file of each sample, uint8 with one axis.
    """
    return ReadNamed(path=filepaths).value()


@operator(
    "readers.mxnet",
    dali=BEFORE,
    outputs=2,
    ignored=(*LOADER_HINTS, "shuffle_after_epoch_seed"),
    aliases=("MXNetReader",),
    class_name="MXNet",
)
def mxnet(
    *,
    path: Strings,
    index_path: Strings | None = None,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
) -> tuple[Tensor, Tensor]:
    """Read images and labels from RecordIO files.

    Gives the bytes of each image (uint8, one axis) and its labels (float32, one axis). Records come in the order of
    their place in the files.

    Args:
        path: The `.rec` files.
        index_path: The `.idx` file of each, or one for all; without it the records are found by their heads.
        random_shuffle: Walk in a new random order in each epoch.
        shuffle_after_epoch: The same; every instance then stays with its shard.
        num_shards: Into how many parts the dataset is divided.
        shard_id: The part to begin with.
        stick_to_shard: Stay with this part instead of moving to the next after each epoch.
        pad_last_batch: Repeat the last sample until the last batch is full, and all shards are equally long.
    """
    from pixelmill.formats.recordio_index import open_records

    reader = make_reader(
        open_records(path, index_path),
        random_shuffle=random_shuffle and not shuffle_after_epoch,
        shuffle_after_epoch=shuffle_after_epoch,
        num_shards=num_shards,
        shard_id=shard_id,
        stick_to_shard=stick_to_shard,
        pad_last_batch=pad_last_batch,
    )
    image, label = ReadRecordio(reader=reader, ranges=Records(reader)).pair()
    return image, label


@operator("readers.webdataset", outputs=None, ignored=(*LOADER_HINTS, "shuffle_after_epoch_seed"), dali=BEFORE)
def webdataset(
    *,
    paths: Strings,
    ext: Strings,
    index_paths: Strings | None = None,
    missing_component_behavior: Literal["", "empty", "skip", "error"] = "",
    dtypes: Anything = None,
    case_sensitive_extensions: bool = True,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
) -> tuple[Tensor, ...] | Tensor:
    """Read the files of samples from tar archives.

    Members whose names agree up to the first dot of their last part are a sample. Gives the content of one file for
    each entry of `ext`, with one axis; a single node where there is one entry.

    Args:
        paths: The archives.
        ext: The extension of the file for each output; several that will do have semicolons between them.
        index_paths: An index file for each archive; without them the archives are read through.
        missing_component_behavior: What becomes of a sample without such a file: an `"empty"` output, `"skip"` the
            sample, or an `"error"`.
        dtypes: The types of the outputs, one for each; bytes when left out.
        case_sensitive_extensions: Whether extensions tell capital letters from small ones.
        random_shuffle: Walk in a new random order in each epoch.
        shuffle_after_epoch: The same; every instance then stays with its shard.
        num_shards: Into how many parts the dataset is divided.
        shard_id: The part to begin with.
        stick_to_shard: Stay with this part instead of moving to the next after each epoch.
        pad_last_batch: Repeat the last sample until the last batch is full, and all shards are equally long.
    """
    from pixelmill.formats.webdataset_index import open_archives

    types = _types(dtypes, len(ext))
    reader = make_reader(
        open_archives(
            paths,
            index_paths,
            extensions=ext,
            missing=missing_component_behavior,
            case_sensitive=case_sensitive_extensions,
        ),
        random_shuffle=random_shuffle and not shuffle_after_epoch,
        shuffle_after_epoch=shuffle_after_epoch,
        num_shards=num_shards,
        shard_id=shard_id,
        stick_to_shard=stick_to_shard,
        pad_last_batch=pad_last_batch,
    )
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
