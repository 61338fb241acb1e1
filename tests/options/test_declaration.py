"""Options declared once: what the Python functions, the plans and the command line make of them agrees."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest

import pixelmill
from pixelmill import ArgumentError
from pixelmill.create import create_images, create_recordio, create_tfrecords
from pixelmill.errors import suggestion
from pixelmill.ingest import ingest
from pixelmill.jobs import run_job
from pixelmill.options.augment import AugmentArguments, AugmentOptions, VariantOptions
from pixelmill.options.bench import BenchOptions
from pixelmill.options.convert import ConvertArguments
from pixelmill.options.create import PRESETS, CreateArguments, WrapArguments
from pixelmill.options.declaration import (
    UNPLANNED,
    Choices,
    Help,
    OptionGroup,
    PlanKey,
    Range,
    check,
    options_of,
    pick,
    plan_values,
    takes,
    values_of,
    with_home,
)
from pixelmill.options.ingest import IngestArguments
from pixelmill.options.inspect import IndexOptions, InfoOptions, PreviewOptions, VerifyOptions
from pixelmill.options.running import RunJobOptions
from pixelmill.options.segmentation import SegmentationArguments
from pixelmill.options.values import parse_bytes
from pixelmill.segmentation import prepare_segmentation

COMMANDS = {
    AugmentArguments: pixelmill.augment,
    BenchOptions: pixelmill.bench,
    ConvertArguments: pixelmill.convert,
    CreateArguments: create_images,
    IndexOptions: pixelmill.index,
    InfoOptions: pixelmill.info,
    IngestArguments: ingest,
    PreviewOptions: pixelmill.preview,
    SegmentationArguments: prepare_segmentation,
    VerifyOptions: pixelmill.verify,
}
EVERY_COMMAND = pytest.mark.parametrize(
    ("declared", "function"), [*COMMANDS.items(), (WrapArguments, create_tfrecords), (WrapArguments, create_recordio)]
)


@dataclass(frozen=True, kw_only=True)
class Shared:
    speed: Annotated[float, Range(0, 1, high_open=True), UNPLANNED, Help("How fast.")] = 0.5


@dataclass(frozen=True)
class Small(Shared):
    command: ClassVar[str] = "small"

    name: Annotated[str, Help("What it is called.")]
    count: Annotated[int | None, Range(1, 9), PlanKey("number"), Help("How many.", default="all")] = None
    kind: Annotated[str, Choices(("a", "b")), Help("Which.")] = "a"
    color: Literal["red", "blue"] = "red"


@takes(Small)
def small(given: Small) -> Small:
    """Return the options.

    Returns:
        The options.
    """
    return given


def test_a_function_takes_options_as_arguments() -> None:
    assert small("x", 3, speed=0.25) == Small(name="x", count=3, speed=0.25)
    assert list(inspect.signature(small).parameters) == ["name", "count", "kind", "color", "speed"]
    assert inspect.signature(small).parameters["count"].annotation == int | None
    with pytest.raises(TypeError, match=r"^small\(\) missing a required argument: 'name'$"):
        small()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^small\(\) got an unexpected keyword argument 'colour'$"):
        small("x", colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": 0}, "small: count must be from 1 to 9, got 0"),
        ({"count": 10}, "small: count must be from 1 to 9, got 10"),
        ({"count": "3"}, "small: count must be from 1 to 9, got '3'"),
        ({"count": True}, "small: count must be from 1 to 9, got True"),
        ({"speed": 1}, "small: speed must be from 0 to below 1, got 1"),
        ({"speed": None}, "small: speed must be from 0 to below 1, got None"),
        ({"kind": "c"}, "small: kind must be one of a, b, got 'c'"),
        ({"kind": None}, "small: kind must be one of a, b, got None"),
        ({"color": "green"}, "small: color must be one of red, blue, got 'green'"),
    ],
)
def test_values_that_are_not_allowed(given: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        small("x", **given)
    assert str(caught.value) == message


def test_limits_themselves_are_allowed() -> None:
    for given in ({"count": 1}, {"count": 9}, {"count": None}, {"speed": 0}):
        small("x", **given)
    assert str(Range(1)) == "at least 1" and str(Range(0, low_open=True)) == "above 0"
    assert 0 not in Range(0, low_open=True) and 0.1 in Range(0, low_open=True)


def test_docstrings_list_the_options() -> None:
    assert small.__doc__ is not None
    head, _, tail = small.__doc__.partition("Args:\n")
    assert head == "Return the options.\n\n"
    assert tail.startswith("    name: What it is called.\n    count: How many. Default: all.\n    kind: Which.\n")
    assert tail.endswith("Returns:\n    The options.")


def test_plans_have_the_options_that_decide_what_is_written() -> None:
    assert plan_values(Small("x", 3)) == {"name": "x", "number": 3, "kind": "a", "color": "red"}
    assert values_of(Shared, Small("x")) == {"speed": 0.5}
    assert pick(Shared, Small("x", speed=0.75)) == Shared(speed=0.75)
    assert pick(Small, Small("x", 3), count=4) == Small("x", 4)


@EVERY_COMMAND
def test_functions_have_the_signature_of_their_options(declared: type[OptionGroup], function: object) -> None:
    signature = inspect.signature(function)
    assert set(signature.parameters) == {item.name for item in fields(declared)}
    for option in options_of(declared):
        assert option.help.text.endswith("."), option.name
        assert f"    {option.name}: " in (function.__doc__ or "")


@EVERY_COMMAND
def test_defaults_pass_their_own_checks(declared: type[OptionGroup], function: object) -> None:
    for option in options_of(declared):
        if option.default is not MISSING:
            option.check("test", option.default)


def test_jobs_hold_no_option_of_how_they_run() -> None:
    running = {item.name for item in fields(RunJobOptions)}
    assert not running & set(plan_values(AugmentOptions("x")))
    assert set(inspect.signature(run_job).parameters) == {"job", "output", *running}


def test_presets_name_options_and_pass_their_checks() -> None:
    needed = {"path": "p", "name": "n", "count": 1}
    for preset in PRESETS.values():
        check(CreateArguments(**needed, **preset))


def test_variants_have_the_options_of_augment() -> None:
    assert {item.name for item in fields(VariantOptions)} < {item.name for item in fields(AugmentOptions)}


def test_options_are_light() -> None:
    names = ("augment", "bench", "convert", "create", "ingest", "inspect", "segmentation")
    code = f"import sys; {'; '.join(f'import pixelmill.options.{name}' for name in names)}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not {"numpy", "click", "rich", "PIL", "pixelmill._core"} & {*run.stdout.split()}


def test_paths_have_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    given = with_home(AugmentArguments(["~/a", "b/~"], Path("~/out"), recipe="~/r.yaml", prefix="~"))
    assert (given.source, given.output, given.recipe) == (["/home/me/a", "b/~"], "/home/me/out", "/home/me/r.yaml")
    assert given.prefix == "~", "not a path"
    unchanged = AugmentArguments("s3://bucket/~")
    assert with_home(unchanged) is unchanged


def test_a_similar_value_is_suggested() -> None:
    with pytest.raises(ArgumentError, match=r"got 'resum'; did you mean 'resume'\?"):
        pixelmill.convert("a", "b", to="tfrecord", exists="resum")
    assert suggestion("zzz", ("a", "b")) == ""


@pytest.mark.parametrize(
    ("text", "size"),
    [("500000", 500_000), ("100KB", 100_000), ("1.5GiB", 3 << 29), ("4.35MB", 4_350_000), ("2 tb", 2 * 10**12)],
)
def test_sizes_are_exact(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "1e6", "10XB", "KB", "0.1", "5iB", "1,000"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number of bytes such as 256MB"):
        parse_bytes(text)
