"""Pages of previews in a real browser, at the width of a desktop and of a phone, with the keyboard."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from browser import DESKTOP, PHONE, opened, started_browser
from dataset_cases import write
from PIL import Image

import pixelmill
from pixelmill.create.rendering import photo
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = '</script><img src=x onerror="document.title=1">'
MANY = 3000


def jpeg(pixels: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(stream, "jpeg", quality=90)
    return stream.getvalue()


def sample(number: int) -> Sample:
    """A photo of 60 + number rows, brighter with its number, of one of three classes, with a box and a mask."""
    pixels = photo(3, number, height=60 + number, width=100) * (0.25 + 0.03 * number)
    mask = np.zeros(pixels.shape[:2], np.uint8)
    mask[10:30, 10:40] = 2
    name = ("ant", "bee", HOSTILE)[number % 3]
    boxes = Boxes([[0.1, 0.2, 0.5, 0.6]], [number % 3])
    return Sample(f"photo{number}", jpeg(pixels), "jpg", (number % 3,), name, boxes=boxes, mask=npy.encode(mask))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started_browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pages: 20 samples of which one is damaged and two are alike, variants of a recipe, and thousands."""
    base = tmp_path_factory.mktemp("pages")
    samples = [sample(number) for number in range(18)]
    copy = Image.open(io.BytesIO(samples[4].image)).resize((200, 128))
    samples += [Sample("copy", jpeg(np.asarray(copy)), "jpg", (0,), "ant"), Sample("broken", b"\xff\xd8\xff", "jpg")]
    source = write(base / "data", "tfrecord", samples)
    pixelmill.preview(source, base / "few.html")
    pixelmill.preview(source, base / "variants.html", recipe="detection", variants=3, count=6)
    small = [jpeg(np.full((8, 8, 3), level)) for level in range(256)]
    many = [Sample(f"n{number}", small[number * 7 % 256], "jpg", (number % 5,)) for number in range(MANY)]
    pixelmill.preview(write(base / "many", "tfrecord", many), base / "many.html", count=0)
    return base


