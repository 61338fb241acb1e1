"""``pixelmill recipe``: list, show, validate, import, bench and schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

import pixelmill
from pixelmill.amounts import counted
from pixelmill.cli.commands import SuggestingGroup
from pixelmill.cli.terminal import echo, echo_json

if TYPE_CHECKING:
    import pixelmill.recipe  # at run time `pixelmill` imports it on first access


@click.group(cls=SuggestingGroup, short_help="List, show and check recipes.")
def recipe() -> None:
    """List, show and check recipes, which define what `pixelmill augment` does to each image.

    \b
    Examples:
      pixelmill recipe list
      pixelmill recipe show detection > mine.yaml
      pixelmill recipe validate mine.yaml
      pixelmill recipe import albumentations.json > mine.yaml
      pixelmill recipe bench mine.yaml photos/
    """


@recipe.command("list", short_help="List the built-in recipes.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def list_recipes(as_json: bool) -> None:
    """List the built-in recipes, with a sentence about each.

    \b
    Examples:
      pixelmill recipe list
    """
    recipes = pixelmill.recipe
    about = {name: recipes.load_recipe(name).about for name in recipes.recipe_names()}
    if as_json:
        echo_json(about)
        return
    width = max(len(name) for name in about)
    for name, sentence in about.items():
        echo(f"{name:<{width}}  {sentence}")


@recipe.command(short_help="Print a recipe as YAML.")
@click.argument("name")
def show(name: str) -> None:
    """Print a recipe as YAML, as a starting point for a new one.

    \b
    Examples:
      pixelmill recipe show detection > mine.yaml
    """
    found = pixelmill.recipe.load_recipe(name)
    if found.function is not None:
        raise click.UsageError(f"{name} is a function; see its file")
    content: dict[str, object] = {"name": found.name, "about": found.about}
    if found.keypoint_pairs:
        content["keypoint_pairs"] = [list(pair) for pair in found.keypoint_pairs]
    content["steps"] = [dict(step) for step in found.steps]
    _echo_yaml(content)


def _echo_yaml(content: dict[str, object]) -> None:
    import yaml

    plain = json.loads(json.dumps(content))  # equal parts would become aliases, which recipes must not have
    text = yaml.safe_dump(plain, sort_keys=False, default_flow_style=None, width=110)  # escapes on its own
    click.echo(text, nl=False)


@recipe.command("import", short_help="Translate a pipeline of Albumentations or torchvision.")
@click.argument("path", metavar="FILE")
@click.option("--name", default="imported", show_default=True, help="The name of the recipe.")
@click.option("--strict", is_flag=True, help="Fail if a transform has no translation.")
def import_recipe(path: str, name: str, strict: bool) -> None:
    """Translate a pipeline of Albumentations or torchvision, and print it as a recipe.

    FILE is JSON that Albumentations saved (A.save), or a Python file with transforms of torchvision, v1 or v2, which is
    read and never run; of several pipelines in a file, name one: train.py:transform.

    Transforms without a translation are named on standard error and left out; those whose step is similar but not the
    same arithmetic are kept and named as approximate.

    \b
    Examples:
      pixelmill recipe import albumentations.json > mine.yaml
      pixelmill recipe import albumentations.json --name mine --strict
      pixelmill recipe import train.py:train_transform
    """
    from pixelmill.recipe.albumentations import import_albumentations
    from pixelmill.recipe.torchvision import import_torchvision

    file, colon, pipeline = path.rpartition(":")
    if path.endswith(".py"):
        made = import_torchvision(path)
    elif colon and file.endswith(".py"):
        made = import_torchvision(file, pipeline)
    else:
        made = import_albumentations(path)
    notes = [
        *(f"left out: {entry}" for entry in made.untranslated),
        *(f"approximate: {entry}" for entry in made.approximate),
        *(f"not part of a recipe, see the loader: {entry}" for entry in made.outside),
    ]
    for note in notes:
        echo(note, err=True)
    if strict and made.untranslated:
        raise click.ClickException(f"{len(made.untranslated)} transforms have no translation")
    about = f"Translated from {path.rpartition('/')[2]}."
    _echo_yaml({"name": name, "about": about, "steps": made.steps})


@recipe.command(short_help="Measure what each step costs.")
@click.argument("source", metavar="RECIPE")
@click.argument("dataset", metavar="DATASET")
@click.option("--images", type=click.IntRange(1, 10000), default=64, show_default=True, help="How many images.")
@click.option(
    "--rounds", type=click.IntRange(1, 100), default=3, show_default=True, help="Take the shortest of so many."
)
@click.option("--json", "as_json", is_flag=True, help="Print the costs as JSON.")
def bench(source: str, dataset: str, images: int, rounds: int, as_json: bool) -> None:
    """Measure what each step of a recipe costs on the images of a dataset, on one thread.

    The cost of a step is how much longer the recipe takes with it than without it, decoding included. Geometric steps
    are composed, so a step can make those before it cheaper.

    \b
    Examples:
      pixelmill recipe bench mine.yaml photos/
      pixelmill recipe bench detection photos/ --images 200 --json
    """
    from pixelmill.benchmark.recipe_cost import step_costs
    from pixelmill.formats.registry import open_dataset

    found = pixelmill.recipe.load_recipe(source)
    costs = step_costs(found, open_dataset(dataset), images=images, rounds=rounds)
    if as_json:
        echo_json([{"step": cost.step, "ms": cost.milliseconds, "total_ms": cost.total} for cost in costs])
        return
    width = max(len(cost.step) for cost in costs)
    echo(f"{'step':<{width}}  ms per image     total")
    for cost in costs:
        echo(f"{cost.step:<{width}}  {cost.milliseconds:>12.3f}  {cost.total:>8.3f}")


@recipe.command(short_help="Print the JSON schema of recipes.")
def schema() -> None:
    """Print the JSON schema of recipes, with which editors complete and check them.

    Begin a recipe with the line `# yaml-language-server: $schema=recipe.schema.json` to use it.

    \b
    Examples:
      pixelmill recipe schema > recipe.schema.json
    """
    from pixelmill.recipe.schema import recipe_schema

    echo_json(recipe_schema())


@recipe.command(short_help="Check a recipe.")
@click.argument("source", metavar="RECIPE")
def validate(source: str) -> None:
    """Check a recipe: names, arguments and random ranges. Runs it once on a small image with a mask.

    \b
    Examples:
      pixelmill recipe validate mine.yaml
      pixelmill recipe validate mine.py:augment
    """
    found = pixelmill.recipe.load_recipe(source)
    height, width = pixelmill.recipe.check_recipe(found)
    steps = counted(len(found.steps), "step") if found.function is None else "a function"
    echo(f"{found.name}: {steps}; an image of 480x640 (height x width) becomes {height}x{width}")
