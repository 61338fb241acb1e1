"""A batch that was started and not taken yet."""

from __future__ import annotations

from dataclasses import dataclass

from pixelmill.engine.native import Pending, Result, Samples
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.sampling import Batch


@dataclass(eq=False)
class Scheduled:
    """A batch in progress.

    Attributes:
        samples: Its samples.
        pending: The batch on the engine.
        positions: The positions of the readers after it.
        main: The batch of the main reader; None without readers.
        raised: Whether it has raised an error for bad samples.
        result: Its result, if it was taken from the engine.
    """

    samples: Samples
    pending: Pending
    positions: list[Position]
    main: Batch | None
    raised: bool = False
    result: Result | None = None
