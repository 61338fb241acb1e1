"""A browser without a window for tests of pages: the Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_FLAGS = [
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
DESKTOP, PHONE = (1280, 800), (390, 844)


def find_browser() -> str | None:
    """Return the path of a browser; `PIXELMILL_BROWSER` names another one."""
    return os.environ.get("PIXELMILL_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def started_browser() -> Iterator[Browser]:
    """Start a browser; skip the test where there is none."""
    path = find_browser()
    if path is None:
        pytest.skip("no browser: `apt-get install chromium`, or PIXELMILL_BROWSER=/path/to/chrome")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    flags = [*_FLAGS, "--no-sandbox"] if os.geteuid() == 0 else _FLAGS  # Chromium has no sandbox for root
    with playwright.sync_playwright() as driver:
        browser: Browser = driver.chromium.launch(executable_path=path, args=flags, timeout=120_000)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Browser, path: Path | str, *, size: tuple[int, int] = DESKTOP, dark: bool = False
) -> Iterator[Page]:
    """Open a file or an address in a new window; fail if it reports an error or asks for anything but its folder."""
    address = path.as_uri() if isinstance(path, Path) else path
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        has_touch=size == PHONE,
        reduced_motion="reduce",
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))  # and leave it open: nothing may ask
    page.on("request", lambda request: errors.append(request.url) if not _is_own(request.url, address) else None)
    page.set_default_timeout(60_000)
    try:
        page.goto(address)
        yield page
        assert not errors, errors
    finally:
        context.close()


def _is_own(request: str, address: str) -> bool:
    return request.startswith(("data:", "blob:", address.rpartition("/")[0]))
