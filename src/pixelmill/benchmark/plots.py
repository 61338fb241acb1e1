"""Bars and lines as inline SVG. Text is outside of the scaled drawing, so that it keeps its size on a phone."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH, _HEIGHT = 420, 230
_APART = 20  # from one number at the bottom to the next
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 24, 44


def bar(fraction: float, color: str) -> str:
    """Draw a bar over a fraction of the width."""
    width = max(100 * fraction, 0.4)
    return (
        '<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="presentation">'
        f'<rect width="{width:.2f}" height="10" style="fill:var(--{color})"/></svg>'
    )


def stacked_bar(fractions: Sequence[float]) -> str:
    """Draw fractions side by side, in the colors c0, c1, …"""
    parts, start = [], 0.0
    for place, fraction in enumerate(fractions):
        width = 100 * fraction
        parts.append(f'<rect x="{start:.3f}" width="{width:.3f}" height="10" style="fill:var(--c{place})"/>')
        start += width
    inside = "".join(parts)
    return f'<svg class="stack" viewBox="0 0 100 10" preserveAspectRatio="none" role="presentation">{inside}</svg>'


def line_plot(points: Sequence[tuple[float, float]], *, across: str, up: str) -> str:
    """Draw a line through points, and dashed the straight line from nothing through the first.

    Args:
        points: Places across and up, ordered, all positive.
        across: What the axis at the bottom is.
        up: What the axis at the left is.
    """
    most_across = points[-1][0]
    most_up = 1.05 * max(max(value for _, value in points), points[0][1] / points[0][0] * most_across)

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * value / most_across

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / most_up

    marks = []
    for value in _ticks(most_up):
        marks.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
            'style="stroke:var(--line)"/>'
            f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,.0f}</text>'
        )
    written = 2.0 * _WIDTH
    for place, _ in reversed(points):  # from the right, where there is room between them
        if written - x(place) >= _APART:
            written = x(place)
            marks.append(f'<text x="{written:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{place:g}</text>')
    ideal = points[0][1] / points[0][0] * most_across
    path = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in points)
    dots = "".join(
        f'<circle cx="{x(place):.1f}" cy="{y(value):.1f}" r="4" style="fill:var(--own)"/>' for place, value in points
    )
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{up} by {across}">'
        f'<text x="0" y="14">{up}</text>{"".join(marks)}'
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{across}</text>'
        f'<line x1="{x(0):.1f}" y1="{y(0):.1f}" x2="{x(most_across):.1f}" y2="{y(ideal):.1f}" '
        'style="stroke:var(--dim);stroke-dasharray:4 4"/>'
        f'<polyline points="{path}" style="fill:none;stroke:var(--own);stroke-width:2.5"/>{dots}</svg>'
    )


def _ticks(most: float) -> list[float]:
    """Return four or five round numbers, starting at 0."""
    step = 1.0
    while most / step > 5:
        step *= 2.5 if str(step).startswith("2") else 2
    return [place * step for place in range(int(most / step) + 1)]
