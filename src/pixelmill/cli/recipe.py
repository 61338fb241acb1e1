"""``pixelmill recipe``: list, show and validate."""

from __future__ import annotations

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
    import yaml

    found = pixelmill.recipe.load_recipe(name)
    if found.function is not None:
        raise click.UsageError(f"{name} is a function; see its file")
    content = {"name": found.name, "about": found.about, "steps": [dict(step) for step in found.steps]}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=110)  # escapes on its own
    click.echo(text, nl=False)


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
