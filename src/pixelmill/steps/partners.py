"""Values of other samples: the same steps, on another item of the reader."""

from __future__ import annotations

from dataclasses import replace

from pixelmill.errors import ArgumentError
from pixelmill.steps.sources import ExternalInput, Reader, ReaderStep, Records, TableColumn
from pixelmill.steps.step import Expr, Step


def partner_value(value: Expr, seed: int) -> Expr:
    """Return what `value` is for another sample of the dataset. Raises ArgumentError unless it comes from a reader.

    Steps that draw random numbers are shared: they return what was drawn for the sample itself.

    Args:
        value: A value that is computed from the item of a reader.
        seed: Decides, with the epoch and the sample, which other sample it is.
    """
    made: dict[Step, Step] = {}
    stack = [(value.step, False)]
    while stack:  # not recursive, as graphs may be deep
        step, ready = stack.pop()
        if ready:
            made[step] = _moved(step, made, seed)
        elif step not in made:
            stack.append((step, True))
            stack += [(given.step, False) for given in step.inputs if given is not None]
    if made[value.step] is value.step:
        raise ArgumentError(
            "other samples can be read only if the images come from a reader such as fn.readers.dataset or "
            "fn.readers.file, and here they do not"
        )
    return Expr(made[value.step], value.index, value.layout)


def _moved(step: Step, made: dict[Step, Step], seed: int) -> Step:
    if isinstance(step, ExternalInput):
        raise ArgumentError(
            "other samples cannot be read from an external source, which gives the samples of each batch; "
            "use a reader such as fn.readers.dataset or fn.readers.file"
        )
    if isinstance(step, ReaderStep):
        step = _on_partner(step, step.reader.partner_reader(seed))
    inputs = [given and Expr(made[given.step], given.index, given.layout) for given in step.inputs]
    if all(new is None or old is None or new.step is old.step for new, old in zip(inputs, step.inputs, strict=True)):
        return step
    return step.with_inputs(inputs)


def _on_partner(step: ReaderStep, partner: Reader) -> ReaderStep:
    moved = step.with_inputs(step.inputs)
    for name, given in step.parameters().items():
        if isinstance(given, Reader):
            moved.__dict__[name] = partner
        elif isinstance(given, (Records, TableColumn)):
            moved.__dict__[name] = replace(given, reader=partner)
    return moved
