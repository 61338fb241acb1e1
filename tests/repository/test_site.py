"""The documentation as a site: the code of its pages runs, generated pages are up to date, and it builds strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, opened, started_browser
from locations import ROOT
from loopback_s3 import LoopbackS3
from page_code import Block, blocks_of, run_page

import pixelmill
from pixelmill.cli import running

DOCS = ROOT / "docs"
FOLDERS = ("start", "tutorials", "howto", "coming-from")
PAGES = [DOCS / "index.md", *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md")))]


def test_blocks_are_found_with_their_output() -> None:
    page = "```sh\necho a\n```\n\n```text\na\n```\n\n- item\n\n  ```python\n  if 1:\n      print(2)\n  ```\n\nwords\n\n```text\nno\n```\n"
    assert blocks_of(page) == [Block("sh", "echo a\n", 1, "a\n"), Block("python", "if 1:\n    print(2)\n", 11)]


@pytest.mark.parametrize(
    ("text", "passes"),
    [("```sh\necho ab\n```\n```text\na…\n```\n", True), ("```sh\necho ab\n```\n```text\nb\n```\n", False), ("```sh\nfalse\n```\n", False)],
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
def store() -> Iterator[LoopbackS3]:
    server = LoopbackS3()
    with server.running():
        yield server


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_code_of_pages_runs(page: Path, tmp_path: Path, store: LoopbackS3, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text("utf-8")
    if "ImageLoader" in text and not hasattr(pixelmill, "ImageLoader"):
        pytest.skip("pixelmill.ImageLoader is not part of this version")
    if "s3://" in text:
        store.reset()
        for name, value in (("ENDPOINT_URL", store.endpoint), ("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "y")):
            monkeypatch.setenv(f"AWS_{name}", value)
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    run_page(page, tmp_path / "work")
