"""The reader of COCO datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.errors import ArgumentError
from pixelmill.operators.declare import Strings, Tensor
from pixelmill.operators.readers import Order, reader
from pixelmill.steps.sources import Column, CoordinatesOfVertices, LabelImage, Read, Reader, Records, TableColumn
from pixelmill.storage import plain

if TYPE_CHECKING:
    from pixelmill.formats.coco import Choice


@reader(
    "readers.coco",
    outputs=None,
    renamed={
        "save_img_ids": "image_ids",
        "meta_files_path": "preprocessed_annotations",
        "dump_meta_files": "save_preprocessed_annotations",
        "dump_meta_files_path": "save_preprocessed_annotations_dir",
    },
    aliases=("COCOReader",),
    class_name="COCO",
)
def coco(
    *,
    order: Order,
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
    images: Strings | None = None,
    preprocessed_annotations: str | None = None,
    save_preprocessed_annotations: bool = False,
    save_preprocessed_annotations_dir: str | None = None,
) -> tuple[Tensor, ...]:
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
    """
    from pixelmill.formats.coco import Choice, Parts, open_annotations, open_preprocessed, save

    if (polygon_masks or masks) and pixelwise_masks:
        raise ArgumentError("readers.coco: polygon_masks and pixelwise_masks are mutually exclusive")
    file_root = plain(file_root)
    choice = Choice(ltrb, ratio, size_threshold, include_iscrowd, skip_empty, avoid_class_remapping, images)
    parts = Parts(polygon_masks or masks, pixelwise_masks, image_ids)
    if preprocessed_annotations:
        _check_alone(annotations_file, choice)
        index = open_preprocessed(plain(preprocessed_annotations), root=file_root, parts=parts)
    elif annotations_file:
        index = open_annotations(plain(annotations_file), root=file_root, choice=choice)
    else:
        raise ArgumentError("readers.coco needs the annotations: annotations_file or preprocessed_annotations")
    if save_preprocessed_annotations and not preprocessed_annotations:
        if not save_preprocessed_annotations_dir:
            raise ArgumentError("readers.coco: save_preprocessed_annotations needs save_preprocessed_annotations_dir")
        save(save_preprocessed_annotations_dir, index, parts=parts, ratio=ratio)
    reader = order.read(index)
    outputs = [Read(reader=reader, ranges=Records(reader)).value(), _column(reader, "boxes"), _column(reader, "labels")]
    if polygon_masks or masks:
        polygons = _column(reader, "polygons")
        if masks:
            polygons = CoordinatesOfVertices(polygons=polygons).value()
        outputs += [polygons, _column(reader, "shares" if ratio else "vertices")]
    if pixelwise_masks:
        painted = LabelImage(
            size=_column(reader, "size"),
            labels=_column(reader, "labels"),
            polygons=_column(reader, "polygons"),
            vertices=_column(reader, "vertices"),
            runs=_column(reader, "runs"),
            counts=_column(reader, "counts"),
        )
        outputs.append(painted.value("HWC"))
    if image_ids:
        outputs.append(_column(reader, "image_id"))
    return tuple(outputs)


def _check_alone(annotations_file: str | None, choice: Choice) -> None:
    """Raise ArgumentError for arguments that were decided when the annotations were saved."""
    usual = type(choice)(include_iscrowd=choice.include_iscrowd, avoid_class_remapping=choice.avoid_class_remapping)
    given = [name for name, value in vars(choice).items() if value != getattr(usual, name)]
    if annotations_file:
        given.append("annotations_file")
    if given:
        raise ArgumentError(f"readers.coco: preprocessed_annotations cannot be combined with {', '.join(given)}")


def _column(reader: Reader, name: str) -> Tensor:
    return Column(reader=reader, table=TableColumn(reader, name)).value()
