"""Internal operators that mix the samples of a batch, see pixelmill.mixing."""

from __future__ import annotations

from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.batch import callback
from pixelmill.steps.pixels import CutPaste
from pixelmill.steps.sources import Array


@operator("_mixing.partners", outputs=None, dali=None)
def partners(key: Tensor, *values: Tensor) -> tuple[Tensor, ...]:
    """Return, for every sample, the values of another sample of its batch.

    Args:
        key: A random number per sample; the partner is the sample with the next larger one.
        values: The values to exchange.
    """
    return callback(_next_in_line, key, *values, layouts=tuple(value.layout for value in values))


def _next_in_line(keys: list[Array], *values: list[Array]) -> list[list[Array]] | list[Array]:
    """Pair samples in a circle, ordered by key, so that the pairing does not depend on their order in the batch."""
    # A circle is a permutation without fixed points: in a batch of two or more, no sample is its own partner.
    order = sorted(range(len(keys)), key=lambda place: float(keys[place]))
    partner = dict(zip(order, [*order[1:], order[0]], strict=True))
    exchanged = [[batch[partner[place]] for place in range(len(keys))] for batch in values]
    return exchanged if len(values) > 1 else exchanged[0]


@operator("_mixing.cut_paste", outputs=2, dali=None)
def cut_paste(
    images: Tensor, others: Tensor, *, fraction: PerSample[float], center: PerSample[Floats]
) -> tuple[Tensor, ...]:
    """Paste a window of one image into another.

    Args:
        images: Images.
        others: Images of the same shapes.
        fraction: The fraction of the image to keep; the window covers the rest, as far as it lies inside the image.
        center: The center of the window, y and x from 0 to 1.
    """
    return CutPaste(image=images, other=others, fraction=fraction, center=center, layout=images.layout).values(
        images.layout, ""
    )
