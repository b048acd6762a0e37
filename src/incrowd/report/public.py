"""The public report: what anyone can count who has the released rows and their certificate.

It is made from those two and from nothing else, so that it cannot say more than they do; the steward's report
(`steward`) adds to it what only the original table shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.formats.registry import open_source
from incrowd.policy.toml_text import policy_text, toml_comment
from incrowd.report.association import associations
from incrowd.report.columns import Columns, read_columns
from incrowd.report.labels import MOST_COLUMNS, PEOPLE, RECORDS, listed, meaning, shown
from incrowd.risk.assessment import Question, Risk, risk_of
from incrowd.run import Run
from incrowd.verification.counts import OF_TABLE

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.table.grouping import Counts
    from incrowd.verification.certificate import Certificate

_DEFAULTS = {"missing": "category", "strict": False, "keep_order": False}
MOST_VALUES = 20  # that are listed of a column
MOST_ASSOCIATED = 12  # columns of the matrix of associations
CROWDS = ("k-anonymity", "k people")  # which are said in words
NOT_PROMISED = (
    "Attackers are assumed to know the quasi-identifier of their target and nothing else. Someone who knows more, such "
    "as a column that passed through, may find a record that this release does not hide.",
    "The promise is about this release alone. Two releases about the same people can be combined, and may then reveal "
    "more than each of them.",
)
NOT_DIFFERENTIAL = (
    "It is not differential privacy: the promise is about crowds in these rows, not about what the search for them "
    "would have found without one person."
)
UNPROTECTED = (
    "A crowd hides who somebody is, not what everyone in it has in common. Nothing was promised about sensitive "
    "values, so look at the crowds that share one value."
)
_EVERY_SECOND = (
    "someone with half of the records of a crowd is found by every second guess, however many people are in it."
)
SEVERAL_RECORDS = f"Risks and the sizes of crowds count records, and people may have several: {_EVERY_SECOND}"
SEVERAL_PEOPLE = (
    "Risks and the sizes of crowds count people, each once in a crowd, however many records of it are theirs, and in "
    "all once, with the worst of their crowds: "
    f"{_EVERY_SECOND}"
)


@dataclass(frozen=True)
class Published:
    """What goes out.

    Args:
        rows: The released rows.
        certificate: Their certificate.
        unit: The column that says whose row each is, and that does not go out; only a steward's rows have it.
    """

    rows: Source
    certificate: Certificate
    unit: str | None = None

    @classmethod
    def of(cls, rows: Any, certificate: Certificate) -> Published:
        """From a file or a frame, and its certificate."""
        return cls(open_source(rows), certificate)

    @property
    def policy(self) -> dict[str, Any]:
        """The policy, as the certificate tells it."""
        return self.certificate.policy

    @cached_property
    def quasi_identifiers(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(each["attributes"]) for each in self.policy["quasi_identifiers"])

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for attributes in self.quasi_identifiers for name in attributes))

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        return tuple(name for name in self.policy.get("sensitive", ()) if name in self.rows.columns)

    @cached_property
    def associated(self) -> tuple[str, ...]:
        """The columns whose associations are shown: the quasi-identifiers first, then what they may predict."""
        target = self.policy.get("target")
        others = [name for name in (target, *self.sensitive) if name in self.rows.columns]
        return tuple(dict.fromkeys((*self.attributes[: MOST_ASSOCIATED - len(others[:2])], *others)))[:MOST_ASSOCIATED]

    @cached_property
    def columns(self) -> Columns:
        return read_columns(self.rows, tuple(dict.fromkeys((*self.attributes, *self.associated, *_one(self.unit)))))

    @cached_property
    def risks(self) -> tuple[Risk, ...]:
        questions = map(self.question, self.quasi_identifiers)
        return tuple(risk_of(self.rows, asked, Run(), unreleased=_one(self.unit)) for asked in questions)

    def question(self, names: Sequence[str]) -> Question:
        return Question.of(names, sensitive=[name for name in self.sensitive if name not in names], unit=self.unit)


def safe(published: Published) -> dict[str, Any]:
    found = published.certificate.verification
    promised = {model["column"] for finding in found["quasi_identifiers"] for model in finding["models"]}
    bare = [name for name in published.sensitive if name not in promised]
    guarantee = published.certificate.guarantee
    several = SEVERAL_RECORDS if published.unit is None else SEVERAL_PEOPLE
    return {
        "promise": promise_of(published) + (f" Nothing is promised about {listed(bare, 8)}." if bare else ""),
        "unprotected": _names(bare),
        "holds": found["holds"],
        "records": found["records"],
        "requirements": [
            {
                "quasi_identifier": _names(finding["attributes"]),
                "promise": shown(model["model"]),
                "model": model["name"],
                "column": None if model["column"] is None else shown(model["column"]),
                "asked": model["threshold"],
                "reached": model["worst"],
                "holds": model["holds"],
            }
            for finding in found["quasi_identifiers"]
            for model in finding["models"]
        ],
        "class_sizes": [_class_sizes(published, names) for names in published.quasi_identifiers],
        "risks": [risk_figures(risk) for risk in published.risks],
        "homogeneity": [row for risk in published.risks for row in homogeneity(risk)],
        "attacks_played": [],
        "untouched": _names(published.certificate.untouched),
        "kept": _names(published.policy.get("keep", ())),
        "warnings": [shown(warning, 400) for warning in published.certificate.warnings],
        "not_promised": [
            *[UNPROTECTED] * bool(bare),
            *[several] * ("unit" in published.policy),
            *NOT_PROMISED,
            NOT_DIFFERENTIAL if guarantee is None else guarantee.limits,
        ],
    }


def promise_of(published: Published) -> str:
    said = []
    units = published.policy.get("unit")
    for each in published.policy["quasi_identifiers"]:
        crowd = f"at least {each['k']:,} {'people' if units else 'records'}"
        names = listed(each["attributes"], 8)
        if each["k"] > 1:
            said.append(f"is in a crowd of {crowd} that are equal on {names}")
    findings = published.certificate.verification["quasi_identifiers"]
    models = [model for finding in findings for model in finding["models"] if model["name"] not in CROWDS]
    of_table = [model for model in models if model["name"] in OF_TABLE]
    together = " and ".join(sorted({shown(model["model"]) for model in of_table}))
    others = " and ".join(sorted({_called(model) for model in models if model not in of_table}))
    parts = [f"everyone in this release {', and '.join(said)}"] if said else []
    parts += [f"every crowd satisfies {others}"] if others else []
    parts += [f"all crowds together keep {together}, which lets single people be alone"] if together else []
    text = "; ".join(parts)
    promise = f"{text[:1].upper()}{text[1:]}."
    if (guarantee := published.certificate.guarantee) is not None:
        kept = [name for name in published.rows.columns if name not in published.attributes]
        promise += f" {guarantee.promise(listed(kept, 8) if kept else '')}"
    return promise


def _called(model: Mapping[str, Any]) -> str:
    return f"{shown(model['model'])} ({model['name']})"


def risk_figures(risk: Risk) -> dict[str, Any]:
    """What three attackers can hope for; shares of 1, and counts of records, or of people where they are known."""
    journalist = risk.journalist
    return {
        "quasi_identifier": _names(risk.question.attributes),
        "threshold": float(risk.question.threshold),
        "threshold_crowd": risk.question.crowd,
        "counted": RECORDS if risk.question.unit is None else PEOPLE,
        "records": risk.records,
        "crowds": risk.classes,
        "smallest_crowd": risk.smallest_class,
        "alone": risk.uniques.records,
        "prosecutor_highest": float(risk.prosecutor.highest),
        "prosecutor_average": float(risk.prosecutor.average),
        "above_threshold": risk.prosecutor.at_risk,
        "journalist_highest": None if journalist is None else float(journalist.highest),
        "marketer": float(risk.marketer),
    }


def homogeneity(risk: Risk) -> list[dict[str, Any]]:
    names = _names(risk.question.attributes)
    return [
        {"quasi_identifier": names, "column": shown(each.column), "crowds": each.classes, "records": each.records}
        for each in risk.homogeneity
    ]


def _class_sizes(published: Published, names: Sequence[str]) -> dict[str, Any]:
    """How large the crowds are, in bins that widen; people with several crowds stand in the smallest one of theirs."""
    members = published.columns.members(names, published.unit)
    sizes, own = members.sizes, members.smallest()
    edges = size_edges(sizes)
    bins = []
    for low, high in pairwise(edges):
        crowds, records = (int(((each >= low) & (each < high)).sum()) for each in (sizes, own))
        bins.append({"from": low, "to": high - 1, "crowds": crowds, "records": records})
    return {
        "quasi_identifier": _names(names),
        "counted": RECORDS if published.unit is None else PEOPLE,
        "crowds": len(sizes),
        "smallest": int(sizes.min()),
        "median": int(np.partition(sizes, (len(sizes) - 1) // 2)[(len(sizes) - 1) // 2]),
        "largest": int(sizes.max()),
        "bins": bins,
    }


def size_edges(sizes: Counts) -> list[int]:
    """Edges of at most about twelve bins for sizes: even ones where the sizes are close, else 1, 2, 5, 10, 20, ..."""
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < 12:
        return list(range(low, high + 2))
    if high < 8 * low:
        step = -(-(high - low + 1) // 12)
        return list(range(low, high + step + 1, step))
    steps = [digit * 10**power for power in range(len(str(high)) + 1) for digit in (1, 2, 5)]
    return [low, *(step for step in steps if low < step <= high), high + 1]


def cost(published: Published) -> dict[str, Any]:
    """What the release is like to work with: how many values it tells apart, and how they go together."""
    columns = published.columns
    sizes = columns.members(published.attributes).sizes
    names = published.associated
    return {
        "records": {"released": columns.records},
        "crowds": len(sizes),
        "average_crowd": columns.records / len(sizes),
        "discernibility": int(np.square(sizes).sum()),
        "columns": [
            {"name": shown(name), "released_values": len(columns.labels[name])}
            for name in published.attributes[:MOST_COLUMNS]
        ],
        "more_columns": max(0, len(published.attributes) - MOST_COLUMNS),
        "association": {"columns": _names(names), "released": associations(columns, names)},
    }


def done(published: Published) -> dict[str, Any]:
    """What was done: the policy, the method, and the released values with what they stand for."""
    policy = published.policy
    known = ("quasi_identifiers", "target", "identifiers", "unit", "sensitive", "protections", "insensitive", "keep")
    others = ("taxonomies", "types", "ranges", "levels", "form", "missing", "missing_values", "method", "strict")
    return {
        "policy": policy_toml(_shortened(policy)),
        "method": policy["method"],
        "options": {
            key: _shortened(value) for key, value in policy.items() if key not in (*known, *others, "keep_order")
        },
        "dropped": _names(dict.fromkeys((*policy.get("identifiers", ()), *_one(policy.get("unit"))))),
        "codebook": [codebook(published.columns, name) for name in published.attributes[:MOST_COLUMNS]],
    }


def policy_toml(policy: Mapping[str, Any]) -> str:
    """A policy as a file to copy.

    Args:
        policy: What `Policy.to_json` gives, which names the columns with a taxonomy and does not hold their trees.
    """
    settings = {option: value for option, value in policy.items() if _DEFAULTS.get(option, ...) != value}
    asked, protections = settings["quasi_identifiers"], settings.pop("protections", {})
    if len(asked) == 1:
        settings |= {"quasi_identifiers": asked[0]["attributes"], "k": asked[0]["k"]}
    if protections:
        settings["sensitive"] = {column: protections.get(column, {}) for column in settings["sensitive"]}
    trees = settings.pop("taxonomies", ())
    note = f'# taxonomies = "FOLDER"  with a file for each of: {toml_comment(", ".join(trees))}\n' if trees else ""
    return note + policy_text(settings)


def codebook(columns: Columns, name: str) -> dict[str, Any]:
    counts, labels = columns.counts(name), columns.labels[name]
    order = sorted(range(len(labels)), key=lambda code: (-int(counts[code]), labels[code] or ""))
    values = []
    for code in order[:MOST_VALUES]:
        label = shown(labels[code])
        values.append({"value": label, "meaning": meaning(label), "records": int(counts[code])})
    rest = order[MOST_VALUES:]
    return {"column": shown(name), "values": values, "more": len(rest), "more_records": int(counts[rest].sum())}


def check(published: Published) -> dict[str, Any]:
    certificate = published.certificate
    return {
        "release": certificate.output,
        "commitment": certificate.commitment,
        "versions": dict(certificate.versions),
        "commands": ["incrowd verify release.csv --certificate release.certificate.json"],
    }


def _names(names: Sequence[str] | Mapping[str, Any]) -> list[str]:
    return [shown(name) for name in names]


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _shortened(value: Any) -> Any:
    """Data of which no text is longer than what is shown of it."""
    if isinstance(value, str):
        return shown(value) if value else value
    if isinstance(value, Mapping):
        return {shown(key): _shortened(each) for key, each in value.items()}
    return [_shortened(each) for each in value] if isinstance(value, list | tuple) else value
