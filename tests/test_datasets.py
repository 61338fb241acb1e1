"""Every container as a dataset: what goes in comes out, and damage is named."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from dataset_cases import odd_samples, plain_samples, write

from pixelmill.formats.registry import FORMATS, open_dataset, sniff
from pixelmill.formats.sample import Sample

CASES = {"plain": plain_samples, "odd": odd_samples}


def by_name(samples: list[Sample]) -> list[Sample]:
    return sorted(samples, key=lambda sample: (sample.name, sample.labels))


def options(format: str, samples: list[Sample]) -> dict[str, object]:
    masks = any(sample.mask is not None for sample in samples)
    return {"masks": masks} if format == "folder" else {}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_read(format: str, case: str, tmp_path: Path) -> None:
    samples = CASES[case]()
    dataset = open_dataset(write(tmp_path / "x", format, samples, **options(format, samples)))
    assert dataset.format == format == sniff(tmp_path / "x")
    assert not dataset.faults
    found = list(dataset)
    if format == "folder":
        found, samples = by_name(found), by_name(samples)
    assert found == samples


@pytest.mark.parametrize(("first", "second"), list(permutations(FORMATS, 2)))
def test_there_and_back_changes_nothing(first: str, second: str, tmp_path: Path) -> None:
    samples = odd_samples()
    start = open_dataset(write(tmp_path / "1", first, samples, **options(first, samples)))
    middle = open_dataset(write(tmp_path / "2", second, start, **options(second, samples)))
    back = open_dataset(write(tmp_path / "3", first, middle, **options(first, samples)))
    assert by_name(list(back)) == by_name(samples)
