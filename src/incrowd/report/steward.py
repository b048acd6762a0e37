"""The steward's report: the public one, and what only the original table shows. It is confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any

from incrowd.formats.sources import WatchedFile
from incrowd.report import brief, public
from incrowd.report.association import associations
from incrowd.report.columns import read_columns
from incrowd.report.distributions import distribution
from incrowd.report.labels import MOST_COLUMNS, shown
from incrowd.report.public import Published, homogeneity, risk_figures
from incrowd.report.trees import tree_lines
from incrowd.risk.assessment import Question, risk_of
from incrowd.run import Run
from incrowd.table.attributes import TaxonomyAttribute

if TYPE_CHECKING:
    from incrowd.attacks.result import AttackReport
    from incrowd.evaluation.result import Evaluation
    from incrowd.release.release import Release

MOST_POINTS = 200  # of the path of a search
_MOST_MEASURED = 8  # steps at which the loss is worked out again
_LARGE = 200_000  # distinct tuples: above, the loss along the path would take long
MOST_CHANGES = 6  # pairs of columns whose association changed most


@dataclass(frozen=True)
class Own:
    release: Release
    published: Published
    evaluation: Evaluation | None = None
    attacks: AttackReport | None = None


def safe(own: Own) -> dict[str, Any]:
    found = public.safe(own.published)
    before = []
    for names, after in zip(own.published.quasi_identifiers, own.published.risks, strict=True):
        question = Question.of(names, sensitive=after.question.sensitive, unit=after.question.unit)
        before.append(risk_of(own.release.source, question, Run()))
    crowds = [row for risk in before for row in homogeneity(risk)]
    return {
        **found,
        **brief.safe(own.release),
        "risks_before": [risk_figures(risk) for risk in before],
        "homogeneity_before": crowds,
        "attacks": [] if own.attacks is None else _attacks(own.attacks),
        "max_excess": None if own.attacks is None else own.attacks.max_excess,
    }


def _attacks(found: AttackReport) -> list[dict[str, Any]]:
    """What each attack achieved, shares of 1."""
    texts = ("attack", "variant", "meaning")
    rows = found.to_rows()
    return [{name: shown(value, 600) if name in texts else value for name, value in row.items()} for row in rows]


def cost(own: Own) -> dict[str, Any]:
    """What it cost: losses, distributions and associations before and after, and how the search went."""
    release, found = own.release, public.cost(own.published)
    known = brief.cost(release)
    parts = release.recoding.parts(release.table)
    columns = [
        {**row, "distribution": distribution(release.table, release.recoding, parts, attribute)}
        for row, attribute in zip(known["columns"], release.table.attributes, strict=False)
    ]
    return {
        **found,
        **known,
        "columns": columns,
        "association": _associations(own, found["association"]),
        "path": _path(release),
        "errors": [] if own.evaluation is None else _errors(own.evaluation),
    }


def _errors(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What each classifier errs, shares of 1, with the ends of a confidence interval."""
    fields = {"original": "baseline", "released": "anonymity", "without": "upper"}
    return [
        {
            "classifier": shown(errors.classifier),
            **{title: getattr(errors, field).to_json() for title, field in fields.items()},
        }
        for errors in evaluation.errors
    ]


def _associations(own: Own, after: Mapping[str, Any]) -> dict[str, Any]:
    names = own.published.associated
    before = associations(read_columns(own.release.source, names), names)
    changes = [
        {
            "first": shown(names[row]),
            "second": shown(names[column]),
            "original": before[row][column],
            "released": after["released"][row][column],
        }
        for row in range(len(names))
        for column in range(row)
    ]
    changes.sort(key=lambda change: -abs(change["original"] - change["released"]))
    return {**after, "original": before, "changes": changes[:MOST_CHANGES]}


def _path(release: Release) -> dict[str, Any] | None:
    """How anonymity and loss went over the steps of a greedy search; None where there are no steps."""
    steps = release.steps
    if not steps:
        return None
    places = _spread(len(steps), MOST_POINTS)
    anonymity = [{"step": steps[at].number, "value": min(steps[at].anonymity, default=0)} for at in places]
    losses = []
    if release.found.begins is not None and len(release.table.counts) <= _LARGE:
        for at in _spread(len(steps) + 1, _MOST_MEASURED):
            losses.append({"step": at, "value": round(float(release.at(at).measures.total.ncp), 6)})
    last = [
        {"step": step.number, "column": shown(step.attribute), "value": shown(step.value), "into": len(step.children)}
        for step in steps[-5:]
    ]
    asked = min(requirement.least_size for requirement in release.policy.requirements)
    return {"chosen": len(steps), "asked": asked, "anonymity": anonymity, "losses": losses, "last": last}


def _spread(size: int, most: int) -> list[int]:
    """At most this many places of a list, evenly, the first and the last among them."""
    if size <= most:
        return list(range(size))
    return sorted({round(place * (size - 1) / (most - 1)) for place in range(most)})


def done(own: Own) -> dict[str, Any]:
    """What was done, and why: the method, the hierarchies with the released cut, and hints."""
    release, found = own.release, public.done(own.published)
    columns = own.published.columns
    trees = []
    for attribute in release.table.attributes[:MOST_COLUMNS]:
        if isinstance(attribute, TaxonomyAttribute):
            counts = columns.counts(attribute.name).tolist()
            released = dict(zip(columns.labels[attribute.name], counts, strict=True))
            trees.append({"column": shown(attribute.name), "lines": tree_lines(attribute.taxonomy, released)})
    return {**found, **brief.done(release), "trees": trees}


def check(own: Own) -> dict[str, Any]:
    """How to make it and check it again."""
    found = public.check(own.published)
    secret = own.published.certificate.secret
    source, made = own.release.source, []
    if isinstance(source, WatchedFile):
        made = [f"incrowd anonymize {quote(shown(source.name))} -o release.csv --policy policy.toml"]
    return {
        **found,
        "original": {"name": shown(own.release.source.name), "digest": None if secret is None else secret.digest},
        "commands": [*made, *found["commands"]],
    }
