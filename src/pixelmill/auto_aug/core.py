"""Building blocks of automatic augmentation: the `augmentation` decorator, `select`, and shared checks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TypedDict, TypeVar, Unpack, overload

import numpy.typing as npt

from pixelmill.auto_aug.operation import Augmentation, MagnitudeRange, Operation, signed_bin
from pixelmill.auto_aug.operation import Augmentation as _Augmentation
from pixelmill.auto_aug.policy import Policy
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import choose
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline.permutation import fold
from pixelmill.types import DALIInterpType

__all__ = ["Augmentation", "Policy", "_Augmentation", "augmentation", "select", "signed_bin"]

Result = TypeVar("Result")


class _Settings(TypedDict, total=False):
    mag_range: MagnitudeRange | None
    randomly_negate: bool | None
    mag_to_param: Callable[[float], npt.ArrayLike] | None
    param_device: str | None
    name: str | None
    augmentation_cls: type[Augmentation] | None


@overload
def augmentation(function: Operation, **settings: Unpack[_Settings]) -> Augmentation: ...
@overload
def augmentation(function: None = None, **settings: Unpack[_Settings]) -> Callable[[Operation], Augmentation]: ...
def augmentation(
    function: Operation | None = None,
    *,
    mag_range: MagnitudeRange | None = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[float], npt.ArrayLike] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Augmentation | Callable[[Operation], Augmentation]:
    """Turn a function of images and a parameter into an augmentation.

    Args:
        function: Takes images, the parameter, and optional keyword arguments; returns images.
        mag_range: The magnitudes of the first and the last bin, or an array with one per bin. If None, the parameter is
            None.
        randomly_negate: Whether magnitudes get a random sign.
        mag_to_param: Converts a magnitude to the parameter, a number or an array; called when the graph is built.
        param_device: Accepted for compatibility.
        name: Name of the augmentation; that of the function if None.
        augmentation_cls: A class to use instead of Augmentation.
    """
    if isinstance(function, Augmentation):
        raise ArgumentError(f"augmentation: {function.name} already is one; change it with its method `augmentation`")
    if function is not None and not callable(function):
        raise ArgumentError(f"augmentation: expected a function, got {function!r}")
    made = partial(
        augmentation_cls or Augmentation,
        mag_range=mag_range,
        randomly_negate=randomly_negate,
        mag_to_param=mag_to_param,
        param_device=param_device,
        name=name,
    )
    return made if function is None else made(function)


def select(
    ops: Sequence[Callable[..., Result]], selected_op_idx: int | DataNode, *op_args: object, **op_kwargs: object
) -> Result:
    """Apply one of several operations to each sample; the others do not run for it.

    Args:
        ops: The operations.
        selected_op_idx: A node with the index of the operation for each sample.
        op_args: Positional arguments of the operations.
        op_kwargs: Keyword arguments of the operations.
    """
    if isinstance(selected_op_idx, int):
        return ops[selected_op_idx](*op_args, **op_kwargs)
    chosen: Result = choose(selected_op_idx, [partial(op, *op_args, **op_kwargs) for op in ops])
    return chosen


def seed_for(seed: int | None, number: int) -> int | None:
    """Return a separate seed for each draw of a scheme, so that the draws are independent."""
    return None if seed is None or seed < 0 else fold(seed, number) >> 1


def check_suite(scheme: str, augmentations: Collection[Augmentation], given: Mapping[str, object]) -> None:
    """Raise ArgumentError for an empty list of augmentations, and for arguments that none of them takes."""
    if not augmentations:
        raise ArgumentError(f"{scheme}: the list of augmentations is empty")
    known = {key for each in augmentations for key in each.extra_arguments()}
    unused = [key for key in given if key not in known]
    if unused:
        raise ArgumentError(f"{scheme}: no augmentation takes {', '.join(unused)}")


def without_excluded(scheme: str, suite: Sequence[Augmentation], excluded: Sequence[str] | None) -> list[Augmentation]:
    """Return the augmentations that are not excluded by name."""
    names = [each.name for each in suite]
    for name in excluded or ():
        if name not in names:
            raise ArgumentError(
                f"{scheme}: excluded contains {name!r}, which is not one of {', '.join(map(str, names))}"
            )
    return [each for each in suite if each.name not in (excluded or ())]


def geometric_options(
    shape: DataNode | tuple[int, int] | None, fill_value: float | None, interp_type: DALIInterpType | None
) -> dict[str, object]:
    """Return the arguments for geometric augmentations."""
    options: dict[str, object] = {"fill_value": fill_value, "interp_type": interp_type}
    return options if shape is None else {**options, "shape": shape}


def check_integer(scheme: str, name: str, value: object, low: int, high: int | None = None) -> None:
    """Raise ArgumentError unless a value is an integer within a range."""
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(f"{scheme}: {name} must be an integer, {bounds}, got {value!r}")
