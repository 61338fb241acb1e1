"""Steps that join several samples: against NumPy, and everything that belongs to the samples follows."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from dataset_cases import write
from PIL import Image

from pixelmill import ArgumentError, DataError, ImageLoader, ImageTransform, augment, fn, pipeline_def
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Keypoints, Polygons
from pixelmill.pipeline.partners import partner_items
from pixelmill.recipe import Recipe, geometry
from pixelmill.recipe.covers import pasted
from pixelmill.recipe.draws import Draws

COUNT, HEIGHT, WIDTH = 7, 40, 60


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "png")
    return stream.getvalue()


def pixels_of(number):
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    image = np.stack([x * 3, y * 5, np.full_like(x, 20 * number)], -1).astype(np.uint8)
    left, top, right, bottom = area_of(number)
    image[top:bottom, left:right] = 255 - 10 * number
    return image


def area_of(number):
    """Return left, top, right, bottom of the object of a sample."""
    return 12 + number, 8, 44, 30 - number


def mask_of(number):
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    left, top, right, bottom = area_of(number)
    mask[top:bottom, left:right] = 1 + number
    return mask


def sample_of(number):
    left, top, right, bottom = area_of(number)
    ltrb = np.float32([left / WIDTH, top / HEIGHT, right / WIDTH, bottom / HEIGHT])
    ring = ltrb[[0, 1, 2, 1, 2, 3, 0, 3]].reshape(4, 2)
    middle = (ltrb[:2] + ltrb[2:]) / 2
    boxes = Boxes(
        ltrb[None],
        np.array([number]),
        polygons=Polygons.of([[ring]]),
        keypoints=Keypoints(middle[None, None], np.int8([[2]])),
    )
    return Sample(f"s{number}", png(pixels_of(number)), "png", boxes=boxes, mask=png(mask_of(number)))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    root = tmp_path_factory.mktemp("joins")
    write(root / "in", "tfrecord", [sample_of(number) for number in range(COUNT)])
    return root / "in"


def partners(label, count, *, seed=6, epoch=0):
    """Return the partners of all samples, computed as the documentation says: a permutation for each partner."""
    numbers, epochs = np.arange(COUNT), np.full(COUNT, epoch, np.uint32)
    seeds = [Draws(seed).seed(label, f"other {place}") for place in range(count)]
    return np.stack([partner_items(own, COUNT, numbers, epochs) for own in seeds], axis=1)


def joined(dataset, tmp_path, steps, **options):
    (tmp_path / "recipe.yaml").write_text(json.dumps({"steps": steps}))
    augment(dataset, tmp_path / "out", recipe=str(tmp_path / "recipe.yaml"), seed=6, format="png", workers=1, **options)
    return list(open_dataset(tmp_path / "out"))


def opened(data):
    return np.asarray(Image.open(io.BytesIO(data)))


def tile(image, cell, toward, fill):
    """Return an image in a cell: next to the center of the grid, cut or padded away from it."""
    made = np.full((*cell, *image.shape[2:]), fill, image.dtype)
    places = []
    for axis in range(2):
        have, want = image.shape[axis], cell[axis]
        room = abs(want - have)
        offset = {0.0: 0, 0.5: room // 2, 1.0: room}[toward[axis]]
        size = min(have, want)
        places.append(
            (slice(offset, offset + size), slice(0, size))
            if want > have
            else (slice(0, size), slice(offset, offset + size))
        )
    (to_y, from_y), (to_x, from_x) = places
    made[to_y, to_x] = image[from_y, from_x]
    return made


@pytest.mark.parametrize(("grid", "y", "x"), [(2, 0.3, 0.6), (2, 0.5, 0.5), (3, 0.5, 0.5), (2, 0.0, 1.0)])
def test_mosaic_is_that_of_numpy(dataset, tmp_path, grid, y, x):
    size = [HEIGHT * grid, WIDTH * grid]  # so that no image is resized
    steps = [{"mosaic": {"size": size, "grid": grid, "y": y, "x": x, "fill_value": 114, "mask_fill_value": 9}}]
    samples = joined(dataset, tmp_path, steps)
    lines = []
    for side, place in zip(size, (y, x), strict=True):
        inner = [round(side * (place + number / grid - 0.5)) for number in range(1, grid)]
        inner = [min(max(line, number + 1), side - grid + number + 1) for number, line in enumerate(inner)]
        lines.append([0, *inner, side])
    others = partners("1", grid * grid - 1)
    for number, sample in enumerate(samples):
        for source, fill, made in ((pixels_of, 114, sample.image), (mask_of, 9, sample.mask)):
            rows = []
            for row in range(grid):
                cells = []
                for column in range(grid):
                    place = row * grid + column
                    image = source(number if place == 0 else others[number, place - 1])
                    cell = [lines[0][row + 1] - lines[0][row], lines[1][column + 1] - lines[1][column]]
                    toward = [1 - row / (grid - 1), 1 - column / (grid - 1)]
                    cells.append(tile(image, cell, toward, fill))
                rows.append(np.concatenate(cells, axis=1))
            np.testing.assert_array_equal(opened(made), np.concatenate(rows))


@pytest.mark.parametrize("fit", ["contain", "cover"])
def test_objects_of_all_images_follow_a_mosaic(dataset, tmp_path, fit):
    place = {"uniform": [0.3, 0.7]}
    mosaic = {"size": [240, 320], "y": place, "x": place, "fit": fit}
    samples = joined(dataset, tmp_path, [{"mosaic": mosaic}, {"flip": {"horizontal": 1, "p": 0.5}}], visibility=0.2)
    others = partners("1", 3)
    seen = 0
    for number, sample in enumerate(samples):
        mask, boxes = opened(sample.mask), sample.boxes
        assert boxes.labels[0] == number or number not in boxes.labels
        assert set(boxes.labels) <= {number, *others[number]}
        for place, label in enumerate(boxes.labels):
            if list(boxes.labels).count(label) > 1 or (mask == 1 + label).sum() < 40:
                continue  # the same sample in two cells
            ys, xs = np.nonzero(mask == 1 + label)
            drawn = np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1])
            np.testing.assert_allclose(boxes.ltrb[place] * [320, 240, 320, 240], drawn, atol=1.0)
            (ring,) = boxes.polygons.by_object(len(boxes))[place]
            np.testing.assert_allclose(ring.min(0) * [320, 240], drawn[:2], atol=1.0)
            np.testing.assert_allclose(ring.max(0) * [320, 240], drawn[2:], atol=1.0)
            if boxes.keypoints.visibility[place, 0] == 2:
                at = (boxes.keypoints.points[place, 0] * [320, 240]).astype(int)
                assert mask[at[1], at[0]] == 1 + label
            seen += 1
    assert seen > COUNT * 2


def test_a_blend_keeps_the_objects_of_both(dataset, tmp_path):
    samples = joined(dataset, tmp_path, [{"mixup": {"fraction": 0.25}}], variants=2)
    others = np.stack([partners("1", 1, epoch=epoch) for epoch in range(2)], axis=1).reshape(-1, 1)
    for place, (sample, (other,)) in enumerate(zip(samples, others, strict=True)):
        number = place // 2
        blend = 0.25 * pixels_of(number) + 0.75 * pixels_of(other)
        np.testing.assert_allclose(opened(sample.image), blend, atol=0.51)
        np.testing.assert_array_equal(opened(sample.mask), mask_of(other))
        assert sample.boxes.labels.tolist() == [number, other]


def test_the_objects_of_a_mask_are_pasted(dataset, tmp_path):
    samples = joined(dataset, tmp_path, [{"copy_paste": {}}], visibility=0.5)
    covered_once = False
    for number, (sample, (other,)) in enumerate(zip(samples, partners("1", 1), strict=True)):
        there = mask_of(other) > 0
        np.testing.assert_array_equal(
            opened(sample.image), np.where(there[..., None], pixels_of(other), pixels_of(number))
        )
        np.testing.assert_array_equal(opened(sample.mask), np.where(there, mask_of(other), mask_of(number)))
        own = mask_of(number) > 0
        hidden = (own & there).sum() / own.sum()
        expected = [number, other] if hidden <= 0.5 else [other]
        covered_once |= hidden > 0.5
        assert sample.boxes.labels.tolist() == expected
    assert covered_once


def test_only_some_classes_are_pasted(dataset, tmp_path):
    samples = joined(dataset, tmp_path, [{"copy_paste": {"classes": [3, 5]}}], visibility=0)
    for number, (sample, (other,)) in enumerate(zip(samples, partners("1", 1), strict=True)):
        there = np.isin(mask_of(other), (3, 5))
        np.testing.assert_array_equal(opened(sample.mask), np.where(there, mask_of(other), mask_of(number)))
        assert (other in sample.boxes.labels.tolist()[-1:]) == (other in (2, 4) or other == number)


def test_a_window_of_another_image_is_pasted(dataset, tmp_path):
    samples = joined(dataset, tmp_path, [{"cutmix": {"fraction": 0.75, "y": 0.5, "x": 0.4}}], visibility=0.01)
    top, left, height, width = 10, 9, 20, 30  # half of each side around the center
    for number, (sample, (other,)) in enumerate(zip(samples, partners("1", 1), strict=True)):
        there = np.zeros((HEIGHT, WIDTH), bool)
        there[top : top + height, left : left + width] = True
        expected = np.where(there[..., None], pixels_of(other), pixels_of(number))
        np.testing.assert_array_equal(opened(sample.image), expected)
        np.testing.assert_array_equal(opened(sample.mask), np.where(there, mask_of(other), mask_of(number)))
        part = mask_of(other) * there
        ys, xs = np.nonzero(part)
        box = sample.boxes.ltrb[-1] * [WIDTH, HEIGHT, WIDTH, HEIGHT]
        np.testing.assert_allclose(box, [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1], atol=1e-3)


def test_partners_have_gone_through_the_steps_before(dataset, tmp_path):
    steps = [{"invert": {"p": 0.5}}, {"mixup": {"fraction": 0.0}}]
    samples = joined(dataset, tmp_path, steps)
    inverted = 0
    for sample, (other,) in zip(samples, partners("2", 1), strict=True):
        found = opened(sample.image)
        assert np.array_equal(found, pixels_of(other)) or np.array_equal(found, 255 - pixels_of(other))
        inverted += np.array_equal(found, 255 - pixels_of(other))
    assert 0 < inverted < COUNT


def test_a_sample_that_is_not_joined_stays(dataset, tmp_path):
    steps = [{"mosaic": {"size": [80, 120], "p": 0.5}}]
    samples = joined(dataset, tmp_path, steps)
    alone = [number for number, sample in enumerate(samples) if opened(sample.image).shape[:2] == (HEIGHT, WIDTH)]
    assert 0 < len(alone) < COUNT
    for number in alone:
        np.testing.assert_array_equal(opened(samples[number].image), pixels_of(number))
        np.testing.assert_allclose(samples[number].boxes.ltrb, sample_of(number).boxes.ltrb, atol=1e-6)
        assert samples[number].boxes.labels.tolist() == [number]


def test_features_of_objects_follow(tmp_path):
    from pixelmill.formats.example import bytes_feature, int64_feature

    samples = []
    for number in range(4):
        whole = sample_of(number)
        extra = {
            "image/object/difficult": int64_feature([number]),
            "image/object/view": bytes_feature(f"view {number}"),
            "image/object/other": int64_feature([1] if number else [1, 2]),
        }
        boxes = Boxes(whole.boxes.ltrb, whole.boxes.labels)
        samples.append(Sample(whole.key, whole.image, "png", boxes=boxes, extra=extra))
    write(tmp_path / "in", "tfrecord", samples)
    for sample in joined(tmp_path / "in", tmp_path, [{"mosaic": {"size": [80, 120]}}], visibility=0):
        labels = sample.boxes.labels.tolist()
        assert len(labels) == 4
        assert sample.extra["image/object/difficult"].values.tolist() == labels
        assert sample.extra["image/object/view"].values == [f"view {label}".encode() for label in labels]


def test_a_bad_partner_is_named(dataset, tmp_path):
    samples = [sample_of(number) for number in range(COUNT)]
    folder = tmp_path / "photos"
    folder.mkdir()
    for number, sample in enumerate(samples):
        (folder / f"{number}.png").write_bytes(sample.image if number != 3 else sample.image[:90])
    recipe = Recipe("m", steps=({"mixup": {"fraction": 0.5}},))

    def images(batch_size, on_error):
        @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None, seed=1, on_error=on_error)
        def online():
            encoded = fn.readers.dataset(path=str(folder), columns=["image"], name="Reader", pad_last_batch=True)
            return recipe.apply(fn.decoders.image(encoded["image"]), seed=6).image

        pipeline = online()
        found = [np.array(image) for _ in range(-(-COUNT // batch_size)) for image in pipeline.run()[0]]
        events = list(pipeline.errors.events)
        pipeline.close()
        return found[:COUNT], events

    (at,) = [number for number, (other,) in enumerate(partners("1", 1)) if other == 3]
    with pytest.raises(DataError, match=r"3\.png"):
        images(COUNT, "raise")
    whole, events = images(COUNT, "skip")
    assert {(event.path.rsplit("/")[-1], event.sample) for event in events} == {("3.png", 3)}
    assert len(events) == (1 if at == 3 else 2)
    one_by_one, _ = images(2, "skip")
    for one, other in zip(whole, one_by_one, strict=True):
        np.testing.assert_array_equal(one, other)
    (tmp_path / "m.yaml").write_text(json.dumps({"steps": list(recipe.steps)}))
    report = augment(folder, tmp_path / "out", recipe=str(tmp_path / "m.yaml"), seed=6, on_error="skip")
    assert report.samples == COUNT - (1 if at == 3 else 2)
    if at != 3:
        manifest = (tmp_path / "out" / "manifest.json").read_text()
        assert "joined with" in manifest and "3.png" in manifest


def test_labels_of_blended_images_are_weights(tmp_path):
    for number in range(4):
        (tmp_path / "in" / f"class{number}").mkdir(parents=True)
        (tmp_path / "in" / f"class{number}" / "a.png").write_bytes(png(pixels_of(number)))
    recipe = Recipe("m", steps=({"mixup": {"fraction": 0.25}},))

    @pipeline_def(batch_size=4, num_threads=1, device_id=None, seed=1)
    def online():
        files, labels = fn.readers.file(file_root=str(tmp_path / "in"))
        scene = recipe.apply(fn.decoders.image(files), seed=6)
        return scene.soft_label(labels, num_classes=4), labels

    weights, labels = online().run()
    seed = Draws(6).seed("1", "other 0")
    others = partner_items(seed, 4, np.arange(4), np.zeros(4, np.uint32))
    for number in range(4):
        expected = np.zeros(4, np.float32)
        expected[int(labels.at(number)[0])] += 0.25
        expected[others[number]] += 0.75
        np.testing.assert_allclose(np.asarray(weights.at(number)).reshape(-1), expected)
    with pytest.raises(ArgumentError, match=r"soft_label"):
        ImageLoader(str(tmp_path / "in"), size=32, batch_size=2, train=True, augment=recipe)


def test_what_cannot_be_joined_is_refused(dataset, tmp_path):
    recipe = Recipe("m", steps=({"mosaic": {"size": [64, 64]}},))
    with pytest.raises(ArgumentError, match=r"external source"):
        ImageTransform(32, train=True, augment=recipe)(np.zeros((20, 20, 3), np.uint8))
    for step, message in (
        ({"mosaic": {"size": [64, 64], "grid": 4}}, "grid must be 2 or 3"),
        ({"mosaic": {"size": [64, 64], "fit": "fill"}}, "fit must be one of"),
        ({"mosaic": {"size": [64]}}, "size must be"),
        ({"mixup": {"fraction": {"beta": [0, 1]}}}, "beta needs two numbers above 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            joined(dataset, tmp_path, [step], exists="overwrite")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.png").write_bytes(png(pixels_of(1)))
    with pytest.raises(ArgumentError, match=r"there are no masks"):
        joined(tmp_path / "plain", tmp_path, [{"copy_paste": {}}], exists="overwrite")


def test_points_under_a_pasted_window_are_hidden():
    covered = np.zeros((10, 20, 1), np.uint8)
    covered[2:6, 5:15] = 1
    points = np.array([[6.5, 3.5], [1.0, 1.0]])
    for is_lower, expected in ((True, [False, True]), (False, [True, False])):
        path = [pasted(covered, by_window=True, is_lower=is_lower)]
        moved, inside = geometry.follow_points(points, path, (10, 20))
        np.testing.assert_array_equal(moved, points)
        assert inside.tolist() == expected
    ltrb, visible = geometry.follow(
        np.float32([[0.25, 0.2, 0.75, 1.0]]), [pasted(covered, by_window=True, is_lower=True)], (10, 20)
    )
    np.testing.assert_allclose(ltrb, [[0.25, 0.2, 0.75, 1.0]])
    assert visible.tolist() == [0.5]
