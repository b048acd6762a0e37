"""An inspection on a terminal: a line per column, the worst combinations, and what to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.errors import many

if TYPE_CHECKING:
    from incrowd.inspection.columns import Column
    from incrowd.inspection.inspection import Inspection
    from incrowd.inspection.uniqueness import Combination

SHOWN = 3  # values of a column
NARROW = 100  # characters; below this, words are shortened so that some values can be seen
LONGEST = 24  # characters of a name or a value
_SHOWN_PERCENT = (0, 50, 100)


def print_inspection(console: Console, inspection: Inspection) -> None:
    """Print what a steward wants to know of a table before it is released."""
    console.print(
        Text(f"{inspection.name}: {many(inspection.records, 'record')}, {many(len(inspection.columns), 'column')}")
    )
    console.print(_columns(inspection, narrow=console.width < NARROW))
    if inspection.together is not None:
        noun = ("record", "records") if inspection.unit is None else ("person", "people")
        who = "" if inspection.unit is None else f", by {_short(inspection.unit)}"
        number = len(inspection.together.columns)
        told = f"unique on all {number} quasi-identifiers: {_uniques(inspection.together, noun)}{who}"
        console.print(Text(told), soft_wrap=True)
        for combination in (*inspection.pairs[:SHOWN], *inspection.triples[:SHOWN]):
            if combination.uniques:
                console.print(
                    Text(f"  on {', '.join(combination.columns)}: {_uniques(combination, noun)}"), soft_wrap=True
                )
    for warning in inspection.warnings:
        console.print(Text(f"warning: {warning}"), soft_wrap=True)
    for note in inspection.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


def _columns(inspection: Inspection, *, narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="")
    for head in ("column", "type", "missing", "distinct", "unique", "values", "role"):
        right = head in ("missing", "distinct", "unique")
        table.add_column(head, justify="right" if right else "left", no_wrap=head != "values")  # the values shrink
    for column in inspection.columns:
        table.add_row(
            Text(_short(column.name, 16 if narrow else LONGEST)),
            column.kind.partition(" ")[0] if narrow else column.kind,
            f"{column.missing:,}" if column.missing else "",
            f"{column.distinct:,}" + ("" if column.records == inspection.records else "+"),
            _share(column.alone) if column.once else "",
            Text(_distribution(column), no_wrap=True, overflow="ellipsis"),
            _role(column, narrow=narrow),
        )
    return table


def _role(column: Column, *, narrow: bool) -> str:
    if narrow:
        return "target?" if column.role.may_be_target else column.role.name.partition("-")[0]
    return column.role.name + (" (target?)" if column.role.may_be_target else "")


def _distribution(column: Column) -> str:
    """Lowest, middle and highest value, or the most frequent ones."""
    if column.quantiles:
        values = dict(column.quantiles)
        return " .. ".join(values[percent] for percent in _SHOWN_PERCENT)
    if column.distinct and not column.top:
        return "every value once"
    shown = [f"{_short(value)} {count:,}" for value, count in column.top[:SHOWN]]
    more = column.distinct - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 and shown else "")


def _short(text: str, longest: int = LONGEST) -> str:
    """A text that fits into a column, on one line."""
    line = " ".join(text.splitlines())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _uniques(combination: Combination, noun: tuple[str, str]) -> str:
    return f"{combination.uniques:,} of {many(combination.records, *noun)} ({_share(combination.share)})"


def _share(share: float) -> str:
    """A share in percent; few are not none, and not all are not everyone."""
    if 0 < share < 0.001:
        return "<0.1 %"
    return ">99.9 %" if 0.999 < share < 1 else f"{100 * share:.1f} %"
