"""The C++ side of the declared steps: structs of parameters and inputs, and the table that creates steps by name."""

from __future__ import annotations

import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pixelmill.steps import STEPS, Step
from pixelmill.steps.fields import Field
from pixelmill.steps.sources import Features, Reader, Records, TableColumn
from pixelmill.steps.step import RandomKey
from pixelmill.types import DALIDataType, DALIInterpType

FOLDER = Path("native/core/steps/declared")
NOTE = "// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.\n// clang-format off\n"
MANY = 2**16

# The Python type of a parameter, its C++ type, and the method of `Arguments` that reads it.
TYPES: dict[object, tuple[str, str]] = {
    bool: ("bool", "flag"),
    int: ("int64_t", "integer"),
    float: ("double", "number"),
    str: ("std::string", "text"),
    DALIDataType: ("DType", "dtype"),
    DALIInterpType: ("Filter", "filter"),
    RandomKey: ("uint64_t", "key"),
    Reader: ("size_t", "reader"),
    Records: ("std::shared_ptr<const ByteRanges>", "resource<ByteRanges>"),
    TableColumn: ("std::shared_ptr<const Table>", "resource<Table>"),
    Features: ("std::shared_ptr<const ExampleFeatures>", "resource<ExampleFeatures>"),
}
LISTS = {int: ("std::vector<int64_t>", "integers"), float: ("std::vector<double>", "numbers")}


def families() -> dict[str, list[type[Step]]]:
    """Return the kinds of steps that the core runs, by the module that declares them."""
    found: dict[str, list[type[Step]]] = {}
    for kind in STEPS.values():
        if kind.native:
            found.setdefault(kind.__module__.rsplit(".", 1)[1], []).append(kind)
    return dict(sorted(found.items()))


def files() -> dict[Path, str]:
    """Return the generated files: a header and a table for each family, and the file that joins the tables."""
    written = {FOLDER / "declarations.cpp": "".join(_joined())}
    for family, kinds in families().items():
        written[FOLDER / f"{family}.h"] = "".join(_header(family, kinds))
        written[FOLDER / f"{family}.cpp"] = "".join(_table(family, kinds))
    return written


def _header(family: str, kinds: list[type[Step]]) -> Iterator[str]:
    yield f"// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/{family}.py.\n"
    yield NOTE
    yield textwrap.dedent(
        """\
        #pragma once

        #include <cstdint>
        #include <memory>
        #include <optional>
        #include <span>
        #include <string>
        #include <vector>

        #include "../../kernels/axis.h"
        #include "../../step.h"

        namespace pixelmill {
        """
    )
    if family == "sources":
        yield "\nclass ByteRanges;\nclass ExampleFeatures;\nclass Table;\n"
    for kind in kinds:
        yield "\n" + "".join(_structs(kind))
    yield "\n}  // namespace pixelmill\n"


def _structs(kind: type[Step]) -> Iterator[str]:
    name, declaration = kind.__name__, kind.declaration()
    yield f"// {_first_line(kind)}\n"
    yield f"struct {name}Params {{\n"
    for entry in declaration.parameters:
        yield f"    {_cpp_type(entry)} {entry.name};\n"
    yield "};\n"
    if declaration.inputs:
        yield f"struct {name}Inputs {{\n"
        single = ", &".join(entry.name for entry in declaration.inputs if not entry.many)
        yield f"    const Value &{single};\n" if single else ""
        yield "".join(f"    std::span<const Value> {entry.name};\n" for entry in declaration.inputs if entry.many)
        places = [
            f"{entry.name}(in.subspan({place}))" if entry.many else f"{entry.name}(in[{place}])"
            for place, entry in enumerate(declaration.inputs)
        ]
        yield f"    explicit {name}Inputs(std::span<const Value> in)\n        : {', '.join(places)} {{}}\n}};\n"
    yield f"std::unique_ptr<Step> make_{kind.kind}(const {name}Params& params);\n"


def _first_line(kind: type[Step]) -> str:
    lines = (kind.__doc__ or "").strip().splitlines()
    if not lines or lines[0].startswith(f"{kind.__name__}("):
        raise LookupError(f"step {kind.kind} has no docstring")
    return lines[0]


def _cpp_type(entry: Field) -> str:
    cpp = _types(entry)[0]
    return f"std::optional<{cpp}>" if entry.optional else cpp


def _types(entry: Field) -> tuple[str, str]:
    if typing.get_origin(entry.hint) is Literal:
        return "std::string", "text"
    for hint, names in (LISTS if entry.many else TYPES).items():
        if hint == entry.hint:
            return names
    raise LookupError(f"{entry.name}: the core has no parameters of type {entry.hint}")


def _table(family: str, kinds: list[type[Step]]) -> Iterator[str]:
    yield NOTE
    yield f'#include "{family}.h"\n\n#include "../../declaration.h"\n'
    if family == "sources":
        yield '#include "../../records/example_features.h"\n#include "../../resources.h"\n'
    yield f"\nnamespace pixelmill {{\n\nvoid declare_{family}(Declarations& all) {{\n"
    for kind in kinds:
        yield "".join(_entry(kind))
    yield "}\n\n}  // namespace pixelmill\n"


def _joined() -> Iterator[str]:
    yield NOTE
    yield '#include "../../declaration.h"\n\nnamespace pixelmill {\n\n'
    for family in families():
        yield f"void declare_{family}(Declarations& all);\n"
    yield "\nconst Declarations& declarations() {\n    static const Declarations all = [] {\n"
    yield "        Declarations made;\n"
    for family in families():
        yield f"        declare_{family}(made);\n"
    yield "        return made;\n    }();\n    return all;\n}\n\n}  // namespace pixelmill\n"


def _entry(kind: type[Step]) -> Iterator[str]:
    declaration = kind.declaration()
    inputs = [
        f'{{"{entry.name}", {_number(entry)}, {"optional" if entry.optional else "required"}}}'
        for entry in declaration.inputs
    ]
    first, last = kind.output_counts.start, kind.output_counts.stop - 1
    yield f'    all["{kind.kind}"] = {{\n        {{{", ".join(inputs)}}},\n'
    yield f"        {{{first}, {'any_number' if last >= MANY - 1 else last}}},\n"
    name = "given" if declaration.parameters else ""
    yield f"        [](Arguments&{' ' * bool(name)}{name}) {{ return make_{kind.kind}({{"
    yield "".join(f"\n            .{entry.name} = given.{_reader(entry)}," for entry in declaration.parameters)
    yield "\n        }); }};\n" if declaration.parameters else "}); }};\n"


def _number(entry: Field) -> str:
    return "many" if entry.many else "one"


def _reader(entry: Field) -> str:
    method = _types(entry)[1]
    if typing.get_origin(entry.hint) is Literal:
        return f'choice("{entry.name}", {{{", ".join(_quoted(choice) for choice in typing.get_args(entry.hint))}}})'
    if entry.optional:
        return f'optional("{entry.name}", &Arguments::{method})'
    return f'{method}("{entry.name}")'


def _quoted(text: str) -> str:
    return '"' + text + '"'
