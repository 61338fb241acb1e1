"""docs/reference/api.md, written from the docstrings of the public functions and classes."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator

import pixelmill

NOTE = "<!-- Written by scripts/write_api.py from the docstrings of the package. -->"

INTRODUCTION = """\
# Python API

Names that `import pixelmill` offers, and those of its modules that programs use. Operators have
[pages of their own](../operators.md); [Plugins](../plugins.md) describes the iterators for frameworks.
Arguments are keywords from the second on. `docs/public_names.txt` lists every public name."""

# Titles of the sections, with the names in the order in which people need them.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Training": ("ImageLoader", "open_dataset", "ImageTransform", "Loader", "pipeline_def", "Pipeline"),
    "Images": ("imread", "decode_image", "image_info", "imwrite", "encode_jpeg", "encode_png", "ImageInfo"),
    "Whole datasets": (
        *("convert", "augment", "ingest.ingest", "segmentation.prepare_segmentation", "info", "verify", "index"),
        *("preview", "bench"),
    ),
    "Creating data": (
        *("create.create_images", "create.create_photo_folder", "create.create_tfrecords", "create.create_recordio"),
    ),
    "Jobs": ("jobs.run_job", "jobs.job_status", "jobs.Job", "jobs.JobReport"),
    "Random choices": ("one_of", "apply_with_probability", "mixing.mixup", "mixing.cutmix"),
    "Errors": ("PixelmillError", "ArgumentError", "DataError", "EngineError", "MissingDependency", "Event"),
}
_HEADINGS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Example", "Examples")
_ENTRY = re.compile(r"(\*{0,2}\w[\w.]*)(?: \([^)]*\))?: (.*)", re.S)
_PREFIXES = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
_LONGEST = 100


def api_page() -> str:
    """Return the page."""
    parts = [NOTE, INTRODUCTION]
    for title, names in SECTIONS.items():
        found = [(name, value) for name in names if (value := _named(name)) is not None]
        parts += [f"## {title}", *(_section(name, value) for name, value in found)]
    return "\n\n".join(parts) + "\n"


def _named(name: str) -> Callable[..., object] | type | None:
    """Return a public name; None if this version does not have it."""
    module, _, last = name.rpartition(".")
    owner = importlib.import_module(f"pixelmill.{module}") if module else pixelmill
    found: Callable[..., object] | type | None = getattr(owner, last, None)
    return found


def _section(name: str, value: Callable[..., object] | type) -> str:
    parts = [f"### {name}", _signature(name, value), *_documented(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        parts += list(_members(value))
    return "\n\n".join(parts)


def _members(kind: type) -> Iterator[str]:
    """Yield the public methods and properties that the class defines itself, one line each."""
    rows = []
    for name, member in sorted(vars(kind).items()):
        target = member.fget if isinstance(member, property) else member
        target = target.__func__ if isinstance(target, (classmethod, staticmethod)) else target
        if name.startswith("_") or not callable(target) or not target.__doc__:
            continue
        summary = " ".join(inspect.cleandoc(target.__doc__).split("\n\n")[0].split())
        rows.append(f"| `{name}{'' if isinstance(member, property) else '()'}` | {_cell(_plain(summary))} |")
    if rows:
        yield "\n".join(["| member | |", "|---|---|", *rows])


def _signature(name: str, value: Callable[..., object] | type) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return f"```python\npixelmill.{name}\n```"
    shown = []
    star = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        prefix = _PREFIXES.get(parameter.kind.name, "")
        default = "" if parameter.default is parameter.empty else f"={_value(parameter.default)}"
        shown.append(f"{prefix}{parameter.name}{default}")
    line = f"pixelmill.{name}({', '.join(shown)})"
    if len(line) > _LONGEST:
        line = f"pixelmill.{name}(\n" + "".join(f"    {text},\n" for text in shown) + ")"
    return f"```text\n{line}\n```"


def _value(value: object) -> str:
    text = repr(value)
    return "..." if " at 0x" in text or text.startswith("<") else text


def _documented(text: str) -> list[str]:
    """Return a Google docstring as Markdown."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        first, _, rest = paragraph.partition("\n")
        heading = first.strip().removesuffix(":")
        if first.strip().endswith(":") and heading in _HEADINGS:
            parts += _listed(heading, inspect.cleandoc("\n" + rest))
        elif first.startswith(("    ", ">>>")):
            parts.append(f"```text\n{inspect.cleandoc(paragraph)}\n```")
        else:
            parts.append(_plain(" ".join(paragraph.split())))
    return parts


def _listed(heading: str, text: str) -> list[str]:
    if heading.startswith("Example"):
        return [f"```text\n{text}\n```"]
    entries = re.split(r"\n(?=\S)", text)
    lines = []
    for entry in entries:
        found = _ENTRY.fullmatch(" ".join(entry.split())) if heading not in ("Returns", "Yields") else None
        lines.append(f"- `{found[1]}`: {_plain(found[2])}" if found else _plain(" ".join(entry.split())))
    if heading in ("Returns", "Yields"):
        return [f"**{heading}:** {' '.join(lines)}"]
    return [f"**{heading}**", "\n".join(lines)]


def _plain(text: str) -> str:
    """Escape what Markdown would take for markup, outside of code; use single backquotes."""
    parts = re.split(r"(`[^`]+`)", text.replace("``", "`"))
    return "".join(part if part.startswith("`") else re.sub(r"([*_<>\[\]])", r"\\\1", part) for part in parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
