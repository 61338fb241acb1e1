"""Every instruction set resamples bytes to the same bytes, and reads nothing beyond the memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from dali_runs import noise
from hypothesis import given, settings
from hypothesis import strategies as st
from locations import SUPPORT
from operator_comparison import on_each_level, seeds

from pixelmill import types

MEAN, STD = [120.0, 110.5, 100.25, 3.0], [58.0, 57.0, 56.5, 2.0]


def demand(picture, size, *, how=types.INTERP_LINEAR, flip=(0, 0), normalized=False, layout="CHW"):
    """Resize on every level, upside down or mirrored if wanted."""
    channels = picture.shape[2]

    def graph(m, x):
        x = m.fn.flip(x, horizontal=flip[0], vertical=flip[1])
        x = m.fn.resize(x, size=list(size), interp_type=how)
        if not normalized:
            return x
        numbers = {"mean": MEAN[:channels], "std": STD[:channels]}
        return m.fn.crop_mirror_normalize(x, dtype=m.types.FLOAT, output_layout=layout, mirror=flip[0], **numbers)

    on_each_level(graph, [picture])


# Of the width, by what it is divided: eight outputs from 64 bytes; four outputs; neither; up to 8 taps, and more.
@pytest.mark.parametrize("scale", [0.2, 0.5, 0.9, 1, 1.1, 1.5, 1.6, 1.7, 1.9, 2, 2.4, 2.9, 3, 3.1, 3.6, 4, 5, 8.3])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_scales(scale, channels):
    for width in (1, 7, 8, 9, 16, 31, 64, 97):
        picture = noise((23, max(1, round(width * scale)), channels))
        demand(picture, (17, width))
        demand(picture, (29, width), flip=(1, 1))
        demand(picture, (29, width), normalized=True)


@pytest.mark.parametrize("how", [types.INTERP_CUBIC, types.INTERP_LANCZOS3, types.INTERP_GAUSSIAN, types.INTERP_NN])
@pytest.mark.parametrize("channels", [3, 4])
def test_filters(how, channels):
    for size in ((40, 90), (13, 33), (21, 50), (22, 49)):
        demand(noise((21, 50, channels)), size, how=how)
        demand(noise((21, 50, channels)), size, how=how, flip=(1, 0), normalized=True)


@given(st.tuples(*[st.integers(1, 70)] * 2), st.tuples(*[st.integers(1, 70)] * 2), st.sampled_from([1, 3, 4]), seeds)
@settings(max_examples=80)
def test_sizes(source, size, channels, seed):
    picture = noise((*source, channels), seed=seed)
    demand(picture, size, flip=(seed % 2, seed // 2 % 2))
    demand(picture, size, normalized=True, layout=("CHW", "HWC")[seed % 2])


def test_widths_of_planes():
    """Rows and planes that are whole cache lines are written past the caches, others are not."""
    for width in (16, 48, 15, 17, 33, 224):
        for channels in (3, 4):
            demand(noise((20, 70, channels)), (16, width), normalized=True)


def test_nothing_is_read_beyond_the_memory():
    script = SUPPORT / "guarded_resizes.py"
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
