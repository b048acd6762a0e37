"""How things are said on the pages: numbers, shares, and each technical term explained where it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import getdoc
from typing import Any

from incrowd.errors import many
from incrowd.privacy.declared import Declared
from incrowd.privacy.registry import OF_COLUMNS
from incrowd.report.charts import class_sizes_chart, distribution_chart, loss_chart, sparkline
from incrowd.report.labels import meaning, shown
from incrowd.report.tables import figure, percent


def _explained(model: type[Declared]) -> str:
    """What a privacy model promises, as its declaration says, in the settings of the studio."""
    return (getdoc(model) or "").partition("\n\n")[0].replace("\n", " ").replace("class", "crowd")


TERMS: Mapping[str, tuple[str, str]] = {
    "quasi-identifier": (
        "quasi-identifier",
        "Columns that outsiders may know about a person, such as age, sex and zip code. One alone says little; "
        "together they can identify a single person. They are generalized until everyone is in a crowd.",
    ),
    "k": (
        "k",
        "The size of the smallest crowd. With k = 10, someone who knows all these columns for a person still finds at "
        "least ten records that look the same.",
    ),
    "crowd": (
        "crowd",
        "Records that look the same on the columns known to outsiders; in the literature, an equivalence class.",
    ),
    "identifier": ("identifier", "A column that names a person directly: a name, a number, an address. It is dropped."),
    "sensitive": (
        "sensitive",
        "A column that nobody should learn about a person, such as a diagnosis. A crowd hides who is who, but if "
        "everyone in it has the same diagnosis, the diagnosis is revealed.",
    ),
    "target": ("target", "The column that models will learn to predict. The search keeps what helps to predict it."),
    "unit": (
        "unit",
        "The column that says which person a record belongs to, if people may have several records. Then k counts "
        "people, not records.",
    ),
    **{name: (model.name, _explained(model)) for name, model in OF_COLUMNS.items()},
    "suppress": (
        "left-out records",
        "A few unusual records can force everyone else into coarse groups. Leaving out a small share of them can keep "
        "much more detail for all others.",
    ),
    "ledger": (
        "ledger",
        "A folder, for you alone, that knows what was released before. Whoever has several releases can compare them; "
        "with a ledger, everyone is in a crowd of at least k in all of them together.",
    ),
    "method": (
        "method",
        "How the release is searched for. Automatic chooses the method that suits the table and its purpose.",
    ),
    "priority": (
        "priority",
        "How much the detail of a column is worth to you: with 2 its loss counts twice, so other columns give way.",
    ),
    "loss": (
        "loss",
        "How much detail was lost, from 0 % (unchanged) to 100 % (everything is *). Its technical name is NCP.",
    ),
    "hierarchy": ("hierarchy", "How values of a column are generalized, step by step: 12345, then 123**, then *."),
    "verified": (
        "verified",
        "The crowds were counted again in the written file itself, as a recipient would read it, by code that shares "
        "nothing with the search.",
    ),
    "certificate": (
        "certificate",
        "What was promised and counted, with the fingerprint of the file, so that a recipient can check it all.",
    ),
    "codebook": ("codebook", "What every released value means."),
    "control": (
        "control",
        "The same attack where the release cannot help: on people who are not in the table, or without their records.",
    ),
    "special": (
        "score of a special unique",
        "How much a record stands out (SUDA2): the fewer columns are enough to be alone, and the more such sets of "
        "columns there are, the higher it is.",
    ),
    "baseline": ("baseline", "How often anybody is right who only knows what everybody knows."),
    "excess": (
        "excess",
        "By how much an attack succeeds more often than its control. Only this comes from the release. The interval "
        "holds the true value in 95 of 100 cases.",
    ),
    "key": ("key", "All random choices come from a key that only you have. The same key gives the same release."),
    "missing": ("missing values", "A missing value can count as a value of its own, or its records can be left out."),
}


def points(share: float) -> str:
    """By how much one share exceeds another."""
    return f"{round(share, 3) + 0:+.1%}".replace("%", " %").replace("+0.0", "0")


def size(number: int) -> str:
    amount = float(number)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "count": figure,
    "percent": percent,
    "points": points,
    "size": size,
    "many": many,
    "shown": shown,
    "meaning": meaning,
    "sparkline": sparkline,
    "class_sizes_chart": class_sizes_chart,
    "distribution_chart": distribution_chart,
    "loss_chart": loss_chart,
}
