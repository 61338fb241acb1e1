"""``pixelmill demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pixelmill.amounts import counted, duration_text, rate_text, size_text
from pixelmill.cli.options import NumberType
from pixelmill.cli.terminal import echo_json
from pixelmill.errors import printable
from pixelmill.options.declaration import Range

if TYPE_CHECKING:
    from pixelmill.demo import DemoResult


@click.command(short_help="Create images, augment one epoch, show the result.")
@click.option("--count", default=300, show_default=True, type=NumberType(int, Range(1)), help="Number of images.")
@click.option(
    "-o",
    "--output",
    default="pixelmill-demo",
    show_default=True,
    type=click.Path(file_okay=False, writable=True),
    help="Folder for the contact sheet.",
)
@click.option("--threads", type=NumberType(int, Range(1)), help="Worker threads.  [default: number of processors]")
@click.option("--seed", default=1, show_default=True, type=NumberType(int, Range(0)), help="Seed of the images.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON and nothing else.")
def demo(count: int, output: str, threads: int | None, seed: int, as_json: bool) -> None:
    """Create photo-like JPEG files, run one augmented training epoch over them, and draw a contact sheet.

    Nothing is downloaded. The JPEG files are temporary; the contact sheet is kept. It shows the first images above
    what three epochs made of them. `pixelmill preview` draws such a sheet of any dataset.

    \b
    Examples:
      pixelmill demo
      pixelmill demo --count 2000 --threads 4
      pixelmill demo --output /tmp/look --json
    """
    # Imported here so that --help does not wait for rich, NumPy and the engine.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from pixelmill.demo import run_demo

    console = Console(quiet=as_json, highlight=False)
    bar = Progress(
        TextColumn("creating photo-like JPEG files"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        task = bar.add_task("create", total=count)
        result = run_demo(output, count=count, threads=threads, seed=seed, on_image=lambda _: bar.advance(task))
    if as_json:
        echo_json(_figures(result))
        return
    files = f"{counted(result.images, 'JPEG file')}, {size_text(result.megabytes * 1e6)}"
    console.print(f"[green]created[/]    {files}, in {duration_text(result.create_seconds)}")
    console.print("[green]augmented[/]  one epoch: random crop resized to 224x224, random mirror, normalized")
    shape = " x ".join(str(extent) for extent in result.batch_shape)
    batches = counted(result.batches, "batch", "batches")
    console.print(f"           {batches} of {shape} float32 in {duration_text(result.epoch_seconds)}")
    speed = f"[bold]{rate_text(result.images_per_second)} images/s[/]"
    console.print(f"           {speed} with {counted(result.threads, 'thread')}")
    console.print("[green]look at[/]    ", end="")
    console.print(printable(str(result.contact_sheet)), style="bold", soft_wrap=True, markup=False)
    console.print("           and at your own: pixelmill preview FOLDER --recipe classification")


def _figures(result: DemoResult) -> dict[str, object]:
    return {
        "images": result.images,
        "megabytes": round(result.megabytes, 3),
        "create_seconds": round(result.create_seconds, 4),
        "epoch_seconds": round(result.epoch_seconds, 4),
        "images_per_second": round(result.images_per_second, 1),
        "batches": result.batches,
        "batch_shape": list(result.batch_shape),
        "threads": result.threads,
        "contact_sheet": str(result.contact_sheet),
    }
