"""Pages of the site that exist only there: one for each family of operators, with its images."""

from __future__ import annotations

import re
from pathlib import Path

import api_page

from pixelmill.operators.declare import Operator

FOLDER = "reference/operators"
GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


def operator_pages() -> dict[str, str]:
    """Return the pages by their addresses below docs/."""
    families = api_page.families()
    pages = {f"{FOLDER}/index.md": _overview(families), f"{FOLDER}/enumerations.md": _enumerations()}
    for module, specs in families.items():
        parts = [f"# {api_page.title(module)}", api_page.family_doc(module), *(_section(spec) for spec in specs)]
        pages[f"{FOLDER}/{_name(module)}.md"] = "\n\n".join(parts) + "\n"
    return pages


def _name(module: str) -> str:
    return module.rsplit(".", 1)[-1]


def _overview(families: dict[str, list[Operator]]) -> str:
    parts = [api_page.INTRODUCTION, api_page.options()]
    for module, specs in families.items():
        parts.append(f"## [{api_page.title(module)}]({_name(module)}.md)")
        rows = [f"| [{spec.name}]({_name(module)}.md#{_slug(spec.name)}) | {_cell(spec.summary)} |" for spec in specs]
        parts.append("\n".join(["| operator | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _section(spec: Operator) -> str:
    """Return the section of an operator, with its image after the heading."""
    heading, _, rest = api_page.section(spec).partition("\n\n")
    image = GALLERY / f"{spec.name}.png"
    shown = [f"![What {spec.name} does](../../gallery/{image.name})"] if image.exists() else []
    rest = re.sub(r"\]\(#(\w+)\)", r"](enumerations.md#\1)", rest)
    return "\n\n".join([f"{heading.replace('### ', '## ')} {{ #{_slug(spec.name)} }}", *shown, rest])


def _enumerations() -> str:
    text = api_page.enumerations()
    return re.sub(r"^#(#+) ", r"\1 ", text, flags=re.M) + "\n"


def _slug(name: str) -> str:
    return api_page.anchor(name)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
