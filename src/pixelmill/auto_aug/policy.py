"""Policies: lists of augmentation sequences, of which one is applied to each sample."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pixelmill.auto_aug.operation import Augmentation
from pixelmill.errors import ArgumentError

# An augmentation, the probability that it is applied, and its magnitude bin.
Entry = tuple[Augmentation, float, int | None]


class Policy:
    """A list of sub-policies (short sequences of augmentations), as AutoAugment uses them.

    Args:
        name: Its name in messages.
        num_magnitude_bins: The number of bins that magnitude ranges are divided into.
        sub_policies: The sequences. Each entry is an augmentation, the probability that it is applied, and its
            magnitude bin, or None if it has no magnitudes.
    """

    def __init__(self, name: str, num_magnitude_bins: int, sub_policies: Sequence[Sequence[Entry]]) -> None:
        if isinstance(num_magnitude_bins, bool) or not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
            raise ArgumentError(f"Policy: num_magnitude_bins must be a positive number, got {num_magnitude_bins!r}")
        if not isinstance(sub_policies, (list, tuple)):
            raise ArgumentError(f"Policy: sub_policies must be a list, got {sub_policies!r}")
        self.name = name
        self.num_magnitude_bins = num_magnitude_bins
        for sub_policy in sub_policies:
            if not isinstance(sub_policy, (list, tuple)):
                raise ArgumentError(f"Policy: each sub-policy must be a list, got {sub_policy!r}")
            for entry in sub_policy:
                self._check(entry)
        self.sub_policies = _with_unique_names(sub_policies)

    def _check(self, entry: object) -> None:
        if not isinstance(entry, (list, tuple)) or len(entry) != 3:
            raise ArgumentError(f"Policy: an entry must be (augmentation, probability, magnitude bin), got {entry!r}")
        operation, probability, number = entry
        if not isinstance(operation, Augmentation):
            raise ArgumentError(f"Policy: {operation!r} is not an augmentation; decorate it with `augmentation`")
        what = f"Policy {self.name}, {operation.name}"
        if not isinstance(probability, (int, float)) or not 0 <= probability <= 1:
            raise ArgumentError(f"{what}: the probability must be a number from 0 to 1, got {probability!r}")
        if probability == 0:
            warnings.warn(f"{what}: never applied, because its probability is 0", stacklevel=4)
        if number is None:
            if operation.mag_range is not None:
                raise ArgumentError(f"{what}: a magnitude bin is required, got None")
            return
        last = self.num_magnitude_bins - 1
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= last:
            raise ArgumentError(f"{what}: the magnitude bin must be from 0 to {last}, got {number!r}")
        if operation.mag_range is None:
            warnings.warn(f"{what}: has no magnitudes, so the bin {number} has no effect; use None", stacklevel=4)

    @property
    def augmentations(self) -> dict[str, Augmentation]:
        """All augmentations by name."""
        found = {str(entry[0].name): entry[0] for sub_policy in self.sub_policies for entry in sub_policy}
        return dict(sorted(found.items()))

    def __repr__(self) -> str:
        rows = [[(entry[0].name, *entry[1:]) for entry in sub_policy] for sub_policy in self.sub_policies]
        return f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, sub_policies={rows})"


def _with_unique_names(sub_policies: Sequence[Sequence[Entry]]) -> tuple[tuple[Entry, ...], ...]:
    """Number different augmentations of the same name, so that messages can tell them apart."""
    different = list(dict.fromkeys(entry[0] for sub_policy in sub_policies for entry in sub_policy))
    renamed = {each: each for each in different}
    if len({each.name for each in different}) < len(different):
        digits = len(str(len(different) - 1))
        renamed = {
            each: each.augmentation(name=f"{number:0{digits}}__{each.name}") for number, each in enumerate(different)
        }
    return tuple(tuple((renamed[op], p, number) for op, p, number in sub_policy) for sub_policy in sub_policies)
