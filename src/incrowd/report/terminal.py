"""A release on the terminal: what became of each attribute, the crowds, the losses and the files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.measures.registry import MEASURES, OF_CLASSES
from incrowd.release_files import ReleaseFiles
from incrowd.report.preview import shown
from incrowd.report.text import plain_table

if TYPE_CHECKING:
    from incrowd.comparison.comparison import Comparison
    from incrowd.evaluation.result import Evaluation
    from incrowd.release import Release
    from incrowd.witness import Verification

SHOWN = 6  # released values that are listed per attribute
COSTS = {"seconds": "s", "cpu_seconds": "CPU s", "megabytes": "MB"}
COMPARED = ("suppressed", "dm", "c_avg", "ncp", "cm", "distortion", "inconsistency")  # shown of a comparison's runs


def print_release(console: Console, release: Release, path: Path | None) -> None:
    """Print what a steward wants to know about a release.

    Args:
        console: Where to print.
        release: The release.
        path: Where it was written, if it was.
    """
    _print_crowds(console, release)
    if release.untouched:
        console.print(Text(f"passed through untouched: {', '.join(release.untouched)}"))
    for warning in release.warnings:
        console.print(Text(f"warning: {warning}"))
    for hint in release.hints:
        console.print(Text(f"hint: {hint}"))
    for note in release.notes:
        console.print(Text(f"note: {note}"))
    told_already = ("method", "options", "why")  # in a note
    known = {key: value for key, value in release.found.facts.items() if key not in told_already}
    if facts := {key: value for key, value in known.items() if not isinstance(value, list | dict)}:
        told = ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in facts.items())
        console.print(Text(f"{release.policy.method}: {told}"))
    console.print()
    console.print(_attributes(release))
    console.print()
    console.print(_measures(release))
    if path is not None:
        console.print()
        _print_files(console, ReleaseFiles.of(path))


def print_brief_release(console: Console, release: Release) -> None:
    """Print a release in short: its crowds, and what became of each attribute."""
    console.print(Text(f"release of {release.source.name} by {release.policy.method}"))
    _print_crowds(console, release)
    console.print(_attributes(release))


def _print_crowds(console: Console, release: Release) -> None:
    measures = release.measures
    head = f"{measures.records - measures.total.suppressed:,} records released, each in a crowd of at least"
    for qid in measures.quasi_identifiers:
        console.print(Text(f"{head} {qid.anonymity:,} on {', '.join(qid.attributes)} (k={qid.k})"))
    if measures.total.suppressed:
        console.print(Text(f"{measures.total.suppressed:,} records were left out"))


def _print_files(console: Console, files: ReleaseFiles) -> None:
    """Which files there are, and who may see them."""
    told = {"release": files.release, "certificate": files.certificate, "codebook": files.recoding}
    for name, file in told.items():
        if file.exists():
            console.print(Text(f"{name:<13}{file}"), soft_wrap=True)
    if files.confidential.is_dir():
        inside = ", ".join(path.name for path in sorted(files.confidential.iterdir()))
        console.print(Text(f"confidential {files.confidential} ({inside}), for you alone"), soft_wrap=True)


def _attributes(release: Release) -> Table:
    table = plain_table("what became of each attribute")
    for column in ("attribute", "values", "loss", "released values"):
        right = column in ("values", "loss")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for row in release.to_rows():
        labels = row["released_values"]
        listed = ", ".join(shown(label) for label in labels[:SHOWN])
        more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
        counts = f"{row['values_before']:,} -> {row['values_after']:,}"
        table.add_row(Text(row["column"]), counts, f"{row['ncp']:.3f}", Text(listed + more))
    return table


def _measures(release: Release) -> Table:
    table = plain_table("crowds and losses")
    parts = release.measures.quasi_identifiers
    if len(parts) > 1:
        parts = (*parts, release.measures.total)
    names = [name for name in OF_CLASSES if name != "suppressed"]
    if len(parts) > 1:
        table.add_column("quasi-identifier", overflow="fold")
    for name in names:
        table.add_column(MEASURES[name].title, justify="right")
    for place, part in enumerate(parts):
        title = "all together" if place == len(release.measures.quasi_identifiers) else ", ".join(part.attributes)
        cells = [_measure(part.values[word]) for word in names]
        table.add_row(*([Text(title)] if len(parts) > 1 else []), *cells)
    return table


def _measure(value: float | None) -> str:
    if value is None:
        return "no target"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def print_verification(console: Console, verification: Verification) -> None:
    """Print what the witness found: of each quasi-identifier the crowds, and what the worst of them reaches."""
    for finding in verification.findings:
        names = ", ".join(finding.quasi_identifier.attributes)
        crowds = f"{verification.records:,} records in {finding.classes:,} crowds on {names}"
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
    titles = COSTS | {name: MEASURES[name].title for name in COMPARED}
    names = [name for name in (*titles, *comparison.errors) if any(run.value(name) for run in comparison.runs)]
    for title in ("method", "k", *(titles.get(name, name.replace("_", " ")) for name in names)):
        table.add_column(title, justify="left" if title == "method" else "right")
    for place, run in enumerate(comparison.runs):
        cells = []
        for name in names:
            value = run.value(name)
            best = name in comparison.losses and value is not None and comparison.dominated_by(run, name) is None
            cells.append(Text(_figure(value) + ("*" if best else " "), "bold" if best else ""))
        last = place + 1 == len(comparison.runs) or comparison.runs[place + 1].method != run.method
        table.add_row(Text(run.method), f"{run.k:,}", *cells)
        if last and place + 1 < len(comparison.runs):
            table.add_row()
    console.print(table)
    caption = "* not dominated: no other setting has at least this k and loses less, or a larger k and loses no more"
    console.print(Text(caption), soft_wrap=True)
    for run in comparison.runs:
        if run.problem:
            console.print(Text(f"{run}: {run.status}: {run.problem}"), soft_wrap=True)
    for entry in next((run.errors for run in comparison.runs if run.errors), ()):
        baseline, upper = (_figure(entry[word]["value"]) for word in ("baseline", "upper"))
        width = (entry["anonymity"]["high"] - entry["anonymity"]["low"]) / 2
        told = f"error {entry['classifier']}: {baseline} on the original, {upper} without the quasi-identifiers"
        told += f"; 95 % intervals are about ± {width:.3f}"
        console.print(Text(told), soft_wrap=True)


def _figure(value: float | None) -> str:
    """A number in about three digits."""
    if value is None:
        return "-"
    for unit, size in ("G", 1e9), ("M", 1e6), ("k", 1e4):
        if value >= size:
            scaled = value / (1e3 if unit == "k" else size)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f}{unit}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _fact(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else str(value)
