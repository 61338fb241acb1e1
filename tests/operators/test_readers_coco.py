"""readers.coco against DALI."""

from __future__ import annotations

import numpy as np
import pytest
from coco_files import CATEGORIES, SIZES, annotation, rows, write
from dali_runs import DALI, HERE
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError, DataError

BOTH = [HERE, DALI]
CASES = [
    {},
    {"ltrb": True},
    {"ratio": True},
    {"ltrb": True, "ratio": True, "image_ids": True},
    {"polygon_masks": True},
    {"polygon_masks": True, "ratio": True, "image_ids": True},
    {"pixelwise_masks": True},
    {"pixelwise_masks": True, "avoid_class_remapping": True, "image_ids": True},
    {"skip_empty": True},
    {"skip_empty": True, "size_threshold": 3.5},
    {"size_threshold": 4.1},
    {"size_threshold": 0.1},
    {"include_iscrowd": False},
    {"avoid_class_remapping": True},
    {"images": ["img7.jpg", "img1.jpg", "img7.jpg"]},
    {"images": ["img2.jpg", "img1.jpg"], "skip_empty": True, "polygon_masks": True},
]


@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_outputs_are_those_of_dali(tmp_path, arguments):
    write(tmp_path)
    mine, theirs = (rows(module, tmp_path, **arguments) for module in BOTH)
    assert mine == theirs


@pytest.mark.filterwarnings("ignore:Use `polygon_masks`:DeprecationWarning")
def test_masks_counted_in_coordinates_are_those_of_dali(tmp_path):
    write(tmp_path)
    mine, theirs = (rows(module, tmp_path, masks=True) for module in BOTH)
    assert mine == theirs


coordinate = st.floats(-3, 33, width=32) | st.integers(-3, 33)
polygon = st.integers(3, 8).flatmap(lambda n: st.lists(coordinate, min_size=2 * n, max_size=2 * n))


def before_last_run(picture):
    """Count the pixels, column by column, before the run of things that reaches the very end."""
    ground = np.flatnonzero(picture == 0)
    return int(ground[-1]) + 1 if len(ground) else 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CATEGORIES), st.lists(polygon, min_size=1, max_size=3)), max_size=6))
@example([(18, [[0, 11, 23, 33, 0, 0]]), (1, [[0, 0, 0, 11, 22, 32]])])
def test_images_of_any_polygons_are_those_of_dali(tmp_path_factory, shapes):
    """In DALI a smaller label may hide a larger one in the run that ends with the image; it is not compared."""
    folder = tmp_path_factory.mktemp("coco")
    write(folder, [annotation(7, category, [1, 1, 5, 5], polygons) for category, polygons in shapes])
    arguments = {"images": ["img7.jpg"] * 3, "pixelwise_masks": True}
    mine, theirs = (np.array(rows(module, folder, 1, **arguments)[0][3][2]).T.ravel() for module in BOTH)
    end = before_last_run(mine)
    assert mine[:end].tolist() == theirs[:end].tolist()
    assert (mine > 0).tolist() == (theirs > 0).tolist()
    assert (mine >= theirs).all()


def compressed(counts):
    """Write run lengths the way COCO's tools do, from their description."""
    text = ""
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        while True:
            group, value = value & 31, value >> 5
            more = value != (-1 if group & 16 else 0)
            text += chr((group | 32 if more else group) + 48)
            if not more:
                break
    return text


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_runs_are_those_of_dali(tmp_path_factory, counts):
    folder = tmp_path_factory.mktemp("coco")
    height, width = SIZES[7]
    while sum(counts) > height * width:
        counts = counts[:-1]
    counts = [*counts, height * width - sum(counts)]
    for form in (counts, compressed(counts)):
        mask = {"counts": form, "size": [height, width]}
        write(folder, [annotation(7, 18, [1, 1, 5, 5], mask), annotation(7, 1, [1, 1, 5, 5], [[2, 2, 9, 2, 9, 9]])])
        arguments = {"images": ["img7.jpg"] * 3, "pixelwise_masks": True}
        mine, theirs = (rows(module, folder, 1, **arguments) for module in BOTH)
        assert mine == theirs


WRONG = {
    "no category": {"objects": [annotation(1, 5, [1, 1, 2, 2], [])]},
    "box of three": {"objects": [annotation(1, 1, [1, 1, 2], [])]},
    "box of words": {"objects": [annotation(1, 1, ["a", 1, 2, 2], [])]},
    "endless box": {"objects": [annotation(1, 1, [1, 1, 2, float("inf")], [])]},
    "huge box": {"objects": [annotation(1, 1, [1, 1, 2, 10**400], [])]},
    "odd polygon": {"objects": [annotation(1, 1, [1, 1, 2, 2], [[1, 2, 3]])]},
    "polygon of words": {"objects": [annotation(1, 1, [1, 1, 2, 2], ["abc"])]},
    "polygon that is no number": {"objects": [annotation(1, 1, [1, 1, 2, 2], [[float("nan"), 1, 2, 3, 4, 5]])]},
    "runs of another size": {"objects": [annotation(1, 1, [1, 1, 2, 2], {"counts": [4], "size": [2, 2]})]},
    "runs too short": {"objects": [annotation(1, 1, [1, 1, 2, 2], {"counts": [4], "size": [9, 13]})]},
    "runs too long": {"objects": [annotation(1, 1, [1, 1, 2, 2], {"counts": [4, 10**12], "size": [9, 13]})]},
    "negative runs": {"objects": [annotation(1, 1, [1, 1, 2, 2], {"counts": [-4, 121], "size": [9, 13]})]},
    "bad letters": {"objects": [annotation(1, 1, [1, 1, 2, 2], {"counts": "\x01", "size": [9, 13]})]},
    "no size": {"images": [{"id": 1, "file_name": "img1.jpg"}]},
    "huge size": {"images": [{"id": 1, "file_name": "img1.jpg", "height": 1e9, "width": 3}]},
    "outside": {"images": [{"id": 1, "file_name": "../img1.jpg", "height": 3, "width": 3}]},
    "absolute": {"images": [{"id": 1, "file_name": "/etc/passwd", "height": 3, "width": 3}]},
    "images are no list": {"images": {"id": 1}},
    "no image": {"images": []},
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_annotations_are_named(tmp_path, case):
    write(tmp_path, **WRONG[case])
    with pytest.raises(DataError, match=r"a\.json"):
        rows(HERE, tmp_path)


@pytest.mark.parametrize("text", ["", "[1]", "{", "[" * 100_000])
def test_what_is_no_annotation_file_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=r"a\.json"):
        rows(HERE, tmp_path)


def test_arguments_that_cannot_be_meant_are_refused(tmp_path):
    write(tmp_path)
    for arguments in (
        {"polygon_masks": True, "pixelwise_masks": True},
        {"images": ["none.jpg"]},
        {"annotations_file": "/nowhere.json"},
        {"annotations_file": None},
        {"preprocessed_annotations": "folder"},
        {"preprocessed_annotations": "folder", "annotations_file": None},
        {"preprocessed_annotations": "folder", "annotations_file": None, "ltrb": True},
        {"save_preprocessed_annotations": True},
        {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": "/dev/null/folder"},
    ):
        with pytest.raises(ArgumentError):
            rows(HERE, tmp_path, **arguments)


def test_older_spellings_of_the_reader_are_there(tmp_path):
    write(tmp_path)
    for make in (HERE.ops.COCOReader, HERE.ops.readers.COCO):
        pipe = HERE.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(*make(file_root=str(tmp_path), annotations_file=str(tmp_path / "a.json"))())
        assert len(pipe.run()) == 3
