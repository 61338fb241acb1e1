"""The gallery shows every operator with something to look at, as it is now."""

from __future__ import annotations

import importlib
import io
import sys

import numpy as np
import pytest
from locations import ROOT
from PIL import Image

from pixelmill.operators.declare import public_operators

FOLDER = ROOT / "docs" / "gallery"
MOST_BYTES = 3_000_000

sys.path.insert(0, str(ROOT / "scripts"))
gallery = importlib.import_module("gallery")
examples = importlib.import_module("gallery_examples")
marks = importlib.import_module("gallery_marks")
ENTRIES = gallery.entries()


@pytest.mark.parametrize("name", public_operators())
def test_an_operator_with_something_to_look_at_is_shown(name):
    plain = name.removeprefix("experimental.")  # DALI's older name of the same operator
    family = plain.partition(".")[0] if "." in plain else ""
    shown = any(plain in known or name in known for known in (examples.EXAMPLES, marks.MARKED))
    hidden = plain in examples.HIDDEN or family in examples.HIDDEN_FAMILIES
    assert shown != hidden, f"{name} belongs to EXAMPLES or to HIDDEN of scripts/gallery_examples.py"


def test_the_page_is_up_to_date():
    assert (FOLDER / "README.md").read_text("utf-8") == gallery.page(), "run `make docs`"


def test_there_are_just_these_images_and_they_are_small():
    files = list(FOLDER.glob("*.png"))
    assert {path.name for path in files} == {entry.file for entry in ENTRIES}
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_images_are_up_to_date(entry):
    """Only the panels count: fonts differ between versions of Pillow."""
    stored, made = (
        np.asarray(Image.open(source).convert("RGB")).astype(int)[: gallery.HEIGHT]
        for source in (FOLDER / entry.file, io.BytesIO(gallery.side_by_side(entry.make(), entry.caption)))
    )
    assert stored.shape == made.shape
    assert np.abs(stored - made).mean() < 2, "run `make docs`"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_something_is_to_be_seen(entry):
    before, *others = entry.make()
    if entry.name == "decoders.image":
        return
    for after in others:
        assert after.shape != before.shape or np.abs(after.astype(float) - before).mean() > 1
