"""How each result is printed and drawn; results themselves know nothing of it (`incrowd.display`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from incrowd.display import Tabular
from incrowd.report import notebook, terminal
from incrowd.report.brief import brief
from incrowd.report.terminal import as_text

if TYPE_CHECKING:
    from rich.console import Console

    from incrowd.release.release import Release
    from incrowd.risk.assessment import ReleaseRisk


def summary_text(release: Release) -> str:
    return as_text(terminal.print_summary, brief(release))


def _print_release_risk(console: Console, risk: ReleaseRisk) -> None:
    for place, pair in enumerate(risk.quasi_identifiers):
        console.print("\n" if place else "", end="")
        terminal.print_risk(console, pair.before, pair.after)


def _table(result: Tabular) -> str:
    return notebook.rows_html(result.headline(), result.to_rows(), result.remarks())


Shown = TypeVar("Shown")
_PRINTED: Mapping[str, tuple[Callable[[Console, Any], None], int]] = {  # with the width that a file gets
    "Release": (terminal.print_brief_release, terminal.WIDTH),
    "Verification": (terminal.print_verification, terminal.WIDTH),
    "Inspection": (terminal.print_inspection, 110),
    "AttackReport": (terminal.print_attacks, 110),
    "Risk": (terminal.print_risk, 160),
    "BeforeAndAfter": (lambda console, pair: terminal.print_risk(console, pair.before, pair.after), 160),
    "ReleaseRisk": (_print_release_risk, 160),
    "Certificate": (terminal.print_rows, terminal.WIDTH),
    "CertificateCheck": (terminal.print_claims, terminal.WIDTH),
    "Changes": (terminal.print_rows, terminal.WIDTH),
    "Ledger": (terminal.print_rows, terminal.WIDTH),
    "Evaluation": (terminal.print_evaluation, terminal.WIDTH),
    "Comparison": (terminal.print_comparison, 160),
    "Why": (terminal.print_why, terminal.WIDTH),
}
_HTML: Mapping[str, Callable[[Any], str]] = {
    "Release": notebook.release_html,
    "AttackReport": notebook.attacks_html,
    "Evaluation": notebook.evaluation_html,
    "Comparison": notebook.comparison_html,
    "Recoding": notebook.recoding_html,
    "Taxonomy": notebook.taxonomy_html,
    "Why": notebook.why_html,
    "Tabular": _table,
}


def _of(result: object, shown: Mapping[str, Shown]) -> Shown:
    """What is listed for the type of a result, or for the nearest type above it."""
    return next(shown[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in shown)


def print_result(console: Console, result: object, **settings: Any) -> None:
    """Print a result; a file has more room than most terminals, unless somebody says how much (COLUMNS)."""
    show, width = _of(result, _PRINTED)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console.width = max(console.width, width)
    show(console, result, **settings)


def text_of(result: object) -> str:
    show, width = _of(result, _PRINTED)
    return as_text(show, result, width=width)


def html_of(result: object) -> str:
    return _of(result, _HTML)(result)
