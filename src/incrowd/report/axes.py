"""Where things stand in a chart: the frame, the marks of its axes, and how numbers and names are written there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

WIDTH = 380  # units; a card of a page is about as many pixels wide
HEIGHT = 190  # of charts with an upright axis
SMALL = 1e-12


@dataclass(frozen=True)
class Frame:
    """Where the upright charts stand."""

    left: int = 46
    right: int = WIDTH - 10
    top: int = 8
    bottom: int = HEIGHT - 40

    @property
    def width(self) -> int:
        """From the left to the right end."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """From the bottom to the top."""
        return self.bottom - self.top


def grid(frame: Frame, ticks: Sequence[float], y_of: Callable[[float], float], text: Any) -> list[Markup]:
    """Lines across the frame, each with its number."""
    return [
        Markup(
            '<line class="grid" x1="{x}" x2="{r}" y1="{y:.1f}" y2="{y:.1f}"></line>'
            '<text class="name" x="{l}" y="{b:.1f}">{t}</text>'
        ).format(x=frame.left, r=frame.right, y=y_of(tick), l=frame.left - 5, b=y_of(tick) + 3.5, t=text(tick))
        for tick in ticks
    ]


def axis_title(frame: Frame, title: str) -> Markup:
    """What stands below the frame."""
    place = {"x": (frame.left + frame.right) / 2, "y": HEIGHT - 6}
    return Markup('<text class="tick title" x="{x}" y="{y}">{t}</text>').format(**place, t=isolated(cut(title, 40)))


def scale(
    channel: Mapping[str, Any], values: Sequence[float], start: float, end: float
) -> tuple[Callable[[float], float], list[float]]:
    """Where values stand between two ends, and the marks of the axis."""
    high = max(values)
    if channel.get("scale", {}).get("type") == "log" and min(values) > 0:
        low = math.log10(min(values))
        span = max(math.log10(high) - low, 0.3)
        powers = range(math.floor(low), math.ceil(low + span) + 1)
        digits = (1,) if span > 2.5 else (1, 3) if span > 1.2 else (1, 2, 5)
        marks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [mark for mark in marks if low - 0.01 <= math.log10(mark) <= low + span + 0.01]
        return lambda value: start + (end - start) * (math.log10(max(value, SMALL)) - low) / span, ticks
    ticks = ticks_to(high)
    return lambda value: start + (end - start) * value / ticks[-1], ticks


def ticks_to(high: float) -> list[float]:
    """Round marks from 0 to a bit above the highest value."""
    high = high if high > SMALL else 1.0
    power = 10.0 ** math.floor(math.log10(high / 4))
    step = next(digit * power for digit in (1, 2, 2.5, 5, 10, 20) if digit * power * 4 >= high * (1 - 1e-9))
    return [step * place for place in range(math.ceil(high / step - 1e-9) + 1)]


def number_text(channel: Mapping[str, Any]) -> Callable[[float], str]:
    """How the numbers of an axis are written."""
    form = channel.get("axis", {}).get("format")
    if form == ".1%":
        return lambda value: f"{100 * value:.1f}%"
    if form == "%":
        return lambda value: f"{100 * value:.0f}%" if value >= 0.1 or value == 0 else f"{100 * value:.2g}%"
    return _plain


def _plain(value: float) -> str:
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{value:,.4g}"


def cut(text: str, letters: int) -> str:
    """A text that is not longer than so many letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


def isolated(text: str) -> str:
    """A text that keeps its direction to itself."""
    return f"\u2068{text}\u2069"
