"""The sample image of the gallery."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 200, 150
FINE = 4  # the image is drawn this much larger and then reduced, so that its edges are smooth
Pixels = np.ndarray[Any, Any]

SKY = (110, 165, 225), (220, 230, 240)
# Color, and corners in the order x, y.
POLYGONS = (
    ((116, 132, 160), (0, 92, 40, 52, 78, 88, 112, 44, 160, 96, 200, 72, 200, 150, 0, 150)),
    ((240, 244, 250), (100, 56, 112, 44, 122, 55, 116, 58, 110, 55)),
    ((92, 148, 84), (0, 104, 60, 90, 130, 100, 200, 92, 200, 150, 0, 150)),
    ((204, 186, 150), (84, 150, 104, 98, 112, 98, 128, 150)),
    ((214, 92, 70), (26, 80, 66, 80, 66, 116, 26, 116)),
    ((110, 58, 52), (20, 82, 46, 60, 72, 82)),
    ((84, 52, 40), (40, 96, 52, 96, 52, 116, 40, 116)),
    ((250, 240, 190), (29, 86, 38, 86, 38, 95, 29, 95)),
    ((250, 240, 190), (54, 86, 63, 86, 63, 95, 54, 95)),
    ((104, 74, 48), (150, 88, 156, 88, 156, 120, 150, 120)),
)
ELLIPSES = (
    ((255, 214, 90), (150, 12, 180, 42)),
    ((52, 110, 62), (136, 58, 170, 98)),
    ((78, 140, 80), (142, 66, 158, 82)),
)
PATCHES = ((200, 40, 40), (40, 160, 60), (50, 70, 190), (230, 200, 40), (190, 60, 160), (40, 180, 190))


def chart() -> Pixels:
    """Draw the sample image: edges, fine lines, text, colors and a gray scale."""
    sheet = Image.new("RGB", (WIDTH * FINE, HEIGHT * FINE))
    draw = ImageDraw.Draw(sheet)
    for y in range(HEIGHT * FINE):
        fraction = y / (HEIGHT * FINE)
        color = tuple(int(a + fraction * (b - a)) for a, b in zip(*SKY, strict=True))
        draw.line([(0, y), (WIDTH * FINE, y)], fill=color)
    for color, corners in POLYGONS:
        draw.polygon([FINE * place for place in corners], fill=color)
    for color, box in ELLIPSES:
        draw.ellipse([FINE * place for place in box], fill=color)
    for number in range(9):
        angle = math.radians(200 + 17.5 * number)
        end = 182 + 16 * math.cos(angle), 118 + 16 * math.sin(angle)
        draw.line([FINE * place for place in (182, 118, *end)], fill=(30, 30, 34), width=FINE - 1)
    for number, color in enumerate(PATCHES):
        draw.rectangle([FINE * place for place in (4 + 14 * number, 132, 17 + 14 * number, 146)], fill=color)
    for number in range(8):
        gray = (number * 255 // 7,) * 3
        draw.rectangle([FINE * place for place in (96 + 12 * number, 132, 108 + 12 * number, 146)], fill=gray)
    draw.text((6 * FINE, 4 * FINE), "pixelmill", font=ImageFont.load_default(13 * FINE), fill=(34, 48, 84))
    return np.asarray(sheet.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
