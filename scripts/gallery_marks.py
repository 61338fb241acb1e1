"""Gallery examples of operators on boxes, points, masks and matrices, drawn onto the sample image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from gallery_chart import HEIGHT, WIDTH, Pixels
from PIL import Image, ImageDraw

import pixelmill.experimental.dynamic as pmd

Array = np.ndarray[Any, Any]
COLORS = ((255, 40, 40), (255, 255, 255), (40, 40, 255), (255, 0, 220))
SIZE = np.array([WIDTH, HEIGHT, WIDTH, HEIGHT], np.float32)
# The house, the tree and the sun as fractions of the image size: left, top, right, bottom.
BOXES = np.array([[20, 60, 72, 116], [136, 58, 170, 120], [150, 12, 180, 42]], np.float32) / SIZE
LABELS = np.array([1, 2, 3], np.int32)
POINTS = np.array([[46, 60], [20, 82], [72, 82], [153, 58], [165, 27]], np.float32)
# One polygon for each of these objects.
OUTLINES = (
    [(20, 82), (46, 60), (72, 82), (66, 82), (66, 116), (26, 116), (26, 82)],
    [(150, 120), (150, 97), (137, 84), (137, 70), (153, 58), (169, 70), (169, 84), (156, 97), (156, 120)],
    [(165, 12), (176, 17), (180, 27), (176, 37), (165, 42), (154, 37), (150, 27), (154, 17)],
)
CENTER = [WIDTH / 2, HEIGHT / 2]


@dataclass(frozen=True)
class Marked:
    """How an operator is shown: its arguments, the function that returns all images, and the number of runs."""

    text: str
    make: Callable[[Pixels], list[Any]]
    times: int = 1


def _boxed(image: Any, boxes: Iterable[Sequence[float]], colors: Sequence[Any] = COLORS) -> Array:
    """Draw boxes, given as fractions of the image size, onto a copy of the image."""
    sheet = Image.fromarray(np.array(image))
    draw = ImageDraw.Draw(sheet)
    size = np.tile([sheet.width, sheet.height], 2)
    for number, box in enumerate(boxes):
        corners = [float(value) for value in np.clip(box, 0, 1) * size]
        draw.rectangle(corners, outline=colors[number % len(colors)], width=2)
    return np.asarray(sheet)


def _dotted(image: Any, points: Iterable[Sequence[float]]) -> Array:
    sheet = Image.fromarray(np.array(image))
    draw = ImageDraw.Draw(sheet)
    for number, (x, y) in enumerate(points):
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=COLORS[number % len(COLORS)], outline=(0, 0, 0))
    return np.asarray(sheet)


def _outlined(image: Any, polygons: Sequence[Sequence[Any]]) -> Array:
    sheet = Image.fromarray(np.array(image))
    draw = ImageDraw.Draw(sheet)
    for number, polygon in enumerate(polygons):
        draw.polygon([tuple(map(float, point)) for point in polygon], outline=COLORS[number], width=3)
    return np.asarray(sheet)


def _mask() -> Array:
    sheet = Image.new("L", (WIDTH, HEIGHT))
    for number, outline in enumerate(OUTLINES, start=1):
        ImageDraw.Draw(sheet).polygon(outline, fill=number)
    return np.asarray(sheet).astype(np.int32)[..., None]


def _colored(mask: Array) -> Array:
    palette = np.array([(40, 40, 48), *COLORS], np.uint8)
    return palette[mask[..., 0]] // 2


def _flipped(image: Pixels) -> list[Any]:
    boxes = pmd.bb_flip(BOXES, ltrb=True, horizontal=1)
    return [_boxed(image, BOXES), _boxed(pmd.flip(image), boxes.array)]


def _pasted(image: Pixels) -> list[Any]:
    place = {"ratio": 1.5, "paste_x": 0.2, "paste_y": 0.7}
    boxes = pmd.bbox_paste(BOXES, ltrb=True, **place)
    canvas = pmd.paste(pmd.tensor(image, layout="HWC"), fill_value=[40, 60, 110], **place)
    return [_boxed(image, BOXES), _boxed(canvas, boxes.array)]


def _rotated(image: Pixels) -> list[Any]:
    boxes = pmd.bbox_rotate(BOXES, angle=15.0, input_shape=[HEIGHT, WIDTH], bbox_layout="xyXY", keep_size=True)
    turned = pmd.rotate(pmd.tensor(image, layout="HWC"), angle=15.0, keep_size=True, fill_value=0)
    return [_boxed(image, BOXES), _boxed(turned, boxes.array)]


def _encoded(image: Pixels) -> list[Any]:
    """Show all anchors, and those that match a box."""
    across, down = np.meshgrid((np.arange(8) + 0.5) / 8, (np.arange(6) + 0.5) / 6)
    centers = np.stack([across.ravel(), down.ravel()], 1)
    half = np.array([0.11, 0.16])
    anchors = np.concatenate([centers - half, centers + half], 1).clip(0, 1).astype(np.float32)
    numbers = [float(value) for value in anchors.ravel()]
    labels = pmd.box_encoder(BOXES, LABELS, anchors=numbers, criteria=0.3)[1].array
    gray = [(90, 90, 90)]
    chosen = _boxed(image, BOXES, [(0, 0, 0)])
    for label in LABELS:
        chosen = _boxed(chosen, anchors[labels == label], [COLORS[label - 1]])
    return [_boxed(_boxed(image, anchors, gray), BOXES), chosen]


def _moved(change: Callable[..., Any], image: Pixels) -> list[Any]:
    """Warp the image by a matrix."""
    matrix = change()
    data = pmd.tensor(image, layout="HWC")
    return [image, np.asarray(pmd.warp_affine(data, matrix=matrix, inverse_map=False, fill_value=0))]


def _points_flipped(image: Pixels) -> list[Any]:
    flipped = pmd.coord_flip(POINTS, layout="xy", flip_x=1, center_x=WIDTH / 2)
    return [_dotted(image, POINTS), _dotted(pmd.flip(image), flipped.array)]


def _points_moved(image: Pixels) -> list[Any]:
    matrix = pmd.transforms.rotation(angle=15.0, center=CENTER)
    before, after = _moved(lambda: matrix, image)
    return [_dotted(before, POINTS), _dotted(after, pmd.coord_transform(POINTS, MT=matrix).array)]


def _window(anchor: Any, shape: Any) -> Array:
    """Convert a window in pixels, height first, to a box."""
    low = np.asarray(anchor)[1::-1]
    return np.concatenate([low, low + np.asarray(shape)[1::-1]]) / SIZE


def _drawn_windows(image: Pixels) -> list[Any]:
    made = [pmd.random_crop_generator(np.int64([HEIGHT, WIDTH, 3]), rng=pmd.RNG(seed)) for seed in range(4)]
    return [image, _boxed(image, [_window(anchor, shape) for anchor, shape in made])]


def _region_windows(image: Pixels) -> list[Any]:
    region = {"roi_start": [55, 15], "roi_shape": [65, 65]}
    options = {"crop_shape": [80, 90], "in_shape": [HEIGHT, WIDTH]}
    made = [pmd.roi_random_crop(**region, **options, rng=pmd.RNG(seed)) for seed in range(3)]
    roi = _window(region["roi_start"], region["roi_shape"])
    return [
        _boxed(image, [roi], [(0, 0, 0)]),
        _boxed(image, [roi, *(_window(m.array, [80, 90]) for m in made)], [(0, 0, 0), *COLORS]),
    ]


def _boxes_cropped(image: Pixels) -> list[Any]:
    options = {"scaling": [0.4, 0.7], "aspect_ratio": [0.7, 1.4], "bbox_layout": "xyXY", "thresholds": [0.3]}
    made = pmd.random_bbox_crop(BOXES, **options, allow_no_crop=False, num_attempts=200, rng=pmd.RNG(3))
    anchor, shape, boxes = (tensor.array for tensor in made)
    part = pmd.slice(pmd.tensor(image, layout="HWC"), anchor, shape, axis_names="WH")
    window = np.concatenate([anchor, anchor + shape])
    return [_boxed(_boxed(image, BOXES), [window], [(0, 0, 0)]), _boxed(part, boxes)]


def _object(image: Pixels) -> list[Any]:
    mask = _mask()
    options = {"format": "start_end", "foreground_prob": 1.0}
    found = [pmd.segmentation.random_object_bbox(mask, **options, rng=pmd.RNG(seed)) for seed in range(1, 9)]
    boxes = {tuple(start.array[:2]): _window(start.array, end.array - start.array) for start, end in found}
    return [_colored(mask), _boxed(_colored(mask), boxes.values(), [(255, 255, 255)])]


def _pixels(image: Pixels) -> list[Any]:
    mask = _mask()
    found = [pmd.segmentation.random_mask_pixel(mask, foreground=1, rng=pmd.RNG(seed)).array for seed in range(12)]
    return [_colored(mask), _dotted(_colored(mask), [(place[1], place[0]) for place in found])]


def _selected(image: Pixels) -> list[Any]:
    ends = np.cumsum([len(outline) for outline in OUTLINES])
    rows = [(number, end - len(outline), end) for number, (outline, end) in enumerate(zip(OUTLINES, ends, strict=True))]
    vertices = np.array([point for outline in OUTLINES for point in outline], np.float32)
    chosen, kept = pmd.segmentation.select_masks(np.int32([0, 2]), np.array(rows, np.int32), vertices)
    polygons = [kept.array[first:end] for _, first, end in chosen.array]
    return [_outlined(image, OUTLINES), _outlined(image, polygons)]


def _combined() -> Any:
    return pmd.transforms.combine(
        pmd.transforms.rotation(angle=-20.0, center=CENTER), pmd.transforms.scale(scale=[0.7, 0.7], center=CENTER)
    )


MATRICES: dict[str, tuple[str, Callable[[], Any]]] = {
    "combine": ("rotation, scale", _combined),
    "crop": (
        "from_end=(200, 150), to_start=(50, 20), …",
        lambda: pmd.transforms.crop(
            from_start=[0.0, 0.0], from_end=[200.0, 150.0], to_start=[50.0, 20.0], to_end=[190.0, 120.0]
        ),
    ),
    "rotation": ("angle=20, center=(100, 75)", lambda: pmd.transforms.rotation(angle=20.0, center=CENTER)),
    "scale": ("scale=(1.4, 0.8), center=(100, 75)", lambda: pmd.transforms.scale(scale=[1.4, 0.8], center=CENTER)),
    "shear": ("shear=(0.4, 0), center=(100, 75)", lambda: pmd.transforms.shear(shear=[0.4, 0.0], center=CENTER)),
    "translation": ("offset=(40, -20)", lambda: pmd.transforms.translation(offset=[40.0, -20.0])),
}

MARKED: dict[str, Marked] = {
    "bb_flip": Marked("boxes, ltrb=True, horizontal=1", _flipped),
    "bbox_paste": Marked("boxes, ratio=1.5, paste_x=0.2, paste_y=0.7", _pasted),
    "bbox_rotate": Marked("boxes, angle=15, input_shape=(150, 200), keep_size=True", _rotated),
    "box_encoder": Marked("boxes, labels, anchors=anchors, criteria=0.3", _encoded),
    "coord_flip": Marked('points, layout="xy", center_x=100', _points_flipped),
    "coord_transform": Marked("points, MT=transforms.rotation(angle=15, …)", _points_moved),
    "random_bbox_crop": Marked("boxes, scaling=(0.4, 0.7), thresholds=0.3", _boxes_cropped),
    "random_crop_generator": Marked("shapes", _drawn_windows, 4),
    "roi_random_crop": Marked("crop_shape=(80, 90), roi_start, roi_shape", _region_windows, 3),
    "segmentation.random_mask_pixel": Marked("masks, foreground=1", _pixels, 12),
    "segmentation.random_object_bbox": Marked("masks, foreground_prob=1", _object, 8),
    "segmentation.select_masks": Marked("(0, 2), polygons, vertices", _selected),
    **{f"transforms.{name}": Marked(text, partial(_moved, change)) for name, (text, change) in MATRICES.items()},
}
