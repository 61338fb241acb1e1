"""Previews: every container, boxes and masks in their places, variants as `augment` writes them, damage named."""

from __future__ import annotations

import importlib
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner, Result
from dataset_cases import encoded, mask_of, write
from locations import ROOT
from PIL import Image, ImageDraw

import pixelmill
from pixelmill.augmentation.variants import VariantMaker
from pixelmill.cli import main
from pixelmill.errors import ArgumentError, DataError, Event, OutputExists
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Boxes, Sample
from pixelmill.formats.shapes import Polygons
from pixelmill.inspect import preview_sheet
from pixelmill.inspect.fonts import font_for
from pixelmill.inspect.overlays import color_of
from pixelmill.inspect.thumbnails import Thumbnail
from pixelmill.options.augment import VariantOptions
from pixelmill.recipe import load_recipe

SIDE = 96
PLAIN = [(200, 30, 20), (20, 180, 40), (30, 60, 210), (120, 120, 120)]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["preview", *(str(argument) for argument in arguments)])


def png(pixels: Any) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(stream, "png")
    return stream.getvalue()


def plain(number: int, *, side: int = SIDE, **facts: Any) -> Sample:
    colour = np.array(PLAIN[number % 4])
    return Sample(f"c{number % 2}/{number}", png(np.tile(colour, (side, side, 1))), "png", **facts)


def pixels_of(report: pixelmill.inspect.preview.PreviewReport) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(io.BytesIO(report.content)).convert("RGB")).astype(int)


