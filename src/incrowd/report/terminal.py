"""A release on the terminal: what became of each attribute, the crowds, the losses and the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.measures.registry import MEASURES, OF_CLASSES
from incrowd.release import sidecar_paths

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
    measures = release.measures
    total = measures.total
    head = f"{measures.records - total.suppressed:,} records released, each in a crowd of at least"
    for qid in measures.quasi_identifiers:
        console.print(f"{head} {qid.anonymity:,} on {', '.join(qid.attributes)} (k={qid.k})", highlight=False)
    if total.suppressed:
        console.print(f"{total.suppressed:,} records suppressed")
    if release.untouched:
        console.print(f"passed through untouched: {', '.join(release.untouched)}", highlight=False)
    for warning in release.warnings:
        console.print(f"warning: {warning}", highlight=False)
    for note in release.notes:
        console.print(f"note: {note}", highlight=False)
    if facts := {key: value for key, value in release.found.facts.items() if not isinstance(value, list | dict)}:
        told = ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in facts.items())
        console.print(f"{release.policy.method}: {told}", highlight=False)
    console.print(_attributes(release))
    console.print(_measures(release))
    if path is not None:
        recoding, steps, certificate = sidecar_paths(path)
        files = ("release", path), ("recoding", recoding), ("steps", steps), ("certificate", certificate)
        for name, file in files:
            console.print(Text(f"{name:<12}{file}"), soft_wrap=True)


def print_preview(console: Console, release: Release, rows: int = 5) -> None:
    """Print a few rows before and after."""
    names = release.recoding.names
    before, after = release.preview(rows)
    telling = [name for name in names if len(release.recoding.labels(name)) > 1] or list(names)
    for title, cells in ("before", before), ("after", after):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for name in telling[:8]:
            table.add_column(name, overflow="fold")
        for row in range(len(cells[names[0]])):
            table.add_row(*(_shown(cells[name][row]) for name in telling[:8]))
        console.print(table)


def _attributes(release: Release) -> Table:
    table = Table(title="what became of each attribute", title_justify="left")
    for column, justify in ("attribute", "left"), ("values", "right"), ("loss", "right"), ("released values", "left"):
        table.add_column(column, justify="right" if justify == "right" else "left", overflow="fold")
    for attribute, part in zip(release.table.attributes, release.measures.attributes, strict=True):
        labels = release.recoding.labels(attribute.name)
        listed = ", ".join(_shown(label) for label in labels[:SHOWN])
        more = f" and {len(labels) - SHOWN} more" if len(labels) > SHOWN else ""
        values = Text(listed + more)
        table.add_row(Text(attribute.name), f"{attribute.size:,} -> {len(labels):,}", f"{part.ncp:.3f}", values)
    return table


def _measures(release: Release) -> Table:
    table = Table(title="crowds and losses", title_justify="left")
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
        table.add_row(*([title] if len(parts) > 1 else []), *cells)
    return table


def _measure(value: float | None) -> str:
    if value is None:
        return "no target"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def print_verification(console: Console, verification: Verification) -> None:
    """Print what the witness found."""
    table = Table()
    for column in ("quasi-identifier", "promise", "worst class", "classes", "fall short", "records", "verdict"):
        table.add_column(column, justify="left" if column in ("quasi-identifier", "promise", "verdict") else "right")
    for finding in verification.findings:
        names = Text(", ".join(finding.quasi_identifier.attributes))
        for model in finding.models:
            cells: Sequence[Any] = (model.worst, finding.classes, model.bad_classes, model.bad_records)
            verdict = "holds" if model.holds else "does not hold"
            table.add_row(names, model.model, *(f"{cell:,}" for cell in cells), verdict)
    console.print(table)


def print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print the errors of classifiers, in percent."""
    method, rows = evaluation.policy.method, f"{evaluation.train:,} training and {evaluation.test:,} test rows"
    how = {"apply": "test rows recoded like the training rows", "together": "all rows released together"}
    for qid in evaluation.policy.quasi_identifiers:
        console.print(f"{method} {qid}", highlight=False, markup=False)
    console.print(f"{rows}: {evaluation.design}, {how[evaluation.protocol]}", highlight=False)
    if evaluation.left_out:
        console.print(
            f"{evaluation.left_out:,} test rows were left out of the release; for these the majority class was guessed"
        )
    table = Table(title="error in percent", title_justify="left", caption=evaluation.intervals, caption_justify="left")
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
        table.add_row(title, *cells, end_section=word == "upper")
    console.print(table)


def print_comparison(comparison: Comparison) -> None:
    """Print the runs of a comparison on stdout; a star marks each loss that no other run beats."""
    console = Console()
    if not console.is_terminal:
        console.width = max(console.width, 160)  # a file has room
    caption = "* not dominated: no other setting has at least this k and loses less, or a larger k and loses no more"
    table = Table(caption=caption, caption_justify="left")
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
        table.add_row(Text(run.method), f"{run.k:,}", *cells, end_section=last)
    console.print(table)
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


def _shown(value: Any) -> str:
    return "(missing)" if value is None or value == "" else str(value)
