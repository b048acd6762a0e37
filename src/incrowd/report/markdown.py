"""A summary as Markdown: the same sections and tables as the page, in bars of text instead of charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incrowd.errors import many
from incrowd.report import tables
from incrowd.report.summary import STEWARD, sections_for
from incrowd.report.tables import count, figure, percent

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&$-])")
_CONFIDENTIAL = "**Confidential: for the steward of the data only. This report shows the original table.**"
Rows = list[tuple[str, ...]]
_WIDTH = 30  # characters of the longest bar


def markdown_of(summary: Mapping[str, Any]) -> str:
    steward = summary["reader"] == STEWARD
    parts = {"safe": _safe, "cost": _cost, "done": _done, "check": _check}
    lines = [f"# {escaped(summary['title'])}", ""]
    for name, question in sections_for(summary["reader"]).items():
        lines += [_CONFIDENTIAL, ""] if steward else []
        lines += [f"## {question}", "", *parts[name](summary[name])]
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """A text in which no sign means anything to Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", text)


def table_lines(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(titles) + " |"
    yield "|" + " --- |" * len(titles)
    for row in rows:
        yield "| " + " | ".join(escaped(cell) for cell in row) + " |"
    yield ""


def _list(texts: Sequence[str]) -> Iterator[str]:
    yield from (f"- {escaped(text)}" for text in texts)
    yield ""


def _code(text: str) -> Iterator[str]:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text) or [""]))
    yield from (fence, text.rstrip("\n"), fence, "")


def _safe(safe: Mapping[str, Any]) -> Iterator[str]:
    yield from (escaped(safe["promise"]), "")
    titles = ("Promise", "Quasi-identifier", "Asked", "Worst crowd", "Verdict")
    rows: Rows = [
        (
            each["promise"],
            ", ".join(each["quasi_identifier"]),
            figure(each["asked"]),
            figure(each["reached"]),
            "holds" if each["holds"] else "does not hold",
        )
        for each in safe["requirements"]
    ]
    yield from table_lines(titles, rows)
    before = safe.get("risks_before")
    for place, risk in enumerate(safe["risks"]):
        yield from (f"### Risk on {escaped(', '.join(risk['quasi_identifier']))}", "")
        old = before[place] if before else None
        yield from table_lines(
            ("Attacker", "Before", "After") if old else ("Attacker", "After"), tables.risk_rows(risk, old)
        )
    for sizes in safe["class_sizes"]:
        yield from (f"### Sizes of crowds on {escaped(', '.join(sizes['quasi_identifier']))}", "")
        rows = [
            (f"{each['from']:,} to {each['to']:,}", count(each["crowds"]), count(each["records"]))
            for each in sizes["bins"]
        ]
        counted = sizes["counted"].capitalize()
        yield from table_lines((f"{counted} in the crowd", "Crowds", counted), rows)
    if safe["homogeneity"]:
        yield from ("### Crowds that share one sensitive value", "")
        yield from table_lines(tables.shared_titles(safe), tables.shared_rows(safe))
    if safe.get("attacks"):
        yield from ("### Attacks that were played", "")
        yield from table_lines(tables.ATTACK_TITLES, tables.attack_rows(safe["attacks"]))
    elif safe["attacks_played"]:
        yield from ("### Attacks that were played before the release", "", *_list(safe["attacks_played"]))
    untouched = ", ".join(safe["untouched"]) or "none"
    yield from (f"Columns that passed through untouched: {escaped(untouched)}", "")
    if safe["kept"]:
        kept = escaped(", ".join(safe["kept"]))
        yield from (f"Kept on purpose, though they look like names or IDs: {kept}", "")
    yield from _list([f"Warning: {warning}" for warning in safe.get("warnings", ())])
    yield from ("### What is not promised", "", *_list(safe["not_promised"]))


def _cost(cost: Mapping[str, Any]) -> Iterator[str]:
    records = cost["records"]
    line = f"{many(records['released'], 'record')} released"
    if "original" in records:
        line += f" of {records['original']:,}; {records['left_out']:,} left out"
    yield from (line, "")
    if "measures" in cost:
        yield from table_lines(("Measure", "Value", "Meaning"), tables.measure_rows(cost["measures"]))
        if len(cost["by_quasi_identifier"]) > 1:
            yield from ("### By quasi-identifier", "", *table_lines(tables.part_titles(cost), tables.part_rows(cost)))
        rows: Rows = [
            (
                each["name"],
                count(each["original_values"]),
                count(each["released_values"]),
                percent(each["loss"]),
                percent(each["distribution"]["distance"]),
            )
            for each in cost["columns"]
        ]
        yield from table_lines(("Column", "Original values", "Released values", "Loss", "Records moved"), rows)
        for each in cost["columns"]:
            yield from _bars(each)
    else:
        rows = [(each["name"], count(each["released_values"])) for each in cost["columns"]]
        yield from table_lines(("Column", "Released values"), rows)
    if cost["more_columns"]:
        yield from (f"and {many(cost['more_columns'], 'more column')}", "")
    if cost.get("errors"):
        yield from ("### Errors of classifiers", "")
        rows = [
            (each["classifier"], *(percent(each[data]["value"]) for data in ("original", "released", "without")))
            for each in cost["errors"]
        ]
        yield from table_lines(("Classifier", "Original", "Released", "Without quasi-identifiers"), rows)
    if cost["association"].get("changes"):
        yield from ("### Associations that changed most (Cramér's V)", "")
        yield from table_lines(("Pair", "Original", "Released"), tables.change_rows(cost["association"]["changes"]))


def _bars(column: Mapping[str, Any]) -> Iterator[str]:
    bars = column["distribution"]["bars"]
    top = max(max(bar["before"], bar["after"]) for bar in bars) or 1
    rows = []
    for bar in bars:
        both = [f"{'█' * round(_WIDTH * bar[key] / top)} {percent(bar[key])}" for key in ("before", "after")]
        rows.append((bar["value"], *both))
    yield from (f"### {escaped(column['name'])}", "", *table_lines(("Value", "Before", "After"), rows))


def _done(done: Mapping[str, Any]) -> Iterator[str]:
    about = f": {done['about_method']}" if "about_method" in done else ""
    yield from (escaped(f"Method {done['method']}{about}"), "")
    yield from _list([*done.get("notes", ()), *done.get("hints", ())])
    if done.get("trial"):
        yield from ("Tried for the target on samples; * errs hardly more than the best:", "")
        yield from table_lines(tables.TRIAL, tables.trial_rows(done["trial"]))
    yield from _code(done["policy"])
    for book in done["codebook"]:
        yield from (f"### Codebook of {escaped(book['column'])}", "")
        yield from table_lines(("Value", "Stands for", "Records"), tables.book_rows(book))


def _check(check: Mapping[str, Any]) -> Iterator[str]:
    for command in check["commands"]:
        yield from _code(command)
    yield from table_lines(("What", "Value"), tables.check_rows(check))
