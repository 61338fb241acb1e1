"""Codebooks of packed images: what is refused, what training gives, and that it is the same everywhere."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from encoded_images import color, encode
from jpeg_files import BEST

from pixelmill import _core

HEAD, PROFILES, BYTES = 8, 256, 32


def photos(count, **options):
    """Return JPEG files of photo-like images."""
    return [bytes(encode(color(seed, 96, 128), "JPEG", **options)) for seed in range(count)]


def widths(data):
    """Return the widths of a codebook: luma and chroma, profiles, coefficients."""
    pairs = np.frombuffer(data[HEAD:], np.uint8)
    return np.stack([pairs & 15, pairs >> 4], -1).reshape(2, PROFILES, 2 * BYTES)


def payload_bytes(profile):
    """Return the length of a payload: fields that would reach into a third byte begin at the next one."""
    at = 0
    for width in map(int, profile):
        if at % 8 + width > 16:
            at += -at % 8
        at += width
    return -(-at // 8)


def check_form(data):
    found = widths(data)
    assert len(data) == HEAD + 2 * PROFILES * BYTES
    assert found.max() == 12
    assert not found[:, :, 0].any()
    assert (found[:, -1, 1:] == 12).all()
    for book in found:
        lengths = [payload_bytes(profile) for profile in book]
        assert lengths == sorted(lengths)


def test_the_default_has_its_form_and_does_not_change():
    data = _core.default_pack_codebook()
    check_form(data)
    assert hashlib.sha256(data).hexdigest() == "8c5ba2f83f1f22d6c9bc460760b82a78a130da49ef8fa74ccd1707c32383f857"
    assert _core.PackCodebook(data).identity == 0x9E7056A63F0D5B01


def test_identity_is_fnv_1a_of_the_data():
    data = _core.default_pack_codebook()
    book = _core.PackCodebook(data)
    hashed = 0xCBF29CE484222325
    for byte in data:
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    assert book.identity == hashed
    assert book.data == data
    assert _core.PackCodebook(data).identity == book.identity


def test_training_depends_on_images_and_seed_alone():
    files = photos(3)
    made = [_core.train_pack_codebook(files, seed=1)]
    try:
        _core.force_simd_level("base")
        made.append(_core.train_pack_codebook(files, seed=1))
    finally:
        _core.force_simd_level(BEST)
    assert made[0] == made[1]
    check_form(made[0])
    assert _core.train_pack_codebook(photos(2), seed=1) != made[0]


def test_a_trained_codebook_packs_its_images_smaller():
    files = photos(4, quality=60)
    sizes = {}
    for name, data in (
        ("default", _core.default_pack_codebook()),
        ("trained", _core.train_pack_codebook([*files, b"not a JPEG file"], seed=1)),
    ):
        book = _core.PackCodebook(data)
        sizes[name] = sum(len(_core.pack_image(file, book)) for file in files)
        assert [_core.restore_image(_core.pack_image(file, book)) for file in files] == files
    assert sizes["trained"] < 0.97 * sizes["default"]


def test_gray_images_train_both_halves():
    files = [bytes(encode(color(seed, 96, 128).convert("L"), "JPEG")) for seed in range(2)]
    luma, chroma = widths(_core.train_pack_codebook(files, seed=1))
    np.testing.assert_array_equal(luma, chroma)


@pytest.mark.parametrize("files", [[], [b""], [b"text"], [bytes(encode(color(), "JPEG", progressive=True))]])
def test_nothing_to_train_on_is_refused(files):
    with pytest.raises(_core.Fault, match="no codebook can be trained"):
        _core.train_pack_codebook(files, seed=1)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, 0, "does not begin with"),
        (HEAD, 1, "width 1 of coefficient 0 in luma profile 0"),
        (HEAD + 1, 13, "width 13 of coefficient 2 in luma profile 0"),
        (HEAD + 1, 0xD0, "width 13 of coefficient 3 in luma profile 0"),
        (HEAD + PROFILES * BYTES + 33, 0xFF, "in chroma profile 1"),
        (HEAD + PROFILES * BYTES - 1, 0xBC, "the last luma profile"),
        (HEAD + 2 * PROFILES * BYTES - 1, 0, "the last chroma profile"),
    ],
)
def test_widths_are_checked(place, value, message):
    data = bytearray(_core.default_pack_codebook())
    data[place] = value
    with pytest.raises(_core.Fault, match=message) as caught:
        _core.PackCodebook(bytes(data))
    assert caught.value.args[0] == "corrupt"


@pytest.mark.parametrize(
    ("length", "kind"), [(8, "truncated"), (16391, "truncated"), (16393, "corrupt"), (0, "corrupt")]
)
def test_lengths_are_checked(length, kind):
    data = (_core.default_pack_codebook() + b"\0")[:length]
    with pytest.raises(_core.Fault) as caught:
        _core.PackCodebook(data)
    assert caught.value.args[0] == kind
