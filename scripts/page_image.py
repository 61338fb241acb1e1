"""Write docs/assets/preview-page.jpg, a page of `pixelmill preview` as a browser shows it; needs Chromium."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import pixelmill
from pixelmill.create import create_images

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "docs" / "assets" / "preview-page.jpg"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
WIDTH, HEIGHT, SCALE, QUALITY = 1400, 800, 1.2, 82


def write_dataset(folder: Path) -> None:
    """Create images of six classes with boxes and masks, of which some are dark, cut or there twice."""
    create_images(
        folder, "shape_", 320, 240, 240, "jpg", 3, content="shapes", classes=6, masks=True, boxes=True, workers=1
    )
    files = sorted((folder / "images").rglob("*.jpg"))
    files[17].write_bytes(files[17].read_bytes()[:3000])
    shutil.copy(files[40], files[40].with_name("copy.jpg"))


def main() -> int:
    """Write the image; say so if there is no browser."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"no browser here: {TARGET.relative_to(ROOT)} stays as it is")
        return 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        source, page_file = Path(folder) / "shapes", Path(folder) / "look.html"
        write_dataset(source)
        pixelmill.preview(source, page_file, size=200)
        view = driver.chromium.launch(executable_path=browser, args=FLAGS)
        context = view.new_context(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SCALE)
        page = context.new_page()
        page.goto(page_file.as_uri())
        page.evaluate("document.querySelector('h1').textContent = 'shapes'")  # without the temporary folder
        for image in page.locator(".item img").all():
            image.evaluate("(element) => element.decode()")
        TARGET.parent.mkdir(exist_ok=True)
        page.screenshot(path=TARGET, type="jpeg", quality=QUALITY)
        view.close()
    print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
