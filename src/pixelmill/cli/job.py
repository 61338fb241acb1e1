"""``pixelmill job``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pixelmill.amounts import counted, size_text
from pixelmill.cli.commands import SuggestingGroup
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.errors import printable

if TYPE_CHECKING:
    from pixelmill.jobs import JobStatus

_SHOWN = 20


@click.group(cls=SuggestingGroup, short_help="Inspect bulk jobs.")
def job() -> None:
    """Inspect bulk jobs.

    \b
    Examples:
      pixelmill job status out/
    """


@job.command(short_help="Show the progress of the job in a folder.")
@click.argument("folder", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON and nothing else.")
def status(folder: str, as_json: bool) -> None:
    """Show the progress of the job in DIR: finished and missing shards, running processes, skipped samples.

    \b
    Examples:
      pixelmill job status out/
      pixelmill job status s3://bucket/out --json
    """
    # Imported here so that --help does not wait for NumPy.
    from pixelmill.jobs import job_status

    found = job_status(folder)
    if as_json:
        echo_json([asdict(item) for item in found])
        return
    for item in found:
        _show(item)


def _show(item: JobStatus) -> None:
    state = "finished" if item.complete else "unfinished"
    echo(f"{item.output}: {item.kind}, {state}, {item.done:,} of {counted(item.shards, 'shard')}")
    figures = f"{counted(item.samples, 'sample')}, {size_text(item.bytes)}"
    echo(f"  {figures}, {counted(len(item.errors), 'sample')} skipped")
    if item.missing:
        more = ", ..." if len(item.missing) > _SHOWN else ""
        echo(f"  missing: {', '.join(map(str, item.missing[:_SHOWN]))}{more}")
    for owner in item.owners:
        echo(f"  locked by {owner}")
    for event in item.errors[:_SHOWN]:
        where = f", {printable(event['path'])}" if "path" in event else ""
        echo(f"  sample {event['sample']}: {event['kind']}: {printable(event['message'])}{where}")
    if len(item.errors) > _SHOWN:
        echo(f"  and {len(item.errors) - _SHOWN} more (--json lists all)")
