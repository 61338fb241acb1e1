"""A pipeline without a decoder: one message for the batch, with the operator that is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_cases import encoded

from pixelmill import Pipeline, fn
from pixelmill.errors import DataError, SampleArgumentError


def message(folder: Path, operator: str, **arguments: object) -> str:
    pipeline = Pipeline(batch_size=4, num_threads=1, device_id=None)
    with pipeline:
        encoded_images, _ = fn.readers.file(file_root=str(folder))
        pipeline.set_outputs(getattr(fn, operator)(encoded_images, **arguments))
    with pytest.raises(SampleArgumentError) as caught:
        pipeline.run()
    assert len(caught.value.events) == 4
    return str(caught.value)


@pytest.mark.parametrize(("operator", "arguments"), [("resize", {"size": (4, 4)}), ("crop_mirror_normalize", {})])
def test_the_decoder_is_missed_once(tmp_path: Path, operator: str, arguments: dict[str, object]) -> None:
    for number in range(4):
        path = tmp_path / "class" / f"{number}.jpg"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(encoded("jpeg", seed=number))
    lines = message(tmp_path, operator, **arguments).splitlines()
    assert len(lines) == 4, lines
    assert lines[0].startswith(f"{operator}: ") and "0.jpg" in lines[0]
    assert lines[1].startswith("  created at ") and lines[2] == "and 3 more samples"
    assert "is fn.decoders.image missing before this operator?" in lines[3]


def test_bad_samples_are_named_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    for number, content in enumerate((b"text one", b"text two", b"text one")):
        (tmp_path / "class" / f"{number}.jpg").write_bytes(content)
    pipeline = Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipeline:
        encoded_images, _ = fn.readers.file(file_root=str(tmp_path))
        pipeline.set_outputs(fn.decoders.image(encoded_images))
    with pytest.raises(DataError, match="not an image") as caught:
        pipeline.run()
    text = str(caught.value)
    assert all(f"{number}.jpg" in text for number in range(3)) and "more sample" not in text
    assert "fn.decoders.image missing" not in text
