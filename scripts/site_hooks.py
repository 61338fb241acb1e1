"""Hooks of MkDocs: pages that are generated, and files of the repository that pages link to."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

from site_pages import operator_pages

ROOT = Path(__file__).parents[1]
# Pages of the repository that are part of the site, with their addresses there.
REPOSITORY = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "examples/README.md": "project/examples.md",
    "README.md": "project/readme.md",
}
NOT_SEARCHED = {"operators.md", "project/readme.md", "project/changelog.md"}  # what they have is elsewhere
UNLISTED = {"gallery/README.md"}  # the pages of operators have its images
Nav = str | list["Nav"] | dict[str, "Nav"]
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.M | re.S)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Complete the navigation: folders become their pages, and pages that it does not name come last."""
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))]
    pages += operator_pages()
    nav = [_completed(entry, pages) for entry in config.nav or []]
    named = set(_pages_of(nav))
    others = [page for page in pages if page not in named and page not in UNLISTED]
    config.nav = [*nav, {"More": others}] if others else nav
    return config


def _completed(entry: Nav, pages: list[str]) -> Nav:
    if isinstance(entry, dict):
        return {title: _completed(value, pages) for title, value in entry.items()}
    if isinstance(entry, list):
        return [_completed(value, pages) for value in entry]
    return [page for page in pages if page.startswith(entry)] if entry.endswith("/") else entry


def _pages_of(entry: Nav) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    for value in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
        yield from _pages_of(value)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the generated pages and those of the repository."""
    for address, text in operator_pages().items():
        files.append(File.generated(config, address, content=text))
    for path, address in REPOSITORY.items():
        files.append(File.generated(config, address, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links to files of the repository at their pages; sources, which have none, become plain text."""
    here = page.file.src_uri
    if here == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    if here in NOT_SEARCHED:
        page.meta["search"] = {"exclude": True}
    origin = next((path for path, address in REPOSITORY.items() if address == here), f"docs/{here}")
    known = {file.src_uri for file in files}

    def changed(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        path, hash_sign, anchor = target.partition("#")
        if not path or re.match(r"\w+:", path):
            return found[0]
        in_repository = posixpath.normpath(posixpath.join(posixpath.dirname(origin), path))
        address = REPOSITORY.get(in_repository, in_repository.removeprefix("docs/"))
        if address in known or in_repository.startswith("docs/"):
            in_site = posixpath.relpath(address, posixpath.dirname(here) or ".")
            is_page = address in known or not (ROOT / in_repository).is_dir()
            return f"{mark}[{text}]({in_site}{hash_sign}{anchor})" if is_page else text
        if (ROOT / in_repository).exists():
            return text if text.startswith("`") else f"`{in_repository}`"
        return found[0]

    parts = _CODE.split(markdown)
    return "".join(part if place % 2 else _LINK.sub(changed, part) for place, part in enumerate(parts))
