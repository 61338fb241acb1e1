"""The table of containers in docs/formats.md, written from their `Format` objects."""

from __future__ import annotations

from dataclasses import fields

from pixelmill.formats.containers import all_formats
from pixelmill.formats.format import Fields

BEGIN, END = "<!-- Written by scripts/write_api.py from src/pixelmill/formats. -->\n", "<!-- End of the table. -->\n"
TITLES = {"class_name": "class name", "rest": "boxes and the rest"}


def with_table(page: str) -> str:
    """Return the page with the table of the registered containers between its two markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


def table() -> str:
    """Return the table: a row for each container, a column for each part of a sample."""
    names = [field.name for field in fields(Fields)]
    rows = [["", *(TITLES.get(name, name) for name in names)], ["---"] * (len(names) + 1)]
    for format in all_formats():
        read_only = "" if format.writer is not None else " (read only)"
        rows.append([f"`{format.name}`{read_only}", *(getattr(format.fields, name) for name in names)])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0].replace("|  |", "| |"), lines[1].replace(" ", ""), *lines[2:]]) + "\n"
