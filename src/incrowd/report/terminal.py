"""A release on the terminal: what became of each attribute, the crowds, the losses and the files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.errors import many
from incrowd.measures.registry import MEASURES, OF_CLASSES
from incrowd.release.files import ReleaseFiles
from incrowd.report.brief import brief, crowd_told
from incrowd.report.tables import compared, comparison_rows, short_figure
from incrowd.report.text import plain_table

if TYPE_CHECKING:
    from incrowd.comparison.comparison import Comparison
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release
    from incrowd.verification.verdict import Verification


def print_release(
    console: Console,
    release: Release,
    files: ReleaseFiles | None,
    table: str | None = None,
    summary: Mapping[str, Any] | None = None,
) -> None:
    """Print what a steward wants to know about a release.

    Args:
        console: Where to print.
        release: The release.
        files: Where it was written, if it was.
        table: The table of a database that it was written to, if it is no file.
        summary: The brief part of its summary, where it was made earlier.
    """
    print_summary(console, summary or brief(release))
    if files is not None:
        console.print()
        if table is not None:
            console.print(Text(f"{'release':<13}{table}"), soft_wrap=True)
        _print_files(console, files)


def print_summary(console: Console, summary: Mapping[str, Any]) -> None:
    """Print a summary of a release.

    Args:
        console: Where to print.
        summary: A steward's summary, or the brief part of one.
    """
    safe, done = summary["safe"], summary["done"]
    _print_crowds(console, summary)
    if safe["untouched"]:
        console.print(Text(f"passed through untouched: {', '.join(safe['untouched'])}"))
    if safe["kept"]:
        console.print(Text(f"kept on purpose, though they may name people: {', '.join(safe['kept'])}"))
    remarks = {"warning": safe["warnings"], "hint": done["hints"], "note": done["notes"]}
    for word, texts in remarks.items():
        for text in texts:
            console.print(Text(f"{word}: {text}"))
    if done["facts"]:
        told = ", ".join(f"{key} {value}" for key, value in done["facts"].items())
        console.print(Text(f"{done['method']}: {told}"))
    console.print()
    _print_columns(console, summary["cost"])
    console.print()
    console.print(_measures(summary["cost"]))


def print_brief_release(console: Console, release: Release) -> None:
    """Print a release in short: its crowds, and what became of each column."""
    summary = brief(release)
    console.print(Text(f"release of {release.source.name} by {release.policy.method}"))
    _print_crowds(console, summary)
    _print_columns(console, summary["cost"])


def _print_crowds(console: Console, summary: Mapping[str, Any]) -> None:
    records = summary["cost"]["records"]
    for crowd in summary["safe"]["crowds"]:
        names = ", ".join(crowd["quasi_identifier"])
        released = many(records["released"], "record")
        told = f"{released} released, each in a crowd of at least {crowd_told(crowd)} on {names}"
        console.print(Text(f"{told} ({', '.join(crowd['promises'])})"))
    if records["left_out"]:
        console.print(Text(f"{many(records['left_out'], 'record was', 'records were')} left out"))


def _print_files(console: Console, files: ReleaseFiles) -> None:
    """Which files there are, and who may see them."""
    told = {"release": files.release, "certificate": files.certificate, "codebook": files.recoding}
    for name, file in told.items():
        if file.exists():
            console.print(Text(f"{name:<13}{file}"), soft_wrap=True)
    if files.confidential.is_dir():
        inside = ", ".join(path.name for path in sorted(files.confidential.iterdir()))
        console.print(Text(f"confidential {files.confidential} ({inside}), for you alone"), soft_wrap=True)


def _print_columns(console: Console, cost: Mapping[str, Any]) -> None:
    table = plain_table("what became of each attribute")
    for title in ("attribute", "values", "loss", "released values"):
        right = title in ("values", "loss")
        table.add_column(title, justify="right" if right else "left", overflow="fold")
    for column in cost["columns"]:
        more = column["released_values"] - len(column["first_values"])
        listed = ", ".join(column["first_values"]) + (f" and {more:,} more" if more else "")
        counts = f"{column['original_values']:,} -> {column['released_values']:,}"
        table.add_row(Text(column["name"]), counts, f"{column['loss']:.3f}", Text(listed))
    console.print(table)
    if cost["more_columns"]:
        console.print(Text(f"and {many(cost['more_columns'], 'more attribute')}"))


def _measures(cost: Mapping[str, Any]) -> Table:
    table = plain_table("crowds and losses")
    parts = cost["by_quasi_identifier"]
    rows = [(", ".join(part["quasi_identifier"]), part["values"]) for part in parts]
    if len(parts) > 1:
        table.add_column("quasi-identifier", overflow="fold")
        rows.append(("all together", {each["name"]: each["value"] for each in cost["measures"]}))
    names = [name for name in OF_CLASSES if name != "suppressed"]
    for name in names:
        table.add_column(MEASURES[name].title, justify="right")
    for title, values in rows:
        cells = [_measure(values.get(name)) for name in names]
        table.add_row(*([Text(title)] if len(parts) > 1 else []), *cells)
    return table


def _measure(value: float | None) -> str:
    if value is None:
        return "no target"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def print_verification(console: Console, verification: Verification) -> None:
    """Print what the witness found: of each quasi-identifier the crowds, and what the worst of them reaches."""
    for finding in verification.findings:
        names = ", ".join(finding.attributes)
        crowds = f"{many(verification.records, 'record')} in {many(finding.classes, 'crowd')} on {names}"
        console.print(Text(crowds))
        asked = any(model.threshold is not None for model in finding.models)
        table = plain_table()
        titles = ("promise", "worst crowd", "crowds that fall short", "their records", "verdict")
        for title in titles if asked else ("what is counted", "worst crowd"):
            table.add_column(title, justify="right" if title in titles[1:4] else "left")
        for model in finding.models:
            cells: list[Any] = [Text(model.model), _reached(model.worst)]
            if asked:
                verdict = "holds" if model.holds else "does not hold"
                cells += [f"{model.bad_classes:,}", f"{model.bad_records:,}", verdict]
            table.add_row(*cells)
        console.print(table)


def _reached(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print the errors of classifiers, in percent."""
    method, rows = evaluation.policy.method, f"{evaluation.train:,} training and {evaluation.test:,} test rows"
    how = {"apply": "test rows recoded like the training rows", "together": "all rows released together"}
    for qid in evaluation.policy.quasi_identifiers:
        console.print(Text(f"{method} {qid}"))
    console.print(Text(f"{rows}: {evaluation.design}, {how[evaluation.protocol]}"))
    if evaluation.left_out:
        guessed = "test rows were left out of the release; for these the majority class was guessed"
        console.print(Text(f"{evaluation.left_out:,} {guessed}"))
    table = plain_table("error in percent")
    table.add_column("")
    for errors in evaluation.errors:
        table.add_column(errors.classifier, justify="right")
    words = {
        "baseline": "original (baseline)",
        "anonymity": "release (anonymity)",
        "upper": "no quasi-identifiers (upper)",
        "quality_loss": "release - original",
        "impact": "no quasi-identifiers - original",
    }
    for word, title in words.items():
        cells = [Text(str(getattr(errors, word))) for errors in evaluation.errors]
        table.add_row(title, *cells)
        if word == "upper":
            table.add_row()
    console.print(table)
    console.print(Text(evaluation.intervals), soft_wrap=True)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Print the runs of a comparison; a star marks each loss that no other run beats."""
    table = plain_table()
    for title in ("method", "k", *compared(comparison).values()):
        table.add_column(title, justify="left" if title == "method" else "right")
    rows = comparison_rows(comparison)
    for place, (method, k, *cells) in enumerate(rows):
        marked = [Text(cell, "bold") if cell.endswith("*") else Text(f"{cell} ") for cell in cells]
        table.add_row(Text(method), k, *marked)
        if place + 1 < len(rows) and rows[place + 1][0] != method:
            table.add_row()
    console.print(table)
    caption = "* not dominated: no other setting has at least this k and loses less, or a larger k and loses no more"
    console.print(Text(caption), soft_wrap=True)
    for run in comparison.runs:
        if run.problem:
            console.print(Text(f"{run}: {run.status}: {run.problem}"), soft_wrap=True)
    for entry in next((run.errors for run in comparison.runs if run.errors), ()):
        baseline, upper = (short_figure(entry[word]["value"]) for word in ("baseline", "upper"))
        width = (entry["anonymity"]["high"] - entry["anonymity"]["low"]) / 2
        told = f"error {entry['classifier']}: {baseline} on the original, {upper} without the quasi-identifiers"
        told += f"; 95 % intervals are about ± {width:.3f}"
        console.print(Text(told), soft_wrap=True)
