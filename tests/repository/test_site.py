"""The documentation as a site: the code of its pages runs, generated pages are up to date, and it builds strictly."""

from __future__ import annotations

import http.server
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, opened, started_browser
from locations import ROOT
from page_code import Block, blocks_of, run_page


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/index.html"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


DOCS = ROOT / "docs"
FOLDERS = ("start", "tutorials", "howto", "coming-from")
PAGES = [DOCS / "index.md", *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md")))]


def test_blocks_are_found_with_their_output() -> None:
    shell = "```sh\necho a\n```\n\n```text\na\n```\n\n"
    listed = "- item\n\n  ```python\n  if 1:\n      print(2)\n  ```\n\n"
    page = f"{shell}{listed}words\n\n```text\nno\n```\n"
    assert blocks_of(page) == [Block("sh", "echo a\n", 1, "a\n"), Block("python", "if 1:\n    print(2)\n", 11)]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("```sh\necho ab\n```\n```text\na…\n```\n", True),
        ("```sh\necho ab\n```\n```text\nb\n```\n", False),
        ("```sh\nfalse\n```\n", False),
    ],
)
def test_wrong_pages_fail(text: str, passes: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    if passes:
        run_page(page, tmp_path)
    else:
        with pytest.raises(AssertionError, match=r"page.md:1"):
            run_page(page, tmp_path)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 server on this machine with a bucket."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    with urllib.request.urlopen(urllib.request.Request(f"{address}/bucket", method="PUT")) as answer:
        assert answer.status == 200
    yield address
    server.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the clients of object stores
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # webdataset's
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_code_of_pages_runs(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "convert photos s3://" in page.read_text("utf-8"):
        values = {"ENDPOINT_URL": request.getfixturevalue("endpoint"), "REGION": "us-east-1"}
        for name, value in {**values, "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "y"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    run_page(page, tmp_path / "work")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: broken links and anchors are errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_fetches_nothing(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 80
    for page in pages:
        text = page.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=\"(https?:[^\"]*)", text)
        assert not loaded, (page, loaded)
    for style in site.rglob("*.css"):
        assert "https://fonts" not in style.read_text("utf-8"), style
    color = (site / "reference" / "operators" / "color.html").read_text("utf-8")
    assert "gallery/brightness.png" in color


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_site_can_be_read_and_searched(size: tuple[int, int], site: Path) -> None:
    with serving(site) as address, started_browser() as browser, opened(browser, address, size=size) as page:
        assert page.title() == "pixelmill"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("s")
        page.keyboard.type("perceptual hash")
        page.locator(".md-search-result__item", has_text="Looking at a dataset").first.wait_for()
