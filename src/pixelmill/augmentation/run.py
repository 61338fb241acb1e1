"""`augment`: a dataset in, an augmented dataset out."""

from __future__ import annotations

import os
from pathlib import Path

from pixelmill.augmentation.job import AugmentJob
from pixelmill.engine.placement import check_mode, chosen_mode
from pixelmill.errors import ArgumentError
from pixelmill.formats.registry import FILE_FORMATS, open_dataset
from pixelmill.jobs.apart import check_apart
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.augment import AugmentArguments, AugmentOptions
from pixelmill.options.declaration import pick, takes, values_of
from pixelmill.options.running import RunOptions, SplitOptions, WorkersOption, source_paths
from pixelmill.recipe import load_recipe
from pixelmill.storage.temporary_folders import temporary_folder


@takes(AugmentArguments)
def augment(given: AugmentArguments) -> JobReport:
    """Write variants of all samples of a dataset, with labels, boxes and masks.

    A variant depends only on the seed, on the number of its sample in the dataset and on its own number.

    Returns:
        The state of the output.
    """
    mode = chosen_mode("augment", given.mode)
    check_mode("augment", mode, here=given.runner == "local")
    content = load_recipe(given.recipe).content()
    source = source_paths(given.source)
    check_apart("augment", source, os.fspath(given.output), adding=given.exists == "add")
    dataset = open_dataset(source)
    _check_prefix(given.prefix, given.to or dataset.format)
    recipe, to = _absolute(given.recipe), given.to or dataset.format
    options = pick(AugmentOptions, given, source=source, recipe=recipe, to=to, mode=mode)
    arguments = values_of(RunOptions, given) | values_of(WorkersOption, given) | values_of(SplitOptions, given)
    with temporary_folder() as folder:
        names_file = str(folder / "names.json")
        job = AugmentJob(options=options, recipe_content=content, opened=dataset, names_file=names_file)
        job.share_file_names()
        return run_job(job, given.output, num_gpus=int(mode == "gpu"), **arguments)


def _check_prefix(prefix: str, to: str) -> None:
    if prefix.startswith(".") or set(prefix) & set("/\\\0\n\r"):
        raise ArgumentError(f"augment: prefix must be the start of a file name that is not hidden, got {prefix!r}")
    if prefix and to in FILE_FORMATS:
        raise ArgumentError(f"augment: prefix names record files, and a dataset of the kind {to!r} has none")


def _absolute(recipe: str) -> str:
    """Return the absolute path of a recipe file: workers may have another current folder."""
    path, colon, name = recipe.rpartition(":")
    if colon and path.endswith(".py"):
        return f"{Path(path).absolute()}:{name}"
    return str(Path(recipe).absolute()) if Path(recipe).is_file() else recipe
