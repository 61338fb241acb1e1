"""Fonts for text in images: one that has all characters, or else a text with the characters that the font has."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

# Pillow's own font has little more than ASCII. These are on many machines, and have more characters.
_WIDE_FONTS = ("DejaVuSans.ttf", "Arial.ttf", "NotoSansCJK-Regular.ttc", "Arial Unicode.ttf", "msgothic.ttc")
_OWN = "…"
_NO_LETTER = "\U0010fffe"  # no font has it, so it is drawn as all missing characters are
_CHECKED_SIZE = 12


def drawable(text: str) -> str:
    """Return a text that can be drawn: without accents, and with `?` for characters that no font here has."""
    if _is_simple(text) or _wide_font(text) is not None:
        return text
    plain = "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
    return "".join(letter if _is_simple(letter) else "?" for letter in plain)


def font_for(text: str, size: int) -> Font:
    """Return a font for a text: Pillow's own, or one of this machine that has all its characters."""
    name = None if _is_simple(text) else _wide_font(text)
    return _loaded(name, size) or ImageFont.load_default(size)


def _is_simple(text: str) -> bool:
    return text.replace(_OWN, "").isascii()


@lru_cache(maxsize=1024)
def _wide_font(text: str) -> str | None:
    for name in _WIDE_FONTS:
        font = _loaded(name, _CHECKED_SIZE)
        if font is not None:
            missing = bytes(font.getmask(_NO_LETTER))
            if all(letter.isspace() or bytes(font.getmask(letter)) != missing for letter in set(text)):
                return name
    return None


@lru_cache(maxsize=64)
def _loaded(name: str | None, size: int) -> Font | None:
    try:
        return ImageFont.load_default(size) if name is None else ImageFont.truetype(name, size)
    except OSError:
        return None
