"""Pictures and labels of a batch that are mixed with each other, see pixelmill.mixing."""

from __future__ import annotations

from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.batch import callback
from pixelmill.steps.pixels import CutPaste
from pixelmill.steps.sources import Array


@operator("_mixing.partners", outputs=None, dali=None)
def partners(key: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
    """Give every sample the values of another sample of its batch.

    Args:
        key: A number for each sample; each gets what belongs to the sample with the next larger one.
        values: What is handed over.
    """
    return callback(_next_in_line, key, *values, layouts=tuple(value.layout for value in values))


def _next_in_line(keys: list[Array], *values: list[Array]) -> list[list[Array]] | list[Array]:
    """Let samples stand in the order of their keys, in a circle: it does not matter how they came."""
    order = sorted(range(len(keys)), key=lambda place: float(keys[place]))
    partner = dict(zip(order, [*order[1:], order[0]], strict=True))
    handed = [[batch[partner[place]] for place in range(len(keys))] for batch in values]
    return handed if len(values) > 1 else handed[0]


@operator("_mixing.cut_paste", outputs=2, dali=None)
def cut_paste(
    images: Tensor, others: Tensor, *, share: PerSample[float], centre: PerSample[Floats]
) -> tuple[Tensor, ...]:
    """Put a window of one picture into another.

    Args:
        images: Pictures.
        others: Pictures of the same shapes.
        share: How much of a picture shall stay; the window covers the rest, as far as it lies inside.
        centre: The middle of the window, y and x from 0 to 1.
    """
    return CutPaste(image=images, other=others, fraction=share, center=centre, layout=images.layout).values(
        images.layout, ""
    )
