"""Previews as pages: nothing but one file, no text that becomes markup, images and marks inside."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, oriented, write
from PIL import Image
from preview_pages import Page

import pixelmill
from pixelmill.formats import npy
from pixelmill.formats.example import Example, bytes_feature
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.inspect import page_data, preview
from pixelmill.inspect.overlays import color_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style><script>alert(2)</script>",
    "&lt;b&gt; ]]> --> <!--",
    "<!--<script>",
    "</script\t><svg/onload=alert(4)>",
    "\u2028\u2029\\u003cscript>\\",
    "__proto__",
    "\u202egnp.exe\0\r\n",
]


def page_of(source: Any, tmp_path: Path, **options: Any) -> Page:
    report = pixelmill.preview(source, tmp_path / "look.html", exists="overwrite", **options)
    return Page(report.content)


@pytest.mark.parametrize("recipe", [None, "tfdali"])
def test_text_of_the_dataset_stays_text(recipe: str | None, tmp_path: Path) -> None:
    image = encoded("jpeg", seed=1, size=(60, 80))
    boxes = Boxes([[0.1, 0.1, 0.9, 0.9]], [1])
    samples = [Sample(text, image, "jpg", class_name=text, boxes=boxes, extra=_texts(text)) for text in HOSTILE] + [
        Sample(text, f"<html>{text}".encode(), "jpg", class_name=text) for text in HOSTILE
    ]
    hostile = tmp_path / "<script>alert(3)<"
    page = page_of(write(hostile, "tfrecord", samples), tmp_path, recipe=recipe, count=20)
    kinds = [attributes.get("type") for attributes in page.all("script")]
    assert kinds == ["application/json", *["text/plain"] * len(page.pieces), None] and not page.open
    assert page.source.count("<!--") == page.source.count("<script>alert") == page.source.count("<svg") == 0
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert all((attributes.get(name) or "#").startswith("#") for name in ("src", "href"))
    assert {sample["key"] for sample in page.samples} >= {text for text in HOSTILE if text.isprintable()}
    assert "?gnp.exe???" in page.data["classes"] and "?gnp.exe???" in page.data["boxNames"]
    assert any("<script>alert(3)<" in text for text in page.texts)


def _texts(text: str) -> Example:
    return Example({"image/object/class/text": bytes_feature(text.encode())})


def test_nothing_is_fetched_and_only_our_script_may_run(tmp_path: Path) -> None:
    page = page_of(write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1), "jpg")]), tmp_path)
    (script,) = re.findall(r"<script>(.*?)</script>", page.source, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = page.all("meta", **{"http-equiv": "Content-Security-Policy"})
    assert policy["content"] == (
        f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    shell = re.sub(r'<script type="text/plain".*?</script>', "", page.source, flags=re.S)
    assert not re.search(r"https?:|url\(|@import|innerHTML|insertAdjacent|document\.write|fetch\(|eval\(", shell)
    assert page.all("html", lang="en") and page.all("meta", name="viewport")
    for query in ("prefers-color-scheme: dark", "prefers-reduced-motion", "forced-colors"):
        assert query in shell


def test_every_control_has_a_name(tmp_path: Path) -> None:
    page = page_of(write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1), "jpg")]), tmp_path)
    for tag in ("input", "select"):
        for attributes in page.all(tag):
            name = attributes["id"]
            assert re.search(rf'<label[^>]*><span[^>]*>[^<]+</span><{tag}[^>]*id="{name}"', page.source) or re.search(
                rf'<label[^>]*><{tag}[^>]*id="{name}"[^>]*><span>[^<]+</span>', page.source
            ), name
    for attributes in page.all("button"):
        pattern = rf'id="{attributes["id"]}"[^>]*>[A-Z?]'
        assert attributes.get("aria-label") or re.search(pattern, page.source), attributes


def test_corners_of_oriented_boxes_are_inside(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1), "jpg", boxes=oriented())])
    (sample,) = page_of(source, tmp_path).samples
    first, second = sample["cells"][0]["boxes"]
    assert first == [25000, 25000, 75000, 75000, 0, 0, 50000, 25000, 75000, 50000, 50000, 75000, 25000, 50000]
    assert second[6:] == [70000, 60000, 100000, 90000, 90000, 100000, 60000, 70000]


def test_images_masks_and_boxes_are_inside(tmp_path: Path) -> None:
    pixels = np.tile(np.array([200, 30, 20], np.uint8), (300, 600, 1))
    mask = np.zeros((300, 600), np.uint8)
    mask[100:200, 100:200] = 4
    boxes = Boxes([[0.25, 0.5, 0.75, 1.5]], [9])
    sample = Sample("a", npy.encode(pixels), "npy", (3,), "cow", boxes=boxes, mask=npy.encode(mask))
    page = page_of(write(tmp_path / "x", "tfrecord", [sample]), tmp_path, size=150)
    (row,) = page.samples
    (cell,) = row["cells"]
    image, overlay = page.image(cell["image"], cell["kind"]), page.image(cell["mask"], "png")
    assert image.size == overlay.size == (450, 225)  # three times the size of a cell
    assert np.abs(np.asarray(image).astype(int) - [200, 30, 20]).max() <= 3
    shown = np.asarray(overlay)
    assert (shown[80:140, 80:140, :3] == color_of(4)).all() and (shown[..., 3] > 0).sum() == 75 * 75
    assert cell["boxes"] == [[25000, 50000, 75000, 100000, 0, 0]]
    color = "#{:02x}{:02x}{:02x}".format(*color_of(9))
    assert (page.data["boxNames"], page.data["boxColors"], page.data["classes"]) == (["9"], [color], ["cow"])
    assert (cell["first"], cell["extent"], cell["second"]) == ("cow", "300 x 600", "#0 a")
    assert (row["height"], row["width"], row["boxes"], row["mask"]) == (300, 600, 1, [4])
    assert page.data["legend"][1] == [["#{:02x}{:02x}{:02x}".format(*color_of(4)), "4"]]


def test_very_many_boxes_are_cut_and_counted(tmp_path: Path) -> None:
    many = Boxes(np.tile([0.1, 0.1, 0.4, 0.4], (1000, 1)), np.arange(1000))
    source = write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1), "jpg", boxes=many)])
    (row,) = page_of(source, tmp_path).samples
    assert row["boxes"] == 1000 and len(row["cells"][0]["boxes"]) == page_data._MOST_BOXES


def test_damaged_samples_say_why(tmp_path: Path) -> None:
    samples = [Sample("good", encoded("jpeg", seed=1, size=(60, 80)), "jpg"), Sample("bad", b"x", "jpg")]
    report = pixelmill.preview(write(tmp_path / "x", "tfrecord", samples), tmp_path / "look.html")
    good, bad = Page(report.content).samples
    assert good["problem"] is None and good["cells"][0]["image"] and report.damaged == 1
    assert bad["problem"][0] == "not_an_image" == bad["cells"][0]["problem"][0]
    assert "image" not in bad["cells"][0] and bad["measures"] is None


def test_variants_follow_their_sample(tmp_path: Path) -> None:
    samples = [Sample(f"s{i}", encoded("jpeg", seed=i, size=(60, 80)), "jpg") for i in range(3)]
    page = page_of(write(tmp_path / "x", "tfrecord", samples), tmp_path, recipe="tfdali", variants=2)
    assert page.data["groupLength"] == 3
    assert [[cell["first"] for cell in row["cells"]] for row in page.samples] == [
        [f"s{i}", "variant 1", "variant 2"] for i in range(3)
    ]


def test_tiny_and_transparent_images_are_kept_as_they_are(tmp_path: Path) -> None:
    tiny = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    clear = np.random.default_rng(1).integers(0, 256, (200, 200, 4), np.uint8)
    samples = [Sample("tiny", npy.encode(tiny), "npy"), Sample("clear", npy.encode(clear), "npy")]
    page = page_of(write(tmp_path / "x", "tfrecord", samples), tmp_path)
    for row, pixels in zip(page.samples, (tiny, clear), strict=True):
        (cell,) = row["cells"]
        assert (np.asarray(page.image(cell["image"], "png")) == pixels).all()


def test_large_jpegs_are_decoded_at_a_reduced_scale(tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 255, 2048).astype(np.uint8), (1400, 1))
    stream = io.BytesIO()
    Image.fromarray(np.stack([ramp, ramp, ramp], axis=2)).save(stream, "jpeg", quality=95)
    mask = np.zeros((1400, 2048), np.uint8)
    mask[:, 1024:] = 1
    sample = Sample("a", stream.getvalue(), "jpg", mask=npy.encode(mask))
    (row,) = page_of(write(tmp_path / "x", "tfrecord", [sample]), tmp_path).samples
    assert (row["height"], row["width"]) == (1400, 2048) and row["cells"][0]["width"] == 672
    brightness, contrast = row["measures"][:2]
    assert abs(brightness - ramp.mean()) < 0.5 and abs(contrast - ramp.std()) < 0.5


def test_cut_jpegs_are_damaged_at_any_scale(tmp_path: Path) -> None:
    whole = encoded("jpeg", seed=3, size=(1200, 1600))
    source = write(tmp_path / "x", "tfrecord", [Sample("a", whole[: len(whole) // 2], "jpg")])
    report = pixelmill.preview(source, tmp_path / "look.html", exists="overwrite")
    sheet = pixelmill.preview(source)
    assert report.cells[0].problem is not None and sheet.cells[0].problem is not None
    assert report.cells[0].problem.kind == sheet.cells[0].problem.kind


def test_splits_come_from_paths(tmp_path: Path) -> None:
    for split, count in (("train", 3), ("val", 1)):
        write(
            tmp_path / "x" / split, "tfrecord", [Sample(str(i), encoded("jpeg", seed=i), "jpg") for i in range(count)]
        )
    page = page_of(f"{tmp_path}/x/*/*.tfrecord", tmp_path)
    assert [page.data["splits"][row["split"]] for row in page.samples] == ["train"] * 3 + ["valid"]


def test_a_class_called_train_is_no_split(tmp_path: Path) -> None:
    for name in ("car", "train"):
        (tmp_path / "x" / name).mkdir(parents=True)
        (tmp_path / "x" / name / "1.jpg").write_bytes(encoded("jpeg", seed=1))
    assert page_of(tmp_path / "x", tmp_path).data["splits"] == [""]


def test_many_images_share_the_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_data, "_CHUNK", 20_000)
    samples = [Sample(f"s{i}", encoded("jpeg", seed=i, size=(300, 400)), "jpg") for i in range(40)]
    monkeypatch.setattr("pixelmill.inspect.grid_builder._PAGE_PIXELS", 40 * 100 * 100)
    page = page_of(write(tmp_path / "x", "tfrecord", samples), tmp_path)
    assert {max(cell["width"], cell["height"]) for row in page.samples for cell in row["cells"]} == {100}
    assert len(page.pieces) > 2 and max(map(len, page.pieces)) <= 20_000
    for row in page.samples:
        page.image(row["cells"][0]["image"], "jpeg").load()


def test_large_pages_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "x", "tfrecord", [Sample("a", encoded("jpeg", seed=1, size=(400, 400)), "jpg")])
    assert not pixelmill.preview(source, tmp_path / "a.html").warnings
    monkeypatch.setattr(preview, "_LARGE_PAGE", 10_000)
    (warning,) = pixelmill.preview(source, tmp_path / "b.html").warnings
    assert "MB; fewer samples or a smaller size" in warning
