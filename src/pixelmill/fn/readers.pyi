# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.readers: operators as functions."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, TypeAlias

from numpy.typing import NDArray

from pixelmill.graph.nodes import DataNode
from pixelmill.types import ArrayConstant, DALIImageType, ScalarConstant

_Node: TypeAlias = DataNode | ScalarConstant | ArrayConstant
_Ints: TypeAlias = int | Sequence[int] | NDArray[Any]
_Floats: TypeAlias = float | Sequence[float] | NDArray[Any]
_Strings: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]

def caffe(
    *,
    path: _Strings,
    image_available: bool = True,
    label_available: bool = True,
    random_shuffle: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Read images and labels from LMDB databases of Caffe.

    Returns the bytes of each image (uint8, one axis; height, width and channels if it is not encoded) and its label
    (int32, shape (1,)). The databases are read without a library of LMDB.

    Args:
        path: The folders of the databases.
        image_available: Whether to return images.
        label_available: Whether to return labels.
        random_shuffle: Whether to read in a new random order in each epoch.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def caffe2(
    *,
    path: _Strings,
    image_available: bool = True,
    label_type: Literal[0, 1, 2, 3, 4] = 0,
    num_labels: int = 1,
    additional_inputs: int = 0,
    bbox: bool = False,
    random_shuffle: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Read images, labels and other tensors from LMDB databases of Caffe2.

    Returns the image, the label, the additional tensors and the boxes, as far as there are any. Images are as in
    `readers.caffe`; all other tensors have one axis and are of type int32 or float.

    Args:
        path: The folders of the databases.
        image_available: Whether the first tensor of a record is an image.
        label_type: What the label is: 0 for a class, 1 for the indices of several labels, 2 for a vector of floats, 3
            for indices with weights, 4 for none. Indices become a vector of `num_labels` elements.
        num_labels: The number of labels.
        additional_inputs: The number of tensors after the label.
        bbox: Whether the last tensor is bounding boxes.
        random_shuffle: Whether to read in a new random order in each epoch.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def coco(
    *,
    file_root: str,
    annotations_file: str | None = None,
    ltrb: bool = False,
    ratio: bool = False,
    size_threshold: float = 0.1,
    include_iscrowd: bool = True,
    skip_empty: bool = False,
    polygon_masks: bool = False,
    masks: bool = False,
    pixelwise_masks: bool = False,
    image_ids: bool = False,
    avoid_class_remapping: bool = False,
    images: _Strings | None = None,
    preprocessed_annotations: str | None = None,
    save_preprocessed_annotations: bool = False,
    save_preprocessed_annotations_dir: str | None = None,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    save_img_ids: bool | None = None,
    meta_files_path: str | None = None,
    dump_meta_files: bool | None = None,
    dump_meta_files_path: str | None = None,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[DataNode]:
    """Read images with the boxes, labels and masks of their objects from a COCO dataset.

    Returns the bytes of each image, the boxes (float, (objects, 4)) and the labels (int32). With `polygon_masks`, the
    polygons (int32: mask, first vertex, end vertex) and the vertices (float: x, y) follow; with `pixelwise_masks`, an
    image of labels (int32, one channel), in which the largest label wins where objects overlap. With `image_ids`, the
    id of the image is last.

    Args:
        file_root: The folder that the file names of the annotations are relative to.
        annotations_file: The JSON file with the annotations.
        ltrb: Whether boxes are left, top, right, bottom instead of left, top, width, height.
        ratio: Whether boxes and vertices are fractions of the image size instead of pixels.
        size_threshold: Skip objects whose width or height is below this, in pixels.
        include_iscrowd: Whether to include crowd annotations.
        skip_empty: Whether to skip images without objects.
        polygon_masks: Whether to return polygons and vertices.
        masks: Legacy form of `polygon_masks`, with polygons counted in coordinates instead of vertices.
        pixelwise_masks: Whether to return an image of labels.
        image_ids: Whether to return the ids of the images.
        avoid_class_remapping: Whether to keep the category ids of the file instead of numbering categories from 1.
        images: File names of the images to read, in this order; if None, all images by id.
        preprocessed_annotations: A folder of files that `save_preprocessed_annotations` saved, to read instead of the
            JSON file; the choice of objects and the form of boxes were decided then.
        save_preprocessed_annotations: Save what was read, for `preprocessed_annotations`.
        save_preprocessed_annotations_dir: The folder to save to.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def dataset(
    path: _Strings,
    *,
    columns: _Strings | None = None,
    format: str | None = None,
    split: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    balanced: bool = False,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> dict[str, DataNode]:
    """Read a dataset in any container that `pixelmill convert` writes; the container is recognized by its content.

    Returns a dictionary with a node for each column: `image` and `mask` (encoded, uint8, one axis; an empty mask if a
    sample has none), `label` (int64, one axis, as many as the sample has), `target` (the same as float32), `boxes`
    (float32, (n, 4): left, top, right, bottom as fractions of the size), `box_label` (int64, one axis) and `corners`
    (float32, (n, 4, 2): x and y of the corners of each box, which may be an oriented one, as fractions of the size).

    Args:
        path: A folder, a file, a pattern such as `train-*.tfrecord` or `{000..146}.tar`, or several files.
        columns: The columns to return; `image` and `label` if None.
        format: The container, as for `convert --from`; recognized by its content if None.
        split: The subset to read, such as `train`: the samples that belong to it, the folder of this name, or the files
            that begin with it.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        balanced: Whether to read as many samples of each class in every epoch. An epoch is about as long as without;
            samples of small classes come several times, those of large ones take turns over the epochs.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def file(
    *,
    file_root: str | None = None,
    file_list: str | None = None,
    files: _Strings | None = None,
    labels: _Ints | None = None,
    file_filters: _Strings | None = None,
    dir_filters: _Strings | None = None,
    case_sensitive_filter: bool = False,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[DataNode]:
    """Read whole files and their labels.

    Returns the bytes of each file (uint8, one axis) and its label (int32, shape (1,)).

    Args:
        file_root: A folder of class folders; with `file_list` or `files`, the folder that their paths are relative to.
        file_list: A text file with a path and a label on each line.
        files: The paths of the files.
        labels: One label per entry of `files`; the indices of the files if None.
        file_filters: Glob patterns of the file names to read below `file_root`; those of images if None.
        dir_filters: Glob patterns of the folder names to read below `file_root`.
        case_sensitive_filter: Whether the patterns are case-sensitive.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def mxnet(
    *,
    path: _Strings,
    index_path: _Strings | None = None,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> list[DataNode]:
    """Read images and labels from RecordIO files.

    Returns the bytes of each image (uint8, one axis) and its labels (float32, one axis). Records are read in file
    order.

    Args:
        path: The `.rec` files.
        index_path: The `.idx` file of each, or one for all; if None, records are located by their headers.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def numpy(
    *,
    files: _Strings | None = None,
    file_list: str | None = None,
    file_root: str | None = None,
    file_filter: str = "*.npy",
    roi_start: _Ints | _Node | None = None,
    rel_roi_start: _Floats | _Node | None = None,
    roi_end: _Ints | _Node | None = None,
    rel_roi_end: _Floats | _Node | None = None,
    roi_shape: _Ints | _Node | None = None,
    rel_roi_shape: _Floats | _Node | None = None,
    roi_axes: _Ints | None = None,
    out_of_bounds_policy: Literal["error", "pad", "trim_to_shape"] = "error",
    fill_value: float = 0.0,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    cache_header_information: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    register_buffers: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
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
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def pack(
    path: _Strings,
    *,
    columns: _Strings | None = None,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> dict[str, DataNode]:
    """Read packs, which `pixelmill convert --to pack` writes.

    Returns the columns of `readers.dataset`. Packed images are for `decoders.image` and the other decoders of this
    library; `open_dataset` returns the original files.

    Args:
        path: A folder, a file, a pattern such as `train-*.pack`, or several files.
        columns: The columns to return; `image` and `label` if None.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def sequence(
    *,
    file_root: str,
    sequence_length: int,
    step: int = 1,
    stride: int = 1,
    image_type: DALIImageType = DALIImageType.RGB,
    random_shuffle: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> DataNode:
    """Read sequences of frames from folders of images, decoded and stacked (uint8, layout FHWC).

    Each folder in `file_root` is a stream, and its files in alphabetical order are the frames. A sequence lies within
    one stream, and its frames have the same size.

    Args:
        file_root: The folder of the streams.
        sequence_length: The number of frames of a sequence.
        step: The distance between the first frames of consecutive sequences.
        stride: The distance between consecutive frames of a sequence.
        image_type: The color format of the frames.
        random_shuffle: Whether to read in a new random order in each epoch.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def tfrecord(
    path: _Strings,
    index_path: _Strings | None = None,
    *,
    features: Any,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> dict[str, DataNode]:
    """Read features of the tf.train.Examples in TFRecord files; both checksums of each record are verified.

    Returns a dictionary with one node per feature: bytes (uint8, one axis) for a string, float32 or int64 otherwise.
    Records without the feature yield its default value, or an empty list for a `VarLenFeature`.

    Args:
        path: The TFRecord files; gzip files are unpacked into the cache folder first.
        index_path: One index file per TFRecord file, as `tfrecord2idx` writes it; if None, the files are scanned.
        features: A dictionary from feature names to `pixelmill.tfrecord.FixedLenFeature` or `VarLenFeature`.
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Synonym of `random_shuffle`.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """

def webdataset(
    *,
    paths: _Strings,
    ext: _Strings,
    index_paths: _Strings | None = None,
    missing_component_behavior: Literal["", "empty", "skip", "error"] = "",
    dtypes: Any = None,
    case_sensitive_extensions: bool = True,
    random_shuffle: bool = False,
    shuffle_after_epoch: bool = False,
    num_shards: int = 1,
    shard_id: int = 0,
    stick_to_shard: bool = False,
    pad_last_batch: bool = False,
    shuffle_mode: Literal["global", "blocks"] = "global",
    shuffle_window: int = 16,
    storage_options: Any = None,
    cache_size: int | None = None,
    read_ahead_bytes: int = 268435456,
    bytes_per_sample_hint: object = None,
    dont_use_mmap: object = None,
    initial_fill: object = None,
    lazy_init: object = None,
    prefetch_queue_depth: object = None,
    preserve: object = None,
    read_ahead: object = None,
    shuffle_after_epoch_seed: object = None,
    skip_cached_images: object = None,
    tensor_init_bytes: object = None,
    use_o_direct: object = None,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
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
        random_shuffle: Whether to read in a new random order in each epoch.
        shuffle_after_epoch: Like `random_shuffle`; every instance then stays with its shard.
        num_shards: The number of shards that the dataset is divided into.
        shard_id: The shard to start with.
        stick_to_shard: Whether to stay with this shard instead of moving to the next one after each epoch.
        pad_last_batch: Whether to repeat the last sample until the last batch is full and all shards are equally long.
        shuffle_mode: What is shuffled: `"global"` for samples, `"blocks"` for runs of neighboring records of up to 8 MB
            whose samples are shuffled in windows, so that remote files are read in few requests.
        shuffle_window: The number of blocks whose samples are shuffled together.
        storage_options: For files at addresses: options of the store such as credentials, by the names of fsspec.
        cache_size: For files at addresses: the most bytes that the cache on this machine may take; a tenth of the free
            disk if None, no cache if 0.
        read_ahead_bytes: For files at addresses: the most bytes to read ahead.
        device: Where it should run; the native engine runs everything on the CPU.
        name: The name of its node.
        seed: A seed for its random numbers.
    """
