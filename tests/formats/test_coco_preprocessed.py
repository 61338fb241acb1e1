"""Saved COCO annotations: the files are DALI's, each side reads the other's, and damaged ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from coco_files import OBJECTS, annotation, rows, write
from dali_runs import DALI, HERE

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.coco import Parts, open_preprocessed

# How to save, and with which outputs to read.
CASES = [
    ({}, {}),
    ({"ltrb": True, "ratio": True}, {}),
    ({"image_ids": True}, {"image_ids": True}),
    ({"polygon_masks": True}, {"polygon_masks": True}),
    ({"polygon_masks": True, "ratio": True, "image_ids": True}, {"polygon_masks": True, "image_ids": True}),
    ({"pixelwise_masks": True}, {"pixelwise_masks": True}),
    ({"pixelwise_masks": True, "image_ids": True, "skip_empty": True}, {"pixelwise_masks": True, "image_ids": True}),
    ({"size_threshold": 3.5, "include_iscrowd": False, "avoid_class_remapping": True}, {}),
    ({"images": ["img7.jpg", "img1.jpg", "img7.jpg"], "polygon_masks": True}, {"polygon_masks": True}),
]
TWO_RUNS = annotation(3, 90, [1, 1, 3, 3], {"counts": [0, 7, 128], "size": [9, 15]})


def saved(module, folder, name, **arguments):
    target = folder / name
    target.mkdir()
    options = {"save_preprocessed_annotations": True, "save_preprocessed_annotations_dir": str(target)}
    rows(module, folder, **options, **arguments)
    return target


@pytest.mark.parametrize(("arguments", "outputs"), CASES, ids=str)
def test_each_side_reads_what_the_other_saves(tmp_path, arguments, outputs):
    write(tmp_path, [*OBJECTS, TWO_RUNS])
    ours, theirs = saved(HERE, tmp_path, "ours", **arguments), saved(DALI, tmp_path, "theirs", **arguments)
    assert sorted(path.name for path in ours.iterdir()) == sorted(path.name for path in theirs.iterdir())
    for path in ours.iterdir():
        assert path.read_bytes() == (theirs / path.name).read_bytes(), path.name
    expected = rows(HERE, tmp_path, **arguments)
    for module in (HERE, DALI):
        given = {"annotations_file": None} if module is HERE else {}
        found = rows_without_json(module, tmp_path, preprocessed_annotations=str(ours), **outputs, **given)
        assert found == expected


def rows_without_json(module, folder, **arguments):
    (folder / "a.json").unlink(missing_ok=True)
    if module is HERE:
        return rows(module, folder, **arguments)
    pipe = module.Pipeline(batch_size=3, num_threads=2, device_id=None, seed=1)
    with pipe:
        pipe.set_outputs(*module.fn.readers.coco(file_root=str(folder), **arguments))
    pipe.build()
    found = []
    for _ in range(2):
        columns = [[np.asarray(batch.at(item)) for item in range(3)] for batch in pipe.run()]
        found += [[(v.dtype.str, v.shape, v.tolist()) for v in row] for row in zip(*columns, strict=True)]
    return found


def test_images_are_drawn_from_pixels_where_boxes_are_shares(tmp_path):
    """DALI saves the vertices as shares then, and draws images without them."""
    write(tmp_path)
    arguments = {"pixelwise_masks": True, "ratio": True}
    expected = rows(HERE, tmp_path, **arguments)
    ours = {"preprocessed_annotations": str(saved(HERE, tmp_path, "ours", **arguments)), "pixelwise_masks": True}
    assert rows_without_json(HERE, tmp_path, annotations_file=None, **ours) == expected
    assert rows_without_json(DALI, tmp_path, **ours) == expected


def test_older_names_of_the_arguments(tmp_path):
    write(tmp_path)
    (tmp_path / "ours").mkdir()
    expected = rows(HERE, tmp_path, dump_meta_files=True, dump_meta_files_path=str(tmp_path / "ours"))
    assert rows(HERE, tmp_path, annotations_file=None, meta_files_path=str(tmp_path / "ours")) == expected


def test_outputs_that_were_not_saved_are_missed(tmp_path):
    write(tmp_path)
    folder = saved(HERE, tmp_path, "ours")
    for outputs in ({"image_ids": True}, {"polygon_masks": True}, {"pixelwise_masks": True}):
        with pytest.raises(ArgumentError, match=r"No such file.*save the files again with the outputs"):
            rows(HERE, tmp_path, annotations_file=None, preprocessed_annotations=str(folder), **outputs)


def test_damaged_files_are_refused_or_harmless(tmp_path):
    write(tmp_path, [*OBJECTS, TWO_RUNS])
    folder = saved(HERE, tmp_path, "ours", pixelwise_masks=True, image_ids=True)
    parts = Parts(pixels=True, ids=True)
    images = len(open_preprocessed(str(folder), root=str(tmp_path), parts=parts))
    refused = 0
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        changed = [data[:place] + bytes([byte ^ 0x81]) + data[place + 1 :] for place, byte in enumerate(data)]
        for damaged in (*changed, *(data[:length] for length in range(len(data))), data + bytes(4), data + b"/\n"):
            path.write_bytes(damaged)
            try:
                index = open_preprocessed(str(folder), root=str(tmp_path), parts=parts)
            except DataError as error:
                assert str(folder) in str(error)
                refused += 1
                continue
            polygons, vertices, counts = (index.columns[name] for name in ("polygons", "vertices", "counts"))
            for image in range(images if len(index) == images else 0):
                ends = polygons[image][:, 2]
                assert not len(ends) or ends.max() <= len(vertices[image])
                if len(index.columns["runs"][image]):
                    assert index.columns["runs"][image][:, 2].max() <= len(counts[image])
        path.write_bytes(data)
    assert refused > 1000


@pytest.mark.parametrize("name", ["/etc/passwd", "../img1.jpg"])
def test_names_outside_are_refused(tmp_path, name):
    write(tmp_path)
    folder = saved(HERE, tmp_path, "ours")
    names = (folder / "filenames.dat").read_text().split("\n")
    (folder / "filenames.dat").write_text("\n".join([name, *names[1:]]))
    with pytest.raises(DataError, match="not below file_root"):
        rows(HERE, tmp_path, annotations_file=None, preprocessed_annotations=str(folder))