def place_of(sheet: np.ndarray[Any, Any], colour: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Return first row, last row, first column and last column of a color."""
    rows, columns = np.nonzero((sheet == colour).all(axis=2))
    return int(rows.min()), int(rows.max()), int(columns.min()), int(columns.max())


def cells(report: Any, side: int = SIDE) -> list[np.ndarray[Any, Any]]:
    """Cut a sheet without text into its cells, row by row; all of them are square and filled."""
    sheet = pixels_of(report)
    inside = (sheet != sheet[0, 0]).any(axis=2)
    tops, lefts = (_starts(inside.any(axis=axis)) for axis in (1, 0))
    return [sheet[top : top + side, left : left + side] for top in tops for left in lefts]


def _starts(filled: np.ndarray[Any, Any]) -> list[int]:
    return np.flatnonzero(np.diff(np.concatenate([[0], filled.astype(int)])) == 1).tolist()


@pytest.mark.parametrize("format", FORMATS)
def test_every_container_is_shown(format: str, tmp_path: Path) -> None:
    mask = png(np.eye(SIDE) * 5)
    boxes = Boxes([[0.25, 0.25, 0.75, 0.5]], [7])
    samples = [plain(i, labels=(i % 2,), class_name=f"c{i % 2}", boxes=boxes, mask=mask) for i in range(4)]
    options: dict[str, Any] = {"classes": ("c0", "c1"), "masks": True} if format == "folder" else {}
    source = write(tmp_path / "x", format, samples, **options)
    report = pixelmill.preview(source, size=SIDE)
    assert (report.format, report.samples, report.damaged, report.output) == (format, 4, 0, None)
    assert sorted(cell.key for cell in report.cells) == [sample.key for sample in sorted(samples, key=lambda s: s.key)]
    assert {(c.label, c.height, c.width, c.boxes, c.mask_classes) for c in report.cells} == {
        (f"c{i}", SIDE, SIDE, 1, (0, 5)) for i in (0, 1)
    }
    sheet = pixels_of(report)
    assert len({place_of(sheet, colour)[::2] for colour in PLAIN}) == 4
    place_of(sheet, color_of(7)), place_of(sheet, color_of(5))  # fail if the color is nowhere


@pytest.mark.parametrize("side", [SIDE, SIDE // 2, 2 * SIDE])
@pytest.mark.parametrize("box", [(0.25, 0.125, 0.75, 0.5), (0.0, 0.0, 1.0, 1.0), (0.5, 0.5, 1.25, 0.625)])
def test_boxes_are_where_they_belong(side: int, box: tuple[float, ...], tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", [plain(0, side=side, boxes=Boxes([box], [2]))])
    (cell,) = cells(pixelmill.preview(source, size=SIDE, labels=False))
    top, bottom, left, right = place_of(cell, color_of(2))
    assert (left, top, right + 1, bottom + 1) == tuple(min(share, 1) * SIDE for share in box)
    drawn = (cell == color_of(2)).all(axis=2)
    assert drawn[top, left : right + 1].all() and drawn[top : bottom + 1, right].all()
    inside = cell[top + 2 : bottom - 1, left + 2 : right - 1]
    assert (inside == PLAIN[0]).all()


def test_oriented_boxes_are_drawn_turned(tmp_path: Path) -> None:
    ring = np.array([[0.5, 0.125], [0.875, 0.5], [0.5, 0.875], [0.125, 0.5]])
    boxes = Boxes([[0.125, 0.125, 0.875, 0.875]], [2], polygons=Polygons.of([[ring]]), oriented=True)
    source = write(tmp_path / "x", "tfrecord", [plain(0, boxes=boxes)])
    (cell,) = cells(pixelmill.preview(source, size=SIDE, labels=False))
    drawn = (cell == color_of(2)).all(axis=2)
    y, x = np.mgrid[:SIDE, :SIDE]
    distance = np.abs(np.abs(x - SIDE / 2) + np.abs(y - SIDE / 2) - 0.375 * SIDE) / 2**0.5
    assert drawn[distance < 0.5].mean() > 0.9 and not drawn[distance > 3].any()


def test_small_boxes_lie_above_large_ones_and_have_colors_of_their_own(tmp_path: Path) -> None:
    boxes = Boxes([[0.25, 0.25, 0.5, 0.5], [0.25, 0.25, 1, 1]], [1, 0])
    source = write(tmp_path / "x", "tfrecord", [plain(0, boxes=boxes)])
    (cell,) = cells(pixelmill.preview(source, size=SIDE, labels=False))
    assert tuple(cell[SIDE // 4, SIDE // 4]) == color_of(1)
    assert tuple(cell[SIDE // 4, SIDE - 1]) == color_of(0)
    assert len({color_of(number) for number in range(72)}) == 72


def test_names_of_boxes_are_written_on_their_color(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", [plain(0, boxes=Boxes([[0.25, 0.5, 0.75, 0.75]], [2]))])
    with_names, without = (
        (pixels_of(pixelmill.preview(source, size=SIDE, labels=labels)) == color_of(2)).all(axis=2).sum()
        for labels in (True, False)
    )
    assert with_names > without + 50


def test_masks_are_laid_over(tmp_path: Path) -> None:
    numbers = np.zeros((SIDE, SIDE), np.uint8)
    numbers[20:40, 30:60] = 3
    numbers[20:40, 60:80] = 255
    source = write(tmp_path / "x", "tfrecord", [plain(0, mask=png(numbers))])
    (cell,) = cells(pixelmill.preview(source, size=SIDE, labels=False))
    assert (cell[numbers == 0] == PLAIN[0]).all()
    for number, columns in ((3, slice(30, 60)), (255, slice(60, 80))):
        region, colour = cell[20:40, columns], np.array(color_of(number))
        assert (region[0] == colour).all() and (region[:, -1] == colour).all()
        blend = colour * (110 / 255) + np.array(PLAIN[0]) * (145 / 255)
        assert np.abs(region[1:-1, 1:-1] - blend).max() <= 1


def test_only_boxes_or_only_masks(tmp_path: Path) -> None:
    boxes, mask = Boxes([[0.25, 0.25, 0.75, 0.5]], [7]), png(np.eye(SIDE) * 5)
    samples = [plain(0), plain(1, boxes=boxes), plain(2, mask=mask), plain(3, boxes=boxes, mask=mask)]
    source = write(tmp_path / "x", "tfrecord", samples)
    found = pixelmill.preview(source, only="boxes", size=SIDE)
    assert [(cell.number, cell.boxes, cell.mask_classes) for cell in found.cells] == [(1, 1, ()), (3, 1, ())]
    found = pixelmill.preview(source, only="masks", size=SIDE)
    assert [(cell.number, cell.boxes, cell.mask_classes) for cell in found.cells] == [(2, 0, (0, 5)), (3, 0, (0, 5))]


RECIPE = """
steps:
  - resize: {size: [112, 112]}
  - flip: {horizontal: {coin: 0.5}}
  - rotate: {angle: {uniform: [-9, 9]}}
  - crop: {size: [96, 96], y: {uniform: [0, 1]}, x: {uniform: [0, 1]}}
  - brightness: {brightness: {uniform: [0.5, 1.5]}}
"""


def photos(count: int, **facts: Any) -> list[Sample]:
    return [Sample(f"s{i}", encoded("jpeg", seed=i, size=(60 + i, 80)), "jpg", (i,), **facts) for i in range(count)]


def test_variants_are_what_augment_writes(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(RECIPE)
    recipe = str(tmp_path / "mine.yaml")
    boxes = Boxes([[0.3, 0.2, 0.7, 0.9], [0, 0, 0.1, 0.1]], [1, 2])
    rich = [Sample("r", encoded("png", seed=9), "png", boxes=boxes, mask=mask_of(4))]
    source = write(tmp_path / "x", "tfrecord", [*photos(3), *rich])
    pixelmill.augment(source, tmp_path / "y", recipe=recipe, variants=3, seed=5, workers=1)
    written = list(open_dataset(tmp_path / "y"))
    with VariantMaker(load_recipe(recipe), VariantOptions(seed=5)) as maker:
        made = [new for n, sample in enumerate(open_dataset(source)) for new in maker.make(sample, n, count=3)]
    assert [sample.image for sample in made] == [sample.image for sample in written]
    assert [sample.mask for sample in made] == [sample.mask for sample in written]
    assert [sample.boxes for sample in made] == [sample.boxes for sample in written]

    report = pixelmill.preview(source, recipe=recipe, seed=5, samples="0-2", size=SIDE, labels=False)
    assert [(cell.number, cell.variant) for cell in report.cells] == [(n, v) for n in range(3) for v in range(4)]
    shown = [cell for place, cell in enumerate(cells(report)) if place % 4]
    for cell, sample in zip(shown, written, strict=False):
        assert (cell == np.asarray(Image.open(io.BytesIO(sample.image)))).all()


def test_samples_with_few_variants_stand_beside_each_other(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(6))
    report = pixelmill.preview(source, recipe="tfdali", variants=1, size=SIDE, labels=False)
    width, height = Image.open(io.BytesIO(report.content)).size
    assert width > height  # three pairs in each of two rows
    narrow = pixelmill.preview(source, recipe="tfdali", variants=3, samples=[0], columns=2, size=SIDE, labels=False)
    width, height = Image.open(io.BytesIO(narrow.content)).size
    assert len(narrow.cells) == 4 and abs(width - height) < SIDE


@pytest.mark.parametrize(
    ("count", "columns"), [(1, 1), (3, 3), (5, 5), (6, 3), (7, 4), (9, 3), (12, 4), (16, 4), (20, 5)]
)
def test_rows_are_filled(count: int, columns: int, tmp_path: Path) -> None:
    report = pixelmill.preview(write(tmp_path / "x", "tfrecord", [plain(0)] * count), size=32, count=20, labels=False)
    sheet = pixels_of(report)
    assert len(_starts((sheet != sheet[0, 0]).any(axis=(0, 2)))) == columns
    assert len(_starts((sheet != sheet[0, 0]).any(axis=(1, 2)))) == -(-count // columns)


def test_legend_and_long_texts_stay_on_the_sheet(tmp_path: Path) -> None:
    many = Boxes(np.tile([0.1, 0.1, 0.4, 0.4], (200, 1)), np.arange(200))
    long = "a very long name of a class " * 20
    source = write(tmp_path / long.strip()[:200], "tfrecord", [plain(0, labels=(1,), class_name=long, boxes=many)])
    report = pixelmill.preview(source, size=64)
    sheet = pixels_of(report)
    assert sheet.shape[1] <= 420 and report.cells[0].boxes == 200
    for border in (sheet[:3], sheet[-3:], sheet[:, :3], sheet[:, -3:]):
        assert (border == sheet[0, 0]).all()


def test_all_lines_of_the_head_begin_in_one_column() -> None:
    layout = preview_sheet._Layout(SimpleNamespace(size=160, labels=False), head=0, columns=1)
    sheet = Image.new("RGB", (120, 120), "white")
    preview_sheet._write_head(sheet, ["HH"], ["HH", "HH"], layout)
    ink = np.less(np.asarray(sheet.convert("L")), 200)
    rows = ink.any(axis=1)
    lines = [row for row in range(1, len(rows)) if rows[row] and not rows[row - 1]]
    begins = [int(np.argmax(ink[row])) for row in lines]
    assert len(lines) == 3
    assert max(begins) - min(begins) <= 1  # the margin of a letter grows with the font
    assert abs(begins[0] - 2 * layout.gap) <= 2


def test_entries_of_a_legend_stand_half_a_letter_apart() -> None:
    """A swatch is as wide as the font is high, and an entry ends so far after its text: the gap comes after that."""
    entries = [(color_of(number), "HH") for number in range(3)]
    grid = SimpleNamespace(size=160, labels=False, legend=lambda: (entries, []))
    layout = preview_sheet._Layout(grid, head=0, columns=1)
    ((_, *swatches),) = preview_sheet._legend_lines(grid, layout, 400)
    length = int(font_for("HH", layout.font).getlength("HH"))
    places = [at for _, _, at in swatches]
    assert np.diff(places).tolist() == 2 * [length + 2 * layout.font + layout.font // 2]


def test_lines_of_legends_stand_four_pixels_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tops: list[tuple[int, int]] = []
    monkeypatch.setattr(
        preview_sheet, "_write_legend", lambda sheet, line, top, layout: tops.append((top, top - layout.line))
    )
    sample = plain(0, boxes=Boxes([[0.1, 0.1, 0.4, 0.4]], [2]), mask=png(np.eye(SIDE) * 5))
    pixelmill.preview(write(tmp_path / "x", "tfrecord", [sample]), size=SIDE)
    (first, _), (_, above) = tops
    assert above == first + 4


def test_the_kind_of_a_problem_stands_out_from_its_message() -> None:
    layout = preview_sheet._Layout(SimpleNamespace(size=160, labels=False), head=0, columns=1)
    cell = Thumbnail(0, problem=Event("corrupt", "HH", sample=0, epoch=0))
    sheet = Image.new("RGB", (160, 160), "white")
    preview_sheet._write_problem(ImageDraw.Draw(sheet), cell, (0, 0, 160, 160), layout)
    red, green, _ = np.moveaxis(np.asarray(sheet).astype(int), 2, 0)
    reddish = (red - green).max(axis=1) > 60
    middle = layout.gap // 2 + layout.line
    assert reddish[:middle].any() and not reddish[middle:].any()
    assert (green[middle:] < 100).any()


def broken() -> list[Sample]:
    whole = encoded("jpeg", seed=1, size=(60, 80))
    return [
        Sample("whole", whole, "jpg"),
        Sample("cut", whole[: len(whole) // 2], "jpg"),
        Sample("page", b"<html>", "jpg"),
        Sample("mask", whole, "jpg", mask=mask_of(1)),
        Sample("box", whole, "jpg", boxes=Boxes([[0.5, 0.5, 0.2, 0.9]], [1])),
        Sample("array", b"\x93NUMPY\1\0", "npy"),
    ]


@pytest.mark.parametrize("recipe", [None, "tfdali"])
@pytest.mark.parametrize("ending", ["png", "html"])
def test_damage_is_named_and_ends_with_3(recipe: str | None, ending: str, tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", broken())
    how = [] if recipe is None else ["--recipe", recipe, "--variants", 2]
    result = run(source, "--output", tmp_path / f"look.{ending}", *how)
    assert result.exit_code == 3, result.output
    assert (tmp_path / f"look.{ending}").stat().st_size > 1000
    report = pixelmill.preview(source, recipe=recipe, variants=2)
    kinds = {cell.number: cell.problem.kind for cell in report.cells if cell.problem is not None}
    assert kinds == {1: "truncated", 2: "not_an_image", 3: "corrupt", 4: "corrupt", 5: "corrupt"}
    assert report.damaged == 5 and result.stderr.count("damaged: ") == 5
    assert "the mask has 9 x 13 pixels, its image 60 x 80" in result.stderr
    assert [cell.variant for cell in report.cells if cell.number == 0] == ([0] if recipe is None else [0, 1, 2])
    assert [cell.variant for cell in report.cells if cell.number == 2] == [0]


def test_errors_finds_what_is_damaged(tmp_path: Path) -> None:
    samples = [*photos(30), broken()[1], *photos(20), broken()[2], *photos(5)]
    source = write(tmp_path / "x", "tfrecord", samples)
    assert [cell.number for cell in pixelmill.preview(source, errors=True).cells] == [30, 51]
    assert [cell.number for cell in pixelmill.preview(source, errors=True, count=1).cells] == [30]
    result = run(write(tmp_path / "y", "tfrecord", photos(3)), "--errors", "--output", tmp_path / "look.png")
    assert result.exit_code == 0 and "none of 3 samples is damaged" in result.output
    assert not (tmp_path / "look.png").exists()


def test_pieces_of_the_container_that_are_lost_are_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "tfrecord", photos(5)) / "data.tfrecord"
    data = bytearray(path.read_bytes())
    data[9] ^= 1  # the checksum of the first length
    path.write_bytes(bytes(data))
    report = pixelmill.preview(path)
    assert [cell.number for cell in report.cells] == [0, 1, 2, 3, -1]
    assert report.damaged == 1 and report.cells[-1].problem is not None
    numbers = [cell.number for cell in pixelmill.preview(path, samples=[2]).cells]
    assert numbers == [2]


def test_checksums_are_verified(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "tfrecord", photos(3)) / "data.tfrecord"
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(bytes(data))
    (bad,) = [cell for cell in pixelmill.preview(path).cells if cell.problem is not None]
    assert bad.number == 2 and bad.problem is not None and bad.problem.kind == "checksum"


def test_empty_datasets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    result = run(tmp_path / "empty", "--output", tmp_path / "look.png")
    assert result.exit_code == 1 and "no file below" in result.output
    (tmp_path / "data.tfrecord").write_bytes(b"")
    assert run(tmp_path / "data.tfrecord", "--from", "tfrecord", "--output", tmp_path / "look.png").exit_code == 1
    assert not (tmp_path / "look.png").exists()


def test_one_sample_makes_a_small_sheet(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(1))
    sheet = Image.open(io.BytesIO(pixelmill.preview(source).content))
    assert sheet.width <= 420 and sheet.height <= 420
    bare = Image.open(io.BytesIO(pixelmill.preview(source, labels=False).content))
    assert bare.width < 300


def test_equal_calls_give_equal_bytes(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(40))
    for ending in ("png", "html"):
        first, again = (pixelmill.preview(source, tmp_path / f"{n}.{ending}", recipe="heavy", seed=3) for n in (1, 2))
        assert first.content == again.content == (tmp_path / f"1.{ending}").read_bytes()
    other = pixelmill.preview(source, recipe="heavy", seed=4)
    assert [cell.number for cell in other.cells] != [cell.number for cell in first.cells]


def test_the_file_is_written_where_nothing_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "x", "list", photos(3))
    result = run(source)
    assert (result.exit_code, result.output) == (0, "preview.png\n")
    before = Path("preview.png").read_bytes()
    assert Image.open(io.BytesIO(before)).mode == "RGB"
    result = run(source, "--count", 1)
    assert result.exit_code == 5 and "--exists overwrite" in result.output
    assert Path("preview.png").read_bytes() == before
    assert run(source, "--count", 1, "--exists", "overwrite").exit_code == 0
    assert Path("preview.png").read_bytes() != before
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["preview.png", "x"]
    report = pixelmill.preview(source)
    report.save("deep/er.png")
    assert Path("deep/er.png").read_bytes() == report.content
    with pytest.raises(OutputExists, match=r"er\.png exists"):
        report.save("deep/er.png")


def test_json_tells_everything_but_the_image(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", broken()[:2])
    result = run(source, "--output", tmp_path / "look.html", "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert (found["samples"], found["damaged"], found["kind"]) == (2, 1, "html")
    assert found["output"] == str(tmp_path / "look.html")
    assert found["bytes"] == (tmp_path / "look.html").stat().st_size
    assert found["cells"][0] == {
        "number": 0,
        "variant": 0,
        "key": "whole",
        "label": "",
        "height": 60,
        "width": 80,
        "boxes": 0,
        "mask_classes": [],
        "problem": None,
        "bytes": len(broken()[0].image),
        "split": "",
        "brightness": found["cells"][0]["brightness"],
        "duplicate": 0,
    }
    assert 0 < found["cells"][0]["brightness"] < 255
    assert found["cells"][1]["problem"]["kind"] == "truncated"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--samples", "3,x"], "'x' is not a number"),
        (["--samples", "7-3"], "'7-3' is not a number"),
        (["--samples", "0-99999999999999999"], "are more than"),
        (["--samples", "12"], "there is no sample 12"),
        (["--samples", "1", "--errors"], "one of these ways"),
        (["--samples", "1", "--count", "3"], "leave one of them out"),
        (["--class", "dog"], "no sample of class 'dog'; there are 0"),
        (["--only", "masks"], "no sample with masks"),
        (["--recipe", "nothing"], "there is no file nothing"),
        (["--samples", "0-3", "--size", "2048", "--recipe", "tfdali", "--variants", "9"], "too many"),
    ],
)
def test_wrong_arguments_are_named(options: list[str], message: str, tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(4))
    result = run(source, "--output", tmp_path / "look.png", *options)
    assert result.exit_code == 1 and message in result.output
    assert not (tmp_path / "look.png").exists()


def test_wrong_arguments_of_the_function_are_named(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(2))
    for wrong in ({"size": 4}, {"columns": 0}, {"count": -1}, {"seed": -1}, {"only": "cats"}, {"samples": []}):
        with pytest.raises(ArgumentError, match=f"preview: {next(iter(wrong))}"):
            pixelmill.preview(source, **wrong)
    with pytest.raises(ArgumentError, match=r"\.png, \.html"):
        pixelmill.preview(source, tmp_path / "look.jpg")
    with pytest.raises(DataError):
        pixelmill.preview(source, format="recordio")


def test_datasets_elsewhere_are_shown(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    source = write(tmp_path / "x", "webdataset", photos(3))
    files = fsspec.filesystem("memory")
    files.put(str(source), "/preview-test", recursive=True)
    try:
        near, far = (pixelmill.preview(place) for place in (source, "memory://preview-test"))
        assert near.cells == far.cells
        pixelmill.preview(source, "memory://preview-test/look.png")
        assert files.cat_file("/preview-test/look.png") == near.content
    finally:
        files.rm("/preview-test", recursive=True)


def test_notebooks_show_the_image_or_the_page(tmp_path: Path) -> None:
    source = write(tmp_path / "x", "tfrecord", photos(2))
    assert pixelmill.preview(source)._repr_html_().startswith('<img src="data:image/png;base64,')
    page = pixelmill.preview(source, tmp_path / "a.html")._repr_html_()
    assert page.startswith('<iframe srcdoc="&lt;!doctype html&gt;') and page.count("<") == 2


def test_the_image_of_the_page_about_it_is_up_to_date() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    stored = ROOT / "docs" / "preview.jpg"
    made = io.BytesIO(importlib.import_module("preview_image").draw())
    assert stored.stat().st_size < 150_000
    before, now = (np.asarray(Image.open(source)).astype(int) for source in (stored, made))
    assert before.shape == now.shape and np.abs(before - now).mean() < 2, "run `make docs`"
