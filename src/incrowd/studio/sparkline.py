"""Small pictures of columns, as SVG without scripts or styles of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

WIDTH, HEIGHT = 240, 56  # units of a picture of numbers
_ROW, _NAME = 18, 104  # height of a bar that lies, and room for its name
_LETTERS = 17


def spark(picture: Mapping[str, Any], name: str) -> Markup:
    """The picture of a column.

    Args:
        picture: What `tasks.pictures` gives.
        name: Of the column, for those who cannot see it.
    """
    bars = picture["bars"]
    if not bars:
        return Markup('<p class="faint small">no picture: every value is somebody’s own</p>')
    return _standing(bars, name) if picture["kind"] == "numbers" else _lying(picture, name)


def _standing(bars: list[dict[str, Any]], name: str) -> Markup:
    top = max(bar["records"] for bar in bars) or 1
    wide = WIDTH / len(bars)
    parts = []
    for place, bar in enumerate(bars):
        tall = (HEIGHT - 2) * bar["records"] / top
        tall = max(tall, 1.0) if bar["records"] else 0.0
        parts.append(
            Markup(
                '<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}"><title>{v}: {n:,}</title></rect>'
            ).format(x=place * wide, y=HEIGHT - tall, w=max(wide - 1, 0.8), h=tall, v=bar["value"], n=bar["records"])
        )
    ends = [bar["value"] for bar in bars if bar["records"]]
    low, high = ends[0].partition(" to ")[0], ends[-1].rpartition(" to ")[2]
    told = f"Values of {name} from {low} to {high}"
    return Markup(
        '<svg class="spark" role="img" aria-label="{told}" viewBox="0 0 {w} {h}" preserveAspectRatio="none">'
        "{body}</svg>"
        '<p class="ends small faint"><span>{low}</span><span>{high}</span></p>'
    ).format(told=told, w=WIDTH, h=HEIGHT, body=Markup("").join(parts), low=low, high=high)


def _lying(picture: Mapping[str, Any], name: str) -> Markup:
    bars = list(picture["bars"])
    if picture.get("more", 0) > 0 and picture.get("rest", 0) > 0:
        bars.append({"value": f"{picture['more']:,} more", "records": picture["rest"], "rest": True})
    top = max(bar["records"] for bar in bars) or 1
    parts = []
    for place, bar in enumerate(bars):
        text = bar["value"] if len(bar["value"]) <= _LETTERS else bar["value"][: _LETTERS - 1] + "…"
        parts.append(
            Markup(
                '<text x="0" y="{t}">\u2068{text}\u2069</text>'
                '<rect class="{c}" x="{x}" y="{y}" width="{w:.1f}" height="{h}">'
                "<title>{v}: {n:,}</title></rect>"
            ).format(
                t=place * _ROW + 13,
                text=text,
                c="rest" if bar.get("rest") else "",
                x=_NAME,
                y=place * _ROW + 3,
                w=max((WIDTH - _NAME) * bar["records"] / top, 1),
                h=_ROW - 6,
                v=bar["value"],
                n=bar["records"],
            )
        )
    told = f"Most frequent values of {name}: " + ", ".join(f"{bar['value']} {bar['records']:,}" for bar in bars[:3])
    return Markup('<svg class="spark lying" role="img" aria-label="{told}" viewBox="0 0 {w} {h}">{body}</svg>').format(
        told=told, w=WIDTH, h=len(bars) * _ROW, body=Markup("").join(parts)
    )