def names(page: Page) -> list[str]:
    """The names of the samples in view, in their order."""
    numbers: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(".item")]
            .sort((one, other) => one.ariaPosInSet - other.ariaPosInSet).map((item) => item.dataset.number)"""
    )
    keys = {row["number"]: row["key"] for row in page_rows(page)}
    return [keys[int(number)] for number in numbers]


def focused(page: Page) -> str:
    text: str = page.evaluate("document.activeElement.querySelector('.name')?.textContent ?? document.activeElement.id")
    return text


def count(page: Page) -> str:
    return page.inner_text("#count")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["few", "variants", "many"])
def test_pages_open_and_fit(name: str, size: tuple[int, int], browser: Browser, folder: Path) -> None:
    with opened(browser, folder / f"{name}.html", size=size, dark=name == "few") as page:
        assert page.locator(".item").count() >= 3
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for image in page.locator(".item img").all()[:8]:
            image.evaluate("(element) => element.decode()")
        columns = page.evaluate(
            "new Set([...document.querySelectorAll('.item')].map((i) => i.getBoundingClientRect().x)).size"
        )
        assert columns >= (2 if name != "variants" else 1)
        assert page.locator("aside").is_visible() == (size == DESKTOP)
        assert page.title() != "1"  # no name of the dataset became markup


def test_search_and_filters(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "few.html") as page:
        assert count(page) == "20 samples"
        page.keyboard.press("/")
        page.keyboard.type("BEE photo1")
        page.get_by_role("button", name="Remove filter: “BEE photo1”").wait_for()
        assert names(page) == ["photo1", "photo10", "photo13", "photo16"] and count(page) == "4 of 20 samples"
        page.keyboard.press("Escape")
        assert count(page) == "20 samples" and focused(page) == "#0 photo0"
        page.select_option("#class", label=HOSTILE)
        assert names(page) == [f"photo{number}" for number in range(2, 18, 3)]
        page.select_option("#show", label="Damaged")
        assert count(page) == "0 of 20 samples" and page.get_by_text("No sample matches").is_visible()
        page.click("#clear")
        page.select_option("#show", label="Damaged")
        assert names(page) == ["broken"]
        page.select_option("#show", label="Duplicates")
        assert names(page) == ["photo4", "copy"]
        page.get_by_role("button", name="Remove filter: duplicates").click()
        assert count(page) == "20 samples"


def test_sorting(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "few.html", size=(1600, 1600)) as page:
        by_number = [f"photo{number}" for number in range(18)]
        page.select_option("#sort", label="Size in pixels")
        assert names(page) == [*by_number, "copy", "broken"]
        page.click("#direction")
        assert names(page) == ["copy", *by_number[::-1], "broken"]  # what has no size stays last
        page.select_option("#sort", label="Brightness")
        shown = names(page)
        levels = {row["key"]: row["measures"][0] for row in page_rows(page) if row["measures"]}
        assert shown[:-1] == sorted(levels, key=lambda key: -levels[key]) and shown[-1] == "broken"


def page_rows(page: Page) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = page.evaluate("JSON.parse(document.getElementById('data').textContent).samples")
    return rows


def test_statistics_filter_too(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "few.html") as page:
        row = page.get_by_role("button", name="bee: 6 of 6").first
        row.click()
        assert count(page) == "6 of 20 samples"
        assert page.get_by_role("button", name="ant: 0 of 7").is_visible()
        page.get_by_role("button", name="bee: 6 of 6").first.click()
        assert count(page) == "20 samples"
        column = page.locator(".histogram").first.locator(".column:not(:disabled)").first
        label = column.get_attribute("aria-label") or ""
        column.click()
        assert count(page) == f"{label.split()[-1]} of 20 samples"
        means = [row["measures"][4:7] for row in page_rows(page) if row["measures"]]
        page.get_by_role("button", name="Remove filter").click()
        expected = ", ".join(f"{value / 255:.3f}" for value in np.mean(means, axis=0))
        assert f"mean=[{expected}]" in page.inner_text("aside code")


def test_keyboard(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "few.html") as page:
        page.keyboard.press("ArrowDown")
        assert focused(page) == "#0 photo0"
        page.keyboard.press("ArrowRight")
        assert focused(page) == "#1 photo1"
        page.keyboard.press("ArrowDown")
        columns = page.evaluate(
            "new Set([...document.querySelectorAll('.item')].map((i) => i.getBoundingClientRect().x)).size"
        )
        assert focused(page) == f"#{1 + columns} photo{1 + columns}"
        page.keyboard.press("End")
        assert focused(page) == "#19"
        page.keyboard.press("ArrowRight")
        assert focused(page) == "#19"
        page.keyboard.press("Home")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        assert dialog.is_visible() and page.inner_text("#detail-place") == "1 of 20"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert page.inner_text("#detail-title") == "bee" and page.inner_text("#detail-place") == "2 of 20"
        page.keyboard.press("Escape")
        # The browser reports the close in a later task, and only then does the page move the focus.
        page.locator(":focus", has=page.get_by_text("#1 photo1", exact=True)).wait_for()
        assert not dialog.is_visible()
        page.keyboard.press("s")
        assert not page.locator("aside").is_visible()
        page.keyboard.press("?")
        assert page.get_by_role("dialog", name="Keyboard").is_visible()


def test_boxes_and_masks_can_be_hidden(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "few.html") as page:
        box, mask = page.locator(".item .box").first, page.locator(".item .mask").first
        assert box.is_visible() and mask.is_visible() and box.inner_text() == "ant"
        picture, place = page.locator(".item .picture").first.bounding_box(), box.bounding_box()
        assert picture and place
        assert abs(place["x"] - picture["x"] - 0.1 * picture["width"]) < 1.5
        assert abs(place["height"] - 0.4 * picture["height"]) < 1.5
        page.keyboard.press("b")
        assert not box.is_visible() and mask.is_visible() and not page.is_checked("#boxes")
        page.uncheck("#masks")
        assert not mask.is_visible()


def test_details_show_variants_and_look_alikes(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "variants.html", size=PHONE) as page:
        page.locator(".sample").first.tap()
        assert page.locator("#detail-images figure").count() == 4
        assert page.inner_text("#detail-images figcaption >> nth=3").startswith("variant 3")
        page.get_by_role("button", name="Close").tap()
        assert not page.locator("#detail").is_visible()
    with opened(browser, folder / "few.html") as page:
        page.select_option("#show", label="Duplicates")
        page.locator(".sample").first.click()
        page.get_by_role("dialog").get_by_role("button", name="ant, #18, copy").click()
        page.locator("#detail-facts dd", has_text="copy").wait_for()


def test_thousands_of_samples_need_few_elements(browser: Browser, folder: Path) -> None:
    with opened(browser, folder / "many.html") as page:
        assert count(page) == f"{MANY:,} samples"
        before = page.evaluate("document.querySelectorAll('*').length")
        assert before < 2000
        for _ in range(2):
            page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
            page.locator(".item").first.wait_for()
            page.evaluate("new Promise(requestAnimationFrame)")
        assert 0 < page.locator(".item").count() < 200
        assert page.locator(".item").first.get_attribute("aria-posinset") != "1"
        page.keyboard.press("End")
        assert focused(page) == f"#{MANY - 1} n{MANY - 1}"
        assert page.evaluate("document.querySelectorAll('*').length") < 2 * before
        page.keyboard.press("/")
        page.keyboard.type("n2999")
        page.get_by_role("button", name="Remove filter").filter(has_text="n2999").wait_for()
        assert names(page) == ["n2999"]


def test_everything_can_be_reached_and_has_a_name(browser: Browser, folder: Path) -> None:
    """Walk through the page with Tab: every stop has a visible focus and a name."""
    with opened(browser, folder / "few.html") as page:
        seen = []
        for _ in range(14):
            page.keyboard.press("Tab")
            stop = page.evaluate(
                """() => { const at = document.activeElement; const style = getComputedStyle(at);
                    return { id: at.id || at.className, outline: style.outlineStyle,
                        name: at.ariaLabel || at.closest("label")?.textContent || at.textContent } }"""
            )
            assert stop["name"].strip() and (stop["outline"] != "none" or stop["id"] == "skip"), stop
            seen.append(stop["id"])
        assert {"search", "class", "show", "sort", "direction", "boxes", "masks", "zoom", "show-statistics"} <= set(
            seen
        )
        assert "sample" in seen
