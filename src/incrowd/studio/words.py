"""How things are said on the pages: numbers, shares, and each technical term explained where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from incrowd.errors import many
from incrowd.report.charts import class_sizes_chart, distribution_chart, loss_chart, sparkline
from incrowd.report.labels import meaning, shown

TERMS: Mapping[str, tuple[str, str]] = {
    "quasi-identifier": (
        "quasi-identifier",
        "Columns that others may know of a person, such as age, sex and zip code. One alone says little; together they "
        "can point at a single person. They are made less exact until nobody stands alone.",
    ),
    "k": (
        "k",
        "The size of the smallest crowd. With k = 10, whoever knows all these columns of a person still finds at least "
        "ten records that look the same.",
    ),
    "crowd": (
        "crowd",
        "The records that look the same on the columns that others may know; in the literature, an equivalence class.",
    ),
    "identifier": ("identifier", "A column that names a person directly: a name, a number, an address. It is dropped."),
    "sensitive": (
        "sensitive",
        "A column that nobody should learn of a person, such as a diagnosis. A crowd hides who is who, but if all of a "
        "crowd have one diagnosis, everybody knows it.",
    ),
    "target": ("target", "The column that models will learn to predict. The search keeps what helps to predict it."),
    "unit": (
        "unit",
        "The column that says which person a record belongs to, where one person may have several. k then counts "
        "people and not records.",
    ),
    "l": ("l-diversity", "Every crowd has at least so many different values of the sensitive column."),
    "entropy_l": (
        "entropy l-diversity",
        "The values in every crowd are as mixed as that many equally frequent ones would be: no value dominates.",
    ),
    "recursive_l": (
        "recursive (c, l)-diversity",
        "The most frequent value of a crowd is less than c times as frequent as the rare ones, from the l-th on, "
        "together. Write c and l, such as 3, 2.",
    ),
    "t": (
        "t-closeness",
        "The values of the sensitive column are spread in every crowd as in the whole table, up to this distance: 0 is "
        "the same, 1 is anything.",
    ),
    "alpha": ("(alpha, k)-anonymity", "No value of the sensitive column has more than this share of any crowd."),
    "beta_likeness": (
        "beta-likeness",
        "In no crowd is a value more frequent than in the whole by more than this factor: 1 means at most twice.",
    ),
    "enhanced_beta_likeness": (
        "enhanced beta-likeness",
        "The same as beta-likeness, but values that are frequent anyway are held closer.",
    ),
    "delta_disclosure": (
        "delta-disclosure",
        "In every crowd each value is as frequent as in the whole, up to a factor of e to this power, either way.",
    ),
    "suppress": (
        "left-out records",
        "A few unusual records can force everyone else into coarse groups. Leaving out a small share of them can keep "
        "much more detail for all others.",
    ),
    "method": (
        "method",
        "How the release is searched for. Automatic takes the one that suits the table and its purpose.",
    ),
    "priority": (
        "priority",
        "How much the detail of a column is worth to you: with 2 its loss counts twice, so other columns give way.",
    ),
    "loss": (
        "loss",
        "How much detail is gone, from 0 % (as it was) to 100 % (nothing but *); its name is NCP.",
    ),
    "hierarchy": ("hierarchy", "How values of a column become less exact, step by step: 12345, then 123**, then *."),
    "verified": (
        "verified",
        "The crowds were counted again in the written file itself, as a recipient would read it, by code that shares "
        "nothing with the search.",
    ),
    "certificate": (
        "certificate",
        "What was promised and counted, with the fingerprint of the file, so that a recipient can check it all.",
    ),
    "codebook": ("codebook", "What every released value stands for."),
    "key": ("key", "What is drawn at random comes from a key that only you have. The same key gives the same release."),
    "missing": ("missing values", "A missing value can count as a value of its own, or its records can be left out."),
}


def count(number: float) -> str:
    """A number with commas."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def percent(share: float) -> str:
    """A share of 1 in percent; what is little is not called nothing."""
    if share and share < 0.0005:
        return "under 0.1 %"
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def size(number: int) -> str:
    """A number of bytes."""
    amount = float(number)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "count": count,
    "percent": percent,
    "size": size,
    "many": many,
    "shown": shown,
    "meaning": meaning,
    "sparkline": sparkline,
    "class_sizes_chart": class_sizes_chart,
    "distribution_chart": distribution_chart,
    "loss_chart": loss_chart,
}
