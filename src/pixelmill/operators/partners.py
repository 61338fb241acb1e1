"""Internal operator that returns values of other samples, see pixelmill.recipe."""

from __future__ import annotations

from dataclasses import replace

from pixelmill.operators.declare import Tensor, operator
from pixelmill.steps.partners import partner_value


@operator("_partners.value", dali=None)
def value(value: Tensor, *, partner: int) -> Tensor:
    """Return what a value is for another sample of the dataset.

    Args:
        value: A value that is computed from the item of a reader.
        partner: Decides, with the epoch and the sample, which other sample it is.
    """
    return replace(partner_value(value, partner))
