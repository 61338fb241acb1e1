"""`samples_per_shard` of `augment` decides the shards in every container."""

from __future__ import annotations

from pathlib import Path

import pytest

import pixelmill
from pixelmill.create import create_images


@pytest.fixture
def records(tmp_path: Path) -> Path:
    create_images(
        tmp_path / "in", "a", 16, 16, 10, "jpg", container="tfrecord", img_per_file=5, workers=1, content="photo"
    )
    return tmp_path / "in"


@pytest.mark.parametrize(
    ("samples", "to", "names"),
    [
        (None, None, ["data-00000-of-00002.tfrecord", "data-00001-of-00002.tfrecord"]),
        (4, None, [f"data-0000{number}-of-00003.tfrecord" for number in range(3)]),
        (20, None, ["data.tfrecord"]),
        (4, "webdataset", [f"data-0000{number}-of-00003.tar" for number in range(3)]),
        (None, "webdataset", ["data.tar"]),
    ],
)
def test_shards_have_the_size_that_was_asked_for(
    records: Path, tmp_path: Path, samples: int | None, to: str | None, names: list[str]
) -> None:
    report = pixelmill.augment(records, tmp_path / "out", samples_per_shard=samples, to=to, workers=1)
    found = sorted(path.name for path in (tmp_path / "out").iterdir() if path.suffix in (".tfrecord", ".tar"))
    assert (report.samples, report.shards, found) == (10, len(names), names)
