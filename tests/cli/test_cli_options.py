"""Command-line options follow from declared ones."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import MISSING

import click
import pytest
from command_runner import CliRunner

from pixelmill.cli import main
from pixelmill.cli.options import with_options
from pixelmill.formats.containers import FORMATS
from pixelmill.options.augment import AugmentArguments
from pixelmill.options.bench import PEER_NAMES, BenchOptions
from pixelmill.options.convert import ConvertArguments
from pixelmill.options.create import CreateArguments, WrapArguments
from pixelmill.options.declaration import PYTHON_ONLY, OptionGroup, options_of
from pixelmill.options.ingest import IngestArguments
from pixelmill.options.inspect import InfoOptions, PreviewOptions, VerifyOptions
from pixelmill.options.running import PartOption
from pixelmill.options.segmentation import SegmentationArguments

COMMANDS: dict[str, type[OptionGroup]] = {
    "augment": AugmentArguments,
    "bench": BenchOptions,
    "convert": ConvertArguments,
    "create-images": CreateArguments,
    "create-recordio": WrapArguments,
    "create-tfrecords": WrapArguments,
    "info": InfoOptions,
    "ingest": IngestArguments,
    "preview": PreviewOptions,
    "segmentation": SegmentationArguments,
    "verify": VerifyOptions,
}
PLACES = {"source", "output", "data_root", "input_dir", "output_dir", "path", "source_path", "dest_path"}


def command_named(name: str) -> click.Command:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_on_the_command_line_with_its_default(name: str) -> None:
    params = {param.name: param for param in command_named(name).params}
    for option in options_of(COMMANDS[name]):
        if PYTHON_ONLY in option.marks:
            assert option.name not in params
            continue
        if option.name in PLACES and option.name not in params:
            assert "places_" in params
            continue
        param = params[option.name]
        default = option.default if option.cli.default is MISSING else option.cli.default
        assert isinstance(param, click.Option) and option.help.text in (param.help or "")
        assert param.required == (default is MISSING and not option.cli.preset)
        if not (option.cli.preset or default in (MISSING, None, ())):
            assert param.default == default


def test_lists_that_the_command_line_needs_without_imports_are_those_of_the_package() -> None:
    from pixelmill.benchmark.peers import PEERS

    assert tuple(FORMATS) == FORMATS
    assert tuple(PEERS) == PEER_NAMES


@click.command()
@with_options(PartOption)
@with_options(BenchOptions, without=("source",))
def show(**options: object) -> None:
    click.echo(repr({name: value for name, value in options.items() if name in ("part", "peers", "seconds", "mode")}))


def test_values_are_parsed_and_checked() -> None:
    runner = CliRunner()
    result = runner.invoke(show, ["--part", "1/4", "--peers", "dali, tf", "--seconds", "0.5"])
    for shown in ("'part': (1, 4)", "'peers': ['dali', 'tf']", "'seconds': 0.5", "'mode': 'cpu'"):
        assert shown in result.output
    for wrong, message in (
        (["--part", "4/4"], "not of the form I/N"),
        (["--seconds", "0"], "must be above 0, got 0"),
        (["--peers", "nobody"], "is not one of dali, tf, torch"),
        (["--mode", "dali"], "is not one of 'cpu', 'gpu'"),
    ):
        result = runner.invoke(show, wrong)
        assert result.exit_code == 2 and message in result.output, result.output


@pytest.mark.parametrize("name", main.list_commands(click.Context(main)))
def test_every_command_explains_itself(name: str) -> None:
    assert command_named(name).name == name
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0 and "Usage: " in result.output


def test_a_command_does_not_wait_for_the_others() -> None:
    code = "import sys; from pixelmill.cli import main; main(['index', '--help'], standalone_mode=False); "
    code += "print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "pixelmill.cli.inspect" in run.stderr.split()
    assert not {"pixelmill.cli.bench", "pixelmill.cli.create", "numpy", "rich"} & {*run.stderr.split()}


def test_the_list_of_commands_does_not_wait_for_numpy() -> None:
    code = "import sys; from pixelmill.cli import main; main(['--help'], standalone_mode=False); "
    code += "print(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert {"pixelmill.cli.augment", "pixelmill.cli.bench"} <= {*run.stderr.split()}
    assert not {"numpy", "rich", "pixelmill.graph.nodes"} & {*run.stderr.split()}


def test_click_before_8_2_is_enough() -> None:
    """Its classes of types cannot be subscripted when the modules are imported."""
    code = "import click; click.ParamType.__class_getitem__ = click.Choice.__class_getitem__ = None; "
    code += "from pixelmill.cli import main; main(['--help'], standalone_mode=False)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0 and "convert" in run.stdout, run.stderr


@pytest.mark.parametrize("name", ["--img_size", "--img-size"])
def test_dashes_and_underscores_are_the_same(name: str) -> None:
    result = CliRunner().invoke(main, ["ingest", "nothere", "out", name, "x"])
    assert result.exit_code == 2 and "'--img-size': 'x' is not a whole number" in result.output
    assert CliRunner().invoke(main, ["create_images", "--help"]).exit_code == 0


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"bench", "info", "preview", "verify"}))
def test_every_job_has_the_same_options(name: str) -> None:
    spellings = {text for param in command_named(name).params for text in (*param.opts, *param.secondary_opts)}
    expected = {"-o", "--output", "--dry-run", "--json", "--workers", "--exists", "-v", "-q", "--log-file"}
    if name not in ("create-recordio", "create-tfrecords"):  # a file each, made in one go
        expected |= {"--part"}
    if not name.startswith("create-"):  # these read nothing that could be bad
        expected |= {"--on-error"}
    assert expected <= spellings, expected - spellings


def test_an_unknown_command_is_a_usage_error() -> None:
    result = CliRunner().invoke(main, ["augmnet"])
    assert result.exit_code == 2 and "No such command 'augmnet'" in result.output
