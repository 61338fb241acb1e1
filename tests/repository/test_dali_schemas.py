"""Every operator of DALI, its arguments and its defaults are here, or in the lists that docs/dali.md shows."""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

import nvidia.dali
import nvidia.dali.plugin.pytorch
import pytest
from locations import ROOT
from nvidia.dali import backend
from nvidia.dali.fn import _to_snake_case  # type: ignore[attr-defined]
from nvidia.dali.ops import _registry
from nvidia.dali.types import _type_convert_value

import pixelmill
import pixelmill.plugin.pytorch
from pixelmill.operators import OLDER_FUNCTIONS, REGISTRY
from pixelmill.operators.declare import public_operators

# Arguments that all operators take, and that no declaration repeats.
EVERYWHERE = {"device", "name", "seed"}
PLUGIN_OPERATORS = {"JaxFunction", "NumbaFunction", "TorchPythonFunction"}
KINDS = ["Generic", "Classification", "Ragged"]  # of the iterators for PyTorch


@pytest.fixture(scope="module")
def api_dali():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "scripts"), *sys.path])
        yield importlib.import_module("api_dali")


def function_name(schema_name):
    *path, last = schema_name.split("__")
    return ".".join([*path, _to_snake_case(last)])


def registered():
    """Return the operators of DALI without the internal ones, and without those that its plugins add when imported."""
    names = {*_registry.cpu_ops(), *_registry.gpu_ops(), *_registry.mixed_ops()} - PLUGIN_OPERATORS
    return sorted(name for name in names if not name.startswith("_"))


def schemas():
    """Return the schemas of all operators of DALI, by the names of their functions."""
    return {function_name(name): backend.GetSchema(name) for name in registered()}  # type: ignore[attr-defined]


def compared():
    """Return the operator here and the schema there of all names that are in both."""
    declared = {**{name: name for name in public_operators()}, **OLDER_FUNCTIONS}
    found = {n: (REGISTRY[declared[n]], schema) for n, schema in schemas().items() if n in declared}
    assert len(found) > 120
    return found


def default_there(schema, argument):
    """Return the default of a schema as Python has it; None if there is none."""
    if not schema.HasArgumentDefaultValue(argument):
        return None
    text = schema.GetArgumentDefaultValueString(argument)
    return comparable(_type_convert_value(schema.GetArgumentType(argument), ast.literal_eval(text)))


def comparable(value):
    """Return a default without what has no meaning: lists of one value, kinds of numbers, which class a name is of."""
    if isinstance(value, enum.Enum) or hasattr(value, "name"):
        return value.name
    if isinstance(value, (list, tuple)):
        return comparable(value[0]) if len(value) == 1 else [comparable(item) for item in value]
    return round(float(value), 5) if isinstance(value, (bool, int, float)) else value


def listed(groups):
    names = [name for names in groups.values() for name in names]
    assert len(set(names)) == len(names)
    return set(names)


def test_every_operator_of_dali_is_here_or_listed_as_absent(api_dali):
    there, here = set(schemas()), {*public_operators(), *OLDER_FUNCTIONS}
    assert there - here == listed(api_dali.ABSENT)


def test_what_only_pixelmill_has_is_listed(api_dali):
    there = set(schemas())
    assert {name for name in public_operators() if name not in there} == set(api_dali.ADDED)


def test_every_operator_of_dali_is_a_class_here_too(api_dali):
    absent, missing = listed(api_dali.ABSENT), []
    for schema_name in registered():
        if function_name(schema_name) in absent:
            continue
        found: Any = pixelmill.ops
        for part in schema_name.split("__"):
            found = getattr(found, part, None)
        if found is None:
            missing.append(schema_name)
    assert missing == []


def test_every_argument_of_dali_is_accepted():
    missing = []
    for name, (spec, schema) in compared().items():
        known = {*spec.arguments, *spec.ignored, *spec.renamed, *EVERYWHERE}
        missing += [f"{name}.{argument}" for argument in schema.GetArgumentNames() if argument not in known]
    assert missing == []


def test_defaults_are_those_of_dali_or_listed(api_dali):
    different = set()
    for name, (spec, schema) in compared().items():
        for key, argument in spec.arguments.items():
            if not schema.HasArgument(key) or schema.IsDeprecatedArg(key) or not schema.IsArgumentOptional(key):
                continue
            if default_there(schema, key) != comparable(argument.default) and name == spec.name:
                different.add(f"{name}.{key}")
    assert different == listed(api_dali.DEFAULTS)


def test_required_arguments_are_those_of_dali_or_listed(api_dali):
    optional, required = set(), set()
    for name, (spec, schema) in compared().items():
        for key, argument in spec.arguments.items():
            if name != spec.name or not schema.HasArgument(key):
                continue
            if argument.required and schema.IsArgumentOptional(key):
                required.add(f"{name}.{key}")
            if not argument.required and not schema.IsArgumentOptional(key):
                optional.add(f"{name}.{key}")
    assert optional == set(api_dali.OPTIONAL_HERE)
    assert required == {"readers.coco.file_root"}  # DALI refuses a call without it, too


# Modules and pipelines

# Programs import the names of this package from it, not from its files.
OWN_FILES = "experimental.torchvision.v2."


def modules(folder):
    """Return the public modules of a package, by their files: importing them would need every framework."""
    found = set()
    for path in folder.rglob("*.py"):
        parts = [part for part in path.relative_to(folder).with_suffix("").parts if part != "__init__"]
        if parts and not any(part.startswith(("_", "test")) for part in parts):
            found.add(".".join(parts))
    return found


def importable(name):
    """Whether a module without a file exists, such as those of the families of operators."""
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return False
    return True


def test_every_module_of_dali_is_here_or_listed_as_absent(api_dali):
    there, here = modules(Path(nvidia.dali.__file__).parent), modules(Path(pixelmill.__file__).parent)
    missing = {name for name in there - here if not importable(f"pixelmill.{name}") and not name.startswith(OWN_FILES)}
    outermost = {name for name in missing if not any(name.startswith(f"{other}.") for other in missing)}
    assert outermost == listed(api_dali.MODULES)


def test_every_member_of_a_pipeline_is_here():
    missing = {name for name in dir(nvidia.dali.Pipeline) if not hasattr(pixelmill.Pipeline, name)}
    assert {name for name in missing if not name.startswith("_")} == set()


@pytest.mark.parametrize("path", ["Pipeline", *(f"plugin.pytorch.DALI{kind}Iterator" for kind in KINDS)])
def test_options_are_those_of_dali_in_the_same_order(path):
    there, here = nvidia.dali, pixelmill
    for part in path.split("."):
        there, here = getattr(there, part), getattr(here, part)
    theirs, mine = (inspect.signature(owner).parameters for owner in (there, here))
    assert [key for key in mine if key in theirs] == list(theirs)
    if path != "Pipeline":  # there, None and -1 both mean: from pipeline_def, or not given
        assert [comparable(mine[key].default) for key in theirs] == [comparable(theirs[key].default) for key in theirs]
