"""Reading and writing small XML files as JSON values. Documents with a DOCTYPE are refused: no entity expands."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from typing import Any
from xml.parsers import expat

from pixelmill.errors import DataError

MOST_BYTES = 1 << 24
_MOST_LEVELS = 32
_MOST_ELEMENTS = 1_000_000
_TAG = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LIST_TAGS = frozenset(("object", "part"))  # elements that are lists even if there is one


class _Reader:
    """Collects elements as values: text, numbers, or mappings of the elements inside."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._open: list[tuple[str, dict[str, Any], list[str]]] = []
        self._elements = 0
        self.root: tuple[str, Any] | None = None

    def parse(self, data: bytes) -> None:
        self._parser.Parse(data, True)

    def _refuse(self, *_: object) -> None:
        raise DataError("it has a DOCTYPE or entities, which are not allowed")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        if len(self._open) >= _MOST_LEVELS or self._elements > _MOST_ELEMENTS:
            raise DataError(f"it has more than {_MOST_LEVELS} levels or {_MOST_ELEMENTS} elements")
        self._open.append((tag, {f"@{name}": text for name, text in attributes.items()}, []))

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1][2].append(text)

    def _end(self, tag: str) -> None:
        _, inner, texts = self._open.pop()
        value: Any = inner if inner else _scalar("".join(texts))
        if not self._open:
            self.root = (tag, value)
            return
        above = self._open[-1][1]
        if tag in above:
            known = above[tag]
            above[tag] = [*known, value] if isinstance(known, list) else [known, value]
        else:
            above[tag] = [value] if tag in _LIST_TAGS else value


def _scalar(text: str) -> Any:
    """Return a number if the text is one as we would write it, else the text without blanks around it."""
    text = text.strip()
    for kind in (int, float):
        try:
            if len(text) < 32 and repr(kind(text)) == text and text not in ("inf", "-inf", "nan"):
                return kind(text)
        except ValueError:
            continue
    return text


def read_xml(data: bytes, *, root: str) -> dict[str, Any]:
    """Return the elements inside the root element. Raises DataError if it is something else."""
    reader = _Reader()
    try:
        reader.parse(data)
    except expat.ExpatError as error:
        raise DataError(f"it is not XML: {error}") from None
    except (ValueError, LookupError) as error:  # encodings that expat or Python does not know
        raise DataError(f"it is not XML: {error}") from None
    if reader.root is None or reader.root[0] != root:
        raise DataError(f"its root is not <{root}>")
    return reader.root[1] if isinstance(reader.root[1], dict) else {}


def is_tag(name: str) -> bool:
    """Whether an element can have this name."""
    return _TAG.fullmatch(name) is not None and len(name) < 200


def write_xml(tag: str, value: Any, *, level: int = 0) -> str:
    """Return an element. Names that no element can have, and characters that XML does not have, are left out."""
    if isinstance(value, list):
        return "".join(write_xml(tag, item, level=level) for item in value)
    indent = "\t" * level
    if isinstance(value, Mapping):
        attributes = "".join(f' {n[1:]}="{_escaped(v)}"' for n, v in value.items() if n[:1] == "@" and is_tag(n[1:]))
        inner = "".join(write_xml(name, item, level=level + 1) for name, item in value.items() if is_tag(name))
        return f"{indent}<{tag}{attributes}>\n{inner}{indent}</{tag}>\n"
    return f"{indent}<{tag}>{_escaped(value)}</{tag}>\n"


def _escaped(value: object) -> str:
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else json.dumps(value)
    return html.escape(_NOT_IN_XML.sub("?", text), quote=False).replace('"', "&quot;")
