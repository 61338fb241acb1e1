"""``pixelmill engines``."""

from __future__ import annotations

from dataclasses import asdict

import click

from pixelmill.cli.terminal import echo_json, plain_console
from pixelmill.engine import devices


@click.command(short_help="Show which engines this machine can use.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON and nothing else.")
def engines(as_json: bool) -> None:
    """Show which engines this machine can use, on which GPUs, and what to install for the others.

    The native engine always works. DALI on the CPU is for comparison; --mode gpu and pipelines that request a GPU use
    DALI on GPUs. CUDA_VISIBLE_DEVICES is respected.

    \b
    Examples:
      pixelmill engines
      pixelmill engines --json
      CUDA_VISIBLE_DEVICES=1 pixelmill engines
    """
    found = devices.engines()
    if as_json:
        echo_json([asdict(engine) for engine in found])
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="green")
    for title in ("engine", "usable", "why", "next step"):
        table.add_column(title, overflow="fold")
    for engine in found:
        table.add_row(engine.name, "yes" if engine.usable else "no", engine.reason, engine.next_step or "-")
    console = plain_console()
    console.print(table)
    for gpu in (gpu for engine in found for gpu in engine.gpus):
        capability = ".".join(map(str, gpu.capability))
        console.print(f"GPU {gpu.number}: {gpu.name}, {gpu.memory / 2**30:.1f} GiB, compute capability {capability}")
